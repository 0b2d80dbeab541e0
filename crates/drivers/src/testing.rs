//! A real engine on a configuration text and a folder of its own, for the tests of drivers.

use crate::REGISTRY;
use conf_schema::{Component, ReadContext, Settings, sample};
use conf_syntax::{LogItem, ParseOptions, Statement};
use diag::{Diagnostics, Fault, render_all};
use engine::compile::{Plan, compile};
use engine::driver::{BuildContext, Registry};
use engine::source::Source;
use engine::{Engine, EngineOptions, Wake};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use template::Identity;

/// What the configurations of tests begin with.
pub const HEAD: &str = "@version: 4.11\noptions { keep-hostname(yes); use-dns(no); };\n";
/// How long something that must happen may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// Counts how often it is woken.
#[derive(Default)]
pub struct Wakes(AtomicUsize);

impl Wakes {
    pub fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }

    /// Since that was asked last.
    pub fn take(&self) -> usize {
        self.0.swap(0, Ordering::SeqCst)
    }
}

impl Wake for Wakes {
    fn wake(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

pub struct Running {
    pub dir: tempfile::TempDir,
    engine: Option<Engine>,
}

impl Running {
    /// Starts two workers on a configuration. `%dir%` in it is the test's folder.
    #[track_caller]
    pub fn start(text: &str) -> Running {
        let mut running = Running::idle();
        if let Err(errors) = running.reload(text) {
            panic!("{errors}\n{text}");
        }
        running
    }

    /// Two workers without a configuration.
    pub fn idle() -> Running {
        let options = EngineOptions {
            workers: 2,
            memory_max: 64 << 20,
            sharing: true,
            identity: Identity::new("test"),
        };
        let engine = Engine::new(&options).expect("workers");
        Running { dir: tempfile::tempdir().expect("folder"), engine: Some(engine) }
    }

    fn engine(&mut self) -> &mut Engine {
        self.engine.as_mut().expect("it runs")
    }

    /// Puts a configuration in the place of the one that runs. The error is what the compiler or the engine
    /// said.
    pub fn reload(&mut self, text: &str) -> Result<(), String> {
        self.reload_with(&REGISTRY, text)
    }

    /// The same of these components only.
    pub fn reload_with(&mut self, registry: &Registry, text: &str) -> Result<(), String> {
        let text = text.replace("%dir%", &self.dir.path().display().to_string());
        let plan = plan(registry, &text, self.engine())?;
        let lines = |faults: Vec<Fault>| faults.into_iter().map(String::from).collect::<Vec<_>>().join("\n");
        self.engine().apply(plan).map_err(lines)
    }

    pub fn shared(&self) -> Arc<engine::Shared> {
        Arc::clone(self.engine.as_ref().expect("it runs").shared())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn text(&self, name: &str) -> String {
        std::fs::read(self.path(name)).map(|b| String::from_utf8_lossy(&b).into_owned()).unwrap_or_default()
    }

    /// Waits until a file has at least so many lines, and gives them.
    #[track_caller]
    pub fn wait_lines(&self, name: &str, count: usize) -> Vec<String> {
        wait_until(&format!("{count} lines in {name}"), || self.text(name).lines().count() >= count);
        self.text(name).lines().map(str::to_owned).collect()
    }

    /// A running source by `<statement>#<n>`.
    #[track_caller]
    pub fn source(&self, id: &str) -> Arc<Source> {
        let engine = self.engine.as_ref().expect("it runs");
        let found = engine.view().sources.iter().find(|s| s.id == id);
        Arc::clone(found.unwrap_or_else(|| panic!("no source {id}")))
    }

    /// Stops, and leaves the folder to look at.
    pub fn stop(&mut self) {
        if let Some(engine) = self.engine.take() {
            engine.stop(PATIENCE, engine::Rest::Kept);
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop();
    }
}

fn plan(registry: &Registry, text: &str, engine: &Engine) -> Result<Plan, String> {
    let parsed = conf_syntax::parse_text(
        "test.conf",
        text,
        &ParseOptions { read_files: false, ..ParseOptions::default() },
    );
    let mut diags = Diagnostics::new();
    diags.extend(parsed.diagnostics);
    let identity = Identity::new("test");
    let plan = compile(&parsed.config, &parsed.sources, registry, &identity, engine.existing(), &mut diags);
    plan.plan.filter(|_| !diags.has_errors()).ok_or_else(|| render_all(&diags, &parsed.sources))
}

/// What the compiler finds wrong with a configuration.
#[track_caller]
pub fn errors(text: &str) -> String {
    match Running::idle().reload(text) {
        Err(found) => found,
        Ok(()) => panic!("nothing is wrong with\n{text}"),
    }
}

/// A configuration with a `python` block, in which `MyClass` is whatever is asked for.
struct TestScope;

impl template::Scope for TestScope {
    #[cfg(feature = "python")]
    fn python(&self) -> Result<Arc<python::Pool>, String> {
        let text = "class MyClass:\n    def send(self, msg): return True\n    def run(self): pass\n    def fetch(self): pass\n    def __init__(self, options=None): pass\n    def get_headers(self, body, headers): return []\n";
        let block = python::Block { file: "test.conf".to_owned(), line: 1, text: text.to_owned() };
        Ok(python::pool(python::Script {
            blocks: vec![block],
            processes: 1,
            bound: Duration::from_secs(60),
            paths: Vec::new(),
            environment: std::env::vars_os().collect(),
            memory_max: 0,
            debug_level: 0,
        }))
    }
}

/// Waits for a state that must come.
#[track_caller]
pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < until, "waited in vain for {what}");
        std::thread::yield_now();
    }
}

/// A port nobody has on the loopback addresses, for TCP and UDP.
pub fn free_port() -> u16 {
    loop {
        let tcp = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = tcp.local_addr().expect("address").port();
        if std::net::UdpSocket::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

/// The settings of a driver after its builder `build` has run on a call with every option set; `value`
/// replaces the values of some. `build` says whether a driver came out.
#[track_caller]
pub fn built(
    component: &'static Component,
    value: &dyn Fn(&str) -> Option<String>,
    build: impl FnOnce(&Settings, &BuildContext<'_>, &mut Diagnostics) -> bool,
) -> Settings {
    let keyword = component.context.as_str();
    let text = format!("@version: 4.11\n{keyword} x {{ {}; }};\n", sample::call(component, value));
    let parsed =
        conf_syntax::parse_text("t", &text, &ParseOptions { read_files: false, ..ParseOptions::default() });
    let Some(Statement::Destination(object) | Statement::Source(object)) = parsed.config.items.first() else {
        panic!("{text}")
    };
    let Some(LogItem::Call(call)) = object.body.first() else { panic!("{text}") };
    let mut diags = Diagnostics::new();
    let read = ReadContext { sources: &parsed.sources, globals: None };
    let globals = Arc::new(conf_schema::read_options([], REGISTRY.options, &read, &mut diags));
    let read = ReadContext { sources: &parsed.sources, globals: Some(Arc::clone(&globals)) };
    let settings = conf_schema::read(call, component, &read, &mut diags);
    let identity = Identity::new("test");
    let cx = BuildContext {
        sources: &parsed.sources,
        scope: &TestScope,
        version: (4, 11),
        globals: &globals,
        identity: &identity,
        group: "x",
        index: 0,
    };
    assert!(build(&settings, &cx, &mut diags), "{}\n{text}", render_all(&diags, &parsed.sources));
    settings
}

/// Options that a builder has read over; those of every driver are the engine's to read.
pub fn unread(settings: &Settings) -> Vec<String> {
    settings.unread().into_iter().filter(|name| !name.starts_with("hook-commands")).collect()
}
