//! Compiles a comparison: which rule holds for the operator and the version of the configuration.

use crate::compare::{Compare, Rule, Side, Test};
use crate::env::FilterEnv;
use crate::node::Node;
use crate::number::Number;
use crate::options::{MatcherOptions, template_of};
use crate::subject::Subject;
use conf_syntax::{CompareOp, Operand, OperandKind, TypedText};
use diag::{Diagnostic, Diagnostics, Span, nearest};
use record::ValueType;
use std::sync::Arc;
use template::TypeHint;

pub fn compile(
    lhs: &Operand,
    op: CompareOp,
    rhs: &Operand,
    at: Span,
    env: &dyn FilterEnv,
    diags: &mut Diagnostics,
) -> Option<Node> {
    let version = env.template_options().version;
    let left = side(lhs, version, env, diags);
    let right = side(rhs, version, env, diags);
    let (left, right) = (left?, right?);
    let sides = [(lhs, &right), (rhs, &left)];
    if let Some(finding) = sides.into_iter().find_map(|(word, other)| bare_word(word, other, op)) {
        diags.push(finding);
        return None;
    }
    let typed = [lhs, rhs].into_iter().any(has_type);
    let rule = rule_of(op, typed, version);
    if rule == Rule::Leading && [&left, &right].into_iter().any(is_word) {
        let message = "this operator compares whole numbers in configurations before version 4.0";
        diags.push(
            Diagnostic::warning("F0114", message, at).help("use eq, ne, lt, le, gt, ge to compare text"),
        );
    }
    Some(Node::Compare(Arc::new(Compare { left, right, test: Test::of(op), rule })))
}

/// A word without quotes is a text, not the field it names: `message == "x"` compares the word `message`. An
/// error where a field must be meant, because the word names one or because the comparison would have the
/// same outcome for every message. With `$` it is a template like any other: `$HOST eq "x"`.
fn bare_word(operand: &Operand, other: &Side, op: CompareOp) -> Option<Diagnostic> {
    let OperandKind::Template(TypedText { text: word, .. }) = &operand.kind else { return None };
    let field = word.to_ascii_uppercase().replace('-', "_");
    let function = super::table::FUNCTIONS.iter().map(|f| f.name).find(|name| *name == word);
    let names_field = function.is_some() || template::MACROS.iter().any(|m| m.name == field);
    let is_field = names_field || matches!(other, Side::Literal { .. });
    if !operand.bare || word.contains('$') || !is_field {
        return None;
    }
    let field = if names_field { &field } else { word };
    let text = format!("`{word}` without quotes and `$` is just this word, not a value of the message");
    let finding = Diagnostic::error("F0118", text, operand.span);
    let compared = format!("`\"${{{field}}}\" {} ...`", op.symbol());
    Some(finding.help(match function {
        Some(name) => format!("write {compared}, or the filter function `{name}(...)`"),
        None => format!("write {compared}, or `\"{word}\"` in quotes when the word itself is meant"),
    }))
}

fn has_type(operand: &Operand) -> bool {
    match &operand.kind {
        OperandKind::Template(text) => text.type_hint.is_some(),
        OperandKind::Int(_) | OperandKind::Float(_) => true,
    }
}

/// Text that no number begins.
fn is_word(side: &Side) -> bool {
    matches!(side, Side::Literal { text, .. } if !text.is_empty() && Number::parse(text).is_none())
}

/// `typed`: one side says its type.
fn rule_of(op: CompareOp, typed: bool, version: (u16, u16)) -> Rule {
    match op {
        CompareOp::StrLt | CompareOp::StrLe | CompareOp::StrEq => Rule::Text,
        CompareOp::StrNe | CompareOp::StrGe | CompareOp::StrGt => Rule::Text,
        CompareOp::StrictEq | CompareOp::StrictNe => Rule::Strict,
        _ if version < (3, 8) && !typed => Rule::Text,
        _ if version < (4, 0) && !typed => Rule::Leading,
        _ => Rule::Typed,
    }
}

fn side(
    operand: &Operand,
    version: (u16, u16),
    env: &dyn FilterEnv,
    diags: &mut Diagnostics,
) -> Option<Side> {
    match &operand.kind {
        OperandKind::Int(n) => Some(Side::literal(n.to_string().as_bytes(), ValueType::Int)),
        OperandKind::Float(f) => Some(Side::literal(f.to_string().as_bytes(), ValueType::Double)),
        OperandKind::Template(text) => template_side(text, version, env, diags),
    }
}

fn template_side(
    text: &TypedText,
    version: (u16, u16),
    env: &dyn FilterEnv,
    diags: &mut Diagnostics,
) -> Option<Side> {
    let hint = match &text.type_hint {
        None => None,
        Some(name) => match TypeHint::named(&name.text) {
            Some(hint) => Some(hint),
            None => {
                let near = nearest(&name.text, TypeHint::NAMES.iter().map(|(n, _)| *n));
                let finding = Diagnostic::error("F0115", format!("unknown type `{}`", name.text), name.span);
                diags.push(finding.suggest(near));
                return None;
            }
        },
    };
    let template = template_of(&text.text, text.span, env, &MatcherOptions::FILTER, diags)?;
    let declared = hint.and_then(TypeHint::value_type);
    if let Some(literal) = template.literal() {
        let kind = declared.unwrap_or(template.literal_type());
        return Some(Side::literal(literal, kind));
    }
    let keeps = version >= (4, 0) || hint == Some(TypeHint::Auto);
    match template.single_name() {
        Some(name) if !name.is_sdata() => {
            let kind = declared.or((!keeps).then_some(ValueType::String));
            Some(Side::Subject { subject: Subject::of_name(name), kind })
        }
        lone => {
            let lone = lone.is_some() && keeps && declared.is_none();
            let template = match hint {
                Some(hint) => template.with_hint(hint),
                None => template,
            };
            Some(Side::Template { template: Box::new(template), lone })
        }
    }
}
