//! Text to tokens: a stack of texts (files, block expansions) read byte by byte, backticks resolved on the
//! way.
//!
//! Backticks are resolved where the reader stands, not line by line ahead: so `@define`s act from their line
//! on, raw text (block bodies, call arguments) stays raw, and every byte knows the place it came from.

mod backtick;
mod block;
mod confgen;
mod expressions;
mod include;
mod level;
mod lexer;
mod pieces;
mod pragma;
mod scripts;
mod secret;

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use diag::{Diagnostics, FileId, SourceMap, Span};

use crate::ast::{Config, Quote, norm};
use crate::balance::Balance;
use crate::context::Context;
use crate::options::ParseOptions;
use level::{Level, Splice};

pub(crate) use block::{Generator, Scope};

pub struct Reader<'o> {
    pub options: &'o ParseOptions,
    pub sources: SourceMap,
    pub diags: Diagnostics,
    /// Facts met on the way: version, defines, modules, blocks, files.
    pub config: Config,
    /// Decides which blocks a name calls; the parser sets it before it asks for a token.
    pub context: Context,
    /// The rest of the text makes no sense (unterminated quote): errors at its end are only consequences.
    pub fatal: bool,
    /// Folders relative includes are looked up in.
    pub include_path: Vec<PathBuf>,
    levels: Vec<Level>,
    /// Backtick names: predefined ones and `@define`s, canonical spelling.
    globals: BTreeMap<String, String>,
    /// Blocks and confgens by name, each with its context.
    generators: HashMap<String, Vec<(String, Rc<Generator>)>>,
    scripts: scripts::Blocks,
    /// The string the reader is in: decides how a backtick's value is written.
    quoting: Option<Quote>,
    /// Backticks are ordinary bytes.
    raw: bool,
    /// In a pragma line: its end is a token.
    in_pragma: bool,
    preprocessed: Vec<u8>,
    emit: bool,
    /// Length of `preprocessed` where the last token began.
    token_begin: usize,
    last_end: u32,
    substituted_bytes: usize,
    expanded_bytes: usize,
    files_read: usize,
    limit_reported: bool,
    /// `@version` was given, a wrong one too.
    pub has_version: bool,
}

/// A position to come back to.
struct Mark {
    pos: usize,
    splice: Option<Splice>,
    preprocessed: usize,
    last_end: u32,
}

/// Bracketed text, read without looking into it.
pub struct RawText {
    pub text: String,
    /// From bracket to bracket.
    pub span: Span,
    /// The text between the brackets as it stands in the source; None when a backtick gave part of it.
    pub inner: Option<Span>,
}

impl<'o> Reader<'o> {
    pub fn new(options: &'o ParseOptions) -> Reader<'o> {
        let mut reader = Reader {
            options,
            sources: SourceMap::new(),
            diags: Diagnostics::new(),
            config: Config::default(),
            context: Context::Root,
            fatal: false,
            include_path: options.include_path.clone(),
            levels: Vec::new(),
            globals: options.globals.iter().map(|(k, v)| (norm(k), v.clone())).collect(),
            generators: HashMap::new(),
            scripts: scripts::Blocks::default(),
            quoting: None,
            raw: false,
            in_pragma: false,
            preprocessed: Vec::new(),
            emit: true,
            token_begin: 0,
            last_end: 0,
            substituted_bytes: 0,
            expanded_bytes: 0,
            files_read: 0,
            limit_reported: false,
            has_version: false,
        };
        for built_in in options.library.iter().flat_map(|library| &library.generators) {
            reader.add_built_in(built_in);
        }
        for old in options.library.iter().flat_map(|library| library.old_names) {
            reader.add_generator(old.context, old.name, Generator::Old(*old));
        }
        reader
    }

    pub fn take_preprocessed(&mut self) -> String {
        let mut text = String::from_utf8_lossy(&std::mem::take(&mut self.preprocessed)).into_owned();
        // A name in backticks can be read again, in a string and out of it.
        for (name, secret) in &self.config.secrets {
            for written in secret::spellings(secret.text(name)) {
                text = text.replace(&written, &format!("`{name}`"));
            }
        }
        text
    }

    /// A `@define` or predefined value.
    pub fn global(&self, name: &str) -> Option<&str> {
        self.globals.get(&norm(name)).map(String::as_str)
    }

    fn push_level(&mut self, file: FileId, text: Arc<str>, scope: Option<Rc<Scope>>) {
        self.levels.push(Level::new(file, text, scope));
    }

    /// Ends the text being read; false when it is the last one.
    fn pop_level(&mut self) -> bool {
        if self.levels.len() <= 1 {
            return false;
        }
        if let Some(level) = self.levels.pop()
            && let Some(at) = level.then_at
        {
            self.read_queue(level.then, at);
        }
        true
    }

    /// Skips the rest of the text being read.
    fn end_level(&mut self) {
        if let Some(level) = self.levels.last_mut() {
            level.pos = level.text.len();
            level.splice = None;
        }
    }

    /// Skips everything: used after an error nothing can be made of.
    fn end_all(&mut self) {
        self.levels.truncate(1);
        self.end_level();
        self.fatal = true;
    }

    fn peek(&mut self) -> Option<u8> {
        loop {
            let level = self.levels.last_mut()?;
            if let Some(splice) = &level.splice {
                if let Some(&b) = splice.text.as_bytes().get(splice.pos) {
                    return Some(b);
                }
                level.pos = splice.end;
                level.splice = None;
            }
            let b = *level.text.as_bytes().get(level.pos)?;
            if b != b'`' || self.raw {
                return Some(b);
            }
            self.open_backtick();
        }
    }

    /// The next byte and whether a backtick gave it.
    fn bump(&mut self) -> Option<(u8, bool)> {
        let b = self.peek()?;
        let level = self.levels.last_mut()?;
        let spliced = match &mut level.splice {
            Some(splice) => {
                splice.pos += 1;
                self.last_end = splice.end as u32;
                true
            }
            None => {
                level.pos += 1;
                self.last_end = level.pos as u32;
                false
            }
        };
        if self.emit {
            self.preprocessed.push(b);
            if b == b'`' {
                self.preprocessed.push(b);
            }
        }
        Some((b, spliced))
    }

    fn bump_if(&mut self, wanted: u8) -> bool {
        let hit = self.peek() == Some(wanted);
        if hit {
            self.bump();
        }
        hit
    }

    fn file(&self) -> FileId {
        self.levels.last().map_or(self.root_file(), |l| l.file)
    }

    fn root_file(&self) -> FileId {
        self.levels.first().map_or_else(FileId::default, |l| l.file)
    }

    fn here(&self) -> usize {
        self.levels.last().map_or(0, |l| l.splice.as_ref().map_or(l.pos, |s| s.start))
    }

    /// From `start` to the last byte read.
    fn span_from(&self, start: usize) -> Span {
        Span::new(self.file(), start, self.last_end as usize)
    }

    /// The byte at the current place alone.
    fn span_here(&self) -> Span {
        let level = self.levels.last();
        let end = level.map_or(0, |l| l.splice.as_ref().map_or((l.pos + 1).min(l.text.len()), |s| s.end));
        Span::new(self.file(), self.here(), end)
    }

    fn mark(&self) -> Mark {
        let level = self.levels.last();
        Mark {
            pos: level.map_or(0, |l| l.pos),
            splice: level.and_then(|l| l.splice.clone()),
            preprocessed: self.preprocessed.len(),
            last_end: self.last_end,
        }
    }

    /// Only valid while the same text is on top.
    fn rewind(&mut self, mark: Mark) {
        if let Some(level) = self.levels.last_mut() {
            level.pos = mark.pos;
            level.splice = mark.splice;
        }
        self.preprocessed.truncate(mark.preprocessed);
        self.last_end = mark.last_end;
    }

    /// Skips blanks, line ends, continuations and comments; stays inside the text.
    fn skip_blank(&mut self) {
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\r' | b'\n') => {
                    self.bump();
                }
                Some(b'#') => self.skip_comment(),
                _ => return,
            }
        }
    }

    /// Comments are not text: backticks in them are not resolved.
    fn skip_comment(&mut self) {
        let (raw, emit) = (self.raw, self.emit);
        (self.raw, self.emit) = (true, false);
        while self.peek().is_some_and(|b| b != b'\n') {
            self.bump();
        }
        (self.raw, self.emit) = (raw, emit);
    }

    /// Reads bracketed text that begins right here, without resolving backticks; blanks before it are
    /// skipped. None (and nothing read) when there is no such bracket; an unclosed one is reported.
    pub fn bracketed(&mut self, open: u8, close: u8) -> Option<RawText> {
        self.bracketed_by(Balance::new(open, close))
    }

    pub(super) fn bracketed_by(&mut self, mut balance: Balance) -> Option<RawText> {
        let open = balance.open();
        self.skip_blank();
        if self.peek() != Some(open) {
            return None;
        }
        let (start, emit, raw) = (self.here(), self.emit, self.raw);
        let opening = self.span_here();
        self.raw = true;
        self.emit = false;
        let mut bytes = Vec::new();
        let (mut any_spliced, mut done) = (false, false);
        while let Some((b, spliced)) = self.bump() {
            any_spliced |= spliced;
            bytes.push(b);
            if spliced && b == b'`' {
                // What a backtick gave is not resolved again: kept as a literal one.
                bytes.push(b);
            }
            if balance.feed(b) {
                done = true;
                break;
            }
        }
        (self.raw, self.emit) = (raw, emit);
        if !done {
            let what = if balance.in_string() { ", the text ends inside a quoted string" } else { "" };
            let bracket = char::from(open);
            self.diags.error("P0103", format!("this `{bracket}` is never closed{what}"), opening);
            self.end_all();
        }
        let span = self.span_from(start);
        let text = String::from_utf8_lossy(&bytes);
        let inner_end = if done { text.len().saturating_sub(1) } else { text.len() };
        let inner = Span::new(span.file, start + 1, self.last_end as usize - usize::from(done));
        Some(RawText {
            text: text.get(1..inner_end).unwrap_or("").to_string(),
            span,
            inner: (!any_spliced).then_some(inner),
        })
    }

    /// Like [`Reader::bracketed`], with backticks resolved as far as the current text allows.
    pub fn bracketed_resolved(&mut self, open: u8, close: u8) -> Option<RawText> {
        self.resolved_by(Balance::new(open, close))
    }

    pub(super) fn resolved_by(&mut self, balance: Balance) -> Option<RawText> {
        let mut raw = self.bracketed_by(balance)?;
        let scope = self.levels.last().and_then(|l| l.scope.clone());
        let text = self.substitute(&raw.text, scope.as_deref(), raw.span);
        if text != raw.text {
            raw.inner = None;
        }
        raw.text = text;
        Some(raw)
    }

    /// Adds the text of something read raw to the preprocessed text.
    pub fn write_preprocessed(&mut self, text: &str) {
        if self.emit {
            self.preprocessed.extend_from_slice(text.replace('`', "``").as_bytes());
        }
    }

    /// An error about a bound; only the first is reported, the rest follow from it.
    fn limit(&mut self, code: &'static str, message: String, at: Span) {
        if !self.limit_reported {
            self.limit_reported = true;
            self.diags.error(code, message, at);
        }
    }
}
