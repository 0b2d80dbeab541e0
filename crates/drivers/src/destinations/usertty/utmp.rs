//! Who is logged in where, from the utmp file: records of a fixed size, read without the C library.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};

/// `struct utmp` of Linux: two times of 32 bits on x86-64, of 64 bits on other 64-bit machines.
const RECORD_BYTES: usize = if cfg!(target_arch = "x86_64") { 384 } else { 400 };
const LINE: std::ops::Range<usize> = 8..40;
const USER: std::ops::Range<usize> = 44..76;
/// USER_PROCESS
const LOGGED_IN: i16 = 7;
/// Nobody has more terminals; a file that is larger is read no further.
const FILE_BYTES_MAX: usize = 4 * 1024 * 1024;

#[derive(Debug, PartialEq, Eq)]
pub struct Login {
    pub user: Vec<u8>,
    /// Below /dev.
    pub line: PathBuf,
}

pub fn read(path: &Path) -> io::Result<Vec<Login>> {
    use std::io::Read;
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(FILE_BYTES_MAX as u64).read_to_end(&mut bytes)?;
    Ok(bytes.chunks_exact(RECORD_BYTES).filter_map(login).collect())
}

fn login(record: &[u8]) -> Option<Login> {
    let kind = i16::from_ne_bytes(record.get(..2)?.try_into().ok()?);
    let text =
        |range| record.get(range).map(|b: &[u8]| b.split(|c| *c == 0).next().unwrap_or_default().to_vec());
    let line = PathBuf::from(OsString::from_vec(text(LINE)?));
    // `:0` and the like are displays, not terminals; nothing may lead out of /dev.
    let inside = line.components().all(|c| matches!(c, Component::Normal(_)));
    let is_display = line.as_os_str().as_encoded_bytes().first().is_none_or(|b| *b == b':');
    (kind == LOGGED_IN && inside && !is_display).then(|| Some(Login { user: text(USER)?, line }))?
}

#[cfg(test)]
pub(super) fn record(kind: i16, line: &str, user: &str) -> Vec<u8> {
    let mut record = vec![0; RECORD_BYTES];
    record[..2].copy_from_slice(&kind.to_ne_bytes());
    record[LINE.start..LINE.start + line.len()].copy_from_slice(line.as_bytes());
    record[USER.start..USER.start + user.len()].copy_from_slice(user.as_bytes());
    record
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logins_on_terminals_are_found() {
        let found = |kind, line, user| login(&record(kind, line, user));
        assert_eq!(found(7, "pts/3", "ann"), Some(Login { user: b"ann".to_vec(), line: "pts/3".into() }));
        assert_eq!(found(8, "pts/3", "ann"), None);
        assert_eq!(found(7, ":0", "ann"), None);
        assert_eq!(found(7, "", "ann"), None);
        assert_eq!(found(7, "../etc/passwd", "ann"), None);
        assert_eq!(found(7, "/etc/passwd", "ann"), None);
    }
}
