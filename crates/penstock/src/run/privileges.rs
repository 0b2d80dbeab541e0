//! Another root folder, another user, another group, and the capabilities that are kept: docs/privileges.md.
//!
//! Capabilities belong to threads, so everything is given up while there is one thread only: the user is
//! changed before anything is read, and what the configuration does not need is given up once it is compiled
//! and before anything is opened.

mod needed;
mod text;
mod told;

use diag::Fault;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use control::cli::RunOptions;
use engine::compile::Plan;
use engine::driver::Start;
use engine::{Address, Need, Privilege};
use nix::fcntl::{AT_FDCWD, AtFlags};
use nix::unistd::{Gid, Group, Uid, User, chdir, chroot, fchownat, initgroups, setgid, setgroups, setuid};
use rustix::process::DumpableBehavior;
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, capability_is_in_bounding_set, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities, set_keep_capabilities, set_no_new_privs,
};

use super::identity;
use crate::configuration::Configuration;
use needed::Needed;
use text::{each, names};
pub use told::{Told, told};

/// What root keeps whatever the configuration says, as root's syslog-ng does.
const KEPT_BY_ROOT: CapabilitySet = CapabilitySet::NET_BIND_SERVICE
    .union(CapabilitySet::NET_BROADCAST)
    .union(CapabilitySet::NET_RAW)
    .union(CapabilitySet::DAC_READ_SEARCH)
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::CHOWN)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::SYSLOG);

/// What another user keeps until the configuration is known.
const KEPT_AT_FIRST: CapabilitySet = KEPT_BY_ROOT.union(CapabilitySet::SETPCAP);

/// What goes around the owners and modes of files.
const OPENS_ALL: CapabilitySet = CapabilitySet::DAC_OVERRIDE.union(CapabilitySet::DAC_READ_SEARCH);

/// Folders inside each other in a state folder: more than there ever are.
const STATE_DEPTH_MAX: usize = 8;

/// What was given up, as bits: a reload cannot get it back.
static GIVEN_UP: AtomicU64 = AtomicU64::new(0);

/// What has been done about capabilities so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entered {
    /// `--no-caps`: nothing, and nothing will be.
    Unmanaged,
    /// All: `--caps` has said which are kept.
    AsAsked,
    /// Nothing yet: root stays root.
    Root,
    /// Root has become another user and kept some for the start.
    Changed,
    /// Another user from the beginning, with what the service manager gave.
    Plain,
}

/// Goes where the options say. There must be one thread only.
pub fn enter(options: &RunOptions) -> Result<Entered, Fault> {
    let asked = options.caps.as_deref().filter(|_| !options.no_caps).map(text::parse).transpose()?;
    // Names are those of the old root.
    let user = options.user.as_deref().map(find_user).transpose()?;
    let group = options.group.as_deref().map(find_group).transpose()?;
    if let Some(root) = &options.chroot {
        let place = root.display();
        chroot(root).map_err(|e| Fault::local(format!("cannot make {place} the root folder: {e}")))?;
        chdir("/").map_err(|e| Fault::local(format!("cannot enter the new root folder: {e}")))?;
    }
    if let Some(gid) = group.or(user.as_ref().map(|u| u.gid)) {
        change_group(gid, user.as_ref())?;
    }
    let user = user.filter(|user| user.uid != Uid::effective());
    if let Some(user) = &user {
        give_state(&options.state_dir, user);
        let error =
            |e: &dyn std::fmt::Display| Fault::local(format!("cannot change to user {}: {e}", user.name));
        set_keep_capabilities(!options.no_caps).map_err(|e| error(&e))?;
        setuid(user.uid).map_err(|e| error(&e))?;
        if options.enable_core {
            // The kernel writes no core of a process that has changed its user, unless it is told to.
            let _ = rustix::process::set_dumpable_behavior(DumpableBehavior::Dumpable);
        }
    }
    if options.no_caps {
        return Ok(Entered::Unmanaged);
    }
    let error = cannot_give_up;
    set_no_new_privs(true).map_err(error)?;
    let before = capabilities(None).map_err(error)?;
    if let Some(asked) = asked {
        let missing = asked.named - before.permitted;
        if !missing.is_empty() {
            let missing = names(missing);
            let why = format!("--caps: this process does not have {missing}, so it cannot keep it");
            return Err(Fault::local(why));
        }
        keep(before, asked.kept).map_err(error)?;
        return Ok(Entered::AsAsked);
    }
    if user.is_some() {
        let permitted = before.permitted & KEPT_AT_FIRST;
        let first = CapabilitySets { permitted, effective: permitted, inheritable: CapabilitySet::empty() };
        set_capabilities(None, first).map_err(error)?;
        return Ok(Entered::Changed);
    }
    Ok(if Uid::effective().is_root() { Entered::Root } else { Entered::Plain })
}

/// Whether this process opens only files that their owners and modes open to it, and is not root.
pub fn reads_as_everybody() -> bool {
    let around = |held: CapabilitySets| held.permitted.intersects(OPENS_ALL);
    !Uid::effective().is_root() && capabilities(None).is_ok_and(|held| !around(held))
}

/// Gives up what the compiled configuration does not need. There must be one thread only still.
pub fn settle(
    entered: Entered,
    options: &RunOptions,
    configuration: &Configuration,
    plan: &Plan,
) -> Result<(), Fault> {
    let error = cannot_give_up;
    let before = capabilities(None).map_err(error)?;
    match entered {
        Entered::Unmanaged | Entered::AsAsked => Ok(()),
        // As a rule there is nothing to give up.
        Entered::Plain if before.permitted.is_empty() => keep(before, before.permitted).map_err(error),
        Entered::Root => keep(before, KEPT_BY_ROOT | beside_root(configuration, plan)).map_err(error),
        Entered::Changed | Entered::Plain => {
            let blind = CapabilitySets { effective: before.effective - OPENS_ALL, ..before };
            set_capabilities(None, blind).map_err(error)?;
            let mut needed = Needed::of(configuration, Some(plan));
            needed.folder_to_write(&options.state_dir);
            needed.works_below(&options.state_dir);
            // The pid file is open already.
            options.control.parent().into_iter().for_each(|folder| needed.folder_to_write(folder));
            for reason in &needed.reasons {
                let (kept, what_for) = (names(reason.set), reason.what_for.as_str());
                oplog::info("Capabilities are kept", &[("capabilities", &kept), ("for", &what_for)]);
            }
            let kept = names(needed.all() & before.permitted);
            oplog::notice(
                "Capabilities that the configuration does not need are given up",
                &[("kept", &kept)],
            );
            GIVEN_UP.store((before.permitted - needed.all()).bits(), Ordering::Relaxed);
            keep(before, needed.all()).map_err(error)
        }
    }
}

/// Whether a configuration can be put into effect with what was kept at the start. What the one before it
/// does without already does not count: a file that became unreadable meanwhile is no reason against a
/// reload.
pub fn suffice(fresh: &Configuration, plan: &Plan, before: &Configuration) -> Result<(), Fault> {
    let given_up = CapabilitySet::from_bits_retain(GIVEN_UP.load(Ordering::Relaxed));
    if given_up.is_empty() {
        return Ok(());
    }
    let had = Needed::of(before, None);
    let needed = Needed::of(fresh, Some(plan));
    let is_new = |what_for: &str| had.reasons.iter().all(|reason| reason.what_for != what_for);
    let lacking =
        needed.reasons.iter().find(|reason| given_up.intersects(reason.set) && is_new(&reason.what_for));
    lacking.map_or(Ok(()), |reason| {
        let missing = names(reason.set & given_up);
        Err(Fault::local(format!(
            "{} needs {missing}, which the program gave up at its start because nothing needed it then: restart it, or start it with \
             --caps naming what it is to keep",
            reason.what_for
        )))
    })
}

/// What only some configurations need of a root that is to do what root can do.
fn beside_root(configuration: &Configuration, plan: &Plan) -> CapabilitySet {
    let mut more = CapabilitySet::empty();
    for driver in &configuration.drivers {
        let opens = plan.opened_by(driver).map_or_else(Vec::new, Start::needs);
        for need in opens.into_iter().chain(driver.needs()) {
            more |= match need {
                Need::Address(Address { udp: true, .. }) | Need::Privilege(Privilege::LargeBuffers) => {
                    CapabilitySet::NET_ADMIN
                }
                Need::Privilege(Privilege::Commands) => {
                    CapabilitySet::SETUID | CapabilitySet::SETGID | CapabilitySet::KILL
                }
                Need::Privilege(Privilege::Processes) => CapabilitySet::SYS_PTRACE,
                _ => CapabilitySet::empty(),
            };
        }
    }
    more
}

fn cannot_give_up(error: rustix::io::Errno) -> Fault {
    Fault::local(format!("cannot give up capabilities: {error}; --no-caps leaves them alone"))
}

/// Keeps these of the capabilities there are, for this process and the programs it starts.
fn keep(before: CapabilitySets, wanted: CapabilitySet) -> rustix::io::Result<()> {
    let kept = before.permitted & wanted;
    if before.permitted.contains(CapabilitySet::SETPCAP) {
        set_capabilities(None, CapabilitySets { effective: before.permitted, ..before })?;
        for (_, one) in each().filter(|(_, one)| !kept.contains(*one)) {
            // One that this kernel does not know is no error.
            if capability_is_in_bounding_set(one) == Ok(true) {
                remove_capability_from_bounding_set(one)?;
            }
        }
    }
    clear_ambient_capability_set()?;
    let sets = CapabilitySets { permitted: kept, effective: kept, inheritable: CapabilitySet::empty() };
    set_capabilities(None, sets)?;
    Ok(())
}

/// Gives the state folder of root to the user that is to write in it, as service managers do: one that is
/// empty, or has our files. What stands in the way is met, and said, when the folder is used.
fn give_state(folder: &Path, user: &User) {
    let is_roots = std::fs::symlink_metadata(folder).is_ok_and(|meta| meta.is_dir() && meta.uid() == 0);
    let mut entries = std::fs::read_dir(folder).into_iter().flatten();
    if is_roots && (folder.join(identity::FILE).exists() || entries.next().is_none()) {
        give(folder, user, STATE_DEPTH_MAX);
    }
}

/// Links are given, not what they point to.
fn give(path: &Path, user: &User, depth_max: usize) {
    let given = fchownat(AT_FDCWD, path, Some(user.uid), Some(user.gid), AtFlags::AT_SYMLINK_NOFOLLOW);
    let is_folder = std::fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir());
    if given.is_err() || !is_folder || depth_max == 0 {
        return;
    }
    for entry in std::fs::read_dir(path).into_iter().flatten().flatten() {
        give(&entry.path(), user, depth_max - 1);
    }
}

fn change_group(gid: Gid, user: Option<&User>) -> Result<(), Fault> {
    let privileged = Uid::effective().is_root();
    if gid != Gid::effective() || privileged {
        setgid(gid).map_err(|e| Fault::local(format!("cannot change to group {gid}: {e}")))?;
    }
    if !privileged {
        return Ok(());
    }
    let name = user.map(|u| std::ffi::CString::new(u.name.as_str())).transpose();
    match name {
        Ok(Some(name)) => initgroups(&name, gid),
        _ => setgroups(&[gid]),
    }
    .map_err(|e| Fault::local(format!("cannot set the groups: {e}")))
}

/// A name, or a number.
fn find_user(who: &str) -> Result<User, Fault> {
    let found = match who.parse() {
        Ok(number) => User::from_uid(Uid::from_raw(number)),
        Err(_) => User::from_name(who),
    };
    found.ok().flatten().ok_or_else(|| Fault::misconfigured(format!("there is no user {who}")))
}

fn find_group(which: &str) -> Result<Gid, Fault> {
    if let Ok(number) = which.parse() {
        return Ok(Gid::from_raw(number));
    }
    let found = Group::from_name(which).ok().flatten();
    found.map(|g| g.gid).ok_or_else(|| Fault::misconfigured(format!("there is no group {which}")))
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
