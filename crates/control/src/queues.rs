//! What the control socket is asked about queues on disk: `QUEUE FOLDERS`, `QUEUE DROP ...`, `QUEUE REPLAY
//! ...`, `QUEUE IMPORT ...`. Names and paths are any bytes, so they are sent in hexadecimal.

use crate::refusal::Refusal;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QueueRequest {
    /// Folders of the logs that are open, a line each, in hexadecimal.
    Folders,
    /// `DROP FOLDER QUEUE SECONDS|ALL`: forgets what waits, or what was put in before this time, in seconds
    /// since 1970.
    Drop { folder: PathBuf, queue: Vec<u8>, before: Option<u64> },
    /// `REPLAY [DESTINATION]`: gives dead letters to their destinations again, or to this one.
    Replay { to: Option<String> },
    /// `IMPORT FILE DESTINATION`: gives the messages of a queue file of syslog-ng to a destination.
    Import { file: PathBuf, to: String },
}

impl QueueRequest {
    /// What comes behind `QUEUE`.
    pub fn parse(rest: &str) -> Result<QueueRequest, Refusal> {
        let words: Vec<&str> = rest.split_whitespace().collect();
        let verb = words.first().map(|word| word.to_ascii_uppercase()).unwrap_or_default();
        let wrong = || Refusal::from("expected FOLDERS, DROP, REPLAY or IMPORT with their arguments");
        match (verb.as_str(), words.get(1..).unwrap_or_default()) {
            ("FOLDERS", []) => Ok(QueueRequest::Folders),
            ("DROP", [folder, queue, before]) => Ok(QueueRequest::Drop {
                folder: path(folder)?,
                queue: bytes(queue)?,
                before: match before.eq_ignore_ascii_case("ALL") {
                    true => None,
                    false => Some(before.parse().map_err(|_| wrong())?),
                },
            }),
            ("REPLAY", []) => Ok(QueueRequest::Replay { to: None }),
            ("REPLAY", [to]) => Ok(QueueRequest::Replay { to: Some(text(to)?) }),
            ("IMPORT", [file, to]) => Ok(QueueRequest::Import { file: path(file)?, to: text(to)? }),
            _ => Err(wrong()),
        }
    }

    /// The whole line.
    pub fn line(&self) -> String {
        match self {
            QueueRequest::Folders => "QUEUE FOLDERS".to_owned(),
            QueueRequest::Drop { folder, queue, before } => {
                let before = before.map_or_else(|| "ALL".to_owned(), |before| before.to_string());
                format!("QUEUE DROP {} {} {before}", hex(folder.as_os_str().as_bytes()), hex(queue))
            }
            QueueRequest::Replay { to: None } => "QUEUE REPLAY".to_owned(),
            QueueRequest::Replay { to: Some(to) } => format!("QUEUE REPLAY {}", hex(to.as_bytes())),
            QueueRequest::Import { file, to } => {
                format!("QUEUE IMPORT {} {}", hex(file.as_os_str().as_bytes()), hex(to.as_bytes()))
            }
        }
    }
}

/// Bytes in hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What [`hex`] was made of.
pub fn bytes(hex: &str) -> Result<Vec<u8>, String> {
    let wrong = || "expected hexadecimal digits".to_owned();
    if !hex.is_ascii() || !hex.len().is_multiple_of(2) {
        return Err(wrong());
    }
    let pairs = (0..hex.len()).step_by(2).map(|at| hex.get(at..at + 2).unwrap_or_default());
    pairs.map(|pair| u8::from_str_radix(pair, 16).map_err(|_| wrong())).collect()
}

fn path(hex: &str) -> Result<PathBuf, String> {
    Ok(OsString::from_vec(bytes(hex)?).into())
}

/// UTF-8 in hexadecimal.
pub fn text(hex: &str) -> Result<String, String> {
    String::from_utf8(bytes(hex)?).map_err(|_| "a name that is no UTF-8".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_what_their_lines_say() {
        let requests = [
            QueueRequest::Folders,
            QueueRequest::Drop { folder: "/var/lib/x y".into(), queue: b"a\n\xff".to_vec(), before: None },
            QueueRequest::Drop { folder: "/".into(), queue: b"q".to_vec(), before: Some(7) },
            QueueRequest::Replay { to: None },
            QueueRequest::Replay { to: Some("d#1".into()) },
            QueueRequest::Import { file: "/tmp/a b.rqf".into(), to: "d".into() },
        ];
        for request in requests {
            let line = request.line();
            assert_eq!(QueueRequest::parse(line.strip_prefix("QUEUE ").unwrap_or_default()), Ok(request));
        }
        for line in ["", "DROP 61 62", "DROP 6 62 ALL", "DROP xx 62 ALL", "DROP 61 62 soon", "REPLAY ff"] {
            assert!(QueueRequest::parse(line).is_err(), "{line}");
        }
    }
}
