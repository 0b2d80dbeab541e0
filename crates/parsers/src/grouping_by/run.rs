//! One batch of grouping-by(): keys first, then the groups, shard by shard, then what they made.

use super::{Condition, GroupingBy, Placed};
use crate::correlation::{Context, Emitted, Entry, Handler, Moment, Pass, Shard};
use filter::FilterContext;
use record::Batch;
use std::sync::Arc;
use template::Msg;

/// A worker's buffers.
#[derive(Default)]
struct Work {
    pass: Pass,
    emitted: Emitted,
    /// Which of the selection are grouped.
    grouped: Vec<bool>,
}

pub(super) fn batch(placed: &Placed, batch: &mut Batch, selection: &mut Vec<u32>, cx: &mut FilterContext) {
    let mut work = cx.work.take_state(placed.asker, Work::default);
    let Work { pass, emitted, grouped } = &mut *work;
    emitted.clear();
    let by = &*placed.by;
    by.choose(grouped, batch, selection, cx);
    let now = cx.render.now();
    placed.contexts.begin_with(pass, batch, selection, now, |at| grouped.get(at).is_some_and(|g| *g));
    by.keys(placed, pass, batch, (selection, grouped), cx);
    let mut run = Run { by, batch, cx, emitted, early: 0 };
    let early = placed.contexts.run(pass, &mut run) + run.early;
    let made_of = cx.work.made_of.as_deref();
    placed.contexts.count(emitted.into(by.mode, batch, selection, made_of), early);
    cx.work.keep_state(placed.asker, work);
}

impl GroupingBy {
    /// where(): what it leaves out is not grouped and says nothing of the time, as in syslog-ng (golden case
    /// grouping-timeout).
    fn choose(&self, grouped: &mut Vec<bool>, batch: &Batch, selection: &[u32], cx: &mut FilterContext) {
        grouped.clear();
        let Some(filter) = &self.select else {
            grouped.resize(selection.len(), true);
            return;
        };
        let records = selection.iter().map(|index| batch.records.get(*index as usize));
        grouped.extend(records.map(|record| record.is_some_and(|r| filter.holds_for(batch, r, cx))));
    }

    fn keys(
        &self,
        placed: &Placed,
        pass: &mut Pass,
        batch: &mut Batch,
        (selection, grouped): (&[u32], &[bool]),
        cx: &mut FilterContext,
    ) {
        let seed = placed.contexts.seed();
        let chosen = selection.iter().zip(grouped).enumerate().filter(|(_, (_, grouped))| **grouped);
        for (position, (index, _)) in chosen {
            let Some(record) = batch.records.get(*index as usize) else { continue };
            pass.push(position, *index, 0, seed, |key| {
                self.grouped.write(batch, record, &mut cx.render, key)
            });
        }
    }
}

struct Run<'a> {
    by: &'a GroupingBy,
    batch: &'a mut Batch,
    cx: &'a mut FilterContext,
    emitted: &'a mut Emitted,
    early: usize,
}

impl Handler<()> for Run<'_> {
    fn message(&mut self, shard: &mut Shard<()>, pass: &Pass, entry: &Entry) {
        let id = shard.enter(pass, entry, || ());
        let wanted = &self.cx.work.wanted;
        shard.add(id, self.batch, entry.index, |name| wanted.has(name));
        let Some(context) = shard.get(id) else { return };
        let full = context.is_full();
        let triggered = match &self.by.trigger {
            Some(trigger) => trigger.holds(&context.messages, context.id(), self.cx),
            None => false,
        };
        if !triggered && !full {
            shard.set_deadline(id, self.by.grouped.deadline(pass, entry), pass.moment(entry));
            return;
        }
        self.early += usize::from(full && !triggered);
        if let Some(mut context) = shard.remove(id) {
            self.closed(shard, &mut context, pass.moment(entry));
            shard.recycle(context);
        }
    }

    fn closed(&mut self, _: &mut Shard<()>, context: &mut Context<()>, moment: Moment) {
        self.by.grouped.sort(&mut context.messages, self.cx);
        let (key, id, messages) = context.parts();
        if self.by.having.as_ref().is_none_or(|having| having.holds(messages, id, self.cx))
            && let Some(made) = self.by.aggregate.make((key, id), messages, self.batch, self.cx)
        {
            self.emitted.push(moment, made);
        }
    }

    fn batch_bytes(&self) -> usize {
        self.batch.footprint()
    }
}

impl Condition {
    /// Asked of the last message.
    fn holds(&self, messages: &Arc<Batch>, id: &[u8], cx: &mut FilterContext) -> bool {
        let Some(record) = messages.records.last() else { return false };
        if !self.of_context {
            return self.filter.holds_for(messages, record, cx);
        }
        let msg = Msg { batch: messages, record };
        cx.render.with_context(messages, id, |render| template::Condition::holds(&self.filter, msg, render))
    }
}
