//! The file of a unix socket that is listened on.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The file of a socket: removed with it, unless another one has taken the place meanwhile.
pub struct SocketFile {
    path: PathBuf,
    identity: Option<(u64, u64)>,
}

impl SocketFile {
    /// Right after it was bound.
    pub fn new(path: &Path) -> SocketFile {
        SocketFile { path: path.to_owned(), identity: identity(path) }
    }

    pub fn name(&self) -> String {
        self.path.display().to_string()
    }

    pub fn remove(&self) {
        let ours = transport::inherited::may_remove(&self.path);
        if ours && self.identity.is_some() && identity(&self.path) == self.identity {
            // When it cannot be removed it stays as a stale socket, which the next start replaces.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

fn identity(path: &Path) -> Option<(u64, u64)> {
    std::fs::symlink_metadata(path).ok().map(|meta| (meta.dev(), meta.ino()))
}
