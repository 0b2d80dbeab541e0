//! Which capabilities a configuration needs, and for what: read from its compiled form, and from the files
//! and folders it names.
//!
//! Whether a file needs them depends on its owner and mode, so the question is put to the kernel, by a
//! process that could not go around the answer: see [`Needed::of`].

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use diag::Span;
use engine::compile::{Configured, Plan};
use engine::driver::Start;
use engine::{Need, Privilege};
use nix::unistd::{Gid, Uid, getgroups};
use rustix::fs::{Access, AtFlags, CWD, accessat};
use rustix::io::Errno;
use rustix::thread::CapabilitySet;

use crate::check::first_free_port;
use crate::configuration::Configuration;

/// Files of a folder that are looked at: one that cannot be read is enough, and they are mostly alike.
const LOOKED_AT_MAX: usize = 1000;

/// The kernel's log.
const KERNEL_LOGS: [&str; 2] = ["/proc/kmsg", "/dev/kmsg"];

/// One capability or several, and what for.
pub struct Reason {
    pub set: CapabilitySet,
    pub what_for: String,
    /// The driver; None of the configuration itself.
    pub at: Option<Span>,
}

#[derive(Default)]
pub struct Needed {
    pub reasons: Vec<Reason>,
    /// Whose needs are looked at.
    at: Option<Span>,
}

impl Needed {
    /// What this configuration needs. Files are tried with the rights of the moment: call it without the
    /// capabilities that open all of them, or with those that are kept. Without a plan, what sources open
    /// does not count.
    pub fn of(configuration: &Configuration, plan: Option<&Plan>) -> Needed {
        let mut needed = Needed::default();
        for path in &configuration.parsed.config.files {
            needed.reads(path);
        }
        for driver in &configuration.drivers {
            needed.at = Some(driver.span);
            let opened = plan.and_then(|plan| plan.opened_by(driver));
            let opens = opened.map_or_else(Vec::new, Start::needs);
            opens.into_iter().chain(driver.needs()).for_each(|need| needed.need(driver, need));
        }
        needed.at = None;
        needed
    }

    pub fn all(&self) -> CapabilitySet {
        self.reasons.iter().fold(CapabilitySet::empty(), |all, reason| all | reason.set)
    }

    fn add(&mut self, set: CapabilitySet, what_for: String) {
        self.reasons.push(Reason { set, what_for, at: self.at });
    }

    fn need(&mut self, driver: &Configured, need: Need<'_>) {
        match need {
            Need::Address(at) => {
                let port = at.address.port();
                if port != 0 && port < first_free_port() {
                    self.add(CapabilitySet::NET_BIND_SERVICE, format!("port {port}"));
                }
            }
            Need::Place { path, .. } => self.makes(&path),
            Need::File { path, .. } => {
                if KERNEL_LOGS.iter().any(|log| path == Path::new(log)) {
                    self.add(CapabilitySet::SYSLOG, path.display().to_string());
                }
                self.reads(&path);
            }
            Need::Folder { path, recursive } => self.folder_to_read(&path, recursive),
            Need::Key(key) => self.reads(&key.path),
            Need::Output { path, .. } => self.writes(&path),
            // Its folder is none of ours.
            Need::Peer { path } => {
                if is_denied(&path, Access::WRITE_OK) == Some(true) {
                    self.add(CapabilitySet::DAC_OVERRIDE, path.display().to_string());
                }
            }
            Need::Queue { folder, .. } => self.folder_to_write(&folder),
            Need::Spoof { option, .. } => self.add(CapabilitySet::NET_RAW, format!("{option}()")),
            Need::Owners { users, groups } => self.owners(driver, &users, &groups),
            Need::Mode { path } => {
                if std::fs::metadata(&path).is_ok_and(|meta| meta.uid() != Uid::effective().as_raw()) {
                    let what_for = format!("perm() of {}, which is another user's", path.display());
                    self.add(CapabilitySet::FOWNER, what_for);
                }
            }
            Need::Privilege(Privilege::Interface) => {
                self.add(CapabilitySet::NET_RAW, "interface()".to_owned());
            }
            Need::Privilege(Privilege::Terminals) => {
                let what_for = format!("the terminals of {}()", driver.component.name);
                self.add(CapabilitySet::DAC_OVERRIDE, what_for);
            }
            // What only root has beside the rest.
            Need::Privilege(Privilege::LargeBuffers | Privilege::Commands | Privilege::Processes)
            | Need::Connects(_)
            | Need::Trial(_) => {}
        }
    }

    /// To give files away takes two capabilities, and to open them afterwards a third.
    fn owners(&mut self, driver: &Configured, users: &[u32], groups: &[u32]) {
        let is_another = |user: &u32| *user != Uid::effective().as_raw();
        if users.iter().any(is_another) || groups.iter().any(|group| !is_own_group(*group)) {
            let set = CapabilitySet::CHOWN | CapabilitySet::FOWNER | CapabilitySet::DAC_OVERRIDE;
            self.add(set, format!("owner() or group() of {}()", driver.component.name));
        }
    }

    /// A file that is read now or later.
    fn reads(&mut self, path: &Path) {
        let denied = is_denied(path, Access::READ_OK)
            .or_else(|| path.ancestors().skip(1).find_map(|above| is_denied(above, Access::EXEC_OK)));
        if denied == Some(true) {
            self.add(CapabilitySet::DAC_READ_SEARCH, path.display().to_string());
        }
    }

    fn folder_to_read(&mut self, folder: &Path, recursive: bool) {
        self.reads(folder);
        let mut folders = vec![folder.to_path_buf()];
        let mut looked_at = 0;
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                looked_at += 1;
                if looked_at > LOOKED_AT_MAX || self.all().contains(CapabilitySet::DAC_READ_SEARCH) {
                    return;
                }
                let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
                if !is_folder || recursive {
                    self.reads(&entry.path());
                }
                if is_folder && recursive {
                    folders.push(entry.path());
                }
            }
        }
    }

    /// A file of a destination; its path may have macros.
    fn writes(&mut self, text: &str) {
        let literal = text.split('$').next().unwrap_or_default();
        if literal.len() == text.len() {
            return self.makes(Path::new(text));
        }
        let fixed =
            literal.rsplit_once('/').map_or(".", |(folder, _)| if folder.is_empty() { "/" } else { folder });
        self.folder_to_write(Path::new(fixed));
    }

    /// Something that is opened for writing, or made.
    pub fn makes(&mut self, path: &Path) {
        match is_denied(path, Access::WRITE_OK) {
            Some(true) => self.add(CapabilitySet::DAC_OVERRIDE, path.display().to_string()),
            Some(false) => {}
            None => self.folder_to_write(path.parent().unwrap_or(Path::new("."))),
        }
    }

    /// What an earlier start may have left in a folder of ours.
    pub fn works_below(&mut self, folder: &Path) {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten().take(LOOKED_AT_MAX) {
            if is_denied(&entry.path(), Access::READ_OK | Access::WRITE_OK) == Some(true) {
                self.add(CapabilitySet::DAC_OVERRIDE, entry.path().display().to_string());
            }
        }
    }

    /// A folder in which things are made; while it is not there, the first one above it that is.
    pub fn folder_to_write(&mut self, folder: &Path) {
        let here =
            |path: &Path| if path.as_os_str().is_empty() { PathBuf::from(".") } else { path.to_path_buf() };
        let denied =
            folder.ancestors().find_map(|path| is_denied(&here(path), Access::WRITE_OK | Access::EXEC_OK));
        if denied == Some(true) {
            self.add(CapabilitySet::DAC_OVERRIDE, folder.display().to_string());
        }
    }
}

fn is_own_group(group: u32) -> bool {
    let gid = Gid::from_raw(group);
    gid == Gid::effective() || getgroups().is_ok_and(|groups| groups.contains(&gid))
}

/// `None`: there is no such file, as far as can be seen.
fn is_denied(path: &Path, access: Access) -> Option<bool> {
    match accessat(CWD, path, access, AtFlags::EACCESS) {
        Ok(()) => Some(false),
        Err(Errno::NOENT | Errno::NOTDIR) => None,
        Err(error) => Some(error == Errno::ACCESS || error == Errno::PERM),
    }
}
