//! Who this installation is: a number drawn once, and how often it was started. Kept in the state folder.
//!
//! The file `identity` has two lines, `host-id 1f2e3d4c` (hexadecimal) and `run-id 7` (decimal). A damaged or
//! missing one is made anew. It is replaced as a whole, so a crash leaves the old or the new one.

use std::fs::{File, Permissions};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use template::Identity;

pub const FILE: &str = "identity";
const FOLDER_MODE: u32 = 0o750;

/// The identity of this start. Makes the folder when it is missing.
pub fn of(state_dir: &Path) -> io::Result<Identity> {
    make_folder(state_dir)?;
    let (host_id, run_id) = next(state_dir)?;
    let mut identity = Identity::new(&host_name()?);
    identity.host_id = host_id;
    identity.run_id = run_id;
    Ok(identity)
}

pub fn host_name() -> io::Result<String> {
    Ok(nix::unistd::gethostname()?.to_string_lossy().into_owned())
}

/// Makes the folder, and those above it, where they are missing: for the program and its group alone,
/// whatever the umask. One that is there stays as it is.
fn make_folder(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    if let Some(above) = path.parent().filter(|above| !above.as_os_str().is_empty()) {
        std::fs::create_dir_all(above)?;
    }
    match std::fs::DirBuilder::new().mode(FOLDER_MODE).create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(()),
        made => made?,
    }
    std::fs::set_permissions(path, Permissions::from_mode(FOLDER_MODE))
}

fn next(state_dir: &Path) -> io::Result<(u32, u64)> {
    let path = state_dir.join(FILE);
    let before = match regular::read_to_string(&path, 4096) {
        Ok(text) => parse(&text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) if error.kind() == io::ErrorKind::InvalidData => None,
        Err(error) => return Err(error),
    };
    let (host_id, run_id) = before.unwrap_or_else(|| (random(), 0));
    let run_id = run_id.saturating_add(1);
    match write(state_dir, host_id, run_id) {
        // Whoever has a full disk needs a collector all the more. It is written when there is room.
        Err(error) if is_full(&error) => cannot(state_dir, &error),
        written => written?,
    }
    Ok((host_id, run_id))
}

/// Writes the file again where it was removed, or could not be written at the start.
pub fn look_after(state_dir: &Path, host_id: u32, run_id: u64) {
    let noted = regular::read_to_string(&state_dir.join(FILE), 4096).ok().and_then(|text| parse(&text));
    // A process that takes over has a higher one.
    if noted.is_none_or(|(_, noted)| noted < run_id)
        && let Err(error) = write(state_dir, host_id, run_id)
        && !is_full(&error)
    {
        cannot(state_dir, &error);
    }
}

fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

fn cannot(state_dir: &Path, error: &io::Error) {
    let fields: &[(&str, &dyn std::fmt::Display)] = &[("dir", &state_dir.display()), ("error", error)];
    oplog::limited("identity", oplog::Level::Error, "The number of this start cannot be noted", fields);
}

fn write(state_dir: &Path, host_id: u32, run_id: u64) -> io::Result<()> {
    let path = state_dir.join(FILE);
    let fresh = state_dir.join(format!("{FILE}.new"));
    let mut file = File::options().write(true).create(true).truncate(true).mode(0o600).open(&fresh)?;
    // One that was left behind by an earlier version may have more.
    file.set_permissions(Permissions::from_mode(0o600))?;
    write!(file, "host-id {host_id:08x}\nrun-id {run_id}\n")?;
    file.sync_all()?;
    std::fs::rename(&fresh, &path)?;
    File::open(state_dir)?.sync_all()
}

fn parse(text: &str) -> Option<(u32, u64)> {
    let mut lines = text.lines();
    let host_id = u32::from_str_radix(lines.next()?.strip_prefix("host-id ")?, 16).ok()?;
    let run_id = lines.next()?.strip_prefix("run-id ")?.parse().ok()?;
    Some((host_id, run_id))
}

/// The keys of a hash map are drawn by the system.
fn random() -> u32 {
    RandomState::new().hash_one(std::process::id()) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_stays_and_the_run_counts() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("a/b");
        let (first, second) = (of(&state).unwrap(), of(&state).unwrap());
        assert_eq!(first.host_id, second.host_id);
        assert_eq!((first.run_id, second.run_id), (1, 2));
        std::fs::write(state.join(FILE), "host-id 12").unwrap();
        assert_eq!(of(&state).unwrap().run_id, 1);
        std::fs::write(state.join(FILE), [0xff, 0xfe]).unwrap();
        assert_eq!(of(&state).unwrap().run_id, 1);
        assert!(of(Path::new("/proc/nowhere")).is_err());
        // One that could not be written at the start, and not that of a later start.
        look_after(&state, 7, 5);
        assert_eq!(of(&state).unwrap().run_id, 6);
        look_after(&state, 7, 5);
        assert_eq!(of(&state).unwrap().run_id, 7);
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&state), mode(&state.join(FILE))), (0o750, 0o600));
    }
}
