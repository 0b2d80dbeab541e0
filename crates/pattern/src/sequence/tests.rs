//! Sequences against the automaton and PCRE2.

use super::*;
use crate::linear::Linear;
use crate::pcre::{Pcre, Spent};
use crate::{Cache, PatternOptions, Slots, parse};
use proptest::prelude::*;

fn sequence(pattern: &str) -> Option<Sequence> {
    let parsed = parse::parse(pattern, parse::Mode { utf8: false, icase: false }).ok()?;
    Sequence::new(&parsed.node, false)
}

#[test]
fn which_patterns_are_sequences() {
    for pattern in [
        r"[0-9]+\.[0-9]+\.[0-9]+\.[0-9]+",
        r"conn=[0-9]{4} seq=([0-9]+) ",
        r"(?:\d{1,3}\.){3}\d{1,3}",
        r#"user="([^"]*)""#,
        r#"user="(.*?)""#.replace('.', "[^\"\\n]").as_str(),
        r"(\d+)-(\d+)",
        r"a\s*=\s*x",
        r"from \S+ port (\d+)",
        "x=a?b",
    ] {
        assert!(sequence(pattern).is_some(), "{pattern}");
    }
    for pattern in [
        r"\d+",
        r"(a|b)=x",
        r"^x=\d+",
        r"x=.*y",
        r"x=\d*?",
        r"x=\d+\d",
        r"x=\d*\w",
        r"\d+ +x",
        "(x=a)?b",
        r"\bx=\d+",
        r"x=(\d+,)+",
        r"x+x",
    ] {
        assert!(sequence(pattern).is_none(), "{pattern}");
    }
}

/// A text of many beginnings that lead nowhere is not walked along again and again.
#[test]
fn time_is_bounded() {
    let sequence = sequence("a=[^;]*;").expect("a sequence");
    let text = b"a=".repeat(100_000);
    assert!(matches!(sequence.find(&text, 0, |_, _| {}), Found::Unknown));
    assert!(matches!(sequence.find(b"a=a=a=;", 0, |_, _| {}), Found::Match(0, 7)));
}

fn pattern() -> impl Strategy<Value = String> {
    let item = prop_oneof![
        3 => prop::sample::select(vec!["a", "ab", "=", ".", "\\.", "x=", " ", "-"]).prop_map(String::from),
        4 => (
            prop::sample::select(vec!["\\d", "[ab]", "[^=]", "\\s", "\\S", "[^.b]", "x", "a", "[^ \\n]", "\\w", "[^\\n]"]),
            prop::sample::select(vec!["", "+", "*", "?", "{2}", "{1,3}", "{0,2}", "*?", "+?", "{1,2}?"]),
        )
            .prop_map(|(set, times)| format!("{set}{times}")),
    ];
    let part = prop::collection::vec(item, 1..4).prop_map(|items| items.concat());
    let grouped =
        (part, prop::sample::select(vec!["(", "(?:", ""]), prop::sample::select(vec!["", "{2}", "{1}"]))
            .prop_map(|(part, open, times)| match open {
                "" => part,
                open => format!("{open}{part}){times}"),
            });
    prop::collection::vec(grouped, 1..4).prop_map(|parts| parts.concat())
}

fn text() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop::sample::select(vec![
        &b"a"[..],
        b"b",
        b"ab",
        b"=",
        b".",
        b"x=",
        b"1",
        b"22",
        b" ",
        b"-",
        b"x",
        b"\n",
        b"\xff",
    ]);
    prop::collection::vec(piece, 0..16).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]
    #[test]
    fn finds_what_others_find(pattern in pattern(), texts in prop::collection::vec(text(), 4)) {
        let Some(sequence) = sequence(&pattern) else { return Ok(()) };
        let options = PatternOptions { disable_jit: true, ..PatternOptions::default() };
        let pcre = Pcre::new(&pattern, &options).expect("a pattern");
        let parsed = parse::parse(&pattern, parse::Mode { utf8: false, icase: false }).expect("a pattern");
        let linear = Linear::new(&parsed.node, false).expect("small");
        let (mut cache, mut theirs, mut automaton) = (Cache::new(), Slots::new(), Slots::new());
        for text in &texts {
            for at in 0..=text.len() {
                let mut spans = vec![None; sequence.groups()];
                let found = match sequence.find(text, at, |mark, at| mark.note(at, &mut spans)) {
                    Found::Match(start, end) => {
                        spans[0] = Some((start, end));
                        true
                    }
                    Found::Nothing => false,
                    Found::Unknown => continue,
                };
                let expected = pcre.captures(text, at, &mut cache, &mut theirs, &mut Spent::default());
                prop_assert_eq!(found, expected, "{:?} on {:?} at {}", pattern, text, at);
                prop_assert_eq!(linear.captures(text, at, &mut cache, &mut automaton), expected);
                if found {
                    let theirs: Vec<_> = theirs.iter().collect();
                    prop_assert_eq!(&spans, &theirs, "{:?} on {:?} at {}", &pattern, text, at);
                    prop_assert_eq!(spans, automaton.iter().collect::<Vec<_>>());
                }
            }
        }
    }
}

/// Enough of what is generated is about sequences.
#[test]
fn the_generator_makes_sequences() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let made = (0..1000).filter(|_| {
        let pattern = pattern().new_tree(&mut runner).expect("a pattern").current();
        sequence(&pattern).is_some()
    });
    assert!(made.count() > 200);
}
