//! The committing thread: takes everything that has come together, writes it at once, and lets go what is
//! safe.

mod release;

use crate::compact;
use crate::control;
use crate::frame;
use crate::group::Group;
use crate::queue::Safe;
use crate::report::{Latency, Waiting};
use crate::shared::{OnRoom, QueueState, Shared, State};
use crate::snapshot::Row;
use crate::writer::{Trouble, Writer};
use oplog::Level;
use release::unneeded;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Between groups of cursors alone.
const CURSOR_PAUSE: Duration = Duration::from_millis(5);
/// When so much was delivered since cursors were last synced they are, though nobody waits for it: it is what
/// would be sent again after a power loss.
const CURSOR_BYTES: u64 = if cfg!(test) { 8 << 10 } else { 1 << 20 };
/// Syncs for cursors alone take at most one part of so many of the disk's time.
const CURSOR_SHARE: u32 = 2;
/// A disk that refuses is asked again.
const RETRY: Duration = Duration::from_secs(1);

pub struct Committer {
    pub shared: Arc<Shared>,
    pub writer: Writer,
    current: Option<Work>,
    /// Cursors alone are written at most so often.
    pub pause: Duration,
    /// When the last group was taken.
    taken: Option<Instant>,
    /// Cursors that are written and maybe not synced.
    cursors: BTreeMap<u32, (u64, Waiting)>,
    /// What those tell is more than may be sent again: they are to be synced, though nothing else comes.
    owing: bool,
    /// Not before this moment.
    rest: Option<Instant>,
    /// What could not be written last time has been said.
    said: bool,
    /// When it was last looked whether rewriting old segments is worth it.
    looked: Option<Instant>,
}

struct Work {
    group: Group,
    bytes: usize,
    sync: bool,
    /// The sync is for cursors alone.
    owed: bool,
    /// Segments nobody needs once this group is safe.
    release: Vec<u64>,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// A group was written.
    Wrote,
    Idle,
    /// The group stays: the disk takes nothing now.
    Refused,
}

impl Committer {
    pub fn new(shared: Arc<Shared>, writer: Writer) -> Committer {
        Committer {
            shared,
            writer,
            current: None,
            pause: CURSOR_PAUSE,
            taken: None,
            cursors: BTreeMap::new(),
            owing: false,
            rest: None,
            said: false,
            looked: None,
        }
    }

    /// The thread: ends when the log is closed and everything is written, or cannot be.
    pub fn run(mut self) {
        loop {
            let step = self.step();
            if step != Step::Wrote && self.shared.lock().closed {
                self.end();
                return;
            }
            if self.looked.is_none_or(|looked| looked.elapsed() >= RETRY) {
                self.looked = Some(Instant::now());
                compact::look(&self.shared);
            }
            self.wait(step);
        }
    }

    fn wait(&mut self, step: Step) {
        let until = Instant::now() + RETRY;
        let mut state = self.shared.lock();
        loop {
            let ready = match step {
                _ if state.closed => true,
                Step::Wrote => true,
                Step::Refused => self.shared.work.wait_until(&mut state, until).timed_out(),
                // Whoever keeps the group open says when it is over.
                Step::Idle if state.together && (state.is_asked() || state.due) => {
                    state.due = true;
                    self.shared.work.wait(&mut state);
                    false
                }
                Step::Idle if state.is_asked() || state.due || state.urgent => true,
                Step::Idle if state.moved || self.owing => {
                    let next = self.taken.map_or_else(Instant::now, |taken| taken + self.pause);
                    let next = if state.moved { next } else { next.max(self.rest.unwrap_or(next)) };
                    next <= Instant::now() || self.shared.work.wait_until(&mut state, next).timed_out()
                }
                Step::Idle => {
                    self.shared.work.wait(&mut state);
                    false
                }
            };
            if ready {
                return;
            }
        }
    }

    /// Writes one group, if there is something to write.
    pub fn step(&mut self) -> Step {
        let work = match self.current.take() {
            Some(work) => Some(work),
            None => self.take(),
        };
        let Some(mut work) = work else { return Step::Idle };
        let began = Instant::now();
        match self.commit(&mut work) {
            Ok(()) => {
                if work.owed {
                    self.rest = Some(Instant::now() + began.elapsed() * (CURSOR_SHARE - 1));
                }
                self.finish(&mut work);
                Step::Wrote
            }
            Err(trouble) => {
                self.refused(&trouble);
                self.current = Some(work);
                Step::Refused
            }
        }
    }

    /// Everything that waits, with where the queues are now at its end.
    fn take(&mut self) -> Option<Work> {
        let mut locked = self.shared.lock();
        let state = &mut *locked;
        let due = self.taken.is_none_or(|taken| taken.elapsed() >= self.pause) || state.closed;
        let (owing, owed) = self.owes(state);
        self.owing = owing;
        let ahead_max = state.ahead_max();
        let urgent = state.queues.values().any(|queue| queue.is_urgent(ahead_max));
        state.urgent = false;
        let owed = owed || urgent;
        let wanted = state.is_asked() || urgent || (state.moved || owed) && due;
        if !wanted {
            state.due = false;
            self.shared.parted.notify_one();
            return None;
        }
        state.due = state.together && !state.closed;
        if state.due {
            return None;
        }
        self.shared.parted.notify_one();
        self.taken = Some(Instant::now());
        let release = unneeded(state);
        // A segment that goes may be the only one that says how far some queue is.
        let all = !release.is_empty();
        let moved: Vec<(u32, &Row)> =
            state.queues.iter().filter(|(_, q)| q.moved || all).map(|(id, q)| (*id, &q.row)).collect();
        if !moved.is_empty() || all {
            self.cursors.extend(moved.iter().map(|(id, row)| (*id, (row.cursor, row.done))));
            let payload = control::states(moved.into_iter());
            state.note(self.shared.key, &payload);
            state.queues.values_mut().for_each(|queue| queue.moved = false);
        }
        state.moved = false;
        let mut next = state.spare.take().unwrap_or_default();
        next.lie_at(self.writer.begun_page(&state.pending));
        let group = std::mem::replace(&mut state.pending, next);
        // Segments go only after the cursors that allow it are on the disk: otherwise they would be missed
        // after a power loss.
        let flush = std::mem::take(&mut state.flush);
        let sync = flush || group.synced || !release.is_empty() || owed;
        let bytes = group.bytes();
        state.stats.bytes_pending = bytes as u64;
        drop(locked);
        let owed = sync && !(flush || group.synced);
        Some(Work { group, bytes, sync, owed, release })
    }

    /// Whether cursors are to be synced for their own sake, and now.
    fn owes(&self, state: &State) -> (bool, bool) {
        let queues = state.queues.values();
        let unsafe_bytes: u64 = queues.map(QueueState::unsafe_bytes).sum();
        let owing = unsafe_bytes >= CURSOR_BYTES;
        (owing, owing && self.rest.is_none_or(|rest| rest <= Instant::now() || self.pause.is_zero()))
    }

    fn commit(&mut self, work: &mut Work) -> Result<(), Trouble> {
        self.keep_in_place()?;
        self.write(work)?;
        // Somebody may have removed it meanwhile: what is written to a file without a name is not safe.
        self.keep_in_place()
    }

    /// What was removed while it is in use is made anew.
    fn keep_in_place(&mut self) -> Result<(), Trouble> {
        if self.writer.is_in_place() {
            return Ok(());
        }
        let text = "The folder of the store, or its file, was removed while it is in use; it is made anew";
        oplog::limited("store-removed", Level::Error, text, &[("dir", &self.shared.path)]);
        self.writer.restore()
    }

    fn write(&mut self, work: &mut Work) -> Result<(), Trouble> {
        for attempt in 0..2 {
            match self.writer.write(&mut work.group, work.sync) {
                Ok(()) => return Ok(()),
                Err(Trouble::Io(error)) => {
                    // The kernel may have forgotten what it could not write: a second sync of the same file
                    // would lie.
                    self.shared.lock().stats.io_errors += 1;
                    self.writer.fail();
                    if attempt == 1 {
                        return Err(Trouble::Io(error));
                    }
                    say(&self.shared, "Cannot write to the store's file, writing to a new one", &error);
                }
                Err(Trouble::Full(error)) => {
                    if attempt == 1 || !self.release_all() {
                        return Err(Trouble::Full(error));
                    }
                }
            }
        }
        Ok(())
    }

    /// Everybody may know: it is written.
    fn finish(&mut self, work: &mut Work) {
        let mut held = std::mem::take(&mut work.group.held);
        let synced = work.sync || self.writer.synced_seq == self.writer.written_seq;
        self.writer.publish();
        self.release(&work.release);
        let mut state = self.shared.lock();
        let stats = &mut state.stats;
        stats.commits += 1;
        stats.bytes_written = self.writer.bytes_written;
        stats.syncs = self.writer.syncs;
        stats.segments_free = self.writer.free.len();
        stats.bytes_pending = 0;
        if let Some(began) = work.group.began.filter(|_| work.sync) {
            let took = began.elapsed();
            note_latency(&mut stats.synced, took);
            self.shared.load.synced(work.bytes, took);
        }
        let resumed = std::mem::take(&mut state.trouble);
        (state.stats.disk_full, state.ahead_said) = (false, false);
        let mut group = std::mem::take(&mut work.group);
        group.clear();
        state.spare.get_or_insert(group);
        if synced {
            for (id, safe) in std::mem::take(&mut self.cursors) {
                state.queues.get_mut(&id).into_iter().for_each(|queue| queue.safe = safe);
            }
        }
        self.shared.load.tell(&state);
        self.shared.load.set_stuck(false);
        let mut tell = state.room();
        tell.extend(state.moved_on(synced));
        drop(state);
        if resumed && std::mem::take(&mut self.said) {
            oplog::notice("The store is written again", &[("dir", &self.shared.path)]);
        }
        self.shared.progress.notify_all();
        debug_assert!(synced || held.iter().all(|(safe, _)| *safe == Safe::Written));
        held.drain(..).for_each(|(_, held)| held.safe());
        tell.iter().for_each(|on_room: &OnRoom| on_room());
    }

    fn refused(&mut self, trouble: &Trouble) {
        let (what, error, full) = match trouble {
            Trouble::Full(error) => ("The disk of the store is full, messages wait", error, true),
            Trouble::Io(error) => ("Cannot write the store, messages wait", error, false),
        };
        let mut state = self.shared.lock();
        state.trouble = true;
        state.stats.disk_full = full;
        self.shared.load.set_stuck(true);
        let tell = state.moved_on(true);
        drop(state);
        if !std::mem::replace(&mut self.said, true) {
            say(&self.shared, what, error);
        }
        self.shared.progress.notify_all();
        tell.iter().for_each(|on_move| on_move());
    }

    /// The last thing: everything is closed in order, or it is said what is not.
    pub fn end(&mut self) {
        let mut failed = self.current.is_some();
        if !failed {
            failed = self.writer.seal(true).is_err();
            self.writer.publish();
        }
        let left = self.current.take().map(|work| work.group);
        let mut state = self.shared.lock();
        let pending = std::mem::take(&mut state.pending);
        let mut messages = 0;
        for mut group in left.into_iter().chain([pending]) {
            messages +=
                group.entries.iter().filter(|e| e.queues != frame::CONTROL).map(|e| e.messages).sum::<u64>();
            group.held.drain(..).for_each(|(_, held)| held.never_safe());
        }
        let tell = state.moved_on(true);
        drop(state);
        if failed || messages > 0 {
            let text = "Closed the store without having written everything";
            oplog::error(text, &[("dir", &self.shared.path), ("messages", &messages)]);
        }
        self.shared.progress.notify_all();
        self.shared.parted.notify_all();
        tell.iter().for_each(|on_move| on_move());
    }
}

fn say(shared: &Shared, what: &'static str, error: &std::io::Error) {
    oplog::limited("store-write", Level::Error, what, &[("dir", &shared.path), ("error", error)]);
}

fn note_latency(latency: &mut Latency, took: Duration) {
    let bucket = (u64::BITS - (took.as_micros() as u64).leading_zeros()) as usize;
    if let Some(count) = latency.buckets.get_mut(bucket) {
        *count += 1;
    }
    latency.sum += took;
    latency.max = latency.max.max(took);
}

#[cfg(test)]
mod tests;
