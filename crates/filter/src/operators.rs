//! The words and signs that join and compare in filter expressions, for the manual: what each means, an
//! example, its cost.

use crate::compile::Example;
use template::Cost;

/// An operator of filter expressions.
#[derive(Clone, Copy, Debug)]
pub struct OperatorInfo {
    pub name: &'static str,
    pub usage: &'static str,
    pub help: &'static str,
    pub example: Example,
    pub cost: Cost,
}

const JOIN: Cost =
    Cost::of("none of its own: the right side is asked only of the messages the left side leaves open")
        .shown_by("chain-50");
const BYTES: Cost = Cost::of("both sides are printed, a lone value is not copied, and their bytes compared");
const TYPED: Cost = Cost::of("as of text; where the sides are not both texts they are read as numbers first");

const fn operator(
    name: &'static str,
    usage: &'static str,
    help: &'static str,
    (holds, fails): (&'static str, &'static str),
    cost: Cost,
) -> OperatorInfo {
    OperatorInfo { name, usage, help, example: Example { holds, fails }, cost }
}

const TEXTS: &str = "\"T\" OP \"T\"";
const TYPES: &str = "\"T\" OP \"T\", type(\"T\"), number";

/// Every operator, from the one that binds tightest to the loosest.
pub const OPERATORS: &[OperatorInfo] = &[
    operator("not", "not A", "A does not hold", (r#"not host("db")"#, r#"not host("host")"#), JOIN),
    operator("eq", TEXTS, "the same text", (r#""$HOST" eq "host""#, r#""$HOST" eq "HOST""#), BYTES),
    operator("ne", TEXTS, "another text", (r#""$HOST" ne "db""#, r#""$HOST" ne "host""#), BYTES),
    operator(
        "lt",
        TEXTS,
        "before it in the order of bytes",
        (r#""$HOST" lt "zebra""#, r#""$HOST" lt "alpha""#),
        BYTES,
    ),
    operator("le", TEXTS, "before it or the same", (r#""$HOST" le "host""#, r#""$HOST" le "alpha""#), BYTES),
    operator(
        "gt",
        TEXTS,
        "behind it in the order of bytes",
        (r#""$PID" gt "100""#, r#""$PID" gt "99""#),
        BYTES,
    ),
    operator("ge", TEXTS, "behind it or the same", (r#""$HOST" ge "host""#, r#""$HOST" ge "zebra""#), BYTES),
    operator(
        "==",
        TYPES,
        "equal: texts and lists by their bytes, null only to null, else as numbers",
        (r#""${score}" == 5"#, r#""${score}" == 6"#),
        TYPED,
    ),
    operator(
        "!=",
        TYPES,
        "not equal by the rules of ==",
        (r#""${score}" != 6"#, r#""${score}" != 5"#),
        TYPED,
    ),
    operator(
        "<",
        TYPES,
        "less, as numbers unless both are texts",
        (r#""$LEVEL_NUM" < 7"#, r#""$LEVEL_NUM" < 4"#),
        TYPED,
    ),
    operator("<=", TYPES, "less or equal", (r#""${score}" <= 5"#, r#""${score}" <= 4.5"#), TYPED),
    operator(">", TYPES, "greater", (r#"int("$PID") > 99"#, r#"int("$PID") > 1000"#), TYPED),
    operator(">=", TYPES, "greater or equal", (r#""${score}" >= 5"#, r#""${score}" >= 5.5"#), TYPED),
    operator(
        "===",
        TYPES,
        "equal and of the same type",
        (r#""${score}" === int("5")"#, r#""${score}" === double("5")"#),
        TYPED,
    ),
    operator(
        "!==",
        TYPES,
        "not equal, or of another type",
        (r#""${score}" !== string("5")"#, r#""${score}" !== int("5")"#),
        TYPED,
    ),
    operator(
        "and",
        "A and B",
        "both hold",
        (r#"facility(auth) and host("host")"#, r#"facility(auth) and host("db")"#),
        JOIN,
    ),
    operator(
        "or",
        "A or B",
        "one of them holds",
        (r#"facility(mail) or host("host")"#, r#"facility(mail) or host("db")"#),
        JOIN,
    ),
    operator(
        ";",
        "A; B;",
        "both hold; it binds loosest",
        (r#"facility(mail) or host("host"); program("app")"#, r#"facility(auth); host("db")"#),
        JOIN,
    ),
];
