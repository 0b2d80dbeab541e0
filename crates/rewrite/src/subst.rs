//! `subst()`: replaces the first match of a pattern in a value, or all of them with flags(global).

use crate::op::assign;
use filter::{FilterContext, Subject, Wanted, group_names, new_asker, span_in, store_matches};
use pattern::{Cursor, Pattern, Remembered, Slots};
use record::{Batch, Demand, NameId, Record, Span, ValueType};
use template::{Msg, RENDERED_BYTES_MAX, Template, note_oversized};

pub struct Subst {
    pub name: NameId,
    pattern: Pattern,
    /// How the value is read (STRUCTURED-DATA has no place of its own in the record).
    subject: Subject,
    with: Template,
    /// The names of the pattern's groups.
    pub groups: Vec<Option<NameId>>,
    /// The replacement prints matches, so they have to be values before it is made.
    uses_matches: bool,
    /// What the replacement reads.
    own: Wanted,
    /// The result depends on nothing but the value, so it can be remembered.
    closed: bool,
    /// Whether there is a match is asked before the match itself.
    asks_first: bool,
    asker: u64,
}

/// What is reused from message to message.
struct Scratch {
    slots: Slots,
    out: Vec<u8>,
    /// The matches have to become values.
    stores: bool,
}

impl Subst {
    /// `None` when the table of names is full.
    pub fn new(name: NameId, pattern: Pattern, subject: Subject, with: Template) -> Option<Subst> {
        let groups = group_names(&pattern)?;
        let mut demand = Demand::default();
        with.reads(&mut demand);
        let number = |n: &NameId| n.0 <= NameId::MATCH_MAX;
        let matched = |n: &NameId| number(n) || groups.contains(&Some(*n));
        let uses_matches = demand.everything || demand.names.iter().any(matched);
        // What a template prints besides values (times, counters) is no demand, so only a literal or one
        // match is sure to be closed.
        let closed = with.literal().is_some()
            || with.single_name().is_some_and(|n| (n.0 as usize) < groups.len() || groups.contains(&Some(n)));
        let asker = new_asker();
        let own = Wanted::of(&demand);
        let asks_first = pattern.is_quick_to_refuse();
        Some(Subst { name, pattern, subject, with, groups, uses_matches, own, closed, asks_first, asker })
    }

    pub fn apply(&self, batch: &mut Batch, selection: &[u32], cx: &mut FilterContext) {
        // Matches nobody reads are not stored.
        let stores = self.uses_matches || self.stored(cx);
        let mut scratch = Scratch { slots: std::mem::take(&mut cx.work.slots), out: cx.work.text(), stores };
        if self.closed && self.subject.repeats() && !self.stored(cx) {
            self.apply_remembering(batch, selection, cx, &mut scratch);
        } else {
            for index in selection {
                self.one(batch, *index as usize, cx, &mut scratch);
            }
        }
        cx.work.slots = scratch.slots;
        cx.work.keep_text(scratch.out);
    }

    /// Whether the matches are to be seen afterwards.
    fn stored(&self, cx: &FilterContext) -> bool {
        let wanted = |n: NameId| cx.work.wanted.has(n);
        let numbers = (0..self.groups.len()).filter_map(|n| u8::try_from(n).ok()).map(NameId::of_match);
        numbers.chain(self.groups.iter().flatten().copied()).any(wanted)
    }

    /// Hosts and programs are few and come again and again: what became of one is remembered.
    fn apply_remembering(
        &self,
        batch: &mut Batch,
        selection: &[u32],
        cx: &mut FilterContext,
        scratch: &mut Scratch,
    ) {
        let mut memo = cx.work.take_memo(self.asker);
        for index in selection.iter().map(|i| *i as usize) {
            let Some(before) = batch.records.get(index).and_then(|r| self.subject.field(r)) else {
                self.one(batch, index, cx, scratch);
                continue;
            };
            match memo.get(batch.bytes(before)) {
                Some(Remembered::Same) => {}
                Some(Remembered::Changed(result)) => {
                    assign(batch, index, self.name, result, ValueType::String)
                }
                None => {
                    let saved = batch.records.get(index).copied();
                    self.one(batch, index, cx, scratch);
                    let after = batch.records.get(index).and_then(|r| self.subject.field(r));
                    let result = after.filter(|a| *a != before).map(|a| batch.bytes(a));
                    memo.set(batch.bytes(before), result);
                    // The matches were stored for the template only.
                    if let (Some(saved), Some(after), Some(record)) =
                        (saved, after, batch.records.get_mut(index))
                    {
                        *record = saved;
                        if after != before {
                            batch.set_span(index, self.name, after, ValueType::String);
                        }
                    }
                }
            }
        }
        cx.work.keep_memo(self.asker, memo);
    }

    #[inline]
    fn one(&self, batch: &mut Batch, index: usize, cx: &mut FilterContext, scratch: &mut Scratch) {
        let Some(record) = batch.records.get(index) else { return };
        if let Some(span) = self.subject.field(record) {
            // Where that is quick, the usual case first: nothing is found, nothing is done.
            if self.asks_first && !self.pattern.is_match(batch.bytes(span), &mut cx.work.patterns) {
                return;
            }
            return self.replace(batch, index, span, cx, scratch);
        }
        let mut buffer = cx.work.text();
        let text = self.subject.text(Msg { batch, record }, &mut cx.render, &mut buffer);
        if self.pattern.is_match(text, &mut cx.work.patterns) {
            let place = span_in(batch, text);
            let span = match place {
                Some(span) => span,
                None => {
                    let text = text.to_vec();
                    batch.append(&text)
                }
            };
            self.replace(batch, index, span, cx, scratch);
        }
        cx.work.keep_text(buffer);
    }

    fn replace(
        &self,
        batch: &mut Batch,
        index: usize,
        text: Span,
        cx: &mut FilterContext,
        scratch: &mut Scratch,
    ) {
        let Scratch { slots, out, stores } = scratch;
        let Some(before) = batch.records.get(index).copied() else { return };
        let global = self.pattern.options().global;
        let mut cursor = Cursor::default();
        // What is stored for one match is forgotten before the next: a text of many matches must not leave a
        // long list of them.
        let mark = batch.mark();
        let mut done = 0;
        let mut found = false;
        out.clear();
        while self.pattern.next_match(batch.bytes(text), &mut cursor, &mut cx.work.patterns, slots) {
            found = true;
            let (start, end) = slots.get(0).unwrap_or((done, done));
            out.extend_from_slice(batch.bytes(text).get(done..start).unwrap_or_default());
            done = end.max(done);
            if *stores {
                // Only the last match's values stay.
                if let Some(record) = batch.records.get_mut(index) {
                    *record = before;
                }
                batch.back_to(mark);
                store_matches(batch, index, text, slots, &self.groups, &[&self.own, &cx.work.wanted]);
            }
            match (self.with.literal(), batch.records.get(index)) {
                (Some(literal), _) => out.extend_from_slice(literal),
                (None, Some(record)) => self.with.render(Msg { batch, record }, &mut cx.render, out),
                (None, None) => {}
            }
            if out.len() > RENDERED_BYTES_MAX || self.with.literal().is_none() && cx.render.gave_up() {
                return self.give_up(batch, index, before, out);
            }
            if !global {
                break;
            }
        }
        if cursor.gave_up() {
            // The pattern is counted and named; half of the matches replaced would be worse than none.
            if let Some(record) = batch.records.get_mut(index) {
                *record = before;
            }
            return;
        }
        if found {
            out.extend_from_slice(batch.bytes(text).get(done..).unwrap_or_default());
            assign(batch, index, self.name, out, ValueType::String);
        }
    }

    /// The result is larger than any text may be: the value stays what it was.
    #[cold]
    fn give_up(&self, batch: &mut Batch, index: usize, before: Record, out: &mut Vec<u8>) {
        note_oversized(self.pattern.text());
        if let Some(record) = batch.records.get_mut(index) {
            *record = before;
        }
        *out = Vec::new();
    }

    pub fn reads(&self, demand: &mut Demand) {
        self.subject.reads(demand);
        self.with.reads(demand);
    }

    pub fn explain(&self) -> String {
        format!("{:?}: {}", self.pattern.text(), self.pattern.engine())
    }
}
