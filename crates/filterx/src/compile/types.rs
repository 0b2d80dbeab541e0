//! What is known of the types of expressions, and what must fail whatever the message is.

use super::Compiler;
use crate::ast::{Binary, Extent};
use crate::program::Expr;
use crate::types::Types;

/// The types that the value of an expression can have.
pub fn types_of(expr: &Expr) -> Types {
    match expr {
        Expr::Value(value) => Types::of(*value),
        Expr::Counted(_, inner) => types_of(inner),
        Expr::Text(_) | Expr::Slice(_) => Types::STRING,
        Expr::Dict(..) | Expr::LaidOut(_) => Types::DICT,
        Expr::List(_) => Types::LIST,
        Expr::Tuple(_) => Types::TUPLE,
        Expr::Not(_)
        | Expr::Or(_)
        | Expr::And(_)
        | Expr::IsText(..)
        | Expr::Compare(..)
        | Expr::Same(..)
        | Expr::Matches(..)
        | Expr::In(..)
        | Expr::Isset(_)
        | Expr::IsThere(_)
        | Expr::Noted(_)
        | Expr::Unset(_) => Types::BOOLEAN,
        Expr::Minus(_) | Expr::Plus(_) | Expr::Calculate(..) => Types::NUMBER,
        Expr::Ternary(parts) => match &parts.1 {
            Some(yes) => types_of(yes).or(types_of(&parts.2)),
            None => types_of(&parts.0).or(types_of(&parts.2)),
        },
        Expr::Coalesce(sides) => types_of(&sides.0).or(types_of(&sides.1)),
        _ => Types::ANY,
    }
}

impl Compiler<'_> {
    /// Reports operands with which an operator can never do anything.
    pub(super) fn check_operands(
        &mut self,
        operator: Binary,
        sides: (&Expr, &Expr),
        at: Extent,
    ) -> Option<()> {
        let (a, b) = (types_of(sides.0), types_of(sides.1));
        if let Expr::Control(_) = sides.1 {
            return Some(());
        }
        let calculable = Types::NUMBER.or(Types::BOOLEAN);
        let fits = match operator {
            Binary::Plus => can_add(a, b),
            Binary::Minus | Binary::Times | Binary::Divide => a.meets(calculable) && b.meets(calculable),
            Binary::Modulo => a.meets(Types::INTEGER) && b.meets(Types::INTEGER),
            Binary::In | Binary::NotIn => b.meets(Types::SEQUENCE.or(Types::MAPPING).or(Types::SUBNET)),
            _ => true,
        };
        if fits {
            return Some(());
        }
        let (text, help) = match operator {
            Binary::Plus => (
                format!("{} and {} can never be added", a.describe(), b.describe()),
                "convert one of them: string(), int(), bytes() ...",
            ),
            Binary::In | Binary::NotIn => (
                format!("nothing is ever in {}", b.describe()),
                "what stands right of `in` is a list, a dict or a subnet; parts of texts are found by includes()",
            ),
            Binary::Modulo => (
                format!("`%` is of integers, not of {} and {}", a.describe(), b.describe()),
                "convert them: int()",
            ),
            _ => (
                format!("{} and {} are nothing to calculate with", a.describe(), b.describe()),
                "convert them: int(), double()",
            ),
        };
        self.wrong_with("Y0107", text, at, help);
        None
    }
}

fn can_add(a: Types, b: Types) -> bool {
    let pairs = [
        (Types::NUMBER, Types::NUMBER),
        (Types::STRING, Types::STRING),
        (Types::BYTES, Types::BYTES),
        (Types::DATETIME, Types::NUMBER),
        (Types::SEQUENCE, Types::SEQUENCE),
        (Types::DICT, Types::MAPPING),
    ];
    pairs.iter().any(|(left, right)| a.meets(*left) && b.meets(*right))
}
