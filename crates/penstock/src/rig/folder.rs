//! A folder for what is measured, gone with it.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use stdio::CommandError;

/// Folders of this process so far.
static NUMBER: AtomicU64 = AtomicU64::new(0);

pub struct Folder(PathBuf);

impl Folder {
    pub fn below(parent: &Path) -> Result<Folder, CommandError> {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let name = format!("penstock-rig-{}-{}-{number}", std::process::id(), since.as_nanos());
        let path = parent.join(name);
        std::fs::create_dir(&path).map_err(|error| format!("cannot make {}: {error}", path.display()))?;
        Ok(Folder(path))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What cannot be removed stays.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
