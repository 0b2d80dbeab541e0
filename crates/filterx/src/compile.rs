//! From what is written to a compiled block: names become places of variables, literals and patterns are
//! prepared, what is the same for every message is computed. All errors of a block are reported.

mod applications;
mod arguments;
mod expression;
mod fold;
mod layout;
mod operands;
mod statement;
mod tally;
mod target;
mod texts;
mod types;
mod wanted;

pub use applications::{AppVariable, is_application, name_application, switch_applications};
pub use arguments::Arguments;
pub use wanted::Only;

use crate::ast::{self, Extent};
use crate::program::{Block, Body, Of, Role, Uses, Variable, Written};
use conf_syntax::RawBlock;
use diag::{Diagnostic, Diagnostics, SourceMap, Span};
use filter::{FilterEnv, new_asker};
use record::{NameId, intern};
use std::collections::HashMap;
use tally::Tallied;
use template::TemplateOptions;
use wanted::Wanted;

/// Variables and texts of a block.
const NAMES_MAX: usize = 1 << 16;

/// The configuration a block is compiled in.
#[derive(Clone, Copy)]
pub struct Setting<'a> {
    pub env: &'a dyn FilterEnv,
    pub sources: &'a SourceMap,
    /// Evaluations are counted: stats(level()) is at least [`COUNTED_FROM`](crate::COUNTED_FROM).
    pub is_counted: bool,
}

pub struct Compiler<'a> {
    pub setting: Setting<'a>,
    pub diags: &'a mut Diagnostics,
    /// Errors that were reported before.
    before: usize,
    /// Where the text of the block stands.
    base: Span,
    /// A text that stands nowhere: all of it is as good as at that place.
    made: Option<Box<str>>,
    options: TemplateOptions,
    variables: Vec<Variable>,
    by_name: HashMap<String, u32>,
    texts: Vec<Box<[u8]>>,
    by_text: HashMap<Box<[u8]>, u32>,
    places: Vec<Written>,
    pub uses: Uses,
    wanted: Wanted,
    /// What is compiled is an operand, whose value is asked for.
    is_operand: bool,
    /// `done` or `break` is one in the statement.
    is_noted: bool,
    /// What is looked at of what the next function returns.
    only: Option<Only>,
    /// Where evaluations are counted.
    tally: Option<Tallied>,
}

/// Compiles a block; `None` when something is wrong with it, which is reported.
pub fn compile(raw: &RawBlock, setting: Setting<'_>, diags: &mut Diagnostics) -> Option<Block> {
    compile_text(&raw.text, raw.inner, setting, diags)
}

/// The same for a text that stands at a place.
pub fn compile_text(text: &str, base: Span, setting: Setting<'_>, diags: &mut Diagnostics) -> Option<Block> {
    let mut compiler = Compiler::new(setting, base, diags);
    let statements = compiler.parsed(text);
    let body = compiler.body(&statements);
    compiler.done(body)
}

impl<'a> Compiler<'a> {
    fn new(setting: Setting<'a>, base: Span, diags: &'a mut Diagnostics) -> Compiler<'a> {
        let version = setting.env.template_options().version.max((4, 0));
        let options = TemplateOptions { version, may_seal: false, ..setting.env.template_options().clone() };
        Compiler {
            setting,
            before: diags.counts().0,
            diags,
            base,
            made: None,
            options,
            variables: Vec::new(),
            by_name: HashMap::new(),
            texts: Vec::new(),
            by_text: HashMap::new(),
            places: Vec::new(),
            uses: Uses::default(),
            wanted: Wanted::default(),
            is_operand: false,
            is_noted: false,
            only: None,
            tally: setting.is_counted.then(Tallied::default),
        }
    }

    /// The block, unless an error was reported.
    fn done(self, statements: Body) -> Option<Block> {
        let (tally, tallied) = match self.tally.map(Tallied::done) {
            Some((tally, places)) => (Some(tally), places),
            None => (None, Box::default()),
        };
        let mut block = Block {
            tally,
            tallied,
            statements,
            places: self.places.into(),
            variables: self.variables.into(),
            texts: self.texts.into(),
            uses: self.uses,
            decides: false,
            asker: new_asker(),
        };
        // What is counted is evaluated as it is written.
        block.decides = block.tally.is_none() && block.only_decides();
        (self.diags.counts().0 == self.before).then_some(block)
    }

    /// A place of the block as one of the configuration.
    pub fn span(&self, at: Extent) -> Span {
        if self.made.is_some() {
            return self.base;
        }
        let offset = self.base.start as usize;
        Span::new(self.base.file, offset + at.start as usize, offset + at.end as usize)
    }

    pub fn wrong(&mut self, code: &'static str, message: impl Into<String>, at: Extent) {
        self.diags.push(Diagnostic::error(code, message, self.span(at)));
    }

    pub fn wrong_with(&mut self, code: &'static str, message: impl Into<String>, at: Extent, help: &str) {
        self.diags.push(Diagnostic::error(code, message, self.span(at)).help(help.to_owned()));
    }

    /// The number of a text of the block.
    pub fn text(&mut self, bytes: &[u8]) -> u32 {
        if let Some(known) = self.by_text.get(bytes) {
            return *known;
        }
        let number = self.texts.len() as u32;
        self.texts.push(bytes.into());
        self.by_text.insert(bytes.into(), number);
        number
    }

    /// The variable of a name that stands without a dollar sign.
    pub fn block_variable(&mut self, name: &str, at: Extent) -> Option<u32> {
        // No name of the message has a brace in it.
        let id = intern(&format!("}}{name}"));
        self.named(name, id.map(Of::Block), at)
    }

    /// The variable of a value of the message.
    pub fn message_variable(&mut self, name: NameId, at: Extent) -> Option<u32> {
        self.named(&format!("${}", record::name_of(name)), Some(Of::Message(name)), at)
    }

    fn named(&mut self, name: &str, of: Option<Of>, at: Extent) -> Option<u32> {
        if let Some(known) = self.by_name.get(name) {
            return Some(*known);
        }
        let Some(of) = of.filter(|_| self.variables.len() < NAMES_MAX) else {
            self.wrong("Y0112", "too many names of variables", at);
            return None;
        };
        if let Of::Message(name) = of {
            self.uses.reads.name(name);
        }
        let number = self.variables.len() as u32;
        self.variables.push(Variable { name: name.into(), of });
        self.by_name.insert(name.to_owned(), number);
        Some(number)
    }

    pub fn variable(&self, number: u32) -> Option<&Variable> {
        self.variables.get(number as usize)
    }

    /// What is written at a place of the block.
    fn source(&self, at: Extent) -> &str {
        match &self.made {
            Some(made) => made.get(at.start as usize..at.end as usize).unwrap_or_default(),
            None => self.setting.sources.text(self.span(at)),
        }
    }

    /// Notes where a statement or condition without errors stands. Of an `if` and a `switch`, what is in
    /// their braces has places of its own.
    fn written(&mut self, expr: &ast::Expr, role: Role) -> u32 {
        let head = match &expr.kind {
            ast::Kind::If(branches, _) => branches.first().map(|(condition, _)| condition.at),
            ast::Kind::Switch(selector, _) => Some(selector.at),
            _ => None,
        };
        let shown = head.map_or(expr.at, |head| Extent { end: head.end, ..expr.at });
        let mut text = self.source(shown).split_whitespace().collect::<Vec<_>>().join(" ");
        text.push_str(if head.is_some() { ")" } else { "" });
        let location = self.setting.sources.locate(self.span(expr.at)).to_string();
        self.tally_place(expr);
        let operands = self.operands(expr);
        self.places.push(Written { location: location.into(), text: text.into(), role, operands });
        self.places.len() as u32 - 1
    }

    /// A name that was assigned to: it is written.
    pub fn note_write(&mut self, variable: u32) {
        if let Some(Of::Message(name)) = self.variable(variable).map(|v| v.of)
            && !self.uses.writes.contains(&name)
        {
            self.uses.writes.push(name);
        }
    }
}
