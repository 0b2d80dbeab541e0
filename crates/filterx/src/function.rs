//! What the table of functions says of each: the compiler checks calls by it, the manual is made from it, and
//! its examples are run as tests.

use crate::compile::Arguments;
use crate::program::{Expr, Plain};
use crate::types::Types;

/// A function of the language.
pub struct Function {
    pub name: &'static str,
    pub parameters: &'static [Parameter],
    pub returns: Types,
    pub help: &'static str,
    /// Statements whose last is an expression, and how `repr()` shows its value; `error: ...` where it fails.
    pub examples: &'static [(&'static str, &'static str)],
    pub(crate) build: Build,
}

/// An argument of a function.
pub struct Parameter {
    pub name: &'static str,
    pub form: Form,
    /// It has to be there.
    pub required: bool,
    /// Written `name=value`; else by its place.
    pub named: bool,
    /// The last by its place: it may come any number of times.
    pub many: bool,
    /// What is taken where it is not given, for the manual.
    pub default: &'static str,
}

/// What may stand as an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A value of one of these types.
    Value(Types),
    /// Any expression, which the function looks at itself: an error in it is no error of the call.
    Expression,
    /// A text that is known before there is a message.
    Text,
    /// `true` or `false`.
    Flag,
    /// A number that is known before there is a message.
    Number,
    /// A list of such texts.
    Texts,
    /// A dict whose keys are texts.
    Fields,
    /// A variable, or an element of one.
    Target,
    /// The same, or a container that the call alone has.
    Holder,
}

impl Form {
    pub fn describe(self) -> String {
        match self {
            Form::Value(types) => types.describe(),
            Form::Expression => "any expression".to_owned(),
            Form::Text => "a fixed text".to_owned(),
            Form::Flag => "`true` or `false`".to_owned(),
            Form::Number => "a fixed number".to_owned(),
            Form::Texts => "a list of fixed texts".to_owned(),
            Form::Fields => "a dict whose keys are fixed texts".to_owned(),
            Form::Target => "a variable or an element of one".to_owned(),
            Form::Holder => "a variable or an element of one, or what an expression makes".to_owned(),
        }
    }
}

#[derive(Clone, Copy)]
pub(crate) enum Build {
    /// Works on its values alone.
    Plain(Plain),
    Made(fn(&mut Arguments<'_, '_>) -> Option<Expr>),
}

impl Parameter {
    const fn of(name: &'static str, form: Form) -> Parameter {
        Parameter { name, form, required: true, named: false, many: false, default: "" }
    }

    /// A value by its place.
    pub(crate) const fn value(name: &'static str, types: Types) -> Parameter {
        Parameter::of(name, Form::Value(types))
    }

    pub(crate) const fn text(name: &'static str) -> Parameter {
        Parameter::of(name, Form::Text)
    }

    pub(crate) const fn target(name: &'static str) -> Parameter {
        Parameter::of(name, Form::Target)
    }

    pub(crate) const fn holder(name: &'static str) -> Parameter {
        Parameter::of(name, Form::Holder)
    }

    pub(crate) const fn form(name: &'static str, form: Form) -> Parameter {
        Parameter::of(name, form)
    }

    pub(crate) const fn optional(self) -> Parameter {
        Parameter { required: false, ..self }
    }

    pub(crate) const fn many(self) -> Parameter {
        Parameter { many: true, ..self }
    }

    /// `name=value`, which need not be there.
    pub(crate) const fn named(name: &'static str, form: Form, default: &'static str) -> Parameter {
        Parameter { name, form, required: false, named: true, many: false, default }
    }
}

impl Function {
    pub(crate) const fn returning(self, returns: Types) -> Function {
        Function { returns, ..self }
    }

    /// How a call is written: `len(x)`, `strftime(format, time)`.
    pub fn usage(&self) -> String {
        let mut out = format!("{}(", self.name);
        for (at, parameter) in self.parameters.iter().enumerate() {
            let open = if parameter.required { "" } else { "[" };
            let comma = if at == 0 { "" } else { ", " };
            let shown = match (parameter.named, parameter.many) {
                (true, _) => format!("{}=", parameter.name),
                (false, true) => format!("{}, ...", parameter.name),
                (false, false) => parameter.name.to_owned(),
            };
            let close = if parameter.required { "" } else { "]" };
            out.push_str(&format!("{open}{comma}{shown}{close}"));
        }
        out.push(')');
        out
    }
}
