//! A filter's expression over what the filters of a set share, and how it is asked by itself.

use super::facts::{FIELDS_MAX, Facts, VALUES_MAX};
use super::tags::AskedTags;
use crate::context::Workspace;
use crate::filter::Filter;
use crate::matcher::Matcher;
use crate::netmask::Net;
use crate::node::Node;
use crate::pri::PriTable;
use crate::subject::Subject;
use crate::texts::Texts;
use pattern::{PATTERNS_MAX, Pattern};
use record::{Batch, NameId, Record, TagId};
use std::sync::Arc;
use template::RenderContext;

pub const HOST: usize = 0;
pub const PROGRAM: usize = 1;
pub const MESSAGE: usize = 2;
/// The networks of netmask() and netmask6().
pub const NET: usize = 3;
/// What tags() asks for.
pub const TAGS: usize = 4;
/// The first of those that are values.
pub const VALUE: usize = 5;

/// A filter's expression over shared patterns and texts.
pub enum Open {
    Pri(PriTable),
    Pattern {
        field: usize,
        bit: u32,
    },
    /// A value is one of these texts of its table; their numbers are sorted.
    Equal {
        value: usize,
        texts: Box<[u16]>,
    },
    Alone(Arc<Filter>, Path),
    Not(Box<Open>),
    And(Vec<Open>),
    Or(Vec<Open>),
}

/// The way from a filter's root to a node in it.
pub type Path = Vec<usize>;

/// Decides with the message at hand; the facts hold every shared answer the filter asks for.
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
        Open::Pattern { field, bit } => facts.fields.get(*field).is_some_and(|found| found & (1 << bit) != 0),
        Open::Equal { value, texts } => {
            facts.equals.get(*value).is_some_and(|text| texts.binary_search(text).is_ok())
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

/// What the filters of a set ask for together.
#[derive(Default)]
pub struct Shared {
    /// Patterns on HOST, PROGRAM, MESSAGE and `texts`.
    pub patterns: [Vec<Arc<Pattern>>; FIELDS_MAX],
    /// The fields from [`VALUE`] on: values, and parameters of STRUCTURED-DATA.
    pub texts: Vec<Subject>,
    pub nets: Vec<Net>,
    pub tags: AskedTags,
    /// Some pattern found no room beside the others of its field, or some test of tags.
    pub full: bool,
    /// Values and the texts they are compared with.
    pub values: Vec<(NameId, Texts)>,
}

impl Shared {
    fn equal<'t>(&mut self, name: NameId, texts: impl IntoIterator<Item = &'t [u8]>) -> Option<Open> {
        let value = match self.values.iter().position(|(known, _)| *known == name) {
            Some(value) => value,
            None if self.values.len() == VALUES_MAX => return None,
            None => {
                self.values.push((name, Texts::default()));
                self.values.len() - 1
            }
        };
        let table = &mut self.values.get_mut(value)?.1;
        let mut texts = texts.into_iter().map(|text| table.add(text)).collect::<Option<Vec<u16>>>()?;
        texts.sort_unstable();
        Some(Open::Equal { value, texts: texts.into() })
    }

    fn pattern(&mut self, field: usize, matcher: &Matcher) -> Option<Open> {
        let list = self.patterns.get_mut(field)?;
        let alike =
            |p: &Arc<Pattern>| p.text() == matcher.pattern.text() && p.options() == matcher.pattern.options();
        let bit = match list.iter().position(alike) {
            Some(bit) => bit,
            None if list.len() == PATTERNS_MAX => {
                self.full = true;
                return None;
            }
            None => {
                list.push(matcher.pattern.clone());
                list.len() - 1
            }
        };
        Some(Open::Pattern { field, bit: bit as u32 })
    }

    /// A pattern on a value, or on a template that prints one and nothing else.
    fn on_value(&mut self, matcher: &Matcher) -> Option<Open> {
        let name = name_of(&matcher.subject)?;
        let known = self.texts.iter().position(|known| name_of(known) == Some(name));
        let at = known.unwrap_or(self.texts.len());
        if VALUE + at >= FIELDS_MAX {
            return None;
        }
        if known.is_none() {
            self.texts.push(match &matcher.subject {
                Subject::Template(template) => Subject::Template(Arc::clone(template)),
                _ => Subject::of_name(name),
            });
        }
        self.pattern(VALUE + at, matcher)
    }

    fn tagged(&mut self, word: u64, more: &[TagId]) -> Option<Open> {
        let Some(bit) = self.tags.add(word, more) else {
            self.full = true;
            return None;
        };
        Some(Open::Pattern { field: TAGS, bit })
    }

    fn net(&mut self, net: Net) -> Option<Open> {
        let bit = match self.nets.iter().position(|known| *known == net) {
            Some(bit) => bit,
            None if self.nets.len() == PATTERNS_MAX => return None,
            None => {
                self.nets.push(net);
                self.nets.len() - 1
            }
        };
        Some(Open::Pattern { field: NET, bit: bit as u32 })
    }
}

fn name_of(subject: &Subject) -> Option<NameId> {
    match subject {
        Subject::Template(template) => template.single_name(),
        subject => subject.name(),
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
        Node::Not(inner) => {
            each(std::slice::from_ref(inner), path, shared).pop().map(|open| Open::Not(Box::new(open)))
        }
        Node::Always(outcome) => Some(Open::Pri(PriTable::of(|_| *outcome))),
        Node::Pri(table) => Some(Open::Pri(table.clone())),
        Node::Net(net) => shared.net(*net),
        Node::Tags { word, more } => shared.tagged(*word, more),
        Node::Filter(called) => {
            let inner = &called.filter;
            Some(share(inner.node(), inner, &mut Vec::new(), shared))
        }
        Node::Match(matcher) => match matcher.subject {
            Subject::Host => shared.pattern(HOST, matcher),
            Subject::Program => shared.pattern(PROGRAM, matcher),
            Subject::Message => shared.pattern(MESSAGE, matcher),
            _ => shared.on_value(matcher),
        },
        Node::Compare(compare) => compare.equality().and_then(|(name, text, equal)| {
            let open = shared.equal(name, [text])?;
            Some(if equal { open } else { Open::Not(Box::new(open)) })
        }),
        Node::OneOf(list) => shared.equal(list.name, list.texts.iter()),
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
