//! Several sources and destinations around one program whose configuration changes while it runs. What was lost is judged from outside:
//! by what each receiver wrote down against what each sender was told.

mod judge;
mod shape;

pub use judge::{LINE_BYTES, Owed};
pub use shape::{Keeps, Shape};

use crate::source::{Load, PADDING, Source, message};
use crate::tally::LANE;
use crate::target::Target;
use crate::trial::{gaps, reached};
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;
use testkit::{Lab, Penstock, sockets};

/// RELP senders; the source of the first is always there.
pub const ASKING: usize = 2;
/// The lane of the file, behind those of the RELP senders.
pub const FILE: usize = ASKING;
pub const LANES: usize = ASKING + 1;
/// What everything is given to come to rest.
const REST: Duration = Duration::from_secs(60);

/// Seconds for which a process that was taken over from waits for its RELP connections.
const LINGER: &str = "--linger=1";

/// How a new configuration is put into effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    Reload,
    TakeOver,
    Kill,
    Stop,
}

pub struct World {
    pub lab: Lab,
    pub targets: Vec<Target>,
    pub shape: Shape,
    senders: Vec<Source>,
    file: File,
    lines: u64,
    penstock: Option<Penstock>,
    pub owed: Owed,
    /// Arrivals at each target when this process was started.
    before: Vec<usize>,
    pub problems: Vec<String>,
    /// What was done, for whoever looks for the cause.
    pub story: Vec<String>,
    /// Events of which each may make messages come again.
    pub breaks: u64,
    pub refused: u64,
}

impl World {
    /// Everything is open, nothing is sent, no target is up.
    pub fn start(shape: Shape) -> World {
        let lab = Lab::new();
        let targets = (0..shape.outs.len()).map(|out| Target::new(lab.port(&format!("out{out}")))).collect();
        let file = File::create(lab.path("lines")).expect("a file to read");
        let load = |lane: usize| Load { count: 0, base: lane as u64 * LANE, ..Load::default() };
        let port = |lane: usize| lab.port(&format!("in{lane}"));
        let senders = (0..ASKING).map(|lane| Source::start(port(lane), load(lane))).collect();
        let mut world = World {
            targets,
            senders,
            file,
            lines: 0,
            penstock: None,
            owed: Owed::new(shape.outs.len()),
            before: vec![0; shape.outs.len()],
            problems: Vec::new(),
            story: Vec::new(),
            breaks: 0,
            refused: 0,
            shape,
            lab,
        };
        world.begin(&[]);
        world
    }

    /// A sender has so many more messages.
    pub fn send(&mut self, lane: usize, count: u64) {
        if let Some(sender) = self.senders.get(lane) {
            sender.raise(count);
            return;
        }
        let mut text = String::new();
        for number in self.lines..self.lines + count {
            text.push_str(&message(FILE as u64 * LANE + number, PADDING)["<13>".len()..]);
            text.push('\n');
        }
        self.file.write_all(text.as_bytes()).expect("the file takes lines");
        self.lines += count;
    }

    /// Messages handed out so far, by lane.
    pub fn sent(&self) -> Vec<u64> {
        self.senders.iter().map(Source::sent).chain([self.lines]).collect()
    }

    /// Messages whose senders were told that they are safe, by lane. A file is told nothing.
    pub fn acknowledged(&self) -> Vec<u64> {
        self.senders.iter().map(Source::acknowledged).chain([0]).collect()
    }

    /// Waits until the program reads nothing more: it has what it can take.
    pub fn wait_full(&mut self) {
        let mut last = (0, Vec::new());
        let mut since = std::time::Instant::now();
        let full = reached(REST, || {
            let received = self.penstock.as_ref().map_or(0, |p| p.ledger().received());
            let now = (received, self.acknowledged());
            if now != last {
                (last, since) = (now, std::time::Instant::now());
            }
            since.elapsed() > Duration::from_millis(400)
        });
        if !full {
            self.problem("never stops reading");
        }
    }

    pub fn problem(&mut self, what: impl Into<String>) {
        self.problems.push(what.into());
    }

    /// Puts another configuration into effect. What is not reachable any more is owed nothing from here on, what comes back is from the
    /// moment when it is certainly there. A refused reload changes nothing; the answer says why.
    pub fn change(&mut self, next: Shape, by: By) -> Result<(), String> {
        let from = self.acknowledged();
        for (out, _) in
            self.shape.outs.iter().zip(&next.outs).enumerate().filter(|(_, (a, b))| a.there && !b.there)
        {
            self.owed.leaves(out, &from);
        }
        self.story.push(format!("{by:?}: {}", self.shape.difference(&next)));
        let before = std::mem::replace(&mut self.shape, next);
        let done = match by {
            By::Reload => self.reload(),
            By::TakeOver => {
                self.take_over();
                Ok(())
            }
            By::Kill | By::Stop => {
                self.end(by == By::Kill);
                self.begin(&[]);
                Ok(())
            }
        };
        if done.is_err() {
            self.refused += 1;
            self.shape = before;
            let config = self.shape.config();
            if let Some(penstock) = &self.penstock {
                penstock.rewrite(&self.lab, &config);
            }
        }
        // Also after a refusal: whether the program had begun is not known here.
        let sent = self.sent();
        for (out, _) in self.shape.outs.iter().enumerate().filter(|(_, out)| out.there) {
            self.owed.comes(out, &sent);
        }
        self.look();
        done
    }

    fn reload(&mut self) -> Result<(), String> {
        self.breaks += 1;
        let config = self.shape.config();
        let Some(penstock) = &self.penstock else { return Err("it does not run".to_owned()) };
        penstock.rewrite(&self.lab, &config);
        let answer = penstock.reload();
        if answer.starts_with("OK") { Ok(()) } else { Err(answer.trim().to_owned()) }
    }

    fn begin(&mut self, args: &[&str]) {
        let mut start = Penstock::configure(&self.lab, &self.shape.config());
        for arg in args {
            start = start.arg(arg);
        }
        let mut penstock = start.spawned();
        let port = self.lab.port("in0");
        let mut ended = false;
        let open = reached(REST, || {
            ended = penstock.process().ended().is_some();
            ended || (sockets::tcp_listening(port) && self.lab.path("state/penstock.ctl").exists())
        });
        if ended || !open {
            self.problem(format!("does not start: {}", penstock.log().lines().last().unwrap_or_default()));
            return;
        }
        self.before = self.targets.iter().map(Target::received).collect();
        self.penstock = Some(penstock);
    }

    fn take_over(&mut self) {
        self.breaks += 1;
        let Some(mut old) = self.penstock.take() else { return };
        let start = Penstock::configure(&self.lab, &self.shape.config()).arg("--take-over").arg(LINGER);
        let mut new = start.spawned();
        let mut failed = false;
        let over = reached(REST, || {
            failed = new.process().ended().is_some();
            failed || old.process().ended().is_some()
        });
        match (over, failed) {
            (true, false) => self.penstock = Some(new),
            (_, true) => {
                self.problem("the process that takes over ends");
                self.penstock = Some(old);
            }
            (false, false) => {
                self.problem("the old process does not end");
                self.penstock = Some(new);
            }
        }
    }

    fn end(&mut self, kill: bool) {
        self.breaks += 1;
        let Some(mut penstock) = self.penstock.take() else { return };
        if kill {
            let _ = penstock.process().child().kill();
            penstock.wait_end();
        } else if !penstock.process().terminate().success() {
            self.problem("did not end in order");
        }
    }

    /// One look at the ledger: it balances at every moment.
    pub fn look(&mut self) {
        let Some(penstock) = &self.penstock else { return };
        let ledger = penstock.ledger();
        if gaps(&ledger) > 0 {
            let rows = ledger.sources.iter().chain(&ledger.paths).chain(&ledger.destinations);
            let row = rows.filter(|r| r.received != r.delivered + r.waiting + r.filtered + r.dropped);
            let text: Vec<String> = row
                .map(|r| {
                    format!(
                        "{}: received {}, delivered {}, waiting {}, filtered {}, dropped {}",
                        r.name, r.received, r.delivered, r.waiting, r.filtered, r.dropped
                    )
                })
                .collect();
            self.problem(format!("the ledger does not balance: {}", text.join("; ")));
        }
    }

    /// A target goes, or comes back.
    pub fn target(&mut self, out: usize, up: bool) {
        self.breaks += u64::from(!up);
        match up {
            true => self.targets[out].up(),
            false => self.targets[out].down(),
        }
    }

    /// Everything is there again, under its first name; all that waits is delivered. `letters` are given to their destinations too.
    pub fn settle(&mut self, letters: bool) {
        self.targets.iter().for_each(|target| {
            target.slow(0);
            target.up();
        });
        let whole = self.shape.whole();
        let mut refused = None;
        if !reached(REST, || {
            self.change(whole.clone(), By::Reload).map_err(|why| refused = Some(why)).is_ok()
        }) {
            self.problem(format!("the last reload is refused: {}", refused.unwrap_or_default()));
        }
        self.senders.iter().for_each(Source::finish);
        if !reached(REST, || self.senders.iter().all(Source::is_finished)) {
            let (acknowledged, sent) = (self.acknowledged(), self.sent());
            self.problem(format!(
                "of {sent:?} messages only {acknowledged:?} are acknowledged, no more come"
            ));
        }
        self.wait_delivered();
        // Letters come behind what came later: order is judged without them.
        self.owed.ordered = self.targets.iter().map(Target::received).collect();
        if letters {
            let state = self.lab.path("state");
            let state = state.display().to_string();
            let outcome = testkit::run_command(&["queue", "--state-dir", &state, "replay", "dead-letters"]);
            self.story.push(format!("letters: {} {}", outcome.stdout.trim(), outcome.stderr.trim()));
            self.wait_delivered();
        }
        self.hold_ledger();
    }

    /// Waits until nothing waits and nothing comes any more.
    fn wait_delivered(&mut self) {
        let Some(penstock) = &self.penstock else { return };
        let mut ledger = penstock.ledger();
        let lines = self.lines;
        let owed = &self.owed;
        let (sent, acknowledged) = (self.sent(), self.acknowledged());
        let targets = &self.targets;
        let complete = || {
            targets
                .iter()
                .enumerate()
                .all(|(out, target)| owed.judge(out, &sent, &acknowledged, &target.numbers()).0.lost == 0)
        };
        let rest = reached(REST, || {
            ledger = penstock.ledger();
            ledger.waiting() == 0 && gaps(&ledger) == 0
        });
        // The file may not be read to its end yet, and what is delivered be on its way through the sockets.
        reached(Duration::from_secs(if lines > 0 { 10 } else { 2 }), complete);
        if !rest && ledger.waiting() > 0 {
            self.problem(format!("{} messages wait for ever", ledger.waiting()));
        }
        self.look();
    }

    /// The receivers' own record first; then what the program says must agree with it.
    fn hold_ledger(&mut self) {
        let Some(penstock) = &self.penstock else { return };
        let ledger = penstock.ledger();
        let mut wrong = Vec::new();
        for (out, target) in self.shape.outs.iter().zip(&self.targets) {
            let arrived = target.received() as u64;
            let rows = ledger.destinations.iter().filter(|row| row.name.split('#').next() == Some(&out.name));
            let delivered: u64 = rows.map(|row| row.delivered).sum();
            if delivered > arrived {
                wrong.push(format!("{}: the ledger says {delivered} delivered, {arrived} arrived", out.name));
            }
        }
        self.problems.append(&mut wrong);
    }

    /// Ends the program, and says where its log was copied to.
    pub fn close(&mut self, keep: &str) -> PathBuf {
        self.end(false);
        let kept = std::env::temp_dir().join(format!("penstock-{keep}.log"));
        let _ = std::fs::copy(self.lab.path("penstock.log"), &kept);
        kept
    }
}
