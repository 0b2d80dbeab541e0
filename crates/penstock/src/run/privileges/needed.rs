//! Which capabilities a configuration needs, and for what: read from its compiled form, and from the files and folders it names.
//!
//! Whether a file needs them depends on its owner and mode, so the question is put to the kernel, by a process that could not go around
//! the answer: see [`Needed::of`].

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use conf_schema::{Change, Context, Kind};
use engine::Need;
use engine::compile::{Plan, PlannedSource};
use nix::unistd::{Gid, Uid, getgroups};
use rustix::fs::{Access, AtFlags, CWD, accessat};
use rustix::io::Errno;
use rustix::thread::CapabilitySet;
use transport::Ownership;

use crate::check::first_free_port;
use crate::configuration::Configuration;
use crate::used::{self, Driver, secrets};

/// Files of a folder that are looked at: one that cannot be read is enough, and they are mostly alike.
const LOOKED_AT_MAX: usize = 1000;

/// The kernel's log.
const KERNEL_LOGS: [&str; 2] = ["/proc/kmsg", "/dev/kmsg"];

/// Folders of systemd's journal.
const JOURNALS: [&str; 2] = ["/var/log/journal", "/run/log/journal"];

/// One capability or several, and what for.
pub struct Reason {
    pub set: CapabilitySet,
    pub what_for: String,
}

#[derive(Default)]
pub struct Needed(pub Vec<Reason>);

impl Needed {
    /// What this configuration needs. Files are tried with the rights of the moment: call it without the capabilities that open all of them,
    /// or with those that are kept.
    pub fn of(configuration: &Configuration, plan: Option<&Plan>) -> Needed {
        let mut needed = Needed::default();
        for path in &configuration.parsed.config.files {
            needed.reads(path);
        }
        used::each_driver(configuration, plan, &mut |driver, planned| {
            match driver.context {
                Context::Source => needed.source(driver, planned),
                _ => needed.destination(driver),
            }
            for (_, _, path, _) in secrets(&driver.settings) {
                needed.reads(&path);
            }
            needed.ownership(driver);
            if driver.settings.is_set("interface") {
                needed.add(CapabilitySet::NET_RAW, "interface()".to_owned());
            }
        });
        needed
    }

    pub fn all(&self) -> CapabilitySet {
        self.0.iter().fold(CapabilitySet::empty(), |all, reason| all | reason.set)
    }

    fn add(&mut self, set: CapabilitySet, what_for: String) {
        self.0.push(Reason { set, what_for });
    }

    fn source(&mut self, driver: &Driver, planned: Option<&PlannedSource>) {
        for need in planned.map_or_else(Vec::new, |planned| planned.driver.start.needs()) {
            match need {
                Need::Address(at) => {
                    let port = at.address.port();
                    if port != 0 && port < first_free_port() {
                        self.add(CapabilitySet::NET_BIND_SERVICE, format!("port {port}"));
                    }
                }
                Need::Place { path, .. } => self.makes(&path),
                Need::Trial(_) => {}
            }
        }
        let named =
            [driver.component.positional.first().filter(|p| matches!(p.kind, Kind::Path)).map(|p| p.name)];
        for option in named.into_iter().flatten() {
            let Some(path) = driver.settings.path(option) else { continue };
            if KERNEL_LOGS.iter().any(|log| path == Path::new(log)) {
                self.add(CapabilitySet::SYSLOG, path.display().to_string());
            }
            // Sockets and pipes are made: Need::Place.
            if !driver.has("create-dirs") {
                self.reads(path);
            }
        }
        if let Some(folder) = driver.settings.path("base-dir") {
            self.folder_to_read(folder, driver.settings.bool("recursive").unwrap_or(false));
        }
        if driver.component.name == "systemd-journal" {
            JOURNALS.iter().for_each(|folder| self.folder_to_read(Path::new(folder), true));
        }
    }

    fn destination(&mut self, driver: &Driver) {
        let settings = &driver.settings;
        match driver.component.positional.first().map(|p| (p.name, p.kind)) {
            Some((name, Kind::Template)) if driver.has("create-dirs") => {
                if let Some(template) = settings.template(name) {
                    self.writes(&template.text);
                }
            }
            Some((name, Kind::Path)) => {
                // A socket of somebody else's. Its folder is none of ours.
                let path = settings.path(name).map(Path::to_path_buf);
                if let Some(path) = path.filter(|path| is_denied(path, Access::WRITE_OK) == Some(true)) {
                    self.add(CapabilitySet::DAC_OVERRIDE, path.display().to_string());
                }
            }
            _ => {}
        }
        if let Some(dir) = settings.block("disk-buffer").and_then(|block| block.path("dir")) {
            self.folder_to_write(dir);
        }
        if settings.bool("spoof-source") == Some(true) {
            self.add(CapabilitySet::NET_RAW, "spoof-source()".to_owned());
        }
        if driver.component.name == "usertty" {
            self.add(CapabilitySet::DAC_OVERRIDE, "the terminals of usertty()".to_owned());
        }
    }

    /// To give files away takes two capabilities, and to open them afterwards a third.
    fn ownership(&mut self, driver: &Driver) {
        let is_given_away = ["owner", "group", "dir-owner", "dir-group"].into_iter().any(|option| {
            if !driver.has(option) {
                return false;
            }
            let Some(Change::Set(who)) = driver.settings.owner(option) else { return false };
            match option.ends_with("group") {
                true => Ownership::group(who).is_some_and(|group| !is_own_group(group)),
                false => Ownership::user(who).is_some_and(|user| user != Uid::effective().as_raw()),
            }
        });
        if is_given_away {
            let set = CapabilitySet::CHOWN | CapabilitySet::FOWNER | CapabilitySet::DAC_OVERRIDE;
            self.add(set, format!("owner() or group() of {}()", driver.component.name));
        }
        let is_moded = driver.has("perm") && matches!(driver.settings.perm("perm"), Some(Change::Set(_)));
        let Some(path) = driver.component.positional.first().filter(|_| is_moded) else { return };
        let text = match path.kind {
            Kind::Template => {
                driver.settings.template(path.name).map(|template| PathBuf::from(&template.text))
            }
            Kind::Path => driver.settings.path(path.name).map(Path::to_path_buf),
            _ => None,
        };
        let Some(path) = text else { return };
        if std::fs::metadata(&path).is_ok_and(|meta| meta.uid() != Uid::effective().as_raw()) {
            self.add(CapabilitySet::FOWNER, format!("perm() of {}, which is another user's", path.display()));
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
