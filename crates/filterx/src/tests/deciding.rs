//! Blocks that only decide, run straight on the message, against the same run as any other.

use super::{compiled, compiled_as, value};
use crate::Outcome;
use filter::FilterContext;
use proptest::prelude::*;
use record::{Batch, ValueType, intern};
use template::sample;

const NAMES: [&str; 6] = ["HOST", "PROGRAM", "A", "B", "N", ".dot.c"];

/// A value of a message: none, a text, or a text with another type.
type Set = Option<(&'static str, ValueType)>;

fn message(given: &[Set]) -> Batch {
    let mut batch = sample::with_values();
    for (name, given) in NAMES.iter().zip(given) {
        let name = intern(name).expect("room");
        match given {
            Some((text, kind)) => batch.set(0, name, text.as_bytes(), *kind),
            None => batch.unset(0, name),
        }
    }
    batch
}

fn context() -> FilterContext {
    let mut cx = FilterContext::new(template::Identity::new("loghost"));
    cx.begin_batch(sample::now());
    cx.render = sample::context();
    cx
}

fn values(batch: &Batch) -> Vec<Option<String>> {
    NAMES.iter().chain(&["MESSAGE"]).map(|name| value(batch, name)).collect()
}

/// What becomes of a message in a batch, and one at a time.
fn both(text: &str, given: &[Set]) -> [(bool, Vec<Option<String>>); 2] {
    let block = compiled(text).expect(text);
    assert!(block.decides, "{text}");
    let (mut batch, mut selection) = (message(given), vec![0]);
    block.run(&mut batch, &mut selection, &mut context(), &mut Vec::new());
    // What is counted is run as it is written.
    let counted = compiled_as(text, true).expect(text);
    let (mut as_written, mut left) = (message(given), vec![0]);
    counted.run(&mut as_written, &mut left, &mut context(), &mut Vec::new());
    assert_eq!((&left, values(&as_written)), (&selection, values(&batch)), "{text}");
    let mut judged = message(given);
    let outcome = block.judge(&mut judged, 0, &mut context()).outcome;
    [(!selection.is_empty(), values(&batch)), (outcome == Outcome::Passed, values(&judged))]
}

#[test]
fn what_only_compares_and_sets_texts_decides() {
    let decides = |text: &str| compiled(text).expect(text).decides;
    for text in [
        "$A = \"x\";",
        "if ($HOST == \"a\") { $A = \"x\"; } elif ($LEVEL_NUM > 5) { $B = \"y\"; };",
        "switch ($HOST) { case \"a\": $A = \"x\"; break; default: $A = \"y\"; break; };",
        "x = parse_kv($B); $A = x.a; if (x[\"b\"] == \"y\" or x.a =~ /5/) { $C = x.b; };",
        "if ($HOST =~ /^a/ and not ($A != \"b\" or 5 < $N)) { if ($A) { $B = \"y\"; }; } else { };",
    ] {
        assert!(decides(text), "{text}");
    }
    for text in [
        "",
        "$A = $B;",
        "$MSG = \"x\";",
        "x = \"y\";",
        "$A = 5;",
        "if ($HOST == \"a\") { drop; };",
        "if (isset($A)) { $A = \"x\"; };",
        "switch ($N) { case 5: $A = \"x\"; break; };",
        "$HOST == \"a\";",
        "x = parse_kv($B);",
        "x = parse_kv($B); $A = x;",
        "x = parse_kv($B); $A = x.a ?? \"\";",
        "x = parse_kv($B, stray_words_key=\"s\"); $A = x.a;",
        "x = parse_kv(\"a=1\"); $A = x.a;",
        "$A = \"x\"; x = parse_kv($B); $A = x.a;",
    ] {
        assert!(!decides(text), "{text}");
    }
}

#[test]
fn what_is_out_of_the_ordinary_is_what_it_was() {
    let given = |a: Set| [Some(("h", ValueType::String)), None, a, None, None, None];
    let text = "$B = \"first\"; if ($A == \"x\") { $A = \"y\"; }; if ($N == \"1\") { $B = \"z\"; };";
    for a in [None, Some(("x", ValueType::String)), Some(("5", ValueType::Int)), Some(("", ValueType::Null))]
    {
        let [batch, judged] = both(text, &given(a));
        assert_eq!(batch, judged, "{a:?}");
        assert!(!batch.0 && batch.1[3].is_none(), "$N is not set: {batch:?}");
    }
}

#[test]
fn pairs_are_taken_out_of_a_text() {
    let text = "x = parse_kv($B); $A = x.a; if (x.n > 3 and x.a != \"y\") { $HOST = x[\"b\"]; };";
    let given = |b| [None, None, None, Some((b, ValueType::String)), None, None];
    for (b, expected) in [
        ("a=1, b=\"two words\" n=5", Some(["1", "two words"])),
        ("a=1 b=2 n=5 a=3 n=4", Some(["3", "2"])),
        ("a=\"x \\\" y\" b=1 n=9", Some(["x \" y", "1"])),
        ("b=1 n=9", None),
        ("a=1 b=2 n=many", Some(["1", ""])),
        ("no pairs", None),
    ] {
        let [batch, judged] = both(text, &given(b));
        assert_eq!(batch, judged, "{b}");
        assert_eq!(batch.0, expected.is_some(), "{b}");
        if let Some([a, host]) = expected {
            assert_eq!(
                (batch.1[2].as_deref(), batch.1[0].as_deref().unwrap_or_default()),
                (Some(a), host),
                "{b}"
            );
        }
    }
    let declared = compiled("declare x = {\"c\": \"kept\"};").expect("compiled");
    let mut batch = message(&given("a=1 n=1"));
    declared.judge(&mut batch, 0, &mut context());
    let (mut selection, mut cx) = (vec![0], context());
    compiled(text).expect("compiled").run(&mut batch, &mut selection, &mut cx, &mut Vec::new());
    compiled("$A = x.n;").expect("compiled").judge(&mut batch, 0, &mut cx);
    assert_eq!(value(&batch, "A").as_deref(), Some("1"), "the variable lives on");
}

fn test() -> impl Strategy<Value = String> {
    let name = || prop_oneof![Just("$HOST"), Just("$A"), Just("$B"), Just("$N"), Just("${.dot.c}")];
    let word = || prop_oneof![Just("\"a\""), Just("\"b\""), Just("\"5\""), Just("\"\"")];
    let leaf = prop_oneof![
        (name(), prop_oneof![Just("=="), Just("!="), Just("eq")], word())
            .prop_map(|(n, by, w)| format!("{n} {by} {w}"))
            .prop_filter("compiled", |text| compiled(&format!("if ({text}) {{}};")).is_ok_and(|b| b.decides)),
        (prop_oneof![name(), Just("$LEVEL_NUM")], prop_oneof![Just(">"), Just("<="), Just("==")], 0..7)
            .prop_map(|(n, by, w)| format!("{n} {by} {w}")),
        (name(), 0..7).prop_map(|(n, w)| format!("{w} < {n}")),
        name().prop_map(|n| format!("{n} =~ /^[a5]?$/")),
        name().prop_map(str::to_owned),
    ];
    leaf.prop_recursive(3, 8, 2, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} and {b})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} or {b})")),
            inner.prop_map(|a| format!("not ({a})")),
        ]
    })
}

fn statement() -> impl Strategy<Value = String> {
    let set = || {
        let name = prop_oneof![Just("$HOST"), Just("$A"), Just("$B"), Just("${.dot.c}")];
        (name, prop_oneof![Just("a"), Just("b"), Just("5"), Just("")])
            .prop_map(|(n, w)| format!("{n} = \"{w}\";"))
    };
    set().prop_recursive(3, 12, 3, move |inner| {
        let body = || proptest::collection::vec(inner.clone(), 0..3).prop_map(|body| body.concat());
        prop_oneof![
            (test(), body(), body()).prop_map(|(t, a, b)| format!("if ({t}) {{ {a} }} else {{ {b} }};")),
            (body(), body(), body(), body()).prop_map(|(a, b, c, d)| format!(
                "if ($A == \"a\") {{ {a} }} elif ($A == \"b\") {{ {b} }} elif ($A == \"5\") {{ {c} }} else {{ {d} }};"
            )),
            (body(), body(), body(), any::<[bool; 2]>()).prop_map(|(a, b, c, ends)| {
                let [first, second] = ends.map(|ends| if ends { "break;" } else { "" });
                format!("switch ($A) {{ case \"a\": {a} {first} case \"b\": {b} {second} default: {c} }};")
            }),
            inner.clone(),
        ]
    })
}

fn given() -> impl Strategy<Value = Set> {
    use ValueType::{Boolean, Int, Json, Null, String};
    let text = prop_oneof![Just("a"), Just("b"), Just("5"), Just("-3"), Just(""), Just("{}")];
    let kind =
        prop_oneof![8 => Just(String), 1 => Just(Int), 1 => Just(Json), 1 => Just(Null), 1 => Just(Boolean)];
    prop_oneof![1 => Just(None), 6 => (text, kind).prop_map(Some)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn as_any_other_block(
        statements in proptest::collection::vec(statement(), 1..4),
        given in proptest::collection::vec(given(), 6),
    ) {
        let [batch, judged] = both(&statements.concat(), &given);
        prop_assert_eq!(batch, judged, "{}", statements.concat());
    }
}
