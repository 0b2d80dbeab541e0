//! Random programs over random messages: whatever is written, it is compiled or refused, and runs to an end.

use super::{findings, run};
use proptest::prelude::*;

/// Pieces of which texts are made that often compile.
fn piece() -> impl Strategy<Value = String> {
    let names = || prop_oneof![Just("x"), Just("d"), Just("$MSG"), Just("$X"), Just("l"), Just("$N")];
    let leaf = prop_oneof![
        names().prop_map(str::to_owned),
        any::<i8>().prop_map(|n| n.to_string()),
        Just("1.5".to_owned()),
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just("\"a\"".to_owned()),
        Just("'{\"a\": [1, {\"b\": \"\"}]}'".to_owned()),
        Just("\"x=1, y=2\"".to_owned()),
        Just("{}".to_owned()),
        Just("[]".to_owned()),
    ];
    leaf.prop_recursive(4, 24, 3, move |inner| {
        let operators = prop_oneof![
            Just("+"),
            Just("-"),
            Just("*"),
            Just("/"),
            Just("%"),
            Just("=="),
            Just("<"),
            Just("eq"),
            Just("lt"),
            Just("==="),
            Just("and"),
            Just("or"),
            Just("??"),
            Just("in"),
            Just("not in"),
            Just("?:")
        ];
        let functions: Vec<&'static str> = crate::functions().map(|f| f.name).collect();
        prop_oneof![
            (inner.clone(), operators, inner.clone()).prop_map(|(a, o, b)| format!("({a} {o} {b})")),
            (proptest::sample::select(functions), proptest::collection::vec(inner.clone(), 0..3))
                .prop_map(|(name, args)| format!("{name}({})", args.join(", "))),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("{{\"a\": {a}, \"b\":?? {b}}}")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("[{a}, {b}]")),
            (names(), inner.clone()).prop_map(|(a, b)| format!("{a}[{b}]")),
            (names(), inner.clone(), inner.clone()).prop_map(|(a, b, c)| format!("{a}[{b}..{c}]")),
            names().prop_map(|a| format!("{a}.a")),
            inner.clone().prop_map(|a| format!("json({a})")),
            (inner.clone(), inner.clone(), inner).prop_map(|(a, b, c)| format!("({a} ? {b} : {c})")),
        ]
    })
}

fn statement() -> impl Strategy<Value = String> {
    let target = || {
        prop_oneof![
            Just("x"),
            Just("$X"),
            Just("d.a"),
            Just("d[\"b\"]"),
            Just("l[]"),
            Just("l[0]"),
            Just("d"),
            Just("l"),
            Just("$N"),
            Just("d.a.b"),
            Just("dpath(d.q.r)")
        ]
    };
    let by = prop_oneof![Just("="), Just("+="), Just("=??")];
    prop_oneof![
        4 => (target(), by, piece()).prop_map(|(target, by, value)| format!("{target} {by} {value} ?? {value};")),
        1 => (piece(), target(), piece()).prop_map(|(c, t, v)| format!("if ({c} ?? true) {{ {t} = {v}; }};")),
        1 => (piece(), piece(), piece()).prop_map(|(s, c, v)| format!("switch ({s}) {{ case {c}: x = {v}; break; default: done; }};")),
        1 => piece().prop_map(|value| format!("unset(d.a); {value};")),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn programs_end(statements in proptest::collection::vec(statement(), 1..8)) {
        let text = format!("d = {{}}; l = [1]; x = 0; $X = {{\"a\": 1}}; {}", statements.concat());
        let _ = run(&[&text]);
        let _ = run(&[&text, "declare y = $X; y.z = 1;", &text]);
    }

    #[test]
    fn texts_are_read_or_refused(text in "[-a-z0-9$ {}()\\[\\].,;:=?~!/\"'<>+*%#\\\\\n]{0,80}") {
        let _ = findings(&text);
    }
}
