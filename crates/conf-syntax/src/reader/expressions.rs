//! `block filterx name(args) { text }`: calls in the text of expressions are replaced by what the block says.

use super::block::{Generator, Scope};
use super::secret::spellings;
use super::{RawText, Reader};
use crate::balance::Balance;
use crate::norm;
use diag::{Diagnostic, Origin, Span, nearest};
use std::rc::Rc;

/// Blocks that call blocks.
const DEPTH_MAX: usize = 32;

/// A call in a text: where its name and its arguments stand, brackets included.
struct BlockCall {
    start: usize,
    open: usize,
    end: usize,
}

impl Reader<'_> {
    /// The same for the braces of expressions, where texts between slashes may hold anything.
    pub fn expressions_resolved(&mut self) -> Option<RawText> {
        let raw = self.resolved_by(Balance::of_expressions())?;
        Some(self.with_blocks(raw))
    }

    /// The place of a text that is not as it was written: a text of its own, which belongs to `at`.
    pub fn made_up(&mut self, name: &str, text: &str, at: Span) -> Span {
        // Secrets are not shown; what stands for them is as long, so that places stay what they are.
        let mut shown = text.to_owned();
        for (_, value) in &self.config.secrets {
            for written in spellings(value) {
                shown = shown.replace(&written, &"*".repeat(written.len()));
            }
        }
        let file = self.sources.add(name, shown, Origin::Included { at });
        Span::new(file, 0, text.len())
    }

    /// The same text with calls of blocks replaced.
    pub(super) fn with_blocks(&mut self, raw: RawText) -> RawText {
        let any = self.generators.values().any(|list| list.iter().any(|(context, _)| context == "filterx"));
        if !any {
            return raw;
        }
        let text = self.expressions(&raw.text, raw.span, 0);
        if text == raw.text { raw } else { RawText { text, inner: None, ..raw } }
    }

    fn expressions(&mut self, text: &str, at: Span, depth: usize) -> String {
        let mut out = String::with_capacity(text.len());
        let mut from = 0;
        while let Some((call, generator)) = self.next_call(text, from) {
            out.push_str(text.get(from..call.start).unwrap_or_default());
            let name = text.get(call.start..call.open).unwrap_or_default().trim_end();
            let args = text.get(call.open + 1..call.end - 1).unwrap_or_default();
            if depth >= DEPTH_MAX {
                let message = format!("block `{name}`: calls inside each other more than {DEPTH_MAX} deep");
                self.diags.push_once(Diagnostic::error("P0045", message, at));
                return out;
            }
            if let Generator::Block(block) = &*generator {
                let scope = self.bind_expressions(block, name, args, at);
                let body = self.substitute(&block.body, Some(&scope), at);
                self.expanded_bytes = self.expanded_bytes.saturating_add(body.len());
                if self.expanded_bytes > self.options.limits.expanded_bytes {
                    let message = format!("block `{name}`: the blocks expand to too many bytes");
                    self.diags.push_once(Diagnostic::error("P0045", message, at));
                    return out;
                }
                out.push_str(&self.expressions(&body, at, depth + 1));
            }
            from = call.end;
        }
        out.push_str(text.get(from..).unwrap_or_default());
        out
    }

    fn next_call(&self, text: &str, from: usize) -> Option<(BlockCall, Rc<Generator>)> {
        let bytes = text.as_bytes();
        let mut balance = Balance::of_expressions();
        let mut at = from;
        let is_word = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
        while let Some(&b) = bytes.get(at) {
            let begins = balance.is_plain() && (b.is_ascii_alphabetic() || b == b'_');
            if !begins {
                balance.feed(b);
                at += 1;
                continue;
            }
            let end = bytes.iter().skip(at).position(|b| !is_word(*b)).map_or(bytes.len(), |len| at + len);
            let word = text.get(at..end).unwrap_or_default();
            let is_name = !matches!(at.checked_sub(1).and_then(|i| bytes.get(i)), Some(b'$' | b'.'));
            let blanks = bytes.iter().skip(end).take_while(|b| b.is_ascii_whitespace()).count();
            let open = end + blanks;
            if is_name
                && bytes.get(open) == Some(&b'(')
                && let Some(generator) = self.generators.get(&norm(word)).and_then(|list| {
                    list.iter().find(|(context, _)| context == "filterx").map(|(_, g)| Rc::clone(g))
                })
            {
                let mut inside = Balance::of_arguments();
                let len = bytes.iter().skip(open).position(|b| inside.feed(*b))?;
                return Some((BlockCall { start: at, open, end: open + len + 1 }, generator));
            }
            bytes.get(at..end).unwrap_or_default().iter().for_each(|b| {
                balance.feed(*b);
            });
            at = end;
        }
        None
    }

    fn bind_expressions(&mut self, block: &super::block::Block, name: &str, args: &str, at: Span) -> Scope {
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
