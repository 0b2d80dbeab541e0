//! The `{perm}` option group: who owns what we create, and directories on the way to it.

use nix::errno::Errno;
use nix::unistd::{Gid, Group, Uid, User, chown};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;

/// `None` means: do not touch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ownership {
    pub owner: Option<u32>,
    pub group: Option<u32>,
    pub perm: Option<u32>,
    pub dir_owner: Option<u32>,
    pub dir_group: Option<u32>,
    pub dir_perm: Option<u32>,
}

impl Ownership {
    /// The number of a user given by name or number.
    pub fn user(text: &str) -> Option<u32> {
        text.parse().ok().or_else(|| User::from_name(text).ok().flatten().map(|u| u.uid.as_raw()))
    }

    /// The number of a group given by name or number.
    pub fn group(text: &str) -> Option<u32> {
        text.parse().ok().or_else(|| Group::from_name(text).ok().flatten().map(|g| g.gid.as_raw()))
    }
}

fn own(path: &Path, owner: Option<u32>, group: Option<u32>) -> io::Result<()> {
    if owner.is_none() && group.is_none() {
        return Ok(());
    }
    match chown(path, owner.map(Uid::from_raw), group.map(Gid::from_raw)) {
        Err(error @ Errno::EPERM) => {
            let (path, error) = (path.display().to_string(), io::Error::from(error));
            oplog::limited(
                "chown",
                oplog::Level::Warning,
                "Cannot change the owner, the program's own stays",
                &[("path", &path), ("error", &error)],
            );
            Ok(())
        }
        outcome => outcome.map_err(io::Error::from),
    }
}

/// Gives a file or socket its owner, group and permissions. An owner that this process may not give is said
/// and passed over, as in syslog-ng: the file stays the program's.
pub fn apply_ownership(path: &Path, ownership: &Ownership) -> io::Result<()> {
    own(path, ownership.owner, ownership.group)?;
    if let Some(mode) = ownership.perm {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))?;
    }
    Ok(())
}

/// Makes the missing folders above `path`, each with the configured owner and permissions (0700 unless
/// given).
pub fn create_parents(path: &Path, ownership: &Ownership) -> io::Result<()> {
    let Some(parent) = path.parent().filter(|p| !p.as_os_str().is_empty() && !p.exists()) else {
        return Ok(());
    };
    create_parents(parent, ownership)?;
    let mode = ownership.dir_perm.unwrap_or(0o700);
    match std::fs::DirBuilder::new().mode(mode).create(parent) {
        Ok(()) => {}
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => return Ok(()),
        Err(e) => return Err(e),
    }
    std::fs::set_permissions(parent, std::fs::Permissions::from_mode(mode))?;
    own(parent, ownership.dir_owner, ownership.dir_group)
}
