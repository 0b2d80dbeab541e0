//! A process that confines itself: to files and folders and to ports of TCP with Landlock, to system calls
//! with seccomp. What it has given up it cannot get back, and neither can the programs that it starts.
//!
//! Both hold for the calling thread and for the threads and processes that it starts afterwards, so
//! [`confine`] is called while there is one thread only. What is allowed is remembered: whoever is refused
//! something asks [`explained`] whether the sandbox is why, and a reload asks [`lacking`] whether there is
//! enough for what comes. docs/sandbox.md.

mod calls;
mod files;
mod rules;

use std::io;
use std::path::Path;
use std::sync::OnceLock;

pub use rules::{Access, Rules};

/// What this process has confined itself to.
static CONFINED: OnceLock<Rules> = OnceLock::new();

/// Confines this process. There must be one thread only. What of it the kernel cannot do is in the result, as
/// sentences; where it cannot do the main part, nothing is done. The error is a sentence.
pub fn confine(rules: Rules) -> Result<Vec<String>, String> {
    let mut missing = files::confine(&rules)?;
    missing.extend(calls::confine(rules.starts_programs)?);
    let _ = CONFINED.set(rules);
    Ok(missing)
}

/// Whether this process has confined itself.
pub fn is_confined() -> bool {
    CONFINED.get().is_some()
}

/// What of these rules this process is not allowed: the first of it, as words that may follow a name.
pub fn lacking(wanted: &Rules) -> Option<String> {
    wanted.beyond(CONFINED.get()?)
}

/// The error with the sandbox as its reason, where that is what has refused the access; as it was otherwise.
pub fn explained(error: io::Error, path: &Path, access: Access) -> io::Error {
    let refused = error.kind() == io::ErrorKind::PermissionDenied;
    match CONFINED.get().filter(|rules| refused && !rules.allow(path, access)) {
        None => error,
        Some(_) => io::Error::new(
            error.kind(),
            format!("{error}: the sandbox does not allow to {} {}", access.verb(), path.display()),
        ),
    }
}

/// The same of a port of TCP that somebody else listens at.
pub fn connection_explained(error: io::Error, port: u16) -> io::Error {
    let refused = error.kind() == io::ErrorKind::PermissionDenied;
    match CONFINED.get().filter(|rules| refused && !rules.allow_connecting(port)) {
        None => error,
        Some(_) => io::Error::new(
            error.kind(),
            format!("{error}: the sandbox does not allow to connect to port {port}"),
        ),
    }
}
