//! Patterns that look for plain texts, in one pass.

use crate::pattern::Pattern;
use aho_corasick::{AhoCorasick, AhoCorasickBuilder, Input, MatchKind, packed};
use std::sync::Arc;

/// Up to this many, searching each text that may be there is faster than one automaton for all of them.
const SINGLE_MAX: usize = 8;
/// Texts that are shorter cannot be looked for many bytes at a time.
const WIDE_BYTES_MIN: usize = 3;

pub(super) struct Shared {
    pub members: u64,
    first: First,
    /// Finds all of them.
    all: Option<AhoCorasick>,
    /// The pattern each text belongs to.
    owner: Vec<u8>,
}

/// Says what comes first.
enum First {
    /// Many bytes at a time.
    Wide(packed::Searcher),
    ByByte(AhoCorasick),
}

/// A pattern that looks for one of these texts.
type Member<'p> = (usize, &'p [Box<[u8]>]);

impl Shared {
    pub fn new(patterns: &[Arc<Pattern>]) -> Option<Shared> {
        // Case has to be the same for the whole automaton; patterns that ignore it are searched alone.
        let plain = |(at, pattern)| match Pattern::contained(pattern) {
            Some((texts, false)) => Some((at, texts)),
            _ => None,
        };
        let all: Vec<Member<'_>> = patterns.iter().map(|p| &**p).enumerate().filter_map(plain).collect();
        let is_long = |(_, texts): &&Member<'_>| texts.iter().all(|text| text.len() >= WIDE_BYTES_MIN);
        let long: Vec<Member<'_>> = all.iter().filter(is_long).copied().collect();
        // A few that are short are sooner searched by themselves than with all others byte by byte.
        match all.len() - long.len() <= SINGLE_MAX {
            true => Shared::of(&long, |texts| packed::Searcher::new(texts).map(First::Wide)),
            false => None,
        }
        .or_else(|| Shared::of(&all, |texts| build(texts, MatchKind::LeftmostFirst).map(First::ByByte)))
    }

    fn of(list: &[Member<'_>], first: impl FnOnce(&[&[u8]]) -> Option<First>) -> Option<Shared> {
        if list.len() < 2 {
            return None;
        }
        let each = || list.iter().flat_map(|(at, texts)| texts.iter().map(|text| (*at as u8, &**text)));
        let (owner, texts): (Vec<u8>, Vec<&[u8]>) = each().unzip();
        let members = list.iter().fold(0, |members, (at, _)| members | 1 << at);
        let all = if list.len() > SINGLE_MAX { Some(build(&texts, MatchKind::Standard)?) } else { None };
        Some(Shared { members, first: first(&texts)?, all, owner })
    }

    /// The patterns found, and those that have to be searched one by one.
    #[inline]
    pub fn matches(&self, text: &[u8], wanted: u64) -> (u64, u64) {
        let hit = match &self.first {
            First::Wide(searcher) => searcher.find(text),
            First::ByByte(automaton) => automaton.find(Input::new(text)),
        };
        let Some(hit) = hit else { return (0, 0) };
        let mut found = self.bit(hit.pattern().as_usize());
        let left = wanted & !found;
        if left.count_ones() as usize <= SINGLE_MAX {
            return (found & wanted, left);
        }
        let Some(all) = &self.all else { return (found & wanted, left) };
        for hit in all.find_overlapping_iter(Input::new(text).span(hit.start()..text.len())) {
            found |= self.bit(hit.pattern().as_usize());
            if wanted & !found == 0 {
                break;
            }
        }
        (found & wanted, 0)
    }

    fn bit(&self, text: usize) -> u64 {
        self.owner.get(text).map_or(0, |index| 1 << index)
    }
}

fn build(texts: &[&[u8]], kind: MatchKind) -> Option<AhoCorasick> {
    AhoCorasickBuilder::new().match_kind(kind).build(texts).ok()
}
