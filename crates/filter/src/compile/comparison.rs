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
use template::TypeHint;

pub fn compile(
    lhs: &Operand,
    op: CompareOp,
    rhs: &Operand,
    at: Span,
    env: &dyn FilterEnv,
    diags: &mut Diagnostics,
) -> Option<Node> {
    let rule = rule_of(op, [lhs, rhs], env.template_options().version);
    let left = side(lhs, rule, env, diags);
    let right = side(rhs, rule, env, diags);
    let (left, right) = (left?, right?);
    if rule == Rule::Leading {
        warn_of_numbers([&left, &right], at, diags);
    }
    Some(Node::Compare(Box::new(Compare { left, right, test: Test::of(op), rule })))
}

fn rule_of(op: CompareOp, sides: [&Operand; 2], version: (u16, u16)) -> Rule {
    let typed = |o: &Operand| match &o.kind {
        OperandKind::Template(text) => text.type_hint.is_some(),
        OperandKind::Int(_) | OperandKind::Float(_) => true,
    };
    match op {
        CompareOp::StrLt | CompareOp::StrLe | CompareOp::StrEq => Rule::Text,
        CompareOp::StrNe | CompareOp::StrGe | CompareOp::StrGt => Rule::Text,
        CompareOp::StrictEq | CompareOp::StrictNe => Rule::Strict,
        _ if version < (3, 8) => Rule::Text,
        _ if version < (4, 0) && !sides.into_iter().any(typed) => Rule::Leading,
        _ => Rule::Typed,
    }
}

fn side(operand: &Operand, rule: Rule, env: &dyn FilterEnv, diags: &mut Diagnostics) -> Option<Side> {
    match &operand.kind {
        OperandKind::Int(n) => Some(Side::literal(n.to_string().as_bytes(), ValueType::Int)),
        OperandKind::Float(f) => Some(Side::literal(f.to_string().as_bytes(), ValueType::Double)),
        OperandKind::Template(text) => template_side(text, rule, env, diags),
    }
}

fn template_side(text: &TypedText, rule: Rule, env: &dyn FilterEnv, diags: &mut Diagnostics) -> Option<Side> {
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
        let kind = declared.unwrap_or_else(|| literal_kind(literal, rule));
        return Some(Side::literal(literal, kind));
    }
    let keeps = env.template_options().version >= (4, 0) || hint == Some(TypeHint::Auto);
    match template.single_name() {
        Some(name) if !name.is_sdata() => {
            let kind = declared.or((!keeps).then_some(ValueType::String));
            Some(Side::Subject { subject: Subject::of_name(name), kind })
        }
        _ => Some(Side::Template(Box::new(match hint {
            Some(hint) => template.with_hint(hint),
            None => template,
        }))),
    }
}

/// A quoted literal that looks like a number is one for operators that go by types.
fn literal_kind(text: &[u8], rule: Rule) -> ValueType {
    match (rule, Number::parse(text)) {
        (Rule::Typed, Some(Number::Int(_))) => ValueType::Int,
        (Rule::Typed, Some(Number::Double(_))) => ValueType::Double,
        _ => ValueType::String,
    }
}

fn warn_of_numbers(sides: [&Side; 2], at: Span, diags: &mut Diagnostics) {
    let text = |side: &Side| match side {
        Side::Literal { text, .. } => Number::parse(text).is_none(),
        _ => false,
    };
    if sides.into_iter().any(text) {
        let message = "this operator compares whole numbers in configurations before version 4.0";
        diags.push(
            Diagnostic::warning("F0114", message, at).help("use eq, ne, lt, le, gt, ge to compare text"),
        );
    }
}
