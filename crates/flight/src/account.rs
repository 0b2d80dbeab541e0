//! The account of one outlet: what is on the way, what came of it, and what of the queue's front is settled
//! by that.

use crate::bucket::Bucket;
use crate::contract::{Outcome, Verdict};
use crate::cut::{self, Cut};
use crate::limits::Limits;
use crate::pace::{Kind, Pace};
use crate::runs::{Runs, State};
use crate::trouble::Trouble;
use engine::ledger::Reason;
use engine::{Chunk, Progress, Status, Supply, Waits};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A server that refuses so many messages alone, one after the other with none delivered in between, gets the
/// next one after a pause.
const REFUSALS_QUICK: u32 = 8;
/// Where the configuration lets go of what is refused, the whole batch goes after so many.
const REFUSALS_LET_GO: u32 = 16;

/// How often a batch that waits to become full is looked at: whether a source waits for it.
const LOOK: Duration = Duration::from_millis(100);

pub struct Account {
    pub limits: Limits,
    runs: Runs,
    pace: Pace,
    bucket: Option<Bucket>,
    trouble: Trouble,
    /// Messages refused since one was delivered.
    refusals: u32,
    /// Everything is to be sent again: what the chunks say about it is over.
    stale: bool,
    /// Between the beginning and the end of a `write`.
    working: bool,
    /// What comes while a batch waits to become full.
    supply: Supply,
    /// When what waits to become full is looked at again.
    look: Option<Instant>,
    /// When the outlet will be called.
    timer: Option<Instant>,
    /// Until then what is waited for is not late.
    well_until: Option<Instant>,
    waits: Waits,
}

/// What may go now.
pub enum Next<'a> {
    Batch(Cut<'a>, Source),
    Nothing,
    /// Not before then, and all is well.
    At(Instant),
}

/// Where a batch comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Source {
    Fresh,
    Again,
}

impl Account {
    pub fn new(limits: Limits, trouble: Trouble, seed: u64, now: Instant) -> Account {
        Account {
            runs: Runs::default(),
            pace: Pace::new(limits.time_reopen, seed),
            bucket: Bucket::new(limits.throttle, now),
            trouble,
            refusals: 0,
            stale: false,
            working: false,
            supply: Supply::default(),
            look: None,
            timer: None,
            well_until: None,
            waits: Waits::Peer,
            limits,
        }
    }

    /// What became of a batch. An answer that nobody waits for any more is passed over.
    pub fn land(&mut self, id: u32, outcome: Outcome, now: Instant) {
        if !self.runs.is_away(id) {
            return;
        }
        match outcome {
            Outcome::Delivered => {
                self.runs.settled(id, &State::Delivered);
                self.succeeded(now);
            }
            Outcome::Judged { verdicts, after } => {
                let [delivered, refused, again] = self.runs.judged(id, &verdicts);
                if delivered > 0 {
                    self.succeeded(now);
                }
                let words = verdicts.iter().rev().find_map(|verdict| match verdict {
                    Verdict::Refused(why) => Some(&**why),
                    _ => None,
                });
                self.refused(refused, delivered, words.unwrap_or_default(), now);
                let held = verdicts.iter().find_map(|verdict| match verdict {
                    Verdict::Hold(why) => Some(&**why),
                    _ => None,
                });
                if let Some(why) = held {
                    self.hold(why, now);
                } else if again > 0 {
                    self.pace.failed(Kind::Busy, after, now);
                    self.say("Destination takes some messages later", "the server has no room for them", now);
                }
            }
            Outcome::Refused(why) => {
                self.runs.settled(id, &State::Refused(Arc::from(why.as_str())));
                self.refused(1, 0, &why, now);
            }
            Outcome::Split(why) => self.split(id, &why, now),
            Outcome::LetGo { why, named } => self.let_go(id, &why, named),
            Outcome::Again { counts: true, why, .. } if self.runs.tries(id) + 1 >= self.limits.retries => {
                self.split(id, &why, now);
                self.pace.failed(Kind::Busy, None, now);
            }
            Outcome::Again { after, counts, why } => {
                self.runs.again(id, counts);
                self.pace.failed(Kind::Busy, after, now);
                self.say("Destination does not take messages now", &why, now);
            }
            Outcome::Away(why) | Outcome::Unknown(why) => {
                self.runs.again(id, false);
                self.pace.failed(Kind::Outage, None, now);
                self.say("Destination cannot be reached", &why, now);
            }
            Outcome::Hold(why) => {
                self.runs.again(id, false);
                self.hold(&why, now);
            }
        }
    }

    fn hold(&mut self, why: &str, now: Instant) {
        self.pace.hold(now);
        self.say("Destination takes nothing until something is done about it", why, now);
    }

    fn succeeded(&mut self, now: Instant) {
        self.refusals = 0;
        self.pace.succeeded();
        self.trouble.is_over(now);
    }

    fn split(&mut self, id: u32, why: &str, now: Instant) {
        if self.runs.split(id, why) {
            self.refused(1, 0, why, now);
        }
    }

    /// One bad message costs itself and not its batch, and a server that refuses everything costs no time.
    fn let_go(&mut self, id: u32, why: &str, named: Option<usize>) {
        match named {
            _ if self.refusals >= REFUSALS_LET_GO => {
                self.runs.settled(id, &State::Refused(Arc::from(why)));
                return;
            }
            Some(place) if self.refusals < REFUSALS_QUICK => {
                let mut verdicts = vec![Verdict::Again; place];
                verdicts.push(Verdict::Refused(why.into()));
                self.runs.judged(id, &verdicts);
            }
            // With one bad message after the other it is quicker to find what is good.
            _ if !self.runs.split(id, why) => return,
            _ => {}
        }
        self.refusals = self.refusals.saturating_add(1);
    }

    /// Where nothing but refusals comes, it may not be the messages: they are lost slowly then, and it shows.
    fn refused(&mut self, refused: usize, delivered: usize, why: &str, now: Instant) {
        if refused == 0 || delivered > 0 {
            return;
        }
        self.refusals = self.refusals.saturating_add(1);
        if self.refusals > REFUSALS_QUICK {
            self.pace.failed(Kind::Busy, None, now);
            self.say("Destination refuses one message after the other", why, now);
        }
    }

    fn say(&mut self, text: &'static str, why: &str, now: Instant) {
        let Some((pause, kind)) = self.pace.pause(now) else { return };
        self.trouble.say(text, why, kind == Kind::Outage, pause, now);
    }

    /// Begins a `write`: settles what is known of the front of the queue. Returns `false` when the last
    /// `write` did not come to its end: the batches on the way are forgotten.
    #[must_use]
    pub fn settle(
        &mut self,
        chunks: &mut VecDeque<Chunk>,
        progress: &mut Progress<'_>,
        now: Instant,
    ) -> bool {
        let whole = !std::mem::replace(&mut self.working, true);
        self.supply = progress.supply;
        self.timer = self.timer.filter(|at| *at > now);
        let sent: usize = chunks.iter().map(Chunk::sent).sum();
        if !whole || sent != self.runs.messages() {
            // A panic has cost the first chunk, or what was under way was taken away and has come back.
            self.runs.clear();
            self.stale = true;
        }
        let mut at = 0;
        while let Some(run) = self.runs.front()
            && let Some(chunk) = chunks.get_mut(at)
        {
            // Chunks of a predecessor may have come before those that were sent.
            if chunk.sent() == 0 {
                at += 1;
                continue;
            }
            let settled = match &run.state {
                State::Refused(why) => {
                    chunk.say_dropped(0..1, Reason::Refused, why);
                    progress.refused(why, chunk.front().unwrap_or_default());
                    chunk.acknowledge(1).messages
                }
                _ => {
                    let delivered = chunk.acknowledge(run.messages);
                    progress.delivered(delivered);
                    delivered.messages
                }
            };
            self.runs.settle(settled);
            if chunk.is_empty()
                && let Some(chunk) = chunks.remove(at)
            {
                progress.finished(chunk);
            }
        }
        if self.runs.is_untouched() && self.pace.pause(now).is_some_and(|(_, kind)| kind == Kind::Outage) {
            // In an outage nothing is in the middle of being sent: what waits can be dropped or handed over.
            self.runs.clear();
            self.stale = true;
        }
        if std::mem::take(&mut self.stale) {
            chunks.iter_mut().for_each(Chunk::rewind);
        }
        whole
    }

    /// What may go now.
    pub fn next<'a>(&mut self, chunks: &'a VecDeque<Chunk>, now: Instant) -> Next<'a> {
        if self.pace.pause(now).is_some() || self.runs.away() >= self.limits.away {
            return Next::Nothing;
        }
        if let Some(places) = self.runs.back() {
            return Next::Batch(cut::again(chunks, &places, &self.limits), Source::Again);
        }
        let Some(from) = cut::first_unsent(chunks, self.runs.messages()) else { return Next::Nothing };
        let allowed = match &mut self.bucket {
            None => usize::MAX,
            Some(bucket) => match bucket.allowed(now) {
                0 => {
                    self.waits = Waits::Rate;
                    return Next::At(now + bucket.wait());
                }
                allowed => allowed,
            },
        };
        let due = self.due(chunks, from).filter(|due| *due > now && !self.is_all(chunks));
        if let Some(due) = due.filter(|_| !self.limits.keyed && !cut::fills(chunks, from, &self.limits)) {
            return self.later(due, chunks, now);
        }
        let cut = cut::fresh(chunks, from, &self.limits, allowed);
        match due {
            Some(due) if !cut.is_full => self.later(due, chunks, now),
            _ => Next::Batch(cut, Source::Fresh),
        }
    }

    /// Whether a batch would go if there were room on the way.
    fn has_another(&self, chunks: &VecDeque<Chunk>, now: Instant) -> bool {
        let from = cut::first_unsent(chunks, self.runs.messages());
        from.is_some_and(|from| {
            self.due(chunks, from).is_none_or(|due| due <= now) || cut::fills(chunks, from, &self.limits)
        })
    }

    /// Whether nothing comes that would make a batch full before some of what waits here is finished. The
    /// answer to one that is on the way lets more come.
    fn is_all(&self, chunks: &VecDeque<Chunk>) -> bool {
        self.runs.away() == 0
            && match self.supply {
                Supply::Sources => chunks.iter().any(Chunk::keeps_waiting),
                Supply::Disk => false,
                Supply::Ended => true,
            }
    }

    /// A batch waits to become full. Its source may come to wait for it meanwhile.
    fn later(&mut self, due: Instant, chunks: &VecDeque<Chunk>, now: Instant) -> Next<'static> {
        let holds_source = chunks.iter().any(|chunk| !chunk.tickets.is_empty());
        self.look = holds_source.then(|| now + LOOK);
        self.waits = Waits::Rest;
        Next::At(due)
    }

    /// Until when a batch that is not full waits.
    fn due(&self, chunks: &VecDeque<Chunk>, from: usize) -> Option<Instant> {
        let came = |chunk: Option<&Chunk>| chunk.and_then(Chunk::came);
        let full = self.limits.timeout.and_then(|timeout| Some(came(chunks.get(from))? + timeout));
        let quiet = self.limits.idle.and_then(|idle| Some(came(chunks.back())? + idle));
        full.into_iter().chain(quiet).min()
    }

    /// A batch that [`Account::next`] has named goes. Returns its number.
    pub fn sent(&mut self, messages: usize, source: Source, now: Instant) -> u32 {
        match source {
            Source::Again => self.runs.send_again(now),
            Source::Fresh => {
                if let Some(bucket) = &mut self.bucket {
                    bucket.spend(messages);
                }
                // A further batch is looked into before it is let go of.
                self.refusals = self.refusals.min(REFUSALS_QUICK);
                self.runs.send(messages, now)
            }
        }
    }

    /// Ends a `write`. `at`: when something may go that is only waited for; `due`: when the client wants to
    /// be called.
    pub fn status(
        &mut self,
        chunks: &VecDeque<Chunk>,
        at: Option<Instant>,
        due: Option<Instant>,
        now: Instant,
    ) -> Status {
        self.working = false;
        self.well_until = None;
        let look = self.look.take();
        // With something settled left over, another part of the queue has to be offered.
        if chunks.is_empty() || self.runs.front().is_some() {
            return Status::Done;
        }
        let pause = self.pace.pause(now);
        if at.is_none() {
            let is_all = pause.is_none() && self.is_under_way() && !self.has_another(chunks, now);
            self.waits = if is_all { Waits::Rest } else { Waits::Peer };
        }
        let answer = self.runs.oldest().map(|began| began + self.limits.late());
        self.well_until = [answer, at, self.pace.well_until()].into_iter().flatten().max();
        match pause {
            Some((wait, Kind::Outage)) if self.runs.away() == 0 => Status::Retry(wait),
            Some((wait, _)) => self.wait(due.map_or(now + wait, |due| due.min(now + wait)), now),
            None => {
                [at, look, due].into_iter().flatten().min().map_or(Status::Blocked, |at| self.wait(at, now))
            }
        }
    }

    /// The outlet is called once for a time.
    fn wait(&mut self, at: Instant, now: Instant) -> Status {
        if self.timer.is_some_and(|timer| timer <= at) {
            return Status::Blocked;
        }
        self.timer = Some(at);
        Status::Wait(at.saturating_duration_since(now))
    }

    /// Whether a batch is on the way.
    pub fn is_under_way(&self) -> bool {
        self.runs.away() > 0
    }

    pub fn is_well(&self, now: Instant) -> bool {
        self.well_until.is_some_and(|until| now <= until)
    }

    pub fn waits_for(&self) -> Waits {
        self.waits
    }

    /// What could not be reached is tried again at once.
    pub fn restart(&mut self) {
        self.pace.restart();
    }
}
