//! Blocks: reading their definitions, and replacing a call by the text of the block.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use diag::{Diagnostic, Origin, Span, nearest};

use super::level::Called;
use super::pieces::{Piece, pieces};
use super::{RawText, Reader};
use crate::ast::{BlockDef, Name, norm};
use crate::balance::Balance;
use crate::context::DEFINITION_CONTEXTS;
use crate::options::{BuiltIn, OldName};
use crate::token::Tok;

/// What one expansion costs beside its text, so that empty blocks are bounded too.
const EXPANSION_COST_BYTES: usize = 256;

/// Something a call is replaced by.
pub enum Generator {
    Block(Block),
    /// A command whose output is configuration.
    Confgen {
        exec: String,
    },
    /// A function of a python block.
    Script,
    /// A name of another time.
    Old(OldName),
}

pub struct Block {
    pub(super) params: Vec<Param>,
    /// `...`: unknown arguments are collected.
    pub(super) varargs: bool,
    pub(super) body: Arc<str>,
    /// Where the body stands in the source.
    pub(super) definition: Option<Span>,
    name_span: Span,
}

pub struct Param {
    pub name: String,
    /// None: must be given.
    pub default: Option<String>,
}

/// The arguments of one call, by canonical name.
#[derive(Default)]
pub struct Scope {
    values: BTreeMap<String, String>,
}

impl Scope {
    pub fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    pub(super) fn set(&mut self, name: &str, value: String) {
        self.values.insert(name.to_owned(), value);
    }

    /// What it adds to the size of a text.
    pub(super) fn bytes(&self) -> usize {
        self.values.values().map(String::len).sum()
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.values.keys().map(String::as_str)
    }
}

impl Reader<'_> {
    /// Reads `context name(params) { body }` after the word `block`; its place, or None when it was wrong.
    pub fn define_block(&mut self, keyword: Span) -> Option<Span> {
        let emit = std::mem::replace(&mut self.emit, false);
        self.preprocessed.truncate(self.token_begin);
        let complete = self.read_definition(keyword);
        self.emit = emit;
        complete
    }

    fn read_definition(&mut self, keyword: Span) -> Option<Span> {
        let context = self.definition_word("the context of the block (source, destination, parser ...)")?;
        let name = self.definition_word("the name of the block")?;
        if !DEFINITION_CONTEXTS.contains(&context.norm().as_str()) {
            let message = format!("unknown block context `{}`", context.text);
            let near = nearest(&context.text, DEFINITION_CONTEXTS.iter().copied());
            self.diags.push(Diagnostic::error("P0041", message, context.span).suggest(near));
        }
        let Some(params_text) = self.bracketed(b'(', b')') else {
            self.malformed(format!("expected `(` and the arguments of block `{}`", name.text));
            return None;
        };
        let (params, varargs) = self.parameters(&params_text)?;
        let body = match context.norm().as_str() {
            "filterx" => self.bracketed_by(Balance::of_expressions()),
            _ => self.bracketed(b'{', b'}'),
        };
        let Some(body) = body else {
            self.malformed(format!("expected `{{` and the text of block `{}`", name.text));
            return None;
        };
        self.config.blocks.push(BlockDef {
            context: context.clone(),
            name: name.clone(),
            params: params.iter().map(|p| (p.name.clone(), p.default.clone())).collect(),
            varargs,
            span: keyword.to(body.span),
            body: body.inner.unwrap_or(body.span),
        });
        let block =
            Block { params, varargs, body: body.text.into(), definition: body.inner, name_span: name.span };
        let end = body.span;
        self.add_generator(&context.text, &name.text, Generator::Block(block));
        Some(end)
    }

    fn definition_word(&mut self, what: &str) -> Option<Name> {
        let token = self.lex();
        match token.kind {
            Tok::Word(text) | Tok::Str(text, _) => Some(Name { text, span: token.span }),
            other => {
                let message = format!("expected {what}, found {}", other.describe());
                self.diags.error("P0040", message, token.span);
                None
            }
        }
    }

    fn malformed(&mut self, message: String) {
        let at = self.span_here();
        self.diags.error("P0040", message, at);
    }

    fn parameters(&mut self, text: &RawText) -> Option<(Vec<Param>, bool)> {
        let (mut params, mut varargs) = (Vec::new(), false);
        let pieces = match pieces(&text.text) {
            Ok(pieces) => pieces,
            Err((offset, message)) => {
                let at = place(text, offset, 1);
                self.diags.error("P0040", message, at);
                return None;
            }
        };
        for piece in pieces {
            match piece.name {
                None => varargs = true,
                Some(name) => params.push(Param { name: norm(name), default: default_of(piece.value) }),
            }
        }
        Some((params, varargs))
    }

    /// A block of the program's own; one that a configuration defines takes its place.
    pub(super) fn add_built_in(&mut self, built_in: &BuiltIn) {
        let param = |name: &&str| Param { name: norm(name), default: Some(String::new()) };
        let block = Block {
            params: built_in.params.iter().map(param).collect(),
            varargs: true,
            body: built_in.text.as_str().into(),
            definition: None,
            // Only named where an argument is wrong, which none can be.
            name_span: Span::default(),
        };
        self.add_generator(built_in.context, built_in.name, Generator::Block(block));
    }

    /// Makes `name` callable in a context; a later definition replaces an earlier one.
    pub(super) fn add_generator(&mut self, context: &str, name: &str, generator: Generator) {
        let list = self.generators.entry(norm(name)).or_default();
        let context = norm(context);
        list.retain(|(c, _)| *c != context);
        list.push((context, Rc::new(generator)));
    }

    /// What a call of `word` at the current place is replaced by.
    pub(super) fn generator(&self, word: &str) -> Option<Rc<Generator>> {
        if self.generators.is_empty() {
            return None;
        }
        let context = self.context.name()?;
        let name = norm(word);
        let list = self.generators.get(&name)?;
        if self.names_a_driver(&name) {
            return None;
        }
        list.iter().find(|(c, _)| c == context).map(|(_, g)| g.clone())
    }

    /// In what an old name was written as, the block that called the old name is not meant again: the block
    /// `hdfs` of syslog-ng's library is made of `java()`, which hdfs() stands for.
    fn names_a_driver(&self, name: &str) -> bool {
        let mut calls = self.levels.iter().rev().map(|level| level.called.as_ref());
        let is_old = calls.next().flatten().is_some_and(|called| called.is_old);
        is_old && calls.flatten().any(|called| called.name == name)
    }

    /// Names that can be called in the current context, for suggestions.
    pub fn callable(&self) -> Vec<String> {
        let Some(context) = self.context.name() else { return Vec::new() };
        let here = |list: &Vec<(String, Rc<Generator>)>| list.iter().any(|(c, _)| c == context);
        let mut names: Vec<String> =
            self.generators.iter().filter(|(_, l)| here(l)).map(|(n, _)| n.clone()).collect();
        names.sort();
        names
    }

    /// Replaces a call by its text. False (and nothing read) when no `(` follows: then it was only a word.
    pub(super) fn call_generator(&mut self, generator: &Generator, word: &str, name: Span) -> bool {
        let begin = self.token_begin;
        let mark = self.mark();
        let Some(args) = self.bracketed_resolved(b'(', b')') else {
            self.rewind(mark);
            return false;
        };
        self.preprocessed.truncate(begin);
        let call = name.to(args.span);
        let below = self.levels.len();
        match generator {
            Generator::Block(block) => {
                if let Some(scope) = self.bind(block, word, &args, name) {
                    let cost = block.body.len() + scope.bytes();
                    self.expand(word, block.body.clone(), Some(scope), block.definition, call, cost);
                }
            }
            made => {
                if let Some(values) = self.confgen_args(word, &args)
                    && let Some(output) = self.run_made(made, word, &values, call)
                {
                    let cost = output.len();
                    self.expand(word, output.into(), None, None, call, cost);
                }
            }
        }
        if let Some(level) = self.levels.get_mut(below) {
            let is_old = matches!(generator, Generator::Old(_));
            level.called = Some(Called { name: norm(word), is_old });
        }
        true
    }

    pub(super) fn expand(
        &mut self,
        word: &str,
        text: Arc<str>,
        scope: Option<Scope>,
        definition: Option<Span>,
        call: Span,
        cost: usize,
    ) {
        let limits = &self.options.limits;
        self.expanded_bytes = self.expanded_bytes.saturating_add(cost + EXPANSION_COST_BYTES);
        if self.levels.len() >= limits.include_depth {
            let max = limits.include_depth;
            self.limit(
                "P0045",
                format!("block `{word}`: calls inside each other more than {max} deep"),
                call,
            );
            self.end_all();
        } else if self.expanded_bytes > limits.expanded_bytes {
            let max = limits.expanded_bytes;
            self.limit("P0045", format!("block `{word}`: the blocks expand to more than {max} bytes"), call);
            self.end_all();
        } else {
            let origin = Origin::Expanded { block: word.to_string(), call, definition };
            let file = self.sources.add(format!("block {word}"), text.clone(), origin);
            self.push_level(file, text, scope.map(Rc::new));
        }
    }

    /// Arguments, defaults and `...` of one call; None when it cannot be expanded.
    fn bind(&mut self, block: &Block, word: &str, args: &RawText, name: Span) -> Option<Scope> {
        let mut scope = Scope::default();
        for param in &block.params {
            if let Some(default) = &param.default {
                let default = self.substitute(default, None, name);
                scope.values.insert(param.name.clone(), default);
            }
        }
        let mut varargs = String::new();
        for piece in self.call_pieces(word, args)? {
            let arg = piece.name.unwrap_or_default();
            let key = norm(arg);
            if block.params.iter().any(|p| p.name == key) {
                scope.values.insert(key, piece.value.to_string());
            } else if block.varargs {
                varargs.push_str(&format!("{arg}({}) ", piece.value));
            } else {
                let at = place(args, piece.offset, arg.len());
                let near = nearest(arg, block.params.iter().map(|p| p.name.as_str()));
                self.diags.push(
                    Diagnostic::error("P0043", format!("block `{word}` has no argument `{arg}`"), at)
                        .label(block.name_span, "defined here")
                        .suggest(near),
                );
            }
        }
        if block.varargs {
            scope.values.insert(norm("__VARARGS__"), varargs);
        }
        let missing: Vec<&str> =
            block.params.iter().map(|p| p.name.as_str()).filter(|p| !scope.values.contains_key(*p)).collect();
        for param in missing {
            self.diags.push(
                Diagnostic::error("P0042", format!("block `{word}` needs the argument `{param}`"), name)
                    .label(block.name_span, "defined here")
                    .help(format!("add `{param}(...)` to the call")),
            );
            // Empty in its stead: the rest of the block can still be checked.
            scope.values.insert(param.to_string(), String::new());
        }
        Some(scope)
    }

    fn confgen_args(&mut self, word: &str, args: &RawText) -> Option<Vec<(String, String)>> {
        let pieces = self.call_pieces(word, args)?;
        Some(
            pieces
                .iter()
                .map(|p| (p.name.unwrap_or_default().replace('-', "_"), p.value.to_string()))
                .collect(),
        )
    }

    fn call_pieces<'a>(&mut self, word: &str, args: &'a RawText) -> Option<Vec<Piece<'a>>> {
        let (offset, message) = match pieces(&args.text) {
            Ok(list) => match list.iter().find(|p| p.name.is_none()) {
                None => return Some(list),
                Some(piece) => (piece.offset, "`...` stands only in definitions".to_string()),
            },
            Err(problem) => problem,
        };
        self.diags.push(
            Diagnostic::error("P0044", format!("call of block `{word}`: {message}"), place(args, offset, 1))
                .help("a block is called with `name(argument(value) ...)`"),
        );
        None
    }
}

/// Absent or blank: must be given. `""` and `''`: the empty text. Else the text itself, quotes and all.
fn default_of(value: &str) -> Option<String> {
    match value.trim() {
        "" => None,
        "\"\"" | "''" => Some(String::new()),
        _ => Some(value.to_string()),
    }
}

fn place(text: &RawText, offset: usize, bytes: usize) -> Span {
    match text.inner {
        Some(inner) => {
            let start = inner.start as usize + offset;
            Span::new(inner.file, start, start + bytes)
        }
        None => text.span,
    }
}
