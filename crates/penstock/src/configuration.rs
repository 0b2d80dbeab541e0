//! Reading a configuration: what backticks know beforehand, where includes are looked for, its identity, its
//! compilation.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use conf_syntax::{Config, ParseOptions, Parsed, Secret, Version};
use control::cli::CalledAs;
use diag::{Diagnostic, Diagnostics, Severity, SourceMap};
use engine::compile::{Configured, Existing, Plan};
use filter::Filter;
use serde_json::Value;
use sha2::{Digest, Sha256};
use template::Identity;

use crate::allowed;
use crate::components::registry;
use crate::library;
use crate::mistaken;
use crate::run::confinement;
use crate::subject::secrets::{self, Veil};

/// Where this program's own library of blocks is, built in or installed.
const OWN_SCL: &str = "/usr/share/penstock/scl";
/// Where the distribution's syslog-ng has its library: it is used when it is there.
const DISTRIBUTION_SCL: &str = "/usr/share/syslog-ng/include/scl";
/// A file with a secret is small; a certificate chain would fit.
const SECRET_BYTES_MAX: u64 = 64 << 10;
/// Findings that only say that a statement is missing: after an error in the language it may just not have
/// been understood.
const ABOUT_REFERENCES: [&str; 3] = ["E0102", "E0103", "E0105"];

/// A configuration file as read.
pub struct Configuration {
    pub parsed: Parsed,
    /// When the main file was last changed, in seconds since 1970; 0 when that is unknown.
    pub modified: u64,
    /// The drivers that its log paths use; none before it is compiled.
    pub drivers: Vec<Configured>,
    /// What it says of the console; known once it is compiled.
    pub console: Option<web_console::Options>,
}

impl Configuration {
    /// Reads the file and everything it includes. What is wrong is in the findings.
    pub fn read(path: &Path) -> Configuration {
        Configuration::read_by(path, &options(path))
    }

    /// The same for a command that looks at it, and need not be what the service manager has started: there a
    /// `credential:` that only the service has stands for itself.
    pub fn look(path: &Path) -> Configuration {
        let mut read = Configuration::read_by(path, &looking(path));
        let Parsed { config, diagnostics, .. } = &mut read.parsed;
        for (name, _) in config.secrets.iter().filter(|(_, secret)| *secret == Secret::Elsewhere) {
            let text = format!("`{name}` is known within the service only");
            diagnostics.push(Diagnostic::new(Severity::Remark, "P0047", text));
        }
        read
    }

    fn read_by(path: &Path, options: &ParseOptions) -> Configuration {
        if let Some(finding) = mistaken::look(path) {
            let (mut sources, mut diagnostics) = (SourceMap::new(), Diagnostics::new());
            sources.add_root(path.display().to_string(), "");
            diagnostics.push(finding);
            let parsed = Parsed { config: Config::default(), sources, diagnostics };
            return Configuration { parsed, modified: 0, drivers: Vec::new(), console: None };
        }
        let modified = std::fs::metadata(path).and_then(|m| m.modified()).map_or(0, seconds);
        let parsed = conf_syntax::parse_file(path, options);
        for (name, secret) in &parsed.config.secrets {
            if let Secret::Known(value) = secret {
                oplog::hide(value, &format!("`{name}`"));
            }
        }
        Configuration { parsed, modified, drivers: Vec::new(), console: None }
    }

    /// Reads a text that stands in no file; what it includes is looked for in the folder of the process.
    pub fn read_text(name: &str, text: &str) -> Configuration {
        let parsed = conf_syntax::parse_text(name, text, &looking(Path::new(name)));
        Configuration { parsed, modified: 0, drivers: Vec::new(), console: None }
    }

    /// The same for a text that is being written: no command is run to make a part of it, and no secret is
    /// read.
    pub fn read_passive(name: &str, text: &str) -> Configuration {
        let options = ParseOptions {
            run_commands: false,
            scripts: None,
            secret: Some(unread),
            ..options(Path::new(name))
        };
        let parsed = conf_syntax::parse_text(name, text, &options);
        Configuration { parsed, modified: 0, drivers: Vec::new(), console: None }
    }

    pub fn config(&self) -> &Config {
        &self.parsed.config
    }

    pub fn findings(&self) -> &Diagnostics {
        &self.parsed.diagnostics
    }

    pub fn has_errors(&self) -> bool {
        self.parsed.diagnostics.has_errors()
    }

    /// Findings as text for people, and for the log of whoever starts the program: lines without secrets.
    pub fn report(&self) -> String {
        self.rendered(diag::render_all)
    }

    /// The same with every remark in its place.
    pub fn report_verbose(&self) -> String {
        self.rendered(diag::render_verbose)
    }

    /// The same as JSON.
    pub fn report_json(&self) -> Value {
        diag::render_json(&self.parsed.diagnostics, &self.shown())
    }

    /// The texts as they may be shown.
    fn shown(&self) -> SourceMap {
        self.parsed.sources.with_texts(secrets::starred)
    }

    fn rendered(&self, render: fn(&Diagnostics, &SourceMap) -> String) -> String {
        if self.parsed.diagnostics.is_empty() {
            return String::new();
        }
        oplog::hidden(&render(&self.parsed.diagnostics, &self.shown())).into_owned()
    }

    /// Over its passwords and tokens, wherever messages are shown.
    pub fn veil(&self) -> Veil {
        Veil::of(&[self.original(), &self.parsed.config.preprocessed])
    }

    /// The main file as it was read.
    pub fn original(&self) -> &str {
        self.parsed.sources.files().next().map_or("", |(_, file)| &file.text)
    }

    /// The hash of the text with everything expanded, behind the name `@config-id` gives it.
    pub fn id(&self) -> String {
        let digest = Sha256::digest(self.parsed.config.preprocessed.as_bytes());
        let hash: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        match &self.parsed.config.config_id {
            Some(name) => format!("{} ({hash})", name.text),
            None => hash,
        }
    }

    /// Compiles what was read; opens nothing. None when there are errors, of the language or of the meaning.
    pub fn compile(&mut self, identity: &Identity, existing: &Existing) -> Option<Plan> {
        let Parsed { config, sources, diagnostics } = &mut self.parsed;
        let misread = diagnostics.has_errors();
        let mut findings = Diagnostics::new();
        let made = engine::compile::compile(config, sources, registry(), identity, existing, &mut findings);
        let console = web_console::read(&made.globals, &mut findings);
        let is_confined_well = confinement::look(&made.globals, &mut findings);
        for finding in findings {
            if !(misread && ABOUT_REFERENCES.contains(&finding.code)) {
                diagnostics.push(finding);
            }
        }
        diagnostics.silence(|finding| allowed::is_meant(finding, sources));
        self.drivers = made.drivers;
        let plan = made.plan.filter(|_| !misread && console.is_ok() && is_confined_well);
        self.console = console.ok().flatten();
        plan
    }

    /// Compiles for the findings alone, as strict as syslog-ng's parser: references by name are not looked
    /// at.
    pub fn compile_without_references(&mut self, identity: &Identity) {
        let Parsed { config, sources, diagnostics } = &mut self.parsed;
        let mut findings = Diagnostics::new();
        let made =
            engine::compile::compile(config, sources, registry(), identity, &Existing::new(), &mut findings);
        let _ = web_console::read(&made.globals, &mut findings);
        confinement::look(&made.globals, &mut findings);
        findings
            .into_iter()
            .filter(|d| !ABOUT_REFERENCES.contains(&d.code))
            .for_each(|d| diagnostics.push(d));
    }

    /// A filter expression, which may refer to the filters of the configuration. The error is that of the
    /// language.
    pub fn filter(&self, text: &str) -> Result<Arc<Filter>, String> {
        let Parsed { config, sources, .. } = &self.parsed;
        let (mut sources, mut findings) = (sources.clone(), Diagnostics::new());
        let expr = conf_syntax::parse_filter_text(text, None, &mut sources, &mut findings);
        let mut compiled = None;
        if let Some(expr) = expr.filter(|_| !findings.has_errors()) {
            compiled = engine::compile::filter(&expr, config, &sources, registry(), &mut findings);
        }
        compiled.ok_or_else(|| diag::render_all(&findings, &sources))
    }

    /// Adds what something else found out.
    pub fn push(&mut self, finding: Diagnostic) {
        let Parsed { sources, diagnostics, .. } = &mut self.parsed;
        if finding.severity == Severity::Error || !allowed::is_meant(&finding, sources) {
            diagnostics.push(finding);
        }
    }

    /// Leaves warnings of these codes out, wherever they stand.
    pub fn allow(&mut self, codes: &[String]) {
        self.parsed.diagnostics.silence(|finding| codes.iter().any(|code| code == finding.code));
    }

    /// Says each finding in the program's own log.
    pub fn log_findings(&self) {
        let mut remarks = Vec::new();
        for finding in self.parsed.diagnostics.sorted(&self.parsed.sources) {
            let place = finding.span.map(|s| self.parsed.sources.locate(s).to_string()).unwrap_or_default();
            let help = finding.help.as_deref().unwrap_or_default();
            let fields: [oplog::Field<'_>; 4] = [
                ("code", &finding.code),
                ("message", &finding.message),
                ("location", &place),
                ("help", &help),
            ];
            match finding.severity {
                Severity::Error => oplog::error("Error in the configuration", &fields),
                Severity::Warning => oplog::warning("Warning about the configuration", &fields),
                Severity::Remark => remarks.push(finding),
            }
        }
        let remarks = diag::remarks_line(&remarks);
        if !remarks.is_empty() {
            oplog::info("Remarks about the configuration", &[("remarks", &remarks.trim_end())]);
        }
    }

    /// The first error as one line.
    pub fn first_error(&self) -> Option<String> {
        let sources = &self.parsed.sources;
        let errors = self.parsed.diagnostics.sorted(sources);
        let first = errors.into_iter().find(|d| d.severity == Severity::Error)?;
        let place = first.span.map(|s| format!("{}: ", sources.locate(s))).unwrap_or_default();
        Some(oplog::hidden(&format!("{place}error[{}]: {}", first.code, first.message)).into_owned())
    }
}

/// Seconds since 1970.
pub fn seconds(time: SystemTime) -> u64 {
    time.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |d| d.as_secs())
}

/// The newest language version that is understood.
pub fn newest_version() -> Version {
    ParseOptions::default().newest_version
}

/// The folder of the configuration that is read when none is named.
pub fn default_folder(called_as: CalledAs) -> PathBuf {
    let folder = if called_as.is_syslog_ng() { "/etc/syslog-ng" } else { "/etc/penstock" };
    folder.into()
}

/// Folders that relative includes are looked up in: beside the configuration, then the libraries, the
/// built-in one last.
pub fn include_path(folder: &Path) -> Vec<PathBuf> {
    let libraries = [DISTRIBUTION_SCL, OWN_SCL].map(|scl| Path::new(scl).parent().map(Path::to_path_buf));
    std::iter::once(folder.to_path_buf()).chain(libraries.into_iter().flatten()).collect()
}

fn options(path: &Path) -> ParseOptions {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let folder = absolute.parent().unwrap_or(Path::new("/"));
    ParseOptions {
        include_path: include_path(folder),
        globals: globals(folder),
        library: Some(library::library(include_path(folder))),
        secret: Some(secret),
        run_commands: true,
        #[cfg(feature = "python")]
        scripts: Some(crate::scripts::scripts(folder)),
        modules: Some(library::MODULES.iter().map(|name| (*name).to_owned()).collect()),
        ..ParseOptions::default()
    }
}

/// See [`Configuration::look`].
fn looking(path: &Path) -> ParseOptions {
    ParseOptions { secret: Some(secret_or_name), ..options(path) }
}

/// A credential is elsewhere where no service manager has handed over any.
fn secret_or_name(name: &str) -> Option<Result<Secret, String>> {
    let is_elsewhere = std::env::var_os(CREDENTIALS).is_none();
    match name.split_once(':') {
        Some(("credential", inner)) if is_elsewhere && !inner.contains('/') => Some(Ok(Secret::Elsewhere)),
        _ => secret(name),
    }
}

/// Where systemd has put the credentials of a service; in the environment of its processes alone.
const CREDENTIALS: &str = "CREDENTIALS_DIRECTORY";

/// The first line of the file that holds a secret: `file:PATH`, or `credential:NAME` of those that systemd
/// hands to the service.
fn secret(name: &str) -> Option<Result<Secret, String>> {
    let path = match name.split_once(':')? {
        ("file", path) if path.starts_with('/') => PathBuf::from(path),
        ("file", _) => return Some(Err("its path does not begin with a slash".to_owned())),
        ("credential", name) if name.contains('/') => return Some(Err("a name has no slash".to_owned())),
        ("credential", name) => match std::env::var_os(CREDENTIALS) {
            Some(folder) => Path::new(&folder).join(name),
            None => return Some(Err("the service manager has not handed over credentials".to_owned())),
        },
        _ => return None,
    };
    let read = regular::read_to_string(&path, SECRET_BYTES_MAX);
    let first = |text: String| Secret::Known(text.lines().next().unwrap_or_default().to_owned());
    Some(read.map(first).map_err(|error| error.to_string()))
}

/// No secret is read.
fn unread(name: &str) -> Option<Result<Secret, String>> {
    let (kind, _) = name.split_once(':')?;
    matches!(kind, "file" | "credential").then_some(Ok(Secret::Elsewhere))
}

/// Names that backticks know without a `@define`, as syslog-ng sets them.
fn globals(folder: &Path) -> BTreeMap<String, String> {
    let scl = if Path::new(DISTRIBUTION_SCL).is_dir() { DISTRIBUTION_SCL } else { OWN_SCL };
    let include = Path::new(scl).parent().map_or_else(String::new, |p| p.display().to_string());
    let path: Vec<String> = include_path(folder).iter().map(|p| p.display().to_string()).collect();
    let data = if scl == OWN_SCL { "/usr/share/penstock" } else { "/usr/share/syslog-ng" };
    let pairs = [
        ("syslog-ng-root", "/usr".to_owned()),
        ("syslog-ng-data", data.to_owned()),
        ("syslog-ng-include", include),
        ("syslog-ng-sysconfdir", folder.display().to_string()),
        ("scl-root", scl.to_owned()),
        // Everything is built in; these only have to exist.
        ("module-path", "/usr/lib/syslog-ng".to_owned()),
        ("module-install-dir", "/usr/lib/syslog-ng".to_owned()),
        ("java-module-dir", "/usr/lib/syslog-ng/java-modules".to_owned()),
        ("python-module-dir", "/usr/lib/syslog-ng/python".to_owned()),
        ("autoload-compiled-modules", "1".to_owned()),
        ("include-path", path.join(":")),
    ];
    pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Configuration {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.conf");
        std::fs::write(&path, text).unwrap();
        Configuration::read(&path)
    }

    #[test]
    fn the_identity_is_of_what_counts() {
        let plain = read("@version: 4.11\nlog { };\n").id();
        assert_eq!(plain.len(), 64);
        assert_eq!(plain, read("@version: 4.11\nlog { };\n").id());
        assert_ne!(plain, read("@version: 4.11\nlog { }; log { };\n").id());
        assert!(read("@version: 4.11\n@config-id: mine\nlog { };\n").id().starts_with("mine ("));
    }

    #[test]
    fn backticks_know_where_the_configuration_is() {
        let read = read("@version: 4.11\ndestination d { file(\"`syslog-ng-sysconfdir`/x`no-such`\"); };\n");
        assert!(read.config().preprocessed.contains("/x\""), "{}", read.config().preprocessed);
        assert!(!read.config().preprocessed.contains("sysconfdir"));
        assert!(!read.has_errors(), "{}", read.report());
    }

    #[test]
    fn a_text_that_is_being_written_has_its_secrets_by_name() {
        let text = "@version: 4.11\ndestination d { http(password(\"`file:/nowhere/p`\")); };\n";
        let read = Configuration::read_passive("x.conf", text);
        assert!(!read.has_errors(), "{}", read.report());
        assert!(read.config().preprocessed.contains("`file:/nowhere/p`"), "{}", read.config().preprocessed);
    }

    #[test]
    fn a_statement_that_was_not_understood_is_not_also_missing() {
        let mut read = read("@version: 4.11\nsource s { network(port(5514) };\nlog { source(s); };\n");
        assert!(read.compile(&Identity::new("h"), &Existing::new()).is_none());
        assert!(read.findings().iter().all(|d| !ABOUT_REFERENCES.contains(&d.code)), "{}", read.report());
        assert!(read.first_error().is_some_and(|e| e.contains("x.conf:")));
    }

    #[test]
    fn a_file_that_is_not_there_is_an_error() {
        let mut read = Configuration::read(Path::new("/nowhere/x.conf"));
        assert!(read.has_errors());
        assert!(read.compile(&Identity::new("h"), &Existing::new()).is_none());
    }
}
