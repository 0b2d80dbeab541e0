//! Folders in which files, sockets and pipes are to be made: whether they are there, and can be written.

use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use diag::{Diagnostic, Severity, Span};
use rustix::fs::{Access, AtFlags, CWD, accessat};

/// A folder something is made in.
pub struct Folder {
    pub path: PathBuf,
    /// What create-dirs() says, where there is one.
    pub create: Option<bool>,
}

impl Folder {
    fn look(&self, severity: Severity, span: Span) -> Option<Diagnostic> {
        if self.path.is_dir() {
            return not_allowed(&self.path, Access::WRITE_OK | Access::EXEC_OK, severity, span);
        }
        if self.create == Some(true) {
            // The first one above that is there has to take the new ones.
            let above = self.path.ancestors().find(|a| a.exists()).unwrap_or(Path::new("."));
            if above.is_dir() {
                return not_allowed(above, Access::WRITE_OK | Access::EXEC_OK, severity, span);
            }
            let text = format!("{} is no folder, so none can be made in it", above.display());
            return Some(Diagnostic::new(severity, "C0101", text).at(span).help("correct the path"));
        }
        let text = format!("the folder {} does not exist", self.path.display());
        let help = match self.create {
            Some(_) => "make it, or correct the path; create-dirs(yes) makes it",
            None => "make it, or correct the path",
        };
        Some(Diagnostic::new(severity, "C0101", text).at(span).help(help))
    }
}

/// A file that will be written; its path may have macros. The program starts without it, and tries again.
pub fn file(text: &str, create: Option<bool>, span: Span) -> Option<Diagnostic> {
    let literal = text.split('$').next().unwrap_or_default();
    if literal.len() < text.len() {
        // Folders that are made from messages are known only then.
        let fixed =
            literal.rsplit_once('/').map_or(".", |(folder, _)| if folder.is_empty() { "/" } else { folder });
        return Folder { path: fixed.into(), create }.look(Severity::Warning, span);
    }
    let path = Path::new(text);
    if path.is_dir() {
        let finding = Diagnostic::warning("C0104", format!("{text} is a folder"), span);
        return Some(finding.help("write the path of a file"));
    }
    match path.exists() {
        true => not_allowed(path, Access::WRITE_OK, Severity::Warning, span),
        false => Folder { path: folder_of(path), create }.look(Severity::Warning, span),
    }
}

/// A folder with a file that will be read.
pub fn to_read(folder: &Path, span: Span) -> Option<Diagnostic> {
    let text = format!("the folder {} does not exist", folder.display());
    let finding = Diagnostic::warning("C0101", text, span).help("make it, or correct the path");
    (!folder.is_dir()).then_some(finding)
}

/// A socket that will be listened on. One that was left behind is replaced.
pub fn socket(path: &Path, folder: &Folder, span: Span) -> Option<Diagnostic> {
    match std::fs::symlink_metadata(path) {
        Ok(meta) if !meta.file_type().is_socket() => Some(occupied(path, "a socket", span)),
        _ => folder.look(Severity::Error, span),
    }
}

/// A named pipe that will be read, and is made when it is not there.
pub fn pipe(path: &Path, folder: &Folder, span: Span) -> Option<Diagnostic> {
    match std::fs::metadata(path) {
        Ok(meta) if !meta.file_type().is_fifo() => Some(occupied(path, "a named pipe", span)),
        Ok(_) => not_allowed(path, Access::READ_OK | Access::WRITE_OK, Severity::Error, span),
        Err(_) => folder.look(Severity::Error, span),
    }
}

fn occupied(path: &Path, wanted: &str, span: Span) -> Diagnostic {
    let text = format!("{} is there, and is not {wanted}", path.display());
    Diagnostic::error("C0106", text, span).help("remove it, or choose another path")
}

fn not_allowed(path: &Path, access: Access, severity: Severity, span: Span) -> Option<Diagnostic> {
    let error = accessat(CWD, path, access, AtFlags::EACCESS).err()?;
    let finding =
        Diagnostic::new(severity, "C0102", format!("cannot write {}: {error}", path.display())).at(span);
    Some(finding.help("change its owner or mode, or run the check as the user the program will have"))
}

pub fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
        _ => PathBuf::from("."),
    }
}
