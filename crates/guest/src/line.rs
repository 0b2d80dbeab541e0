//! The end of a guest that stands on a worker.

use crate::answers::{Answer, Answers};
use crate::jobs::{Job, Jobs, Order};
use crate::leaves;
use crate::runtime;
use delivery::bell::Bell;
use delivery::single::SinkContext;
use engine::{Piece, Receipt, WorkerHandle};
use flight::{Client, Outcome, Part};
use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{Sender, channel};
use tokio::task::JoinHandle;

/// A guest whose line is closed may take leave of its server for so long, unless its line says otherwise.
const LEAVE: Duration = Duration::from_secs(1);

/// The outlet that a line belongs to, and its worker: who hears what became of batches.
#[derive(Clone)]
pub struct Caller {
    pub home: WorkerHandle,
    pub outlet: u32,
}

impl Caller {
    pub fn at(place: &SinkContext) -> Caller {
        Caller { home: place.home.clone(), outlet: place.id }
    }
}

type Load<L> = Box<dyn FnMut(&Part<'_>) -> L + Send>;
type Share<L> = Box<dyn FnMut(&Part<'_>, Vec<Piece>) -> L + Send>;
type Start<L> = Box<dyn Fn(&str, Jobs<L>) -> io::Result<JoinHandle<()>> + Send>;

/// A client library as an outlet sees it.
pub struct Line<L> {
    caller: Caller,
    name: String,
    /// Batches that may be on the way.
    batches_max: usize,
    /// Of those, the most whose load is not sent.
    loads_max: usize,
    load: Load<L>,
    /// What stands between messages, and what is sent of those that are sent from where they lie.
    share: Option<(Vec<u8>, Share<L>)>,
    start: Start<L>,
    /// How long the guest may take leave.
    leave: Duration,
    /// `None` when no runtime or no descriptor could be had; it is tried again now and then.
    open: Option<Open<L>>,
    /// Those on the way, and their bytes while there is a copy of them.
    away: Vec<(u32, usize)>,
    loads: usize,
    /// Of the batch that begins next.
    receipts: Vec<(usize, Receipt)>,
    pieces: Option<Vec<Piece>>,
}

struct Open<L> {
    orders: Sender<Order<L>>,
    answers: Arc<Answers>,
    guest: JoinHandle<()>,
}

impl<L: Send + 'static> Line<L> {
    /// `load` makes what is sent of a batch, on the worker. `serve` makes the guest: it takes orders until
    /// there is none, and is made anew when it ends before that. Of `batches_max` batches each may be on the
    /// way at the same time.
    pub fn open<F, R>(
        caller: Caller,
        name: &str,
        batches_max: usize,
        load: impl FnMut(&Part<'_>) -> L + Send + 'static,
        serve: F,
    ) -> Line<L>
    where
        F: Fn(Jobs<L>) -> R + Clone + Send + Sync + 'static,
        R: Future<Output = ()> + Send + 'static,
    {
        let start: Start<L> = Box::new(move |name, jobs| {
            Ok(runtime::handle()?.spawn(runtime::keep(name.to_owned(), jobs, serve.clone())))
        });
        let mut line = Line {
            caller,
            name: name.to_owned(),
            batches_max: batches_max.max(1),
            loads_max: usize::MAX,
            load: Box::new(load),
            share: None,
            start,
            leave: LEAVE,
            open: None,
            away: Vec::new(),
            loads: 0,
            receipts: Vec::new(),
            pieces: None,
        };
        line.begin_guest();
        line
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn caller(&self) -> &Caller {
        &self.caller
    }

    /// Sends batches from where they lie, when this stands between their messages. `load` makes what is sent
    /// of their pieces; [`flight::Client::share`] says what these are.
    pub fn sharing(
        mut self,
        between: Vec<u8>,
        load: impl FnMut(&Part<'_>, Vec<Piece>) -> L + Send + 'static,
    ) -> Line<L> {
        self.share = Some((between, Box::new(load)));
        self
    }

    /// Begins a batch only when every earlier one has got its [`Answer::load_is_sent`].
    pub fn one_after_the_other(mut self) -> Line<L> {
        self.loads_max = 1;
        self
    }

    /// The guest has something to do when its line is closed, which takes so long at most. The end of the
    /// program waits for it, see [`crate::wait_for_leaves`].
    pub fn leaving_within(mut self, leave: Duration) -> Line<L> {
        self.leave = leave;
        self
    }

    /// The load of a batch is gone, or the batch is.
    fn taken(&mut self, id: u32) {
        if let Some((_, bytes)) = self.away.iter_mut().find(|(away, bytes)| *away == id && *bytes > 0) {
            *bytes = 0;
            self.loads = self.loads.saturating_sub(1);
        }
    }

    fn begin_guest(&mut self) {
        match self.try_open() {
            Ok(open) => self.open = Some(open),
            Err(error) => {
                oplog::error("Cannot start a client library", &[("location", &self.name), ("error", &error)]);
            }
        }
    }

    fn try_open(&self) -> io::Result<Open<L>> {
        let answers = Answers::new(Bell::new(&self.caller.home, self.caller.outlet)?);
        // Room for one that asks for new connections.
        let (orders, receiver) = channel(self.batches_max + 1);
        let guest = (self.start)(&self.name, Jobs::new(receiver))?;
        Ok(Open { orders, answers, guest })
    }
}

impl<L: Send + 'static> Client for Line<L> {
    fn room(&self) -> usize {
        match &self.open {
            Some(open) => {
                let room = self.batches_max.saturating_sub(self.away.len());
                room.min(self.loads_max.saturating_sub(self.loads)).min(open.orders.capacity())
            }
            None => 0,
        }
    }

    fn begin(&mut self, id: u32, part: &Part<'_>) {
        let Some(open) = &self.open else { return };
        let (load, copied) = match (self.pieces.take(), &mut self.share) {
            // The queue holds the bytes.
            (Some(pieces), Some((_, load))) => (load(part, pieces), 0),
            _ => ((self.load)(part), part.bytes),
        };
        self.away.push((id, copied.max(1)));
        self.loads += 1;
        let receipts = std::mem::take(&mut self.receipts);
        let job = Job { load, answer: Answer::new(id, &open.answers, receipts) };
        // Without room, which room() has denied, it is answered by being dropped.
        let _ = open.orders.try_send(Order::Send(job));
    }

    fn follow(&mut self, _id: u32, receipts: Vec<(usize, Receipt)>) {
        self.receipts = receipts;
    }

    fn shares(&self) -> Option<&[u8]> {
        self.share.as_ref().map(|(between, _)| between.as_slice())
    }

    fn share(&mut self, _id: u32, pieces: Vec<Piece>) {
        self.pieces = Some(pieces);
    }

    fn outcomes(&mut self, out: &mut Vec<(u32, Outcome)>) {
        let Some(open) = &self.open else { return };
        let first = out.len();
        open.answers.take(out).into_iter().for_each(|id| self.taken(id));
        for (id, _) in out.iter().skip(first) {
            self.taken(*id);
            self.away.retain(|(away, _)| away != id);
        }
    }

    fn held_bytes(&self) -> usize {
        self.away.iter().map(|(_, bytes)| bytes).sum()
    }

    fn tick(&mut self, _now: Instant) {
        if self.open.is_none() {
            self.begin_guest();
        }
    }

    fn reopen(&mut self) {
        if let Some(open) = &self.open {
            let _ = open.orders.try_send(Order::Reopen);
        }
    }

    fn close(&mut self) {
        let Some(Open { orders, answers, guest }) = self.open.take() else { return };
        drop(orders);
        answers.close();
        if let Ok(runtime) = runtime::handle() {
            let (abort, leave) = (guest.abort_handle(), self.leave);
            let is_waited_for = leave > LEAVE;
            if is_waited_for {
                leaves::begins();
            }
            runtime.spawn(async move {
                let _ = tokio::time::timeout(leave, guest).await;
                abort.abort();
                if is_waited_for {
                    leaves::ends();
                }
            });
        }
    }
}
