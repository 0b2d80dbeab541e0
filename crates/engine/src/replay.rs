//! Messages that came before, given to a source again: they take the way of its log paths as when they came,
//! to all of its destinations or to some, with the tag `replayed`.

use crate::exec::Machine;
use crate::ledger::DestinationCounters;
use crate::outbox::Outbox;
use crate::program::Scratch;
use crate::source::Source;
use crate::window::Window;
use crate::worker::Shared;
use record::{Batch, Context, Record, Span, Stamp};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What every message that comes again has.
pub const TAG: &str = "replayed";
/// Bytes that may be under way before more is given.
const WINDOW_BYTES: usize = 4 << 20;
/// How long nothing may be taken before it is given up.
const PATIENCE: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(1);

/// Messages of one peer that came together.
pub struct Again<'a> {
    pub context: Context,
    pub received: Stamp,
    pub texts: &'a [&'a [u8]],
}

/// Gives messages to sources, with flow control.
pub struct Replayer {
    machine: Machine,
    scratch: Scratch,
    outbox: Outbox,
    window: Arc<Window>,
}

impl Replayer {
    /// `only` are the destinations that get something; with none, all do.
    pub fn new(
        shared: &Shared,
        identity: template::Identity,
        only: Vec<Arc<DestinationCounters>>,
    ) -> Replayer {
        let window = Window::new(WINDOW_BYTES, None, Arc::clone(&shared.budget));
        let mut outbox = Outbox::default();
        outbox.only = only;
        Replayer { machine: Machine::default(), scratch: Scratch::new(identity), outbox, window }
    }

    /// Runs the messages through the log paths of the source. The error says why they were not taken.
    pub fn run(&mut self, source: &Source, again: &Again<'_>) -> Result<(), &'static str> {
        self.wait()?;
        let mut batch = Batch::new(Vec::new(), Arc::new(again.context.clone()), again.received);
        for text in again.texts {
            let begin = batch.text.len();
            batch.text.extend_from_slice(text);
            batch.records.push(Record::new(Span::new(begin, text.len())));
        }
        let bytes = batch.text.len();
        if let Some(tag) = batch.tag(TAG.as_bytes()) {
            (0..batch.records.len()).for_each(|index| batch.set_tag(index, tag));
        }
        source.received(&batch, bytes);
        let ticket = self.window.ticket(bytes, batch.records.len());
        let Replayer { machine, scratch, outbox, .. } = self;
        let run = AssertUnwindSafe(|| source.process(&mut batch, machine, scratch, outbox));
        let Ok(in_work) = catch_unwind(run) else {
            outbox.roll_back();
            ticket.settle();
            return Err("an internal error, contained: see the log of the program");
        };
        outbox.end_batch(&ticket);
        outbox.flush();
        ticket.settle();
        drop(in_work);
        Ok(())
    }

    fn wait(&self) -> Result<(), &'static str> {
        let mut left = self.window.used();
        let mut deadline = Instant::now() + PATIENCE;
        while left >= WINDOW_BYTES {
            std::thread::park_timeout(LOOK);
            let now = self.window.used();
            if now < left {
                (left, deadline) = (now, Instant::now() + PATIENCE);
            } else if Instant::now() > deadline {
                return Err("destinations take nothing for ten seconds");
            }
        }
        Ok(())
    }
}
