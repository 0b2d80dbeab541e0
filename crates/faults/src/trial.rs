//! One arrangement under fault: source, program with its store on disk, target; and what it comes to in the
//! end.

use crate::mount::Mount;
use crate::source::{Load, Source};
use crate::tally::Tally;
use crate::target::Target;
use rustix::process::{Pid, Signal, kill_process};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use testkit::{Lab, Ledger, Penstock};

/// How often and with what chance.
pub struct Plan {
    pub rounds: usize,
    pub seed: u64,
    /// Rounds at the same time, where a kind can do that.
    pub jobs: usize,
    pub long: bool,
    /// Other things run beside it: times say nothing.
    pub short: bool,
    /// The program of an earlier version.
    pub from: Option<PathBuf>,
}

pub enum Verdict {
    Ran {
        tally: Tally,
        restart_ms: u64,
        problems: Vec<String>,
        /// What else was measured.
        notes: Vec<String>,
    },
    /// Something the fault needs is not there.
    Skipped(String),
}

/// What half of the restarts may take at most until connections are taken, in milliseconds; single ones are
/// the machine's.
const RESTART_MAX: u64 = 300;
/// What everything is given to come to rest.
const REST: Duration = Duration::from_secs(60);
/// As long nothing has arrived, and nothing more comes. A destination tries again after a tenth of a second.
const QUIET: Duration = Duration::from_secs(10);
/// Bytes of one batch, which a fault may double.
const BATCH_BYTES: u64 = 256 * 1024;
/// Less bytes no message has on its way.
const LINE_BYTES: u64 = 200;
/// As long the control socket may refuse before that is a fault: it does for a moment while the program is
/// busy with its end.
const ANSWER_MAX: Duration = Duration::from_secs(10);

/// Messages that a fault may double: those of one batch, what the receiver's kernel had not acknowledged, and
/// the window of the source. However slow the disk is, for after a kill its kernel knows what the program has
/// noted; and however slow the receiver.
pub fn doubles_max() -> u64 {
    (BATCH_BYTES + sent_bytes_max()) / LINE_BYTES + crate::source::WINDOW
}

/// What the kernel holds of one connection for a receiver that does not read, by its own word.
fn sent_bytes_max() -> u64 {
    let three = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_wmem").unwrap_or_default();
    three.split_whitespace().last().and_then(|most| most.parse().ok()).unwrap_or(4 << 20)
}

/// What the program says of messages; `None` when it does not answer for long.
pub fn ledger(penstock: &Penstock) -> Option<Ledger> {
    let mut found = None;
    reached(ANSWER_MAX, || {
        found = ledger_at(penstock.state());
        found.is_some()
    });
    found
}

/// The same of one look, at the program with this state folder; it may be gone before it has answered.
pub fn ledger_at(state: &Path) -> Option<Ledger> {
    let answer = testkit::ask(state, "LEDGER JSON").ok()?;
    let text = answer.strip_prefix("OK ").unwrap_or(&answer);
    text.starts_with('{').then(|| Ledger::parse(text))
}

/// The answer to a reload, or why there is none.
pub fn reload(penstock: &Penstock) -> String {
    let mut answer = String::new();
    // Before it is connected nothing has begun.
    let said = reached(ANSWER_MAX, || match testkit::ask(penstock.state(), "RELOAD") {
        Err(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => {
            answer = error.to_string();
            false
        }
        other => {
            answer = other.unwrap_or_else(|error| error.to_string());
            true
        }
    });
    if said { answer } else { format!("no answer: {answer}") }
}

/// What every configuration begins with.
pub const HEAD: &str = "@version: 4.8\noptions { keep-hostname(yes); };\n";
/// What every destination of a trial keeps its messages in.
pub const BUFFER: &str = "disk-buffer(capacity-bytes(20GiB) reliable(yes))";

/// Random numbers that are the same for the same seed (SplitMix64).
pub struct Chance(pub u64);

impl Chance {
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % n.max(1)
    }

    pub fn milliseconds(&mut self, from: u64, to: u64) -> Duration {
        Duration::from_millis(from + self.below(to - from))
    }
}

/// Whether a state is reached before `patience` is over.
pub fn reached(patience: Duration, mut state: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    while !state() {
        if start.elapsed() > patience {
            return false;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    true
}

pub struct Trial {
    pub lab: Lab,
    pub target: Target,
    config: String,
    state: PathBuf,
    tally: Tally,
    restarts_ms: Vec<u64>,
    problems: Vec<String>,
    notes: Vec<String>,
}

impl Trial {
    pub fn new() -> Trial {
        Trial::towards("127.0.0.1", "")
    }

    /// With everything the program keeps on that disk.
    pub fn on(mount: &Mount) -> Trial {
        let mut trial = Trial::new();
        trial.state = mount.folder().join("state");
        trial
    }

    /// With the target at another address, and more statements.
    pub fn towards(address: &str, more: &str) -> Trial {
        Trial::of(&format!(
            "{HEAD}source s {{ relp(ip(127.0.0.1) port(%tcp:in%)); }};\n\
             destination d {{ network(\"{address}\" port(%port:out%) time-reopen(0.1) {BUFFER}); }};\n\
             log {{ source(s); destination(d); flags(flow-control); }};\n{more}"
        ))
    }

    /// With a configuration of its own, which takes messages at the port `in` and gives them to the port
    /// `out`.
    pub fn of(config: &str) -> Trial {
        let lab = Lab::new();
        Trial {
            target: Target::new(lab.port("out")),
            state: lab.path("state"),
            lab,
            config: config.to_owned(),
            tally: Tally::default(),
            restarts_ms: Vec::new(),
            problems: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// What the next start finds.
    pub fn configure(&mut self, config: &str) {
        config.clone_into(&mut self.config);
    }

    pub fn source(&self) -> Source {
        Source::start(self.lab.port("in"), Load::default())
    }

    pub fn exactly(&self, count: u64) -> Source {
        Source::exactly(self.lab.port("in"), count)
    }

    /// Starts the program; that it does not start is a problem.
    pub fn begin(&mut self) -> Option<Penstock> {
        let penstock = self.start(&[]);
        if penstock.is_none() {
            self.problem("does not start");
        }
        penstock
    }

    /// Starts the program, under `tracer` when that is not empty, and returns when it takes connections;
    /// `None` when it ended before.
    pub fn start(&mut self, tracer: &[&str]) -> Option<Penstock> {
        let began = Instant::now();
        let start = Penstock::configure(&self.lab, &self.config).state(&self.state).under(tracer);
        let mut penstock = start.spawned();
        let port = self.lab.port("in");
        let mut ended = false;
        let open = reached(REST, || {
            ended = penstock.process().ended().is_some();
            ended || testkit::sockets::tcp_listening(port)
        });
        if ended {
            return None;
        }
        if !open {
            self.problem("never took connections");
        }
        if tracer.is_empty() {
            self.restarts_ms.push(began.elapsed().as_millis() as u64);
        }
        Some(penstock)
    }

    pub fn kill(&mut self, mut penstock: Penstock) {
        // It may be dead already, which is as well. Below a tracer the program is its child, and the tracer
        // ends with it.
        let id = penstock.id();
        let children = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap_or_default();
        let traced = children.split_whitespace().filter_map(|pid| pid.parse().ok().and_then(Pid::from_raw));
        for pid in traced {
            let _ = kill_process(pid, Signal::KILL);
        }
        if children.is_empty() {
            let _ = penstock.process().child().kill();
        }
        penstock.wait_end();
        self.tally.rounds += 1;
    }

    pub fn round(&mut self) {
        self.tally.rounds += 1;
    }

    pub fn problem(&mut self, what: impl Into<String>) {
        self.problems.push(what.into());
    }

    /// Something measured, to be printed below the line of the fault.
    pub fn note(&mut self, what: impl Into<String>) {
        self.notes.push(what.into());
    }

    /// Starts another process that takes over from the running one; `None` when the old one does not end.
    pub fn take_over(&mut self, mut old: Penstock) -> Option<Penstock> {
        let start = Penstock::configure(&self.lab, &self.config).state(&self.state).arg("--take-over");
        let new = start.spawned();
        if reached(REST, || old.process().ended().is_some()) {
            return Some(new);
        }
        self.problem("the old process does not end");
        None
    }

    /// The fault is over: the rest is sent and delivered, the books are compared.
    pub fn settle(&mut self, source: &Source, penstock: Penstock) {
        self.target.up();
        source.finish();
        if !reached(REST, || source.is_finished()) {
            let (acknowledged, sent) = (source.acknowledged(), source.sent());
            self.problem(format!("{acknowledged} of {sent} acknowledged, no more come"));
        }
        if source.refused() > 0 {
            self.problem(format!("{} refused", source.refused()));
        }
        let (sent, acknowledged) = (source.sent(), source.acknowledged());
        self.rest(penstock, |numbers| Tally::of(sent, acknowledged, numbers));
    }

    /// Nothing is sent any more: waits until everything is delivered, compares the books and ends the
    /// program. `count` makes the tally of what has arrived.
    pub fn rest(&mut self, mut penstock: Penstock, count: impl Fn(&[u64]) -> Tally) {
        // The receiver's own record against what the sender was told. What is lost never comes: it is given
        // up once nothing moves.
        let mut tally = count(&self.target.numbers());
        let (mut last, mut counted, mut since) = (self.target.received(), 0, Instant::now());
        reached(REST, || {
            let arrived = self.target.received();
            if arrived != last {
                (last, since) = (arrived, Instant::now());
                return false;
            }
            if counted != arrived {
                tally = count(&self.target.numbers());
                counted = arrived;
            }
            tally.lost == 0 || since.elapsed() > QUIET
        });
        // Then the ledger is held against that: nothing waits, it adds up, and no more is delivered than
        // arrived.
        let mut last = None;
        let rest = reached(REST, || {
            last = ledger(&penstock);
            last.as_ref().is_none_or(|ledger| ledger.waiting() == 0 && gaps(ledger) == 0)
        });
        let ledger = last.unwrap_or_else(|| {
            self.problem("does not answer");
            Ledger { sources: Vec::new(), paths: Vec::new(), destinations: Vec::new() }
        });
        if !rest && ledger.waiting() > 0 {
            self.problem(format!("{} messages wait for ever", ledger.waiting()));
        }
        // The destination in front of this target; a neighbour has one of its own.
        let rows = ledger.destinations.iter().filter(|row| row.name == "d#0");
        let delivered: u64 = rows.map(|row| row.delivered).sum();
        if !reached(QUIET, || self.target.received() as u64 >= delivered) {
            let arrived = self.target.received();
            self.problem(format!("the ledger says {delivered} delivered, {arrived} arrived"));
        }
        tally.unaccounted += self.target.foreign() + gaps(&ledger);
        self.tally.add(&tally);
        if !penstock.process().terminate().success() {
            self.problem("did not end in order");
        }
    }

    /// After the last of the faults the program starts once more, and everything comes to rest.
    pub fn end(mut self, source: &Source, plan: &Plan, faults: usize) -> Verdict {
        if let Some(penstock) = self.begin() {
            self.settle(source, penstock);
        }
        self.verdict(plan, faults)
    }

    /// `faults` is how many faults may each have doubled a batch.
    pub fn verdict(self, plan: &Plan, faults: usize) -> Verdict {
        self.verdict_of(plan, faults as u64 * doubles_max())
    }

    /// With so many messages that may come twice.
    pub fn verdict_of(mut self, plan: &Plan, doubles_max: u64) -> Verdict {
        let tally = std::mem::take(&mut self.tally);
        let mut problems = std::mem::take(&mut self.problems);
        for (what, count) in
            [("lost", tally.lost), ("unaccounted", tally.unaccounted), ("reordered", tally.reordered)]
        {
            if count > 0 {
                problems.push(format!("{count} {what}"));
            }
        }
        if tally.doubled > doubles_max {
            problems.push(format!("{} doubled, at most {doubles_max} may be", tally.doubled));
        }
        self.restarts_ms.sort_unstable();
        let restart_ms = self.restarts_ms.last().copied().unwrap_or(0);
        let median = self.restarts_ms.get(self.restarts_ms.len() / 2).copied().unwrap_or(0);
        if median > RESTART_MAX && !plan.short {
            problems.push(format!("half of the restarts took {median} ms or more"));
        }
        if !problems.is_empty() {
            let kept = std::env::temp_dir().join("penstock-faults.log");
            if std::fs::copy(self.lab.path("penstock.log"), &kept).is_ok() {
                problems.push(format!("log: {}", kept.display()));
            }
        }
        Verdict::Ran { tally, restart_ms, problems, notes: self.notes }
    }
}

/// Rows of the ledger that do not add up.
pub fn gaps(ledger: &testkit::Ledger) -> u64 {
    let rows = ledger.sources.iter().chain(&ledger.paths).chain(&ledger.destinations);
    rows.map(|row| row.received.abs_diff(row.delivered + row.waiting + row.filtered + row.dropped)).sum()
}
