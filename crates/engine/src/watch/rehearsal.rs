//! Messages run through a compiled configuration that is not in effect: everything is done but delivering.

use super::inquiry::Story;
use super::looks::Looks;
use crate::compile::PlannedSource;
use crate::exec::Machine;
use crate::outbox::Outbox;
use crate::program::Scratch;
use crate::source::{Carrier, Source, SourceName};
use record::{Batch, Context, Record, Span, Stamp};
use std::sync::Arc;
use template::Identity;

/// The text of a message, and as what it comes.
pub struct Input<'a> {
    /// Without what frames it: no octet count, no line feed.
    pub text: &'a [u8],
    pub context: Context,
    pub received: Stamp,
}

/// What a worker has for itself.
pub(crate) struct Stage {
    pub machine: Machine,
    pub scratch: Scratch,
    pub out: Outbox,
}

/// A source to which messages come one after the other, at times that are made up.
pub struct Rehearsal {
    source: Arc<Source>,
    stage: Stage,
}

impl Rehearsal {
    /// `None` for a source that makes its messages itself: there is no text of theirs to be read.
    pub fn of(planned: &PlannedSource, identity: &Identity) -> Option<Rehearsal> {
        let settings = planned.settings();
        if settings.is_ready_made() {
            return None;
        }
        let name = SourceName {
            group: planned.group.as_str().into(),
            id: planned.id.clone(),
            driver: planned.driver.driver,
            instance: planned.driver.instance.clone(),
            carrier: Carrier::Other,
        };
        let (machine, out) = (Machine::default(), Outbox::default());
        let stage = Stage { machine, scratch: Scratch::new(identity.clone()), out };
        Some(Rehearsal { source: Source::new(name, settings), stage })
    }

    /// What happens to a message that comes in, and behind it to those that are made because of it.
    pub fn message(&mut self, input: &Input<'_>, looks: &Looks) -> Vec<Story> {
        let context = Arc::new(input.context.clone());
        let mut batch = Batch::new(input.text.to_vec(), context, input.received);
        batch.records.push(Record::new(Span::new(0, input.text.len())));
        self.source.received(&batch, input.text.len());
        self.source.rehearse(&mut batch, &mut self.stage, looks)
    }

    /// What happens to the messages that are made because it is `now`.
    pub fn time(&mut self, now: Stamp, looks: &Looks) -> Vec<Story> {
        let program = Arc::clone(&self.source.settings().program);
        let mut stories = Vec::new();
        if !program.is_stateful() {
            return stories;
        }
        loop {
            let mut batch = Batch::default();
            batch.received = now;
            let made = self.source.rehearse_tick(&mut batch, &mut self.stage, looks);
            let is_done = made.is_empty() || !program.is_behind();
            stories.extend(made);
            if is_done {
                return stories;
            }
        }
    }

    /// Contexts of messages are forgotten.
    pub fn begin_anew(&self) {
        self.source.settings().program.states.iter().for_each(|state| state.begin_anew());
    }

    /// What happens to messages depends on those before.
    pub fn is_stateful(&self) -> bool {
        self.source.settings().program.is_stateful()
    }
}
