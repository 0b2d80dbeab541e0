//! The three forms of each type.

use super::string::{LONG, is_plain, plain_len};
use super::*;
use crate::{Offset, Seed, ZoneSource};

fn check(value: Value, text: &str, forms: [&str; 3]) {
    let trees = Trees::default();
    for (style, expected) in [TEXT, REPR, JSON].into_iter().zip(forms) {
        let mut out = Vec::new();
        Print { text: text.as_bytes(), trees: &trees, style }.put(value, &mut out);
        assert_eq!(String::from_utf8_lossy(&out), expected, "{style:?}");
    }
}

#[test]
fn scalars() {
    let all = |text: &str| Span::new(0, text.len());
    check(Value::Null, "", ["null"; 3]);
    check(Value::Double(7.0), "", ["7.0"; 3]);
    check(Value::String(all("a\"b")), "a\"b", ["a\"b", r#""a\"b""#, r#""a\"b""#]);
    check(Value::Bytes(all("x")), "x", ["x", "bytes(\"x\")", "\"eA==\""]);
    let at = Value::Datetime { offset: Offset::new(0, ZoneSource::Parsed), micros: 1_500_000 };
    check(at, "", ["1.500000", "datetime(1.500000)", "\"1.500000\""]);
    check(Value::Ip(all("abcd")), "abcd", ["ip('97.98.99.100')", "ip('97.98.99.100')", "\"97.98.99.100\""]);
    check(
        Value::Subnet(all("\n\0\0\0\u{8}")),
        "\n\0\0\0\u{8}",
        ["subnet('10.0.0.0/255.0.0.0')", "subnet('10.0.0.0/255.0.0.0')", "\"10.0.0.0/255.0.0.0\""],
    );
}

#[test]
fn what_is_no_utf8_is_said() {
    let mut out = Vec::new();
    put_string(b"a\xffb\xc3\xa9\x01", &mut out);
    assert_eq!(String::from_utf8_lossy(&out), "\"a\\\\xffb\u{e9}\\u0001\"");
    // The seed is only taken for keys.
    assert_ne!(Seed::random().hash(b"a"), Seed::random().hash(b"b"));
}

#[test]
fn what_needs_an_escape_is_found_wherever_it_stands() {
    // Byte by byte.
    let put = |text: &[u8]| {
        let mut out = String::from("\"");
        for byte in text {
            match byte {
                b'"' | b'\\' => out.extend(['\\', char::from(*byte)]),
                0..0x20 | 0x7f => out.push_str(&format!("\\u{byte:04x}")),
                0x80.. => out.push_str(&format!("\\\\x{byte:02x}")),
                _ => out.push(char::from(*byte)),
            }
        }
        out + "\""
    };
    for len in 0..70 {
        let mut text = vec![b'a'; len];
        assert_eq!(plain_len(&text), len);
        let beside = [&text[..], b"\"\\"].concat();
        assert_eq!(is_plain(&beside, Span::new(0, len)), len < LONG);
        for at in 0..len {
            for byte in [0, 0x1f, b'"', b'\\', 0x7f, 0x80, 0xff] {
                text[at] = byte;
                assert_eq!(plain_len(&text), at, "{byte} at {at} of {len}");
                let mut out = b"x".to_vec();
                put_string(&text, &mut out);
                assert!(!is_plain(&text, Span::new(0, len)));
                assert_eq!(
                    String::from_utf8_lossy(&out),
                    format!("x{}", put(&text)),
                    "{byte} at {at} of {len}"
                );
            }
            text[at] = b'a';
        }
    }
}

/// A list that has one text thousands of times takes no memory for that; printed it would.
#[test]
fn what_is_printed_of_one_value_is_bounded() {
    let text = vec![b'x'; 1 << 20];
    let mut trees = Trees::default();
    let whole = Value::String(Span::new(0, text.len()));
    let mut value = Value::List(trees.node_of(&[whole; 64]).expect("room"));
    for _ in 0..40 {
        value = Value::List(trees.node_of(&[value, value]).expect("room"));
    }
    for style in [TEXT, REPR, JSON] {
        let mut out = b"before".to_vec();
        Print { text: &text, trees: &trees, style }.put(value, &mut out);
        assert!(out.starts_with(b"before") && out.len() < PRINTED_BYTES_MAX + (3 << 20), "{}", out.len());
        // More than anybody makes a text of, so that nothing cut is taken for the whole.
        assert!(out.len() > PRINTED_BYTES_MAX);
    }
}

#[test]
fn a_dictionary_that_is_laid_out_is_printed_as_any_other() {
    let json = br#"{"a":1,"b":,"c":"x","d":null,"e":}host "h""#;
    let (text, layout) = (&json[..], Span::new(0, 34));
    let string = |start, len| Value::String(Span::new(start, len));
    let keys = [2, 8, 13, 21, 30].map(|start| string(start, 1));
    for open in [string(34, 4), string(40, 1), Value::Integer(-5)] {
        let values = [Value::Integer(1), open, string(17, 1), Value::Null, open];
        let cells: Vec<Value> = keys.iter().zip(values).flat_map(|(key, value)| [*key, value]).collect();
        let mut trees = Trees::default();
        let laid_out = trees.dict_laid_out(&cells, layout, 0b10010).expect("room");
        let plain = trees.node_of(&cells).expect("room");
        for style in [JSON, REPR, TEXT] {
            let shown = |node| {
                let mut out = Vec::new();
                Print { text, trees: &trees, style }.put(Value::Dict(node), &mut out);
                String::from_utf8_lossy(&out).into_owned()
            };
            assert_eq!(shown(laid_out), shown(plain));
        }
    }
}
