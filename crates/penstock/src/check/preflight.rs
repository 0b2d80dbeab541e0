//! The surroundings a configuration needs: folders of files and sockets, rights, ports. Looks only; opens and creates nothing.
//!
//! Findings are warnings: the program would start, and what is missing may be there by then.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use conf_schema::{Component, Context, Kind, Port, ReadContext, Settings, State};
use conf_syntax::{Call, Config, LogItem, ObjectKind, Statement};
use diag::{Diagnostic, Diagnostics, SourceMap, Span};
use rustix::fs::{Access, AtFlags, CWD, accessat};
use rustix::thread::{CapabilitySet, capabilities};

use crate::components::registry;
use crate::configuration::Configuration;

/// Stable codes of this crate: (code, title, what it means and what to do).
pub const CODES: &[(&str, &str, &str)] = &[
    (
        "C0101",
        "a folder does not exist",
        "A file or socket is to be made in a folder that is not there. Make the folder, correct the path, or use \
         create-dirs(yes) for files. The program starts; messages wait until the folder is there.",
    ),
    (
        "C0102",
        "a folder or file cannot be written",
        "The user this check runs as may not write there. Run the check as the user the program will run as; change owner \
         or mode, or the path.",
    ),
    (
        "C0103",
        "a port that needs privileges",
        "Ports below net.ipv4.ip_unprivileged_port_start (1024 unless changed) can be bound by root or with the capability \
         CAP_NET_BIND_SERVICE only. Give the service this capability, or use a higher port.",
    ),
    (
        "C0104",
        "a folder stands where a file should",
        "The path of a file names an existing folder. Correct the path.",
    ),
    (
        "C0105",
        "a key or certificate does not exist",
        "A file or folder of tls() is not there. It is read when the program starts or the configuration is reloaded; what needs it \
         cannot be opened until then.",
    ),
];

/// Looks at what the drivers of a configuration need.
pub fn look(configuration: &mut Configuration) {
    let mut findings = Vec::new();
    let mut look = Look {
        texts: &configuration.parsed.sources,
        globals: None,
        findings: &mut findings,
        missing: BTreeSet::new(),
    };
    look.config(&configuration.parsed.config);
    for finding in findings {
        configuration.push(finding);
    }
}

struct Look<'a> {
    texts: &'a SourceMap,
    globals: Option<Arc<Settings>>,
    findings: &'a mut Vec<Diagnostic>,
    /// Keys and certificates that were reported: many drivers may name the same.
    missing: BTreeSet<PathBuf>,
}

impl Look<'_> {
    fn config(&mut self, config: &Config) {
        let calls = config.items.iter().filter_map(|s| match s {
            Statement::Options(o) => Some(&o.options),
            _ => None,
        });
        let read = ReadContext { sources: self.texts, globals: None };
        // What is wrong with the options was reported when the configuration was compiled.
        let globals =
            conf_schema::read_options(calls.flatten(), registry().options, &read, &mut Diagnostics::new());
        self.globals = Some(Arc::new(globals));
        for statement in &config.items {
            match statement {
                Statement::Source(object) => self.items(&object.body, Some(Context::Source)),
                Statement::Destination(object) => self.items(&object.body, Some(Context::Destination)),
                Statement::Log(path) => self.items(&path.items, None),
                _ => {}
            }
        }
    }

    /// `context` is what a bare call here would be.
    fn items(&mut self, items: &[LogItem], context: Option<Context>) {
        for item in items {
            match item {
                LogItem::Call(call) => {
                    if let Some(context) = context {
                        self.driver(context, call);
                    }
                }
                LogItem::Inline(inline) => {
                    let context = match inline.kind {
                        ObjectKind::Source => Some(Context::Source),
                        ObjectKind::Destination => Some(Context::Destination),
                        _ => None,
                    };
                    self.items(&inline.body, context);
                }
                LogItem::Junction(branches, _) => self.items(branches, context),
                LogItem::Channel(path) | LogItem::Log(path) => self.items(&path.items, context),
                LogItem::If(conditional) => {
                    let bodies = conditional.branches.iter().map(|b| &b.body).chain(&conditional.otherwise);
                    bodies.for_each(|path| self.items(&path.items, context));
                }
                _ => {}
            }
        }
    }

    fn driver(&mut self, context: Context, call: &Call) {
        let Some(component) = registry().catalogue.find(context, &call.name.text) else { return };
        let read = ReadContext { sources: self.texts, globals: self.globals.clone() };
        let mut wrong = Diagnostics::new();
        let settings = conf_schema::read(call, component, &read, &mut wrong);
        if wrong.has_errors() {
            return;
        }
        let has = |name: &str| component.table().option(name).is_some_and(|o| o.state == State::Supported);
        self.secrets(&settings);
        let path = component.positional.first();
        match path.map(|p| (p.name, p.kind)) {
            Some((name, Kind::Template)) if has("create-dirs") => {
                if let Some(template) = settings.template(name) {
                    let create = settings.bool("create-dirs");
                    let span = settings.span(name).unwrap_or(call.span);
                    self.file(&template.text, create, span);
                }
            }
            Some((name, Kind::Path)) if context == Context::Source => {
                if let Some(path) = settings.path(name) {
                    let create = has("create-dirs").then(|| settings.bool("create-dirs").unwrap_or(false));
                    self.folder(&folder_of(path), create, settings.span(name).unwrap_or(call.span));
                }
            }
            _ if context == Context::Source && has("port") => self.port(component, &settings, call.span),
            _ => {}
        }
    }

    /// A file that will be written; its path may have macros.
    fn file(&mut self, text: &str, create: Option<bool>, span: Span) {
        let literal = text.split('$').next().unwrap_or_default();
        if literal.len() < text.len() {
            // Folders that are made from messages are known only then.
            let fixed = literal
                .rsplit_once('/')
                .map_or(".", |(folder, _)| if folder.is_empty() { "/" } else { folder });
            return self.folder(Path::new(fixed), create, span);
        }
        let path = Path::new(text);
        if path.is_dir() {
            let finding = Diagnostic::warning("C0104", format!("{text} is a folder"), span);
            self.findings.push(finding.help("write the path of a file"));
        } else if path.exists() {
            self.writable(path, Access::WRITE_OK, span);
        } else {
            self.folder(&folder_of(path), create, span);
        }
    }

    /// `create`: what create-dirs() says, where there is one.
    fn folder(&mut self, folder: &Path, create: Option<bool>, span: Span) {
        if folder.is_dir() {
            return self.writable(folder, Access::WRITE_OK | Access::EXEC_OK, span);
        }
        if create == Some(true) {
            // The first one above that is there has to take the new ones.
            if let Some(above) = folder.ancestors().find(|a| a.exists()) {
                self.writable(above, Access::WRITE_OK | Access::EXEC_OK, span);
            }
            return;
        }
        let finding =
            Diagnostic::warning("C0101", format!("the folder {} does not exist", folder.display()), span);
        self.findings.push(finding.help(match create {
            Some(_) => "make it, or correct the path; create-dirs(yes) makes it",
            None => "make it, or correct the path",
        }));
    }

    /// Keys and certificates, which are read when the program starts.
    fn secrets(&mut self, settings: &Settings) {
        let Some(tls) = settings.block("tls") else { return };
        for (option, what) in [
            ("key-file", "file"),
            ("cert-file", "file"),
            ("pkcs12-file", "file"),
            ("ca-file", "file"),
            ("ca-dir", "folder"),
            ("crl-dir", "folder"),
        ] {
            if let Some(path) = tls.path(option)
                && let Some(span) = tls.span(option)
                && !path.exists()
                && self.missing.insert(path.to_owned())
            {
                let text = format!("the {what} {} does not exist", path.display());
                let finding = Diagnostic::warning("C0105", text, span);
                self.findings
                    .push(finding.help("make it, or correct the path; `penstock test-ca` makes some to try"));
            }
        }
    }

    fn writable(&mut self, path: &Path, access: Access, span: Span) {
        if let Err(error) = accessat(CWD, path, access, AtFlags::EACCESS) {
            let finding =
                Diagnostic::warning("C0102", format!("cannot write {}: {error}", path.display()), span);
            self.findings.push(
                finding.help("change its owner or mode, or run the check as the user the program will have"),
            );
        }
    }

    fn port(&mut self, component: &Component, settings: &Settings, span: Span) {
        // Every default there is stands below 1024.
        let (port, what) = match settings.port("port") {
            Some(Port::Number(port)) => (port, format!("port {port}")),
            Some(Port::Service(_)) => return,
            None => (514, format!("the default port of {}()", component.name)),
        };
        if port == 0 || port >= first_free_port() || may_bind_any() {
            return;
        }
        let finding = Diagnostic::warning(
            "C0103",
            format!("{what} needs privileges"),
            settings.span("port").unwrap_or(span),
        );
        self.findings.push(finding.help("give the service CAP_NET_BIND_SERVICE, or use a port from 1024 on"));
    }
}

fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
        _ => PathBuf::from("."),
    }
}

/// Ports below this one are for the privileged.
fn first_free_port() -> u16 {
    let setting = std::fs::read_to_string("/proc/sys/net/ipv4/ip_unprivileged_port_start");
    setting.ok().and_then(|text| text.trim().parse().ok()).unwrap_or(1024)
}

fn may_bind_any() -> bool {
    capabilities(None).is_ok_and(|sets| sets.effective.contains(CapabilitySet::NET_BIND_SERVICE))
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
        look(&mut configuration);
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
