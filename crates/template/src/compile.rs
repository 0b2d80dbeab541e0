//! Compiles a template's text: names become ids, macros become steps, literals are joined, constant calls are computed.

use crate::date::{Clock, Date, DateKind};
use crate::function::{Build, Function, FunctionInfo, PlainCall};
use crate::macros::{self, Kind};
use crate::op::{Lit, Op};
use crate::syntax::{self, Node, Text};
use crate::{Scope, Template, TemplateError, TemplateOptions, TsFormat, functions};
use record::{NameId, ValueType};
use std::sync::Arc;

/// Bound of calls and named templates inside one another.
const DEPTH_MAX: usize = 32;

pub(crate) struct Compiler<'a> {
    pub opts: &'a TemplateOptions,
    pub scope: &'a dyn Scope,
    depth: usize,
}

/// A part of a template before literals are laid out.
pub(crate) enum Piece {
    Text(Vec<u8>, ValueType),
    Op(Op),
    WithDefault(Op, Vec<u8>),
}

impl<'a> Compiler<'a> {
    pub fn new(opts: &'a TemplateOptions, scope: &'a dyn Scope) -> Compiler<'a> {
        Compiler { opts, scope, depth: 0 }
    }

    fn deeper(&self, offset: usize) -> Result<Compiler<'a>, TemplateError> {
        if self.depth >= DEPTH_MAX {
            return Err(TemplateError::new(
                offset,
                format!("more than {DEPTH_MAX} template functions or templates inside one another"),
            ));
        }
        Ok(Compiler { depth: self.depth + 1, ..*self })
    }

    pub fn compile(&self, text: &Text) -> Result<Template, TemplateError> {
        let nodes = syntax::parse(text, self.opts.version < (3, 5))?;
        let mut pieces = Vec::with_capacity(nodes.len());
        for node in nodes {
            pieces.push(match node {
                Node::Text(text) => Piece::Text(text, ValueType::String),
                Node::Macro { name, offset, default } => {
                    let op = self.macro_op(&name, offset)?;
                    match default {
                        None => Piece::Op(op),
                        Some(default) => Piece::WithDefault(op, default),
                    }
                }
                Node::Call { name, offset, args } => self.call(&name, offset, args)?,
            });
        }
        Ok(assemble(text.lossy(), pieces, self.opts))
    }

    fn macro_op(&self, name: &str, offset: usize) -> Result<Op, TemplateError> {
        let Some((kind, clock)) = macros::find(name) else {
            let id = record::intern(name).ok_or_else(|| {
                TemplateError::new(
                    offset,
                    format!("no room for the name `{name}`: too many names are in use"),
                )
            })?;
            return Ok(Op::of_name(id));
        };
        Ok(match kind {
            Kind::Value(id) => Op::of_name(id),
            Kind::Host if self.opts.chain_hostnames => Op::HostMiddle,
            Kind::Host => Op::Host,
            Kind::Msghdr => Op::Msghdr,
            Kind::Stamp => self.date(self.stamp_kind(), clock),
            Kind::Date(kind) => self.date(kind, clock),
            Kind::Fact(fact) => Op::Fact(fact),
        })
    }

    fn stamp_kind(&self) -> DateKind {
        match self.opts.ts_format {
            TsFormat::Bsd => DateKind::Bsd,
            TsFormat::Iso => DateKind::Iso,
            TsFormat::Full => DateKind::Full,
            TsFormat::Unix => DateKind::Unix,
        }
    }

    pub fn date(&self, kind: DateKind, clock: Clock) -> Op {
        let date = Box::new(Date::new(kind, clock, self.opts.frac_digits, self.opts.time_zone.clone()));
        if kind == DateKind::Bsd && clock == Clock::Message && date.frac_digits == 0 {
            Op::StampText(date)
        } else {
            Op::Date(date)
        }
    }

    fn call(&self, name: &str, offset: usize, args: Vec<Text>) -> Result<Piece, TemplateError> {
        let deeper = self.deeper(offset)?;
        if let Some(user) = self.scope.function(name) {
            if !args.is_empty() {
                return Err(TemplateError::new(
                    offset,
                    format!("the template-function `{name}` takes no arguments"),
                )
                .help(format!("write $({name})")));
            }
            return Ok(Piece::Op(Op::Nested(deeper.rebound(user)?)));
        }
        let info = functions::find(name).ok_or_else(|| functions::unknown(name, offset))?;
        let mut call = Call { info, offset, options: Vec::new(), args, compiler: deeper };
        call.take_options()?;
        call.check_arity()?;
        Ok(match info.build {
            Build::Plain(run) => {
                let plain = PlainCall { args: call.templates(0)?, run };
                match plain.constant() {
                    Some((text, kind)) => Piece::Text(text, kind),
                    None => Piece::Op(Op::Call(Box::new(plain))),
                }
            }
            Build::Special(build) => Piece::Op(Op::Call(build(&mut call)?)),
            Build::Template => {
                let name = call.literal(0, "the name of a template")?;
                let found = call.compiler.scope.template(&name);
                let template = found.ok_or_else(|| {
                    TemplateError::new(call.arg_offset(0), format!("there is no template named `{name}`"))
                        .help("define it with `template NAME { template(\"...\"); };` before this place")
                })?;
                Piece::Op(Op::Nested(call.compiler.rebound(template)?))
            }
        })
    }

    /// A template of the configuration under the options of the one that refers to it.
    fn rebound(&self, template: Arc<Template>) -> Result<Arc<Template>, TemplateError> {
        if template.fits(self.opts) {
            return Ok(template);
        }
        let opts = template.rebound_options(self.opts);
        let mut compiled = Compiler { opts: &opts, ..*self }.compile(&Text::of(&template.text))?;
        compiled.hint = template.hint;
        Ok(Arc::new(compiled))
    }
}

/// A call being compiled, as the functions' builders see it.
pub(crate) struct Call<'a> {
    pub info: &'static FunctionInfo,
    offset: usize,
    options: Vec<(&'static str, Option<Text>)>,
    args: Vec<Text>,
    compiler: Compiler<'a>,
}

impl Call<'_> {
    pub fn arg_offset(&self, index: usize) -> usize {
        self.args.get(index).map_or(self.offset, |arg| arg.offset(0))
    }

    pub fn error(&self, index: usize, message: impl Into<String>) -> TemplateError {
        TemplateError::new(self.arg_offset(index), message)
            .help(format!("usage: $({} {})", self.info.name, self.info.usage))
    }

    /// Splits the declared options off the front; `--` ends them.
    fn take_options(&mut self) -> Result<(), TemplateError> {
        if self.info.options.is_empty() {
            return Ok(());
        }
        while let Some(word) =
            self.args.first().map(Text::lossy).filter(|w| w.len() > 1 && w.starts_with('-'))
        {
            if word == "--" {
                self.args.remove(0);
                break;
            }
            let (name, inline) = match word.split_once('=').filter(|_| word.starts_with("--")) {
                Some((name, value)) => (name.to_owned(), Some(Text::of(value))),
                None => (word, None),
            };
            let known = self.info.options.iter().find(|(n, _)| *n == name);
            let Some((known, takes_value)) = known else {
                return Err(self.error(0, format!("$({}) has no option `{name}`", self.info.name)));
            };
            let word = self.args.remove(0);
            let value = match (takes_value, inline) {
                (true, Some(value)) => Some(value),
                (true, None) if !self.args.is_empty() => Some(self.args.remove(0)),
                (true, None) => {
                    return Err(TemplateError::new(
                        word.offset(0),
                        format!("the option `{known}` needs a value"),
                    ));
                }
                (false, _) => None,
            };
            self.options.push((known, value));
        }
        Ok(())
    }

    fn check_arity(&self) -> Result<(), TemplateError> {
        let ((least, most), count) = (self.info.arity, self.args.len());
        if (least..=most).contains(&count) {
            return Ok(());
        }
        let wants = match (least, most) {
            (least, usize::MAX) => format!("at least {least}"),
            (least, most) if least == most => format!("{least}"),
            (least, most) => format!("{least} to {most}"),
        };
        Err(TemplateError::new(
            self.offset,
            format!("$({}) takes {wants} arguments, not {count}", self.info.name),
        )
        .help(format!("usage: $({} {})", self.info.name, self.info.usage)))
    }

    pub fn options(&self) -> &TemplateOptions {
        self.compiler.opts
    }

    pub fn count(&self) -> usize {
        self.args.len()
    }

    pub fn has(&self, option: &str) -> bool {
        self.options.iter().any(|(name, _)| *name == option)
    }

    pub fn option(&self, option: &str) -> Option<String> {
        self.options.iter().rfind(|(name, _)| *name == option)?.1.as_ref().map(Text::lossy)
    }

    /// An argument's text as written.
    pub fn text(&self, index: usize) -> String {
        self.args.get(index).map(Text::lossy).unwrap_or_default()
    }

    /// An argument that must not depend on a message.
    pub fn literal(&self, index: usize, what: &str) -> Result<String, TemplateError> {
        let template = self.template(index)?;
        match template.literal() {
            Some(bytes) => Ok(String::from_utf8_lossy(bytes).into_owned()),
            None => Err(self.error(index, format!("{what} has to be fixed text, without macros"))),
        }
    }

    pub fn template(&self, index: usize) -> Result<Template, TemplateError> {
        match self.args.get(index) {
            Some(arg) => self.compiler.compile(arg),
            None => self.compiler.compile(&Text::default()),
        }
    }

    pub fn templates(&self, from: usize) -> Result<Box<[Template]>, TemplateError> {
        self.args.iter().skip(from).map(|arg| self.compiler.compile(arg)).collect()
    }

    pub fn condition(&self, index: usize) -> Result<Arc<dyn crate::Condition>, TemplateError> {
        let text = self.text(index);
        self.compiler.scope.condition(&text).map_err(|message| {
            TemplateError::new(
                self.arg_offset(index),
                format!("in the condition of $({}): {message}", self.info.name),
            )
        })
    }

    pub fn boxed<F: Function + 'static>(&self, function: F) -> Result<Box<dyn Function>, TemplateError> {
        Ok(Box::new(function))
    }
}

/// Lays the pieces out.
pub(crate) fn assemble(text: String, pieces: Vec<Piece>, opts: &TemplateOptions) -> Template {
    let pieces = with_pri_headers(joined(pieces), opts.escape);
    let lone_type = match &*pieces {
        [Piece::Text(_, kind)] => *kind,
        [Piece::Op(Op::Fact(fact))] => fact.value_type(),
        _ => ValueType::String,
    };
    let mut literals = Vec::new();
    let mut lay = |bytes: &[u8]| {
        let lit = Lit { start: literals.len() as u32, len: bytes.len() as u32 };
        literals.extend_from_slice(bytes);
        lit
    };
    let prefix = match pieces.first() {
        Some(Piece::Text(bytes, _)) => bytes.clone(),
        _ => Vec::new(),
    };
    let ops: Box<[Op]> = pieces
        .into_iter()
        .map(|piece| match piece {
            Piece::Text(bytes, _) => match &*bytes {
                [byte] => Op::Byte(*byte),
                bytes => Op::Literal(lay(bytes)),
            },
            Piece::Op(op) => op,
            Piece::WithDefault(op, default) => Op::Default(Box::new((op, lay(&default)))),
        })
        .collect();
    Template {
        text: text.into(),
        ops,
        literals: literals.into(),
        prefix: prefix.into(),
        options: opts.clone(),
        escape: opts.escape,
        hint: None,
        lone_type,
        keep_type: opts.version >= (4, 0),
    }
}

/// Joins neighbouring texts. A text that stands alone keeps its type.
fn joined(pieces: Vec<Piece>) -> Vec<Piece> {
    let mut joined: Vec<Piece> = Vec::with_capacity(pieces.len());
    for piece in pieces {
        match (joined.last_mut(), piece) {
            (Some(Piece::Text(before, kind)), Piece::Text(text, _)) => {
                before.extend_from_slice(&text);
                *kind = ValueType::String;
            }
            (_, Piece::Text(text, kind)) if text.is_empty() && kind == ValueType::String => {}
            (_, piece) => joined.push(piece),
        }
    }
    joined
}

/// Turns `<`, PRI, `>` into one step, which can be copied from the message.
fn with_pri_headers(pieces: Vec<Piece>, escape: bool) -> Vec<Piece> {
    let mut done: Vec<Piece> = Vec::with_capacity(pieces.len());
    let mut pieces = pieces.into_iter().peekable();
    while let Some(piece) = pieces.next() {
        let opens = matches!(done.last(), Some(Piece::Text(text, _)) if text.ends_with(b"<"));
        let closes = matches!(pieces.peek(), Some(Piece::Text(text, _)) if text.starts_with(b">"));
        let is_pri = matches!(piece, Piece::Op(Op::Fact(macros::Fact::Pri)));
        if !(is_pri && opens && closes) || escape {
            done.push(piece);
            continue;
        }
        if let Some(Piece::Text(mut before, kind)) = done.pop() {
            before.pop();
            if !before.is_empty() {
                done.push(Piece::Text(before, kind));
            }
        }
        done.push(Piece::Op(Op::PriHeader));
        if let Some(Piece::Text(mut after, kind)) = pieces.next() {
            after.remove(0);
            if !after.is_empty() {
                done.push(Piece::Text(after, kind));
            }
        }
    }
    done
}

/// The id behind a name or macro as `value("NAME")` and the like write it.
pub(crate) fn value_name(name: &str) -> Option<NameId> {
    match macros::find(name) {
        Some((Kind::Value(id), _)) => Some(id),
        Some((Kind::Host, _)) => Some(NameId::HOST),
        Some(_) => None,
        None => record::intern(name),
    }
}
