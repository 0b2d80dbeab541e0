//! A message made of the messages of a context: what it takes over, and the values and tags it gets.

use super::Scope;
use crate::found::assign;
use filter::{FilterContext, MadeOf, span_in};
use record::{Batch, Demand, Flags, NameId, Record, Span, TagId, ValueType};
use std::sync::Arc;
use template::{Msg, Template};

/// Texts of a context's messages, those before `end`, as they came in.
fn parts(messages: &Batch, end: usize) -> Vec<Vec<u8>> {
    let text = |record: &Record| match record.frame.is_empty() {
        true => messages.bytes(record.message),
        false => messages.bytes(record.frame),
    };
    let mut left = PARTS_BYTES_MAX;
    let parts = messages.records.iter().take(end.min(PARTS_MAX)).map(text);
    let fitting = parts.take_while(|part| {
        let rest = left.checked_sub(part.len());
        left = rest.unwrap_or(0);
        rest.is_some()
    });
    fitting.map(<[u8]>::to_vec).collect()
}

/// Of so many messages at most it is told that one was made of them, the oldest.
const PARTS_MAX: usize = 1000;
/// Of their texts, so many bytes.
const PARTS_BYTES_MAX: usize = 256 << 10;

/// What a made message takes over: `inherit-mode()`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Inherit {
    /// The stamp of the last message.
    None,
    /// All of the last message.
    LastMessage,
    /// All of the last message, and values it has not from the ones before.
    #[default]
    Context,
}

impl Inherit {
    pub const NAMES: [(&'static str, Inherit); 3] =
        [("none", Inherit::None), ("last-message", Inherit::LastMessage), ("context", Inherit::Context)];

    pub fn named(name: &str) -> Option<Inherit> {
        Inherit::NAMES.iter().find(|(n, _)| *n == name).map(|(_, inherit)| *inherit)
    }
}

#[derive(Clone, Default)]
pub struct Synthetic {
    pub inherit: Inherit,
    /// Set one after the other, behind the tags: later ones see earlier ones.
    pub values: Vec<(NameId, Arc<Template>)>,
    pub tags: Vec<TagId>,
}

impl Synthetic {
    /// Makes a message of a context that holds at least one and adds it to the records of `into`; its index
    /// there. What the scope in `key` says is equal in all of them it gets from the key, whatever they became
    /// since. While its values are printed it is the last message of the context, `@0`; afterwards the
    /// context is what it was. `id` is the key without its scope.
    pub fn make(
        &self,
        (key, id): (&[u8], &[u8]),
        messages: &mut Arc<Batch>,
        into: &mut Batch,
        cx: &mut FilterContext,
    ) -> Option<u32> {
        let batch = Arc::get_mut(messages)?;
        let mark = batch.mark();
        let record = self.inherited(batch)?;
        batch.records.push(record);
        let index = batch.records.len() - 1;
        if self.inherit == Inherit::Context {
            merge(batch, index);
        }
        for (name, value) in Scope::in_key(key) {
            if batch.records.get(index).and_then(|r| batch.value(r, name)).is_none_or(|v| v.bytes != value) {
                let span = batch.append(value);
                assign(batch, index, name, span, ValueType::String);
            }
        }
        self.apply(messages, index, id, cx);
        let made = messages.records.get(index).and_then(|record| into.adopt(messages, record, |_| true));
        if let (Some(told), Some(made)) = (&mut cx.work.made_of, made) {
            let message = into.records.get(made).map_or(Span::EMPTY, |record| record.message);
            told.push(MadeOf { message, parts: parts(messages, index) });
        }
        Arc::get_mut(messages)?.back_to(mark);
        made.and_then(|made| u32::try_from(made).ok())
    }

    /// Sets tags and values of one of the context's messages; its values may print the tags.
    pub fn apply(&self, messages: &mut Arc<Batch>, index: usize, id: &[u8], cx: &mut FilterContext) {
        if let Some(batch) = Arc::get_mut(messages) {
            self.tags.iter().for_each(|tag| batch.set_tag(index, *tag));
        }
        let mut text = cx.work.text();
        for (name, template) in &self.values {
            text.clear();
            let kind = self.print(template, messages, index, id, cx, &mut text);
            if let Some(batch) = Arc::get_mut(messages) {
                let span = batch.append(&text);
                assign(batch, index, *name, span, kind);
            }
        }
        cx.work.keep_text(text);
    }

    fn print(
        &self,
        template: &Template,
        messages: &Arc<Batch>,
        index: usize,
        id: &[u8],
        cx: &mut FilterContext,
        text: &mut Vec<u8>,
    ) -> ValueType {
        let Some(record) = messages.records.get(index) else { return ValueType::String };
        let msg = Msg { batch: messages, record };
        cx.render.with_context(messages, id, |render| template.render_typed(msg, render, text))
    }

    fn inherited(&self, batch: &Batch) -> Option<Record> {
        let last = *batch.records.last()?;
        if self.inherit != Inherit::None {
            return Some(last);
        }
        let mut record = Record::new(Span::EMPTY);
        record.stamp = last.stamp;
        record.flags.set(Flags::LOCAL);
        record.flags.set(Flags(last.flags.0 & Flags::INTERNAL.0));
        // Of no peer.
        record.context = u16::MAX;
        Some(record)
    }

    pub fn reads(&self, demand: &mut Demand) {
        for (_, template) in &self.values {
            template.reads(demand);
        }
        if self.inherit == Inherit::None {
            demand.name(NameId::HOST);
        }
        demand.stamp = true;
    }

    pub fn names(&self) -> Vec<NameId> {
        self.values.iter().map(|(name, _)| *name).collect()
    }
}

/// Fills in what the last message has not, from the newest of the others that has it. Tags are not taken
/// over.
fn merge(batch: &mut Batch, index: usize) {
    let Some(made) = batch.records.get(index).copied() else { return };
    let mut found: Vec<(NameId, Span, ValueType)> = Vec::new();
    let mut fields = [made.host, made.message, made.program, made.pid, made.msgid];
    let (mut sdata, mut sdata_changed) = (made.sdata, Flags::default());
    // The message it was copied from stands right before it.
    for record in batch.records.iter().take(index.saturating_sub(1)).rev() {
        let others = [record.host, record.message, record.program, record.pid, record.msgid];
        for (field, other) in fields.iter_mut().zip(others).filter(|(field, _)| field.is_empty()) {
            *field = other;
        }
        if sdata.is_empty() && !record.sdata.is_empty() {
            (sdata, sdata_changed) = (record.sdata, Flags(record.flags.0 & Flags::SDATA_CHANGED.0));
        }
        for (name, value) in batch.entries(record) {
            let known =
                found.iter().any(|(n, _, _)| *n == name) || batch.overridden(&made, name) == Some(true);
            if let (false, Some(value)) = (known, value)
                && batch.overridden(record, name) == Some(true)
            {
                let span = span_in(batch, value.bytes).unwrap_or(Span::EMPTY);
                found.push((name, span, value.kind));
            }
        }
    }
    let names = [NameId::HOST, NameId::MESSAGE, NameId::PROGRAM, NameId::PID, NameId::MSGID];
    let before = [made.host, made.message, made.program, made.pid, made.msgid];
    for ((name, field), _) in names.into_iter().zip(fields).zip(before).filter(|((_, f), b)| f != b) {
        assign(batch, index, name, field, ValueType::String);
    }
    if let Some(record) = batch.records.get_mut(index) {
        record.sdata = sdata;
        record.flags.set(sdata_changed);
    }
    for (name, span, kind) in found.into_iter().rev() {
        batch.set_span(index, name, span, kind);
    }
}
