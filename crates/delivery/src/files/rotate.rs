//! `logrotate()`: a file that has grown large becomes `NAME.1`, the one before it `NAME.2`, and so on; the
//! oldest goes.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rotation {
    /// A file that has reached it is rotated before more is written.
    pub size: u64,
    /// Old files that are kept.
    pub kept: u32,
}

impl Rotation {
    pub fn is_due(&self, file: &File) -> bool {
        file.metadata().is_ok_and(|meta| meta.is_file() && meta.len() >= self.size)
    }

    /// Makes room under the name. Until it is opened again, no file has it.
    pub fn rotate(&self, path: &Path) -> io::Result<()> {
        for number in (1..self.kept).rev() {
            // Those that are not there yet come with time.
            match std::fs::rename(numbered(path, number), numbered(path, number + 1)) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        match self.kept {
            0 => std::fs::remove_file(path),
            _ => std::fs::rename(path, numbered(path, 1)),
        }
    }
}

fn numbered(path: &Path, number: u32) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{number}"));
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_goes() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("log");
        let rotation = Rotation { size: 3, kept: 2 };
        for text in ["one", "two", "three", "four"] {
            std::fs::write(&path, text).expect("write");
            assert!(rotation.is_due(&File::open(&path).expect("open")));
            rotation.rotate(&path).expect("rotate");
        }
        let text = |number| std::fs::read_to_string(numbered(&path, number)).ok();
        assert_eq!((text(1).as_deref(), text(2).as_deref(), text(3)), (Some("four"), Some("three"), None));
        assert!(!path.exists());
        std::fs::write(&path, "xx").expect("write");
        assert!(!rotation.is_due(&File::open(&path).expect("open")));
        Rotation { size: 0, kept: 0 }.rotate(&path).expect("rotate");
        assert!(!path.exists() && text(1).as_deref() == Some("four"));
    }
}
