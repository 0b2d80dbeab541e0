//! A tree grown pattern by pattern, then laid flat.

use super::{Edge, NONE, Node, Run, Tree};
use crate::pattern_text::{Parser, Piece};
use record::Span;
use std::collections::HashMap;

/// Grows a [`Tree`].
#[derive(Default)]
pub struct Builder {
    nodes: Vec<Growing>,
    parsers: Vec<Parser>,
    known: HashMap<(&'static str, String, String), u32>,
    scans: HashMap<(&'static str, String), u32>,
    scan_of: Vec<u32>,
}

#[derive(Default)]
struct Growing {
    literal: Vec<u8>,
    kids: Vec<u32>,
    edges: Vec<Edge>,
    rule: Option<u32>,
}

impl Builder {
    pub fn new() -> Builder {
        Builder { nodes: vec![Growing::default()], ..Builder::default() }
    }

    /// Adds a pattern that stands for `rule`. `Err` is the rule that has the same pattern already: it stays.
    pub fn insert(&mut self, pieces: &[Piece], rule: u32) -> Result<(), u32> {
        let mut at = 0;
        for piece in pieces {
            at = match piece {
                Piece::Literal(literal) => self.literal(at, literal),
                Piece::Parser(parser) => self.parser(at, parser),
            };
        }
        let node = &mut self.nodes[at];
        match node.rule {
            Some(other) => Err(other),
            None => {
                node.rule = Some(rule);
                Ok(())
            }
        }
    }

    fn literal(&mut self, mut at: usize, literal: &[u8]) -> usize {
        let mut rest = literal;
        while let Some(first) = rest.first() {
            let begins = |n: &u32| self.nodes[*n as usize].literal.first() == Some(first);
            let Some(slot) = self.nodes[at].kids.iter().position(begins) else {
                return self.kid(at, rest.to_vec());
            };
            let kid = self.nodes[at].kids[slot] as usize;
            let shared = self.nodes[kid].literal.iter().zip(rest).take_while(|(a, b)| a == b).count();
            rest = &rest[shared..];
            at = if shared == self.nodes[kid].literal.len() { kid } else { self.split(at, slot, shared) };
        }
        at
    }

    fn kid(&mut self, at: usize, literal: Vec<u8>) -> usize {
        let new = self.nodes.len();
        self.nodes.push(Growing { literal, ..Growing::default() });
        self.nodes[at].kids.push(new as u32);
        new
    }

    /// Puts a node in front of a kid that has the first bytes of its literal.
    fn split(&mut self, at: usize, slot: usize, shared: usize) -> usize {
        let kid = self.nodes[at].kids[slot];
        let tail = self.nodes[kid as usize].literal.split_off(shared);
        let head = std::mem::replace(&mut self.nodes[kid as usize].literal, tail);
        let new = self.nodes.len();
        self.nodes.push(Growing { literal: head, kids: vec![kid], ..Growing::default() });
        self.nodes[at].kids[slot] = new as u32;
        new
    }

    fn parser(&mut self, at: usize, parser: &Parser) -> usize {
        let id = self.intern(parser);
        if let Some(edge) = self.nodes[at].edges.iter().find(|e| e.parser == id) {
            return edge.node as usize;
        }
        let new = self.nodes.len();
        self.nodes.push(Growing::default());
        self.nodes[at].edges.push(Edge { parser: id, node: new as u32 });
        new
    }

    fn intern(&mut self, parser: &Parser) -> u32 {
        let key = (parser.type_name, parser.param.clone(), parser.name.clone());
        let (parsers, scan_of, scans) = (&mut self.parsers, &mut self.scan_of, &mut self.scans);
        *self.known.entry(key).or_insert_with(|| {
            let next = scans.len() as u32;
            scan_of.push(*scans.entry((parser.type_name, parser.param.clone())).or_insert(next));
            parsers.push(parser.clone());
            parsers.len() as u32 - 1
        })
    }

    pub fn finish(mut self) -> Tree {
        let mut tree = Tree { scans: self.scan_of, ..Tree::default() };
        for parser in &self.parsers {
            let mut bits = [0u64; 4];
            for byte in (0..=255u8).filter(|b| parser.scan.can_begin(*b)) {
                bits[usize::from(byte >> 6)] |= 1 << (byte & 63);
            }
            tree.begins.push(bits);
        }
        tree.parsers = self.parsers;
        // Where each node of the flat tree comes from, in the order of their new numbers.
        let mut order = vec![0usize];
        let mut done = 0;
        while let Some(from) = order.get(done).copied() {
            done += 1;
            let nodes = &self.nodes;
            let mut kids = nodes[from].kids.clone();
            kids.sort_by_key(|n| nodes[*n as usize].literal.first().copied());
            let kids_at = Run { start: order.len() as u32, count: kids.len() as u32 };
            order.extend(kids.iter().map(|n| *n as usize));
            let growing = &mut self.nodes[from];
            let edges = Run { start: tree.edges.len() as u32, count: growing.edges.len() as u32 };
            for edge in std::mem::take(&mut growing.edges) {
                tree.edges.push(Edge { parser: edge.parser, node: order.len() as u32 });
                order.push(edge.node as usize);
            }
            let literal = Span::new(tree.bytes.len(), growing.literal.len());
            tree.bytes.extend_from_slice(&growing.literal);
            tree.firsts.push(growing.literal.first().copied().unwrap_or(0));
            tree.nodes.push(Node { literal, kids: kids_at, edges, rule: growing.rule.unwrap_or(NONE) });
        }
        tree
    }
}
