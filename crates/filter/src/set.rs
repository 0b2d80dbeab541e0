//! Many sibling filters in one pass over a batch: the branches of a log path, the `if`/`elif` of a chain.
//!
//! A table by PRI says at once which filters facility and severity decide; what they leave open is decided by patterns that share
//! one matcher for each field, and by values whose texts are looked up once for all filters that compare them. The twenty filters of a distribution's default configuration cost little more than one.

mod facts;
mod open;

pub(crate) use facts::Known;

use crate::context::{FilterContext, new_asker};
use crate::filter::Filter;
use crate::pri::{PriTable, VALUES};
use crate::subject::Subject;
use crate::texts::Texts;
use facts::{Facts, OTHER, Row};
use open::{HOST, MESSAGE, Open, PROGRAM, Shared, ask, decided, needs, share};
use pattern::MultiPattern;
use record::{Batch, NameId, Record};
use std::collections::HashMap;
use std::sync::Arc;

/// Filters a set holds.
const FILTERS_MAX: usize = 64;

/// Up to 64 filters that are asked about the same messages.
pub struct FilterSet {
    filters: Vec<Arc<Filter>>,
    rows: Box<[Row]>,
    /// By PRI, the least PRI that facility and severity filters answer alike: facts are remembered by it.
    alike: Box<[u16]>,
    open: Vec<Open>,
    fields: [Field; 3],
    /// Values and the texts they are compared with.
    values: Vec<(NameId, Texts)>,
    asker: u64,
}

/// The patterns on one field.
struct Field {
    subject: Subject,
    patterns: MultiPattern,
}

impl FilterSet {
    /// `None` when the filters cannot be evaluated together: more than 64, or one leaves traces (stored matches, a rate limit).
    pub fn compile(filters: &[Arc<Filter>]) -> Option<FilterSet> {
        if filters.len() > FILTERS_MAX || filters.iter().any(|f| !f.is_pure()) {
            return None;
        }
        let mut shared = Shared::default();
        let open: Vec<Open> =
            filters.iter().map(|f| share(f.node(), f, &mut Vec::new(), &mut shared)).collect();
        let Shared { patterns, values } = shared;
        let [host, program, message] = patterns.map(|list| MultiPattern::compile(&list));
        let fields = [
            Field { subject: Subject::Host, patterns: host },
            Field { subject: Subject::Program, patterns: program },
            Field { subject: Subject::Message, patterns: message },
        ];
        let mut set = FilterSet {
            filters: filters.to_vec(),
            rows: Box::default(),
            alike: alike(&open),
            open,
            fields,
            values,
            asker: new_asker(),
        };
        set.rows = (0..VALUES).map(|pri| set.row(&Facts::of(pri), u64::MAX)).collect();
        Some(set)
    }

    pub fn len(&self) -> usize {
        self.filters.len()
    }

    pub fn is_empty(&self) -> bool {
        self.filters.is_empty()
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

    /// Appends each record of the selection to the list of the first filter that matches it, or to the list after the last one's.
    pub fn select_first(
        &self,
        batch: &Batch,
        selection: &[u32],
        cx: &mut FilterContext,
        out: &mut [Vec<u32>],
    ) {
        let last = self.filters.len();
        self.each(batch, selection, cx, |index, found| {
            let first = (found.trailing_zeros() as usize).min(last);
            if let Some(list) = out.get_mut(first) {
                list.push(index);
            }
        });
    }

    /// Calls `f` with each record and the filters that match it.
    fn each(&self, batch: &Batch, selection: &[u32], cx: &mut FilterContext, mut f: impl FnMut(u32, u64)) {
        let mut known = cx.work.take_known(self.asker);
        for index in selection {
            if let Some(record) = batch.records.get(*index as usize) {
                f(*index, self.matching(batch, record, &mut known, cx));
            }
        }
        cx.work.keep_known(self.asker, known);
    }

    #[inline]
    fn matching(&self, batch: &Batch, record: &Record, known: &mut Known, cx: &mut FilterContext) -> u64 {
        let Some(row) = self.rows.get(usize::from(record.pri)) else { return 0 };
        if row.open == 0 {
            return row.yes;
        }
        let mut facts = Facts::of(record.pri);
        let refined;
        let row = if row.host || row.program || row.equals != 0 {
            self.look(batch, record, row, &mut facts, cx);
            facts.pri = self.alike.get(usize::from(record.pri)).copied().unwrap_or(record.pri);
            refined = known.row(&facts, || self.row(&facts, row.open | row.yes));
            if refined.open == 0 {
                return refined.yes;
            }
            refined
        } else {
            *row
        };
        let mut found = row.yes;
        let mut left = row.open;
        if row.message != 0
            && let Some(Field { patterns, .. }) = self.fields.get(MESSAGE)
        {
            let answer = patterns.matches(batch.bytes(record.message), row.message, &mut cx.work.patterns);
            facts.fields[MESSAGE] = Some(answer);
            if answer == 0 {
                found |= row.quiet;
                left = row.other;
            }
        }
        while left != 0 {
            let index = left.trailing_zeros();
            left &= left - 1;
            if let Some(open) = self.open.get(index as usize)
                && ask(open, &facts, batch, record, &mut cx.work, &mut cx.render)
            {
                found |= 1 << index;
            }
        }
        found
    }

    /// Finds out what a row asks for of values that come again and again.
    #[inline]
    fn look(&self, batch: &Batch, record: &Record, row: &Row, facts: &mut Facts, cx: &mut FilterContext) {
        for (field, asked) in [(HOST, row.host), (PROGRAM, row.program)] {
            if asked && let Some(Field { subject, patterns }) = self.fields.get(field) {
                let text = subject.field(record).map(|span| batch.bytes(span)).unwrap_or_default();
                facts.fields[field] = Some(patterns.matches_often(text, &mut cx.work.patterns));
            }
        }
        let mut asked = row.equals;
        while asked != 0 {
            let value = asked.trailing_zeros() as usize;
            asked &= asked - 1;
            if let (Some((name, texts)), Some(fact)) = (self.values.get(value), facts.equals.get_mut(value)) {
                let text = batch.value(record, *name).map(|v| v.bytes).unwrap_or_default();
                *fact = texts.find(text).unwrap_or(OTHER);
            }
        }
    }

    /// What the facts say about the `asked` filters.
    fn row(&self, facts: &Facts, asked: u64) -> Row {
        let mut row = Row::default();
        let mut quiet = *facts;
        quiet.fields[MESSAGE] = Some(0);
        for (index, open) in self.open.iter().enumerate().filter(|(i, _)| asked & (1 << i) != 0) {
            match decided(open, facts) {
                Some(true) => row.yes |= 1 << index,
                Some(false) => continue,
                None => {
                    row.open |= 1 << index;
                    match decided(open, &quiet) {
                        Some(true) => row.quiet |= 1 << index,
                        Some(false) => {}
                        None => row.other |= 1 << index,
                    }
                    needs(open, facts, &mut row);
                }
            }
        }
        row
    }
}

/// For each PRI the least one about which all tables say the same.
fn alike(open: &[Open]) -> Box<[u16]> {
    fn gather<'o>(open: &'o Open, tables: &mut Vec<&'o PriTable>) {
        match open {
            Open::Pri(table) => tables.push(table),
            Open::Not(inner) => gather(inner, tables),
            Open::And(list) | Open::Or(list) => list.iter().for_each(|inner| gather(inner, tables)),
            Open::Shared { .. } | Open::Equal { .. } | Open::Alone(..) => {}
        }
    }
    let mut tables = Vec::new();
    open.iter().for_each(|filter| gather(filter, &mut tables));
    let mut least: HashMap<Vec<bool>, u16> = HashMap::new();
    let answers = |pri: u16| tables.iter().map(|table| table.has(pri)).collect();
    (0..VALUES).map(|pri| *least.entry(answers(pri)).or_insert(pri)).collect()
}
