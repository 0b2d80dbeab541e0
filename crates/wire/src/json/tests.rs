use super::Outline;
use crate::word::{Lanes, Plain, Windowed, with_lanes};
use proptest::prelude::*;

fn drawn(text: &str) -> Option<String> {
    let mut outline = Outline::default();
    let signs = |o: &Outline| o.places().iter().map(|p| char::from(text.as_bytes()[*p as usize])).collect();
    outline.draw(text.as_bytes(), 0).then(|| signs(&outline))
}

#[test]
fn signs_outside_strings() {
    for (text, expected) in [
        (r#"{"a":1,"b":[true,-2.5e7],"c":{}}"#, "{:,:[t,-.e],:{}}"),
        (r#"{ "a:{,}" : "x\\\"y" , "b" : [ 1 , 2 ] }"#, "{:,:[,]}"),
        (r#""{\"a\":1}""#, ""),
        ("[1,]", "[,]"),
    ] {
        for pad in [0, 55, 61, 62, 63, 64, 127] {
            let padded = format!("{}{text}{}", " ".repeat(pad), " ".repeat(pad % 3));
            assert_eq!(drawn(&padded).as_deref(), Some(expected), "{pad} {text}");
        }
    }
}

#[test]
fn texts_without_an_outline() {
    for text in [
        r#"{"a" "b":1}"#,
        r#"{"a":1 2}"#,
        r#"{"a":1{}}"#,
        "[,1]",
        "[1,,2]",
        r#"{"a""#,
        r#"{"a":"#,
        r#"{"a":"x"#,
        r#"{"a":"x"y}"#,
        r#"{"a":x"y"}"#,
        "{} {}",
        r#"{"a":"\"}"#,
        r#"{"a"::1}"#,
    ] {
        for pad in [0, 55, 58, 60, 61, 62, 63, 64] {
            let padded = format!("{}{text}", " ".repeat(pad));
            let missing = text.ends_with(':') || text == r#"{"a""#;
            assert!(drawn(&padded).is_none() || missing, "{pad} {text}");
        }
    }
    assert!(!Outline::default().draw(&vec![b' '; super::TEXT_MAX + 1], 0));
    assert!(!Outline::default().draw(b"{}", 3));
}

struct SameSigns<'a>(&'a [u8; 64]);

impl Windowed for SameSigns<'_> {
    #[inline(always)]
    fn run<L: Lanes>(self) {
        let (wide, plain) = (L::json_signs(self.0), Plain::json_signs(self.0));
        let all = |s: &crate::word::JsonSigns| {
            [s.quotes, s.backslashes, s.opens, s.closes, s.separators, s.blanks, s.digits]
        };
        assert_eq!(all(&wide), all(&plain));
    }
}

proptest! {
    #[test]
    fn the_widest_registers_see_the_same(bytes in proptest::collection::vec(any::<u8>(), 64)) {
        with_lanes(SameSigns(bytes.first_chunk().expect("64")));
    }

    /// A loop that goes byte by byte finds the same signs.
    #[test]
    fn finds_what_a_loop_finds(text in "[\"\\\\{}\\[\\]:, 1x]{0,200}") {
        let mut outline = Outline::default();
        outline.draw(text.as_bytes(), 0);
        let (mut inside, mut escaped, mut odd) = (false, false, false);
        let mut expected = Vec::new();
        for (at, byte) in text.bytes().enumerate() {
            // A backslash escapes what follows wherever it stands: outside a string it is a fault for the
            // reader anyway.
            let quote = byte == b'"' && !escaped;
            escaped = byte == b'\\' && !escaped;
            let was_inside = inside;
            inside ^= quote;
            let sign = b"{}[]:,".contains(&byte);
            let plain = !was_inside && !quote && !sign && byte != b' ' && byte != b'1';
            if !was_inside && (sign || plain && !odd) {
                expected.push(at as u32);
            }
            odd = plain;
        }
        prop_assert_eq!(outline.places(), expected);
    }
}
