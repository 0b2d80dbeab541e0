//! A filter's expression over what the filters of a set share, and the ways to decide it.

use super::facts::{Facts, Row, UNASKED, VALUES_MAX};
use crate::context::Workspace;
use crate::filter::Filter;
use crate::matcher::Matcher;
use crate::node::Node;
use crate::pri::PriTable;
use crate::subject::Subject;
use crate::texts::Texts;
use pattern::{PATTERNS_MAX, Pattern};
use record::{Batch, NameId, Record};
use std::sync::Arc;
use template::RenderContext;

pub const HOST: usize = 0;
pub const PROGRAM: usize = 1;
pub const MESSAGE: usize = 2;

/// A filter's expression over shared patterns.
pub enum Open {
    Pri(PriTable),
    Shared {
        field: usize,
        bit: u32,
    },
    /// A value is this text of its table.
    Equal {
        value: usize,
        text: u16,
    },
    Alone(Arc<Filter>, Path),
    Not(Box<Open>),
    And(Vec<Open>),
    Or(Vec<Open>),
}

/// The way from a filter's root to a node in it.
pub type Path = Vec<usize>;

/// The answer, where the facts give it.
pub fn decided(open: &Open, facts: &Facts) -> Option<bool> {
    match open {
        Open::Pri(table) => Some(table.has(facts.pri)),
        Open::Shared { field, bit } => facts.fields.get(*field)?.map(|answers| answers & (1 << bit) != 0),
        Open::Equal { value, text } => {
            facts.equals.get(*value).filter(|known| **known != UNASKED).map(|known| known == text)
        }
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
pub fn needs(open: &Open, facts: &Facts, row: &mut Row) {
    if decided(open, facts).is_some() {
        return;
    }
    match open {
        Open::Shared { field: HOST, .. } => row.host = true,
        Open::Shared { field: PROGRAM, .. } => row.program = true,
        Open::Shared { bit, .. } => row.message |= 1 << bit,
        Open::Equal { value, .. } => row.equals |= 1 << value,
        Open::Not(inner) => needs(inner, facts, row),
        Open::And(list) | Open::Or(list) => list.iter().for_each(|o| needs(o, facts, row)),
        Open::Pri(_) | Open::Alone(..) => {}
    }
}

/// Decides with the message at hand; the facts hold every shared answer the row asked for.
pub fn ask(
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
        Open::Equal { value, text } => facts.equals.get(*value) == Some(text),
        Open::Alone(filter, path) => match follow(filter.node(), path) {
            Some(node) => node.holds(batch, record, work, render),
            None => false,
        },
        Open::Not(inner) => !ask(inner, facts, batch, record, work, render),
        Open::And(list) => list.iter().all(|o| ask(o, facts, batch, record, work, render)),
        Open::Or(list) => list.iter().any(|o| ask(o, facts, batch, record, work, render)),
    }
}

/// What the filters of a set ask for together.
#[derive(Default)]
pub struct Shared {
    /// Patterns on HOST, PROGRAM, MESSAGE.
    pub patterns: [Vec<Arc<Pattern>>; 3],
    /// Values and the texts they are compared with.
    pub values: Vec<(NameId, Texts)>,
}

impl Shared {
    fn equal(&mut self, name: NameId, text: &[u8]) -> Option<Open> {
        let value = match self.values.iter().position(|(known, _)| *known == name) {
            Some(value) => value,
            None if self.values.len() == VALUES_MAX => return None,
            None => {
                self.values.push((name, Texts::default()));
                self.values.len() - 1
            }
        };
        let text = self.values.get_mut(value)?.1.add(text)?;
        Some(Open::Equal { value, text })
    }

    fn pattern(&mut self, field: usize, matcher: &Matcher) -> Option<Open> {
        let list = self.patterns.get_mut(field)?;
        let alike =
            |p: &Arc<Pattern>| p.text() == matcher.pattern.text() && p.options() == matcher.pattern.options();
        let bit = match list.iter().position(alike) {
            Some(bit) => bit,
            None if list.len() == PATTERNS_MAX => return None,
            None => {
                list.push(matcher.pattern.clone());
                list.len() - 1
            }
        };
        Some(Open::Shared { field, bit: bit as u32 })
    }
}

/// Rewrites an expression over what the set shares, adding its own.
pub fn share(node: &Node, filter: &Arc<Filter>, path: &mut Path, shared: &mut Shared) -> Open {
    let each = |nodes: &[Node], path: &mut Path, shared: &mut Shared| {
        let list = nodes.iter().enumerate().map(|(i, n)| {
            path.push(i);
            let open = share(n, filter, path, shared);
            path.pop();
            open
        });
        list.collect::<Vec<Open>>()
    };
    let open = match node {
        Node::And(nodes) => return Open::And(each(nodes, path, shared)),
        Node::Or(nodes) => return Open::Or(each(nodes, path, shared)),
        Node::Not(inner) => match each(std::slice::from_ref(inner), path, shared).pop() {
            Some(open) => Some(Open::Not(Box::new(open))),
            None => None,
        },
        Node::Pri(table) => Some(Open::Pri(table.clone())),
        Node::Filter(inner) => Some(share(inner.node(), inner, &mut Vec::new(), shared)),
        Node::Match(matcher) => match matcher.subject {
            Subject::Host => shared.pattern(HOST, matcher),
            Subject::Program => shared.pattern(PROGRAM, matcher),
            Subject::Message => shared.pattern(MESSAGE, matcher),
            _ => None,
        },
        Node::Compare(compare) => compare.equality().and_then(|(name, text, equal)| {
            let open = shared.equal(name, text)?;
            Some(if equal { open } else { Open::Not(Box::new(open)) })
        }),
        Node::OneOf(list) => {
            let texts = list.texts.iter().map(|text| shared.equal(list.name, text));
            texts.collect::<Option<Vec<Open>>>().map(Open::Or)
        }
        _ => None,
    };
    open.unwrap_or_else(|| Open::Alone(filter.clone(), path.clone()))
}

fn follow<'n>(node: &'n Node, path: &[usize]) -> Option<&'n Node> {
    let Some((first, rest)) = path.split_first() else { return Some(node) };
    match node {
        Node::And(nodes) | Node::Or(nodes) => follow(nodes.get(*first)?, rest),
        Node::Not(inner) => follow(inner, rest),
        _ => None,
    }
}
