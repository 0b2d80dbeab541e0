//! The way of a reader's batches into the log paths: run on the spot, or given to an idle core in the
//! connection's lane.

use crate::capture;
use crate::lane::Lane;
use crate::source::Source;
use crate::window::{Mark, Wake, Window};
use crate::worker::{Job, PortContext};
use filter::MadeOf;
use record::Batch;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::time::Instant;

/// Bytes of one connection that may be under way: enough to keep all cores busy, little enough to bound what
/// a slow destination holds.
const WINDOW_BYTES: usize = 2 * 1024 * 1024;
/// A batch goes to another core when its path costs at least this many sixteenths of its reading: below,
/// moving it costs more than it gains.
const SHARE_COST_MIN: u64 = 40;

/// How a batch was read.
pub struct Read {
    /// Received bytes in it.
    pub bytes: usize,
    /// The reader sees more coming.
    pub busy: bool,
    /// When reading it began.
    pub began: Instant,
    pub mark: Option<Mark>,
}

pub struct Feed {
    pub source: Arc<Source>,
    window: Arc<Window>,
    waker: Arc<dyn Wake>,
    lane: Arc<Lane>,
    /// Cost of the log paths against that of reading, smoothed, in sixteenths.
    path_cost: u64,
    /// The same for the last batch alone.
    last_cost: u64,
    /// It was said that there is no credit to read.
    suspended: Cell<bool>,
}

impl Feed {
    /// `window_messages` is `log-iw-size()` where it was given, of a source that has only this one; the
    /// others have it in their settings.
    pub fn new(
        source: Arc<Source>,
        window_messages: Option<usize>,
        cx: &PortContext,
        token: mio::Token,
    ) -> Feed {
        let window = Window::of(&source.pool, WINDOW_BYTES, window_messages, Arc::clone(&cx.shared.budget));
        Feed {
            source,
            window,
            waker: cx.handle.waker(token),
            lane: Arc::default(),
            path_cost: 0,
            last_cost: 0,
            suspended: Cell::new(false),
        }
    }

    /// For a source whose peers do not wait.
    pub fn impatient(self) -> Feed {
        self.window.ignore_load();
        self
    }

    /// Whether there is credit to read; when not, the port gets a turn once there is.
    pub fn may_read(&self) -> bool {
        let may = self.window.may_read(&self.waker);
        if may == self.suspended.get() {
            self.suspended.set(!may);
            match may {
                true => self.source.counters.held.sub(1),
                false => self.source.counters.held.add(1),
            }
            self.say_window(may);
        }
        may
    }

    /// Says at `debug` that the source stops to read, or goes on.
    #[cold]
    fn say_window(&self, resumed: bool) {
        // What is said of our own messages would be one of them.
        if self.source.driver == "internal" {
            return;
        }
        let text = if resumed { "Source has been resumed" } else { "Source has been suspended" };
        let settings = self.source.settings();
        let location = settings.at.as_ref().map_or("", |at| at.statement.location.as_str());
        let fields: [oplog::Field<'_>; 5] = [
            ("source", &self.source.id),
            ("driver", &self.source.driver),
            ("instance", &self.source.instance),
            ("location", &location),
            ("bytes_under_way", &self.window.used()),
        ];
        oplog::debug(text, &fields);
    }

    /// How many messages the next batch may have; see [`Window::ahead`]. To be followed by
    /// [`Feed::end_ahead`].
    pub fn ahead(&self) -> usize {
        self.window.ahead()
    }

    /// What the batch did not bring is for others.
    pub fn end_ahead(&self) {
        self.window.end_ahead();
    }

    /// Whether the log paths cost so much that batches are worth giving to other cores.
    pub fn is_costly(&self) -> bool {
        self.path_cost >= SHARE_COST_MIN
    }

    /// For [`crate::worker::Port::approach`].
    pub fn approach(&self) -> u64 {
        self.window.used() as u64 + self.lane.outstanding()
    }

    /// Tells `waiter` when what was read so far is in the outlets' queues, whichever workers have it: at once
    /// when it is.
    pub fn when_handed_over(&self, waiter: Arc<dyn Wake>, cx: &mut PortContext) {
        cx.outbox.flush();
        self.lane.when_through(waiter);
    }

    /// A batch of a lane. It goes to whoever helps; when nobody does, the lane is to end: what this worker
    /// has given away comes home.
    fn share(&self, job: Job, share_max: Option<usize>, cx: &mut PortContext) {
        let owner = job.owner;
        if !cx.shared.has_helpers() {
            // In the lane's order: whoever runs a batch may have to wait for those before it, so none of them
            // may lie where nobody takes it.
            while let Some(earlier) = cx.shared.take_own(owner) {
                earlier.run(cx);
            }
            return job.run(cx);
        }
        self.window.widen(cx.shared.lane_bytes_max());
        let bounded = share_max.is_some_and(|max| self.lane.outstanding() as usize > max);
        let helps = bounded || cx.shared.is_full();
        cx.shared.give(job);
        if helps && let Some(earliest) = cx.shared.take_own(owner) {
            earliest.run(cx);
        }
    }

    /// Takes a framed batch of `bytes` received bytes. `busy` says that the reader sees more coming; `began`
    /// is when reading it began.
    pub fn run(&mut self, batch: Batch, bytes: usize, busy: bool, began: Instant, cx: &mut PortContext) {
        self.run_marked(batch, Read { bytes, busy, began, mark: None }, cx);
    }

    /// The same for messages that parsers have made of others: of these, where somebody has asked.
    pub fn run_made(&mut self, batch: Batch, bytes: usize, made_of: Vec<MadeOf>, cx: &mut PortContext) {
        cx.scratch.filter.work.posted = made_of;
        self.run(batch, bytes, false, Instant::now(), cx);
        cx.scratch.filter.work.posted.clear();
    }

    /// [`Feed::run`] for a source that wants to know when the batch is dealt with: at once where it is empty.
    pub fn run_marked(&mut self, mut batch: Batch, read: Read, cx: &mut PortContext) {
        let Read { bytes, busy, began, mark } = read;
        if batch.records.is_empty() {
            mark.into_iter().for_each(Mark::done);
            cx.recycle(batch);
            return;
        }
        batch.received = cx.now();
        self.source.received(&batch, bytes);
        capture::note(&self.source, &batch);
        let ticket = self.window.marked(bytes, batch.records.len(), mark);
        let in_order = self.lane.outstanding() == 0;
        let share_max = self.source.settings().program.share_max;
        let shareable = share_max != Some(0);
        let wanted = busy && shareable && self.is_costly() && cx.is_pressed();
        let share = in_order && wanted && cx.shared.finds_help();
        if share || !in_order {
            if in_order {
                // What this connection left in the worker's buffers comes before what the lane will hand
                // over.
                cx.outbox.flush();
            }
            let (source, lane) = (Arc::clone(&self.source), Arc::clone(&self.lane));
            let job =
                Job { batch, source, number: self.lane.number(), lane, ticket, owner: cx.handle.index() };
            return self.share(job, share_max, cx);
        }
        self.window.narrow();
        cx.took += batch.records.len();
        let framed = Instant::now();
        let run = || self.source.process(&mut batch, &mut cx.machine, &mut cx.scratch, &mut cx.outbox);
        let in_work = match catch_unwind(AssertUnwindSafe(run)) {
            Ok(in_work) => in_work,
            Err(panic) => {
                // Its messages count as dropped: the same ones would do it again.
                self.source.contained(&batch);
                ticket.settle();
                resume_unwind(panic);
            }
        };
        let path = framed.elapsed().as_nanos() as u64;
        let reading = (framed - began).as_nanos() as u64;
        // A batch that was interrupted says nothing: the lesser of two neighbours counts, and at most twice
        // the threshold.
        let sample = (path * 16 / reading.max(1)).min(2 * SHARE_COST_MIN);
        let lesser = sample.min(std::mem::replace(&mut self.last_cost, sample));
        self.path_cost = (self.path_cost * 7 + lesser) / 8;
        cx.outbox.end_batch(&ticket);
        ticket.settle();
        drop(in_work);
        cx.recycle(batch);
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        if self.suspended.get() {
            self.source.counters.held.sub(1);
        }
    }
}
