//! The linear-time engine: regex-automata with the worker's own scratch memory.

use crate::cache::{Cache, LinearScratch, Scratch, Ticket};
use crate::emit::emit;
use crate::node::Node;
use crate::slots::Slots;
use regex_automata::util::syntax;
use regex_automata::{Input, meta};

/// Compiled automata above this go to PCRE2.
const NFA_BYTES_MAX: usize = 4 << 20;
/// Lazily built states a worker keeps for one pattern.
const STATES_BYTES_MAX: usize = 1 << 20;

pub struct Linear {
    regex: meta::Regex,
    ticket: Ticket,
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
        Some(Linear { regex, ticket: Ticket::new() })
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

    #[inline]
    pub fn is_match(&self, text: &[u8], cache: &mut Cache) -> bool {
        let Some(scratch) = self.scratch(cache) else { return false };
        self.regex.search_half_with(&mut scratch.cache, &Input::new(text).earliest(true)).is_some()
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
