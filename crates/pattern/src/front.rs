//! Patterns tied to the beginning of a text, asked together: one walk over its first bytes says which of them
//! may match. Most walks end after a few bytes.

use crate::cache::{Cache, Scratch, Ticket};
use crate::emit::emit;
use crate::node::{Assert, Node};
use crate::pattern::Pattern;
use regex_automata::hybrid::dfa;
use regex_automata::nfa::thompson::{self, WhichCaptures};
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input, MatchKind};
use std::sync::Arc;

/// Fewer are sooner asked one by one.
const MEMBERS_MIN: usize = 2;
/// Bytes of a text that are looked at; what is open then may match.
const WINDOW: usize = 256;
/// Lazily built states a worker keeps.
const STATES_BYTES_MAX: usize = 256 << 10;
/// A worker that needs more of them so often does without.
const CLEARED_MAX: usize = 4;
const NFA_BYTES_MAX: usize = 1 << 20;
/// A beginning is cut behind so many places.
const PLACES_MAX: u32 = 96;
/// Repetitions that are counted.
const TIMES_MAX: u32 = 16;
/// A repeated set of more bytes takes almost everything: there a beginning is cut.
const NARROW_MAX: u32 = 80;

pub struct Front {
    pub members: u64,
    /// By pattern of the automaton, its bit.
    bits: Vec<u64>,
    dfa: dfa::DFA,
    ticket: Ticket,
}

pub(crate) struct FrontScratch {
    cache: dfa::Cache,
    gave_up: bool,
}

impl Front {
    pub fn new(patterns: &[Arc<Pattern>]) -> Option<Front> {
        let beginnings = patterns.iter().enumerate();
        let beginnings = beginnings.filter_map(|(at, pattern)| Some((1 << at, pattern.beginning()?)));
        let (bits, texts): (Vec<u64>, Vec<String>) =
            beginnings.map(|(bit, node)| (bit, emit(&node, false))).unzip();
        if bits.len() < MEMBERS_MIN {
            return None;
        }
        let config = thompson::Config::new()
            .utf8(false)
            .nfa_size_limit(Some(NFA_BYTES_MAX))
            .which_captures(WhichCaptures::None);
        let syntax = syntax::Config::new().unicode(false).utf8(false);
        let mut compiler = thompson::Compiler::new();
        let nfa = compiler.configure(config).syntax(syntax).build_many(&texts).ok()?;
        let config = dfa::Config::new()
            .match_kind(MatchKind::All)
            .cache_capacity(STATES_BYTES_MAX)
            .skip_cache_capacity_check(true)
            .minimum_cache_clear_count(Some(CLEARED_MAX));
        let dfa = dfa::Builder::new().configure(config).build_from_nfa(nfa).ok()?;
        Some(Front { members: bits.iter().fold(0, |all, bit| all | bit), bits, dfa, ticket: Ticket::new() })
    }

    /// Those of the open members that may match.
    #[inline]
    pub fn may_match(&self, text: &[u8], open: u64, cache: &mut Cache) -> u64 {
        let make =
            || Scratch::Front(Box::new(FrontScratch { cache: self.dfa.create_cache(), gave_up: false }));
        let Scratch::Front(scratch) = cache.scratch(&self.ticket, make) else { return open };
        if scratch.gave_up {
            return open;
        }
        match self.walk(text, open, &mut scratch.cache) {
            Some(found) => found & open,
            None => {
                scratch.gave_up = true;
                open
            }
        }
    }

    /// `None` when there is no room for the states.
    #[inline]
    fn walk(&self, text: &[u8], open: u64, cache: &mut dfa::Cache) -> Option<u64> {
        let mut found = 0;
        let mut state =
            self.dfa.start_state_forward(cache, &Input::new(text).anchored(Anchored::Yes)).ok()?;
        for byte in text.iter().take(WINDOW) {
            state = self.dfa.next_state(cache, state, *byte).ok()?;
            if state.is_tagged() {
                if state.is_match() {
                    found |= self.matches(cache, state);
                    if open & !found == 0 {
                        return Some(found);
                    }
                } else if state.is_dead() {
                    return Some(found);
                } else if state.is_quit() {
                    return Some(open);
                }
            }
        }
        if text.len() > WINDOW {
            return Some(open);
        }
        state = self.dfa.next_eoi_state(cache, state).ok()?;
        if state.is_match() {
            found |= self.matches(cache, state);
        }
        Some(found)
    }

    fn matches(&self, cache: &dfa::Cache, state: regex_automata::hybrid::LazyStateID) -> u64 {
        let bit = |at: usize| self.bits.get(self.dfa.match_pattern(cache, state, at).as_usize());
        (0..self.dfa.match_len(cache, state)).filter_map(bit).fold(0, |found, bit| found | bit)
    }
}

/// How every text begins in which a pattern finds something, or how more texts do; `None` where it may find
/// it anywhere.
pub fn beginning(pattern: &Node) -> Option<Node> {
    is_tied(pattern).then(|| {
        let mut begins = Beginning { items: Vec::new(), left: PLACES_MAX };
        begins.add(pattern);
        Node::concat(begins.items)
    })
}

/// Whether each match begins where the text does.
pub fn is_tied(node: &Node) -> bool {
    match node {
        Node::Assert(Assert::Start) => true,
        Node::Group(inner) => is_tied(inner),
        Node::Concat(items) => items.iter().find(|item| **item != Node::Empty).is_some_and(is_tied),
        Node::Alt(items) => !items.is_empty() && items.iter().all(is_tied),
        _ => false,
    }
}

struct Beginning {
    items: Vec<Node>,
    /// Places there is room for.
    left: u32,
}

impl Beginning {
    /// Adds what must stand here; `false` where what follows is left out.
    fn add(&mut self, node: &Node) -> bool {
        match node {
            // What is asked of a place is left out: more texts begin so.
            Node::Empty | Node::Assert(_) => true,
            Node::Literal { bytes, .. } => self.take(node, bytes.len() as u32),
            Node::Set(_) => self.take(node, 1),
            Node::Group(inner) => self.add(inner),
            Node::Concat(items) => items.iter().all(|item| self.add(item)),
            Node::Alt(items) => self.either(items),
            Node::Repeat { node, min, max, .. } => self.repeat(node, *min, *max),
        }
    }

    fn take(&mut self, node: &Node, places: u32) -> bool {
        let Some(left) = self.left.checked_sub(places) else { return false };
        self.left = left;
        self.items.push(node.clone());
        true
    }

    /// Something on its own, and whether it is complete.
    fn apart(&mut self, node: &Node) -> (Node, bool) {
        let mut part = Beginning { items: Vec::new(), left: self.left };
        let complete = part.add(node);
        self.left = part.left;
        (Node::concat(part.items), complete)
    }

    fn either(&mut self, items: &[Node]) -> bool {
        let parts: Vec<(Node, bool)> = items.iter().map(|item| self.apart(item)).collect();
        let complete = parts.iter().all(|(_, complete)| *complete);
        self.items.push(Node::Alt(parts.into_iter().map(|(node, _)| node).collect()));
        complete
    }

    fn repeat(&mut self, node: &Node, min: u32, max: Option<u32>) -> bool {
        let (node, complete) = self.apart(node);
        if !complete {
            if min > 0 {
                self.items.push(node);
            }
            return false;
        }
        let wide = matches!(&node, Node::Set(set) if width(set) > NARROW_MAX);
        let few = max.is_some_and(|max| max <= TIMES_MAX);
        let (least, most) = match (few, wide) {
            (true, _) => (min, max),
            (false, true) => (min.min(TIMES_MAX), Some(min.min(TIMES_MAX))),
            (false, false) => (min.min(TIMES_MAX), None),
        };
        self.left = self.left.saturating_sub(most.unwrap_or(least));
        self.items.push(Node::Repeat { node: Box::new(node), min: least, max: most, greedy: true });
        (few || !wide) && self.left > 0
    }
}

fn width(set: &crate::charset::CharSet) -> u32 {
    set.ranges().iter().map(|(from, to)| to - from + 1).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PatternOptions;
    use proptest::prelude::*;

    fn compiled(texts: &[&str]) -> Vec<Arc<Pattern>> {
        let options = PatternOptions { captures: true, ..PatternOptions::default() };
        texts.iter().map(|text| Arc::new(Pattern::compile(text, &options).expect("a pattern"))).collect()
    }

    #[test]
    fn beginnings_exclude() {
        let patterns = compiled(&[
            r"^(?<pri>\<\d+\>) ?(?<time>\w\w\w +\d{1,2} \d\d:\d\d:\d\d) (?<host>[^ ]+) (?<level>alert|crit) (.*)",
            r"^(?<pri>\<\d+\>)1 *(?<header>.*)",
            r"^(?:a|b+)[0-9]{2,}x|^\Qc\E",
            "anywhere",
            r"^\s*$",
        ]);
        let front = Front::new(&patterns).expect("members");
        assert_eq!(front.members, 0b10111);
        let mut cache = Cache::new();
        for (text, expected) in [
            ("<13>Nov 21 10:00:00 host crit x", 0b00001),
            ("<13>Nov 21 10:00:00 h", 0b00001),
            ("<13>1 ", 0b00010),
            ("bbb123x", 0b00100),
            ("bbb1", 0),
            ("c", 0b00100),
            ("", 0b10000),
            ("  \n", 0b10000),
        ] {
            // The last one's beginning is empty but for blanks, so any text may match.
            let found = front.may_match(text.as_bytes(), front.members & 0b1111, &mut cache);
            assert_eq!(found, expected & 0b1111, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn what_matches_may_match(
            patterns in prop::collection::vec(
                "\\^(a|[ab]|\\(a\\|bc\\)|\\(\\?i\\)B|\\.){1,3}([*+?]|\\{2\\}|\\{1,3\\})?(c|\\[\\^b\\]\\+|\\\\b|\\$){0,2}",
                2..12,
            ),
            texts in prop::collection::vec("[abcB\n]{0,8}", 1..12),
        ) {
            let patterns = compiled(&patterns.iter().map(String::as_str).collect::<Vec<_>>());
            let Some(front) = Front::new(&patterns) else { return Ok(()) };
            let mut cache = Cache::new();
            for text in &texts {
                let found = front.may_match(text.as_bytes(), front.members, &mut cache);
                for (at, pattern) in patterns.iter().enumerate().filter(|(at, _)| front.members & (1 << at) != 0) {
                    let matches = pattern.is_match(text.as_bytes(), &mut cache);
                    prop_assert!(!matches || found & (1 << at) != 0, "{pattern:?} in {text:?}");
                }
            }
        }
    }
}
