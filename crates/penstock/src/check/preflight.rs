//! The surroundings a configuration needs: folders of files and sockets, keys, rights, addresses. Looks only;
//! makes nothing, and opens nothing that anybody could notice.
//!
//! What keeps `run` from starting is an error; what `run` starts without, and may find later, is a warning.
//! Only what log paths use is looked at.

pub mod addresses;
mod folders;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use conf_schema::Context;
use diag::{Diagnostic, Severity, Whose};
use engine::compile::{Configured, Plan};
use engine::driver::Start;
use engine::{Durable, Key, Made, Need};

use crate::configuration::Configuration;
use folders::{Folder, folder_of};

/// Stable codes of this crate: (code, title, what it means and what to do).
pub const CODES: &[(&str, &str, &str)] = &[
    (
        "C0101",
        "a folder does not exist",
        "A file or socket is to be made in a folder that is not there. Make the folder, correct the path, or use \
         create-dirs(yes). For a file this is a warning: the program starts, and messages wait until the folder is there. A source \
         that cannot make its socket or pipe keeps the program from starting.",
    ),
    (
        "C0102",
        "a folder or file cannot be written",
        "The user this check runs as may not write there. Run the check as the user the program will run as; change owner \
         or mode, or the path. A source that cannot make its socket or pipe keeps the program from starting.",
    ),
    (
        "C0103",
        "a port that needs privileges",
        "Ports below net.ipv4.ip_unprivileged_port_start (1024 unless changed) can be bound by root or with the capability \
         CAP_NET_BIND_SERVICE only; without it the program does not start. Give the service this capability, or use a higher port; \
         run the check as the user the program will run as.",
    ),
    (
        "C0104",
        "a folder stands where a file should",
        "The path of a file names an existing folder. Correct the path, or remove the folder: messages wait until then.",
    ),
    (
        "C0105",
        "a key or certificate does not exist",
        "A file or folder of tls() is not there. A source is not opened without it, and the program does not start; a destination does \
         not connect until it is there.",
    ),
    (
        "C0106",
        "a source or destination that cannot be opened",
        "What the program would meet when it opens this was tried, and the message says why it fails: an address that is not one of \
         this machine, a key that cannot be read, a path at which something else stands, a privilege that is missing. The program does \
         not start like this.",
    ),
    (
        "C0107",
        "a file of another kind",
        "The file is not written in the language of syslog-ng: it is UTF-16, compressed, a program, YAML, TOML, JSON or a \
         configuration of rsyslog. Nothing in it is looked at. A file that has a line with @version or a statement such as \
         `source s {` is always taken for a configuration.",
    ),
    (
        "C0108",
        "an option of the sandbox that means nothing",
        "sandbox-read() and sandbox-write() take paths that begin with a slash, sandbox-connect() takes ports from 1 to 65535 by number.",
    ),
];

/// Looks at what the drivers of a configuration need. Without a plan, which there is not when something else
/// is wrong, it is not known what sources will open, and only what the options say is looked at.
pub fn look(configuration: &mut Configuration, plan: Option<&Plan>) {
    let mut look = Look { findings: Vec::new(), missing: BTreeSet::new() };
    for driver in &configuration.drivers {
        let opened = plan.and_then(|plan| plan.opened_by(driver));
        look.driver(driver, opened.map_or_else(Vec::new, Start::needs));
    }
    for finding in look.findings {
        configuration.push(finding);
    }
}

struct Look {
    findings: Vec<Diagnostic>,
    /// Keys and certificates that were reported: many drivers may name the same.
    missing: BTreeSet<(PathBuf, Context)>,
}

impl Look {
    /// `opens` is what it needs to be opened, beside what its options ask for.
    fn driver(&mut self, driver: &Configured, opens: Vec<Need<'_>>) {
        let needs = driver.needs();
        let names_missing = needs.iter().any(|need| matches!(need, Need::Key(key) if !key.path.exists()));
        for need in opens.into_iter().chain(needs) {
            match need {
                Need::Address(address) => self.findings.extend(addresses::privileged(&address, driver)),
                Need::Place { path, what, create_dirs } => self.place(driver, &path, what, create_dirs),
                // A file that is missing was reported where it is named.
                Need::Trial(trial) => match trial() {
                    Err(fault) if names_missing && fault.whose == Whose::Misconfigured => {}
                    Err(fault) => {
                        self.findings.push(Diagnostic::error("C0106", fault.said(), driver.span));
                    }
                    Ok(()) => {}
                },
                // It is waited for; its folder should be there.
                Need::File { option, path } => {
                    self.findings.extend(folders::to_read(&folder_of(&path), driver.at(option)));
                }
                Need::Output { option, path, create_dirs } => {
                    self.findings.extend(folders::file(&path, create_dirs, driver.at(option)));
                }
                Need::Key(key) => self.key(driver, key),
                Need::Queue { option, folder } => {
                    // The folder that is the default depends on how the program is started.
                    if let Err(error) = Durable::look(&folder) {
                        let text = format!("{option}(): {error}");
                        let finding = Diagnostic::error("C0106", text, driver.at(option));
                        self.findings.push(finding.help("make the folder, or correct dir()"));
                    }
                }
                Need::Spoof { option, ipv6 } => {
                    if let Err(error) = transport::may_spoof(ipv6) {
                        let text = format!("{option}() needs root or CAP_NET_RAW: {error}");
                        let finding = Diagnostic::error("C0106", text, driver.at(option));
                        let help = format!("give the service this capability, or leave {option}() out");
                        self.findings.push(finding.help(help));
                    }
                }
                // Whoever may not do these is told when it is tried.
                Need::Folder { .. }
                | Need::Peer { .. }
                | Need::Owners { .. }
                | Need::Mode { .. }
                | Need::Connects(_)
                | Need::Privilege(_) => {}
            }
        }
    }

    fn place(&mut self, driver: &Configured, path: &Path, what: Made, create_dirs: bool) {
        let folder = Folder { path: folder_of(path), create: Some(create_dirs) };
        self.findings.extend(match what {
            Made::Socket => folders::socket(path, &folder, driver.at("path")),
            Made::Pipe => folders::pipe(path, &folder, driver.at("path")),
        });
    }

    /// Keys and certificates. A source is not opened without them; a destination goes on trying. A folder of
    /// authorities may come later.
    fn key(&mut self, driver: &Configured, key: Key) {
        if key.path.exists() || !self.missing.insert((key.path.clone(), driver.context)) {
            return;
        }
        let severity = match driver.context {
            Context::Source if key.option != "ca-dir" => Severity::Error,
            _ => Severity::Warning,
        };
        let text = format!("the {} {} does not exist", key.what, key.path.display());
        let finding = Diagnostic::new(severity, "C0105", text).at(key.at.unwrap_or(driver.span));
        self.findings
            .push(finding.help("make it, or correct the path; `penstock test-ca` makes some to try"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::compile::Existing;
    use template::Identity;

    const LOG: &str = "log { source { internal(); }; destination(d); };\n";

    /// Codes found for a destination, with `DIR` standing for a folder that has a file `there`.
    fn check(driver: &str, expected: &[&str]) {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().display().to_string();
        std::fs::write(folder.path().join("there"), "").unwrap();
        let text = format!("@version: 4.11\ndestination d {{ {} }};\n{LOG}", driver.replace("DIR", &dir));
        let path = folder.path().join("x.conf");
        std::fs::write(&path, text).unwrap();
        let mut configuration = Configuration::read(&path);
        let _ = configuration.compile(&Identity::new("h"), &Existing::new());
        look(&mut configuration, None);
        let codes: Vec<&str> = configuration.findings().iter().map(|d| d.code).collect();
        assert_eq!(codes, expected, "{driver}: {}", configuration.report());
    }

    #[test]
    fn folders_of_files() {
        check("file(\"DIR/new\");", &[]);
        check("file(\"DIR/there\");", &[]);
        check("file(\"DIR\");", &["C0104"]);
        check("file(\"DIR/a/b\");", &["C0101"]);
        check("file(\"DIR/a/b\" create-dirs(yes));", &[]);
        check("file(\"DIR/$HOST/b\");", &[]);
        check("file(\"DIR/a/$HOST\");", &["C0101"]);
        check("file(\"DIR/a/$HOST\" create-dirs(yes));", &[]);
        check("channel { destination { file(\"DIR/a/b\"); }; };", &["C0101"]);
    }

    #[test]
    fn keys_and_certificates() {
        let tls = |options: &str| format!("network(\"h\" port(6514) transport(tls) tls({options}));");
        check(&tls("ca-file(\"DIR/there\") key-file(\"DIR/there\") cert-file(\"DIR/there\")"), &[]);
        check(&tls("ca-dir(\"DIR\")"), &[]);
        check(&tls("ca-dir(\"DIR/no\") key-file(\"DIR/no\") cert-file(\"DIR/there\")"), &["C0105"]);
    }

    #[test]
    fn create_dirs_is_taken_from_the_global_options() {
        check("file(\"DIR/a/b\"); }; options { create-dirs(yes);", &[]);
    }
}
