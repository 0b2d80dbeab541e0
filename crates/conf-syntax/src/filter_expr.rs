//! Filter expressions, read from the arguments they are written in: `not` binds tightest, then comparisons,
//! `and`, `or`, and `;`, which is "and" again. An `and` or `or` behind a `;` goes on from all that stands
//! before it: `A; B; or C` is `(A and B) or C`.
//!
//! Nesting comes from the arguments' parentheses, whose depth the parser bounds; `not not ...` is bounded
//! here.

use diag::{Diagnostic, Diagnostics, Span};

use crate::ast::{Arg, ArgKind, CompareOp, FilterExpr, Name, Operand, OperandKind, TypedText};

/// `not`s in a row.
const NOT_MAX: usize = 64;

/// The expression `args` spell, or None with the reason in `diags`; `whole` is the place to blame when it is
/// empty.
pub fn from_args(args: &[Arg], whole: Span, diags: &mut Diagnostics) -> Option<FilterExpr> {
    let parts: Vec<&[Arg]> =
        args.split(|a| matches!(a.kind, ArgKind::Semicolon)).filter(|p| !p.is_empty()).collect();
    if parts.is_empty() {
        diags.push(
            Diagnostic::error("P0120", "the filter expression is empty", whole)
                .help("write a filter function such as `facility(mail)`, or a comparison"),
        );
        return None;
    }
    let mut all = Vec::with_capacity(parts.len());
    let mut wrong = false;
    for part in parts {
        let goes_on = ["and", "or"].iter().any(|word| is_word(part.first(), word));
        let before = if goes_on && !all.is_empty() {
            Some(join(std::mem::take(&mut all), FilterExpr::And))
        } else {
            None
        };
        let mut reader = Expr { args: part, at: 0, diags };
        match reader.or(before) {
            Some(e) => all.push(e),
            None => wrong = true,
        }
    }
    if wrong {
        return None;
    }
    Some(join(all, FilterExpr::And))
}

/// One expression stays itself; several are joined.
fn join(mut list: Vec<FilterExpr>, make: fn(Vec<FilterExpr>, Span) -> FilterExpr) -> FilterExpr {
    match (list.len(), list.first().map(FilterExpr::span), list.last().map(FilterExpr::span)) {
        (1, ..) => list.remove(0),
        (_, Some(first), Some(last)) => make(list, first.to(last)),
        _ => make(list, Span::default()),
    }
}

struct Expr<'a, 'd> {
    args: &'a [Arg],
    at: usize,
    diags: &'d mut Diagnostics,
}

impl<'a> Expr<'a, '_> {
    fn peek(&self) -> Option<&'a Arg> {
        self.args.get(self.at)
    }

    fn word(&mut self, wanted: &str) -> bool {
        let hit = is_word(self.peek(), wanted);
        self.at += usize::from(hit);
        hit
    }

    /// The whole slice must be used up. It begins with `and` or `or` when `before` is what it goes on from.
    fn or(&mut self, before: Option<FilterExpr>) -> Option<FilterExpr> {
        let mut any = vec![self.and(before)?];
        while self.word("or") {
            any.push(self.and(None)?);
        }
        if let Some(extra) = self.peek() {
            self.diags.push(
                Diagnostic::error("P0121", "the condition was complete before this", extra.span)
                    .help("join two conditions with `and` or `or`"),
            );
            return None;
        }
        Some(join(any, FilterExpr::Or))
    }

    fn and(&mut self, before: Option<FilterExpr>) -> Option<FilterExpr> {
        let mut all = match before {
            Some(before) => vec![before],
            None => vec![self.not()?],
        };
        while self.word("and") {
            all.push(self.not()?);
        }
        Some(join(all, FilterExpr::And))
    }

    fn not(&mut self) -> Option<FilterExpr> {
        let mut nots = Vec::new();
        while let Some(span) = self.peek().map(|a| a.span) {
            if !self.word("not") {
                break;
            }
            nots.push(span);
        }
        if nots.len() > NOT_MAX {
            let span = nots.first().copied().unwrap_or_default();
            self.diags.error("P0107", format!("more than {NOT_MAX} `not` in a row"), span);
            return None;
        }
        let mut expr = self.primary()?;
        for not in nots.into_iter().rev() {
            let span = not.to(expr.span());
            expr = FilterExpr::Not(Box::new(expr), span);
        }
        Some(expr)
    }

    fn primary(&mut self) -> Option<FilterExpr> {
        let Some(arg) = self.peek() else {
            let at = self.args.last().map(|a| a.span.after()).unwrap_or_default();
            self.diags.error("P0121", "the filter expression ends where a condition should follow", at);
            return None;
        };
        if let Some(op) = self.args.get(self.at + 1).and_then(operator) {
            return self.comparison(arg, op);
        }
        match &arg.kind {
            ArgKind::Group(inner) => {
                self.at += 1;
                from_args(inner, arg.span, self.diags)
            }
            ArgKind::Call(call) => {
                self.at += 1;
                Some(FilterExpr::Call(call.clone()))
            }
            ArgKind::Ident(word) => {
                let help = match word.as_str() {
                    "and" | "or" => "a condition stands on both sides of it; a `;` before it ends the condition: remove that `;`".to_owned(),
                    _ => format!("a filter function is called with parentheses: `{word}(...)`"),
                };
                let finding = Diagnostic::error("P0121", format!("`{word}` is not a condition"), arg.span);
                self.diags.push(finding.help(help));
                None
            }
            _ => {
                self.diags.push(
                    Diagnostic::error(
                        "P0121",
                        format!("{} alone is not a condition", arg.describe()),
                        arg.span,
                    )
                    .help("compare it with something: `\"$NAME\" eq \"value\"`"),
                );
                None
            }
        }
    }

    fn comparison(&mut self, lhs: &Arg, op: CompareOp) -> Option<FilterExpr> {
        let symbol = self.args.get(self.at + 1).map(|a| a.span).unwrap_or_default();
        let Some(rhs) = self.args.get(self.at + 2) else {
            let message = format!("nothing stands on the right of `{}`", op.symbol());
            self.diags.error("P0121", message, symbol);
            return None;
        };
        self.at += 3;
        let (left, right) = (self.operand(lhs), self.operand(rhs));
        Some(FilterExpr::Compare { lhs: left?, op, rhs: right?, span: lhs.span.to(rhs.span) })
    }

    fn operand(&mut self, arg: &Arg) -> Option<Operand> {
        let kind = match &arg.kind {
            ArgKind::Str { text, .. } | ArgKind::Ident(text) => {
                OperandKind::Template(TypedText { type_hint: None, text: text.clone(), span: arg.span })
            }
            ArgKind::Int { value, .. } => OperandKind::Int(*value),
            ArgKind::Float { value, .. } => OperandKind::Float(*value),
            ArgKind::Call(call) => match call.args.as_slice() {
                [Arg { kind: ArgKind::Str { text, .. } | ArgKind::Ident(text), span }] => {
                    let hint: Option<Name> = Some(call.name.clone());
                    OperandKind::Template(TypedText { type_hint: hint, text: text.clone(), span: *span })
                }
                [number] if number.int().is_some() || matches!(number.kind, ArgKind::Float { .. }) => {
                    let text = number.text().unwrap_or_default().to_string();
                    let hint = Some(call.name.clone());
                    OperandKind::Template(TypedText { type_hint: hint, text, span: number.span })
                }
                _ => {
                    let message = format!(
                        "`{}(...)` cannot be compared: it is not a type with one template",
                        call.name.text
                    );
                    self.diags.error("P0121", message, arg.span);
                    return None;
                }
            },
            _ => {
                self.diags.error("P0121", format!("{} cannot be compared", arg.describe()), arg.span);
                return None;
            }
        };
        let is_word = |arg: &Arg| matches!(arg.kind, ArgKind::Ident(_));
        let bare = match &arg.kind {
            ArgKind::Call(typed) => typed.args.iter().any(is_word),
            _ => is_word(arg),
        };
        Some(Operand { kind, bare, span: arg.span })
    }
}

fn is_word(arg: Option<&Arg>, wanted: &str) -> bool {
    matches!(arg.map(|a| &a.kind), Some(ArgKind::Ident(word)) if word == wanted)
}

fn operator(arg: &Arg) -> Option<CompareOp> {
    match &arg.kind {
        ArgKind::Op(op) => Some(*op),
        ArgKind::Ident(word) => CompareOp::ALL.iter().find(|(symbol, _)| symbol == word).map(|(_, op)| *op),
        _ => None,
    }
}
