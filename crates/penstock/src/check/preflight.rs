//! The surroundings a configuration needs: folders of files and sockets, keys, rights, addresses. Looks only; makes nothing, and opens
//! nothing that anybody could notice.
//!
//! What keeps `run` from starting is an error; what `run` starts without, and may find later, is a warning. Only what log paths use is
//! looked at.

pub mod addresses;
mod folders;

use std::collections::BTreeSet;
use std::path::PathBuf;

use conf_schema::{Context, Kind};
use diag::{Diagnostic, Severity};
use engine::compile::{Plan, PlannedSource};
use engine::{Durable, Made, Need, Trouble};

use crate::configuration::Configuration;
use crate::used::{self, Driver, secrets};
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
        "The path of a file names an existing folder. Correct the path.",
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
];

/// Looks at what the drivers of a configuration need. Without a plan, which there is not when something else is wrong, it is not known what
/// sources will open, and only files and keys are looked at.
pub fn look(configuration: &mut Configuration, plan: Option<&Plan>) {
    let mut findings = Vec::new();
    let mut look = Look { findings: &mut findings, missing: BTreeSet::new() };
    used::each_driver(configuration, plan, &mut |driver, planned| look.driver(driver, planned));
    for finding in findings {
        configuration.push(finding);
    }
}

struct Look<'a> {
    findings: &'a mut Vec<Diagnostic>,
    /// Keys and certificates that were reported: many drivers may name the same.
    missing: BTreeSet<(PathBuf, Context)>,
}

impl Look<'_> {
    fn driver(&mut self, driver: &Driver, planned: Option<&PlannedSource>) {
        self.secrets(driver);
        match driver.context {
            Context::Source => {
                let needs = planned.map_or_else(Vec::new, |planned| planned.driver.start.needs());
                needs.into_iter().for_each(|need| self.need(driver, need));
                self.findings.extend(read_from(driver));
            }
            _ => self.destination(driver),
        }
    }

    fn need(&mut self, driver: &Driver, need: Need<'_>) {
        match need {
            Need::Address(address) => {
                self.findings.extend(addresses::privileged(&address, driver));
            }
            Need::Place { path, what, create_dirs } => {
                let span = driver.at("path");
                let folder = Folder {
                    path: folder_of(&path),
                    create: driver.has("create-dirs").then_some(create_dirs),
                };
                let found = match what {
                    Made::Socket => folders::socket(&path, &folder, span),
                    Made::Pipe => folders::pipe(&path, &folder, span),
                };
                self.findings.extend(found);
            }
            Need::Trial(trial) => match trial() {
                // A file that is missing was reported where it is named.
                Err(Trouble::Keys(_)) if self.names_missing(driver) => {}
                Err(Trouble::Keys(text) | Trouble::Other(text)) => {
                    self.findings.push(Diagnostic::error("C0106", text, driver.span));
                }
                Ok(()) => {}
            },
        }
    }

    fn destination(&mut self, driver: &Driver) {
        let settings = &driver.settings;
        let path = driver.component.positional.first();
        if let Some((name, Kind::Template)) = path.map(|p| (p.name, p.kind))
            && driver.has("create-dirs")
            && let Some(template) = settings.template(name)
        {
            self.findings.extend(folders::file(
                &template.text,
                settings.bool("create-dirs"),
                driver.at(name),
            ));
        }
        // The folder that is the default depends on how the program is started.
        if let Some(dir) = settings.block("disk-buffer").and_then(|block| block.path("dir"))
            && let Err(error) = Durable::look(dir)
        {
            let finding =
                Diagnostic::error("C0106", format!("disk-buffer(): {error}"), driver.at("disk-buffer"));
            self.findings.push(finding.help("make the folder, or correct dir()"));
        }
        if settings.bool("spoof-source") == Some(true)
            && let Err(error) = transport::may_spoof(settings.choice("ip-protocol") == Some("6"))
        {
            let text = format!("spoof-source() needs root or CAP_NET_RAW: {error}");
            let finding = Diagnostic::error("C0106", text, driver.at("spoof-source"));
            self.findings.push(finding.help("give the service this capability, or leave spoof-source() out"));
        }
    }

    /// Keys and certificates. A source is not opened without them; a destination goes on trying. A folder of authorities may come later.
    fn secrets(&mut self, driver: &Driver) {
        for (option, what, path, span) in secrets(&driver.settings) {
            if path.exists() || !self.missing.insert((path.clone(), driver.context)) {
                continue;
            }
            let severity = match driver.context {
                Context::Source if option != "ca-dir" => Severity::Error,
                _ => Severity::Warning,
            };
            let text = format!("the {what} {} does not exist", path.display());
            let finding = Diagnostic::new(severity, "C0105", text).at(span);
            self.findings
                .push(finding.help("make it, or correct the path; `penstock test-ca` makes some to try"));
        }
    }

    fn names_missing(&self, driver: &Driver) -> bool {
        secrets(&driver.settings).any(|(_, _, path, _)| !path.exists())
    }
}

/// A file that will be read is waited for; its folder should be there.
fn read_from(driver: &Driver) -> Option<Diagnostic> {
    let option = driver.component.positional.first().filter(|p| matches!(p.kind, Kind::Path))?;
    let path = driver.settings.path(option.name).filter(|_| !driver.has("create-dirs"))?;
    folders::to_read(&folder_of(path), driver.at(option.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Codes found for a destination, with `DIR` standing for a folder that has a file `there`.
    fn check(driver: &str, expected: &[&str]) {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().display().to_string();
        std::fs::write(folder.path().join("there"), "").unwrap();
        let text = format!("@version: 4.11\ndestination d {{ {} }};\n", driver.replace("DIR", &dir));
        let path = folder.path().join("x.conf");
        std::fs::write(&path, text).unwrap();
        let mut configuration = Configuration::read(&path);
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
