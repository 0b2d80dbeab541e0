//! Several sources and destinations around one program whose configuration changes while it runs. What was
//! lost is judged from outside: by what each receiver wrote down against what each sender was told.

mod change;
mod judge;
mod letters;
mod samples;
mod shape;
mod strays;

pub use change::{Beside, By, Victim};
pub use judge::{LINE_BYTES, Owed};
pub use shape::{Keeps, Out, Shape, Speaks};

use crate::source::{Load, PADDING, Source, message};
use crate::tally::LANE;
use crate::target::Target;
use crate::trial::{ledger_at, reached};
use samples::{Sampler, unbalanced};
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use testkit::{Lab, Ledger, Penstock};

/// RELP senders; the source of the first is always there.
pub const ASKING: usize = 2;
/// The lane of the file, behind those of the RELP senders.
pub const FILE: usize = ASKING;
pub const LANES: usize = ASKING + 1;
/// What everything is given to come to rest.
const REST: Duration = Duration::from_secs(60);

pub struct World {
    pub lab: Lab,
    pub targets: Vec<Target>,
    pub shape: Shape,
    senders: Vec<Source>,
    file: File,
    lines: u64,
    penstock: Option<Penstock>,
    sampler: Sampler,
    pub owed: Owed,
    pub problems: Vec<String>,
    /// What was done, for whoever looks for the cause.
    pub story: Vec<String>,
    /// Events of which each may make messages come again.
    pub breaks: u64,
    pub refused: u64,
    began: Instant,
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
            sampler: Sampler::start(lab.path("state")),
            owed: Owed::new(shape.outs.len()),
            problems: Vec::new(),
            story: Vec::new(),
            breaks: 0,
            refused: 0,
            began: Instant::now(),
            shape,
            lab,
        };
        world.begin();
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
        let mut since = Instant::now();
        let full = reached(REST, || {
            let now = (self.ledger().map_or(0, |ledger| ledger.received()), self.acknowledged());
            if now != last {
                (last, since) = (now, Instant::now());
            }
            since.elapsed() > Duration::from_millis(400)
        });
        if !full {
            self.problem("never stops reading");
        }
    }

    /// A line of the story.
    pub fn tell(&mut self, what: impl Into<String>) {
        let at = self.began.elapsed().as_secs_f64();
        self.story.push(format!("{at:7.3} s: {}", what.into()));
    }

    pub fn problem(&mut self, what: impl Into<String>) {
        self.problems.push(what.into());
    }

    /// `None` when the program does not answer.
    fn ledger(&self) -> Option<Ledger> {
        ledger_at(&self.lab.path("state"))
    }

    /// One look at the ledger: it balances at every moment.
    pub fn look(&mut self) {
        let Some(ledger) = self.ledger() else {
            return self.problem("does not answer");
        };
        let wrong = unbalanced(&ledger);
        if !wrong.is_empty() {
            self.problem(format!("the ledger does not balance: {}", wrong.join("; ")));
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

    /// Everything is there again; all that waits is delivered, dead letters last.
    pub fn settle(&mut self) {
        self.targets.iter().for_each(|target| {
            target.slow(0);
            target.up();
        });
        let mut refused = None;
        if !reached(REST, || {
            let whole = self.shape.whole();
            self.change(whole, By::Reload, Beside::Nothing).map_err(|why| refused = Some(why)).is_ok()
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
        self.owed.ordered = self.targets.iter().map(|target| Some(target.numbers())).collect();
        self.replay_letters();
        self.hold_ledger();
        let (samples, wrong) = self.sampler.end();
        self.tell(format!("{samples} samples of the ledger"));
        self.problems.extend(wrong);
    }

    /// Waits until every receiver has what it is owed, and nothing waits any more.
    fn wait_delivered(&mut self) {
        let (sent, acknowledged) = (self.sent(), self.acknowledged());
        let mut waiting = 0;
        let (mut last, mut since) = (0, Instant::now());
        let rest = reached(REST, || {
            let arrived = self.targets.iter().map(Target::received).sum();
            if last != arrived {
                (last, since) = (arrived, Instant::now());
            }
            waiting = self.ledger().map_or(1, |ledger| ledger.waiting());
            let complete = |out: usize, target: &Target| {
                self.owed.judge(out, &sent, &acknowledged, &target.numbers()).0.lost == 0
            };
            // Letters may be missing, and what is lost never comes: nothing moves any more then.
            let is_quiet = since.elapsed() > Duration::from_secs(2);
            waiting == 0
                && (is_quiet || self.targets.iter().enumerate().all(|(out, target)| complete(out, target)))
        });
        if !rest {
            self.problem(format!("{waiting} messages wait for ever"));
        }
        self.look();
    }

    /// The receivers' own record first; then what the program says must agree with it.
    fn hold_ledger(&mut self) {
        let Some(ledger) = self.ledger() else { return };
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
        if !self.problems.is_empty() {
            let _ = std::fs::copy(self.lab.path("penstock.log"), &kept);
        }
        kept
    }
}
