//! Many patterns on one text: those that look for plain texts share one pass, and those that cannot match
//! without a text another one, so that the common case, none of them, costs once.

mod shared;

use crate::cache::{Cache, Scratch, Ticket};
use crate::front::Front;
use crate::memo::{Key, Memo};
use crate::pattern::Pattern;
use aho_corasick::packed;
use memchr::memmem::Finder;
use shared::Shared;
use std::sync::Arc;

/// Bits of the answer.
pub const PATTERNS_MAX: usize = 64;
/// Fewer patterns that need a text are sooner asked than excluded.
const NEEDING_MIN: usize = 3;
/// Shorter texts are in too many messages to exclude a pattern.
const NEEDED_BYTES_MIN: usize = 3;

/// Up to 64 patterns that are asked about the same text.
pub struct MultiPattern {
    patterns: Vec<Arc<Pattern>>,
    shared: Option<Shared>,
    needing: Option<Needing>,
    front: Option<Front>,
    /// By the first byte of a text: the patterns that can match it. Most patterns tied to the beginning are
    /// out at once.
    by_first: Box<[u64; 256]>,
    ticket: Ticket,
}

impl MultiPattern {
    /// Patterns beyond the 64th are left out: the caller makes another one for them.
    pub fn compile(patterns: &[Arc<Pattern>]) -> MultiPattern {
        let patterns: Vec<Arc<Pattern>> = patterns.iter().take(PATTERNS_MAX).cloned().collect();
        let (shared, needing, front) =
            (Shared::new(&patterns), Needing::new(&patterns), Front::new(&patterns));
        let mut by_first = Box::new([0; 256]);
        for (index, pattern) in patterns.iter().enumerate() {
            for byte in (0..=u8::MAX).filter(|b| pattern.can_begin(*b)) {
                by_first[usize::from(byte)] |= 1 << index;
            }
        }
        MultiPattern { patterns, shared, needing, front, by_first, ticket: Ticket::new() }
    }

    pub fn len(&self) -> usize {
        self.patterns.len()
    }

    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// Which patterns match, for short texts that come again and again (hosts, programs): answers are
    /// remembered.
    #[inline]
    pub fn matches_often(&self, text: &[u8], cache: &mut Cache) -> u64 {
        let Some(key) = Key::of(text) else { return self.matches(text, u64::MAX, cache) };
        let make = || Scratch::Memo(Box::default());
        if let Scratch::Memo(memo) = cache.scratch(&self.ticket, make)
            && let Some(answer) = memo.get(&key)
        {
            return answer;
        }
        let answer = self.matches(text, u64::MAX, cache);
        if let Scratch::Memo(memo) = cache.scratch(&self.ticket, make) {
            Memo::set(memo, &key, answer);
        }
        answer
    }

    /// Which of the `wanted` patterns match; bit `n` stands for the n-th pattern.
    #[inline]
    pub fn matches(&self, text: &[u8], wanted: u64, cache: &mut Cache) -> u64 {
        let mut found = 0;
        let wanted = match text.first() {
            Some(byte) => wanted & self.by_first[usize::from(*byte)],
            None => wanted,
        };
        let mut open = wanted;
        if let Some(shared) = &self.shared
            && wanted & shared.members != 0
        {
            let (hits, left) = shared.matches(text, wanted & shared.members);
            found |= hits;
            open = (wanted & !shared.members) | left;
        }
        if let Some(front) = &self.front
            && open & front.members != 0
        {
            open &= !front.members | front.may_match(text, open & front.members, cache);
        }
        if let Some(needing) = &self.needing
            && open & needing.members != 0
        {
            open &= !needing.members | needing.matches(text, open & needing.members);
        }
        while open != 0 {
            let index = open.trailing_zeros();
            open &= open - 1;
            if self.patterns.get(index as usize).is_some_and(|p| p.is_match(text, cache)) {
                found |= 1 << index;
            }
        }
        found
    }
}

/// Patterns that match nothing without a text.
struct Needing {
    members: u64,
    /// By pattern, its text.
    texts: Vec<Option<Finder<'static>>>,
    /// Says quickly that none of them is there.
    any: packed::Searcher,
}

impl Needing {
    fn new(patterns: &[Arc<Pattern>]) -> Option<Needing> {
        let texts: Vec<Option<Vec<u8>>> = patterns.iter().map(|p| p.needed(NEEDED_BYTES_MIN)).collect();
        if texts.iter().flatten().count() < NEEDING_MIN {
            return None;
        }
        // Where the machine cannot search several texts at once, the patterns are sooner asked.
        let any = packed::Searcher::new(texts.iter().flatten())?;
        let bits = texts.iter().enumerate().filter(|(_, text)| text.is_some());
        let members = bits.fold(0, |bits, (index, _)| bits | 1 << index);
        let finder = |text: Vec<u8>| Finder::new(&text).into_owned();
        Some(Needing { members, texts: texts.into_iter().map(|text| text.map(finder)).collect(), any })
    }

    /// Those of the patterns whose text is there.
    #[inline]
    fn matches(&self, text: &[u8], mut open: u64) -> u64 {
        let mut there = 0;
        if self.any.find(text).is_none() {
            return there;
        }
        while open != 0 {
            let index = open.trailing_zeros();
            open &= open - 1;
            if let Some(Some(needed)) = self.texts.get(index as usize)
                && needed.find(text).is_some()
            {
                there |= 1 << index;
            }
        }
        there
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PatternOptions;
    use proptest::prelude::*;

    fn multi(patterns: &[&str]) -> MultiPattern {
        let options = PatternOptions::default();
        let compiled: Vec<Arc<Pattern>> =
            patterns.iter().map(|p| Arc::new(Pattern::compile(p, &options).expect("a pattern"))).collect();
        MultiPattern::compile(&compiled)
    }

    #[test]
    fn each_pattern_has_its_bit() {
        let multi = multi(&["foo", "bar|baz", "^foo", "oo", "(?i)BAR", "[0-9]+"]);
        let mut cache = Cache::new();
        for (text, expected) in [
            ("nothing", 0),
            ("a foo", 0b001001),
            ("foo bar 7", 0b111111),
            ("BAR", 0b010000),
            ("xbaz", 0b000010),
            ("", 0),
        ] {
            assert_eq!(multi.matches(text.as_bytes(), u64::MAX, &mut cache), expected, "{text}");
            assert_eq!(multi.matches(text.as_bytes(), 0b001010, &mut cache), expected & 0b001010, "{text}");
            for _ in 0..3 {
                assert_eq!(multi.matches_often(text.as_bytes(), &mut cache), expected, "{text}");
            }
        }
    }

    proptest! {
        /// All are long: most texts are refused with one look.
        #[test]
        fn long_texts_as_one_by_one(
            patterns in prop::collection::vec("[ab]{3,5}(\\|[abc]{3})?", 2..20),
            text in "[abc]{0,80}",
        ) {
            let refs: Vec<&str> = patterns.iter().map(String::as_str).collect();
            let multi = multi(&refs);
            let mut cache = Cache::new();
            let found = multi.matches(text.as_bytes(), u64::MAX, &mut cache);
            for (i, p) in multi.patterns.iter().enumerate() {
                prop_assert_eq!(found & (1 << i) != 0, p.is_match(text.as_bytes(), &mut cache), "{:?}", p);
            }
        }

        #[test]
        fn same_as_one_by_one(
            patterns in prop::collection::vec(
                "[ab]{1,3}|\\^?a[bc]*|(\\(\\?i\\))?[abc]{2}|\\^?[ac]\\?[abc]{3,4}c\\+|(\\(\\?i\\))?\\.[abc]{3}|\\(\\?<x>a\\)bca",
                1..60,
            ),
            text in "[abcA]{0,30}",
            wanted: u64,
        ) {
            let refs: Vec<&str> = patterns.iter().map(String::as_str).collect();
            let multi = multi(&refs);
            let mut cache = Cache::new();
            let found = multi.matches(text.as_bytes(), wanted, &mut cache);
            for (i, p) in multi.patterns.iter().enumerate() {
                let expected = wanted & (1 << i) != 0 && p.is_match(text.as_bytes(), &mut cache);
                prop_assert_eq!(found & (1 << i) != 0, expected, "{:?}", p);
            }
        }
    }
}
