//! The file that tells scripts the process id.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Removed at the end, if it still is ours.
pub struct PidFile {
    path: PathBuf,
    /// Opened while the program could: its folder may be closed to the user it runs as.
    file: File,
    text: String,
    /// It was there, and may be another program's until this one has started.
    found: bool,
}

impl PidFile {
    /// Opens the file, and makes it where it is missing. That this fails is said, but no reason not to run.
    pub fn open(path: &Path) -> Option<PidFile> {
        let found = path.exists();
        match File::options().write(true).create(true).truncate(false).open(path) {
            Ok(file) => Some(PidFile { path: path.to_path_buf(), file, text: String::new(), found }),
            Err(error) => {
                say(path, &error);
                None
            }
        }
    }

    /// The program has started: writes the id of this process.
    pub fn write(&mut self) {
        self.text = format!("{}\n", std::process::id());
        let written = self.file.set_len(0).and_then(|()| self.file.write_all(self.text.as_bytes()));
        if let Err(error) = written {
            say(&self.path, &error);
        }
    }
}

fn say(path: &Path, error: &std::io::Error) {
    oplog::error("Error creating pid file", &[("file", &path.display()), ("error", error)]);
}

impl Drop for PidFile {
    fn drop(&mut self) {
        let text = regular::read_to_string(&self.path, 64);
        let has_written = !self.text.is_empty();
        let is_ours = (has_written || !self.found) && text.is_ok_and(|text| text == self.text);
        // Where it cannot be removed, an empty one tells nobody a wrong number. Nothing more can be done
        // about it at the end.
        if is_ours && std::fs::remove_file(&self.path).is_err() {
            let _ = self.file.set_len(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_goes_with_the_process_unless_it_became_another_ones() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pid");
        let opened = || {
            let mut file = PidFile::open(&path).unwrap();
            file.write();
            file
        };
        let file = opened();
        assert_eq!(std::fs::read_to_string(&path).unwrap().trim(), std::process::id().to_string());
        drop(file);
        assert!(!path.exists());
        let file = opened();
        std::fs::write(&path, "1\n").unwrap();
        drop(file);
        assert!(path.exists());
        // One that never started leaves another's alone, and nothing where there was nothing.
        drop(PidFile::open(&path).unwrap());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "1\n");
        let other = folder.path().join("other");
        drop(PidFile::open(&other).unwrap());
        assert!(!other.exists());
        assert!(PidFile::open(&folder.path().join("no/pid")).is_none());
    }
}
