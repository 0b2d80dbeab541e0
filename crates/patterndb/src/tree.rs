//! All patterns of a ruleset as one tree, searched once: at each place the literal that goes on, then the
//! parsers in the order in which the file has them, then the rule that ends here. A pattern matches the
//! beginning of a text.
//!
//! The tree lies flat: nodes, edges and all bytes of literals in one array each, children side by side. As
//! each parser has one answer at one place, a search comes to each node at most once. A pattern that matches
//! the whole text goes before one that matches only its beginning.

mod build;
mod dump;

pub use build::Builder;

use crate::pattern_text::Parser;
use crate::scan::Hit;
use pattern::{Cache, Slots};
use record::Span;

/// Parsers tried for one text: beyond it the text counts as unknown.
const TRIES_MAX: u32 = 100_000;
/// No rule ends at a node.
const NONE: u32 = u32::MAX;

#[derive(Clone, Debug, Default)]
pub struct Tree {
    nodes: Vec<Node>,
    /// First byte of each node's literal, by its number.
    firsts: Vec<u8>,
    edges: Vec<Edge>,
    parsers: Vec<Parser>,
    /// What each parser has in common with others: the same number, the same answer.
    scans: Vec<u32>,
    /// Which bytes a parser can begin with, a bit each.
    begins: Vec<[u64; 4]>,
    bytes: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    /// In `bytes`.
    literal: Span,
    kids: Run,
    edges: Run,
    rule: u32,
}

/// Entries `start..start + count` of a table.
#[derive(Clone, Copy, Debug, Default)]
struct Run {
    start: u32,
    count: u32,
}

#[derive(Clone, Copy, Debug)]
struct Edge {
    parser: u32,
    node: u32,
}

/// What a parser matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capture {
    /// Index into [`Tree::parsers`].
    pub parser: u32,
    /// In the text that was searched.
    pub value: Span,
    /// Where what was consumed ends.
    pub end: u32,
}

/// Where a search can go on when it has come to nothing.
#[derive(Clone, Copy, Debug)]
struct Choice {
    node: u32,
    at: u32,
    edge: u32,
    captures: u32,
}

/// What a worker keeps for searches.
#[derive(Default)]
pub struct Search {
    pub captures: Vec<Capture>,
    choices: Vec<Choice>,
    /// Of the first pattern that matched only the beginning.
    beginning: Vec<Capture>,
    cache: Cache,
    slots: Slots,
}

/// Is told how far a search comes.
pub trait Watch {
    fn reached(&mut self, _node: u32, _at: usize) {}
}

impl Watch for () {}

impl Tree {
    pub fn parsers(&self) -> &[Parser] {
        &self.parsers
    }

    pub fn is_empty(&self) -> bool {
        self.nodes.iter().all(|n| n.rule == NONE)
    }

    /// The rule for a text; what its parsers matched is left in `search.captures`.
    #[inline]
    pub fn find(&self, text: &[u8], search: &mut Search) -> Option<u32> {
        self.find_watched(text, search, &mut ())
    }

    pub fn find_watched(&self, text: &[u8], search: &mut Search, watch: &mut impl Watch) -> Option<u32> {
        search.captures.clear();
        search.choices.clear();
        let (mut at, mut tries) = (0usize, 0u32);
        let mut number = 0u32;
        let mut node = self.nodes.first()?;
        let mut beginning = None;
        'down: loop {
            watch.reached(number, at);
            let rest = text.get(at..)?;
            let mut edge = 0;
            if let Some(kid) = self.kid(node, rest) {
                if node.edges.count > 0 || node.rule != NONE {
                    search.choices.push(Choice {
                        node: number,
                        at: at as u32,
                        edge: 0,
                        captures: search.captures.len() as u32,
                    });
                }
                number = kid;
                node = self.nodes.get(kid as usize)?;
                at += node.literal.len as usize;
                continue;
            }
            // Nothing literal goes on: parsers, then the rule, then back to the last choice.
            loop {
                if let Some((taken, hit, to)) = self.parser(node, edge, text, at, &mut tries, search) {
                    search.choices.push(Choice {
                        node: number,
                        at: at as u32,
                        edge: taken + 1,
                        captures: search.captures.len() as u32,
                    });
                    let parser = self.edges.get((node.edges.start + taken) as usize)?.parser;
                    let value = Span::between(at + hit.start, at + hit.end);
                    let end = (at + hit.len) as u32;
                    search.captures.push(Capture { parser, value, end });
                    at += hit.len;
                    number = to;
                    node = self.nodes.get(to as usize)?;
                    continue 'down;
                }
                if node.rule != NONE {
                    if at == text.len() || beginning.is_none() && search.choices.is_empty() {
                        return Some(node.rule);
                    }
                    if beginning.is_none() {
                        beginning = Some(node.rule);
                        search.beginning.clone_from(&search.captures);
                    }
                }
                let Some(choice) = search.choices.pop() else {
                    if beginning.is_some() {
                        std::mem::swap(&mut search.captures, &mut search.beginning);
                    }
                    return beginning;
                };
                search.captures.truncate(choice.captures as usize);
                (number, at, edge) = (choice.node, choice.at as usize, choice.edge);
                node = self.nodes.get(number as usize)?;
            }
        }
    }

    /// The child whose literal a text begins with.
    #[inline]
    fn kid(&self, node: &Node, rest: &[u8]) -> Option<u32> {
        let first = rest.first()?;
        let (start, count) = (node.kids.start as usize, node.kids.count as usize);
        let firsts = self.firsts.get(start..start + count)?;
        let found = match firsts {
            [] => return None,
            [one] => (one == first).then_some(0),
            few if few.len() < 16 => few.iter().position(|b| b == first),
            many => many.binary_search(first).ok(),
        }?;
        let literal = self.nodes.get(start + found)?.literal.of(&self.bytes);
        rest.starts_with(literal).then_some((start + found) as u32)
    }

    /// The first parser from `from` on that matches: which of the node's, what it matched, where it leads.
    #[inline]
    fn parser(
        &self,
        node: &Node,
        from: u32,
        text: &[u8],
        at: usize,
        tries: &mut u32,
        search: &mut Search,
    ) -> Option<(u32, Hit, u32)> {
        let rest = text.get(at..)?;
        let first = *rest.first()?;
        let mut last = (NONE, None);
        for index in from..node.edges.count {
            let edge = self.edges.get((node.edges.start + index) as usize)?;
            let parser = edge.parser as usize;
            if self.begins.get(parser)?[usize::from(first >> 6)] >> (first & 63) & 1 == 0 {
                continue;
            }
            let scan = *self.scans.get(parser)?;
            if last.0 != scan {
                *tries += 1;
                if *tries > TRIES_MAX {
                    return None;
                }
                let Search { cache, slots, .. } = search;
                last = (scan, self.parsers.get(parser)?.scan.find(rest, cache, slots));
            }
            if let Some(hit) = last.1 {
                return Some((index, hit, edge.node));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests;
