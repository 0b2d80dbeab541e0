//! Blocks that are made for `app-parser()` and `app-transform()`, about the variable that has the name of a
//! message's application.

use super::{Compiler, Setting};
use crate::ast;
use crate::grammar;
use crate::program::{Block, Case, Expr, Role, Statement, Switch, Texts};
use conf_syntax::{Call, RawBlock};
use diag::{Diagnostics, SourceMap, Span};

/// The variable, as `app` or `$app`, and where it is written.
pub struct AppVariable<'a> {
    text: &'a str,
    at: Span,
}

impl<'a> AppVariable<'a> {
    /// The text stands in a call.
    pub fn of(text: &'a str, call: &Call, sources: &SourceMap) -> AppVariable<'a> {
        let whole = sources.text(call.span);
        let found = whole.find("filterx-app-variable").and_then(|option| {
            let behind = whole.get(option..)?.find(text)?;
            let start = call.span.start as usize + option + behind;
            Some(Span::new(call.span.file, start, start + text.len()))
        });
        AppVariable { text, at: found.unwrap_or(call.span) }
    }

    fn statement<'s>(&self, text: &str, setting: Setting<'s>, diags: &'s mut Diagnostics) -> Option<Block> {
        let mut compiler = Compiler::new(setting, self.at, diags);
        compiler.made = Some(text.into());
        let statements = compiler.parsed(text);
        let body = compiler.body(&statements);
        compiler.done(body)
    }
}

/// A block that gives the variable the name of an application, unless it is set.
pub fn name_application(
    variable: &AppVariable<'_>,
    name: &str,
    setting: Setting<'_>,
    diags: &mut Diagnostics,
) -> Option<Block> {
    let (it, name) = (variable.text, quoted(name));
    // One of the block would be forgotten at its end.
    let declare = if it.starts_with('$') { "" } else { "declare " };
    let text = format!("if (not isset({it})) {{ {declare}{it} = {name}; }};");
    variable.statement(&text, setting, diags)
}

/// A block that holds for messages of an application.
pub fn is_application(
    variable: &AppVariable<'_>,
    name: &str,
    setting: Setting<'_>,
    diags: &mut Diagnostics,
) -> Option<Block> {
    variable.statement(&format!("{} === {};", variable.text, quoted(name)), setting, diags)
}

/// A block that does what the blocks of a message's application do, one after the other.
pub fn switch_applications(
    variable: &AppVariable<'_>,
    applications: &[(&str, Vec<&RawBlock>)],
    setting: Setting<'_>,
    diags: &mut Diagnostics,
) -> Option<Block> {
    let mut compiler = Compiler::new(setting, variable.at, diags);
    compiler.made = Some(variable.text.into());
    let statements = compiler.parsed(&format!("{};", variable.text));
    let selector = statements.first().and_then(|statement| compiler.expr(statement));
    let number = statements.first().map_or(0, |statement| compiler.written(statement, Role::Statement));
    compiler.made = None;
    let mut switch = Switch {
        selector: selector.unwrap_or(Expr::Value(value::Value::Null)),
        texts: Texts::new(Vec::new()),
        labels: Vec::new(),
        default: None,
        cases: Vec::new(),
    };
    // All is read before anything is compiled: the blocks have their variables in common.
    let mut parsed = Vec::new();
    for (name, blocks) in applications {
        let mut parts = Vec::new();
        for raw in blocks {
            compiler.base = raw.inner;
            parts.push((raw.inner, compiler.parsed(&raw.text)));
        }
        parsed.push((name, parts));
    }
    let mut texts = Vec::new();
    for (case, (name, parts)) in parsed.into_iter().enumerate() {
        let mut body: Vec<Statement> = Vec::new();
        for (inner, statements) in parts {
            compiler.base = inner;
            body.extend(compiler.body(&statements));
        }
        texts.push((name.as_bytes().into(), case));
        switch.cases.push(Case { body: body.into(), falls_through: false });
    }
    switch.texts = Texts::new(texts);
    let switch = Statement { expr: Expr::Switch(Box::new(switch)), checked: false, number };
    compiler.done(Box::new([switch]))
}

/// As a text of the language that is taken as it is.
fn quoted(name: &str) -> String {
    let mut text = String::from("\"");
    for c in name.chars() {
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            '$' => text.push_str("$$"),
            c => text.push(c),
        }
    }
    text.push('"');
    text
}

impl Compiler<'_> {
    /// The statements of a text, and what they look at is noted; what cannot be read is reported.
    pub(super) fn parsed(&mut self, text: &str) -> Vec<ast::Expr> {
        let (statements, errors) = grammar::parse(text);
        for error in errors {
            let finding = diag::Diagnostic::error("Y0101", error.message, self.span(error.at));
            self.diags.push(match error.help {
                Some(help) => finding.help(help),
                None => finding,
            });
        }
        self.wanted.note(&statements);
        statements
    }
}
