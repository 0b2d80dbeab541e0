use super::scan;
use crate::testing::{check, check_bytes};
use proptest::prelude::*;

const CEF: &str = "cef-parser(prefix(\"p.\"))";
const LEEF: &str = "leef-parser(prefix(\"p.\"))";
const HEAD: &str = "p.agent_severity=10|p.device_event_class_id=100|p.device_product=manager|p.device_vendor=sec|p.device_version=1.0";

#[test]
fn common_event_format() {
    for (input, expected) in [
        (
            "CEF:0|sec|manager|1.0|100|worm stopped|10|src=10.0.0.1 dst=2.1.2.2 spt=1232",
            format!(
                "{HEAD}|p.extensions.dst=2.1.2.2|p.extensions.spt=1232|p.extensions.src=10.0.0.1|p.name=worm stopped|p.version=0"
            ),
        ),
        ("0|sec|manager|1.0|100|n|10|", format!("{HEAD}|p.name=n|p.version=0")),
        (
            r"CEF:0|sec|manager|1.0|100|a \| b \\|10|msg=two  words \= here\nand url=http://x/?a=b  act=",
            format!(
                "{HEAD}|p.extensions.act=|p.extensions.msg=two  words = here\nand|p.extensions.url=http://x/?a=b|p.name=a ¦ b \\|p.version=0"
            ),
        ),
        (
            "CEF:1|sec|manager|1.0|100|n|10|ad.x[0]=1 cs1Label=a b cs1=c",
            format!(
                "{HEAD}|p.extensions.ad.x[0]=1|p.extensions.cs1=c|p.extensions.cs1Label=a b|p.name=n|p.version=1"
            ),
        ),
        ("CEF:0|sec|manager|1.0|100|n|10| stray =x", format!("{HEAD}|p.name=n|p.version=0")),
    ] {
        check(CEF, input, &expected);
    }
    for input in ["", "CEF:", "CEF:0|a|b", "CEF:x|1|2|3|4|5|6|a=b", "text", "LEEF:1.0|a|b|c|d|e=f"] {
        check(CEF, input, "no match");
    }
    check(
        "cef-parser()",
        "0|a|b|c|d|e|f|x=1",
        ".cef.agent_severity=f|.cef.device_event_class_id=d|.cef.device_product=b|.cef.device_vendor=a|.cef.device_version=c|.cef.extensions.x=1|.cef.name=e|.cef.version=0",
    );
}

#[test]
fn log_event_extended_format() {
    let head = "p.product_name=b|p.product_version=c|p.vendor=a";
    for (input, expected) in [
        (
            "LEEF:1.0|a|b|c|7|src=1.2.3.4\tmsg=x = y\tnone\t=z",
            format!("p.event_id=7|p.extensions.msg=x = y|p.extensions.src=1.2.3.4|{head}|p.version=1.0"),
        ),
        (
            "LEEF:2.0|a|b|c|7|^|x=1^y=2",
            format!("p.event_id=7|p.extensions.x=1|p.extensions.y=2|{head}|p.version=2.0"),
        ),
        (
            "2.0|a|b|c|7|x5E|x=1^y=2",
            format!("p.event_id=7|p.extensions.x=1|p.extensions.y=2|{head}|p.version=2.0"),
        ),
        (
            "LEEF:2.0|a|b|c|7|0x09|x=1\ty=2",
            format!("p.event_id=7|p.extensions.x=1|p.extensions.y=2|{head}|p.version=2.0"),
        ),
        (
            "LEEF:2.0|a|b|c|7||x=1\ty=2",
            format!("p.event_id=7|p.extensions.x=1|p.extensions.y=2|{head}|p.version=2.0"),
        ),
        ("LEEF:1.0|a|b|c|7|", format!("p.event_id=7|{head}|p.version=1.0")),
    ] {
        check(LEEF, input, &expected);
    }
    for input in [
        "",
        "LEEF:1.0|a|b|c",
        "LEEF:2.0|a|b|c|7|long|x=1",
        "LEEF:2.0|a|b|c|7|0xff|x=1",
        "LEEF:2.0|a|b|c|7|x=1",
        "text",
    ] {
        check(LEEF, input, "no match");
    }
}

#[test]
fn odd_bytes_stay_as_they_are() {
    check_bytes(
        CEF,
        b"CEF:0|sec|manager|1.0|100|n|10|a=\xff\0 b=\\x",
        &format!("{HEAD}|p.extensions.a=\u{fffd}\0|p.extensions.b=\\x|p.name=n|p.version=0"),
    );
}

proptest! {
    /// What `$(format-cef-extension)` escapes is read back.
    #[test]
    fn an_escaped_value_comes_back(value in "[a-z =|\\\\\\n\\r]{0,20}[a-z]") {
        let mut escaped = String::from("k=");
        for c in value.chars() {
            match c {
                '\n' => escaped.push_str("\\n"),
                '\r' => escaped.push_str("\\r"),
                '=' | '\\' => escaped.extend(['\\', c]),
                c => escaped.push(c),
            }
        }
        let mut found = Vec::new();
        scan::pairs(escaped.as_bytes(), 0, |key, value| found.push((key, value)));
        prop_assert_eq!(found.len(), 1);
        let mut out = Vec::new();
        scan::unescape(&escaped.as_bytes()[found[0].1.clone()], &mut out);
        prop_assert_eq!(out, value.into_bytes());
    }

    #[test]
    fn places_lie_within_the_text(text in proptest::collection::vec(prop_oneof![Just(b'='), Just(b'|'), Just(b'\\'), Just(b' '), Just(b'a'), any::<u8>()], 0..200)) {
        let mut inside = true;
        scan::pairs(&text, 0, |key, value| inside &= key.end <= text.len() && value.end <= text.len() && key.end < value.end + 1);
        scan::delimited(&text, 0, b'|', |key, value| inside &= key.start < key.end && value.end <= text.len());
        prop_assert!(inside);
    }
}
