//! PCRE2, for the patterns only it understands: with its just-in-time compiler, and limits so that no text
//! can hold a worker.
//!
//! PCRE2 counts its steps anew from each starting place, so a text of 65,000 bytes has 65,000 times the
//! limit. A search therefore goes on range by range of starting places, with so few steps for each that no
//! range takes long, and has one budget of time for all of them.

mod budget;
mod code;
mod habit;

use crate::cache::{Cache, Scratch, Ticket};
use crate::error::PatternError;
use crate::options::PatternOptions;
use crate::slots::Slots;
pub use budget::{SEARCH_TIME_MAX, Spent};
pub(crate) use code::Memory;
use code::{Answer, Code, CodeError, CodeOptions};

/// Backtracking steps of one range of starting places, and so from one of them at most; PCRE2's own default
/// is ten times as much.
const STEPS_MAX: u32 = 1_000_000;
/// Those of an attempt, after which another engine searches.
const ATTEMPT_STEPS_MAX: u32 = 2000;
/// Memory of the interpreter in KiB, where the just-in-time compiler is not used.
const HEAP_KIB_MAX: u32 = 20_000;
/// Starting places of a range times the bytes of the text: what a range takes at most, where each place looks
/// at all that follows.
const RANGE_BYTES: usize = 2 << 20;
const RANGE_PLACES_MIN: usize = 4;
const RANGE_PLACES_MAX: usize = 4096;
/// Bytes of a text for which a step that compares with a group costs as much as another.
const REFERENCE_BYTES: usize = 256;
/// In so many parts the steps are divided at most.
const SHARES_MAX: u32 = 4096;

/// Where a search may begin.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// At one place.
    Here,
    /// Anywhere; something in the pattern looks at the search as a whole, so it cannot be divided: \\G,
    /// verbs.
    Whole,
    /// Anywhere.
    Ranges,
}

pub struct Pcre {
    code: Code,
    reach: Reach,
    /// It has references to groups.
    refers: bool,
    ticket: Ticket,
}

/// Whether PCRE2 takes the pattern; what is wrong with it otherwise.
pub fn check(text: &str, options: &PatternOptions) -> Result<(), PatternError> {
    build(text, options, false, "", "").map(|_| ())
}

impl Pcre {
    pub fn new(text: &str, options: &PatternOptions) -> Result<Pcre, PatternError> {
        Pcre::wrapped(text, options, "", "")
    }

    /// A pattern that finds only matches of `text` that are not empty and begin where the search begins.
    pub fn not_empty_here(text: &str, options: &PatternOptions) -> Result<Pcre, PatternError> {
        // With (?x) a comment may reach to the end: then the newline ends it.
        Pcre::wrapped(text, options, "\\G(?:", "\\E)")
            .or_else(|_| Pcre::wrapped(text, options, "\\G(?:", "\n)"))
    }

    fn wrapped(
        text: &str,
        options: &PatternOptions,
        before: &str,
        after: &str,
    ) -> Result<Pcre, PatternError> {
        let code = build(text, options, !options.disable_jit, before, after)?;
        let reach = match text.contains("\\G") || text.contains("(*") {
            _ if !before.is_empty() => Reach::Here,
            true => Reach::Whole,
            false => Reach::Ranges,
        };
        let refers = has_reference(text);
        Ok(Pcre { code, reach, refers, ticket: Ticket::new() })
    }

    /// The name of each group, from group 0 on.
    pub fn names(&self) -> Vec<Option<String>> {
        self.code.names()
    }

    #[inline]
    pub fn is_match(&self, text: &[u8], cache: &mut Cache, spent: &mut Spent) -> bool {
        self.find(text, 0, cache, spent).is_some()
    }

    pub fn captures(
        &self,
        text: &[u8],
        at: usize,
        cache: &mut Cache,
        slots: &mut Slots,
        spent: &mut Spent,
    ) -> bool {
        match self.find(text, at, cache, spent) {
            None => false,
            Some(found) => {
                slots.fill(found.groups());
                true
            }
        }
    }

    /// Whether most attempts of this worker found nothing lately.
    #[inline]
    pub fn mostly_refuses(&self, cache: &mut Cache) -> bool {
        let make = || Scratch::Pcre(Box::new(Memory::new(&self.code)));
        match cache.scratch(&self.ticket, make) {
            Scratch::Pcre(memory) => memory.habit.refuses(),
            _ => false,
        }
    }

    /// The same with few steps: `None` when they are not enough to know.
    pub fn attempt(&self, text: &[u8], at: usize, cache: &mut Cache, slots: &mut Slots) -> Option<bool> {
        let make = || Scratch::Pcre(Box::new(Memory::new(&self.code)));
        let Scratch::Pcre(memory) = cache.scratch(&self.ticket, make) else { return None };
        let answer = memory.find(&self.code, text, at, text.len(), ATTEMPT_STEPS_MAX);
        memory.habit.note(answer == Answer::Found);
        match answer {
            Answer::Found => {
                slots.fill(memory.groups());
                Some(true)
            }
            Answer::Nothing => Some(false),
            Answer::Steps | Answer::Failed => None,
        }
    }

    fn find<'c>(
        &self,
        text: &[u8],
        at: usize,
        cache: &'c mut Cache,
        spent: &mut Spent,
    ) -> Option<&'c Memory> {
        if at > text.len() || spent.is_over() {
            return None;
        }
        let make = || Scratch::Pcre(Box::new(Memory::new(&self.code)));
        let Scratch::Pcre(memory) = cache.scratch(&self.ticket, make) else { return None };
        if !search(self, memory, text, at, spent) {
            return None;
        }
        match cache.scratch(&self.ticket, || Scratch::None) {
            Scratch::Pcre(memory) => Some(memory),
            _ => None,
        }
    }
}

/// Goes through the starting places from `at` on, range by range. Where a range takes all its steps, a
/// smaller one has more for each place; the budget bounds how often.
fn search(pcre: &Pcre, memory: &mut Memory, text: &[u8], at: usize, spent: &mut Spent) -> bool {
    let Pcre { code, reach, refers, .. } = pcre;
    let (reach, refers) = (*reach, *refers);
    let usual = match reach {
        Reach::Here => 1,
        Reach::Whole => text.len() + 1,
        Reach::Ranges => (RANGE_BYTES / text.len().max(1)).clamp(RANGE_PLACES_MIN, RANGE_PLACES_MAX),
    };
    // A step that compares with an earlier group takes as long as the group is.
    let all = if refers { STEPS_MAX / (1 + (text.len() / REFERENCE_BYTES) as u32) } else { STEPS_MAX };
    let (mut from, mut places) = (at, usual);
    loop {
        let count = places.min(text.len() - from + 1);
        let steps = all / u32::try_from(count).unwrap_or(u32::MAX).clamp(1, SHARES_MAX);
        let last = from + count - 1;
        match memory.find(code, text, from, last, steps) {
            Answer::Found => return true,
            Answer::Nothing if last >= text.len() || reach == Reach::Here => return false,
            Answer::Nothing => (from, places) = (last + 1, usual),
            Answer::Steps if reach == Reach::Ranges && count > 1 => places = count.div_ceil(8),
            Answer::Steps | Answer::Failed => {
                spent.give_up();
                return false;
            }
        }
        if spent.look() {
            return false;
        }
    }
}

/// Whether the pattern may have references to groups: `\1`, `\k<name>`, `\g{1}`, `(?P=name)`.
fn has_reference(text: &str) -> bool {
    let refers = |pair: &[u8]| matches!(pair, [b'\\', b'1'..=b'9' | b'k' | b'g']);
    text.as_bytes().windows(2).any(refers) || text.contains("(?P=")
}

fn build(
    text: &str,
    options: &PatternOptions,
    jit: bool,
    before: &str,
    after: &str,
) -> Result<Code, PatternError> {
    let split = leading_verbs(text);
    let (verbs, body) = text.split_at_checked(split).unwrap_or(("", text));
    let mut head = format!("(*LIMIT_MATCH={STEPS_MAX})(*LIMIT_HEAP={HEAP_KIB_MAX})");
    if jit && (10, 45) <= code::version() && code::version() <= (10, 47) {
        // In these versions the compiled code's search for the first bytes of a match skips over matches
        // (PCRE2Project/pcre2#874).
        head.push_str("(*NO_START_OPT)");
    }
    if !before.is_empty() {
        head.push_str("(*NOTEMPTY_ATSTART)");
    }
    let names = if options.dupnames { "(?J)" } else { "" };
    let whole = format!("{head}{verbs}{names}{before}{body}{after}");
    let how = CodeOptions {
        caseless: options.ignore_case,
        any_newline: options.newline,
        // With it come UTF mode and that bytes which are no UTF-8 match nothing.
        utf8: options.utf8,
        jit,
    };
    Code::compile(&whole, how).map_err(|CodeError { message, offset }| {
        let added =
            if offset >= head.len() + split { head.len() + names.len() + before.len() } else { head.len() };
        PatternError { code: "X0101", message, offset: Some(offset.saturating_sub(added).min(text.len())) }
    })
}

/// The length of `(*VERB)`s at the very beginning, where PCRE2 wants to have its settings.
fn leading_verbs(text: &str) -> usize {
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|r| r.starts_with("(*")) {
        let setting = |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_' || b == b'=';
        match rest.bytes().skip(2).position(|b| !setting(b)) {
            Some(length) if rest.as_bytes().get(2 + length) == Some(&b')') => at += length + 3,
            _ => break,
        }
    }
    at
}

#[cfg(test)]
mod tests;
