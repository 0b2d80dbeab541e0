//! Many sibling filters in one pass over a batch: the branches of a log path, the `if`/`elif` of a chain.
//!
//! A table by PRI says at once which filters facility and severity decide; what they leave open is decided by patterns that share
//! one matcher for each field. The twenty filters of a distribution's default configuration cost little more than one.

use crate::context::{FilterContext, Workspace};
use crate::filter::Filter;
use crate::node::Node;
use crate::pri::{PriTable, VALUES};
use crate::subject::Subject;
use pattern::{MultiPattern, PATTERNS_MAX, Pattern};
use record::{Batch, Record};
use std::sync::Arc;
use template::RenderContext;

/// Filters a set holds.
const FILTERS_MAX: usize = 64;

/// Up to 64 filters that are asked about the same messages.
pub struct FilterSet {
    filters: Vec<Arc<Filter>>,
    rows: Box<[Row]>,
    open: Vec<Open>,
    fields: [Field; 3],
}

/// What a value of PRI decides.
#[derive(Clone, Copy, Default)]
struct Row {
    yes: u64,
    /// Filters that need more than PRI.
    open: u64,
    /// Patterns on MESSAGE those may ask for.
    message: u64,
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
        let mut masks = Vec::with_capacity(filters.len());
        let mut open = Vec::with_capacity(filters.len());
        for filter in filters {
            let mut message = 0;
            open.push(share(filter.node(), filter, &mut Vec::new(), &mut shared, &mut message));
            masks.push(message);
        }
        let rows = (0..VALUES).map(|pri| row(filters, &masks, pri)).collect();
        let [host, program, message] = shared.map(|list: Vec<Arc<Pattern>>| MultiPattern::compile(&list));
        let fields = [
            Field { subject: Subject::Host, patterns: host },
            Field { subject: Subject::Program, patterns: program },
            Field { subject: Subject::Message, patterns: message },
        ];
        Some(FilterSet { filters: filters.to_vec(), rows, open, fields })
    }

    pub fn len(&self) -> usize {
        self.filters.len()
    }

    pub fn is_empty(&self) -> bool {
        self.filters.is_empty()
    }

    /// Appends to `out[n]` the records of the selection that the n-th filter matches.
    pub fn select_all(&self, batch: &Batch, selection: &[u32], cx: &mut FilterContext, out: &mut [Vec<u32>]) {
        for index in selection {
            let Some(record) = batch.records.get(*index as usize) else { continue };
            let mut found = self.matching(batch, record, u64::MAX, cx);
            while found != 0 {
                if let Some(list) = out.get_mut(found.trailing_zeros() as usize) {
                    list.push(*index);
                }
                found &= found - 1;
            }
        }
    }

    /// Appends each record of the selection to the list of the first filter that matches it, or to the list after the last one's.
    pub fn select_first(
        &self,
        batch: &Batch,
        selection: &[u32],
        cx: &mut FilterContext,
        out: &mut [Vec<u32>],
    ) {
        for index in selection {
            let Some(record) = batch.records.get(*index as usize) else { continue };
            let first = self.first(batch, record, cx);
            if let Some(list) = out.get_mut(first) {
                list.push(*index);
            }
        }
    }

    /// The filters that match a record, bit by bit, among the `asked`.
    #[inline]
    pub fn matching(&self, batch: &Batch, record: &Record, asked: u64, cx: &mut FilterContext) -> u64 {
        let row = self.row(record);
        let mut found = row.yes & asked;
        let mut left = row.open & asked;
        if left != 0 {
            let mut seen = Seen { message: row.message, ..Seen::default() };
            while left != 0 {
                let index = left.trailing_zeros();
                left &= left - 1;
                if self.holds(index as usize, batch, record, &mut seen, cx) {
                    found |= 1 << index;
                }
            }
        }
        found
    }

    /// The place of the first filter that matches; their number when none does.
    fn first(&self, batch: &Batch, record: &Record, cx: &mut FilterContext) -> usize {
        let row = self.row(record);
        let sure = (row.yes.trailing_zeros() as usize).min(self.filters.len());
        let mut left = row.open;
        let mut seen = Seen { message: row.message, ..Seen::default() };
        while left != 0 && (left.trailing_zeros() as usize) < sure {
            let index = left.trailing_zeros() as usize;
            left &= left - 1;
            if self.holds(index, batch, record, &mut seen, cx) {
                return index;
            }
        }
        sure
    }

    #[inline]
    fn row(&self, record: &Record) -> Row {
        self.rows.get(usize::from(record.pri)).copied().unwrap_or_default()
    }

    fn holds(
        &self,
        index: usize,
        batch: &Batch,
        record: &Record,
        seen: &mut Seen,
        cx: &mut FilterContext,
    ) -> bool {
        match self.open.get(index) {
            Some(open) => self.ask(open, batch, record, seen, &mut cx.work, &mut cx.render),
            None => false,
        }
    }

    fn ask(
        &self,
        open: &Open,
        batch: &Batch,
        record: &Record,
        seen: &mut Seen,
        work: &mut Workspace,
        render: &mut RenderContext,
    ) -> bool {
        match open {
            Open::Shared { field, bit } => self.answers(*field, batch, record, seen, work) & (1 << bit) != 0,
            Open::Pri(table) => table.has(record.pri),
            Open::Alone(filter, path) => match follow(filter.node(), path) {
                Some(node) => node.holds(batch, record, work, render),
                None => false,
            },
            Open::Not(inner) => !self.ask(inner, batch, record, seen, work, render),
            Open::And(list) => list.iter().all(|o| self.ask(o, batch, record, seen, work, render)),
            Open::Or(list) => list.iter().any(|o| self.ask(o, batch, record, seen, work, render)),
        }
    }

    /// Which of the field's patterns match, found out once per message.
    #[inline]
    fn answers(
        &self,
        field: usize,
        batch: &Batch,
        record: &Record,
        seen: &mut Seen,
        work: &mut Workspace,
    ) -> u64 {
        if let Some(Some(answer)) = seen.fields.get(field) {
            return *answer;
        }
        let Some(Field { subject, patterns }) = self.fields.get(field) else { return 0 };
        let text = subject.field(record).map(|span| batch.bytes(span)).unwrap_or_default();
        let answer = match field {
            MESSAGE => patterns.matches(text, seen.message, &mut work.patterns),
            _ => patterns.matches_often(text, &mut work.patterns),
        };
        if let Some(slot) = seen.fields.get_mut(field) {
            *slot = Some(answer);
        }
        answer
    }
}

/// What was found out about one message.
#[derive(Default)]
struct Seen {
    fields: [Option<u64>; 3],
    message: u64,
}

/// Rewrites an expression over the shared patterns, adding its own; `message` gets their bits on MESSAGE.
fn share(
    node: &Node,
    filter: &Arc<Filter>,
    path: &mut Path,
    shared: &mut [Vec<Arc<Pattern>>; 3],
    message: &mut u64,
) -> Open {
    let mut each = |nodes: &[Node], path: &mut Path, shared: &mut [Vec<Arc<Pattern>>; 3]| {
        let list = nodes.iter().enumerate().map(|(i, n)| {
            path.push(i);
            let open = share(n, filter, path, shared, message);
            path.pop();
            open
        });
        list.collect::<Vec<Open>>()
    };
    match node {
        Node::And(nodes) => Open::And(each(nodes, path, shared)),
        Node::Or(nodes) => Open::Or(each(nodes, path, shared)),
        Node::Not(inner) => {
            let mut list = each(std::slice::from_ref(inner), path, shared);
            match list.pop() {
                Some(open) => Open::Not(Box::new(open)),
                None => Open::Alone(filter.clone(), path.clone()),
            }
        }
        Node::Pri(table) => Open::Pri(table.clone()),
        Node::Filter(inner) => share(inner.node(), inner, &mut Vec::new(), shared, message),
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
            if field == MESSAGE {
                *message |= 1 << bit;
            }
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

fn row(filters: &[Arc<Filter>], messages: &[u64], pri: u16) -> Row {
    let mut row = Row::default();
    for (index, filter) in filters.iter().enumerate() {
        match decided(filter.node(), pri) {
            Some(true) => row.yes |= 1 << index,
            Some(false) => {}
            None => {
                row.open |= 1 << index;
                row.message |= messages.get(index).copied().unwrap_or_default();
            }
        }
    }
    row
}

/// The answer, where PRI alone gives it.
fn decided(node: &Node, pri: u16) -> Option<bool> {
    match node {
        Node::Always(value) => Some(*value),
        Node::Pri(table) => Some(table.has(pri)),
        Node::Filter(filter) => decided(filter.node(), pri),
        Node::Not(inner) => decided(inner, pri).map(|v| !v),
        Node::And(nodes) => any_or_all(nodes, pri, false),
        Node::Or(nodes) => any_or_all(nodes, pri, true),
        _ => None,
    }
}

/// One `decisive` answer decides; all must be known otherwise.
fn any_or_all(nodes: &[Node], pri: u16, decisive: bool) -> Option<bool> {
    let answers = nodes.iter().map(|n| decided(n, pri));
    let mut known = true;
    for answer in answers {
        match answer {
            Some(value) if value == decisive => return Some(decisive),
            Some(_) => {}
            None => known = false,
        }
    }
    known.then_some(!decisive)
}
