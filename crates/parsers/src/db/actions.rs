//! Contexts and actions of rules: what a message that was matched brings about beside its values.

use super::plan::Plan;
use super::rate::Rates;
use super::work::{ActionWork, ContextWork, Keeping, What};
use crate::correlation::{Context, Emitted, Entry, Handler, Moment, Pass, Seed, Shard};
use crate::found::assign;
use filter::FilterContext;
use patterndb::model::Trigger;
use record::{Batch, Record, ValueType};
use std::sync::Arc;
use template::{Condition, Msg};

/// What a context remembers: the rule that matched last, which decides what happens when its time is over.
pub struct Kept {
    keeping: Arc<Keeping>,
}

pub(super) struct Actions<'a> {
    pub plan: &'a Plan,
    pub rates: &'a Rates,
    pub batch: &'a mut Batch,
    pub cx: &'a mut FilterContext,
    pub emitted: &'a mut Emitted,
    pub early: usize,
}

/// First byte of the key of a message without context: no scope begins so.
const ALONE: u8 = u8::MAX;

impl Actions<'_> {
    /// Gives the messages of rules that keep something their keys. `kept` has places in the selection, and
    /// rules.
    pub fn enter(&mut self, seed: Seed, pass: &mut Pass, selection: &[u32], kept: &[(u32, u32)]) {
        for (position, rule) in kept {
            let Some(index) = selection.get(*position as usize).copied() else { continue };
            let Some(keeping) = self.keeping(*rule) else { continue };
            let Some(record) = self.batch.records.get(index as usize) else { continue };
            let (batch, render) = (&*self.batch, &mut self.cx.render);
            let entry = pass.push(*position as usize, index, *rule, seed, |key| match &keeping.context {
                Some(context) => {
                    context.scope.write(batch, record, key);
                    let id = key.len();
                    context.id.render(Msg { batch, record }, render, key);
                    id
                }
                None => {
                    key.push(ALONE);
                    key.len()
                }
            });
            if keeping.context.is_some() && self.plan.context_id {
                let name = self.plan.compiled.context_id;
                self.batch.set(index as usize, name, pass.id(&entry), ValueType::String);
            }
        }
    }

    fn keeping(&self, rule: u32) -> Option<Arc<Keeping>> {
        self.plan.compiled.work.get(rule as usize)?.keeping.clone()
    }

    /// Sets the rule's values, which see the context, in the message and in its copy there.
    fn set_values(&mut self, rule: u32, messages: &mut Arc<Batch>, id: &[u8], index: usize) {
        let last = messages.records.len().saturating_sub(1);
        for (name, template) in self.plan.values.get(rule as usize).map_or(&[][..], |values| values) {
            let Some(record) = self.batch.records.get(index) else { return };
            let msg = Msg { batch: self.batch, record };
            let mut text = self.cx.work.text();
            let render = &mut self.cx.render;
            let kind =
                render.with_context(messages, id, |render| template.render_typed(msg, render, &mut text));
            let span = self.batch.append(&text);
            assign(self.batch, index, *name, span, kind);
            if let Some(copies) = Arc::get_mut(messages) {
                let span = copies.append(&text);
                assign(copies, last, *name, span, kind);
            }
            self.cx.work.keep_text(text);
        }
    }

    /// Takes the actions of a rule that are for this trigger.
    fn act(&mut self, keeping: &Arc<Keeping>, trigger: Trigger, on: &mut On<'_>, shard: &mut Shard<Kept>) {
        for action in keeping.actions.iter().filter(|a| a.trigger == trigger) {
            if !self.holds(action, on) || !self.admits(keeping, action, on) {
                continue;
            }
            match &action.what {
                What::Message => {
                    if let Some(made) = action.message.make((on.key, on.id), on.messages, self.batch, self.cx)
                    {
                        self.emitted.push(on.when.moment, made);
                    }
                }
                What::Create(context) => self.create(keeping, action, context, on, shard),
            }
        }
    }

    fn holds(&mut self, action: &ActionWork, on: &On<'_>) -> bool {
        let (Some(condition), Some(record)) = (&action.condition, on.messages.records.last()) else {
            return action.condition.is_none();
        };
        let msg = Msg { batch: on.messages, record };
        self.cx.render.with_context(on.messages, on.id, |render| Condition::holds(&**condition, msg, render))
    }

    /// The rate counts for each rule, action and set of messages that share the rule's scope, with a context
    /// or without.
    fn admits(&mut self, keeping: &Keeping, action: &ActionWork, on: &On<'_>) -> bool {
        let (Some(rate), Some(record)) = (action.rate, on.messages.records.last()) else { return true };
        let mut key = self.cx.work.text();
        keeping.scope.write(on.messages, record, &mut key);
        key.extend_from_slice(&action.number.to_le_bytes());
        key.extend_from_slice(keeping.rule.as_bytes());
        let admitted = self.rates.admit(&key, rate, on.when.time);
        self.cx.work.keep_text(key);
        admitted
    }

    /// A context that begins with the message the action makes.
    fn create(
        &mut self,
        keeping: &Arc<Keeping>,
        action: &ActionWork,
        context: &ContextWork,
        on: &mut On<'_>,
        shard: &mut Shard<Kept>,
    ) {
        let mut first = Batch::default();
        let made = action.message.make((on.key, on.id), on.messages, &mut first, self.cx);
        let Some(made) = made else { return };
        let Some(record) = first.records.get(made as usize).copied() else { return };
        let mut key = self.cx.work.text();
        context.scope.write(&first, &record, &mut key);
        let scope_len = key.len() as u32;
        let msg = Msg { batch: &first, record: &record };
        let render = &mut self.cx.render;
        render.with_context(on.messages, on.id, |render| context.id.render(msg, render, &mut key));
        let new = shard.insert(&key, scope_len, Kept { keeping: Arc::clone(keeping) });
        shard.add(new, &first, made, |_| true);
        if context.timeout_s > 0 {
            shard.set_deadline(new, on.when.time.saturating_add(context.timeout_s), on.when.moment);
        }
        self.cx.work.keep_text(key);
    }

    /// A message whose rule has actions and no context is a context of its own.
    fn alone(&mut self, keeping: &Arc<Keeping>, pass: &Pass, entry: &Entry, shard: &mut Shard<Kept>) {
        let mut own = Batch::default();
        own.received = self.batch.received;
        let record: Option<&Record> = self.batch.records.get(entry.index as usize);
        let wanted = &self.cx.work.wanted;
        if record.and_then(|record| own.adopt(self.batch, record, |name| wanted.has(name))).is_none() {
            return;
        }
        let mut messages = Arc::new(own);
        self.set_values(entry.note, &mut messages, b"", entry.index as usize);
        let when = When::of(pass, entry);
        let mut on = On { key: &[ALONE], id: b"", messages: &mut messages, when };
        self.act(keeping, Trigger::Match, &mut on, shard);
    }
}

/// What actions are taken on: the messages of a context, its key with and without scope.
struct On<'a> {
    key: &'a [u8],
    id: &'a [u8],
    messages: &'a mut Arc<Batch>,
    when: When,
}

/// When actions are taken: their place in the order of messages, in front of the one that caused them, and
/// correlation time.
#[derive(Clone, Copy)]
struct When {
    moment: Moment,
    time: i64,
}

impl When {
    fn of(pass: &Pass, entry: &Entry) -> When {
        When { moment: pass.moment(entry), time: pass.time(entry.position) }
    }
}

impl Handler<Kept> for Actions<'_> {
    fn message(&mut self, shard: &mut Shard<Kept>, pass: &Pass, entry: &Entry) {
        let Some(keeping) = self.keeping(entry.note) else { return };
        let Some(context) = &keeping.context else { return self.alone(&keeping, pass, entry, shard) };
        let when = When::of(pass, entry);
        let id = shard.enter(pass, entry, || Kept { keeping: Arc::clone(&keeping) });
        let wanted = &self.cx.work.wanted;
        shard.add(id, self.batch, entry.index, |name| wanted.has(name));
        if context.timeout_s > 0 {
            shard.set_deadline(id, when.time.saturating_add(context.timeout_s), pass.moment(entry));
        }
        let Some(open) = shard.get_mut(id) else { return };
        open.payload.keeping = Arc::clone(&keeping);
        let full = open.is_full();
        // Out of the shard for as long as actions may change it.
        let mut messages = std::mem::take(&mut open.messages);
        self.set_values(entry.note, &mut messages, pass.id(entry), entry.index as usize);
        let mut on = On { key: pass.key(entry), id: pass.id(entry), messages: &mut messages, when };
        self.act(&keeping, Trigger::Match, &mut on, shard);
        if let Some(id) = shard.find(pass.key(entry)) {
            // An action may have put a new context in its place.
            if let Some(open) = shard.get_mut(id).filter(|open| open.messages.records.is_empty()) {
                open.messages = messages;
            }
            shard.measure(id);
            if full && let Some(mut context) = shard.remove(id) {
                self.early += 1;
                self.closed(shard, &mut context, pass.moment(entry));
                shard.recycle(context);
            }
        }
    }

    fn closed(&mut self, shard: &mut Shard<Kept>, context: &mut Context<Kept>, moment: Moment) {
        let keeping = Arc::clone(&context.payload.keeping);
        let time = context.deadline();
        let when = When { moment, time: if time == i64::MAX { 0 } else { time } };
        let (key, id, messages) = context.parts();
        let mut on = On { key, id, messages, when };
        self.act(&keeping, Trigger::Timeout, &mut on, shard);
    }

    fn batch_bytes(&self) -> usize {
        self.batch.footprint()
    }
}
