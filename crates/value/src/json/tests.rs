//! What is read, against what an ordinary reader reads.

use super::numbers::is_shortest;
use super::*;
use crate::{JSON, Key, Print};
use proptest::prelude::*;

fn read(text: &str) -> Result<String, JsonError> {
    let mut trees = Trees::default();
    let mut bytes = text.as_bytes().to_vec();
    let value = read_json(&mut bytes, Span::new(0, text.len()), &mut trees)?;
    let mut out = Vec::new();
    Print { text: &bytes, trees: &trees, style: JSON }.put(value, &mut out);
    Ok(String::from_utf8(out).expect("JSON is UTF-8"))
}

fn check(text: &str, expected: &str) {
    assert_eq!(read(text).as_deref(), Ok(expected), "{text}");
}

fn fails(text: &str, problem: Problem) {
    assert_eq!(read(text).map_err(|e| e.problem), Err(problem), "{text}");
}

#[test]
fn values() {
    check(
        r#" {"a" : [1, -2, 2.50, 1e2, true, false, null], "b": {}} "#,
        r#"{"a":[1,-2,2.5,100.0,true,false,null],"b":{}}"#,
    );
    check(r#""a\n\u0041\ud83d\ude00\ud800\u0000\/""#, "\"a\\nA\u{1f600}\u{fffd}/\"");
    check("[9223372036854775807,-9223372036854775808]", "[9223372036854775807,-9223372036854775808]");
    check("[9223372036854775808]", "[9.223372036854776e18]");
}

#[test]
fn the_last_of_two_members_counts_in_the_place_of_the_first() {
    check(r#"{"a":1,"b":2,"a":3}"#, r#"{"a":3,"b":2}"#);
}

#[test]
fn keys_with_escapes() {
    check(
        r#"{"a\u0062":1,"c":2,"ab":3,"\u0063":4,"x":{"\n":1,"\n":[2,"\t"]}}"#,
        r#"{"ab":3,"c":4,"x":{"\n":[2,"\t"]}}"#,
    );
}

#[test]
fn some_members() {
    let some = |text: &str| {
        let mut trees = Trees::default();
        let mut bytes = text.as_bytes().to_vec();
        let value = read_json_some(&mut bytes, Span::new(0, text.len()), &mut trees, |key| {
            key == b"a" || key == b"d"
        })?;
        let mut out = Vec::new();
        Print { text: &bytes, trees: &trees, style: JSON }.put(value, &mut out);
        Ok(String::from_utf8(out).expect("JSON is UTF-8"))
    };
    let text = r#"{"x":[1,{"a":2}],"a":{"x":[1]},"c":"\n","\u0064":"\t","b":{"a":1}}"#;
    assert_eq!(some(text).as_deref(), Ok(r#"{"a":{"x":[1]},"d":"\t"}"#));
    assert_eq!(some("[1,{\"b\":2}]").as_deref(), Ok("[1,{\"b\":2}]"));
    for bad in [r#"{"x":"\q"}"#, r#"{"x":{"a" 1}}"#, r#"{"x":[1 2]}"#, r#"{"x":1e999}"#, r#"{"x":{}"#] {
        let problem = |result: Result<String, JsonError>| result.map_err(|e| (e.at, e.problem));
        assert_eq!(problem(some(bad)), problem(read(bad)), "{bad}");
        assert!(read(bad).is_err(), "{bad}");
    }
}

#[test]
fn leniently() {
    check(r#"{"a","b"}"#, r#"{"a":"b"}"#);
    check("[1,2,]", "[1,2]");
    check("[007]", "[7]");
    check("[\"a\tb\"]", r#"["a\tb"]"#);
}

#[test]
fn what_is_wrong() {
    fails("{", Problem::Incomplete);
    fails("[1", Problem::Incomplete);
    fails("\"abc", Problem::Incomplete);
    fails("[1E400]", Problem::Number);
    fails("{} {}", Problem::More);
    fails("[x]", Problem::Token);
    fails("{1:2}", Problem::Unexpected);
    fails("[1 2]", Problem::Unexpected);
    fails(&"[".repeat(JSON_DEPTH_MAX + 1), Problem::TooDeep);
    let deep = format!("{}{}", "[".repeat(JSON_DEPTH_MAX), "]".repeat(JSON_DEPTH_MAX));
    check(&deep, &deep);
}

fn json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(serde_json::Value::from),
        any::<i64>().prop_map(serde_json::Value::from),
        any::<i32>().prop_map(|n| serde_json::Value::from(f64::from(n) / 8.0)),
        "\\PC*".prop_map(serde_json::Value::from),
        "[\u{1}-\u{1f}\"\\\\/a]*".prop_map(serde_json::Value::from),
    ];
    leaf.prop_recursive(4, 64, 24, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..24).prop_map(serde_json::Value::from),
            proptest::collection::hash_map("[a-f]{0,3}", inner, 0..24)
                .prop_map(|pairs| serde_json::Value::Object(pairs.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read_as_the_same(value in json()) {
        let shown = read(&value.to_string()).expect("good JSON");
        let again: serde_json::Value = serde_json::from_str(&shown).expect("good JSON");
        prop_assert_eq!(again, value);
    }

    #[test]
    fn doubles_are_read_as_they_were(value in any::<f64>().prop_filter("finite", |n| n.is_finite())) {
        let mut out = Vec::new();
        crate::put_double(value, &mut out);
        prop_assert_eq!(crate::double_of(&out).map(f64::to_bits), Some(value.to_bits()));
    }

    #[test]
    fn what_was_read_before_decides_nothing(texts in proptest::collection::vec((object(), 1usize..3, any::<bool>()), 1..8)) {
        let mut kept = Trees::default();
        for (text, times, clears) in texts {
            for _ in 0..times {
                let mut bare = Trees::default();
                let first = outcome(&text, &mut bare);
                if clears {
                    kept.clear();
                    prop_assert_eq!(outcome(&text, &mut kept), first);
                } else {
                    // Nodes have other numbers here.
                    let printed = |outcome: String| outcome.split(" [").next().map(str::to_owned);
                    prop_assert_eq!(printed(outcome(&text, &mut kept)), printed(first));
                }
            }
        }
    }

    #[test]
    fn nothing_makes_it_fall(bytes in proptest::collection::vec(prop_oneof![
        Just(b'{'), Just(b'}'), Just(b'['), Just(b']'), Just(b'"'), Just(b'\\'), Just(b'u'), Just(b','), Just(b':'),
        Just(b'1'), any::<u8>()
    ], 0..60)) {
        let mut trees = Trees::default();
        let mut text = bytes.clone();
        let _ = read_json(&mut text, Span::new(0, bytes.len()), &mut trees);
    }
}

/// What is read, whether its text is that of the whole, and what some keys have; or where it fails.
fn outcome(text: &str, trees: &mut Trees) -> String {
    let mut bytes = text.as_bytes().to_vec();
    match read_json(&mut bytes, Span::new(0, text.len()), trees) {
        Ok(value) => {
            let mut out = Vec::new();
            Print { text: &bytes, trees, style: JSON }.put(value, &mut out);
            let whole = value.node().map(|node| trees.whole_text(node));
            let keys = ["a", "b", "ab", "a-key-of-many-bytes", "none"];
            let found = keys.map(|key| trees.get(value.node()?, Key::Text(key.as_bytes()), &bytes));
            format!("{} {whole:?} {found:?}", String::from_utf8_lossy(&out))
        }
        Err(error) => format!("{error:?}"),
    }
}

fn object() -> impl Strategy<Value = String> {
    let member = (
        prop_oneof![
            8 => "(a|b|ab|c|d1|a-key|a-key-of-13)",
            1 => "(a-key-of-many-bytes|a-key-of-14b|\\\\u0061|)",
        ],
        prop_oneof![8 => Just(":"), 1 => Just(" :"), 1 => Just(": "), 1 => Just(",")],
        prop_oneof![
            8 => "(12|\"x\"|\"a text that is not short\"|true|false|null|\\{\"a\":1,\"c\":\\{\\}\\}|\\[\\{\"a\":2\\}\\])",
            1 => "(\"\\\\n\"|\"\"|01|-1|2.50|nul|\"open|\\{\"a\" 1\\})",
        ],
        prop_oneof![8 => Just(","), 1 => Just(", "), 1 => Just(",,")],
    );
    proptest::collection::vec(member, 0..9).prop_map(|members| {
        let all: String = members
            .into_iter()
            .map(|(key, colon, value, comma)| format!("\"{key}\"{colon}{value}{comma}"))
            .collect();
        format!("{{{}}}", all.strip_suffix(',').unwrap_or(&all))
    })
}

/// A change of what was read: in which container (one for each level, by its place there), and what.
type Change = (Vec<usize>, usize, u8);

/// Changes a container as blocks do: whoever changes one puts it into its cell again.
fn change(trees: &mut Trees, text: &[u8], value: Value, (way, place, kind): &Change) {
    let Some(node) = value.node() else { return };
    let is_dict = matches!(value, Value::Dict(_));
    let width = if is_dict { 2 } else { 1 };
    let count = trees.cells(node).len() / width;
    if let Some((first, rest)) = way.split_first()
        && count > 0
    {
        let cell = first % count * width + width - 1;
        let Some(inner) = trees.cell(node, cell) else { return };
        if let Some(inside) = inner.node() {
            let owned = inner.with_node(trees.own(inside).expect("room"));
            trees.set_cell(node, cell, owned);
            return change(trees, text, owned, &(rest.to_vec(), *place, *kind));
        }
    }
    match kind {
        0 if count > 0 => trees.set_cell(node, place % count * width + width - 1, Value::Integer(7)),
        1 if count > 0 => trees.remove(node, place % count * width, width),
        2 if is_dict => trees.set(node, Value::Integer(5), Value::Boolean(true), text).expect("room"),
        2 => trees.push(node, Value::Null).expect("room"),
        3 => trees.share(value),
        _ => {}
    }
}

/// What is printed after changes, of a container whose text is known, and of one whose text is forgotten.
fn printed(text: &str, changes: &[Change]) -> [String; 2] {
    [false, true].map(|forgets| {
        let (mut text, mut trees) = (text.as_bytes().to_vec(), Trees::default());
        let span = Span::new(0, text.len());
        let Ok(mut value) = read_json(&mut text, span, &mut trees) else { return String::new() };
        if forgets {
            trees.forget_origins(0);
        }
        for one in changes {
            if let Some(node) = value.node() {
                value = value.with_node(trees.own(node).expect("room"));
            }
            change(&mut trees, &text, value, one);
        }
        let mut out = Vec::new();
        Print { text: &text, trees: &trees, style: JSON }.put(value, &mut out);
        String::from_utf8(out).expect("UTF-8")
    })
}

#[test]
fn what_was_not_changed_is_printed_as_it_was_read() {
    let text = r#"{"a":1,"b":{"c":[1,2.5],"d":"x\"y"},"e":null}"#;
    for (changes, expected) in [
        (&[][..], text),
        (&[(vec![], 0, 0)], r#"{"a":7,"b":{"c":[1,2.5],"d":"x\"y"},"e":null}"#),
        (&[(vec![], 2, 0)], r#"{"a":1,"b":{"c":[1,2.5],"d":"x\"y"},"e":7}"#),
        (&[(vec![1], 1, 0)], r#"{"a":1,"b":{"c":[1,2.5],"d":7},"e":null}"#),
        (&[(vec![1, 0], 0, 2)], r#"{"a":1,"b":{"c":[1,2.5,null],"d":"x\"y"},"e":null}"#),
        (&[(vec![], 0, 2), (vec![], 0, 0)], r#"{"a":7,"b":{"c":[1,2.5],"d":"x\"y"},"e":null,"5":true}"#),
        (&[(vec![], 1, 1), (vec![], 0, 0)], r#"{"a":7,"e":null}"#),
    ] {
        assert_eq!(printed(text, changes), [expected, expected], "{changes:?}");
    }
    for other in [
        r#"{"a" :1}"#,
        r#"{"a":1,}"#,
        r#"{,"a":1}"#,
        r#"{"a",1}"#,
        r#"{"a":01}"#,
        r#"{"a":1.50}"#,
        r#"{"a":-0}"#,
        r#"{"a":"\/"}"#,
        r#"{"a":"\u0041"}"#,
        r#"{"\n":1}"#,
        r#"{"a":1,"a":2}"#,
        r#"[1,]"#,
        r#"[,1]"#,
        "{\"a\":\"\u{7f}\"}",
        "{\"a\":\"\t\"}",
        r#"[{"a":1,"a":2}]"#,
        " {} ",
        "[1e2]",
        "[[1 ],2]",
        "[1.25]",
        "[-0.0]",
        "[0.0001]",
        "[0.00001]",
        "[00.5]",
        "[0.10]",
        "[0.30000000000000004]",
        "[0.30000000000000001]",
        "[123456789012345.5]",
        "[12345678901234567.0]",
    ] {
        let [known, forgotten] = printed(other, &[]);
        assert_eq!(known, forgotten, "{other}");
    }
}

#[test]
fn the_text_is_remembered_where_it_is_what_would_be_printed() {
    let whole = |text: &str| {
        let (mut bytes, mut trees) = (text.as_bytes().to_vec(), Trees::default());
        let span = Span::new(0, bytes.len());
        let value = read_json(&mut bytes, span, &mut trees).expect("JSON");
        trees.whole_text(value.node().expect("a container")).map(|kept| kept == span)
    };
    assert_eq!(whole(r#"{"a":1,"b":{"c":[1,2.5],"d":"x\"y"},"e":null}"#), Some(true));
    assert_eq!(whole(r#"{"a" :1}"#), None);
    assert_eq!(whole(r#"{"a":1,"a":2}"#), None);
    assert_eq!(whole("[1e2]"), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn text_that_is_kept_is_what_would_be_printed(
        value in json(),
        spaced in any::<bool>(),
        changes in proptest::collection::vec((proptest::collection::vec(0usize..9, 0..4), 0usize..9, 0u8..4), 0..5),
    ) {
        let text = if spaced { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) };
        let [known, forgotten] = printed(&text.expect("JSON"), &changes);
        prop_assert_eq!(known, forgotten);
    }

    #[test]
    fn the_shortest_text_of_a_double_is_known(whole in 0u64..10_000_000, fraction in "[0-9]{1,8}", minus in any::<bool>()) {
        let text = format!("{}{whole}.{fraction}", if minus { "-" } else { "" });
        let mut out = Vec::new();
        crate::put_double(crate::double_of(text.as_bytes()).expect("a number"), &mut out);
        prop_assert!(!is_shortest(text.as_bytes()) || out == text.as_bytes(), "{text}");
    }
}
