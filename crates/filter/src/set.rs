//! Many sibling filters in one pass over a batch: the branches of a log path, the `if`/`elif` of a chain.
//!
//! Facility and severity, patterns on the fields and the texts of values are each looked up once for all
//! filters, and only while a filter is open that asks for them. The twenty filters of a distribution's
//! default configuration cost little more than one.

mod clauses;
mod facts;
mod open;
mod tags;

use crate::context::{FilterContext, Workspace};
use crate::filter::Filter;
use crate::netmask::{Net, Nets};
use crate::subject::Subject;
use crate::texts::Texts;
use clauses::{AT_LAST, AT_NAMES, AT_TAGS, AT_VALUES, Clauses, Masks};
use facts::{Facts, OTHER};
use open::{HOST, MESSAGE, NET, Open, PROGRAM, Shared, TAGS, VALUE, ask, share};
use pattern::MultiPattern;
use record::{Batch, NameId, Record};
use std::sync::Arc;
use tags::AskedTags;
use template::Msg;

/// Filters a set holds.
const FILTERS_MAX: usize = 64;
/// Patterns on a value of which the answer is remembered; fewer are sooner asked than looked up.
const OFTEN_MIN: usize = 5;

/// Up to 64 filters that are asked about the same messages.
pub struct FilterSet {
    open: Vec<Open>,
    clauses: Clauses,
    fields: Vec<Field>,
    nets: Nets,
    tags: AskedTags,
    /// Values and the texts they are compared with.
    values: Vec<(NameId, Texts)>,
}

/// The patterns on one field.
struct Field {
    subject: Subject,
    patterns: MultiPattern,
}

impl Field {
    /// The patterns that match.
    #[inline]
    fn found(&self, msg: Msg<'_>, cx: &mut FilterContext) -> u64 {
        let found = |text: &[u8], work: &mut Workspace| match self.patterns.len() {
            ..OFTEN_MIN => self.patterns.matches(text, u64::MAX, &mut work.patterns),
            _ => self.patterns.matches_often(text, &mut work.patterns),
        };
        match self.subject {
            Subject::Value(name) => {
                let value = msg.batch.value(msg.record, name);
                found(value.map(|value| value.bytes).unwrap_or_default(), &mut cx.work)
            }
            _ => self.subject.with(msg, &mut cx.work, &mut cx.render, found),
        }
    }
}

impl FilterSet {
    /// `None` when the filters cannot be evaluated together: more than 64, or one leaves traces (stored
    /// matches, a rate limit, called filters that are counted). A [`Filter::counted_call`] and
    /// [`Filter::refused_calls`] are left to whoever asks.
    pub fn compile(filters: &[Arc<Filter>]) -> Option<FilterSet> {
        let leaves_traces = |filter: &Arc<Filter>| {
            !filter.is_pure() && filter.counted_call().is_none() && filter.refused_calls().is_none()
        };
        if filters.len() > FILTERS_MAX || filters.iter().any(leaves_traces) {
            return None;
        }
        let mut shared = Shared::default();
        let open: Vec<Open> =
            filters.iter().map(|f| share(f.node(), f, &mut Vec::new(), &mut shared)).collect();
        let clauses = Clauses::of(&open, &shared);
        let Shared { patterns, texts, nets, tags, values, .. } = shared;
        let fixed = [Subject::Host, Subject::Program, Subject::Message];
        // Networks and tags hold their places.
        let placeholders = [Subject::Legacy, Subject::Legacy];
        let subjects = fixed.into_iter().chain(placeholders).chain(texts).zip(&patterns);
        let fields = subjects
            .map(|(subject, list)| Field { subject, patterns: MultiPattern::compile(list) })
            .collect();
        Some(FilterSet { open, clauses, fields, nets: Nets::new(nets), tags, values })
    }

    /// How many of these filters, from the first on, find room for all their patterns in one set.
    pub fn fitting(filters: &[Arc<Filter>]) -> usize {
        let mut shared = Shared::default();
        for (number, filter) in filters.iter().take(FILTERS_MAX).enumerate() {
            share(filter.node(), filter, &mut Vec::new(), &mut shared);
            if shared.full && number > 0 {
                return number;
            }
        }
        filters.len().min(FILTERS_MAX)
    }

    pub fn len(&self) -> usize {
        self.open.len()
    }

    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Appends to `out[n]` the records of the selection that the n-th filter matches.
    pub fn select_all(&self, batch: &Batch, selection: &[u32], cx: &mut FilterContext, out: &mut [Vec<u32>]) {
        self.each(batch, selection, cx, |index, mut found| {
            while found != 0 {
                if let Some(list) = out.get_mut(found.trailing_zeros() as usize) {
                    list.push(index);
                }
                found &= found - 1;
            }
        });
    }

    /// Appends each record of the selection to the list of the first filter that matches it, or to the list
    /// after the last one's.
    pub fn select_first(
        &self,
        batch: &Batch,
        selection: &[u32],
        cx: &mut FilterContext,
        out: &mut [Vec<u32>],
    ) {
        let last = self.open.len();
        self.each(batch, selection, cx, |index, found| {
            let first = (found.trailing_zeros() as usize).min(last);
            if let Some(list) = out.get_mut(first) {
                list.push(index);
            }
        });
    }

    /// The first filter that matches a record.
    #[inline]
    pub fn first(&self, batch: &Batch, record: &Record, cx: &mut FilterContext) -> Option<usize> {
        let found = self.matching(batch, record, cx);
        (found != 0).then(|| found.trailing_zeros() as usize)
    }

    /// Calls `f` with each record and the filters that match it.
    fn each(&self, batch: &Batch, selection: &[u32], cx: &mut FilterContext, mut f: impl FnMut(u32, u64)) {
        for index in selection {
            if let Some(record) = batch.records.get(*index as usize) {
                f(*index, self.matching(batch, record, cx));
            }
        }
    }

    #[inline]
    fn matching(&self, batch: &Batch, record: &Record, cx: &mut FilterContext) -> u64 {
        let Some(mut held) = self.clauses.pri(record.pri) else { return 0 };
        // Those that what is not known yet may still decide.
        let open = |held: Masks, stage: usize| {
            let left = self.clauses.left.get(stage).copied().unwrap_or_default();
            held.or(left).filters() & !held.filters()
        };
        let mut asking = open(held, AT_TAGS);
        if asking == 0 {
            return held.filters();
        }
        let mut facts = Facts::default();
        if self.clauses.asks_field(TAGS, asking) {
            let found = self.tags.of(batch, record);
            facts.fields[TAGS] = found;
            held = held.or(self.clauses.field(TAGS, found));
            asking = open(held, AT_NAMES);
        }
        if asking != 0 {
            held = held.or(self.look_at_names(batch, record, asking, &mut facts, cx));
            asking = open(held, AT_VALUES);
        }
        if asking != 0 {
            held = held.or(self.look(batch, record, asking, &mut facts, cx));
        }
        let asking = open(held, AT_LAST);
        if self.clauses.asks_field(MESSAGE, asking)
            && let Some(Field { patterns, .. }) = self.fields.get(MESSAGE)
        {
            let wanted = self.clauses.messages(asking);
            let found = patterns.matches(batch.bytes(record.message), wanted, &mut cx.work.patterns) & wanted;
            facts.fields[MESSAGE] = found;
            held = held.or(self.clauses.field(MESSAGE, found));
        }
        let mut found = held.filters();
        let mut left = held.or(self.clauses.asked).filters() & !held.filters();
        while left != 0 {
            let index = left.trailing_zeros();
            left &= left - 1;
            if let Some(filter) = self.open.get(index as usize)
                && ask(filter, &facts, batch, record, &mut cx.work, &mut cx.render)
            {
                found |= 1 << index;
            }
        }
        found
    }

    /// Finds out what the filters that are `asking` want to know of HOST, PROGRAM and the sender. Returns
    /// what that fulfills.
    #[inline]
    fn look_at_names(
        &self,
        batch: &Batch,
        record: &Record,
        asking: u64,
        facts: &mut Facts,
        cx: &mut FilterContext,
    ) -> Masks {
        let mut held = Masks::default();
        for field in [HOST, PROGRAM] {
            if self.clauses.asks_field(field, asking)
                && let Some(Field { subject, patterns }) = self.fields.get(field)
            {
                let text = subject.field(record).map(|span| batch.bytes(span)).unwrap_or_default();
                let found = patterns.matches_often(text, &mut cx.work.patterns);
                facts.fields[field] = found;
                held = held.or(self.clauses.field(field, found));
            }
        }
        if self.clauses.asks_field(NET, asking) {
            let found = self.nets.of(Net::sender(batch, record), &mut cx.work.nets);
            facts.fields[NET] = found;
            held = held.or(self.clauses.field(NET, found));
        }
        held
    }

    /// The same of values.
    #[inline]
    fn look(
        &self,
        batch: &Batch,
        record: &Record,
        asking: u64,
        facts: &mut Facts,
        cx: &mut FilterContext,
    ) -> Masks {
        let mut held = Masks::default();
        for (at, field) in self.fields.iter().enumerate().skip(VALUE) {
            if self.clauses.asks_field(at, asking)
                && let Some(fact) = facts.fields.get_mut(at)
            {
                let found = field.found(Msg { batch, record }, cx);
                *fact = found;
                held = held.or(self.clauses.field(at, found));
            }
        }
        for (value, (name, texts)) in self.values.iter().enumerate() {
            if self.clauses.asks_value(value, asking) {
                let text = batch.value(record, *name).map(|v| v.bytes).unwrap_or_default();
                let number = texts.find(text).unwrap_or(OTHER);
                if let Some(fact) = facts.equals.get_mut(value) {
                    *fact = number;
                }
                held = held.or(self.clauses.value(value, number));
            }
        }
        held
    }
}
