//! Which paths a source reads: one, or those below a folder whose names match.

use parking_lot::Mutex;
use pattern::{Cache, Pattern};
use std::fs::Metadata;
use std::os::unix::fs::{DirEntryExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Folders inside each other below base-dir().
const DEPTH_MAX: usize = 64;

/// A path that was found.
pub struct Listed {
    pub path: PathBuf,
    /// A file, not a link that may lead to one.
    pub is_file: bool,
    pub ino: u64,
}

#[derive(Clone)]
pub enum Wanted {
    One(PathBuf),
    Matching(Arc<Matching>),
}

pub struct Matching {
    pub base: PathBuf,
    pub recursive: bool,
    pub name: Pattern,
    pub exclude: Option<Pattern>,
    pub cache: Mutex<Cache>,
}

impl Wanted {
    /// The folder that everything is in or below.
    pub fn base(&self) -> &Path {
        match self {
            Wanted::One(path) => match path.parent() {
                Some(parent) if !parent.as_os_str().is_empty() => parent,
                _ => Path::new("."),
            },
            Wanted::Matching(matching) => &matching.base,
        }
    }

    /// Whether it is a file in the working folder whose path is its name alone.
    pub fn is_bare(&self) -> bool {
        matches!(self, Wanted::One(path) if path.parent().is_some_and(|parent| parent.as_os_str().is_empty()))
    }

    pub fn is_recursive(&self) -> bool {
        matches!(self, Wanted::Matching(matching) if matching.recursive)
    }

    /// Whether a path in a watched folder is one of them, by its name.
    pub fn has(&self, path: &Path) -> bool {
        match self {
            Wanted::One(one) => one == path,
            Wanted::Matching(matching) => {
                let Some(name) = path.file_name().map(|name| name.as_encoded_bytes()) else { return false };
                let mut cache = matching.cache.lock();
                matching.name.is_match(name, &mut cache)
                    && !matching.exclude.as_ref().is_some_and(|p| p.is_match(name, &mut cache))
            }
        }
    }

    /// Visits what is there below a folder: `file` for each path that is wanted, `folder` for each folder.
    /// Links to folders are not followed: they may go round in circles.
    pub fn list(&self, below: &Path, file: &mut dyn FnMut(Listed), folder: &mut dyn FnMut(&Path)) {
        folder(below);
        match self {
            Wanted::One(path) => {
                let meta = std::fs::symlink_metadata(path).ok();
                let (is_file, ino) = meta.map_or((false, 0), |meta| (meta.is_file(), meta.ino()));
                file(Listed { path: path.clone(), is_file, ino });
            }
            Wanted::Matching(_) => self.list_folder(below, 0, file, folder),
        }
    }

    fn list_folder(
        &self,
        below: &Path,
        depth: usize,
        file: &mut dyn FnMut(Listed),
        folder: &mut dyn FnMut(&Path),
    ) {
        let Ok(entries) = std::fs::read_dir(below) else { return };
        let mut inner = Vec::new();
        for entry in entries.flatten() {
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && self.is_recursive() && depth < DEPTH_MAX => inner.push(path),
                Ok(kind) if !kind.is_dir() && self.has(&path) => {
                    file(Listed { path, is_file: kind.is_file(), ino: entry.ino() });
                }
                _ => {}
            }
        }
        for path in inner {
            folder(&path);
            self.list_folder(&path, depth + 1, file, folder);
        }
    }
}

/// What a path leads to, when it is a file that can be followed.
pub fn regular(path: &Path) -> Option<Metadata> {
    std::fs::metadata(path).ok().filter(Metadata::is_file)
}
