//! Many sibling filters in one pass over a batch: the branches of a log path, the `if`/`elif` of a chain.
//!
//! A table by PRI says at once which filters facility and severity decide; what they leave open is decided by patterns that share
//! one matcher for each field. The twenty filters of a distribution's default configuration cost little more than one.

use crate::context::{FilterContext, Workspace, new_asker};
use crate::filter::Filter;
use crate::node::Node;
use crate::pri::{PriTable, VALUES};
use crate::subject::Subject;
use pattern::{MultiPattern, PATTERNS_MAX, Pattern};
use record::{Batch, Record};
use std::collections::HashMap;
use std::sync::Arc;
use template::RenderContext;

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
    asker: u64,
}

/// What is known so far decides these.
#[derive(Clone, Copy, Default)]
struct Row {
    yes: u64,
    /// Filters that need more.
    open: u64,
    /// Of those: true when no pattern on MESSAGE matches, which is the usual case. Filters that ask for something else as well
    /// are in `other` instead.
    quiet: u64,
    other: u64,
    /// Patterns on MESSAGE the open ones may ask for.
    message: u64,
    /// The open ones may ask for HOST, for PROGRAM.
    host: bool,
    program: bool,
}

/// Facts about a message; `None` where nobody looked.
#[derive(Clone, Copy, Default)]
struct Facts {
    pri: u16,
    fields: [Option<u64>; 3],
}

/// A filter's expression over shared patterns.
enum Open {
    Pri(PriTable),
    Shared { field: usize, bit: u32 },
    Alone(Arc<Filter>, Path),
    Not(Box<Open>),
    And(Vec<Open>),
    Or(Vec<Open>),
}

/// The way from a filter's root to a node in it.
type Path = Vec<usize>;

/// The patterns on one field.
struct Field {
    subject: Subject,
    patterns: MultiPattern,
}

const HOST: usize = 0;
const PROGRAM: usize = 1;
const MESSAGE: usize = 2;

impl FilterSet {
    /// `None` when the filters cannot be evaluated together: more than 64, or one leaves traces (stored matches, a rate limit).
    pub fn compile(filters: &[Arc<Filter>]) -> Option<FilterSet> {
        if filters.len() > FILTERS_MAX || filters.iter().any(|f| !f.is_pure()) {
            return None;
        }
        let mut shared = [Vec::new(), Vec::new(), Vec::new()];
        let open: Vec<Open> =
            filters.iter().map(|f| share(f.node(), f, &mut Vec::new(), &mut shared)).collect();
        let [host, program, message] = shared.map(|list: Vec<Arc<Pattern>>| MultiPattern::compile(&list));
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
            asker: new_asker(),
        };
        set.rows = (0..VALUES).map(|pri| set.row(&Facts { pri, ..Facts::default() }, u64::MAX)).collect();
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
        let mut facts = Facts { pri: record.pri, ..Facts::default() };
        let refined;
        let row = if row.host || row.program {
            for (field, asked) in [(HOST, row.host), (PROGRAM, row.program)] {
                if asked && let Some(Field { subject, patterns }) = self.fields.get(field) {
                    let text = subject.field(record).map(|span| batch.bytes(span)).unwrap_or_default();
                    facts.fields[field] = Some(patterns.matches_often(text, &mut cx.work.patterns));
                }
            }
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
            Open::Shared { .. } | Open::Alone(..) => {}
        }
    }
    let mut tables = Vec::new();
    open.iter().for_each(|filter| gather(filter, &mut tables));
    let mut least: HashMap<Vec<bool>, u16> = HashMap::new();
    let answers = |pri: u16| tables.iter().map(|table| table.has(pri)).collect();
    (0..VALUES).map(|pri| *least.entry(answers(pri)).or_insert(pri)).collect()
}

/// Rows for facts seen before: a table of fixed size.
pub(crate) struct Known {
    places: Vec<(Facts, Row)>,
}

/// A power of two.
const KNOWN: usize = 128;

impl Default for Known {
    fn default() -> Known {
        // No PRI is this large.
        let nobody = Facts { pri: u16::MAX, ..Facts::default() };
        Known { places: vec![(nobody, Row::default()); KNOWN] }
    }
}

impl Known {
    #[inline]
    fn row(&mut self, facts: &Facts, make: impl FnOnce() -> Row) -> Row {
        let [host, program, _] = facts.fields.map(|f| f.unwrap_or(1 << 63));
        let hash = (u64::from(facts.pri) ^ host.rotate_left(17) ^ program.rotate_left(39))
            .wrapping_mul(0x9e37_79b9_7f4a_7c15);
        match self.places.get_mut((hash >> 57) as usize & (KNOWN - 1)) {
            Some((seen, row)) if seen.pri == facts.pri && seen.fields == facts.fields => *row,
            Some(place) => {
                *place = (*facts, make());
                place.1
            }
            None => make(),
        }
    }
}

/// The answer, where the facts give it.
fn decided(open: &Open, facts: &Facts) -> Option<bool> {
    match open {
        Open::Pri(table) => Some(table.has(facts.pri)),
        Open::Shared { field, bit } => facts.fields.get(*field)?.map(|answers| answers & (1 << bit) != 0),
        Open::Alone(filter, path) => match follow(filter.node(), path) {
            Some(Node::Always(value)) => Some(*value),
            _ => None,
        },
        Open::Not(inner) => decided(inner, facts).map(|v| !v),
        Open::And(list) => any_or_all(list, facts, false),
        Open::Or(list) => any_or_all(list, facts, true),
    }
}

/// One `decisive` answer decides; all must be known otherwise.
fn any_or_all(list: &[Open], facts: &Facts, decisive: bool) -> Option<bool> {
    let mut known = true;
    for open in list {
        match decided(open, facts) {
            Some(value) if value == decisive => return Some(decisive),
            Some(_) => {}
            None => known = false,
        }
    }
    known.then_some(!decisive)
}

/// Notes what the undecided parts ask for.
fn needs(open: &Open, facts: &Facts, row: &mut Row) {
    if decided(open, facts).is_some() {
        return;
    }
    match open {
        Open::Shared { field: HOST, .. } => row.host = true,
        Open::Shared { field: PROGRAM, .. } => row.program = true,
        Open::Shared { bit, .. } => row.message |= 1 << bit,
        Open::Not(inner) => needs(inner, facts, row),
        Open::And(list) | Open::Or(list) => list.iter().for_each(|o| needs(o, facts, row)),
        Open::Pri(_) | Open::Alone(..) => {}
    }
}

/// Decides with the message at hand; the facts hold every shared answer the row asked for.
fn ask(
    open: &Open,
    facts: &Facts,
    batch: &Batch,
    record: &Record,
    work: &mut Workspace,
    render: &mut RenderContext,
) -> bool {
    match open {
        Open::Pri(table) => table.has(record.pri),
        Open::Shared { field, bit } => {
            facts.fields.get(*field).copied().flatten().unwrap_or_default() & (1 << bit) != 0
        }
        Open::Alone(filter, path) => match follow(filter.node(), path) {
            Some(node) => node.holds(batch, record, work, render),
            None => false,
        },
        Open::Not(inner) => !ask(inner, facts, batch, record, work, render),
        Open::And(list) => list.iter().all(|o| ask(o, facts, batch, record, work, render)),
        Open::Or(list) => list.iter().any(|o| ask(o, facts, batch, record, work, render)),
    }
}

/// Rewrites an expression over the shared patterns, adding its own.
fn share(node: &Node, filter: &Arc<Filter>, path: &mut Path, shared: &mut [Vec<Arc<Pattern>>; 3]) -> Open {
    let each = |nodes: &[Node], path: &mut Path, shared: &mut [Vec<Arc<Pattern>>; 3]| {
        let list = nodes.iter().enumerate().map(|(i, n)| {
            path.push(i);
            let open = share(n, filter, path, shared);
            path.pop();
            open
        });
        list.collect::<Vec<Open>>()
    };
    match node {
        Node::And(nodes) => Open::And(each(nodes, path, shared)),
        Node::Or(nodes) => Open::Or(each(nodes, path, shared)),
        Node::Not(inner) => match each(std::slice::from_ref(inner), path, shared).pop() {
            Some(open) => Open::Not(Box::new(open)),
            None => Open::Alone(filter.clone(), path.clone()),
        },
        Node::Pri(table) => Open::Pri(table.clone()),
        Node::Filter(inner) => share(inner.node(), inner, &mut Vec::new(), shared),
        Node::Match(matcher) => {
            let field = match matcher.subject {
                Subject::Host => HOST,
                Subject::Program => PROGRAM,
                Subject::Message => MESSAGE,
                _ => return Open::Alone(filter.clone(), path.clone()),
            };
            let list = &mut shared[field];
            let alike = |p: &Arc<Pattern>| {
                p.text() == matcher.pattern.text() && p.options() == matcher.pattern.options()
            };
            let bit = match list.iter().position(alike) {
                Some(bit) => bit,
                None if list.len() == PATTERNS_MAX => return Open::Alone(filter.clone(), path.clone()),
                None => {
                    list.push(matcher.pattern.clone());
                    list.len() - 1
                }
            };
            Open::Shared { field, bit: bit as u32 }
        }
        _ => Open::Alone(filter.clone(), path.clone()),
    }
}

fn follow<'n>(node: &'n Node, path: &[usize]) -> Option<&'n Node> {
    let Some((first, rest)) = path.split_first() else { return Some(node) };
    match node {
        Node::And(nodes) | Node::Or(nodes) => follow(nodes.get(*first)?, rest),
        Node::Not(inner) => follow(inner, rest),
        _ => None,
    }
}
