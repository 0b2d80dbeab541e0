//! Every rule of `json-parser()`, by example; compared with syslog-ng 3.38 with types (@version 4.0).

use crate::testing::{batch, check, check_bytes, check_codes, context, parser};
use proptest::prelude::*;
use record::{Demand, intern};

const PLAIN: &str = "json-parser(prefix(\"p.\"))";

#[test]
fn values_and_types() {
    for (input, expected) in [
        (
            r#"{"a":1,"b":"x","c":{"d":true,"e":null,"f":1.5},"j":{}}"#,
            "p.a=int:1|p.b=x|p.c.d=boolean:true|p.c.e=null:|p.c.f=double:1.500000",
        ),
        (r#"{"g":[1,2],"h":["a","b c"],"i":[]}"#, "p.g=json:[1,2]|p.h=list:a,\"b c\"|p.i=list:"),
        (
            r#"{"a":[1,"a"],"b":["a",null],"c":[true,1.5]}"#,
            "p.a=json:[1,\"a\"]|p.b=json:[\"a\",null]|p.c=json:[true,1.5]",
        ),
        (
            r#"{"a":[{"b":1},["c",2],"x/y",null,true,1.50, "\u00e9\n"]}"#,
            "p.a=json:[{\"b\":1},[\"c\",2],\"x\\/y\",null,true,1.50,\"é\\n\"]",
        ),
        (r#"{"a":["é\u0001/\"","'"]}"#, "p.a=list:'é\\x01/\"',\"'\""),
        (
            r#"{"a":12345678901234567890123,"b":-99999999999999999999,"c":9223372036854775808}"#,
            "p.a=int:9223372036854775807|p.b=int:-9223372036854775808|p.c=int:9223372036854775807",
        ),
        (
            r#"{"a":1e5,"b":-0,"c":0.1,"d":1E400,"e":01,"f":-0.0}"#,
            "p.a=double:100000.000000|p.b=int:0|p.c=double:0.100000|p.d=double:inf|p.e=int:1|p.f=double:-0.000000",
        ),
        (r#"{"a":"\u00e9\ud83d\ude00\ud800x\/\b\f\n\r\t\"\\"}"#, "p.a=é😀\u{fffd}x/\u{8}\u{c}\n\r\t\"\\"),
        (
            r#"{"a":True,"b":FALSE,"c":NULL,"d":NaN,"e":Infinity,"f":-Infinity}"#,
            "p.a=boolean:true|p.b=boolean:false|p.c=null:|p.d=double:nan|p.e=double:inf|p.f=double:-inf",
        ),
        (r#"{"a":1,"a":2}"#, "p.a=int:2"),
        ("{\"a\":\"tab\tin\"}", "p.a=tab\tin"),
        (r#"{"a":"x\u0000y"}"#, "p.a=x"),
        (r#"{"a\u0062":1}"#, "p.ab=int:1"),
        ("{}", ""),
    ] {
        check(PLAIN, input, expected);
    }
    check(
        PLAIN,
        r#"{"a":[{},12345678901234567890,-99999999999999999999,07]}"#,
        "p.a=json:[{},12345678901234567890,-9223372036854775808,7]",
    );
    check_bytes(PLAIN, b"{\"a\":\"\xff\xfe\"}", "p.a=\u{fffd}\u{fffd}");
}

#[test]
fn what_is_taken_and_what_not() {
    for input in [
        "{\"a\":1} trailing",
        " {\"a\":1}",
        "{'a':1}",
        "{\"a\":1,}",
        "{\"a\" : 1 }",
        "{\"a\":/* c */1}",
        "{\"a\":1}{\"b\":2}",
        "// c\n{\"a\":1}",
    ] {
        check(PLAIN, input, "p.a=int:1");
    }
    check(PLAIN, "{\"a\":[1,]}", "p.a=json:[1]");
    for input in [
        "\"x\"",
        "null",
        "1",
        "",
        "   ",
        "{",
        "{\"a\"",
        "{\"a\":",
        "{\"a\":1",
        "{\"a\":\"\\x\"}",
        "{\"a\":1 \"b\":2}",
        "{a:1}",
        "{\"a\":+1}",
        "{\"a\":.5}",
        "{\"a\":\"unterminated",
        "{\"a\":tru}",
        "{\"a\":\"\\u12\"}",
        "{\"a\":-}",
        "{\"a\":1.2.3}",
        "{\"a\":1x}",
        "{\"a\":\"x\"y}",
        "{\"a\":[1 2]}",
        "{\"a\":0x10}",
        "{,}",
        "{\"a\":[,]}",
        "{\"a\":/* 1}",
        "{\"a\":1e}",
        "/",
    ] {
        check(PLAIN, input, "no match");
    }
}

#[test]
fn names() {
    check("json-parser()", r#"{"a.b":1,"a":{"b":2,"c.d":{"e":3}}}"#, "a.b=int:2|a.c.d.e=int:3");
    check(
        "json-parser(prefix(\"p.\") key-delimiter(\"-\"))",
        r#"{"a":{"b":1,"x-y":{"z":3}}}"#,
        "p.a-b=int:1|p.a-x-y-z=int:3",
    );
    check("json-parser()", r#"{".SDATA":{"x@1":{"k":"v"}}}"#, ".SDATA.x@1.k=v");
    check_codes("json-parser(key-delimiter(\"ab\"))", &["A0102"]);
}

#[test]
fn structured_data_is_read_as_a_whole() {
    let made =
        parser("json-parser()").narrowed(&Demand { sdata: true, ..Demand::default() }).expect("narrower");
    let mut batch = batch(&[br#"{"n":1,".SDATA":{"t@1":{"k":"v"}},"m":{".SDATA":2}}"#]);
    made.parse(&mut batch, &mut vec![0], &mut context());
    assert_eq!(crate::testing::values(&batch, 0), ".SDATA.t@1.k=v");
}

#[test]
fn marker_and_part() {
    let cee =
        |part: &str| format!("json-parser(prefix(\"p.\") marker(\"@cee:\") extract-prefix(\"{part}\"))");
    let input = r#"@cee: {"a":{"b":[{"c":{"d":5}},7]}}"#;
    for (part, expected) in [
        ("a.b[0]", "p.c.d=int:5"),
        ("a.b[0].c", "p.d=int:5"),
        ("a", "p.b=json:[{\"c\":{\"d\":5}},7]"),
        ("a.b", "1=json:{\"c\":{\"d\":5}}|2=int:7"),
        ("x", "no match"),
        ("a.b[0].c.d", "no match"),
        ("a.b[1]", "no match"),
        ("a.b[2]", "no match"),
    ] {
        check(&cee(part), input, expected);
        check(&cee(part), &input.replace(": ", ":"), expected);
        check(&cee(part), &format!(" {input}"), "no match");
    }
    check(&cee("a"), r#"@cee:{"a":{"x":1},"a":{"y":2}}"#, "p.y=int:2");
    check(&cee("a"), r#"@cee:{"a":{"x":1},"b":}"#, "no match");
    check("json-parser(marker(\"@cee:\"))", "@cee {\"a\":1}", "no match");
    for part in ["a..b", "a[x]", "a[0", ""] {
        check_codes(&cee(part), &["A0102"]);
    }
}

#[test]
fn an_array_at_the_top() {
    check(
        PLAIN,
        r#"[1,"x",{"a":1},null,1.5,["u"]]"#,
        "1=int:1|2=x|3=json:{\"a\":1}|4=null:|5=double:1.500000|6=json:[\"u\"]",
    );
    check(PLAIN, "[]", "");
    check(PLAIN, "[1", "no match");
}

#[test]
fn depth() {
    let nested =
        |open: &str, depth: usize, close: &str| format!("{}1{}", open.repeat(depth), close.repeat(depth));
    let demand = Demand::default();
    for (text, good) in [
        (nested("{\"a\":", 31, "}"), true),
        (nested("{\"a\":", 32, "}"), false),
        (format!("{{\"a\":{}}}", nested("[", 30, "]")), true),
        (format!("{{\"a\":{}}}", nested("[", 31, "]")), false),
        (nested("{\"a\":", 1_000_000, "}"), false),
        (nested("[", 1_000_000, "]"), false),
        ("[".repeat(1_000_000), false),
        ("{\"a\":[1,".repeat(500_000), false),
    ] {
        let all = parser(PLAIN);
        for made in [all.narrowed(&demand).expect("narrower"), all] {
            let mut selection = vec![0];
            made.parse(&mut batch(&[text.as_bytes()]), &mut selection, &mut context());
            assert_eq!(!selection.is_empty(), good, "{}", &text[..text.len().min(40)]);
        }
    }
}

#[test]
fn hostile_texts_of_a_megabyte() {
    const SIZE: usize = 1 << 20;
    let fill = |before: &str, piece: &str, after: &str| {
        format!("{before}{}{after}", piece.repeat(SIZE / piece.len())).into_bytes()
    };
    let mut demand = Demand::default();
    demand.name(intern("p.a").expect("room"));
    let all = parser(PLAIN);
    let narrow = all.narrowed(&demand).expect("narrower");
    for (text, good) in [
        (fill("{\"a\":", "9", "}"), true),
        (fill("{\"a\":-0.", "9", "e-999999999999}"), true),
        (fill("{\"a\":1e", "9", "}"), true),
        (fill("{", "\"a\":1,", "\"a\":2}"), true),
        (fill("{", "\"a\":{\"a\":[]},", "\"a\":2}"), true),
        (fill("{\"a\":\"", "\\u0041", "\"}"), true),
        (fill("{\"a\":\"", "\\", "\"}"), true),
        (fill("{\"a\":[", "\"\\\"\",", "1]}"), true),
        (fill("{\"a\":[", "[],", "{}]}"), true),
        (fill("{\"", "k", "\":1}"), true),
        (fill("{\"a\"", " ", ":1}"), true),
        (fill("{\"a\"", "/**/", ":1}"), true),
        (fill("{\"a\":1}", " ", ""), true),
        (fill("{\"a\":1", ",", "}"), false),
        (fill("{\"a\":\"", "\\\"", ""), false),
        (fill("{\"a\":[", "\"", "]}"), false),
        (fill("{", "'", "}"), false),
        (fill("/*", "/*", ""), false),
        (fill("", "{\"a\":", ""), false),
        (fill("", "}", ""), false),
        (fill("{\"a\":\"", "\\u00", "\"}"), false),
        (fill("", " ", "{"), false),
        ([b"{\"a\":\"", b"\xff\xfe\xc3".repeat(SIZE / 3).as_slice(), b"\"}"].concat(), true),
        ([b"{", b"\xff\xfe\xc3".repeat(SIZE / 3).as_slice(), b"}"].concat(), false),
    ] {
        let shown = String::from_utf8_lossy(&text[..text.len().min(30)]).into_owned();
        for made in [&all, &narrow] {
            let (mut batch, mut selection) = (batch(&[&text]), vec![0]);
            made.parse(&mut batch, &mut selection, &mut context());
            assert_eq!(!selection.is_empty(), good, "{shown}");
            assert!(batch.text.len() < 8 * SIZE, "{shown}");
        }
    }
}

/// Whatever a text is cut at, parsers that read all and parsers that read a part refuse the same.
#[test]
fn truncated_texts() {
    let text = br#" {"a":{"b":[1,{"c":-2.5e3},"x\"\u00e9"],"d":null}, "e":"f","g":[ ],"h":{ },"i":true}"#;
    let all = parser("json-parser()");
    let mut demand = Demand::default();
    ["a.d", "e", "i", "a.b"].iter().for_each(|name| demand.name(intern(name).expect("room")));
    let narrow = all.narrowed(&demand).expect("narrower");
    for len in 0..=text.len() {
        for made in [&all, &narrow] {
            let mut selection = vec![0];
            made.parse(&mut batch(&[&text[..len]]), &mut selection, &mut context());
            assert_eq!(selection.is_empty(), len < text.len(), "{len}");
        }
    }
}

fn any_json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        "-?[0-9]{1,22}(\\.[0-9]{1,3})?(e[0-9]{1,2})?",
        "\"[a-z\\\\\"/\\n]{0,12}\"",
        Just("true".to_owned()),
        Just("null".to_owned()),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(|v| format!("[{}]", v.join(","))),
            proptest::collection::vec(("[a-c.]{0,3}", inner), 0..5).prop_map(|v| {
                let members: Vec<String> = v.into_iter().map(|(k, v)| format!("\"{k}\":{v}")).collect();
                format!("{{{}}}", members.join(" , "))
            }),
        ]
    })
}

/// Pieces of JSON in any order: most of it is wrong somewhere.
fn nearly_json() -> impl Strategy<Value = String> {
    let piece = proptest::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        "\"a\"",
        "\"b\":",
        "\"a\":1,",
        "\"a.b\"",
        "1",
        "-",
        ".5",
        "true",
        "nul",
        " ",
        "\t",
        "\\",
        "\"",
        "'a'",
        "/*x*/",
        "//",
        "\"\\n\"",
        "\"\\x\"",
        "\"\\\\\"",
        "{}",
        "[]",
        "{\"a\":{\"b\":2}}",
        "e",
        "\n",
    ]);
    proptest::collection::vec(piece, 0..14).prop_map(|v| v.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]
    /// As below, of texts that are changed somewhere.
    #[test]
    fn a_narrow_parser_refuses_the_same(text in prop_oneof![any_json(), nearly_json()], put in nearly_json(), place in any::<prop::sample::Index>(), cut in 0usize..3, pad in 0usize..70) {
        let at = place.index(text.len() + 1);
        let rest = text.get(at + cut..).unwrap_or_default();
        let changed = format!("{}{{\"x\":{}{put}{rest}}}", " ".repeat(pad), text.get(..at).unwrap_or_default());
        same_for_a_part(&changed)?;
        same_for_a_part(&format!("{}{put}{rest}", text.get(..at).unwrap_or_default()))?;
    }
}

/// What is read of a text does not depend on what else is read.
fn same_for_a_part(text: &str) -> Result<(), TestCaseError> {
    let all = parser("json-parser()");
    let run = |made: &dyn crate::Parse| {
        let mut batch = batch(&[text.as_bytes()]);
        let mut selection = vec![0];
        made.parse(&mut batch, &mut selection, &mut context());
        (selection.is_empty(), batch)
    };
    let (failed, everything) = run(&*all);
    for name in ["a", "b", "x", "x.a", "a.b", "x.a.b", "a..b", "1", "c.a.b.a"] {
        let id = intern(name).expect("room");
        let mut demand = Demand::default();
        demand.name(id);
        let (narrow_failed, narrow) = run(&*all.narrowed(&demand).expect("narrower"));
        prop_assert_eq!(failed, narrow_failed);
        prop_assert_eq!(everything.value(&everything.records[0], id), narrow.value(&narrow.records[0], id));
    }
    Ok(())
}

proptest! {
    #[test]
    fn a_narrow_parser_sees_the_same(text in any_json()) {
        same_for_a_part(&text)?;
    }
}
