//! The linear-time engine: regex-automata with the worker's own scratch memory.

use crate::cache::{Cache, LinearScratch, Scratch, Ticket};
use crate::emit::emit;
use crate::node::Node;
use crate::slots::Slots;
use regex_automata::util::syntax;
use regex_automata::{Input, dfa::onepass, meta, nfa::thompson};

/// Compiled automata above this go to PCRE2.
const NFA_BYTES_MAX: usize = 4 << 20;
/// What regex-automata allows itself for the engine that needs no trying.
const ONE_WAY_BYTES_MAX: usize = 1 << 20;
/// Lazily built states a worker keeps for one pattern.
const STATES_BYTES_MAX: usize = 1 << 20;

pub struct Linear {
    regex: meta::Regex,
    ticket: Ticket,
    /// The groups of a match are found by trying each way through the pattern.
    slow_with_groups: bool,
}

/// Whether each byte of a text says by itself which way through the pattern it goes.
fn has_one_way(node: &Node, utf8: bool) -> bool {
    let syntax = syntax::Config::new().unicode(utf8).utf8(false);
    let config = thompson::Config::new().utf8(false).nfa_size_limit(Some(NFA_BYTES_MAX));
    let compiled = thompson::Compiler::new().configure(config).syntax(syntax).build(&emit(node, utf8));
    let one_way = onepass::Config::new().size_limit(Some(ONE_WAY_BYTES_MAX));
    compiled.is_ok_and(|nfa| onepass::Builder::new().configure(one_way).build_from_nfa(nfa).is_ok())
}

impl Linear {
    /// `None` when the automaton would be too large.
    pub fn new(node: &Node, utf8: bool) -> Option<Linear> {
        let syntax = syntax::Config::new().unicode(utf8).utf8(false);
        let config = meta::Config::new()
            .utf8_empty(false)
            .nfa_size_limit(Some(NFA_BYTES_MAX))
            .hybrid_cache_capacity(STATES_BYTES_MAX);
        let regex = meta::Builder::new().syntax(syntax).configure(config).build(&emit(node, utf8)).ok()?;
        let groups = regex.group_info().slot_len() > 2;
        let slow_with_groups = groups && !has_one_way(node, utf8);
        Some(Linear { regex, ticket: Ticket::new(), slow_with_groups })
    }

    pub fn is_slow_with_groups(&self) -> bool {
        self.slow_with_groups
    }

    fn scratch<'c>(&self, cache: &'c mut Cache) -> Option<&'c mut LinearScratch> {
        let make = || {
            let slots = vec![None; self.regex.group_info().slot_len()];
            Scratch::Linear(Box::new(LinearScratch { cache: self.regex.create_cache(), slots }))
        };
        match cache.scratch(&self.ticket, make) {
            Scratch::Linear(scratch) => Some(scratch),
            _ => None,
        }
    }

    /// Whether there is a match that begins at `at` or later.
    #[inline]
    pub fn is_match(&self, text: &[u8], at: usize, cache: &mut Cache) -> bool {
        if at > text.len() {
            return false;
        }
        let Some(scratch) = self.scratch(cache) else { return false };
        let input = Input::new(text).span(at..text.len()).earliest(true);
        self.regex.search_half_with(&mut scratch.cache, &input).is_some()
    }

    pub fn captures(&self, text: &[u8], at: usize, cache: &mut Cache, slots: &mut Slots) -> bool {
        if at > text.len() {
            return false;
        }
        let Some(scratch) = self.scratch(cache) else { return false };
        let input = Input::new(text).span(at..text.len());
        if self.regex.search_slots_with(&mut scratch.cache, &input, &mut scratch.slots).is_none() {
            return false;
        }
        slots.fill(scratch.slots.chunks_exact(2).map(|pair| match pair {
            [Some(start), Some(end)] => Some((start.get(), end.get())),
            _ => None,
        }));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::{Mode, parse};

    #[test]
    fn what_is_found_has_groups() {
        for (pattern, text) in
            [("(.)(=[^=]*=){1}", "a=x="), ("(.)(=[^=]*=)", "a=x="), ("(.)=[^=]*=", "ba=x=")]
        {
            let parsed = parse(pattern, Mode { utf8: false, icase: false }).expect("a pattern");
            let linear = Linear::new(&parsed.node, false).expect("small");
            let (mut cache, mut slots) = (Cache::new(), Slots::new());
            assert!(linear.is_match(text.as_bytes(), 0, &mut cache), "{pattern}");
            assert!(linear.captures(text.as_bytes(), 0, &mut cache, &mut slots), "{pattern}");
        }
    }
}
