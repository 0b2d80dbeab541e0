//! Calls of functions: arguments matched with the parameters of the table.

use super::types::types_of;
use super::{Compiler, Only};
use crate::ast::{self, Extent, Kind};
use crate::function::{Build, Form, Function, Parameter};
use crate::functions;
use crate::program::{ARGUMENTS_MAX, Expr, Holder, Operation, Plain, Target};
use diag::Diagnostic;
use value::Value;

/// The arguments of a call, by the number of their parameter.
pub struct Arguments<'c, 'a> {
    pub compiler: &'c mut Compiler<'a>,
    pub function: &'static Function,
    pub at: Extent,
    given: Vec<Vec<ast::Expr>>,
    /// What is looked at of what the call returns; `None` for everything.
    pub only: Option<Only>,
}

impl Compiler<'_> {
    pub(super) fn call(&mut self, call: &ast::Call, at: Extent) -> Option<Expr> {
        let only = self.only.take();
        let Some(function) = functions::find(&call.name.text) else {
            self.unknown(&call.name);
            return None;
        };
        let given = self.bind(function, call, at)?;
        let mut arguments = Arguments { compiler: self, function, at, given, only };
        match function.build {
            Build::Made(build) => build(&mut arguments),
            Build::Plain(run) => arguments.plain(run),
        }
    }

    fn unknown(&mut self, name: &ast::Word) {
        let text = name.text.as_str();
        if let Some((_, instead)) = functions::REMOVED.iter().find(|(known, _)| *known == text) {
            let message = format!("the function {text}() has been deprecated and removed");
            return self.wrong_with("Y0111", message, name.at, instead);
        }
        let message = format!("there is no function {text}()");
        let near = diag::nearest(text, functions::all().map(|f| f.name));
        self.diags.push(Diagnostic::error("Y0102", message, self.span(name.at)).suggest(near));
    }

    /// The arguments by their parameters; everything that is wrong is reported.
    fn bind(
        &mut self,
        function: &'static Function,
        call: &ast::Call,
        at: Extent,
    ) -> Option<Vec<Vec<ast::Expr>>> {
        let before = self.diags.counts().0;
        let mut given: Vec<Vec<ast::Expr>> = function.parameters.iter().map(|_| Vec::new()).collect();
        let mut place = 0;
        let usage = || format!("as in {}", function.usage());
        for argument in &call.args {
            let found = match &argument.name {
                Some(name) => {
                    let found = function.parameters.iter().position(|p| p.named && p.name == name.text);
                    if found.is_none() {
                        self.unknown_argument(function, name);
                        continue;
                    }
                    found
                }
                None => function.parameters.get(place).filter(|p| !p.named).map(|p| {
                    place += usize::from(!p.many);
                    place - usize::from(!p.many)
                }),
            };
            match found.and_then(|at| given.get_mut(at)) {
                Some(values) if values.is_empty() || argument.name.is_none() => {
                    values.push(argument.value.clone());
                }
                Some(_) => self.wrong("Y0103", "this argument has been given before", argument.value.at),
                None => {
                    let text = format!("{}() takes no more arguments", function.name);
                    self.wrong_with("Y0103", text, argument.value.at, &usage());
                }
            }
        }
        for (parameter, values) in function.parameters.iter().zip(&given) {
            if parameter.required && values.is_empty() {
                let text = format!("{}() needs the argument `{}`", function.name, parameter.name);
                self.wrong_with("Y0103", text, at, &usage());
            }
        }
        (self.diags.counts().0 == before).then_some(given)
    }

    fn unknown_argument(&mut self, function: &'static Function, name: &ast::Word) {
        let known: Vec<&str> = function.parameters.iter().filter(|p| p.named).map(|p| p.name).collect();
        let text = format!("{}() has no argument `{}=`", function.name, name.text);
        let finding = Diagnostic::error("Y0103", text, self.span(name.at));
        let finding = match (diag::nearest(&name.text, known.iter().copied()), known.as_slice()) {
            (Some(near), _) => finding.suggest(Some(near)),
            (None, []) => finding.help("it has none with a name"),
            (None, known) => finding.help(format!("it has {}", known.join(", "))),
        };
        self.diags.push(finding);
    }
}

impl Arguments<'_, '_> {
    fn parameter(&self, at: usize) -> Option<&'static Parameter> {
        self.function.parameters.get(at)
    }

    fn place(&self, at: usize) -> Extent {
        self.ast(at).map_or(self.at, |expr| expr.at)
    }

    /// The argument as written.
    pub fn ast(&self, at: usize) -> Option<&ast::Expr> {
        self.given.get(at)?.first()
    }

    pub fn is_given(&self, at: usize) -> bool {
        self.ast(at).is_some()
    }

    pub fn wrong(&mut self, at: usize, text: impl Into<String>, help: &str) {
        let place = self.place(at);
        self.compiler.wrong_with("Y0103", text, place, help);
    }

    /// A call that works on its values alone.
    pub fn plain(&mut self, run: Plain) -> Option<Expr> {
        let mut values = Vec::new();
        for at in 0..self.function.parameters.len().min(ARGUMENTS_MAX) {
            if self.is_given(at) {
                values.push(self.value(at)?);
            }
        }
        Some(Expr::Plain(run, values.into()))
    }

    /// The argument as an expression of a type that its parameter takes.
    pub fn value(&mut self, at: usize) -> Option<Expr> {
        let written = self.ast(at)?.clone();
        let value = self.compiler.operand(&written)?;
        if let Some(Form::Value(accepts)) = self.parameter(at).map(|p| p.form) {
            let has = types_of(&value);
            if !has.meets(accepts) && !matches!(value, Expr::Control(_)) {
                let text = format!("{}() never takes {}", self.function.name, has.describe());
                let help = format!("`{}` is {}", self.parameter(at)?.name, accepts.describe());
                self.compiler.wrong_with("Y0107", text, written.at, &help);
                return None;
            }
        }
        Some(value)
    }

    /// An argument that need not be there: `None` when it is wrong.
    pub fn optional(&mut self, at: usize) -> Option<Option<Expr>> {
        match self.is_given(at) {
            true => self.value(at).map(Some),
            false => Some(None),
        }
    }

    /// All arguments of a parameter that may come many times.
    pub fn all(&self, at: usize) -> Vec<ast::Expr> {
        self.given.get(at).cloned().unwrap_or_default()
    }

    pub fn targets(&mut self, at: usize, what: &str) -> Option<Box<[Target]>> {
        let written = self.given.get(at)?.clone();
        let made: Vec<Option<Target>> = written
            .iter()
            .map(|expr| {
                let target = self.compiler.target(expr, what)?;
                self.compiler.note_write(target.variable);
                Some(target)
            })
            .collect();
        made.into_iter().collect()
    }

    pub fn target(&mut self, at: usize) -> Option<Target> {
        let what = format!("{}()", self.function.name);
        self.targets(at, &what)?.into_vec().pop()
    }

    /// A container that the function changes in place.
    pub fn holder(&mut self, at: usize) -> Option<Holder> {
        let written = self.ast(at)?.clone();
        let what = format!("{}()", self.function.name);
        self.compiler.holder(&written, &what)
    }

    fn not_literal<T>(&mut self, at: usize) -> Option<T> {
        let parameter = self.parameter(at)?;
        let text = format!(
            "`{}` of {}() has to be {}",
            parameter.name,
            self.function.name,
            parameter.form.describe()
        );
        let place = self.place(at);
        self.compiler.wrong_with("Y0104", text, place, "it must be known before there is a message");
        None
    }

    /// A text that is known, or the default.
    pub fn text(&mut self, at: usize, default: &str) -> Option<Vec<u8>> {
        let Some(written) = self.ast(at).cloned() else { return Some(default.as_bytes().to_vec()) };
        match self.compiler.literal_text(&written) {
            Some(text) => Some(text),
            None => self.not_literal(at),
        }
    }

    /// The same as UTF-8.
    pub fn string(&mut self, at: usize, default: &str) -> Option<String> {
        let text = self.text(at, default)?;
        match String::from_utf8(text) {
            Ok(text) => Some(text),
            Err(_) => self.not_literal(at),
        }
    }

    pub fn flag(&mut self, at: usize, default: bool) -> Option<bool> {
        let Some(written) = self.ast(at).cloned() else { return Some(default) };
        match self.compiler.expr(&written)? {
            Expr::Value(Value::Boolean(b)) => Some(b),
            _ => self.not_literal(at),
        }
    }

    pub fn number(&mut self, at: usize, default: i64) -> Option<i64> {
        let Some(written) = self.ast(at).cloned() else { return Some(default) };
        match self.compiler.expr(&written)? {
            Expr::Value(Value::Integer(n)) => Some(n),
            _ => self.not_literal(at),
        }
    }

    /// A list of texts that are known.
    pub fn texts(&mut self, at: usize) -> Option<Vec<Vec<u8>>> {
        let written = match self.ast(at).map(|expr| &expr.kind) {
            None => return Some(Vec::new()),
            Some(Kind::List(items) | Kind::Tuple(items)) => items.clone(),
            Some(Kind::Text(..)) => self.ast(at).cloned().into_iter().collect(),
            Some(_) => return self.not_literal(at),
        };
        let texts: Option<Vec<Vec<u8>>> =
            written.iter().map(|item| self.compiler.literal_text(item)).collect();
        texts.or_else(|| self.not_literal(at))
    }

    /// A dict whose keys are texts that are known.
    pub fn fields(&mut self, at: usize) -> Option<Vec<(Vec<u8>, ast::Expr)>> {
        let pairs = match self.ast(at).map(|expr| &expr.kind) {
            None => return Some(Vec::new()),
            Some(Kind::Dict(pairs)) => pairs.clone(),
            Some(_) => return self.not_literal(at),
        };
        let mut fields = Vec::new();
        for pair in pairs {
            match self.compiler.literal_text(&pair.key) {
                Some(key) => fields.push((key, pair.value)),
                None => return self.not_literal(at),
            }
        }
        Some(fields)
    }

    pub fn expr(&mut self, written: &ast::Expr) -> Option<Expr> {
        self.compiler.operand(written)
    }

    pub fn made(&self, operation: impl Operation + 'static) -> Option<Expr> {
        Some(Expr::Operation(Box::new(operation)))
    }
}
