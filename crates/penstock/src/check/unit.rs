//! `check --unit`: what a configuration needs beyond what the packaged systemd unit allows, as a drop-in,
//! each line with the statement that needs it and why.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use engine::compile::{Configured, Plan};
use engine::driver::Start;
use engine::{Need, Privilege};

use crate::check::first_free_port;
use crate::configuration::Configuration;

/// Folders that the packaged unit lets the program write to; see packaging/systemd/penstock.service.
const WRITABLE: [&str; 3] = ["/var/log", "/var/lib/penstock", "/run/penstock"];
/// What `ProtectHome=yes` hides.
const HOMES: [&str; 3] = ["/home", "/root", "/run/user"];
/// What `PrivateTmp=yes` replaces by empty folders.
const TEMPORARY: [&str; 2] = ["/tmp", "/var/tmp"];
/// Devices that `PrivateDevices=yes` leaves.
const PSEUDO_DEVICES: [&str; 6] =
    ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/log"];
/// The kernel's log, which `ProtectKernelLogs=yes` hides.
const KERNEL_LOGS: [&str; 2] = ["/proc/kmsg", "/dev/kmsg"];

/// The drop-in as text: a comment alone where the packaged unit is enough.
pub fn drop_in(configuration: &Configuration, plan: Option<&Plan>) -> String {
    let mut wanted = Wanted::default();
    for driver in &configuration.drivers {
        let at = place(configuration, driver);
        let opened = plan.and_then(|plan| plan.opened_by(driver)).map_or_else(Vec::new, Start::needs);
        for need in opened.into_iter().chain(driver.needs()) {
            wanted.need(&at, &need);
        }
    }
    wanted.text()
}

/// `fw.conf:12 network()`, where the user wrote it.
fn place(configuration: &Configuration, driver: &Configured) -> String {
    let sources = &configuration.parsed.sources;
    let location = sources.locate(sources.outermost(driver.span));
    format!("{}:{} {}()", location.file, location.line, driver.component.name)
}

/// Settings of the drop-in, with the reasons for each.
#[derive(Default)]
struct Wanted {
    /// By `Name=value`.
    settings: BTreeMap<String, BTreeSet<String>>,
    /// By reason.
    capabilities: BTreeMap<String, BTreeSet<&'static str>>,
    /// What the unit allows already.
    allowed: BTreeSet<String>,
}

impl Wanted {
    fn need(&mut self, at: &str, need: &Need<'_>) {
        match need {
            Need::Address(address) => {
                let port = address.address.port();
                if port != 0 && port < first_free_port() {
                    self.allowed.insert(format!("{at} listens at port {port}: CAP_NET_BIND_SERVICE"));
                }
            }
            Need::Place { path, .. } => self.places(at, path),
            Need::File { path, .. } => self.reads(at, path),
            Need::Folder { path, .. } | Need::Peer { path } => self.reads(at, path),
            Need::Key(key) => self.reads(at, &key.path),
            Need::Output { path, .. } => self.writes(at, &folder_of_template(path)),
            Need::Queue { folder, .. } => self.writes(at, folder),
            Need::Spoof { option, .. } => self.capability("CAP_NET_RAW", at, &format!("has {option}()")),
            Need::Owners { users, groups } if !users.is_empty() || !groups.is_empty() => {
                for capability in ["CAP_CHOWN", "CAP_FOWNER", "CAP_DAC_OVERRIDE"] {
                    self.capability(capability, at, "gives files to others: owner(), group()");
                }
                self.set("SystemCallFilter=@chown", at, "gives files to others: owner(), group()");
            }
            Need::Privilege(privilege) => self.privilege(at, *privilege),
            Need::Owners { .. } | Need::Mode { .. } | Need::Connects(_) | Need::Trial(_) => {}
        }
    }

    fn privilege(&mut self, at: &str, privilege: Privilege) {
        match privilege {
            Privilege::Interface => self.capability("CAP_NET_RAW", at, "has interface()"),
            Privilege::LargeBuffers => {
                let why =
                    "gets receive buffers beyond the system's limit with CAP_NET_ADMIN, smaller ones without";
                self.allowed.insert(format!("{at} {why}"));
            }
            Privilege::Terminals => {
                self.set("PrivateDevices=no", at, "writes to terminals");
                self.capability("CAP_DAC_OVERRIDE", at, "writes to the terminals of others");
            }
            Privilege::Processes => {
                let why =
                    "has .unix.exe of other users' programs with CAP_SYS_PTRACE and ProtectProc=default only";
                self.allowed.insert(format!("{at} {why}"));
            }
            Privilege::Commands => {
                self.allowed
                    .insert(format!("{at} starts commands: they may do what the unit allows, no more"));
            }
        }
    }

    fn reads(&mut self, at: &str, path: &Path) {
        if KERNEL_LOGS.iter().any(|log| path == Path::new(log)) {
            self.set("ProtectKernelLogs=no", at, "reads the kernel's log");
            self.capability("CAP_SYSLOG", at, "reads the kernel's log");
        }
        self.sees(at, path, "read-only");
    }

    /// A socket or pipe that is made there, for others to find.
    fn places(&mut self, at: &str, path: &Path) {
        if path.starts_with("/dev") {
            // The link that `PrivateDevices=yes` leaves leads those who send to journald, not here.
            let why = format!("makes {}, which programs outside of the service look for", path.display());
            self.set("PrivateDevices=no", at, &why);
            self.capability("CAP_DAC_OVERRIDE", at, &format!("makes {}", path.display()));
        }
        self.writes(at, path.parent().unwrap_or(path));
    }

    fn writes(&mut self, at: &str, folder: &Path) {
        self.sees(at, folder, "no");
        let in_device = folder.starts_with("/dev");
        if !in_device && !WRITABLE.iter().any(|writable| folder.starts_with(writable)) {
            let setting = format!("ReadWritePaths={}", escaped(folder));
            self.set(&setting, at, "writes there");
            if is_missing(folder) {
                let made = format!(
                    "the service does not start before this is there: install -d -o penstock -g penstock '{}'",
                    folder.display()
                );
                self.settings.entry(setting).or_default().insert(made);
            }
        }
    }

    /// That a path is there at all. `homes` is what ProtectHome= is to be.
    fn sees(&mut self, at: &str, path: &Path, homes: &str) {
        let below = |folders: &[&str]| folders.iter().any(|folder| path.starts_with(folder));
        if below(&HOMES) {
            self.set(&format!("ProtectHome={homes}"), at, &format!("uses {}", path.display()));
        }
        if below(&TEMPORARY) {
            self.set("PrivateTmp=no", at, &format!("uses {}", path.display()));
        }
        if path.starts_with("/dev") && path != Path::new("/dev") && !below(&PSEUDO_DEVICES) {
            self.set("PrivateDevices=no", at, &format!("uses {}", path.display()));
        }
    }

    fn set(&mut self, setting: &str, at: &str, why: &str) {
        self.settings.entry(setting.to_owned()).or_default().insert(format!("{at} {why}"));
    }

    fn capability(&mut self, name: &'static str, at: &str, why: &str) {
        self.capabilities.entry(format!("{at} {why}")).or_default().insert(name);
    }

    fn text(mut self) -> String {
        // Writing includes reading.
        if let Some(reasons) = self.settings.remove("ProtectHome=read-only") {
            let key = if self.settings.contains_key("ProtectHome=no") {
                "ProtectHome=no"
            } else {
                "ProtectHome=read-only"
            };
            self.settings.entry(key.to_owned()).or_default().extend(reasons);
        }
        let mut text = String::new();
        for reason in &self.allowed {
            text.push_str(&format!("# within the packaged unit: {reason}\n"));
        }
        if self.settings.is_empty() && self.capabilities.is_empty() {
            text.push_str("# The packaged unit allows all that this configuration needs.\n");
            return text;
        }
        text.push_str("# Put this into /etc/systemd/system/penstock.service.d/configuration.conf, then: systemctl daemon-reload\n[Service]\n");
        for (setting, reasons) in &self.settings {
            push_reasons(&mut text, reasons);
            text.push_str(&format!("{setting}\n"));
        }
        if !self.capabilities.is_empty() {
            let listed = |names: &BTreeSet<&str>| names.iter().copied().collect::<Vec<_>>().join(" ");
            for (reason, names) in &self.capabilities {
                text.push_str(&format!("# {reason}: {}\n", listed(names)));
            }
            let names = listed(&self.capabilities.values().flatten().copied().collect());
            text.push_str(&format!("AmbientCapabilities={names}\nCapabilityBoundingSet={names}\n"));
        }
        text
    }
}

fn push_reasons(text: &mut String, reasons: &BTreeSet<String>) {
    for reason in reasons {
        text.push_str(&format!("# {reason}\n"));
    }
}

/// The part of an output's path that is a folder for certain: `/srv/logs` of `/srv/logs/$HOST/all.log`.
fn folder_of_template(path: &str) -> PathBuf {
    let literal = path.split('$').next().unwrap_or_default();
    if literal.len() == path.len() && literal.starts_with("/dev/") {
        return PathBuf::from(literal);
    }
    let folder = literal.rsplit_once('/').map_or("", |(folder, _)| folder);
    PathBuf::from(if folder.is_empty() { "/" } else { folder })
}

/// That somebody has to make it first: systemd starts nothing with a path that is not there.
fn is_missing(folder: &Path) -> bool {
    folder.symlink_metadata().is_err_and(|error| error.kind() == ErrorKind::NotFound)
}

/// As systemd reads paths: a `%` and what would end the word, or begin a quoted one, are escaped.
fn escaped(path: &Path) -> String {
    let mut escaped = String::new();
    for c in path.display().to_string().chars() {
        match c {
            '%' => escaped.push_str("%%"),
            '\\' | '"' | '\'' | ' ' | '\t' | '\n' => escaped.push_str(&format!("\\x{:02x}", u32::from(c))),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_outputs() {
        let check =
            |path: &str, expected: &str| assert_eq!(folder_of_template(path), Path::new(expected), "{path}");
        check("/var/log/syslog", "/var/log");
        check("/srv/logs/${HOST}/all.log", "/srv/logs");
        check("/srv/logs/x-$HOST.log", "/srv/logs");
        check("/$HOST", "/");
        check("/dev/tty10", "/dev/tty10");
    }

    #[test]
    fn what_the_unit_hides_is_opened() {
        let mut wanted = Wanted::default();
        wanted.reads("a.conf:1 file()", Path::new("/home/app/x.log"));
        wanted.writes("a.conf:2 file()", Path::new("/srv/my logs"));
        wanted.writes("a.conf:4 file()", Path::new("/srv/50% \"q\""));
        wanted.reads("a.conf:3 file()", Path::new("/dev/kmsg"));
        let text = wanted.text();
        for line in [
            "ProtectHome=read-only",
            "ReadWritePaths=/srv/my\\x20logs",
            "ReadWritePaths=/srv/50%%\\x20\\x22q\\x22",
            "# the service does not start before this is there: install -d -o penstock -g penstock '/srv/my logs'",
            "ProtectKernelLogs=no",
            "PrivateDevices=no",
            "AmbientCapabilities=CAP_SYSLOG",
            "# a.conf:2 file() writes there",
        ] {
            assert!(text.lines().any(|l| l == line), "{line} is missing in\n{text}");
        }
        let mut wanted = Wanted::default();
        wanted.places("a.conf:1 unix-dgram()", Path::new("/dev/log"));
        let text = wanted.text();
        for line in ["PrivateDevices=no", "AmbientCapabilities=CAP_DAC_OVERRIDE"] {
            assert!(text.lines().any(|l| l == line), "{line} is missing in\n{text}");
        }
        assert!(Wanted::default().text().starts_with("# The packaged unit allows all"));
    }
}
