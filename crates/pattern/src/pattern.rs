//! One pattern: chooses its engines when it is compiled and answers for them all.

mod beforehand;
mod walk;

pub use walk::Cursor;

use crate::cache::Cache;
use crate::error::PatternError;
use crate::first::FirstBytes;
use crate::glob::Glob;
use crate::literal::Literal;
use crate::node::Node;
use crate::options::{Kind, PatternOptions};
use crate::parse::{self, Mode, Parsed};
use crate::pcre::{self, Pcre, Spent};
use crate::required::required;
use crate::simplify::{self, End, Texts};
use crate::slots::Slots;
use crate::tail::Tail;
use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Longer patterns are refused.
const TEXT_BYTES_MAX: usize = 64 << 10;

/// A compiled pattern. Shared by all workers; each brings its [`Cache`].
pub struct Pattern {
    text: String,
    options: PatternOptions,
    search: Search,
    /// The same for texts without a newline, where it is simpler.
    in_line: Option<Search>,
    /// With PCRE2: what every match contains.
    required: Option<Literal>,
    /// Where it is tied to the beginning and an engine would have to be asked.
    begins: Option<FirstBytes>,
    /// Made when the pattern is compiled if the options say that captures are wanted.
    full: OnceLock<Full>,
    /// For `global`: see [`Pattern::next_match`].
    not_empty: OnceLock<Option<Pcre>>,
    names: Vec<Option<String>>,
    parsed: Option<Parsed>,
    reason: Option<&'static str>,
    /// The log has named it as too slow for some text.
    named: AtomicBool,
}

/// Answers "is there a match".
enum Search {
    Literal(Literal),
    Glob(Glob),
    Linear(Box<Tail>),
    Pcre(Pcre),
}

/// Finds the match and its groups.
enum Full {
    Literal(Literal),
    Glob,
    Linear(Box<Tail>),
    Pcre(Pcre),
    Nothing,
}

/// How a pattern is matched, for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// Plain texts; how they are searched.
    Literal(&'static str),
    Glob,
    /// Linear time.
    Automaton,
    /// Backtracking within limits; what in the pattern needs it.
    Pcre2(&'static str),
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Engine::Literal(how) => f.write_str(how),
            Engine::Glob => f.write_str("glob"),
            Engine::Automaton => f.write_str("automaton"),
            Engine::Pcre2(why) => write!(f, "PCRE2 ({why})"),
        }
    }
}

static GIVEN_UP: AtomicU64 = AtomicU64::new(0);

/// Searches that were given up since the start of the program, because they took too long.
pub fn given_up() -> u64 {
    GIVEN_UP.load(Ordering::Relaxed)
}

impl Pattern {
    pub fn compile(text: &str, options: &PatternOptions) -> Result<Pattern, PatternError> {
        if text.len() > TEXT_BYTES_MAX {
            return Err(PatternError::new("X0102", format!("a pattern of {} bytes is too long", text.len())));
        }
        match options.kind {
            Kind::Pcre => Pattern::compile_pcre(text, options),
            Kind::String => {
                let literal = Literal::new(string_texts(text, options));
                let literal = literal.ok_or_else(|| PatternError::new("X0102", "a text that is too long"))?;
                Ok(Pattern::with(text, options, Search::Literal(literal)))
            }
            Kind::Glob => {
                Ok(Pattern::with(text, options, Search::Glob(Glob::new(text, options.ignore_case))))
            }
        }
    }

    fn with(text: &str, options: &PatternOptions, search: Search) -> Pattern {
        Pattern {
            text: text.to_owned(),
            options: *options,
            search,
            in_line: None,
            required: None,
            begins: None,
            full: OnceLock::new(),
            not_empty: OnceLock::new(),
            names: vec![None],
            parsed: None,
            reason: None,
            named: AtomicBool::new(false),
        }
    }

    fn compile_pcre(text: &str, options: &PatternOptions) -> Result<Pattern, PatternError> {
        // Errors are PCRE2's own, also for patterns that will run elsewhere.
        pcre::check(text, options)?;
        let pattern = match understood(text, options) {
            Ok((parsed, search)) => {
                let mut pattern = Pattern::with(text, options, search);
                pattern.names = parsed.names.clone();
                pattern.in_line = in_line(&parsed.node, text, options);
                let asks = matches!(pattern.search, Search::Linear(_) | Search::Pcre(_)) && !options.utf8;
                pattern.begins = FirstBytes::of(&parsed.node).filter(|_| asks);
                pattern.parsed = Some(parsed);
                pattern
            }
            Err(reason) => {
                let pcre = Pcre::new(text, options)?;
                let names = pcre.names();
                let mut pattern = Pattern::with(text, options, Search::Pcre(pcre));
                (pattern.names, pattern.reason) = (names, Some(reason));
                pattern.required = required_text(text, options);
                pattern
            }
        };
        if options.captures || options.store_matches || options.global {
            pattern.full();
        }
        if options.global && pattern.may_be_empty() && pattern.not_empty().is_none() {
            let text =
                "this pattern can match the empty text in a way that flags(global) cannot be used with";
            return Err(PatternError::new("X0101", text));
        }
        Ok(pattern)
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn options(&self) -> &PatternOptions {
        &self.options
    }

    /// The name of each group, from group 0 (the whole match, never named) on.
    pub fn names(&self) -> &[Option<String>] {
        &self.names
    }

    /// How most texts are searched: those without a newline.
    pub fn engine(&self) -> Engine {
        match self.in_line.as_ref().unwrap_or(&self.search) {
            Search::Literal(literal) => Engine::Literal(literal.describe()),
            Search::Glob(glob) if glob.describe() == "glob" => Engine::Glob,
            Search::Glob(glob) => Engine::Literal(glob.describe()),
            Search::Linear(_) => Engine::Automaton,
            Search::Pcre(_) => Engine::Pcre2(self.reason.unwrap_or("too large for an automaton")),
        }
    }

    /// Whether [`Pattern::is_match`] says "no" in less time than a search for the match itself.
    pub fn is_quick_to_refuse(&self) -> bool {
        matches!(self.in_line.as_ref().unwrap_or(&self.search), Search::Literal(_) | Search::Glob(_))
            && !matches!(self.full(), Full::Literal(_) | Full::Glob)
    }

    #[inline]
    pub fn is_match(&self, text: &[u8], cache: &mut Cache) -> bool {
        if self.is_out(text) {
            return false;
        }
        if let Some(search) = &self.in_line
            && memchr::memchr(b'\n', text).is_none()
        {
            return self.answers(search, text, cache);
        }
        self.answers(&self.search, text, cache)
    }

    /// A search with PCRE2; one that was given up is counted, and the pattern is named in the log once.
    fn guarded<R>(&self, cache: &mut Cache, search: impl FnOnce(&mut Cache, &mut Spent) -> R) -> R {
        let mut spent = Spent::default();
        let result = search(cache, &mut spent);
        if spent.is_over() {
            self.note_given_up(cache);
        }
        result
    }

    #[cold]
    fn note_given_up(&self, cache: &mut Cache) {
        cache.count_failure();
        GIVEN_UP.fetch_add(1, Ordering::Relaxed);
        if !self.named.swap(true, Ordering::Relaxed) {
            oplog::warning(
                "A pattern took too long for a message, which counts as not matching; further ones are counted only",
                &[("pattern", &self.text), ("limit_ms", &pcre::SEARCH_TIME_MAX.as_millis())],
            );
        }
    }

    #[inline]
    fn answers(&self, search: &Search, text: &[u8], cache: &mut Cache) -> bool {
        match search {
            Search::Literal(literal) => literal.is_match(text),
            Search::Glob(glob) => glob.is_match(text),
            Search::Linear(tail) => match tail.newline_of(text) {
                Some(pcre) => self.guarded(cache, |cache, spent| pcre.is_match(text, cache, spent)),
                None => tail.is_match(text, cache),
            },
            Search::Pcre(pcre) => {
                self.has_required(text)
                    && self.guarded(cache, |cache, spent| pcre.is_match(text, cache, spent))
            }
        }
    }

    #[inline]
    fn has_required(&self, text: &[u8]) -> bool {
        self.required.as_ref().is_none_or(|r| r.is_match(text))
    }

    /// The leftmost match that begins at `at` or later (`^` and look-behind still see what stands before). A
    /// glob or string match has no groups but the whole.
    pub fn captures(&self, text: &[u8], at: usize, cache: &mut Cache, slots: &mut Slots) -> bool {
        self.guarded(cache, |cache, spent| self.captures_within(text, at, cache, slots, spent))
    }

    fn captures_within(
        &self,
        text: &[u8],
        at: usize,
        cache: &mut Cache,
        slots: &mut Slots,
        spent: &mut Spent,
    ) -> bool {
        if self.is_out(text) {
            return false;
        }
        match self.full() {
            Full::Literal(literal) => match literal.find(text, at) {
                Some(span) => {
                    slots.fill(std::iter::once(Some(span)));
                    true
                }
                None => false,
            },
            Full::Glob => {
                let found = at == 0 && self.is_match(text, cache);
                if found {
                    slots.fill(std::iter::once(Some((0, text.len()))));
                }
                found
            }
            Full::Linear(tail) => match tail.newline_of(text) {
                Some(pcre) => pcre.captures(text, at, cache, slots, spent),
                None => tail.captures(text, at, cache, slots),
            },
            Full::Pcre(pcre) => self.has_required(text) && pcre.captures(text, at, cache, slots, spent),
            Full::Nothing => false,
        }
    }

    fn may_be_empty(&self) -> bool {
        self.parsed.as_ref().is_none_or(|p| p.node.nullable())
    }

    fn not_empty(&self) -> Option<&Pcre> {
        let make = || match self.options.kind {
            Kind::Pcre => Pcre::not_empty_here(&self.text, &self.options).ok(),
            _ => None,
        };
        self.not_empty.get_or_init(make).as_ref()
    }

    fn full(&self) -> &Full {
        self.full.get_or_init(|| self.make_full())
    }

    fn make_full(&self) -> Full {
        match self.options.kind {
            Kind::Glob => return Full::Glob,
            Kind::String => {
                if let Some(literal) = Literal::new(string_texts(&self.text, &self.options)) {
                    return Full::Literal(literal);
                }
            }
            Kind::Pcre => {}
        }
        if let Some(full) = self.parsed.as_ref().and_then(|p| self.linear_full(p)) {
            return full;
        }
        match Pcre::new(&self.text, &self.options) {
            Ok(pcre) => Full::Pcre(pcre),
            // PCRE2 has taken the same pattern before: only memory can be missing.
            Err(_) => Full::Nothing,
        }
    }

    fn linear_full(&self, parsed: &Parsed) -> Option<Full> {
        let grouped = parsed.names.len() > 1;
        if !grouped && let Some(literal) = simplify::texts(&parsed.node).and_then(Literal::new) {
            return Some(Full::Literal(literal));
        }
        Tail::new(&parsed.node, &self.text, &self.options).map(|tail| Full::Linear(Box::new(tail)))
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pattern({:?}, {})", self.text, self.engine())
    }
}

/// The pattern and its search engine, when all of it means the same there.
fn understood(text: &str, options: &PatternOptions) -> Result<(Parsed, Search), &'static str> {
    if options.newline {
        return Err("flag newline");
    }
    let parsed = parse::parse(text, Mode { utf8: options.utf8, icase: options.ignore_case })?;
    match search_of(&simplify::for_search(&parsed.node), text, options) {
        Some(search) => Ok((parsed, search)),
        None => Err("too large for an automaton"),
    }
}

fn search_of(node: &Node, text: &str, options: &PatternOptions) -> Option<Search> {
    if let Some(literal) = simplify::texts(node).and_then(Literal::new) {
        return Some(Search::Literal(literal));
    }
    Tail::new(node, text, options).map(|tail| Search::Linear(Box::new(tail)))
}

fn in_line(node: &Node, text: &str, options: &PatternOptions) -> Option<Search> {
    let max = if options.utf8 { 0x10_ffff } else { 0xff };
    search_of(&simplify::for_search_in_line(node, max)?, text, options)
}

fn required_text(text: &str, options: &PatternOptions) -> Option<Literal> {
    if options.utf8 && options.ignore_case {
        return None;
    }
    let texts = vec![required(text)?];
    Literal::new(Texts { at_start: false, end: End::Anything, texts, icase: options.ignore_case })
}

fn string_texts(text: &str, options: &PatternOptions) -> Texts {
    let end = if options.prefix || options.substring { End::Anything } else { End::Nothing };
    let texts = vec![text.as_bytes().to_vec()];
    Texts { at_start: !options.substring || options.prefix, end, texts, icase: options.ignore_case }
}

#[cfg(test)]
mod tests;
