//! Bodies: drivers and operations of objects, and the items and forks of log paths.

use diag::{Diagnostic, Span, nearest};

use super::Parser;
use crate::ast::{
    ArgKind, Call, FilterExpr, If, IfBranch, Inline, LogItem, LogPath, Name, ObjectKind, RawBlock, Reference,
};
use crate::context::Context;
use crate::token::{Bracket, Tok, Token};

/// Items of a log path, for suggestions.
const LOG_WORDS: &[&str] = &[
    "source",
    "destination",
    "filter",
    "parser",
    "rewrite",
    "filterx",
    "junction",
    "channel",
    "log",
    "if",
    "elif",
    "else",
    "flags",
    "parallelize",
];

pub(super) fn object_context(kind: ObjectKind) -> Context {
    match kind {
        ObjectKind::Source => Context::Source,
        ObjectKind::Destination => Context::Destination,
        ObjectKind::Parser => Context::Parser,
        ObjectKind::Rewrite => Context::Rewrite,
        ObjectKind::Filter => Context::Filter,
    }
}

impl Parser<'_> {
    /// The body of a source, destination, parser or rewrite up to `}`; the `{` was just taken.
    pub(super) fn object_body(&mut self, kind: ObjectKind, open: Span) -> Vec<LogItem> {
        let body = self.within(object_context(kind), |p| {
            p.deeper(Bracket::Curly, open, |p| {
                let mut items = Vec::new();
                while let Some(word) = p.next_item(open) {
                    let text = word.text.clone();
                    match p.object_item(word) {
                        Some(item) => {
                            items.push(item);
                            p.semicolon(&format!("`{text}`"));
                        }
                        None => p.resync(),
                    }
                }
                items
            })
        });
        body.unwrap_or_default()
    }

    /// The word an item begins with; None at the end of the body, over its `}`. Everything else is reported.
    pub(super) fn next_item(&mut self, open: Span) -> Option<Name> {
        loop {
            let before = self.last;
            let token = self.next();
            match token.kind {
                Tok::Word(text) if self.begins_statement(&text) => {
                    self.last = before;
                    self.missing_close(Bracket::Curly, open);
                    self.taken_back = Some(Token { kind: Tok::Word(text), span: token.span });
                    return None;
                }
                Tok::Word(text) => return Some(Name { text, span: token.span }),
                Tok::Semicolon => {}
                Tok::Close(Bracket::Curly) => return None,
                Tok::Eof => {
                    self.missing_close(Bracket::Curly, open);
                    return None;
                }
                Tok::Close(b) => self.error("P0104", format!("unexpected `{}`", b.close()), token.span),
                other => {
                    let message = format!("expected an item, found {}", other.describe());
                    self.error("P0101", message, token.span);
                    if let Tok::Open(bracket) = other {
                        self.skip_to_close(bracket);
                    }
                    self.resync();
                }
            }
        }
    }

    /// A name behind the word: it is no item, the body before it was never closed.
    fn begins_statement(&mut self, word: &str) -> bool {
        let named = ObjectKind::ALL.into_iter().any(|kind| kind.keyword() == word) || word == "template";
        named && matches!(self.peek(), Tok::Word(_) | Tok::Str(..))
    }

    fn object_item(&mut self, word: Name) -> Option<LogItem> {
        match word.text.as_str() {
            "channel" | "junction" | "log" | "if" | "elif" | "else" => self.fork(word),
            _ => self.call(word).map(LogItem::Call),
        }
    }

    /// `channel`, `junction`, `log`, `if`; the word was taken.
    fn fork(&mut self, word: Name) -> Option<LogItem> {
        match word.text.as_str() {
            "channel" => {
                let open = self.open(Bracket::Curly, "`channel`")?;
                Some(LogItem::Channel(self.log_body(None, word.span, open)))
            }
            "log" => {
                let name = match self.peek() {
                    Tok::Open(Bracket::Curly) => None,
                    _ => Some(self.name("the log path")?),
                };
                let open = self.open(Bracket::Curly, "`log`")?;
                Some(LogItem::Log(self.log_body(name, word.span, open)))
            }
            "junction" => self.junction(word),
            "if" => self.if_chain(word),
            _ => {
                self.push(
                    Diagnostic::error("P0109", format!("`{}` without `if`", word.text), word.span)
                        .help("there is no `;` between the branches of an `if`"),
                );
                None
            }
        }
    }

    /// The body of a log path up to `}`; the `{` was just taken.
    pub(super) fn log_body(&mut self, name: Option<Name>, keyword: Span, open: Span) -> LogPath {
        let mut path = LogPath { name, items: Vec::new(), flags: Vec::new(), span: keyword };
        self.within(Context::Log, |p| {
            p.deeper(Bracket::Curly, open, |p| {
                let mut order = Order::default();
                while let Some(word) = p.next_item(open) {
                    let what = format!("`{}`", word.text);
                    order.check(p, &word);
                    let read = if word.text == "flags" {
                        p.flags(word).map(|flags| path.flags.extend(flags))
                    } else {
                        p.log_item(word).map(|item| path.items.push(item))
                    };
                    match read {
                        Some(()) => p.semicolon(&what),
                        None => p.resync(),
                    }
                }
            })
        });
        path.span = keyword.to(self.last);
        path
    }

    fn log_item(&mut self, word: Name) -> Option<LogItem> {
        if let Some(kind) = ObjectKind::ALL.into_iter().find(|k| k.keyword() == word.text) {
            return self.object_in_log(kind, word);
        }
        match word.text.as_str() {
            "channel" | "junction" | "log" | "if" | "elif" | "else" => self.fork(word),
            "filterx" => self.raw_block(word, Vec::new()).map(LogItem::FilterX),
            _ => {
                if self.at(&Tok::Open(Bracket::Round)) {
                    let call = self.call(word)?;
                    let parallelize = call.is("parallelize");
                    return Some(if parallelize { LogItem::Parallelize(call) } else { LogItem::Call(call) });
                }
                let near = nearest(&word.text, LOG_WORDS.iter().copied());
                let message = format!("`{}` is not an item of a log path", word.text);
                self.push(Diagnostic::error("P0101", message, word.span).suggest(near));
                None
            }
        }
    }

    /// `source(name)` or `source { ... }`
    fn object_in_log(&mut self, kind: ObjectKind, word: Name) -> Option<LogItem> {
        // The body belongs to another context, but the bracket itself does not depend on it.
        if let Some(open) = self.take(&Tok::Open(Bracket::Curly)) {
            if kind == ObjectKind::Filter {
                let expr: Option<FilterExpr> = self.filter_body(Bracket::Curly, open);
                return Some(LogItem::InlineFilter(expr, word.span.to(self.last)));
            }
            let body = self.object_body(kind, open);
            return Some(LogItem::Inline(Inline { kind, body, span: word.span.to(self.last) }));
        }
        let keyword = kind.keyword();
        if !self.at(&Tok::Open(Bracket::Round)) {
            let found = self.peek().describe();
            let message = format!("expected `(` or `{{` after `{keyword}`, found {found}");
            let at = self.last.after();
            self.error("P0106", message, at);
            return None;
        }
        let open = self.open(Bracket::Round, keyword)?;
        let name = self.within(Context::Plain, |p| p.name(&format!("a {keyword}")));
        let Some(name) = name else {
            self.skip_to_close(Bracket::Round);
            return None;
        };
        if self.take(&Tok::Close(Bracket::Round)).is_none() {
            if matches!(self.peek(), Tok::Word(_) | Tok::Str(..)) {
                let extra = self.next();
                let message = format!("one name is allowed here, found also {}", extra.kind.describe());
                self.push(
                    Diagnostic::error("P0106", message, extra.span)
                        .help(format!("write `{keyword}(...)` once for each")),
                );
                self.skip_to_close(Bracket::Round);
            } else {
                self.missing_close(Bracket::Round, open);
            }
        }
        Some(LogItem::Reference(Reference { kind, name, span: word.span.to(self.last) }))
    }

    fn flags(&mut self, word: Name) -> Option<Vec<Name>> {
        let call: Call = self.within(Context::Plain, |p| p.call(word))?;
        let mut flags = Vec::new();
        for arg in call.args {
            match arg.kind {
                ArgKind::Ident(text) | ArgKind::Str { text, .. } => flags.push(Name { text, span: arg.span }),
                _ => self.error("P0101", format!("{} is not a flag", arg.describe()), arg.span),
            }
        }
        Some(flags)
    }

    fn junction(&mut self, word: Name) -> Option<LogItem> {
        let open = self.open(Bracket::Curly, "`junction`")?;
        let branches = self.within(Context::Log, |p| {
            p.deeper(Bracket::Curly, open, |p| {
                let mut branches = Vec::new();
                while let Some(branch) = p.next_item(open) {
                    let what = format!("`{}`", branch.text);
                    if !matches!(branch.text.as_str(), "channel" | "log") {
                        let message = format!("{what} is not a branch of a junction");
                        p.push(
                            Diagnostic::error("P0111", message, branch.span)
                                .help("put it into `channel { ... };`"),
                        );
                        p.resync();
                        continue;
                    }
                    match p.fork(branch) {
                        Some(item) => {
                            branches.push(item);
                            p.semicolon(&what);
                        }
                        None => p.resync(),
                    }
                }
                branches
            })
        });
        Some(LogItem::Junction(branches.unwrap_or_default(), word.span.to(self.last)))
    }

    fn if_chain(&mut self, word: Name) -> Option<LogItem> {
        let mut chain = If { branches: Vec::new(), otherwise: None, span: word.span };
        let mut keyword = word.span;
        loop {
            chain.branches.push(self.if_branch(keyword)?);
            match self.peek() {
                Tok::Word(w) if w == "elif" => keyword = self.next().span,
                Tok::Word(w) if w == "else" => {
                    keyword = self.next().span;
                    if matches!(self.peek(), Tok::Word(w) if w == "if") {
                        let at = keyword.to(self.next().span);
                        let finding = Diagnostic::error("P0106", "`else if` is one word here", at);
                        self.push(finding.help("write `elif`"));
                        keyword = at;
                        continue;
                    }
                    let open = self.open(Bracket::Curly, "`else`")?;
                    chain.otherwise = Some(self.log_body(None, keyword, open));
                    break;
                }
                _ => break,
            }
        }
        chain.span = word.span.to(self.last);
        Some(LogItem::If(chain))
    }

    fn if_branch(&mut self, keyword: Span) -> Option<IfBranch> {
        let (mut condition, mut has_condition) = (None, false);
        if let Some(open) = self.take(&Tok::Open(Bracket::Round)) {
            has_condition = true;
            condition = self.filter_body(Bracket::Round, open);
        }
        let what = if has_condition { "the condition" } else { "`if`" };
        let open = self.open(Bracket::Curly, what)?;
        Some(IfBranch { condition, has_condition, body: self.log_body(None, keyword, open) })
    }

    /// `{ text }` that is not looked into; `head` are the words before the brace. Nothing was peeked.
    pub(super) fn raw_block(&mut self, keyword: Name, head: Vec<Name>) -> Option<RawBlock> {
        let raw = match keyword.text.as_str() {
            "filterx" => self.reader.expressions_resolved(),
            _ => self.reader.bracketed_resolved(b'{', b'}'),
        };
        match raw {
            Some(raw) => {
                self.reader.write_preprocessed(&format!("{{{}}}", raw.text));
                self.last = raw.span;
                let span = keyword.span.to(raw.span);
                let inner =
                    raw.inner.unwrap_or_else(|| self.reader.made_up(&keyword.text, &raw.text, raw.span));
                Some(RawBlock { keyword, head, text: raw.text, inner, span })
            }
            None => {
                self.open(Bracket::Curly, &format!("`{}`", keyword.text))?;
                None
            }
        }
    }
}

/// The order of a log path: items, then embedded log paths, then flags.
#[derive(Default)]
struct Order {
    fork: Option<Span>,
    flags: Option<Span>,
}

impl Order {
    fn check(&mut self, parser: &mut Parser<'_>, word: &Name) {
        let is_fork = matches!(word.text.as_str(), "log" | "channel");
        let is_flags = word.text == "flags";
        if let Some(flags) = self.flags {
            let message = format!("`{}` after `flags`", word.text);
            parser.push(
                Diagnostic::error("P0108", message, word.span)
                    .label(flags, "flags come last")
                    .help("move `flags(...)` to the end of the log path"),
            );
        } else if let (Some(fork), false, false) = (self.fork, is_fork, is_flags) {
            let message = format!("`{}` after an embedded log path", word.text);
            parser.push(
                Diagnostic::error("P0108", message, word.span)
                    .label(fork, "after this only `log`, `channel` and `flags` can follow")
                    .help(
                        "move it before, or put it into a `log { ... };` or `junction { ... };` of its own",
                    ),
            );
        }
        if is_flags {
            self.flags.get_or_insert(word.span);
        } else if is_fork {
            self.fork.get_or_insert(word.span);
        }
    }
}
