//! One sequence of a seed: queues that are filled and emptied, a committing step now and then, crashes, and
//! what must hold after each.

use super::disk::{Faults, Handle, Random};
use super::message::{MESSAGE_MIN, messages, text};
use crate::commit::{Committer, Step};
use crate::{Full, Log, OnSafe, Options, Queue, Safe};
use parking_lot::Mutex;
use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;

const QUEUES: usize = 3;
const SEGMENT_BYTES: u64 = 32 << 10;

/// What the store has said to be safe, by message.
type Said = Arc<Mutex<BTreeMap<u64, Safe>>>;

struct Ticket {
    said: Said,
    messages: Vec<u64>,
    safe: Safe,
}

impl OnSafe for Ticket {
    fn safe(self: Box<Self>) {
        let mut said = self.said.lock();
        for message in &self.messages {
            let level = said.entry(*message).or_insert(self.safe);
            *level = (*level).max(self.safe);
        }
    }

    fn never_safe(self: Box<Self>) {}
}

/// What the model knows of a queue.
#[derive(Default)]
struct Line {
    /// Appended and not done, in order: a number that its bytes are made of, and the name of this copy.
    waiting: VecDeque<(u64, u64)>,
    /// Done, and it may not be on the disk yet: they may come again after a crash.
    done: Vec<(u64, u64)>,
    /// Of these so many were done when a group was last written, and synced.
    done_written: usize,
    done_synced: usize,
    /// Were never safe and went with a crash. A file that is found again under another name may bring them
    /// back.
    vanished: BTreeMap<u64, u64>,
}

pub struct Sequence {
    pub random: Random,
    disk: Handle,
    log: Arc<Log>,
    committer: Committer,
    queues: Vec<Queue>,
    lines: Vec<Line>,
    said: Said,
    /// Messages made, and copies of them in queues.
    made: u64,
    copies: u64,
    /// Messages that damage may have cost so far.
    damage: u64,
    /// A power loss has torn a hole into what was not synced.
    torn: bool,
    /// Syncs fail.
    unreliable: bool,
    /// So many reads of a queue one of them fails.
    unreadable: u64,
    pub trail: Vec<String>,
}

enum Crash {
    Close,
    Kill,
    Power,
}

impl Sequence {
    pub fn new(seed: u64) -> Sequence {
        let disk = Handle::new(seed ^ 0x5555);
        let (log, committer, queues) = open(&disk).1;
        let mut random = Random(seed);
        random.next();
        Sequence {
            random,
            disk,
            log,
            committer,
            queues,
            lines: (0..QUEUES).map(|_| Line::default()).collect(),
            said: Said::default(),
            made: 0,
            copies: 0,
            damage: 0,
            torn: false,
            unreliable: false,
            unreadable: if seed.is_multiple_of(4) { 2 + seed / 4 % 10 } else { 0 },
            trail: Vec::new(),
        }
    }

    /// Runs it; panics where the store does not do what it promises.
    pub fn run(&mut self) {
        let faults = self.faults();
        self.disk.0.lock().faults = faults;
        self.unreliable = faults.sync > 0;
        let steps = 10 + self.random.below(50);
        let damaging = self.random.once_in(3);
        for _ in 0..steps {
            match self.random.below(20) {
                0..=7 => self.append(),
                8..=12 => self.step(),
                13..=15 => self.read_and_do(),
                16 => self.space(),
                17 => {
                    let _ = crate::compact::step(&self.log.shared);
                }
                18 => self.crash(Crash::Kill, damaging),
                _ => match self.random.below(3) {
                    0 => self.crash(Crash::Close, damaging),
                    _ => self.crash(Crash::Power, damaging),
                },
            }
        }
        self.disk.0.lock().faults = Faults::default();
        self.disk.0.lock().space = u64::MAX;
        let step = self.step_once();
        assert!(step != Step::Refused, "refused by a sound disk");
        self.crash(Crash::Power, false);
        self.crash(Crash::Kill, false);
    }

    fn faults(&mut self) -> Faults {
        let mut one = |likely: u64| if self.random.once_in(4) { 2 + self.random.below(likely) } else { 0 };
        let (sync, write, short) = (one(12), one(30), one(8));
        Faults { sync, write, short, folder: one(10), create: one(10), read: one(10), unreadable: 0 }
    }

    fn append(&mut self) {
        let count = 1 + self.random.below(if self.random.0.is_multiple_of(5) { 60 } else { 6 });
        let first = self.made;
        self.made += count;
        let messages: Vec<u64> = (first..self.made).collect();
        // Often the same to several queues, as destinations with the same output do.
        let together = if self.random.once_in(2) { QUEUES } else { 1 };
        let start = self.random.below(QUEUES as u64) as usize;
        for index in (0..together).map(|i| (start + i) % QUEUES) {
            let mut bytes = Vec::new();
            let ends: Vec<u32> = messages
                .iter()
                .map(|message| {
                    bytes.extend_from_slice(&text(*message));
                    bytes.len() as u32
                })
                .collect();
            let safe = if self.random.once_in(2) { Safe::Synced } else { Safe::Written };
            let copies: Vec<u64> = (self.copies..).take(messages.len()).collect();
            let ticket = Ticket { said: self.said.clone(), messages: copies.clone(), safe };
            match self.queues[index].append(&bytes, &ends, safe, Box::new(ticket)) {
                Ok(seqs) => {
                    assert!(seqs.end >= seqs.start + count && seqs.end == self.queues[index].end());
                    self.copies += count;
                    self.lines[index].waiting.extend(messages.iter().copied().zip(copies));
                    self.trail.push(format!("append {messages:?} to {index} {safe:?} at {seqs:?}"));
                }
                Err((why, _)) => {
                    assert!(matches!(why, Full::Disk | Full::Capacity), "{why:?}");
                }
            }
        }
    }

    fn step(&mut self) {
        self.step_once();
    }

    fn step_once(&mut self) -> Step {
        let step = self.committer.step();
        self.trail.push(format!("{step:?}"));
        let synced = self.committer.writer.synced_seq == self.committer.writer.written_seq;
        for line in self.lines.iter_mut().filter(|_| step != Step::Refused) {
            line.done_written = line.done.len();
            if synced {
                line.done_synced = line.done_written;
            }
        }
        step
    }

    /// Reads a part of a queue and is done with a part of that.
    fn read_and_do(&mut self) {
        let index = self.random.below(QUEUES as u64) as usize;
        let queue = &self.queues[index];
        let bytes_max = 1 + self.random.below(3000) as usize;
        self.disk.0.lock().faults.unreadable = self.unreadable;
        let read = queue.read(queue.first_waiting(), bytes_max);
        self.disk.0.lock().faults.unreadable = 0;
        let Ok(read) = read else {
            assert!(self.unreadable > 0);
            self.trail.push(format!("cannot read {index}"));
            return;
        };
        let line = &mut self.lines[index];
        let got = messages(&read.bytes, &read.ends);
        self.trail.push(format!("read {index} {:?} lost {}: {got:?}", read.seqs, read.lost));
        assert!(read.lost == 0 || self.damage > 0 || self.torn);
        if read.seqs.is_empty() {
            return;
        }
        for message in &got {
            while let Some(copy) = line.waiting.pop_front() {
                line.done.push(copy);
                if copy.0 == *message {
                    break;
                }
                assert!(self.damage > 0 || self.torn, "{message} came before {copy:?}");
            }
        }
        queue.done(read.seqs.end, got.len() as u64 + read.lost, read.bytes.len() as u64);
        if read.seqs.end >= queue.end() {
            assert!(line.waiting.is_empty() || self.damage > 0);
            let rest = line.waiting.drain(..);
            line.done.extend(rest);
        }
    }

    fn space(&mut self) {
        let used = self.disk.0.lock().space;
        self.disk.0.lock().space = match used {
            u64::MAX => self.random.below(12) * SEGMENT_BYTES,
            _ => u64::MAX,
        };
    }

    fn crash(&mut self, crash: Crash, damaging: bool) {
        let faults = std::mem::take(&mut self.disk.0.lock().faults);
        let mut guaranteed = Safe::Written;
        let mut sure = false;
        match crash {
            Crash::Close => {
                self.trail.push("close".to_owned());
                let mut state = self.log.shared.lock();
                state.closed = true;
                state.flush = true;
                drop(state);
                self.disk.0.lock().space = u64::MAX;
                while self.step_once() == Step::Wrote {}
                self.committer.end();
                sure = true;
            }
            Crash::Kill => {
                self.trail.push("kill".to_owned());
                sure = true;
            }
            Crash::Power => {
                self.trail.push("power".to_owned());
                guaranteed = Safe::Synced;
                self.torn = true;
                self.disk.0.lock().power_loss();
            }
        }
        if damaging && self.random.once_in(3) {
            let bytes = self.disk.0.lock().damage();
            self.damage += (bytes / (24 + MESSAGE_MIN)) as u64 + 2;
            self.trail.push(format!("damage {bytes} bytes"));
        }
        let (report, opened) = open(&self.disk);
        // What was held by the old process goes with it, and says nothing.
        let said = std::mem::take(&mut self.said);
        let said: BTreeMap<u64, Safe> = std::mem::take(&mut *said.lock());
        (self.log, self.committer, self.queues) = opened;
        if self.damage == 0 && !self.torn {
            assert!(report.damaged.is_empty() && report.frames_lost == 0, "{report:?}");
        }
        let mut kept = BTreeMap::new();
        for index in 0..QUEUES {
            self.check(index, &said, guaranteed, sure);
            for (_, copy) in &self.lines[index].waiting {
                if let Some(safe) = said.get(copy) {
                    kept.insert(*copy, *safe);
                }
            }
        }
        *self.said.lock() = kept;
        self.disk.0.lock().faults = faults;
    }

    /// Everything that waits in the queue: in order, each once, nothing missing that was safe, no stranger.
    fn check(&mut self, index: usize, said: &BTreeMap<u64, Safe>, guaranteed: Safe, sure: bool) {
        let queue = &self.queues[index];
        let waiting = queue.waiting();
        let (mut at, mut got, mut lost, mut bytes) = (queue.first_waiting(), Vec::new(), 0, 0);
        while at < queue.end() {
            let read = queue.read(at, 2000).unwrap();
            assert!(
                read.seqs.start == at && read.seqs.end > at,
                "{:?} at {at} of {}",
                read.seqs,
                queue.end()
            );
            got.extend(messages(&read.bytes, &read.ends));
            bytes += read.bytes.len() as u64;
            lost += read.lost;
            at = read.seqs.end;
        }
        self.trail.push(format!("check {index}: {got:?} lost {lost}, {waiting:?}"));
        if std::env::var_os("STORE_TRACE").is_some() {
            let state = self.log.shared.lock();
            for (first, s) in &state.segments {
                let marks: Vec<_> = s.marks.iter().map(|(id, m)| (id, m.here.messages, m.end)).collect();
                self.trail.push(format!("  {first}..{} {:?} {:?}", s.next, marks, s.damage));
            }
            for hole in &state.holes {
                self.trail.push(format!("  hole {} {:?}", hole.end, hole.lost));
            }
        }
        let line = &mut self.lines[index];
        let written = match () {
            () if self.damage > 0 => 0,
            () if sure => line.done_written,
            // What a failed sync has left in the page cache only may have been taken for safe by the next
            // start.
            () if self.unreliable => 0,
            () => line.done_synced,
        };
        let all: Vec<(u64, u64)> = line.done[written..].iter().chain(&line.waiting).copied().collect();
        let done = line.done.len() - written;
        let mut left = all.iter().enumerate();
        let mut missing = 0;
        let mut kept = Vec::new();
        let mut first = true;
        for message in &got {
            if let Some(copy) = line.vanished.remove(message) {
                kept.push((done, (*message, copy)));
                continue;
            }
            loop {
                let Some((place, copy)) = left.next() else {
                    panic!("queue {index}: {message} is one too many")
                };
                if copy.0 == *message {
                    kept.push((place, *copy));
                    first = false;
                    break;
                }
                // Between those that come again there is no hole, and of those that were safe none is left
                // out.
                let safe = said.get(&copy.1).is_some_and(|safe| *safe >= guaranteed);
                missing += u64::from((place >= done || !first) && safe);
            }
        }
        missing += left
            .filter(|(place, copy)| {
                *place >= done && said.get(&copy.1).is_some_and(|safe| *safe >= guaranteed)
            })
            .count() as u64;
        assert!(missing <= self.damage, "queue {index} misses {missing} of {all:?}");
        if self.damage == 0 {
            // What a failed sync has made of a file may not be known.
            assert!(waiting.messages == got.len() as u64 + lost || self.unreliable, "{waiting:?}");
            assert!(lost == 0 || self.torn, "{lost} are said to be lost");
            // The bytes of lost ones are known to wait until the queue is empty.
            assert!(waiting.bytes == bytes || self.torn, "{waiting:?}, {bytes} bytes read");
        }
        for (message, copy) in &line.waiting {
            if !kept.iter().any(|(_, k)| k.1 == *copy) {
                line.vanished.insert(*message, *copy);
            }
        }
        // What came again is done only when it is done again.
        line.waiting = kept.iter().map(|(_, copy)| *copy).collect();
        let again = kept.first().map_or(done, |(place, _)| *place).min(done);
        line.done.truncate(written + again);
        line.done_written = line.done_written.min(line.done.len());
        line.done_synced = line.done_synced.min(line.done.len());
    }
}

type Running = (Arc<Log>, Committer, Vec<Queue>);

fn open(disk: &Handle) -> (crate::Report, Running) {
    let options = Options {
        dir: PathBuf::new(),
        segment_bytes: SEGMENT_BYTES,
        free_segments: 2,
        read_patience: std::time::Duration::from_secs(60),
        files: Some(Box::new(disk.clone())),
    };
    let (log, mut committer, report) = Log::prepare(options).unwrap();
    committer.pause = std::time::Duration::ZERO;
    let queue = |i| log.queue(format!("queue-{i}").as_bytes(), 40_000, Box::new(|| ())).unwrap();
    let queues = (0..QUEUES).map(queue).collect();
    (report, (log, committer, queues))
}
