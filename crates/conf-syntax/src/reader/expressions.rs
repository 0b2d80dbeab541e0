//! The text of expressions as it is read: backticks, lines that begin with `@`, and calls of
//! `block filterx name(args) { text }` are resolved, and every part knows where it stands.

use super::block::{Block, Generator, Scope};
use super::secret::spellings;
use super::{RawText, Reader};
use crate::balance::Balance;
use crate::norm;
use diag::{Diagnostic, Origin, Part, Span, nearest};

/// A text that is put together.
struct Resolved {
    bytes: Vec<u8>,
    parts: Vec<Part>,
    /// Levels of the reader below it.
    below: usize,
}

impl Resolved {
    /// Adds a byte that stands at `from`, or that what stands there is read as.
    fn push(&mut self, b: u8, from: Span, is_written: bool) {
        let start = self.bytes.len() as u32;
        self.bytes.push(b);
        match self.parts.last_mut() {
            Some(last)
                if is_written
                    && last.is_written
                    && last.from.after() == (Span { end: from.start, ..from }) =>
            {
                last.from.end = from.end;
            }
            Some(last) if !is_written && !last.is_written && last.from == from => {}
            _ => self.parts.push(Part { start, from, is_written }),
        }
    }

    fn truncate(&mut self, len: usize) {
        self.bytes.truncate(len);
        self.parts.retain(|part| (part.start as usize) < len);
        if let Some(last) = self.parts.last_mut().filter(|last| last.is_written) {
            last.from.end = last.from.end.min(last.from.start + (len as u32 - last.start));
        }
    }
}

impl Reader<'_> {
    /// Braces around expressions, where texts between slashes may hold anything.
    pub fn expressions_resolved(&mut self) -> Option<RawText> {
        self.skip_blank();
        if self.peek() != Some(b'{') {
            return None;
        }
        let (start, opening) = (self.here(), self.span_here());
        let (emit, raw) = (std::mem::replace(&mut self.emit, false), self.raw);
        let mut text = Resolved { bytes: Vec::new(), parts: Vec::new(), below: self.levels.len() };
        let mut balance = Balance::of_expressions();
        self.bump();
        balance.feed(b'{');
        let is_closed = self.resolve(&mut text, &mut balance);
        (self.emit, self.raw, self.quoting) = (emit, raw, None);
        if !is_closed && !self.fatal {
            let what = if balance.in_string() { ", the text ends inside a quoted string" } else { "" };
            self.diags.error("P0103", format!("this `{{` is never closed{what}"), opening);
            self.end_all();
        }
        let end = match self.levels.get(text.below - 1) {
            // What it ends in was included by it, or called.
            Some(level) if self.levels.len() > text.below => level.pos,
            _ => self.last_end as usize,
        };
        let span = Span::new(opening.file, start, end);
        let inner = Span::new(opening.file, start + 1, end - usize::from(is_closed && end > start + 1));
        let is_as_written = match text.parts.as_slice() {
            [] => true,
            [only] => only.is_written && only.from == inner,
            _ => false,
        };
        let string = String::from_utf8_lossy(&text.bytes).into_owned();
        let inner = match is_as_written {
            true => inner,
            false => {
                let shown = self.shown(&string);
                let file = self.sources.add_resolved("filterx", shown, inner, text.parts);
                Span::new(file, 0, string.len())
            }
        };
        Some(RawText { text: string, span, inner: Some(inner) })
    }

    /// Reads up to the bracket that closes; whether there was one.
    fn resolve(&mut self, text: &mut Resolved, balance: &mut Balance) -> bool {
        loop {
            // Comments are not text.
            (self.raw, self.quoting) = (balance.is_comment(), balance.quoting());
            if balance.is_plain()
                && (self.followed_pragma(text, balance) || self.followed_call(text, balance))
            {
                continue;
            }
            let start = self.here();
            let Some((b, spliced)) = self.bump() else {
                if self.levels.len() <= text.below {
                    return false;
                }
                let is_file = self.levels.last().is_some_and(|level| level.path.is_some());
                let at = self.span_here();
                self.pop_level();
                if is_file {
                    // The last line may lack its end.
                    balance.feed(b'\n');
                    text.push(b'\n', at, false);
                }
                continue;
            };
            if balance.feed(b) {
                return true;
            }
            text.push(b, self.span_from(start), !spliced);
            if !spliced && balance.is_escape() && self.at_backtick() {
                let at = self.span_here();
                self.after_backslash(at);
            }
        }
    }

    /// Reads a line that begins with `@`, and does what it says.
    fn followed_pragma(&mut self, text: &mut Resolved, balance: &mut Balance) -> bool {
        if self.peek() != Some(b'@') || !self.at_line_start() {
            return false;
        }
        let at = self.span_here();
        self.pragma();
        balance.feed(b'\n');
        text.push(b'\n', at, false);
        true
    }

    /// Reads a word, and where it calls a block, what the block says is read next.
    fn followed_call(&mut self, text: &mut Resolved, balance: &mut Balance) -> bool {
        let is_letter = |b: u8| b.is_ascii_alphabetic() || b == b'_';
        let is_inside = |b: &u8| is_letter(*b) || b.is_ascii_digit();
        if !self.peek().is_some_and(is_letter) || text.bytes.last().is_some_and(is_inside) {
            return false;
        }
        let (begin, before, first) = (text.bytes.len(), balance.clone(), self.here());
        let is_name = !matches!(text.bytes.last(), Some(b'$' | b'.'));
        while self.peek().as_ref().is_some_and(is_inside) {
            let start = self.here();
            let Some((b, spliced)) = self.bump() else { break };
            balance.feed(b);
            text.push(b, self.span_from(start), !spliced);
        }
        let word = String::from_utf8_lossy(text.bytes.get(begin..).unwrap_or_default()).into_owned();
        let blocks = self.generators.get(&norm(&word)).filter(|_| is_name);
        let block = blocks.and_then(|list| list.iter().find(|(context, _)| context == "filterx"));
        let Some(generator) = block.map(|(_, generator)| std::rc::Rc::clone(generator)) else { return true };
        let Generator::Block(block) = &*generator else { return true };
        let (mark, name) = (self.mark(), self.span_from(first));
        let Some(args) = self.resolved_by(Balance::of_arguments()) else {
            self.rewind(mark);
            return true;
        };
        text.truncate(begin);
        *balance = before;
        let scope = self.bind_expressions(block, &word, &args.text, name);
        let (body, cost) = (block.body.clone(), block.body.len() + scope.bytes());
        self.expand(&word, body, Some(scope), block.definition, name.to(args.span), cost);
        true
    }

    /// The place of a text that is not as it was written: a text of its own, which belongs to `at`.
    pub fn made_up(&mut self, name: &str, text: &str, at: Span) -> Span {
        let shown = self.shown(text);
        let file = self.sources.add(name, shown, Origin::Included { at });
        Span::new(file, 0, text.len())
    }

    /// Secrets are not shown; what stands for them is as long, so that places stay what they are.
    fn shown(&self, text: &str) -> String {
        let mut shown = text.to_owned();
        for (name, secret) in &self.config.secrets {
            for written in spellings(secret.text(name)) {
                shown = shown.replace(&written, &"*".repeat(written.len()));
            }
        }
        shown
    }

    fn bind_expressions(&mut self, block: &Block, name: &str, args: &str, at: Span) -> Scope {
        let mut scope = Scope::default();
        for param in &block.params {
            if let Some(default) = &param.default {
                let default = self.substitute(default, None, at);
                scope.set(&param.name, default);
            }
        }
        let mut surplus = String::new();
        for piece in arguments(args) {
            let named = piece.split_once('=').filter(|(name, value)| {
                !value.starts_with(['=', '~', '?'])
                    && name.trim().bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
            });
            let Some((key, value)) = named else {
                let message = format!("call of block `{name}`: `{}` has no name", piece.trim());
                let finding = Diagnostic::error("P0044", message, at);
                self.diags
                    .push(finding.help(format!(
                        "in expressions a block is called with `{name}(argument=value, ...)`"
                    )));
                continue;
            };
            let (key, value) = (norm(key.trim()), value.trim());
            if block.params.iter().any(|p| p.name == key) {
                scope.set(&key, value.to_owned());
            } else if block.varargs {
                surplus.push_str(&format!("{key}({value}) "));
            } else {
                let near = nearest(&key, block.params.iter().map(|p| p.name.as_str()));
                let message = format!("block `{name}` has no argument `{key}`");
                self.diags.push(Diagnostic::error("P0043", message, at).suggest(near));
            }
        }
        if block.varargs {
            scope.set(&norm("__VARARGS__"), surplus);
        }
        for param in &block.params {
            if scope.get(&param.name).is_none() {
                let message = format!("block `{name}` needs the argument `{}`", param.name);
                let help = format!("add `{}=...` to the call", param.name);
                self.diags.push(Diagnostic::error("P0042", message, at).help(help));
                scope.set(&param.name, String::new());
            }
        }
        scope
    }
}

/// Splits at commas that stand in no brackets or quotes.
fn arguments(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let (mut open, mut from) = (0usize, 0);
    let mut balance = Balance::of_expressions();
    for (at, b) in text.bytes().enumerate() {
        if balance.is_plain() {
            match b {
                b'(' | b'[' | b'{' => open += 1,
                b')' | b']' | b'}' => open = open.saturating_sub(1),
                b',' if open == 0 => {
                    pieces.extend(text.get(from..at));
                    from = at + 1;
                }
                _ => {}
            }
        }
        balance.feed(b);
    }
    pieces.extend(text.get(from..).filter(|rest| !rest.trim().is_empty()));
    pieces
}
