//! The real binary: started from a configuration in a folder of its own, asked over its control socket,
//! stopped.

mod command;

pub use command::{Outcome, run_as, run_command};

use crate::lab::{Lab, Opens};
use crate::ledger::Ledger;
use crate::process::Process;
use crate::wait::{PATIENCE, wait_while_some};
use rustix::process::Signal;
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

const CONFIG: &str = "penstock.conf";
const LOG: &str = "penstock.log";
const STATE: &str = "state";
/// How long who is refused at the control socket knocks again.
const REFUSED_MAX: Duration = Duration::from_millis(300);
/// What a reload says that needs more than the process has confined itself to.
const CONFINED: &str = "the sandbox of this process does not allow";
/// What the program says of messages that it did not settle: a defect, whatever a test is about.
const FORGOTTEN: &str = "messages ended without a word of what became of them";

/// A running penstock. Killed when dropped; [`Penstock::stop`] ends it in order.
pub struct Penstock {
    process: Process,
    config: PathBuf,
    state: PathBuf,
    how: How,
}

/// What it was started with beside its configuration and its state.
struct How {
    args: Vec<String>,
    env: Vec<(String, String)>,
    is_free: bool,
}

impl How {
    fn add_to(&self, command: &mut Command, lab: &Lab, config: &Path, state: &Path) {
        command.arg("run").arg("--config").arg(config).arg("--state-dir").arg(state);
        let wished = if self.is_free { Vec::new() } else { wished() };
        command.args(&self.args).args(wished).current_dir(lab.dir()).env("TZ", "UTC");
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
    }
}

/// Arguments for every program that a test starts: `PENSTOCK_ARGS='--sandbox yes'` lets all of them run
/// confined.
fn wished() -> Vec<String> {
    let text = std::env::var("PENSTOCK_ARGS").unwrap_or_default();
    text.split_whitespace().map(str::to_owned).collect()
}

/// How to start it, for tests that need more than a configuration.
pub struct Start<'a> {
    lab: &'a Lab,
    config: String,
    how: How,
    stdin: Option<Stdio>,
    limits: Vec<String>,
    state: Option<PathBuf>,
    tracer: Vec<String>,
    program: Option<PathBuf>,
}

impl<'a> Start<'a> {
    pub fn arg(mut self, arg: &str) -> Start<'a> {
        self.how.args.push(arg.to_owned());
        self
    }

    /// Without `PENSTOCK_ARGS`, for tests of what a sandbox changes on purpose: a reload in this very process
    /// that needs more than the process began with, `NoNewPrivs`, `--sandbox` itself.
    pub fn free(mut self) -> Start<'a> {
        self.how.is_free = true;
        self
    }

    pub fn env(mut self, name: &str, value: &str) -> Start<'a> {
        self.how.env.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn stdin(mut self, stdin: impl Into<Stdio>) -> Start<'a> {
        self.stdin = Some(stdin.into());
        self
    }

    /// An argument of the shell's `ulimit`, as `-n 4096`.
    pub fn ulimit(mut self, limit: &str) -> Start<'a> {
        self.limits.push(format!("ulimit {limit} && "));
        self
    }

    /// The state folder, when it is not the lab's own.
    pub fn state(mut self, folder: &Path) -> Start<'a> {
        self.state = Some(folder.to_owned());
        self
    }

    /// Another binary than the one under test: an earlier version, which does not know the arguments of
    /// `PENSTOCK_ARGS`.
    pub fn program(mut self, path: &Path) -> Start<'a> {
        self.program = Some(path.to_owned());
        self.free()
    }

    /// Runs it below another program, whose words come first on the command line.
    pub fn under(mut self, tracer: &[&str]) -> Start<'a> {
        self.tracer.extend(tracer.iter().map(|word| (*word).to_owned()));
        self
    }

    /// Starts and waits until everything the configuration names is open.
    #[track_caller]
    pub fn ready(self) -> Penstock {
        let opens = self.lab.fill(&self.config).1;
        let mut penstock = self.spawned();
        penstock.wait_open(&opens);
        penstock
    }

    /// Starts without waiting, for configurations that must fail.
    pub fn spawned(self) -> Penstock {
        let (config, _) = self.lab.write_config(CONFIG, &self.config);
        let state = self.state.unwrap_or_else(|| self.lab.path(STATE));
        std::fs::create_dir_all(&state).expect("a state folder");
        let program: &Path = self.program.as_ref().map_or_else(|| binary(), |path| path.as_path());
        // Through a shell only where a limit is asked for; `exec` keeps the process id.
        let mut command = match (self.limits.is_empty(), self.tracer.split_first()) {
            (true, None) => Command::new(program),
            (true, Some((tracer, words))) => {
                let mut command = Command::new(tracer);
                command.args(words).arg(program);
                command
            }
            (false, _) => {
                let mut shell = Command::new("/bin/sh");
                shell.arg("-c").arg(format!("{}exec \"$0\" \"$@\"", self.limits.concat())).arg(program);
                shell
            }
        };
        self.how.add_to(&mut command, self.lab, &config, &state);
        let process = Process::spawn("penstock", command, self.stdin, &self.lab.path(LOG));
        Penstock { process, config, state, how: self.how }
    }
}

impl Penstock {
    pub fn configure<'a>(lab: &'a Lab, config: &str) -> Start<'a> {
        let config = config.to_owned();
        Start {
            lab,
            config,
            how: How { args: Vec::new(), env: Vec::new(), is_free: false },
            stdin: None,
            limits: Vec::new(),
            state: None,
            tracer: Vec::new(),
            program: None,
        }
    }

    /// Starts with a configuration and waits until it is ready.
    #[track_caller]
    pub fn start(lab: &Lab, config: &str) -> Penstock {
        Penstock::configure(lab, config).ready()
    }

    #[track_caller]
    fn wait_open(&mut self, opens: &[Opens]) {
        let state = self.state.clone();
        self.process.wait_for(|| {
            let closed = opens.iter().find(|open| !open.is_open());
            if let Some(closed) = closed {
                return Some(format!("{closed:?} to be open"));
            }
            match request_at(&state, "HEALTHCHECK") {
                Ok(answer) if answer.starts_with("OK") => None,
                Ok(answer) => Some(format!("health: {answer}")),
                Err(error) => Some(format!("the control socket: {error}")),
            }
        });
    }

    pub fn id(&self) -> u32 {
        self.process.id()
    }

    pub fn process(&mut self) -> &mut Process {
        &mut self.process
    }

    pub fn log(&self) -> String {
        self.process.log()
    }

    #[track_caller]
    pub fn wait_log(&mut self, text: &str) {
        self.process.wait_log(text);
    }

    pub fn signal(&self, signal: Signal) {
        self.process.signal(signal);
    }

    /// One request of the control protocol, with the reply up to its closing dot.
    #[track_caller]
    pub fn request(&self, line: &str) -> String {
        request_at(&self.state, line).unwrap_or_else(|e| panic!("{line}: {e}\n{}", self.log()))
    }

    /// The folder in which [`ask`] finds its control socket.
    pub fn state(&self) -> &Path {
        &self.state
    }

    /// The counters as `syslog-ng-ctl stats` prints them.
    #[track_caller]
    pub fn stats(&self) -> String {
        self.request("STATS")
    }

    #[track_caller]
    pub fn ledger(&self) -> Ledger {
        let answer = self.request("LEDGER JSON");
        Ledger::parse(answer.strip_prefix("OK ").unwrap_or(&answer))
    }

    /// Waits until the ledger is as `missing` wants it.
    #[track_caller]
    pub fn wait_ledger(&mut self, mut missing: impl FnMut(&Ledger) -> Option<String>) -> Ledger {
        let mut last = self.ledger();
        wait_while_some(|| {
            last = self.ledger();
            missing(&last).map(|what| format!("{what} in the ledger\n{last}\n--- log:\n{}", self.log()))
        });
        last
    }

    /// Waits until everything received is delivered, filtered or dropped, and that is `count` messages at the
    /// sources.
    #[track_caller]
    pub fn wait_settled(&mut self, count: u64) -> Ledger {
        self.wait_ledger(|ledger| {
            let settled = ledger.received() == count && ledger.waiting() == 0;
            (!settled).then(|| format!("{count} received and nothing waiting"))
        })
    }

    /// Waits until nothing waits: everything that was read has been dealt with.
    #[track_caller]
    pub fn wait_settled_input(&mut self) -> Ledger {
        self.wait_ledger(|ledger| (ledger.waiting() > 0).then(|| "nothing waiting".to_owned()))
    }

    /// Writes a new configuration without telling the program.
    pub fn rewrite(&self, lab: &Lab, config: &str) {
        std::fs::write(&self.config, lab.fill(config).0).expect("the configuration can be written");
    }

    /// Reloads by the control socket; the reply says whether it worked.
    #[track_caller]
    pub fn reload(&self) -> String {
        self.request("RELOAD")
    }

    /// Writes a new configuration and makes the program take it; one that is confined and is not allowed what
    /// it needs gives way to another, as with `systemctl reload` of the packaged unit.
    #[track_caller]
    pub fn reload_with(&mut self, lab: &Lab, config: &str) {
        self.rewrite(lab, config);
        let answer = self.reload();
        match answer.contains(CONFINED) {
            true => self.give_way(lab),
            false => assert!(answer.starts_with("OK"), "reload: {answer}\n{}", self.log()),
        }
        let opens = lab.fill(config).1;
        self.wait_open(&opens);
    }

    #[track_caller]
    fn give_way(&mut self, lab: &Lab) {
        let mut command = Command::new(binary());
        self.how.add_to(&mut command, lab, &self.config, &self.state);
        command.arg("--take-over");
        let next = Process::spawn("penstock", command, None, &lab.path(LOG));
        let status = std::mem::replace(&mut self.process, next).wait_end();
        assert!(status.success(), "ended with {status}\n{}", self.log());
    }

    /// SIGTERM; it has to drain and end with 0.
    #[track_caller]
    pub fn stop(mut self) -> String {
        let status = self.process.terminate();
        let log = self.log();
        assert!(status.success(), "ended with {status}\n{log}");
        assert!(!log.contains(FORGOTTEN), "{log}");
        log
    }

    #[track_caller]
    pub fn wait_end(&mut self) -> ExitStatus {
        self.process.wait_end()
    }
}

static BINARY: OnceLock<PathBuf> = OnceLock::new();

/// Names the binary under test, before it is first asked for.
pub fn use_binary(path: &Path) {
    BINARY.set(path.to_owned()).expect("the binary is not in use yet");
}

/// The binary under test: the one named, `PENSTOCK_BIN`, or built now, in the profile of the tests.
pub fn binary() -> &'static Path {
    BINARY.get_or_init(|| {
        if let Some(path) = std::env::var_os("PENSTOCK_BIN") {
            return PathBuf::from(path);
        }
        let root = root();
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        // Chosen among the whole workspace, for its features: alone, `penstock` has others, and half the
        // tree would be built again.
        let built = Command::new(cargo)
            .args(["build", "--quiet", "--workspace", "--bin", "penstock"])
            .current_dir(&root)
            .status();
        assert!(built.is_ok_and(|status| status.success()), "the binary cannot be built");
        let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
        target.join("debug/penstock")
    })
}

/// The root of the checkout.
pub fn root() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    folder.ancestors().nth(2).expect("crates/testkit is two folders deep").to_owned()
}

/// One request of the control protocol to the program with this state folder, which may end before it has
/// answered.
pub fn ask(state: &Path, line: &str) -> std::io::Result<String> {
    request_at(state, line)
}

/// Connects as the program's own client does: in a take-over nobody listens for a moment.
fn knock(socket: &Path) -> std::io::Result<UnixStream> {
    let begun = Instant::now();
    loop {
        match UnixStream::connect(socket) {
            Err(error) if error.kind() == ErrorKind::ConnectionRefused && begun.elapsed() < REFUSED_MAX => {
                std::thread::park_timeout(Duration::from_millis(10));
            }
            connected => return connected,
        }
    }
}

/// Speaks the control protocol: a line, an answer that ends with a line of one dot.
fn request_at(state: &Path, line: &str) -> std::io::Result<String> {
    let folder = std::fs::read_dir(state)?;
    let socket = folder.flatten().map(|e| e.path()).find(|p| p.extension().is_some_and(|e| e == "ctl"));
    let socket = socket.ok_or_else(|| std::io::Error::other("there is none"))?;
    let mut stream = knock(&socket)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(format!("{line}\n").as_bytes())?;
    let mut answer = String::new();
    let mut reader = BufReader::new(stream);
    loop {
        let mut next = String::new();
        if reader.read_line(&mut next)? == 0 {
            return Err(std::io::Error::other(format!("the answer does not end: {answer}")));
        }
        if next.trim_end() == "." {
            return Ok(answer);
        }
        answer.push_str(&next);
    }
}
