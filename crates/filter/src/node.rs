//! The compiled expression and its evaluation, over a selection and for one record.

use crate::blank::Blank;
use crate::called::Called;
use crate::compare::Compare;
use crate::context::Workspace;
use crate::list::InList;
use crate::matcher::Matcher;
use crate::netmask::Net;
use crate::one_of::OneOf;
use crate::pri::PriTable;
use crate::rate::RateLimit;
use record::{Batch, Demand, Record, TagId};
use std::sync::Arc;
use template::{Msg, RenderContext};

#[derive(Clone)]
pub enum Node {
    Always(bool),
    Pri(PriTable),
    Tags { word: u64, more: Vec<TagId> },
    Net(Net),
    Match(Arc<Matcher>),
    Compare(Arc<Compare>),
    InList(Arc<InList>),
    OneOf(Arc<OneOf>),
    Blank(Arc<Blank>),
    Rate(Arc<RateLimit>),
    Filter(Arc<Called>),
    Not(Box<Node>),
    And(Vec<Node>),
    Or(Vec<Node>),
}

impl Node {
    /// Whether asking leaves no trace: no matches stored, no tokens taken, nothing counted.
    pub fn is_pure(&self) -> bool {
        match self {
            Node::Match(matcher) => matcher.store.is_none(),
            Node::Rate(_) => false,
            Node::Filter(called) => called.tally.is_none() && called.filter.is_pure(),
            Node::Not(node) => node.is_pure(),
            Node::And(nodes) | Node::Or(nodes) => nodes.iter().all(Node::is_pure),
            _ => true,
        }
    }

    /// Itself, or its outcome where no message is needed to know it.
    pub fn settled(self) -> Node {
        let known = match &self {
            Node::Match(matcher) => matcher.constant(),
            Node::Compare(compare) => compare.constant(),
            _ => None,
        };
        known.map_or(self, Node::Always)
    }

    pub fn stores(&self) -> bool {
        match self {
            Node::Match(matcher) => matcher.store.is_some(),
            Node::Filter(called) => called.filter.node().stores(),
            Node::Not(node) => node.stores(),
            Node::And(nodes) | Node::Or(nodes) => nodes.iter().any(Node::stores),
            _ => false,
        }
    }

    /// Whether the condition holds for a record. Stores no matches.
    pub fn holds(
        &self,
        batch: &Batch,
        record: &Record,
        work: &mut Workspace,
        render: &mut RenderContext,
    ) -> bool {
        match self {
            Node::Always(value) => *value,
            Node::Pri(table) => table.has(record.pri),
            Node::Tags { word, more } => {
                record.tags.0 & word != 0 || more.iter().any(|tag| batch.has_tag(record, *tag))
            }
            Node::Net(net) => net.holds(batch, record),
            Node::Match(matcher) => matcher.holds(batch, record, work, render),
            Node::Compare(compare) => compare.holds(Msg { batch, record }, work, render),
            Node::InList(list) => list.holds(Msg { batch, record }, work, render),
            Node::OneOf(list) => list.holds(Msg { batch, record }, work, render),
            Node::Blank(blank) => blank.holds(Msg { batch, record }, work, render),
            Node::Rate(rate) => {
                rate.with(work, |buckets, work| rate.passes(buckets, batch, record, work, render))
            }
            Node::Filter(called) => called.holds(batch, record, work, render),
            Node::Not(node) => !node.holds(batch, record, work, render),
            Node::And(nodes) => nodes.iter().all(|n| n.holds(batch, record, work, render)),
            Node::Or(nodes) => nodes.iter().any(|n| n.holds(batch, record, work, render)),
        }
    }

    /// Leaves in `selection` the records the condition holds for, in their order.
    pub fn narrow(
        &self,
        batch: &mut Batch,
        selection: &mut Vec<u32>,
        work: &mut Workspace,
        render: &mut RenderContext,
    ) {
        match self {
            Node::Always(true) => {}
            Node::Always(false) => selection.clear(),
            Node::Pri(table) => retain(batch, selection, |r| table.has(r.pri)),
            Node::Tags { word, more } if more.is_empty() => {
                retain(batch, selection, |r| r.tags.0 & word != 0)
            }
            Node::Match(matcher) => matcher.narrow(batch, selection, work, render),
            Node::Rate(rate) => {
                rate.with(work, |buckets, work| {
                    retain(batch, selection, |r| rate.passes(buckets, batch, r, work, render));
                });
            }
            Node::Filter(called) => called.narrow(batch, selection, work, render),
            Node::Not(node) => {
                let mut inner = work.selection();
                inner.extend_from_slice(selection);
                node.narrow(batch, &mut inner, work, render);
                without(selection, &inner);
                work.keep_selection(inner);
            }
            Node::And(nodes) => {
                for node in nodes {
                    if selection.is_empty() {
                        return;
                    }
                    node.narrow(batch, selection, work, render);
                }
            }
            Node::Or(nodes) => any_of(nodes, batch, selection, work, render),
            _ => {
                let batch = &*batch;
                retain(batch, selection, |r| self.holds(batch, r, work, render));
            }
        }
    }

    /// About how much it costs to ask, to ask the cheap ones first.
    pub fn cost(&self) -> u32 {
        match self {
            Node::Always(_) => 0,
            Node::Pri(_) => 1,
            Node::Tags { .. } => 2,
            Node::Net(_) => 3,
            Node::Match(matcher) => match (matcher.pattern.engine(), matcher.subject.repeats()) {
                (_, true) => 10,
                (pattern::Engine::Literal(_), _) => 30,
                (pattern::Engine::Glob, _) => 60,
                (pattern::Engine::Automaton, _) => 100,
                (pattern::Engine::Pcre2(_), _) => 300,
            },
            Node::InList(_) | Node::OneOf(_) => 40,
            Node::Compare(_) => 50,
            Node::Blank(_) => 50,
            Node::Rate(_) => 80,
            Node::Filter(called) => called.filter.node().cost(),
            Node::Not(node) => node.cost(),
            Node::And(nodes) | Node::Or(nodes) => nodes.iter().map(Node::cost).sum(),
        }
    }

    pub fn reads(&self, demand: &mut Demand) {
        match self {
            Node::Always(_) | Node::Net(_) => {}
            Node::Pri(_) => demand.pri = true,
            Node::Tags { .. } => demand.tags = true,
            Node::Match(matcher) => matcher.subject.reads(demand),
            Node::Compare(compare) => compare.reads(demand),
            Node::InList(list) => list.subject.reads(demand),
            Node::OneOf(list) => list.subject.reads(demand),
            Node::Blank(blank) => blank.reads(demand),
            Node::Rate(rate) => {
                if let Some(key) = rate.key() {
                    key.reads(demand);
                }
            }
            Node::Filter(called) => called.filter.reads(demand),
            Node::Not(node) => node.reads(demand),
            Node::And(nodes) | Node::Or(nodes) => nodes.iter().for_each(|n| n.reads(demand)),
        }
    }

    /// Calls `f` for every matcher, through named filters too.
    pub fn each_matcher(&self, f: &mut dyn FnMut(&Matcher)) {
        match self {
            Node::Match(matcher) => f(matcher),
            Node::Filter(called) => called.filter.node().each_matcher(f),
            Node::Not(node) => node.each_matcher(f),
            Node::And(nodes) | Node::Or(nodes) => nodes.iter().for_each(|n| n.each_matcher(f)),
            _ => {}
        }
    }
}

/// Like `Vec::retain`, without a branch on the answer: filters are as unpredictable as the messages.
#[inline]
fn retain(batch: &Batch, selection: &mut Vec<u32>, mut keep: impl FnMut(&Record) -> bool) {
    let mut kept = 0;
    for at in 0..selection.len() {
        let index = selection[at];
        // `kept <= at`, so only what was read already is overwritten.
        selection[kept] = index;
        kept += usize::from(batch.records.get(index as usize).is_some_and(&mut keep));
    }
    selection.truncate(kept);
}

/// Removes the elements of `part`, which stand in `selection` in the same order.
fn without(selection: &mut Vec<u32>, part: &[u32]) {
    let mut next = part.iter().peekable();
    selection.retain(|index| next.next_if_eq(&index).is_none());
}

/// Later conditions see only the records still undecided.
fn any_of(
    nodes: &[Node],
    batch: &mut Batch,
    selection: &mut Vec<u32>,
    work: &mut Workspace,
    render: &mut RenderContext,
) {
    let mut open = work.selection();
    open.extend_from_slice(selection);
    let mut found = work.marks(batch.records.len());
    let mut part = work.selection();
    for node in nodes {
        if open.is_empty() {
            break;
        }
        part.clear();
        part.extend_from_slice(&open);
        node.narrow(batch, &mut part, work, render);
        for index in &part {
            if let Some(word) = found.get_mut(*index as usize / 64) {
                *word |= 1 << (index % 64);
            }
        }
        if part.len() == open.len() {
            open.clear();
        } else {
            without(&mut open, &part);
        }
    }
    selection.retain(|index| found.get(*index as usize / 64).is_some_and(|w| w & (1 << (index % 64)) != 0));
    work.keep_selection(open);
    work.keep_selection(part);
    work.keep_marks(found);
}
