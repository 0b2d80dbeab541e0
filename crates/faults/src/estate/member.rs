//! A program of an estate: started, killed, replaced by its successor, stopped.

use crate::trial::{gaps, ledger, ledger_at, reached};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use testkit::{Lab, Penstock, Signal};

const PATIENCE: Duration = Duration::from_secs(60);
/// Seconds the one before goes on for connections that only it can read.
const LINGER: &str = "10";
/// What the program before says when its successor has everything.
const TAKEN: &str = "Another process has taken over";

pub struct Member {
    pub name: String,
    pub lab: Lab,
    config: String,
    /// The program of another version, until its successor takes over.
    program: Option<PathBuf>,
    running: Option<Penstock>,
    /// The longest start, in milliseconds.
    pub restart_ms: u64,
}

impl Member {
    /// Starts it; in the configuration places are filled in as a lab does.
    pub fn start(name: String, lab: Lab, config: String) -> Member {
        Member::of(None, name, lab, config)
    }

    /// The same with the program of another version.
    pub fn of(program: Option<PathBuf>, name: String, lab: Lab, config: String) -> Member {
        let mut member = Member { name, lab, config, program, running: None, restart_ms: 0 };
        member.begin();
        member
    }

    fn begin(&mut self) {
        let began = Instant::now();
        let mut start = Penstock::configure(&self.lab, &self.config);
        if let Some(program) = &self.program {
            start = start.program(program);
        }
        self.running = Some(start.ready());
        self.restart_ms = self.restart_ms.max(began.elapsed().as_millis() as u64);
    }

    /// Killed, and started again after some time.
    pub fn kill(&mut self, away: Duration) {
        if let Some(mut running) = self.running.take() {
            running.signal(Signal::KILL);
            running.wait_end();
        }
        std::thread::sleep(away);
        self.begin();
    }

    /// Its successor takes over. `began`: called when that one runs.
    pub fn upgrade(&mut self, began: impl FnOnce()) -> Result<(), String> {
        let Some(mut old) = self.running.take() else { return Ok(()) };
        self.program = None;
        let said = |old: &Penstock| old.log().matches(TAKEN).count();
        let before = said(&old);
        let start = Penstock::configure(&self.lab, &self.config).arg("--take-over");
        let new = start.arg("--linger").arg(LINGER).spawned();
        // Both write to one log.
        let has_begun = reached(PATIENCE, || said(&old) > before);
        began();
        let has_ended = has_begun && reached(PATIENCE, || old.process().ended().is_some());
        let answers = has_ended && reached(PATIENCE, || ledger_at(new.state()).is_some());
        self.running = Some(new);
        match answers {
            true => Ok(()),
            false => Err(format!("{}: the take-over does not come to its end", self.name)),
        }
    }

    /// How many of its messages wait.
    pub fn waiting(&self) -> u64 {
        self.running.as_ref().and_then(|running| ledger_at(running.state())).map_or(0, |l| l.waiting())
    }

    /// Nothing waits any more, the ledger adds up, and it ends in order; otherwise what is wrong.
    pub fn stop(&mut self) -> Result<(), String> {
        let Some(mut running) = self.running.take() else { return Ok(()) };
        let mut last = None;
        let rests = reached(PATIENCE, || {
            last = ledger(&running);
            last.as_ref().is_some_and(|ledger| ledger.waiting() == 0 && gaps(ledger) == 0)
        });
        if !rests {
            let ledger = last.map_or("no answer".to_owned(), |ledger| ledger.to_string());
            return Err(format!("{} does not come to rest:\n{ledger}", self.name));
        }
        match running.process().terminate().success() {
            true => Ok(()),
            false => Err(format!("{} did not end in order", self.name)),
        }
    }
}
