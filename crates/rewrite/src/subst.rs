//! `subst()`: replaces the first match of a pattern in a value, or all of them with flags(global).

use crate::op::assign;
use filter::{FilterContext, Subject, group_names, span_in, store_matches};
use pattern::{Cursor, Pattern};
use record::{Batch, Demand, NameId, Span, ValueType};
use template::{Msg, Template};

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
}

impl Subst {
    /// `None` when the table of names is full.
    pub fn new(name: NameId, pattern: Pattern, subject: Subject, with: Template) -> Option<Subst> {
        let groups = group_names(&pattern)?;
        let mut demand = Demand::default();
        with.reads(&mut demand);
        let number = |n: &NameId| n.0 <= NameId::MATCH_MAX;
        let uses_matches =
            demand.everything || demand.names.iter().any(|n| number(n) || groups.contains(&Some(*n)));
        Some(Subst { name, pattern, subject, with, groups, uses_matches })
    }

    pub fn apply(&self, batch: &mut Batch, selection: &[u32], cx: &mut FilterContext) {
        // Matches nobody reads are not stored.
        let first = |n: usize| u8::try_from(n).ok().map(NameId::of_match);
        let wanted = |n: NameId| cx.work.wanted.has(n);
        let stores = self.uses_matches
            || (0..self.groups.len()).filter_map(first).any(wanted)
            || self.groups.iter().flatten().any(|n| wanted(*n));
        let mut out = cx.work.text();
        let mut slots = std::mem::take(&mut cx.work.slots);
        for index in selection {
            self.one(batch, *index as usize, stores, cx, &mut slots, &mut out);
        }
        cx.work.slots = slots;
        cx.work.keep_text(out);
    }

    #[inline]
    fn one(
        &self,
        batch: &mut Batch,
        index: usize,
        stores: bool,
        cx: &mut FilterContext,
        slots: &mut pattern::Slots,
        out: &mut Vec<u8>,
    ) {
        let Some(record) = batch.records.get(index) else { return };
        // The usual case first: nothing is found, nothing is done.
        if let Some(span) = self.subject.field(record) {
            if !self.pattern.is_match(batch.bytes(span), &mut cx.work.patterns) {
                return;
            }
            return self.replace(batch, index, span, stores, cx, slots, out);
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
            self.replace(batch, index, span, stores, cx, slots, out);
        }
        cx.work.keep_text(buffer);
    }

    #[allow(clippy::too_many_arguments)]
    fn replace(
        &self,
        batch: &mut Batch,
        index: usize,
        text: Span,
        stores: bool,
        cx: &mut FilterContext,
        slots: &mut pattern::Slots,
        out: &mut Vec<u8>,
    ) {
        let global = self.pattern.options().global;
        let mut cursor = Cursor::default();
        let mut done = 0;
        let mut found = false;
        out.clear();
        while self.pattern.next_match(batch.bytes(text), &mut cursor, &mut cx.work.patterns, slots) {
            found = true;
            let (start, end) = slots.get(0).unwrap_or((done, done));
            out.extend_from_slice(batch.bytes(text).get(done..start).unwrap_or_default());
            done = end.max(done);
            if stores {
                let all = filter::Wanted::All;
                let wanted = if self.uses_matches { &all } else { &cx.work.wanted };
                store_matches(batch, index, text, slots, &self.groups, wanted);
            }
            match (self.with.literal(), batch.records.get(index)) {
                (Some(literal), _) => out.extend_from_slice(literal),
                (None, Some(record)) => self.with.render(Msg { batch, record }, &mut cx.render, out),
                (None, None) => {}
            }
            if !global {
                break;
            }
        }
        if found {
            out.extend_from_slice(batch.bytes(text).get(done..).unwrap_or_default());
            assign(batch, index, self.name, out, ValueType::String);
        }
    }

    pub fn reads(&self, demand: &mut Demand) {
        self.subject.reads(demand);
        self.with.reads(demand);
    }

    pub fn explain(&self) -> String {
        format!("{:?}: {}", self.pattern.text(), self.pattern.engine())
    }
}
