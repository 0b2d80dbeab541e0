//! A pattern that needs no backtracking: the linear-time engine, beside it a quicker one for patterns that
//! are simple enough, and PCRE2 for texts that end with a newline where it would find something else. Texts
//! without what every match contains are refused before any of them starts.

use crate::cache::Cache;
use crate::linear::Linear;
use crate::literal::Literal;
use crate::node::Node;
use crate::options::PatternOptions;
use crate::pcre::Pcre;
use crate::required::required_inside;
use crate::sequence::{Found, Sequence};
use crate::slots::Slots;

/// Longer texts are the linear engine's.
const QUICK_BYTES_MAX: usize = 8 << 10;

pub struct Tail {
    sequence: Option<Sequence>,
    /// What every match contains, where there is no sequence.
    required: Option<Literal>,
    linear: Linear,
    newline: Option<Pcre>,
    /// Tried before the linear engine where that one has to try each way to find the groups: compiled code
    /// does the same many times as fast, for as long as the ways are few.
    quick: Option<Pcre>,
}

impl Tail {
    /// `None` when the automaton would be too large.
    pub fn new(node: &Node, text: &str, options: &PatternOptions) -> Option<Tail> {
        let linear = Linear::new(node, options.utf8)?;
        let newline = match node.minds_last_newline() {
            true => Some(Pcre::new(text, options).ok()?),
            false => None,
        };
        let sequence = Sequence::new(node, options.utf8);
        let required = if sequence.is_none() { required_inside(node).and_then(Literal::new) } else { None };
        let wanted = options.captures || options.store_matches || options.global;
        let tries = wanted && sequence.is_none() && !options.disable_jit && linear.is_slow_with_groups();
        let quick = if tries { Pcre::new(text, options).ok() } else { None };
        Some(Tail { sequence, required, linear, newline, quick })
    }

    /// Who has to search this text instead.
    #[inline]
    pub fn newline_of(&self, text: &[u8]) -> Option<&Pcre> {
        self.newline.as_ref().filter(|_| text.last() == Some(&b'\n'))
    }

    #[inline]
    pub fn is_match(&self, text: &[u8], cache: &mut Cache) -> bool {
        match self.sequence.as_ref().map(|sequence| sequence.find(text, 0, |_, _| {})) {
            Some(Found::Match(..)) => true,
            Some(Found::Nothing) => false,
            Some(Found::Unknown) | None => self.may_match(text) && self.linear.is_match(text, 0, cache),
        }
    }

    #[inline]
    fn may_match(&self, text: &[u8]) -> bool {
        self.required.as_ref().is_none_or(|required| required.is_match(text))
    }

    pub fn captures(&self, text: &[u8], at: usize, cache: &mut Cache, slots: &mut Slots) -> bool {
        if let Some(sequence) = &self.sequence {
            let spans = slots.clear(sequence.groups());
            match sequence.find(text, at, |mark, at| mark.note(at, spans)) {
                Found::Match(start, end) => {
                    if let Some(whole) = spans.first_mut() {
                        *whole = Some((start, end));
                    }
                    return true;
                }
                Found::Nothing => return false,
                Found::Unknown => {}
            }
        }
        if !text.get(at..).is_some_and(|rest| self.may_match(rest)) {
            return false;
        }
        if let Some(quick) = &self.quick
            && text.len() <= QUICK_BYTES_MAX
        {
            // To find that there is no match, backtracking takes all its ways; an automaton takes one.
            if quick.mostly_refuses(cache) && !self.linear.is_match(text, at, cache) {
                return false;
            }
            if let Some(found) = quick.attempt(text, at, cache, slots) {
                return found;
            }
        }
        self.linear.captures(text, at, cache, slots)
    }
}
