//! PCRE2, for the patterns only it understands: with its just-in-time compiler, and limits so that no text can hold a worker.

use crate::cache::{Cache, Scratch, Ticket};
use crate::error::PatternError;
use crate::options::PatternOptions;
use crate::slots::Slots;
use pcre2::bytes::{CaptureLocations, Regex, RegexBuilder};

/// Backtracking steps from one starting place; PCRE2's own default is ten times as much.
const STEPS_MAX: u32 = 1_000_000;
/// Memory of the interpreter in KiB, where the just-in-time compiler is not used.
const HEAP_KIB_MAX: u32 = 20_000;
/// Stack of the compiled code.
const STACK_BYTES_MAX: usize = 512 << 10;

pub struct Pcre {
    regex: Regex,
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
        let regex = build(text, options, !options.disable_jit, before, after)?;
        Ok(Pcre { regex, ticket: Ticket::new() })
    }

    /// The name of each group, from group 0 on.
    pub fn names(&self) -> Vec<Option<String>> {
        self.regex.capture_names().to_vec()
    }

    #[inline]
    pub fn is_match(&self, text: &[u8], cache: &mut Cache) -> bool {
        self.find(text, 0, cache).is_some()
    }

    pub fn captures(&self, text: &[u8], at: usize, cache: &mut Cache, slots: &mut Slots) -> bool {
        match self.find(text, at, cache) {
            None => false,
            Some(found) => {
                slots.fill((0..found.len()).map(|i| found.get(i).filter(|(start, end)| start <= end)));
                true
            }
        }
    }

    fn find<'c>(&self, text: &[u8], at: usize, cache: &'c mut Cache) -> Option<&'c CaptureLocations> {
        if at > text.len() {
            return None;
        }
        let make = || Scratch::Pcre(Box::new(self.regex.capture_locations()));
        let Scratch::Pcre(locations) = cache.scratch(&self.ticket, make) else { return None };
        match self.regex.captures_read_at(locations, text, at) {
            Ok(None) => None,
            Err(_) => {
                cache.count_failure();
                None
            }
            Ok(Some(_)) => match cache.scratch(&self.ticket, || Scratch::None) {
                Scratch::Pcre(locations) => Some(locations),
                _ => None,
            },
        }
    }
}

fn build(
    text: &str,
    options: &PatternOptions,
    jit: bool,
    before: &str,
    after: &str,
) -> Result<Regex, PatternError> {
    let split = leading_verbs(text);
    let (verbs, body) = text.split_at_checked(split).unwrap_or(("", text));
    let mut head = format!("(*LIMIT_MATCH={STEPS_MAX})(*LIMIT_HEAP={HEAP_KIB_MAX})");
    if jit && (10, 45) <= pcre2::version() && pcre2::version() <= (10, 47) {
        // In these versions the compiled code's search for the first bytes of a match skips over matches (PCRE2Project/pcre2#874).
        head.push_str("(*NO_START_OPT)");
    }
    if !before.is_empty() {
        head.push_str("(*NOTEMPTY_ATSTART)");
    }
    let names = if options.dupnames { "(?J)" } else { "" };
    let whole = format!("{head}{verbs}{names}{before}{body}{after}");
    let mut builder = RegexBuilder::new();
    builder.caseless(options.ignore_case).crlf(options.newline);
    // With it come UTF mode and that bytes which are no UTF-8 match nothing.
    builder.ucp(options.utf8);
    builder.max_jit_stack_size(Some(STACK_BYTES_MAX));
    if jit {
        builder.jit_if_available(true);
    }
    builder.build(&whole).map_err(|e| {
        let at = e.offset().unwrap_or(0);
        let added =
            if at >= head.len() + split { head.len() + names.len() + before.len() } else { head.len() };
        PatternError {
            code: "X0101",
            message: message_of(&e),
            offset: Some(at.saturating_sub(added).min(text.len())),
        }
    })
}

/// PCRE2's own words, without the crate's decoration: its offset counts what was put before the pattern.
fn message_of(error: &pcre2::Error) -> String {
    let text = error.to_string();
    let decoration = text.strip_prefix("PCRE2: ").and_then(|rest| rest.split_once(": "));
    decoration.map_or_else(|| text.clone(), |(_, words)| words.to_owned())
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
