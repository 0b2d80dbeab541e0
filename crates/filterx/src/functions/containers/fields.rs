//! `set_fields()`.

use crate::ast::Kind;
use crate::compile::Arguments;
use crate::program::{Expr, Holder, Operation};
use crate::run::{Eval, Halt, Run};
use value::Value;

/// When a key is set.
#[derive(Clone, Copy, PartialEq, Eq)]
enum When {
    Always,
    IfSet,
    IfNotSet,
}

struct Field {
    key: u32,
    when: When,
    candidates: Box<[Expr]>,
}

struct SetFields {
    dict: Holder,
    fields: Vec<Field>,
}

pub fn build(args: &mut Arguments<'_, '_>) -> Option<Expr> {
    let dict = args.holder(0);
    let mut fields: Vec<Field> = Vec::new();
    // What is overridden needs nothing else.
    for (at, when) in [(1, When::Always), (3, When::IfSet), (2, When::IfNotSet)] {
        for (key, value) in args.fields(at)? {
            let key = args.compiler.text(&key);
            let candidates = match &value.kind {
                Kind::List(items) => args.compiler.all(items)?,
                _ => Box::new([args.expr(&value)?]),
            };
            if !fields.iter().any(|field| field.key == key && field.when == When::Always) {
                fields.push(Field { key, when, candidates });
            }
        }
    }
    args.made(SetFields { dict: dict?, fields })
}

impl SetFields {
    fn candidate(&self, run: &mut Run<'_>, field: &Field) -> Result<Option<Value>, Halt> {
        for candidate in &field.candidates {
            if let Some(value) = run.attempt(candidate)? {
                run.trees().share(value);
                return Ok(Some(value));
            }
        }
        Ok(None)
    }
}

impl Operation for SetFields {
    fn run(&self, run: &mut Run<'_>) -> Eval {
        let value = run.own_holder(&self.dict)?;
        let Value::Dict(node) = value else { return run.error("Argument must be a dict") };
        let mut replaced = Vec::new();
        for field in &self.fields {
            let key = run.literal_value(field.key)?;
            let is_set = run.cell_of(value, key).is_some();
            let wanted = match field.when {
                When::Always => true,
                When::IfSet => is_set,
                When::IfNotSet => !is_set && !replaced.contains(&field.key),
            };
            if let (true, Some(new)) = (wanted, if wanted { self.candidate(run, field)? } else { None }) {
                replaced.push(field.key);
                run.set_key(node, key, new)?;
            }
        }
        run.trees().share(value);
        Ok(value)
    }
}
