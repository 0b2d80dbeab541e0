//! The file that tells scripts the process id.

use std::path::{Path, PathBuf};

/// Removed at the end, if it still is ours.
pub struct PidFile {
    path: PathBuf,
    text: String,
}

impl PidFile {
    /// Writes the id of this process. That it cannot be written is said, but no reason not to run.
    pub fn write(path: &Path) -> Option<PidFile> {
        let text = format!("{}\n", std::process::id());
        match std::fs::write(path, &text) {
            Ok(()) => Some(PidFile { path: path.to_path_buf(), text }),
            Err(error) => {
                oplog::error("Error creating pid file", &[("file", &path.display()), ("error", &error)]);
                None
            }
        }
    }
}

impl Drop for PidFile {
    fn drop(&mut self) {
        if regular::read_to_string(&self.path, 64).is_ok_and(|text| text == self.text) {
            // Nothing can be done about it at the end.
            let _ = std::fs::remove_file(&self.path);
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
        let file = PidFile::write(&path).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap().trim(), std::process::id().to_string());
        drop(file);
        assert!(!path.exists());
        let file = PidFile::write(&path).unwrap();
        std::fs::write(&path, "1\n").unwrap();
        drop(file);
        assert!(path.exists());
        assert!(PidFile::write(&folder.path().join("no/pid")).is_none());
    }
}
