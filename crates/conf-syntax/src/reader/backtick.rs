//! Backticks: `` `name` `` is replaced by an argument of the block, its default, a global, the environment,
//! or nothing.

use std::rc::Rc;

use diag::{Diagnostic, Span, nearest};

use super::{Reader, Scope, Splice};
use crate::ast::{Quote, norm};
use crate::literal::{requote, whole_literal};

/// What stands around a name in backticks.
#[derive(Clone, Copy)]
struct Around {
    quoting: Option<Quote>,
    /// It is all there is between the quotes.
    whole: bool,
}

impl Around {
    fn of(quoting: Option<Quote>, before: &str, after: &str) -> Around {
        let quotes = ['"', '\''];
        Around { quoting, whole: quoting.is_some() && before.ends_with(quotes) && after.starts_with(quotes) }
    }
}

impl Reader<'_> {
    /// The reader stands on a backtick: its value is read next.
    pub(super) fn open_backtick(&mut self) {
        let (text, start, file, scope) = match self.levels.last() {
            Some(l) => (l.text.clone(), l.pos, l.file, l.scope.clone()),
            None => return,
        };
        let rest = text.get(start + 1..).unwrap_or("");
        let (value, end): (Rc<str>, usize) = match backtick_name(rest) {
            Some("") => ("`".into(), start + 2),
            Some(name) => {
                let end = start + name.len() + 2;
                let span = Span::new(file, start, end);
                let (before, after) = (text.get(..start), text.get(end..));
                let around = Around::of(self.quoting, before.unwrap_or_default(), after.unwrap_or_default());
                (self.value(name, around, scope.as_deref(), span).into(), end)
            }
            None => {
                self.unclosed(Span::new(file, start, start + 1));
                ("".into(), start + 1)
            }
        };
        if let Some(level) = self.levels.last_mut() {
            level.splice = Some(Splice { text: value, pos: 0, start, end });
        }
    }

    /// The reader stands on a backtick in the text itself (not in the value of another).
    pub(super) fn at_backtick(&self) -> bool {
        self.levels.last().is_some_and(|l| {
            l.splice.as_ref().is_none_or(|s| s.pos >= s.text.len())
                && l.text.as_bytes().get(l.splice.as_ref().map_or(l.pos, |s| s.end)) == Some(&b'`')
        })
    }

    /// Resolves the backticks of a whole text, as for the arguments of a call.
    pub(super) fn substitute(&mut self, text: &str, scope: Option<&Scope>, at: Span) -> String {
        let mut out = String::with_capacity(text.len());
        let mut quoting: Option<Quote> = None;
        let mut rest = text;
        while let Some(stop) = rest.find(['`', '"', '\'', '\\', '#']) {
            let (before, after) = rest.split_at(stop);
            out.push_str(before);
            let symbol = after.chars().next().unwrap_or('`');
            rest = after.get(symbol.len_utf8()..).unwrap_or("");
            match (symbol, quoting) {
                ('`', _) => match backtick_name(rest) {
                    Some("") => {
                        out.push('`');
                        rest = rest.get(1..).unwrap_or("");
                    }
                    Some(name) => {
                        let after = rest.get(name.len() + 1..).unwrap_or("");
                        let around = Around::of(quoting, &out, after);
                        out.push_str(&self.value(name, around, scope, at));
                        rest = after;
                    }
                    None => self.unclosed(at),
                },
                ('#', None) => {
                    let line = rest.find('\n').unwrap_or(rest.len());
                    out.push('#');
                    out.push_str(rest.get(..line).unwrap_or(""));
                    rest = rest.get(line..).unwrap_or("");
                }
                ('\\', Some(Quote::Double)) => {
                    out.push('\\');
                    if rest.starts_with('`') {
                        self.after_backslash(at);
                    } else if let Some(c) = rest.chars().next() {
                        out.push(c);
                        rest = rest.get(c.len_utf8()..).unwrap_or("");
                    }
                }
                (quote, _) => {
                    quoting = match (quote, quoting) {
                        ('"', None) => Some(Quote::Double),
                        ('\'', None) => Some(Quote::Single),
                        ('"', Some(Quote::Double)) | ('\'', Some(Quote::Single)) => None,
                        (_, same) => same,
                    };
                    out.push(quote);
                }
            }
        }
        out.push_str(rest);
        out
    }

    /// What stands for `` `name` ``, written for the string it stands in.
    fn value(&mut self, name: &str, around: Around, scope: Option<&Scope>, at: Span) -> String {
        if let Some(value) = self.secret(name, around.quoting, at) {
            return value;
        }
        let value = self.look_up(name, around, scope, at);
        let value = match around.quoting {
            None => value,
            Some(quote) => {
                let written = match whole_literal(&value) {
                    Some(content) => requote(&content, quote),
                    None if quote == Quote::Single && value.contains('\'') => None,
                    None => Some(value),
                };
                written.unwrap_or_else(|| {
                    let message =
                        format!("the value of `{name}` contains ' and stands in a string in single quotes");
                    self.diags.push(
                        Diagnostic::error("P0012", message, at)
                            .help("use double quotes around the backticks"),
                    );
                    String::new()
                })
            }
        };
        self.substituted_bytes = self.substituted_bytes.saturating_add(value.len());
        if self.substituted_bytes > self.options.limits.substituted_bytes {
            let max = self.options.limits.substituted_bytes;
            self.limit("P0045", format!("backticks give more than {max} bytes of text"), at);
            return String::new();
        }
        value
    }

    fn look_up(&mut self, name: &str, around: Around, scope: Option<&Scope>, at: Span) -> String {
        let key = norm(name);
        if let Some(value) = scope.and_then(|s| s.get(&key)) {
            return value.to_string();
        }
        if let Some(value) = self.globals.get(&key) {
            return value.clone();
        }
        if let Some(value) = self.options.env.and_then(|env| env(name)) {
            return value;
        }
        let known = self.globals.keys().map(String::as_str).chain(scope.into_iter().flat_map(Scope::names));
        let near = nearest(name, known).map(str::to_string);
        let message = format!("nothing is defined for `{name}` in backticks; it stands for an empty text");
        // As a whole string an empty text is a value like others: configurations ask whether it is.
        let finding = match near.is_some() || !around.whole {
            true => Diagnostic::warning("P0013", message, at),
            false => Diagnostic::remark("P0013", message, at),
        };
        self.diags.push_once(finding.suggest(near.as_deref()));
        String::new()
    }

    fn unclosed(&mut self, at: Span) {
        self.diags.push(
            Diagnostic::error("P0010", "missing closing backtick", at)
                .help("a backtick that means itself is written twice"),
        );
    }

    pub(super) fn after_backslash(&mut self, at: Span) {
        self.diags.push(
            Diagnostic::error("P0011", "a backtick cannot follow a backslash in double quotes", at)
                .help("write the backslash as `\\\\`, or use single quotes"),
        );
    }
}

/// The name up to the closing backtick; it must be on the same line.
fn backtick_name(rest: &str) -> Option<&str> {
    let end = rest.find(['`', '\n'])?;
    rest.as_bytes().get(end).filter(|b| **b == b'`').and_then(|_| rest.get(..end))
}
