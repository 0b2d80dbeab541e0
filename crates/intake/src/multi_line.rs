//! `multi-line-mode()`: lines that belong together become one message. Works on the same sliding text as
//! [`wire::Framer`].

use conf_schema::Settings;
use diag::{Diagnostic, Diagnostics, Reported};
use memchr::memchr;
use pattern::{Cache, Pattern, PatternOptions, Slots};
use record::Span;
use std::ops::Range;
use std::sync::Arc;
use wire::FramerOptions;
use wire::backtrace::{Backtrace, look};

#[derive(Clone)]
pub enum Mode {
    /// A line that begins with a blank, or is empty, belongs to the one before it.
    Indented,
    /// An empty line ends a message.
    EmptyLineSeparated,
    /// A message begins with `prefix`; from `garbage` on everything is dropped up to the next `prefix`.
    PrefixGarbage { prefix: Option<Arc<Pattern>>, garbage: Option<Arc<Pattern>> },
    /// A message begins with `prefix` and ends with `suffix`; what stands between two is dropped.
    PrefixSuffix { prefix: Option<Arc<Pattern>>, suffix: Arc<Pattern> },
    /// A backtrace is a message, and so is any other line.
    Smart,
}

/// What a line is to the message in work.
enum Line {
    Begins,
    Belongs,
    /// The message ends so many bytes into this line; the rest of the line is dropped.
    Ends(usize),
    /// Begins a message that ends so many bytes into the line.
    Alone(usize),
    /// Part of no message.
    Dropped,
}

pub struct MultiLine {
    mode: Mode,
    options: FramerOptions,
    cache: Cache,
    slots: Slots,
    /// How far in a backtrace the lines are.
    trace: Backtrace,
    /// Bytes of the tail that are whole lines, looked at already. `scanned <= tail length`.
    scanned: usize,
    /// Between a message and the next prefix.
    skipping: bool,
    /// The next bytes go on in a line whose beginning was handed out.
    mid_line: bool,
    truncated: u64,
}

impl MultiLine {
    pub fn new(mode: Mode, options: FramerOptions) -> MultiLine {
        MultiLine {
            mode,
            options: FramerOptions { log_msg_size: options.log_msg_size.max(1), ..options },
            cache: Cache::new(),
            slots: Slots::new(),
            trace: Backtrace::default(),
            scanned: 0,
            skipping: false,
            mid_line: false,
            truncated: 0,
        }
    }

    pub fn skip_to_next(&mut self) {
        self.skipping = true;
    }

    /// Whether another one can go on with the tail, and whether that has to skip what comes before the next
    /// message.
    pub fn is_at_border(&self) -> Option<bool> {
        (!self.mid_line).then_some(self.skipping)
    }

    pub fn take_truncated(&mut self) -> u64 {
        std::mem::take(&mut self.truncated)
    }

    /// Hands out the messages that are known to be complete; returns where the tail begins.
    pub fn scan(&mut self, text: &[u8], sink: &mut impl FnMut(Span)) -> usize {
        let limit = self.options.log_msg_size;
        let mut start = 0;
        let mut at = std::mem::take(&mut self.scanned).min(text.len());
        while let Some(length) = text.get(at..).and_then(|rest| memchr(b'\n', rest)) {
            start = self.line(text, start, at..at + length, sink);
            self.mid_line = false;
            at += length + 1;
        }
        if at - start > limit {
            start = self.split(text.get(..at).unwrap_or(text), start, sink);
        }
        if text.len() - at > limit {
            // Too long to wait for its end.
            start = self.line(text, start, at..text.len(), sink);
            self.mid_line = true;
            if text.len() - start > limit {
                start = self.split(text, start, sink);
            }
            at = text.len();
        }
        self.scanned = at.max(start) - start;
        start
    }

    /// Nothing came for a while, or nothing will: the tail is a message.
    pub fn finish(&mut self, text: &[u8], sink: &mut impl FnMut(Span)) {
        let at = std::mem::take(&mut self.scanned).min(text.len());
        if text.is_empty() {
            return;
        }
        let start = if at < text.len() { self.line(text, 0, at..text.len(), sink) } else { 0 };
        self.emit(text, start, text.len(), sink);
        self.trace = Backtrace::default();
        self.mid_line = text.last() != Some(&b'\n');
    }

    /// Takes in a line of the text; returns where the message in work begins now.
    fn line(&mut self, text: &[u8], start: usize, line: Range<usize>, sink: &mut impl FnMut(Span)) -> usize {
        let at = line.start;
        let next = text.len().min(line.end + 1);
        let kind = match (self.mid_line, self.skipping) {
            (true, true) => Line::Dropped,
            (true, false) => Line::Belongs,
            _ => self.classify(text.get(line).unwrap_or_default(), at > start),
        };
        match kind {
            Line::Belongs => start,
            Line::Begins => {
                self.emit(text, start, at, sink);
                at
            }
            Line::Ends(length) => {
                self.emit(text, start, at + length, sink);
                next
            }
            Line::Alone(length) => {
                self.emit(text, start, at, sink);
                self.emit(text, at, at + length, sink);
                next
            }
            Line::Dropped => next,
        }
    }

    fn classify(&mut self, line: &[u8], is_open: bool) -> Line {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        match self.mode.clone() {
            Mode::Indented => match line.first() {
                Some(b' ' | b'\t') | None => Line::Belongs,
                Some(_) => Line::Begins,
            },
            Mode::EmptyLineSeparated => match line.is_empty() {
                true if is_open => Line::Ends(0),
                true => Line::Dropped,
                false => Line::Belongs,
            },
            Mode::Smart => {
                let step = self.trace.step(look(line));
                match (step.begins, step.ends) {
                    (true, true) => Line::Alone(line.len()),
                    (true, false) => Line::Begins,
                    (false, true) => Line::Ends(line.len()),
                    (false, false) => Line::Belongs,
                }
            }
            Mode::PrefixGarbage { prefix, garbage } => {
                let begins = prefix.as_ref().is_some_and(|p| p.is_match(line, &mut self.cache));
                let end = match &garbage {
                    Some(garbage) if begins || !self.skipping => self.find(garbage, line).map(|(at, _)| at),
                    _ => None,
                };
                self.kind(begins, end, prefix.is_some())
            }
            Mode::PrefixSuffix { prefix, suffix } => {
                let begins = prefix.as_ref().is_some_and(|p| p.is_match(line, &mut self.cache));
                let end = match begins || !self.skipping {
                    true => self.find(&suffix, line).map(|(_, end)| end),
                    false => None,
                };
                self.kind(begins, end, prefix.is_some())
            }
        }
    }

    fn kind(&mut self, begins: bool, end: Option<usize>, has_prefix: bool) -> Line {
        if self.skipping && !begins {
            return Line::Dropped;
        }
        self.skipping = end.is_some() && has_prefix;
        match end {
            Some(end) if begins => Line::Alone(end),
            Some(end) => Line::Ends(end),
            None if begins => Line::Begins,
            None => Line::Belongs,
        }
    }

    fn find(&mut self, pattern: &Pattern, line: &[u8]) -> Option<(usize, usize)> {
        let found = pattern.captures(line, 0, &mut self.cache, &mut self.slots);
        self.slots.get(0).filter(|_| found)
    }

    fn emit(&mut self, text: &[u8], start: usize, end: usize, sink: &mut impl FnMut(Span)) {
        if end <= start {
            return;
        }
        let mut start = start;
        if end.saturating_sub(start) > self.options.log_msg_size {
            start = self.split(text.get(..end).unwrap_or(text), start, sink);
        }
        let mut end = end;
        while end > start && matches!(text.get(end - 1), Some(b'\r' | b'\n' | 0)) {
            end -= 1;
        }
        if end > start || self.options.empty_lines {
            sink(Span::between(start, end));
        }
    }

    /// Hands out full pieces until the rest fits. Returns where the rest begins.
    fn split(&mut self, text: &[u8], mut start: usize, sink: &mut impl FnMut(Span)) -> usize {
        let limit = self.options.log_msg_size;
        while text.len() - start > limit {
            let piece = self.options.piece(text, start);
            self.truncated += 1;
            sink(Span::new(start, piece));
            start += piece;
        }
        start
    }
}

/// The `{multiline}` group: the mode with its text, for comparing.
pub fn multi_line(s: &Settings, diags: &mut Diagnostics) -> Result<Option<(Mode, String)>, Reported> {
    let prefix = expression(s, "multi-line-prefix", diags)?;
    let garbage = expression(s, "multi-line-garbage", diags)?;
    let word = s.choice("multi-line-mode").unwrap_or("none");
    // With its length before it, no text can look like the end of another. Another process may compare it,
    // see docs/restart.md.
    let text = |p: &Option<Arc<Pattern>>| {
        p.as_ref().map_or_else(|| "-".to_owned(), |p| format!("{}:{}", p.text().len(), p.text()))
    };
    let described = format!("{word} {} {}", text(&prefix), text(&garbage));
    let mut wrong = |message: &str, help: &str| {
        if let Some(span) = s.span("multi-line-mode").or(s.call_span()) {
            diags.push(Diagnostic::error("D0113", message, span).help(help));
        }
        Err(Reported)
    };
    let mode = match (word, garbage) {
        ("none", _) => return Ok(None),
        ("indented", _) => Mode::Indented,
        ("empty-line-separated", _) => Mode::EmptyLineSeparated,
        ("smart", _) => Mode::Smart,
        ("prefix-suffix", Some(suffix)) => Mode::PrefixSuffix { prefix, suffix },
        (_, None) if prefix.is_none() => {
            return wrong(
                "this mode needs multi-line-prefix() or multi-line-garbage()",
                "say how a message begins, or how it ends",
            );
        }
        // Without a suffix, a message ends where the next one begins.
        (_, garbage) => Mode::PrefixGarbage { prefix, garbage },
    };
    Ok(Some((mode, described)))
}

fn expression(s: &Settings, name: &str, diags: &mut Diagnostics) -> Result<Option<Arc<Pattern>>, Reported> {
    let Some(text) = s.text(name) else { return Ok(None) };
    let options = PatternOptions { captures: true, ..PatternOptions::default() };
    match Pattern::compile(text, &options) {
        Ok(pattern) => Ok(Some(Arc::new(pattern))),
        Err(error) => {
            let span = s.span(name).ok_or(Reported)?;
            diags.push(Diagnostic::error("D0112", format!("wrong {name}() expression: {error}"), span));
            Err(Reported)
        }
    }
}

#[cfg(test)]
mod tests;
