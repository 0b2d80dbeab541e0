//! Compiles a template's text: names become ids, macros become steps, literals are joined, constant calls are
//! computed.

use crate::assemble::{Piece, assemble};
use crate::call::Call;
use crate::date::{Clock, Date, DateKind};
use crate::function::{Build, Function, PlainCall};
use crate::functions::{At, ChosenTemplate};
use crate::macros::{self, Kind};
use crate::op::{Op, Step};
use crate::syntax::{self, Node, Text};
use crate::{Scope, Template, TemplateError, TemplateOptions, functions};
use record::{NameId, ValueType};
use std::sync::Arc;

/// Bound of calls and named templates inside one another.
const DEPTH_MAX: usize = 32;

#[derive(Clone, Copy)]
pub(crate) struct Compiler<'a> {
    pub opts: &'a TemplateOptions,
    pub scope: &'a dyn Scope,
    depth: usize,
    /// Whether `$(slog)` may stand here, see [`TemplateOptions::may_seal`].
    pub may_seal: bool,
    /// Whether what macros print here is escaped.
    escape: bool,
}

impl<'a> Compiler<'a> {
    pub fn new(opts: &'a TemplateOptions, scope: &'a dyn Scope) -> Compiler<'a> {
        Compiler { opts, scope, depth: 0, may_seal: opts.may_seal, escape: opts.escape }
    }

    fn deeper(&self, offset: usize) -> Result<Compiler<'a>, TemplateError> {
        if self.depth >= DEPTH_MAX {
            return Err(TemplateError::new(
                offset,
                format!("more than {DEPTH_MAX} template functions or templates inside one another"),
            ));
        }
        let escape = self.escape && self.opts.escape_arguments;
        Ok(Compiler { depth: self.depth + 1, escape, ..*self })
    }

    /// The same for what has escapes of its own: JSON, WELF and the like.
    pub fn unescaped(&self) -> Compiler<'a> {
        Compiler { escape: false, ..*self }
    }

    pub fn compile(&self, text: &Text) -> Result<Template, TemplateError> {
        let nodes = syntax::parse(text, self.opts.version < (3, 5))?;
        let mut pieces = Vec::with_capacity(nodes.len());
        for node in nodes {
            pieces.push(self.piece(node)?);
        }
        Ok(assemble(text.lossy(), pieces, self.opts, self.escape))
    }

    fn piece(&self, node: Node) -> Result<Piece, TemplateError> {
        Ok(match node {
            Node::Text(text) => Piece::Text(text, ValueType::String),
            Node::Macro { name, offset, default } => {
                let op = self.macro_op(&name, offset)?;
                match default {
                    None => Piece::Op(op),
                    Some(default) => Piece::WithDefault(op, default),
                }
            }
            Node::Call { name, offset, args } => self.call(&name, offset, args)?,
            Node::At { back, node } => {
                let inner = assemble(
                    String::new(),
                    vec![Compiler { may_seal: false, ..*self }.piece(*node)?],
                    self.opts,
                    self.escape,
                );
                Piece::Op(Op::Call(Box::new(At { back: back as usize, inner })))
            }
        })
    }

    fn macro_op(&self, name: &str, offset: usize) -> Result<Op, TemplateError> {
        let Some((kind, clock)) = macros::find(name) else {
            self.scope.reads(name);
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
            Kind::Host if self.scope.chains_hostnames() => Op::HostMiddle,
            Kind::Host => Op::Host,
            Kind::Msghdr => Op::Msghdr,
            Kind::Stamp => self.date(self.opts.ts_format.into(), clock),
            Kind::Date(kind) => self.date(kind, clock),
            Kind::Fact(fact) => Op::Fact(fact),
        })
    }

    pub fn date(&self, kind: DateKind, clock: Clock) -> Op {
        let date = Date::new(kind, clock, self.opts.frac_digits, self.opts.time_zone.clone());
        if kind == DateKind::Bsd && clock == Clock::Message && self.opts.frac_digits == 0 {
            Op::StampText(Box::new(date))
        } else {
            Op::Date(Box::new(date))
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
        let mut call = Call::new(info, offset, args, deeper)?;
        Ok(match info.build {
            Build::Plain(run) => {
                let plain = PlainCall { name: info.name, args: call.templates(0)?, run };
                called(Box::new(if info.name == "implode" { with_explode(plain) } else { plain }))
            }
            Build::Special(build) => called(build(&mut call)?),
            Build::Template => {
                let name = call.text(0);
                match call.compiler.scope.template(&name) {
                    Some(template) => Piece::Op(Op::Nested(deeper.rebound(template)?)),
                    None if name.contains('$') => Piece::Op(Op::Call(deeper.chosen_template(&call)?)),
                    None => {
                        let text = format!("there is no template named `{name}`");
                        let error = TemplateError::new(call.arg_offset(0), text);
                        return Err(error.help(
                            "define it with `template NAME { template(\"...\"); };` before this place",
                        ));
                    }
                }
            }
        })
    }

    /// `$(template ${NAME} DEFAULT...)`: the message says which template. One that is just being compiled is
    /// not among them, so that none can call itself.
    fn chosen_template(&self, call: &Call<'_>) -> Result<Box<dyn Function>, TemplateError> {
        let mut known = Vec::new();
        for name in self.scope.template_names() {
            if let Some(template) = self.scope.template(&name) {
                known.push((name, self.rebound(template)?));
            }
        }
        let chosen = ChosenTemplate::new(call.template(0)?, known, call.templates(1)?);
        Ok(Box::new(chosen))
    }

    /// A template of the configuration under the options of the one that refers to it.
    fn rebound(&self, template: Arc<Template>) -> Result<Arc<Template>, TemplateError> {
        let opts = TemplateOptions { may_seal: self.may_seal, ..template.rebound_options(self.opts) };
        if template.fits(&opts) {
            return Ok(template);
        }
        let mut compiled =
            Compiler { opts: &opts, escape: opts.escape, ..*self }.compile(&Text::of(&template.text))?;
        compiled.hint = template.hint;
        Ok(Arc::new(compiled))
    }
}

/// A call, or what it prints for every message.
fn called(function: Box<dyn Function>) -> Piece {
    match function.constant() {
        Some((text, kind)) => Piece::Text(text, kind),
        None => Piece::Op(Op::Call(function)),
    }
}

/// `$(implode NEW $(explode OLD TEXT...))` becomes one call.
fn with_explode(mut implode: PlainCall) -> PlainCall {
    let exploded = match &mut *implode.args {
        [_, list] => match &mut *list.steps {
            [Step { op: Op::Call(function), then: None }] => function.exploded(),
            _ => None,
        },
        _ => None,
    };
    let Some(texts) = exploded else { return implode };
    let new = implode.args.into_iter().take(1);
    PlainCall { name: "implode", args: new.chain(texts).collect(), run: functions::reparted }
}

/// The id behind a name or macro as `value("NAME")` and the like write it.
pub(crate) fn value_name(name: &str) -> Option<NameId> {
    match macros::find(name) {
        Some((Kind::Value(id), _)) => Some(id),
        Some((Kind::Host, _)) => Some(NameId::HOST),
        // Stored as a value where a source keeps it; what unpacks a message inside a message takes it away.
        Some(_) if name == "RAWMSG" => record::intern(name),
        Some(_) => None,
        None => record::intern(name),
    }
}
