//! What a full queue drops, said to people: a line when it begins, the sum of each minute, a line when it has
//! ended.

use super::Outlet;
use crate::ledger::Reason;
use std::time::{Duration, Instant};

/// Between two lines while it goes on.
const SUM_EVERY: Duration = Duration::from_secs(60);
/// As long nothing was dropped, and it has ended.
const QUIET: Duration = Duration::from_secs(10);

/// One time of dropping.
#[derive(Debug)]
pub(super) struct Shedding {
    began: Instant,
    last: Instant,
    /// Messages since it began, and those of them that no line has named.
    total: usize,
    unsaid: usize,
    said: Instant,
}

/// What is to be said of a time of dropping.
#[derive(Debug, PartialEq, Eq)]
enum Word {
    Nothing,
    Sum(usize),
    Ended,
}

impl Shedding {
    fn new(now: Instant) -> Shedding {
        Shedding { began: now, last: now, total: 0, unsaid: 0, said: now }
    }

    fn add(&mut self, messages: usize, now: Instant) {
        self.last = now;
        self.total += messages;
        self.unsaid += messages;
    }

    fn word(&mut self, now: Instant) -> Word {
        if now.saturating_duration_since(self.last) >= QUIET {
            return Word::Ended;
        }
        if now.saturating_duration_since(self.said) < SUM_EVERY || self.unsaid == 0 {
            return Word::Nothing;
        }
        self.said = now;
        Word::Sum(std::mem::take(&mut self.unsaid))
    }
}

impl Outlet {
    /// Messages that waited are given up.
    pub(super) fn shed(&self, messages: usize) {
        if messages == 0 {
            return;
        }
        self.counters.waiting.sub(messages);
        self.counters.dropped.add(Reason::QueueFull, messages);
        let now = Instant::now();
        let mut shedding = self.shedding.lock();
        let begins = shedding.is_none();
        let time = shedding.get_or_insert_with(|| Shedding::new(now));
        time.add(messages, now);
        if begins {
            time.unsaid = 0;
            drop(shedding);
            let fields: [oplog::Field<'_>; 2] = [("location", &self.name), ("dropped", &messages)];
            oplog::error("Destination queue full, dropping messages", &fields);
        }
    }

    /// Once a second.
    pub(super) fn tell_of_shedding(&self, now: Instant) {
        let mut shedding = self.shedding.lock();
        let Some(time) = &mut *shedding else { return };
        let (word, total, began) = (time.word(now), time.total, time.began);
        if word == Word::Ended {
            *shedding = None;
        }
        drop(shedding);
        let seconds = now.saturating_duration_since(began).as_secs();
        match word {
            Word::Nothing => {}
            Word::Sum(dropped) => oplog::error(
                "Destination queue full, messages were dropped",
                &[
                    ("location", &self.name),
                    ("dropped", &dropped),
                    ("dropped_in_all", &total),
                    ("seconds", &seconds),
                ],
            ),
            Word::Ended => oplog::notice(
                "Destination drops no more messages",
                &[("location", &self.name), ("dropped_in_all", &total), ("seconds", &seconds)],
            ),
        }
    }

    /// Messages dropped for want of room since that began, while it goes on.
    pub fn sheds(&self) -> Option<usize> {
        let shedding = self.shedding.lock();
        shedding.as_ref().filter(|time| time.last.elapsed() < QUIET).map(|time| time.total)
    }

    /// Bytes of messages in memory that wait here or are kept until the peer has them. What is being written
    /// this moment is not counted.
    pub fn waiting_bytes(&self) -> usize {
        let queue = self.queue.lock();
        let own: usize = queue.chunks.iter().map(crate::chunk::Chunk::waiting_bytes).sum();
        let spooled = queue.spool.as_ref().map_or(0, |spool| spool.bytes);
        drop(queue);
        own + spooled + self.sink.try_lock().map_or(0, |sink| sink.kept_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn begins_sums_and_ends() {
        let begin = Instant::now();
        let after = |seconds: u64| begin + Duration::from_secs(seconds);
        let mut time = Shedding::new(begin);
        time.add(5, begin);
        time.unsaid = 0;
        assert_eq!(time.word(after(1)), Word::Nothing);
        for second in 1..=60 {
            time.add(2, after(second));
        }
        assert_eq!(time.word(after(60)), Word::Sum(120));
        assert_eq!(time.word(after(61)), Word::Nothing);
        time.add(1, after(65));
        assert_eq!(time.word(after(74)), Word::Nothing);
        assert_eq!((time.word(after(75)), time.total), (Word::Ended, 126));
    }
}
