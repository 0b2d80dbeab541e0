//! Details of the language in which functions went their own way once.

use super::{check, compiled_as, findings, shown};
use filter::FilterContext;
use record::intern;
use std::sync::atomic::Ordering;
use template::sample;

#[test]
fn functions_of_texts_take_nothing_else() {
    for name in ["base64_decode", "hex_decode", "urlencode", "urldecode", "utf8_validate", "utf8_sanitize"] {
        for value in ["5", "null", "[\"a\"]", "bytes(\"a\")"] {
            let given = shown(&format!("x = {value}; {name}(x)"));
            assert!(
                given.starts_with("error: Argument must be string typed, got: "),
                "{name} {value}: {given}"
            );
        }
    }
    for name in ["base64_encode", "hex_encode", "md5", "digest"] {
        for value in ["5", "null", "[\"a\"]"] {
            let given = shown(&format!("x = {value}; {name}(x)"));
            assert!(
                given.starts_with("error: Argument must be string or bytes typed, got: "),
                "{name}: {given}"
            );
        }
    }
    check("x = bytes(\"foo\"); base64_encode(x) + hex_encode(x)", "\"Zm9v666f6f\"");
    check("x = 5; metrics_labels(x)", "error: Argument must be a dict, got: integer");
    check("x = [\"a\", \"b\"]; metrics_labels(x)", "error: Argument must be a dict, got: list");
    check("x = 5; format_csv({\"a\":1}, columns=x)", "error: columns must be a list, got: integer");
    check("x = 5; len(x)", "error: Object does not support len(): integer");
}

#[test]
fn elements_of_what_is_made_are_asked_for() {
    check("isset(json('{\"a\":{\"b\":1}}').a.b)", "true");
    check("isset(parse_kv($MSG).a)", "false");
    check("isset(json($MSG).a)", "false");
    check("isset([1, 2][1]) and not isset([1, 2][2])", "true");
    check("isset(\"abc\".a)", "false");
    check("isset(\"$MSG and more\")", "false");
    check("isset([done][0]); x", "");
}

#[test]
fn containers_that_nobody_holds_are_changed_too() {
    check("set_fields(json('{\"a\":1}'), overrides={\"b\":2})", "{\"a\":1,\"b\":2}");
    check(
        "d = {}; [set_fields(set_fields(d, overrides={\"b\":2}), defaults={\"c\":3}), d]",
        "[{\"b\":2,\"c\":3},{\"b\":2}]",
    );
    check("d = {\"a\":{\"b\":1}}; flatten(d ?? {}); d", "{\"a\":{\"b\":1}}");
    check("flatten(parse_kv(\"a=1\")) and unset_empties([1]) and unset_empties({\"a\":\"\"})", "true");
    check("x = 5; flatten(x + 1)", "error: Argument must be a dict");
    for text in ["unset(\"abc\");", "unset(json(\"{}\").a);", "move(5);"] {
        assert_eq!(findings(text).len(), 1, "{text}");
    }
}

#[test]
fn names_of_groups_may_be_those_of_others() {
    check("regexp_search(\"b\", /(?<n>a)|(?<n>b)/)", "{\"n\":\"b\"}");
    check("regexp_search(\"ab\", /(?<n>a)(?<n>b)/)", "{\"n\":\"b\"}");
    check("regexp_search(\"ab\", /(?<n>a)(?<n>b)/, list_mode=true)", "[\"a\",\"b\"]");
    check("x = regexp_search(\"ab\", /(?J)(?<n>a)(?<m>b)(?<n>c)?/); x.n", "\"a\"");
    check("\"b\" =~ /(?<n>a)|(?<n>b)/", "true");
    check("regexp_subst(\"ab\", /(?<n>a)|(?<n>b)/, \"[\\\\2]\", global=true)", "\"[\\\\2][b]\"");
}

#[test]
fn dots_at_the_beginning_of_names_are_written() {
    for (text, pattern, expected) in [
        ("x/.a", "x/*", "false"),
        ("x/.a", "x/?a", "false"),
        ("x/.a", "x/[.]a", "false"),
        ("x/.a", "x/.*", "true"),
        ("x/a.b", "x/*", "true"),
        (".a", "*a", "false"),
        (".a", "[.]a", "false"),
        (".a", "\\\\.a", "true"),
        (".a", ".*", "true"),
        ("a.b", "a?b", "true"),
        ("a/.b/c", "*/*/c", "false"),
    ] {
        check(&format!("glob_match(\"{text}\", \"{pattern}\")"), expected);
    }
}

#[test]
fn seconds_have_all_their_digits() {
    check("strptime(\"1700000000\", \"%s\")", "datetime(1700000000.000000)");
    check("strptime(\"1700000000123\", \"%s\")", "datetime(1700000000123.000000)");
    check("strptime(\"99999999999999999999\", \"%s\")", "null");
    check("strptime(\"9223372036854775807\", \"%s\")", "null");
    check("strftime(\"%300d\", datetime(1))", "null");
    check("len(strftime(\"%255d\", datetime(1)))", "255");
    check("x = \"1.0+1:99999999\"; datetime(x) ?? 0", "0");
}

#[test]
fn what_fails_changes_nothing() {
    check(
        "d = {\"x\":5,\"a\":{\"c\":1},\"b\":{1:2}}; flatten(d) ?? 1; d",
        "{\"x\":5,\"a\":{\"c\":1},\"b\":{1:2}}",
    );
    check("x = 5; switch (x) { case nosuch..10: r = 1; break; default: r = 2; } r", "2");
    check("x = 5; switch (x) { case 1..nosuch: r = 1; break; case 5: r = 3; } r", "3");
}

#[test]
fn arguments_are_known_when_they_can_be_computed() {
    check("startswith(\"Abc\", \"a\", ignorecase=not false)", "true");
    check("includes(\"abcdef\", \"ef\", limit=2 + 2)", "false");
    assert_eq!(findings("startswith(\"a\", \"a\", ignorecase=1);").len(), 1);
    check("parse_csv(\"(a,b),{c,d},'e\", quote_pairs=[\"()\", \"{}\"])", "[\"a,b\",\"c,d\",\"'e\"]");
    check("parse_csv(\"(a,b),c\", quote_pairs=\"()\")", "[\"a,b\",\"c\"]");
}

#[test]
fn texts_become_longer_only_where_something_is_replaced() {
    let text = "a".repeat(1 << 20);
    let given = shown(&format!("len(str_replace(\"{text}\", \"b\", \"{}\"))", "c".repeat(1000)));
    assert_eq!(given, (1 << 20).to_string());
    let given = shown(&format!("x = \"{text}\"; len(str_replace(x, \"a\", \"{}\"))", "c".repeat(1000)));
    assert_eq!(given, "error: Too much text made of one message");
}

#[test]
fn bodies_of_opentelemetry_are_bytes() {
    check("l = otel_logrecord(); l.body = protobuf(bytes(\"x\")); l.body", "bytes(\"x\")");
    check("[1] + otel_array([2, [3]])", "[1,2,otel_array([3])]");
    check("d = {\"a\":1}; d += otel_kvlist({\"b\":2}); d + otel_kvlist({\"a\":3})", "{\"a\":3,\"b\":2}");
    check("dict_to_pairs(otel_kvlist({\"a\":1}), \"k\", \"v\")", "[{\"k\":\"a\",\"v\":1}]");
}

#[test]
fn conditions_are_joined_by_strength_and_without_end() {
    for (text, holds) in [
        ("true or not false and false", true),
        ("false or not true and nosuch", false),
        ("false or not false and true", true),
        ("false and not nosuch or true", true),
        ("not true or true and not false", true),
        ("1 == not true", false),
    ] {
        check(text, if holds { "true" } else { "false" });
    }
    for (word, last) in [("or", "true"), ("and", "false")] {
        let many = |value: &str| vec![format!("x == {value}"); 5000].join(&format!(" {word} "));
        let value = if last == "true" { "2" } else { "1" };
        check(&format!("x = 1; {} {word} {last}", many(value)), last);
        check(&format!("x = 1; {} {word} {last} {word} nosuch", many(value)), last);
        check(&format!("x = 1; {} {word} nosuch", many(value)), "error: No such variable: \"nosuch\"");
    }
}

/// From stats(level(3)) on. Counters are those of the process, so only names that no other test has are asked
/// for.
#[test]
fn evaluations_are_counted_by_kind_and_name() {
    let block = compiled_as(
        "tallied = {\"kt\": 3}; \
         if ($TALLIED == \"no\") { len($TALLIED); } \
         elif (isset(tallied) and tallied.kt > 2) { $OUT = tallied.kt ?? ($TALLIED ?? \"\"); };",
        true,
    )
    .expect("compiles");
    let (mut batch, mut cx) = (sample::with_values(), FilterContext::new(template::Identity::new("loghost")));
    batch.set(0, intern("TALLIED").expect("room"), b"yes", record::ValueType::String);
    let mut selection = vec![0];
    block.run(&mut batch, &mut selection, &mut cx, &mut Vec::new());
    block.judge(&mut batch, 0, &mut cx);
    assert_eq!(selection, [0]);
    let tally = block.tally.as_ref().expect("counted");
    let cells = tally.cells.get().expect("it has run");
    let mut counted: Vec<(&str, &str, u64)> = tally
        .counted
        .iter()
        .zip(cells)
        .filter(|((_, name), _)| !name.is_empty())
        .map(|((kind, name), cell)| (*kind, &**name, cell.as_ref().expect("room").load(Ordering::Relaxed)))
        .collect();
    counted.sort_unstable();
    // isset() does not evaluate what it is about; what stands behind `??` is not evaluated.
    let expected = [
        ("function", "len()", 0),
        ("getattr", "kt", 4),
        ("variable", "$TALLIED", 2),
        ("variable", "tallied", 4),
    ];
    assert_eq!(counted, expected);
}
