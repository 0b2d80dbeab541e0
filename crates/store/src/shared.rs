//! What appending, reading and committing share, behind one lock that is taken once a chunk.

use crate::READ_PATIENCE;
use crate::ahead::Ahead;
use crate::control;
use crate::damage::{Damage, Hole};
use crate::files::{Files, SegmentFile};
use crate::group::Group;
use crate::load::Load;
use crate::origin::Known;
use crate::progress::Progress;
use crate::queue::Full;
use crate::report::{QueueInfo, Stats, Waiting};
use crate::snapshot::{Row, Table};
use crate::walk;
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Bytes that may wait to be written; beyond, the disk is too slow and appending is refused.
pub const PENDING_BYTES_MAX: usize = 32 << 20;
/// A queue for which more waits reads what it gets: its destination has less in memory.
const BEHIND_BYTES: u64 = if cfg!(test) { 32 << 10 } else { 64 << 20 };

pub type OnRoom = Arc<dyn Fn() + Send + Sync>;

pub struct Shared {
    pub files: Arc<dyn Files>,
    pub key: u64,
    pub segment_bytes: u64,
    pub free_segments: usize,
    /// Of the folder, for messages.
    pub path: String,
    pub read_patience: Duration,
    pub ahead: Arc<walk::Ahead>,
    state: Mutex<State>,
    /// There is something to commit.
    pub work: Condvar,
    /// Something was committed, or refused by the disk.
    pub progress: Condvar,
    /// Somebody else may keep the group open.
    pub parted: Condvar,
    pub load: Arc<Load>,
    /// A queue has what its sender does not know of.
    pub may_repeat: AtomicBool,
    /// Where it is noted how far queues are, with each chunk that is done.
    pub noted: Progress,
}

#[derive(Default)]
pub struct State {
    pub next_seq: u64,
    /// Everything before it can be read.
    pub written: u64,
    pub pending: Group,
    /// An empty one whose memory is used again.
    pub spare: Option<Group>,
    pub queues: BTreeMap<u32, QueueState>,
    /// What ids were used for: totals go on when an id is used again.
    pub retired: BTreeMap<u32, Waiting>,
    /// By the number of their first frame.
    pub segments: BTreeMap<u64, Segment>,
    pub holes: Vec<Hole>,
    /// The log says where some of its messages came from.
    pub has_origins: bool,
    /// A cursor or a total is not in the log yet.
    pub moved: bool,
    /// The disk is to be told at once how far some queue is.
    pub urgent: bool,
    /// The disk takes nothing now.
    pub trouble: bool,
    /// That queues are further than it knows has been said.
    pub ahead_said: bool,
    /// A thread rewrites old segments.
    pub compacting: bool,
    pub closed: bool,
    /// Everything before it is on the disk.
    pub synced: u64,
    /// Somebody waits for everything to be written and synced.
    pub flush: bool,
    /// Somebody keeps the group open, see [`crate::Together`].
    pub together: bool,
    /// The group is to be written: nobody else is to keep it open.
    pub due: bool,
    pub stats: Stats,
    /// Whether times are written into the log, and the last one that was, in seconds since 1970.
    pub tells_time: bool,
    pub told: u64,
}

pub struct QueueState {
    pub row: Row,
    pub capacity: u64,
    pub on_room: Option<OnRoom>,
    /// What did not fit.
    pub refused: Option<u64>,
    pub moved: bool,
    /// Where the cursor is on the disk, and what was done by then.
    pub safe: (u64, Waiting),
    /// What it had at the start of those who may send it again.
    pub known: Known,
    /// Who deals with its messages, and waits for the disk.
    pub ahead: Ahead,
}

/// A file of the log.
pub struct Segment {
    pub file: Arc<dyn SegmentFile>,
    pub name: String,
    /// Behind its last number; of the newest, behind the last that is written.
    pub next: u64,
    pub data_start: u64,
    pub data_end: u64,
    pub length: u64,
    /// Nothing is added any more, and everything is on the disk.
    pub sealed: bool,
    /// Changes when places in the file do.
    pub content: u64,
    /// Being rewritten: not to be released.
    pub busy: bool,
    /// Cannot be rewritten.
    pub fixed: bool,
    pub sparse: bool,
    /// Queues with messages in it.
    pub marks: BTreeMap<u32, Mark>,
    pub damage: Option<Arc<Damage>>,
}

/// A queue's part of a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// Put in before the end of the segment.
    pub appended: Waiting,
    pub here: Waiting,
    /// The number after the last one.
    pub end: u64,
}

impl QueueState {
    pub fn new(row: Row) -> QueueState {
        let safe = (row.cursor, row.done);
        QueueState {
            row,
            capacity: 0,
            on_room: None,
            refused: None,
            moved: false,
            safe,
            known: Known::default(),
            ahead: Ahead::default(),
        }
    }

    pub fn waiting(&self) -> Waiting {
        self.row.waiting()
    }

    /// Whether its destination reads what it gets from the disk.
    fn is_behind(&self) -> bool {
        self.waiting().bytes > BEHIND_BYTES
    }

    /// Whom to tell that there is room, if somebody was refused who would not be now.
    pub fn room(&mut self) -> Option<OnRoom> {
        let refused = self.refused?;
        if self.fits(refused) {
            self.refused = None;
            return self.on_room.clone();
        }
        None
    }

    /// Even a chunk larger than the capacity fits when nothing waits: otherwise it would wait for ever.
    pub fn fits(&self, bytes: u64) -> bool {
        let waiting = self.waiting();
        waiting.bytes.saturating_add(bytes) <= self.capacity || waiting.bytes == 0
    }

    pub fn done(&mut self, next: u64, messages: u64, bytes: u64) {
        let row = &mut self.row;
        row.cursor = row.cursor.max(next.min(row.end));
        row.done.messages = row.appended.messages.min(row.done.messages.saturating_add(messages));
        row.done.bytes = row.appended.bytes.min(row.done.bytes.saturating_add(bytes));
        if row.cursor >= row.end {
            row.done = row.appended;
        }
        self.moved = true;
    }
}

/// A number nothing else has had in this process.
pub fn next_content() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

impl Segment {
    /// One that is as it was found, with nothing of any queue in it.
    pub fn closed(
        file: Arc<dyn SegmentFile>,
        name: String,
        next: u64,
        data: std::ops::Range<u64>,
        length: u64,
    ) -> Segment {
        Segment {
            file,
            name,
            next,
            data_start: data.start,
            data_end: data.end,
            length,
            sealed: true,
            content: next_content(),
            busy: false,
            fixed: false,
            sparse: false,
            marks: BTreeMap::new(),
            damage: None,
        }
    }

    /// Whether a queue still needs it, `first` being its first number.
    pub fn needed(&self, first: u64, queues: &BTreeMap<u32, QueueState>) -> bool {
        self.marks
            .iter()
            .any(|(id, mark)| mark.end > first && queues.get(id).is_some_and(|q| q.row.cursor < mark.end))
    }
}

impl State {
    /// Queues that are further than the log says: it is to be told.
    pub fn went_on_from(&mut self, log: &Table) {
        for (id, queue) in &mut self.queues {
            if let Some(row) = log.get(id).filter(|row| row.cursor < queue.row.cursor) {
                queue.safe = (row.cursor, row.done);
                queue.moved = true;
                self.moved = true;
            }
        }
    }

    /// Whether a group is to be written at once.
    pub fn is_asked(&self) -> bool {
        !self.pending.is_empty() || self.flush
    }

    /// Numbers a control frame and adds it.
    pub fn note(&mut self, key: u64, payload: &[u8]) {
        self.pending.push_control(key, self.next_seq, payload);
        self.next_seq += 1;
    }

    /// Says what time it is, once a second, before messages are put in.
    pub fn tell_time(&mut self, key: u64) {
        if !self.tells_time {
            return;
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        if now != self.told {
            self.told = now;
            self.note(key, &control::at_time(now));
        }
    }

    /// Why a chunk of so many bytes cannot be taken for a queue now.
    pub fn refusal(&mut self, id: u32, bytes: u64) -> Option<Full> {
        let busy = self.pending.buffer.len() >= PENDING_BYTES_MAX;
        let Some(queue) = self.queues.get_mut(&id).filter(|_| !self.closed) else {
            return Some(Full::Closed);
        };
        let why = match () {
            () if self.trouble => Full::Disk,
            () if busy => Full::Busy,
            () if !queue.fits(bytes) => Full::Capacity,
            () => return None,
        };
        queue.refused = Some(bytes);
        Some(why)
    }

    /// Whether what is written now will be read back.
    pub fn is_behind(&self) -> bool {
        self.queues.values().any(QueueState::is_behind)
    }

    /// Whether somebody keeps up with what was put in from number `since` on.
    pub fn keeps_up(&self, since: u64) -> bool {
        self.queues.values().any(|queue| queue.row.end > since && !queue.is_behind())
    }

    /// Everybody who was refused and would be taken now.
    pub fn room(&mut self) -> Vec<OnRoom> {
        if self.trouble || self.pending.buffer.len() >= PENDING_BYTES_MAX / 2 {
            return Vec::new();
        }
        self.queues.values_mut().filter_map(QueueState::room).collect()
    }

    /// The queues as of now.
    pub fn table(&self) -> Table {
        self.queues.iter().map(|(id, queue)| (*id, queue.row.clone())).collect()
    }

    pub fn infos(&self) -> Vec<QueueInfo> {
        let info = |(id, queue): (&u32, &QueueState)| QueueInfo {
            id: *id,
            name: queue.row.name.clone(),
            waiting: queue.waiting(),
            capacity: queue.capacity,
            opened: queue.on_room.is_some(),
            first_waiting: queue.row.cursor,
            end: queue.row.end,
            appended: queue.row.appended,
            done: queue.row.done,
        };
        self.queues.iter().map(info).collect()
    }
}

impl Shared {
    pub fn new(
        files: Arc<dyn Files>,
        key: u64,
        path: String,
        limits: (u64, usize),
        state: State,
        noted: Progress,
    ) -> Shared {
        let may_repeat = state.queues.values().any(|queue| !queue.known.is_empty());
        Shared {
            files,
            key,
            segment_bytes: limits.0,
            free_segments: limits.1,
            path,
            read_patience: READ_PATIENCE,
            ahead: Arc::default(),
            state: Mutex::new(state),
            work: Condvar::new(),
            progress: Condvar::new(),
            parted: Condvar::new(),
            load: Arc::default(),
            may_repeat: AtomicBool::new(may_repeat),
            noted,
        }
    }

    pub fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    pub fn queue_name(&self, id: u32) -> String {
        let state = self.lock();
        state.queues.get(&id).map_or_else(String::new, |q| String::from_utf8_lossy(&q.row.name).into_owned())
    }
}
