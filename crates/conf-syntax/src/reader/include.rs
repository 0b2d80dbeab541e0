//! Includes: a file, a folder or a pattern, looked up along the include path.

use std::collections::VecDeque;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use diag::{Diagnostic, Origin, Severity, Span};

use super::Reader;

/// Some editors begin a file with it.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// How patterns match names of files.
const MATCHING: glob::MatchOptions = glob::MatchOptions {
    case_sensitive: true,
    require_literal_separator: true,
    require_literal_leading_dot: true,
};

impl Reader<'_> {
    /// Starts with the main file; false when it cannot be read.
    pub fn open_main(&mut self, path: &Path) -> bool {
        match self.load(path, is_inherited(path)) {
            Ok((text, bad)) => {
                let file = self.sources.add(path.display().to_string(), text.clone(), Origin::Root);
                self.config.files.push(path.to_path_buf());
                self.push_file(path, file, text, bad);
                true
            }
            Err(reason) => {
                let message = format!("cannot read {}: {reason}", path.display());
                self.diags.push(Diagnostic::new(Severity::Error, "P0030", message));
                false
            }
        }
    }

    /// Starts with a text that is no file.
    pub fn open_text(&mut self, name: &str, text: &str) {
        self.open_generated(name, text, Origin::Root);
    }

    pub fn open_generated(&mut self, name: &str, text: &str, origin: Origin) {
        let text: Arc<str> = text.into();
        let file = self.sources.add(name, text.clone(), origin);
        self.push_level(file, text, None);
    }

    /// The very beginning.
    pub fn start(&self) -> Span {
        Span::new(self.file(), 0, 0)
    }

    fn push_file(&mut self, path: &Path, file: diag::FileId, text: Arc<str>, bad: Option<usize>) {
        if let Some(offset) = bad {
            self.diags.push(
                Diagnostic::warning(
                    "P0005",
                    "the file has bytes that are not UTF-8",
                    Span::new(file, offset, offset),
                )
                .help("save the file as UTF-8; in comments such bytes do no harm"),
            );
        }
        self.push_level(file, text, None);
        if let Some(level) = self.levels.last_mut() {
            level.path = Some(path.to_path_buf());
            level.lossy = bad.is_some();
        }
    }

    /// The text, and where its first byte stands that is not UTF-8 (replaced then). Only regular files are
    /// opened, unless `may_wait`: a FIFO would hold up whoever asks for the configuration.
    fn load(&mut self, path: &Path, may_wait: bool) -> Result<(Arc<str>, Option<usize>), String> {
        if let Some(text) = self.in_library(path) {
            return Ok((text.into(), None));
        }
        let limits = &self.options.limits;
        if self.files_read >= limits.files {
            return Err(format!("more than {} files", limits.files));
        }
        if !self.options.read_files {
            return Err("files are not read here".into());
        }
        self.files_read += 1;
        let file = if may_wait { std::fs::File::open(path) } else { regular::open(path) };
        let file = file.map_err(|e| reason(&e))?;
        let mut bytes = Vec::new();
        file.take(limits.file_bytes as u64 + 1).read_to_end(&mut bytes).map_err(|e| reason(&e))?;
        if bytes.len() > limits.file_bytes {
            return Err(format!("it is larger than {} bytes", limits.file_bytes));
        }
        if bytes.starts_with(BYTE_ORDER_MARK) {
            bytes.drain(..BYTE_ORDER_MARK.len());
        }
        Ok(match String::from_utf8(bytes) {
            Ok(text) => (text.into(), None),
            Err(e) => {
                let offset = e.utf8_error().valid_up_to();
                (String::from_utf8_lossy(e.as_bytes()).into(), Some(offset))
            }
        })
    }

    /// Reads what `name` stands for next: a file, the files of a folder, or all that match a pattern.
    pub(super) fn include(&mut self, name: &str, at: Span) {
        if self.levels.len() >= self.options.limits.include_depth {
            let max = self.options.limits.include_depth;
            self.limit("P0031", format!("includes inside each other more than {max} deep"), at);
            return;
        }
        if !self.options.read_files {
            self.diags.error("P0030", format!("cannot read {name}: files are not read here"), at);
            return;
        }
        let candidates = self.candidates(name);
        if let Some(path) = candidates.iter().find(|path| path.exists()) {
            if path.is_dir() {
                return self.include_folder(path, at);
            }
            return self.read_queue(VecDeque::from([path.clone()]), at);
        }
        if let Some(path) = candidates.iter().find(|path| self.in_library(path).is_some()) {
            return self.read_queue(VecDeque::from([path.clone()]), at);
        }
        // What comes later replaces what came before: the disk goes before the library.
        let mut matches = self.matches_in_library(name);
        let found = self.matches(&candidates, name, at);
        matches.retain(|path| !found.contains(path));
        matches.extend(found);
        if matches.is_empty() && !name.contains(['*', '?', '[']) {
            let message = format!("there is no file `{name}` to include");
            self.diags.push(
                Diagnostic::error("P0032", message, at)
                    .note(format!("looked for: {}", display_list(&candidates)))
                    .help("create the file, correct its name, or write a pattern such as `*.conf`, which may match nothing"),
            );
        }
        self.read_queue(matches, at);
    }

    fn candidates(&self, name: &str) -> Vec<PathBuf> {
        if Path::new(name).is_absolute() {
            return vec![PathBuf::from(name)];
        }
        let library = self.options.library.as_ref();
        let folders = self.include_path.iter().chain(library.map(|l| &l.folder));
        folders.map(|dir| dir.join(name)).collect()
    }

    /// The text of a file that is built in. One on the disk goes before it.
    fn in_library(&self, path: &Path) -> Option<&'static str> {
        let text = self.options.library.as_ref()?.text(path)?;
        (!path.exists()).then_some(text)
    }

    /// What is built in and matches a pattern.
    fn matches_in_library(&self, name: &str) -> VecDeque<PathBuf> {
        let (Some(library), Ok(pattern)) = (&self.options.library, glob::Pattern::new(name)) else {
            return VecDeque::new();
        };
        let matches = library.files.iter().filter(|(file, _)| pattern.matches_with(file, MATCHING));
        let mut found: Vec<PathBuf> = matches.map(|(file, _)| library.folder.join(file)).collect();
        found.sort();
        found.into()
    }

    /// Matches in every folder of the include path, each folder's sorted, each file once.
    fn matches(&mut self, candidates: &[PathBuf], name: &str, at: Span) -> VecDeque<PathBuf> {
        let mut found = VecDeque::new();
        for candidate in candidates {
            // Only the name is a pattern, the folder is not.
            let folder = candidate.to_string_lossy();
            let folder = folder.strip_suffix(name).unwrap_or("");
            let pattern = format!("{}{name}", glob::Pattern::escape(folder));
            match glob::glob_with(&pattern, MATCHING) {
                Ok(paths) => {
                    let mut paths: Vec<PathBuf> = paths.flatten().filter(|p| !p.is_dir()).collect();
                    paths.sort();
                    paths.retain(|path| !found.contains(path));
                    found.extend(paths);
                }
                Err(e) => {
                    self.diags.error("P0033", format!("wrong pattern `{name}`: {}", e.msg), at);
                    return VecDeque::new();
                }
            }
        }
        found
    }

    /// Files with plain names, sorted by their bytes; hidden ones and backups like `x~` are left out.
    fn include_folder(&mut self, folder: &Path, at: Span) {
        let entries = match std::fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(e) => {
                let message = format!("cannot read {}: {}", folder.display(), reason(&e));
                self.diags.error("P0030", message, at);
                return;
            }
        };
        let plain = |name: &str| {
            !name.starts_with('.') && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.-".contains(&b))
        };
        let mut names: Vec<String> = entries
            .flatten()
            .filter_map(|e| e.file_name().into_string().ok())
            .filter(|name| plain(name) && folder.join(name).is_file())
            .collect();
        names.sort();
        self.read_queue(names.iter().map(|n| folder.join(n)).collect(), at);
    }

    /// Opens the first readable file of `queue`; the others follow when it ends.
    pub(super) fn read_queue(&mut self, mut queue: VecDeque<PathBuf>, at: Span) {
        while let Some(path) = queue.pop_front() {
            if self.levels.iter().any(|l| l.path.as_deref() == Some(path.as_path())) {
                let message = format!("{} includes itself", path.display());
                self.diags.error("P0031", message, at);
                continue;
            }
            match self.load(&path, false) {
                Ok((text, bad)) => {
                    if self.in_library(&path).is_none() && !self.config.files.contains(&path) {
                        self.config.files.push(path.clone());
                    }
                    let origin = Origin::Included { at };
                    let file = self.sources.add(path.display().to_string(), text.clone(), origin);
                    self.push_file(&path, file, text, bad);
                    if let Some(level) = self.levels.last_mut() {
                        level.then = queue;
                        level.then_at = Some(at);
                    }
                    return;
                }
                Err(reason) => {
                    self.diags.error("P0030", format!("cannot read {}: {reason}", path.display()), at);
                }
            }
        }
    }
}

/// A descriptor that the program was started with, such as `check <(command)` gives: its caller writes to it.
fn is_inherited(path: &Path) -> bool {
    path == Path::new("/dev/stdin") || ["/dev/fd", "/proc/self/fd"].iter().any(|dir| path.starts_with(dir))
}

/// The system's words without the number, in lower case.
fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_lowercase()
}

fn display_list(paths: &[PathBuf]) -> String {
    paths.iter().map(|p| p.display().to_string()).collect::<Vec<_>>().join(", ")
}
