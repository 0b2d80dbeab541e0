//! From the syntax tree to the compiled expression: all errors, not only the first.

mod comparison;
mod functions;
mod table;

use crate::env::{FilterEnv, Progress};
use crate::filter::Filter;
use crate::node::Node;
use crate::one_of;
use crate::written::Written;
use conf_syntax::{Arg, ArgKind, FilterExpr, Operand, OperandKind};
use diag::{Diagnostic, Diagnostics, SourceMap, Span, nearest};
use std::sync::Arc;
use template::Condition;

pub use table::{Example, FUNCTIONS, FunctionInfo};

/// An expression for running, and the same as it is written.
type Both = (Node, Written);

pub fn expression(expr: &FilterExpr, env: &dyn FilterEnv, diags: &mut Diagnostics) -> Option<Both> {
    match expr {
        FilterExpr::Not(inner, _) => {
            let (node, written) = expression(inner, env, diags)?;
            Some((negated(node), Written::Not(Box::new(written))))
        }
        FilterExpr::And(parts, _) => {
            let (nodes, written) = all(parts, env, diags)?;
            Some((conjunction(nodes), Written::And(written)))
        }
        FilterExpr::Or(parts, _) => {
            let (nodes, written) = all(parts, env, diags)?;
            Some((disjunction(nodes), Written::Or(written)))
        }
        FilterExpr::Call(call) => {
            let (function, node) = table::compile(call, env, diags)?;
            let written = match &node {
                Node::Filter(called) => Written::Named(Arc::clone(called)),
                // The pattern is told as the message meets it.
                Node::Match(_) => Written::Call(function, node.clone(), Box::default()),
                _ => Written::Call(function, node.clone(), asked(&call.args).into()),
            };
            Some((node.settled(), written))
        }
        FilterExpr::Compare { lhs, op, rhs, span } => {
            let node = comparison::compile(lhs, *op, rhs, *span, env, diags)?;
            let sides = [side_text(lhs), side_text(rhs)];
            Some((node.clone().settled(), Written::Compare(op.symbol(), node, sides)))
        }
    }
}

/// The arguments of a filter function as they are written: `auth, local0..local7`.
fn asked(args: &[Arg]) -> String {
    let one = |arg: &Arg| match &arg.kind {
        ArgKind::Range(from, to) => Some(format!("{}..{}", from.text()?, to.text()?)),
        ArgKind::Call(option) => Some(format!("{}({})", option.name.text, asked(&option.args))),
        _ => arg.text().map(str::to_owned),
    };
    args.iter().filter_map(one).collect::<Vec<_>>().join(", ")
}

/// A side of a comparison as it is written; nothing where it is what is compared.
fn side_text(operand: &Operand) -> Box<str> {
    match &operand.kind {
        OperandKind::Template(typed) if typed.text.contains('$') => typed.text.as_str().into(),
        _ => Box::default(),
    }
}

fn all(
    parts: &[FilterExpr],
    env: &dyn FilterEnv,
    diags: &mut Diagnostics,
) -> Option<(Vec<Node>, Vec<Written>)> {
    let compiled: Vec<Option<Both>> = parts.iter().map(|p| expression(p, env, diags)).collect();
    compiled.into_iter().collect()
}

pub fn named(name: &str, at: Span, env: &dyn FilterEnv, diags: &mut Diagnostics) -> Option<Arc<Filter>> {
    let cache = env.named_filters();
    match cache.progress(name) {
        Some(Progress::Done(filter)) => return Some(filter),
        Some(Progress::Failed) => return None,
        Some(Progress::Begun) => {
            diags.error("F0105", format!("filter `{name}` contains itself"), at);
            return None;
        }
        None => {}
    }
    let Some(expr) = env.filter(name) else {
        let near = env.filter_names();
        // What is wrong in it has been said where it stands.
        if near.contains(&name) {
            return None;
        }
        let near = nearest(name, near.iter().copied());
        diags.push(Diagnostic::error("F0104", format!("there is no filter `{name}`"), at).suggest(near));
        return None;
    };
    cache.set(name, Progress::Begun);
    let compiled = Filter::compile(expr, env, diags).map(Arc::new);
    cache.set(name, compiled.clone().map_or(Progress::Failed, Progress::Done));
    compiled
}

/// Compiles the condition of `$(if 'TEXT' ...)`; what [`template::Scope::condition`] is made of.
pub fn compile_condition(text: &str, env: &dyn FilterEnv) -> Result<Arc<dyn Condition>, String> {
    let mut sources = SourceMap::new();
    let mut diags = Diagnostics::new();
    let expr = conf_syntax::parse_filter_text(text, None, &mut sources, &mut diags);
    let filter = expr.and_then(|e| Filter::compile(&e, env, &mut diags));
    let error = diags.iter().find(|d| d.severity == diag::Severity::Error).map(|d| d.message.clone());
    match (filter, error) {
        (Some(filter), None) => Ok(Arc::new(filter)),
        (_, Some(error)) => Err(error),
        (None, None) => Err("empty filter expression".to_owned()),
    }
}

fn negated(node: Node) -> Node {
    match node {
        Node::Always(value) => Node::Always(!value),
        Node::Pri(table) => from_table(table.negated()),
        Node::Not(inner) => *inner,
        node => Node::Not(Box::new(node)),
    }
}

fn from_table(table: crate::pri::PriTable) -> Node {
    match (table.all(), table.none()) {
        (true, _) => Node::Always(true),
        (_, true) => Node::Always(false),
        _ => Node::Pri(table),
    }
}

/// Nodes that leave no trace may change places: tables are merged and the cheap come first.
fn conjunction(parts: Vec<Node>) -> Node {
    combine(parts, true)
}

fn disjunction(parts: Vec<Node>) -> Node {
    combine(parts, false)
}

fn combine(parts: Vec<Node>, and: bool) -> Node {
    let mut flat = Vec::with_capacity(parts.len());
    for part in parts {
        match part {
            Node::And(inner) if and => flat.extend(inner),
            Node::Or(inner) if !and => flat.extend(inner),
            part => flat.push(part),
        }
    }
    // `x or true` is true and `x and false` is false, unless x has to be asked for its traces.
    let pure = flat.iter().all(Node::is_pure);
    if pure && flat.iter().any(|n| matches!(n, Node::Always(value) if *value != and)) {
        return Node::Always(!and);
    }
    flat.retain(|n| !matches!(n, Node::Always(value) if *value == and));
    if pure {
        flat = one_of::joined(flat, and);
        flat.sort_by_key(Node::cost);
        let tables = flat.iter().take_while(|n| matches!(n, Node::Pri(_))).count();
        let merged = flat.drain(..tables).filter_map(|n| match n {
            Node::Pri(table) => Some(table),
            _ => None,
        });
        if let Some(table) = merged.reduce(|a, b| if and { a.and(&b) } else { a.or(&b) }) {
            match from_table(table) {
                Node::Always(value) if value == and => {}
                Node::Always(value) => return Node::Always(value),
                node => flat.insert(0, node),
            }
        }
    }
    match flat.len() {
        0 => Node::Always(and),
        1 => flat.remove(0),
        _ if and => Node::And(flat),
        _ => Node::Or(flat),
    }
}
