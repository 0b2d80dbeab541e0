//! Operators, statements, and what they do to the message.

use super::{check, run, shown, value};
use crate::Outcome;

#[test]
fn arithmetic() {
    check("7 / 2", "3");
    check("-7 / 2", "-3");
    check("7 / 2.0", "3.5");
    check("7 % 3", "1");
    check("-7 % 3", "-1");
    check(
        "x = 7.0; x % 2",
        "error: Failed to evaluate modulo operator: Left hand side must be an integer, got: double",
    );
    check("x = 0; 1 / x", "error: Failed to evaluate division operator: Division by zero");
    check("x = 9223372036854775807; x + 1", "error: Failed to perform addition: integer overflow");
    check("2 * 3.5", "7.0");
    check("x = 5; -x", "-5");
    check("0.1 + 0.2", "0.30000000000000004");
    check("1.5 + 1", "2.5");
    check("true - 0", "1");
    check("\"a\" + \"b\"", "\"ab\"");
    check(
        "x = \"a\"; x + 1",
        "error: Failed to add object to string: Right hand side must be string, got: integer",
    );
    check("[1] + [2, 3]", "[1,2,3]");
    check("{\"a\":1,\"b\":1} + {\"b\":2,\"c\":3}", "{\"a\":1,\"b\":2,\"c\":3}");
    check("bytes(\"a\") + bytes(\"b\")", "bytes(\"ab\")");
    check("datetime(1000000) + 500000", "datetime(1.500000)");
    check("datetime(1000000) + 1.5", "datetime(2.500000)");
    check("x = 5; x += 0; x", "5");
    check("x = [1]; x += [2]; x", "[1,2]");
    check("x = [1]; x += x; x", "[1,1]");
    check("d = {\"a\":1}; e = d; d += {\"b\":2}; [d, e]", "[{\"a\":1,\"b\":2},{\"a\":1}]");
}

#[test]
fn comparison() {
    for (text, holds) in [
        ("1 == 1.0", true),
        ("1 === 1.0", false),
        ("\"1\" == 1", true),
        ("\"1\" === 1", false),
        ("\"01\" == 1", true),
        ("\"01\" eq 1", false),
        ("\"a\" < \"b\"", true),
        ("\"10\" < \"9\"", true),
        ("10 lt 9", true),
        ("\"10\" < 9", false),
        ("null == false", false),
        ("null == null", true),
        ("null != 0", true),
        ("null < 1", true),
        ("true == \"1\"", true),
        ("true == \"true\"", false),
        ("[1] == [1]", false),
        ("[1] != [1]", true),
        ("[1] eq [1]", true),
        ("{\"a\":1} eq '{\"a\":1}'", true),
        ("1.0 eq 1", false),
        ("1.0 eq \"1.0\"", true),
        ("datetime(1) == 1", true),
        ("bytes(\"a\") == \"a\"", false),
        ("not 1 == 2", true),
        ("3 > 2 == true", true),
        ("x = \"1\"; x == \"1\"", true),
        ("x = 1; x == \"1\"", true),
        ("x = 1; x != \"a\"", true),
        ("1 in [1, 2]", true),
        ("\"1\" in [1, 2]", false),
        ("1.0 in [1, 2]", false),
        ("\"a\" in {\"a\": null}", true),
        ("\"a\" in {}", false),
        ("3 not in [1]", true),
        ("[1] in [[1], 2]", false),
        ("\"abc\" =~ \"b\"", true),
        ("\"ABC\" =~ /(?i)b/", true),
        ("\"abc\" !~ /z/", true),
    ] {
        check(text, if holds { "true" } else { "false" });
    }
}

#[test]
fn logic() {
    check("null ?? 5", "5");
    check("nosuch ?? 5", "5");
    check("nosuch.a.b ?? \"d\"", "\"d\"");
    check("0 ?? 5", "0");
    check("0 ?: 5", "5");
    check("\"\" ? 1 : 2", "2");
    check("[] ? 1 : 2", "1");
    check("\"0\" and true", "true");
    check("false or \"x\"", "true");
    check("nosuch or true", "error: No such variable: \"nosuch\"");
    check("true or nosuch", "true");
    check("isset(nosuch)", "false");
    check("x = null; isset(x)", "true");
    check("x = {\"a\":1}; isset(x.b)", "false");
    check("isset(nosuch.a)", "false");
    check("isset(\"abc\")", "false");
    check("isset(\"$MSG\")", "true");
    check("isset($YEAR)", "true");
    check("$NOSUCH == 1 or true", "error: Variable is unset: \"$NOSUCH\"");
}

#[test]
fn slices() {
    check("s = \"example\"; s[1..3]", "\"xa\"");
    check("s = \"example\"; s[..-2]", "\"examp\"");
    check("s = \"example\"; s[-3..]", "\"ple\"");
    check("s = \"example\"; s[3..100]", "\"mple\"");
    check(
        "s = \"example\"; s[4..2]",
        "error: Failed to evaluate string slicing operator: Start index must not be greater than end index",
    );
    check("s = \"example\"; s[0]", "error: Failed to get-subscript from object: 0");
}

#[test]
fn containers() {
    check("l = [1,2,3]; l[-1]", "3");
    check("l = [1,2,3]; l[3]", "error: Failed to get-subscript from object: 3");
    check("l = []; l[0] = \"a\"; l[] = \"b\"; l", "[\"a\",\"b\"]");
    check("l = [1]; l[5] = 1; l", "error: Failed to set element of object: set-subscript() method failed");
    check("d = {}; d.x.y = 1; d", "error: Failed to get-attribute from object: Failed to evaluate key");
    check("d = {}; dpath(d.x.y) = 1; d", "{\"x\":{\"y\":1}}");
    check("d = {}; dpath(d.x.y) += {\"z\":1}; dpath(d.x.q) =?? nosuch; d", "{\"x\":{\"y\":{\"z\":1}}}");
    check("d = {\"a\":1}; e = d; e.a = 2; d", "{\"a\":1}");
    check("d = {\"a\":1}; d.self = d; d", "{\"a\":1,\"self\":{\"a\":1}}");
    check("d = {\"a\":{\"b\":1}}; e = d.a; e.b = 2; d.a.b = 3; [d, e]", "[{\"a\":{\"b\":3}},{\"b\":2}]");
    check("{1:\"i\", \"1\":\"s\", true:\"b\"}", "{1:\"i\",\"1\":\"s\",true:\"b\"}");
    check("k = null; {k: 1}", "error: Failed to create literal container: Failed to set value in container");
    check("(1, \"a\")", "(1,\"a\")");
    check("(1,)", "(1,)");
    check("t = (1, {\"a\":1}); t[1].a = 2; t", "(1,{\"a\":2})");
    check("t = (1,); t[0] = 2; t", "error: Failed to set element of object: set-subscript() method failed");
    check("x =?? nosuch; x = x ?? 1; x =?? null; x", "1");
    check("d = {\"a\":[1,2,3]}; unset(d.a[1]); d", "{\"a\":[1,3]}");
    check("d = {\"a\":1}; m = move(d.a); [m, d]", "[1,{}]");
    check("d = {}; d[\"a b\"] = 1; d[1] = 2; d", "{\"a b\":1,1:2}");
}

#[test]
fn dicts_with_known_keys_are_as_any_other() {
    // The second is built pair by pair.
    for (before, pairs) in [
        ("", "'a':1,'b':$HOST,'c':null,'d':true,'e':'text','f':-7"),
        ("", "'a':$HOST"),
        ("", "'a':1"),
        ("", "'a':1.50,'b':2.0"),
        ("", r#"'a\"b':1,'c':$HOST"#),
        ("", r"'a':'x\ny','b':'','':$HOST"),
        ("x = [1,{'y':$HOST}];", "'a':x,'b':{'c':x,'d':{'e':1}},'f':[]"),
    ] {
        let (before, pairs) = (before.replace('\'', "\""), pairs.replace('\'', "\""));
        for change in
            ["", "d.a = 2;", "d.z = $HOST;", "unset(d.a);", "d.a = d; d.a = 3;", "e = d; e.a = \"e\";"]
        {
            let made = shown(&format!("{before} d = {{{pairs}}}; {change} d"));
            let built = shown(&format!("{before} k = \"_\"; d = {{k:0,{pairs}}}; unset(d[k]); {change} d"));
            assert_eq!(made, built, "{pairs} {change}");
            assert!(made.starts_with('{'), "{made}");
        }
    }
    check(
        "d = {\"a\":{\"b\":$HOST}}; e = d; e.a.b = 2; [d, e]",
        "[{\"a\":{\"b\":\"host\"}},{\"a\":{\"b\":2}}]",
    );
    check(
        "d = {\"a\":$HOST,\"b\":1}; d += {\"b\":2,\"c\":$HOST}; d",
        "{\"a\":\"host\",\"b\":2,\"c\":\"host\"}",
    );
    check("{\"a\":1,\"b\":nosuch} ?? 7", "7");
    let many = |count: usize| (0..count).map(|n| format!("\"k{n}\":$HOST")).collect::<Vec<_>>().join(",");
    for count in [64, 65] {
        check(&format!("{{{}}}", many(count)), &format!("{{{}}}", many(count).replace("$HOST", "\"host\"")));
    }
}

#[test]
fn what_a_block_sets_is_seen_behind_it() {
    let (batch, _) = run(&[
        "$X = {\"a\":[1]}; $N = 5; $L = [\"a\",\"b c\"]; $B = true; $E = null; $T = datetime(1.5);",
        "$X.a[] = \"z\"; $M = $X.a[0] + $N; $F = 1.5; $P = ip(\"10.0.0.1\");",
    ])
    .expect("runs");
    let value = |name: &str| value(&batch, name).unwrap_or("unset".to_owned());
    assert_eq!(value("X"), "{\"a\":[1,\"z\"]}");
    assert_eq!((value("N"), value("M"), value("F")), ("5".into(), "6".into(), "1.5".into()));
    assert_eq!((value("L"), value("B"), value("E")), ("a,\"b c\"".into(), "true".into(), "".into()));
    assert_eq!((value("T"), value("P")), ("1.500000+00:00".into(), "10.0.0.1".into()));
}

#[test]
fn a_failed_block_leaves_no_trace() {
    let (batch, outcome) = run(&["$X = 1; done; $X = 2;"]).expect("runs");
    assert_eq!((outcome, value(&batch, "X").as_deref()), (Outcome::Passed, Some("1")));
    assert_eq!(
        run(&["$X = 1; false;"]).err().as_deref(),
        Some("error: bailing out due to a falsy expr: false")
    );
    assert_eq!(
        run(&["$X = 1; drop;"]).map(|(batch, outcome)| (value(&batch, "X"), outcome)),
        Ok((None, Outcome::Dropped))
    );
    assert!(run(&["$MSG == \"hello world\" and drop; false;"]).is_ok_and(|(_, o)| o == Outcome::Dropped));
}

#[test]
fn declared_variables_live_on_and_others_do_not() {
    let (batch, _) = run(&[
        "declare d = {\"a\":1}; x = 1;",
        "d.a = 2; y = x ?? \"gone\"; $Y = y;",
        "$D = d.a; unset(d);",
        "$Z = d ?? 0;",
    ])
    .expect("runs");
    assert_eq!(value(&batch, "D").as_deref(), Some("2"));
    assert_eq!(value(&batch, "Y").as_deref(), Some("gone"));
    assert_eq!(value(&batch, "Z").as_deref(), Some("0"));
}

#[test]
fn conditions_and_cases() {
    let branch = |x: &str| {
        let text = "if (x == 1) { r = \"one\"; } elif (x == 2) { r = \"two\"; break; r = \"no\"; } else { r = \"more\"; } r";
        super::shown(&format!("x = {x}; {text}"))
    };
    assert_eq!([branch("1"), branch("2"), branch("3")], ["\"one\"", "\"two\"", "\"more\""]);
    let case = |x: &str| {
        let text = "switch (x) { case 1..3: r = \"low\"; break; case \"a\": r += \"A\"; case \"b\": r += \"B\"; break; \
                    case 5: r = \"five\"; break; default: r = \"else\"; }";
        super::shown(&format!("x = {x}; r = \"\"; {text} r"))
    };
    let all = [case("1"), case("2.5"), case("3"), case("\"a\""), case("\"b\""), case("5")];
    assert_eq!(all, ["\"low\"", "\"low\"", "\"else\"", "\"AB\"", "\"B\"", "\"five\""]);
    check(
        "x = \"q\"; switch (x) { case 1..2: true; }; 1",
        "error: Selector of a switch with ranges must be an integer or double, got: string",
    );
}

#[test]
fn json_of_the_message_keeps_its_bytes_until_it_changes() {
    let (batch, _) = run(&["$J = json('{\"b\": 1}');", "$K = $J; x = $J.b;"]).expect("runs");
    assert_eq!(value(&batch, "J").as_deref(), Some("{\"b\":1}"));
    assert_eq!(value(&batch, "K").as_deref(), Some("{\"b\":1}"));
}
