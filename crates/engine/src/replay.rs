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
            source.contained(&batch);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::tests::{plan_of, seen};
    use crate::source::{Carrier, SourceName};
    use crate::window::Budget;
    use template::Identity;

    #[test]
    fn messages_that_come_together_end_where_they_ended() {
        let plan = plan_of("destination d { out(); }; log { source(s); destination(d); };");
        let planned = plan.sources.first().expect("a source");
        let name = SourceName {
            group: "s".into(),
            id: "s#0".into(),
            driver: "in",
            instance: String::new(),
            carrier: Carrier::Other,
        };
        let source = Source::new(name, planned.settings());
        let shared = Shared::new(1, Budget::new(1 << 20), false);
        let mut replayer = Replayer::new(&shared, Identity::new("here"), Vec::new());
        let texts: [&[u8]; 4] = [
            b"<13>Nov 11 01:02:03 h a: 1",
            b"<13>Nov 11 01:02:03 h a: the second one is longer",
            b"",
            b"<13>Nov 11 01:02:03 h a: 4",
        ];
        let context = Context::local("s", "", "local");
        let again = Again { context, received: Stamp::default(), texts: &texts };
        replayer.run(&source, &again).expect("taken");
        let messages: Vec<String> = seen().into_iter().map(|(_, message)| message).collect();
        assert_eq!(messages, ["1", "the second one is longer", "", "4"]);
        assert_eq!(source.counters.received.value(), 4);
        assert_eq!(source.counters.routed.value(), 4);
        assert_eq!(source.counters.in_work.value(), 0);
        assert_eq!(replayer.window.used(), 0);
    }
}
