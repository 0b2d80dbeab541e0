//! `options { sandbox(yes); }`: what the process confines itself to, made of what the configuration needs.
//!
//! A process cannot take its confinement back. So a reload that needs more is refused, and says what; a
//! take-over starts another process, which confines itself to what its configuration needs.

mod named;
mod system;

use diag::Fault;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use conf_schema::{Context, Port, Settings, Switch};
use control::cli::{RunOptions, STATE_FILE_NAME, SandboxUnsaid};
use diag::{Diagnostic, Diagnostics};
use engine::compile::{Configured, Plan};
use engine::driver::Start;
use engine::{Engine, Need, Privilege};
use sandbox::{Access, Rules};
use system::{DEVICES, ENVIRONMENTS, OF_EVERYBODY, READ, RUN};

use crate::configuration::{Configuration, include_path};
use crate::run::privileges;

/// Answers of the name service that are too long for a datagram.
const NAME_SERVICE: u16 = 53;
/// Sources that fetch what they receive, from wherever they are told to.
const FETCHERS: [&str; 6] = ["google-pubsub", "kafka", "mqtt", "python", "python-fetcher", "s3"];

/// Whether the options of the sandbox mean something; what does not is in the findings.
pub fn look(globals: &Settings, findings: &mut Diagnostics) -> bool {
    let paths = ["sandbox-read", "sandbox-write"].into_iter().flat_map(|option| {
        let wrong = globals.list(option).iter().filter(|path| !path.text.starts_with('/'));
        wrong.map(move |path| (path, format!("{option}(): `{}` does not begin with a slash", path.text)))
    });
    let ports =
        globals.list("sandbox-connect").iter().filter(|port| !matches!(port.text.parse::<u16>(), Ok(1..)));
    let ports = ports.map(|port| (port, format!("sandbox-connect(): `{}` is no port", port.text)));
    let wrong: Vec<_> = paths.chain(ports).collect();
    let is_right = wrong.is_empty();
    for (text, message) in wrong {
        findings.push(Diagnostic::error("C0108", message, text.span).help("see docs/sandbox.md"));
    }
    is_right
}

/// What a configuration says of the sandbox, or the command line where it does not.
fn wanted(globals: &Settings, unsaid: SandboxUnsaid) -> Switch {
    let said = globals.is_set("sandbox").then(|| globals.switch("sandbox")).flatten();
    said.unwrap_or(match unsaid {
        SandboxUnsaid::No => Switch::No,
        SandboxUnsaid::Yes => Switch::Yes,
        SandboxUnsaid::IfPossible => Switch::Word("if-possible"),
    })
}

/// Confines the process if the configuration or the command line says so. There must be one thread only.
pub fn enter(options: &RunOptions, configuration: &Configuration, plan: &Plan) -> Result<(), Fault> {
    let wanted = wanted(&plan.globals, options.sandbox);
    if wanted == Switch::No {
        return Ok(());
    }
    let mut rules = of_configuration(configuration, plan);
    add_own(&mut rules, options);
    if privileges::reads_as_everybody() {
        allow_there(&mut rules, Path::new(OF_EVERYBODY), Access::Read);
    }
    rules.nowhere.iter().for_each(|path| {
        oplog::warning(
            "The sandbox cannot allow to write what only the root folder holds: make a folder for it and start again",
            &[("path", &path.display())],
        );
    });
    say(&rules);
    match sandbox::confine(rules) {
        Ok(missing) => {
            for part in &missing {
                oplog::warning("A part of the sandbox is not in force", &[("part", part)]);
            }
            oplog::notice("The process has confined itself to what its configuration needs", &[]);
            Ok(())
        }
        Err(error) if wanted == Switch::Yes => Err(Fault::local(format!(
            "sandbox(yes): {error}; write sandbox(if-possible) to start without it, or leave it out"
        ))),
        Err(error) => {
            oplog::warning("The sandbox is not in force", &[("error", &error)]);
            Ok(())
        }
    }
}

/// Whether a configuration can be put into effect within the confinement of this process.
pub fn suffice(configuration: &Configuration, plan: &Plan, unsaid: SandboxUnsaid) -> Result<(), Fault> {
    const REMEDY: &str = "let another process take over (`penstock run --take-over`, which is what `systemctl reload` of the packaged unit \
                          does), or restart the program";
    let wanted = wanted(&plan.globals, unsaid);
    if !sandbox::is_confined() {
        return match wanted {
            Switch::Yes => {
                Err(Fault::local(format!("sandbox(yes) holds from the start of a process on: {REMEDY}")))
            }
            _ => Ok(()),
        };
    }
    if wanted == Switch::No {
        oplog::warning(
            "The configuration wants no sandbox any more; this process stays confined until another one takes over",
            &[],
        );
    }
    match sandbox::lacking(&of_configuration(configuration, plan)) {
        None => Ok(()),
        Some(what) => Err(Fault::local(format!(
            "the sandbox of this process does not allow {what}, which the configuration needs now: {REMEDY}"
        ))),
    }
}

/// What is allowed, at length.
fn say(rules: &Rules) {
    for (path, access) in rules.paths() {
        oplog::verbose(
            "The sandbox allows",
            &[("path", &path.display()), ("access", &format!("{access:?}"))],
        );
    }
    let ports = |ports: &BTreeSet<u16>| ports.iter().map(u16::to_string).collect::<Vec<_>>().join(" ");
    let connects = rules.connects.as_ref().map_or_else(|| "any".to_owned(), ports);
    let fields: &[oplog::Field<'_>] = &[
        ("listens", &ports(&rules.listens)),
        ("connects", &connects),
        ("starts_programs", &rules.starts_programs),
    ];
    oplog::info("The sandbox allows ports", fields);
}

/// What the program itself works with, wherever the command line has put it.
fn add_own(rules: &mut Rules, options: &RunOptions) {
    let folder = |path: &Path| path.parent().map_or_else(|| PathBuf::from("."), Path::to_path_buf);
    let folder = |path: &Path| match folder(path) {
        folder if folder.as_os_str().is_empty() => PathBuf::from("."),
        folder => folder,
    };
    rules.allow_path(&options.state_dir, Access::Write);
    // What waits in a queue that has moved is taken along. A state file that cannot be read is told of later.
    let noted = state::Store::look(&options.state_dir.join(STATE_FILE_NAME)).unwrap_or_default();
    Engine::folders_of_queues(&noted).for_each(|folder| allow_there(rules, &folder, Access::Write));
    rules.allow_path(&folder(&options.control), Access::Write);
    options.pid_file.iter().for_each(|path| rules.allow_path(&folder(path), Access::Write));
    let above = folder(&options.config);
    include_path(&above).iter().for_each(|path| allow_there(rules, path, Access::Read));
    let console = options.console.as_deref().and_then(|text| web_console::address(text).ok());
    rules.listens.extend(console.map(|address| address.port()));
}

/// What is there is allowed; nothing stands for what is not.
fn allow_there(rules: &mut Rules, path: &Path, access: Access) {
    if path.exists() {
        rules.allow_path(path, access);
    }
}

/// Something of the system that is read. Where a link in `/etc` leads elsewhere, files are replaced there.
fn allow_found(rules: &mut Rules, path: &Path) {
    allow_there(rules, path, Access::Read);
    let real =
        std::fs::canonicalize(path).ok().filter(|real| path.starts_with("/etc") && !real.starts_with("/etc"));
    let folder = real.as_deref().and_then(Path::parent).filter(|folder| !is_system(folder));
    folder.iter().for_each(|folder| rules.allow_path(folder, Access::Read));
}

/// What a configuration needs, on any command line.
fn of_configuration(configuration: &Configuration, plan: &Plan) -> Rules {
    let mut rules = Rules::connecting([NAME_SERVICE]);
    READ.iter().for_each(|path| allow_found(&mut rules, Path::new(path)));
    DEVICES.iter().for_each(|path| allow_there(&mut rules, Path::new(path), Access::Write));
    let config = configuration.config();
    config.files.iter().for_each(|path| reads(&mut rules, path));
    for (name, _) in &config.secrets {
        match name.split_once(':') {
            Some(("file", path)) => reads(&mut rules, Path::new(path)),
            _ => std::env::var_os("CREDENTIALS_DIRECTORY")
                .iter()
                .for_each(|folder| rules.allow_path(Path::new(folder), Access::Read)),
        }
    }
    rules.starts_programs = named::starts_programs(&config.preprocessed);
    for driver in &configuration.drivers {
        let opened = plan.opened_by(driver).map_or_else(Vec::new, Start::needs);
        let needs: Vec<Need<'_>> = opened.into_iter().chain(driver.needs()).collect();
        let says = needs.iter().any(|need| matches!(need, Need::Connects(_)));
        let connects = match driver.context {
            Context::Source => FETCHERS.contains(&driver.component.name),
            context => context == Context::Destination,
        };
        if connects && !says {
            rules.connects = None;
        }
        needs.iter().for_each(|need| add_need(&mut rules, need));
        add_options(&mut rules, driver);
    }
    rules.listens.extend(configuration.console.as_ref().map(|console| console.address.port()));
    if rules.starts_programs {
        RUN.iter().for_each(|path| allow_there(&mut rules, Path::new(path), Access::Run));
        let active = ["VIRTUAL_ENV", "PYTHONHOME", "PYTHONPATH"].into_iter().filter_map(std::env::var_os);
        active.flat_map(|paths| std::env::split_paths(&paths).collect::<Vec<_>>()).for_each(|path| {
            allow_there(&mut rules, &path, Access::Run);
        });
        let path = std::env::var_os("PATH").unwrap_or_default();
        let active = std::env::var_os("VIRTUAL_ENV").map(|folder| PathBuf::from(folder).join("bin"));
        let own = ENVIRONMENTS.iter().map(PathBuf::from);
        own.chain(active).chain(std::env::split_paths(&path)).for_each(|folder| {
            allow_searched(&mut rules, &folder);
        });
    }
    #[cfg(feature = "kubernetes")]
    add_kubernetes(&mut rules);
    kerberos_files().iter().for_each(|path| allow_there(&mut rules, path, Access::Read));
    named::add(&mut rules, &config.preprocessed);
    add_globals(&mut rules, &plan.globals);
    rules
}

/// The API servers that parsers ask for pods, and what is shown to them.
#[cfg(feature = "kubernetes")]
fn add_kubernetes(rules: &mut Rules) {
    let kubernetes::Surroundings { ports, files } = kubernetes::surroundings();
    rules.connects.iter_mut().for_each(|all| all.extend(&ports));
    files.iter().for_each(|path| reads(rules, path));
}

/// A folder in which programs are looked for, and Python's own where the one in it is a link to elsewhere.
fn allow_searched(rules: &mut Rules, folder: &Path) {
    let python = std::fs::canonicalize(folder.join("python3"));
    let real = python.ok().and_then(|python| Some(python.parent()?.to_owned()));
    for folder in real.as_deref().into_iter().chain([folder]).filter(|folder| folder.is_absolute()) {
        // What programs load stands beside their folder.
        let beside = folder.parent().filter(|above| above.join("lib").is_dir() && !is_system(above));
        let is_shims = folder.ends_with(".pyenv/shims");
        let beside = beside.or_else(|| folder.parent().filter(|_| is_shims));
        allow_there(rules, beside.unwrap_or(folder), Access::Run);
    }
}

/// What the library of Kerberos reads where the environment says so: its settings, and somebody's tickets.
fn kerberos_files() -> Vec<PathBuf> {
    let settings = std::env::var_os("KRB5_CONFIG").unwrap_or_default();
    let tickets = std::env::var("KRB5CCNAME").unwrap_or_default();
    let tickets = tickets.strip_prefix("FILE:").map(PathBuf::from);
    std::env::split_paths(&settings).filter(|path| path.is_absolute()).chain(tickets).collect()
}

fn add_need(rules: &mut Rules, need: &Need<'_>) {
    match need {
        Need::Address(address) if !address.udp => drop(rules.listens.insert(address.address.port())),
        Need::Place { path, .. } => rules.allow_path(path.parent().unwrap_or(path), Access::Write),
        Need::File { path, .. } => reads(rules, path),
        Need::Folder { path, .. } => rules.allow_path(path, Access::Read),
        Need::Output { path, .. } => writes(rules, path),
        Need::Key(key) => reads(rules, &key.path),
        Need::Queue { folder, .. } => rules.allow_path(folder, Access::Write),
        Need::Privilege(Privilege::Commands) => rules.starts_programs = true,
        Need::Privilege(Privilege::Terminals) => {
            allow_terminals(rules);
            allow_there(rules, Path::new("/run/utmp"), Access::Read);
        }
        Need::Connects(ports) => rules.connects.iter_mut().for_each(|all| all.extend(ports)),
        Need::Address(_)
        | Need::Peer { .. }
        | Need::Spoof { .. }
        | Need::Owners { .. }
        | Need::Mode { .. }
        | Need::Privilege(_)
        | Need::Trial(_) => {}
    }
}

/// Those that are there now, and all that come in `/dev/pts`; the rest of `/dev` has disks.
fn allow_terminals(rules: &mut Rules) {
    allow_there(rules, Path::new("/dev/pts"), Access::Write);
    for entry in std::fs::read_dir("/dev").into_iter().flatten().flatten() {
        if ["tty", "console"].iter().any(|name| entry.file_name().to_string_lossy().starts_with(name)) {
            rules.allow_path(&entry.path(), Access::Write);
        }
    }
}

/// Options that make something beside what the driver is for.
fn add_options(rules: &mut Rules, driver: &Configured) {
    let s = &driver.settings;
    let is_declared = |option: &str| s.is_set(option);
    if is_declared("symlink-as") {
        s.path("symlink-as").iter().for_each(|path| rules.allow_path(folder_of(path), Access::Write));
    }
    let keylog = s.block("tls").filter(|tls| tls.is_set("keylog-file"));
    let keylog = keylog.and_then(|tls| tls.path("keylog-file"));
    keylog.iter().for_each(|path| rules.allow_path(folder_of(path), Access::Write));
    // It asks an authority.
    if is_declared("timestamp-url") {
        rules.connects = None;
    }
    if is_declared("localip") || is_declared("localport") {
        rules.listens.insert(0);
    }
    if is_declared("localport")
        && let Some(Port::Number(port)) = s.port("localport")
    {
        rules.listens.insert(port);
    }
}

fn add_globals(rules: &mut Rules, globals: &Settings) {
    globals
        .list("sandbox-read")
        .iter()
        .for_each(|path| rules.allow_path(Path::new(&path.text), Access::Read));
    globals
        .list("sandbox-write")
        .iter()
        .for_each(|path| rules.allow_path(Path::new(&path.text), Access::Write));
    let ports = globals.list("sandbox-connect").iter().filter_map(|port| port.text.parse::<u16>().ok());
    rules.connects.iter_mut().for_each(|all| all.extend(ports.clone()));
    // The global queue may be elsewhere.
    let queue = globals.block("disk-buffer").and_then(|block| block.path("dir"));
    queue.iter().for_each(|folder| rules.allow_path(folder, Access::Write));
}

/// A file that is read, now or later: with its folder, since a new one may take its place.
fn reads(rules: &mut Rules, path: &Path) {
    let text = path.to_string_lossy();
    let fixed = text.find(['*', '?', '[']).and_then(|at| text.get(..at)).unwrap_or(&text);
    let is_pattern = fixed.len() < text.len();
    let fixed = Path::new(if is_pattern { before_last_slash(fixed) } else { fixed });
    match is_pattern || fixed.is_dir() {
        true => rules.allow_path(fixed, Access::Read),
        false if is_system(folder_of(fixed)) => rules.allow_path(fixed, Access::Read),
        false => rules.allow_path(folder_of(fixed), Access::Read),
    }
}

/// A file that is written, by a name that may have macros.
fn writes(rules: &mut Rules, text: &str) {
    let literal = text.split('$').next().unwrap_or_default();
    let is_device = literal.len() == text.len() && literal.starts_with("/dev/");
    match is_device {
        true => rules.allow_path(Path::new(literal), Access::Write),
        false => {
            let folder = Path::new(before_last_slash(literal));
            let whole = Path::new(text);
            // Right in the root folder, a file that is there stands for itself.
            let itself = folder == Path::new("/") && whole.is_file();
            rules.allow_path(if itself { whole } else { folder }, Access::Write);
        }
    }
}

/// The folder that a beginning of a path names.
fn before_last_slash(text: &str) -> &str {
    match text.rsplit_once('/') {
        Some(("", _)) => "/",
        Some((folder, _)) => folder,
        None => ".",
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A folder right below `/`, or that itself: with what many others have in it.
fn is_system(folder: &Path) -> bool {
    folder.is_absolute() && folder.components().count() <= 2
}
