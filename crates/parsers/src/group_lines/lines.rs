//! What a line is to a message of several lines: told from the line alone, before any lock is taken.

use crate::build::Build;
use conf_schema::Settings;
use diag::{Diagnostic, Reported};
use pattern::{Cache, Pattern, PatternOptions, Slots};
use wire::backtrace::look;

/// Where messages begin and end.
pub enum Lines {
    None,
    Indented,
    EmptyLine,
    PrefixGarbage {
        prefix: Option<Pattern>,
        garbage: Option<Pattern>,
    },
    PrefixSuffix {
        prefix: Option<Pattern>,
        suffix: Pattern,
    },
    /// Backtraces: what a line is depends on those before it, so its note is how it looks.
    Smart,
}

/// What one line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// It is the first of its message.
    pub starts: bool,
    /// It is the last.
    pub ends: bool,
    /// Bytes of it that belong to the message.
    pub kept: u32,
}

const STARTS: u32 = 1 << 31;
const ENDS: u32 = 1 << 30;

impl Line {
    /// From the note that goes with a message to its context.
    pub fn of(note: u32) -> Line {
        let (starts, ends) = (note & STARTS != 0, note & ENDS != 0);
        Line { starts, ends, kept: note & (ENDS - 1) }
    }

    fn note(self) -> u32 {
        self.kept.min(ENDS - 1) | if self.starts { STARTS } else { 0 } | if self.ends { ENDS } else { 0 }
    }
}

impl Lines {
    pub fn build(settings: &Settings, b: &mut Build<'_>) -> Option<Lines> {
        let prefix = pattern(settings, "multi-line-prefix", b).ok()?;
        let garbage = pattern(settings, "multi-line-garbage", b).ok()?;
        let mode = settings.choice("multi-line-mode").unwrap_or("none");
        let patterns = matches!(mode, "prefix-garbage" | "prefix-suffix");
        if !patterns && (prefix.is_some() || garbage.is_some()) {
            let text = format!("multi-line-mode({mode}) has no use for a prefix, garbage or suffix");
            b.wrong(text, settings.span("multi-line-mode"), "multi-line-mode(prefix-garbage) has");
            return None;
        }
        match (mode, prefix, garbage) {
            ("indented", ..) => Some(Lines::Indented),
            ("empty-line-separated", ..) => Some(Lines::EmptyLine),
            ("smart", ..) => Some(Lines::Smart),
            ("prefix-garbage", None, None) => {
                let text =
                    "multi-line-mode(prefix-garbage) needs multi-line-prefix() or multi-line-garbage()";
                b.wrong(text, settings.span("multi-line-mode"), "as multi-line-prefix(\"^[0-9]\")");
                None
            }
            ("prefix-garbage", prefix, garbage) => Some(Lines::PrefixGarbage { prefix, garbage }),
            ("prefix-suffix", prefix, Some(suffix)) => Some(Lines::PrefixSuffix { prefix, suffix }),
            ("prefix-suffix", ..) => {
                let text = "multi-line-mode(prefix-suffix) needs multi-line-suffix()";
                b.wrong(text, settings.span("multi-line-mode"), "as multi-line-suffix(\"END$\")");
                None
            }
            _ => Some(Lines::None),
        }
    }

    /// The note that goes with a line to its context.
    pub fn look(&self, line: &[u8], cache: &mut Cache, slots: &mut Slots) -> u32 {
        let whole = u32::try_from(line.len()).unwrap_or(u32::MAX);
        let plain = Line { starts: false, ends: false, kept: whole };
        let begins = |prefix: &Option<Pattern>, cache: &mut Cache| {
            prefix.as_ref().is_some_and(|prefix| prefix.is_match(line, cache))
        };
        let found = match self {
            Lines::None => plain,
            Lines::Indented => Line { starts: !matches!(line.first(), Some(b' ' | b'\t') | None), ..plain },
            Lines::Smart => return look(line).0,
            Lines::EmptyLine => Line { ends: line.is_empty(), ..plain },
            Lines::PrefixGarbage { prefix, garbage } => {
                let starts = begins(prefix, cache);
                match garbage.as_ref().and_then(|garbage| place(garbage, line, cache, slots)) {
                    Some((start, _)) => Line { starts, ends: true, kept: start },
                    None => Line { starts, ..plain },
                }
            }
            Lines::PrefixSuffix { prefix, suffix } => {
                let starts = begins(prefix, cache);
                match place(suffix, line, cache, slots) {
                    Some((_, end)) => Line { starts, ends: true, kept: end },
                    None => Line { starts, ..plain },
                }
            }
        };
        found.note()
    }

    /// Behind the end of a message everything is left out up to the next prefix.
    pub fn has_garbage(&self) -> bool {
        matches!(self, Lines::PrefixGarbage { prefix: Some(_), .. })
    }
}

/// Where a pattern matches.
fn place(pattern: &Pattern, line: &[u8], cache: &mut Cache, slots: &mut Slots) -> Option<(u32, u32)> {
    if !pattern.captures(line, 0, cache, slots) {
        return None;
    }
    let (start, end) = slots.get(0)?;
    Some((u32::try_from(start).ok()?, u32::try_from(end).ok()?))
}

/// `None` when it is wrong.
fn pattern(settings: &Settings, name: &str, b: &mut Build<'_>) -> Result<Option<Pattern>, Reported> {
    let Some(text) = settings.text(name) else { return Ok(None) };
    match Pattern::compile(text, &PatternOptions { captures: true, ..PatternOptions::default() }) {
        Ok(pattern) => Ok(Some(pattern)),
        Err(error) => {
            let at = settings.span(name).unwrap_or(b.span);
            let finding = Diagnostic::error("A0104", error.to_string(), at);
            b.diags.push(finding.note(format!("see {}", error.code)));
            Err(Reported)
        }
    }
}
