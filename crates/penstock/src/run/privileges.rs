//! Another root folder, another user, another group: entered before anything is read or opened.
//!
//! As in syslog-ng, a process that gives up root keeps the few capabilities it needs to bind low ports and to write files of
//! others, so that a reload can do what the start could.

use control::cli::RunOptions;
use nix::unistd::{Gid, Group, Uid, User, chdir, chroot, initgroups, setgid, setgroups, setuid};
use rustix::thread::{CapabilitySet, capabilities, set_capabilities, set_keep_capabilities};

const KEPT: CapabilitySet = CapabilitySet::NET_BIND_SERVICE
    .union(CapabilitySet::NET_BROADCAST)
    .union(CapabilitySet::NET_RAW)
    .union(CapabilitySet::DAC_READ_SEARCH)
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::CHOWN)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::SYSLOG);

/// Goes where the options say. There must be one thread only. The error is a sentence.
pub fn enter(options: &RunOptions) -> Result<(), String> {
    // Names are those of the old root.
    let user = options.user.as_deref().map(find_user).transpose()?;
    let group = options.group.as_deref().map(find_group).transpose()?;
    if let Some(root) = &options.chroot {
        chroot(root).map_err(|e| format!("cannot make {} the root folder: {e}", root.display()))?;
        chdir("/").map_err(|e| format!("cannot enter the new root folder: {e}"))?;
    }
    if let Some(gid) = group.or(user.as_ref().map(|u| u.gid)) {
        change_group(gid, user.as_ref())?;
    }
    if let Some(user) = user {
        change_user(&user)?;
    }
    Ok(())
}

fn change_group(gid: Gid, user: Option<&User>) -> Result<(), String> {
    let privileged = Uid::effective().is_root();
    if gid != Gid::effective() || privileged {
        setgid(gid).map_err(|e| format!("cannot change to group {gid}: {e}"))?;
    }
    if !privileged {
        return Ok(());
    }
    let name = user.map(|u| std::ffi::CString::new(u.name.as_str())).transpose();
    match name {
        Ok(Some(name)) => initgroups(&name, gid),
        _ => setgroups(&[gid]),
    }
    .map_err(|e| format!("cannot set the groups: {e}"))
}

fn change_user(user: &User) -> Result<(), String> {
    if user.uid == Uid::effective() {
        return Ok(());
    }
    let error = |e: &dyn std::fmt::Display| format!("cannot change to user {}: {e}", user.name);
    set_keep_capabilities(true).map_err(|e| error(&e))?;
    setuid(user.uid).map_err(|e| error(&e))?;
    let mut sets = capabilities(None).map_err(|e| error(&e))?;
    sets.permitted &= KEPT;
    sets.effective = sets.permitted;
    set_capabilities(None, sets).map_err(|e| error(&e))
}

/// A name, or a number.
fn find_user(who: &str) -> Result<User, String> {
    let found = match who.parse() {
        Ok(number) => User::from_uid(Uid::from_raw(number)),
        Err(_) => User::from_name(who),
    };
    found.ok().flatten().ok_or_else(|| format!("there is no user {who}"))
}

fn find_group(which: &str) -> Result<Gid, String> {
    if let Ok(number) = which.parse() {
        return Ok(Gid::from_raw(number));
    }
    let found = Group::from_name(which).ok().flatten();
    found.map(|g| g.gid).ok_or_else(|| format!("there is no group {which}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_and_groups_by_name_and_number() {
        assert_eq!(find_user("root").map(|u| u.uid.as_raw()), Ok(0));
        assert_eq!(find_user("0").map(|u| u.name), Ok("root".to_owned()));
        assert!(find_user("no such user").is_err());
        assert_eq!(find_group("root").map(Gid::as_raw), Ok(0));
        assert_eq!(find_group("4711").map(Gid::as_raw), Ok(4711));
        assert!(find_group("no such group").is_err());
    }
}
