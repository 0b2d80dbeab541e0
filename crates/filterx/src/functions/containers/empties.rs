//! `unset_empties()`.

use super::DEPTH_MAX;
use crate::ast::Kind;
use crate::compile::Arguments;
use crate::functions::labels::refill;
use crate::program::{Expr, Holder, Operation};
use crate::run::{Eval, Halt, Run};
use value::Value;

/// What is taken out.
#[derive(Clone, Default)]
struct Targets {
    null: bool,
    list: bool,
    dict: bool,
    texts: Vec<Vec<u8>>,
    ignore_case: bool,
}

struct Empties {
    container: Holder,
    recursive: bool,
    targets: Targets,
    replacement: Option<Expr>,
}

pub fn build(args: &mut Arguments<'_, '_>) -> Option<Expr> {
    let container = args.holder(0);
    let recursive = args.flag(1, true)?;
    let ignore_case = args.flag(2, false)?;
    let mut targets = Targets { ignore_case, ..Targets::default() };
    let items = match args.ast(3).map(|expr| &expr.kind) {
        None => Vec::new(),
        Some(Kind::List(items)) => items.clone(),
        Some(_) => {
            args.wrong(3, "targets is a list", "as targets=[\"\", null, \"N/A\"]");
            return None;
        }
    };
    for item in &items {
        match &item.kind {
            Kind::Null => targets.null = true,
            Kind::List(inner) if inner.is_empty() => targets.list = true,
            Kind::Dict(inner) if inner.is_empty() => targets.dict = true,
            Kind::Text(..) => targets.texts.extend(args.compiler.literal_text(item)),
            _ => {
                args.wrong(3, "targets are fixed texts, null, [] and {}", "as targets=[\"\", null, \"N/A\"]");
                return None;
            }
        }
    }
    if items.is_empty() {
        targets = Targets { null: true, list: true, dict: true, texts: vec![Vec::new()], ignore_case };
    }
    let replacement = args.optional(4)?;
    args.made(Empties { container: container?, recursive, targets, replacement })
}

impl Empties {
    fn is_target(&self, run: &Run<'_>, value: Value) -> bool {
        match value {
            Value::Null => self.targets.null,
            Value::List(_) | Value::Tuple(_) => self.targets.list && run.cells(value).is_empty(),
            Value::Dict(_) => self.targets.dict && run.cells(value).is_empty(),
            Value::String(_) => {
                let text = run.bytes(value);
                self.targets.texts.iter().any(|known| match self.targets.ignore_case {
                    true => known.eq_ignore_ascii_case(text),
                    false => known == text,
                })
            }
            _ => false,
        }
    }

    /// Cleans a container that nobody else holds, the innermost first; whether anything has changed.
    fn clean(
        &self,
        run: &mut Run<'_>,
        value: Value,
        replacement: Option<Value>,
        depth: usize,
    ) -> Result<bool, Halt> {
        if depth >= DEPTH_MAX {
            return run.error("Too many containers inside one another");
        }
        let Some(node) = value.node() else { return Ok(false) };
        let width = if matches!(value, Value::Dict(_) | Value::Labels(_)) { 2 } else { 1 };
        let mut kept = Vec::with_capacity(run.cells(value).len());
        let mut has_changed = false;
        for at in (0..run.cells(value).len()).step_by(width) {
            let cell = |run: &Run<'_>, at: usize| run.cells(value).get(at).copied().unwrap_or_default();
            let mut item = cell(run, at + width - 1);
            if let (true, Value::Dict(inner) | Value::List(inner)) = (self.recursive, item) {
                let Ok(owned) = run.trees().own(inner) else { return run.full() };
                item = item.with_node(owned);
                if self.clean(run, item, replacement, depth + 1)? || owned != inner {
                    run.trees().set_cell(node, at + width - 1, item);
                    has_changed = true;
                }
            }
            if self.is_target(run, item) {
                match replacement {
                    Some(other) => item = other,
                    None => continue,
                }
            }
            if width == 2 {
                kept.push(cell(run, at));
            }
            kept.push(item);
        }
        if run.cells(value) != kept {
            refill(run, node, &kept);
            has_changed = true;
        }
        Ok(has_changed)
    }
}

impl Operation for Empties {
    fn run(&self, run: &mut Run<'_>) -> Eval {
        let replacement = match &self.replacement {
            Some(replacement) => Some(run.eval_owned(replacement)?),
            None => None,
        };
        let value = run.own_holder(&self.container)?;
        if !matches!(value, Value::Dict(_) | Value::List(_)) {
            return run.error("Argument must be a dict or list");
        }
        self.clean(run, value, replacement, 0)?;
        Ok(Value::Boolean(true))
    }
}
