//! Every pattern the reader claims to understand gives the same matches and groups as PCRE2 itself.

use crate::pcre::{Pcre, Spent};
use crate::{Cache, Cursor, Engine, Pattern, PatternOptions, Slots};
use proptest::prelude::*;

/// Small pieces that meet each other's corner cases: newlines, case, groups, classes, quantifiers, anchors.
fn atom() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => prop::sample::select(vec![
            "a", "b", "A", "ab", "ba", "foo", "bar", "x", "1", " ", "-", "\n", "é", ":", "=", "{", "}", "]", "{a", "a{,b",
        ]).prop_map(String::from),
        4 => prop::sample::select(vec![
            ".", "\\d", "\\D", "\\w", "\\W", "\\s", "\\S", "\\h", "\\H", "\\v", "\\V", "\\N", "\\n", "\\t", "\\x41", "\\x{62}",
            "\\.", "\\-", "\\0", "\\e", "\\a", "\\x", "\\QaB.\\E", "\\Q*", "\\E",
        ]).prop_map(String::from),
        3 => prop::sample::select(vec![
            "[ab]", "[^a]", "[a-c]", "[^\\n]", "[[:alpha:]]", "[[:^space:]b]", "[]a]", "[^]a]", "[a-]", "[-a]", "[\\w.-]",
            "[\\d\\s]", "[\\x00-\\xff]", "[é]", "[a&&b]", "[a--b]", "[[a]", "[\\]]", "[^\\W]", "[A-z]", "[\\n\\b]", "[[:word:]-]",
        ]).prop_map(String::from),
        2 => prop::sample::select(vec!["^", "$", "\\A", "\\z", "\\Z", "\\b", "\\B"]).prop_map(String::from),
        1 => prop::sample::select(vec!["(?i)", "(?-i)", "(?s)", "(?m)", "(?im)", "(?s-i)"]).prop_map(String::from),
    ]
}

fn quantifier() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "", "", "", "", "", "*", "+", "?", "*?", "+?", "??", "{2}", "{1,3}", "{0,2}?", "{2,}", "{0}", "{,2}",
        "{ 1}", "++",
    ])
}

fn pattern() -> impl Strategy<Value = String> {
    let leaf = (atom(), quantifier()).prop_map(|(a, q)| format!("{a}{q}"));
    leaf.prop_recursive(4, 24, 4, |inner| {
        let opening = prop::sample::select(vec![
            "(", "(?:", "(?<n>", "(?i:", "(?m:", "(?s-i:", "(?P<p>", "(?'q'", "(?>", "(?=",
        ]);
        prop_oneof![
            3 => prop::collection::vec(inner.clone(), 1..4).prop_map(|v| v.concat()),
            2 => prop::collection::vec(inner.clone(), 1..4).prop_map(|v| v.join("|")),
            3 => (opening, inner, quantifier()).prop_map(|(open, i, q)| format!("{open}{i}){q}")),
        ]
    })
}

fn text() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop::sample::select(vec![
        &b"a"[..],
        b"b",
        b"A",
        b"B",
        b"ab",
        b"foo",
        b"FOO",
        b"bar",
        b"aB.",
        b"x",
        b"1",
        b" ",
        b"-",
        b"\n",
        b"\r",
        b"\t",
        b"\0",
        b"\xc3\xa9",
        b"\xff",
        b":",
        b"{",
        b"]",
        b"&",
        b"_",
        b"\x0b",
        b"\x85",
        b"\xa0",
        b"*",
        b"c",
    ]);
    prop::collection::vec(piece, 0..12).prop_map(|v| v.concat())
}

fn groups(slots: &Slots) -> Vec<Option<(usize, usize)>> {
    slots.iter().collect()
}

/// Compares everything the pattern can be asked; `None` when it is no valid pattern.
fn compare(pattern: &str, options: &PatternOptions, text: &[u8]) -> Option<Result<Engine, TestCaseError>> {
    // The interpreter is the reference; PCRE2's just-in-time compiler has bugs of its own, which are not what
    // is tested here.
    let options = PatternOptions { disable_jit: true, ..*options };
    let ours = Pattern::compile(pattern, &options).ok()?;
    let theirs = Pcre::new(pattern, &options).ok()?;
    Some(compare_compiled(&ours, &theirs, text).map(|()| ours.engine()))
}

fn compare_compiled(ours: &Pattern, theirs: &Pcre, text: &[u8]) -> Result<(), TestCaseError> {
    // Beside bytes that are no characters the engines differ in where they find nothing, the empty text.
    if ours.options().utf8 && std::str::from_utf8(text).is_err() {
        return Ok(());
    }
    let (mut cache, mut reference, mut a, mut b) = (Cache::new(), Cache::new(), Slots::new(), Slots::new());
    let engine = ours.engine();
    let mut spent = Spent::default();
    let expected = theirs.is_match(text, &mut reference, &mut spent);
    let found = ours.is_match(text, &mut cache);
    // Where PCRE2 gave up there is nothing to compare with.
    let mut given_up = spent.is_over() || cache.take_failures() > 0;
    prop_assert!(given_up || found == expected, "{:?} on {:?}", ours, text);
    let inside = |at: usize| text.get(at).is_some_and(|b| b & 0xc0 == 0x80);
    for at in (0..=text.len()).filter(|at| !(ours.options().utf8 && inside(*at))) {
        let expected = theirs.captures(text, at, &mut reference, &mut b, &mut spent);
        let found = ours.captures(text, at, &mut cache, &mut a);
        given_up |= spent.is_over() || cache.take_failures() > 0;
        if given_up {
            break;
        }
        prop_assert_eq!(found, expected, "{:?} on {:?} at {}", ours, text, at);
        if found {
            prop_assert_eq!(groups(&a), groups(&b), "{:?} ({}) on {:?} at {}", ours, engine, text, at);
        }
    }
    prop_assert_eq!(ours.names(), theirs.names(), "{:?}", ours);
    Ok(())
}

/// PROPTEST_CASES asks for a longer run.
fn config() -> ProptestConfig {
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok());
    ProptestConfig { cases: asked.unwrap_or(3000), failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn same_as_pcre2(pattern in pattern(), icase: bool, utf8 in prop::bool::weighted(0.2), texts in prop::collection::vec(text(), 6)) {
        let options = PatternOptions { ignore_case: icase, utf8, captures: true, ..PatternOptions::default() };
        for text in &texts {
            match compare(&pattern, &options, text) {
                None => return Ok(()),
                Some(result) => { result?; }
            }
        }
    }

    #[test]
    fn never_panics(pattern in any::<String>(), text in any::<Vec<u8>>(), kind in 0..3, bits: u16) {
        let bit = |n: u16| bits & (1 << n) != 0;
        let kind = [crate::Kind::Pcre, crate::Kind::String, crate::Kind::Glob][kind as usize];
        let options = PatternOptions {
            kind, ignore_case: bit(0), global: bit(1), store_matches: bit(2), substring: bit(3), prefix: bit(4),
            utf8: bit(5), newline: bit(6), disable_jit: bit(7), dupnames: bit(8), captures: bit(9),
        };
        if let Ok(p) = Pattern::compile(&pattern, &options) {
            let (mut cache, mut slots, mut cursor) = (Cache::new(), Slots::new(), Cursor::default());
            let found = p.is_match(&text, &mut cache);
            prop_assert_eq!(found, p.captures(&text, 0, &mut cache, &mut slots));
            let mut rounds = 0;
            while p.next_match(&text, &mut cursor, &mut cache, &mut slots) {
                rounds += 1;
                prop_assert!(rounds <= 2 * text.len() + 2);
            }
        }
    }
}

/// The generator must produce what the comparison is about: valid patterns that run on every engine.
#[test]
fn the_generator_reaches_every_engine() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (mut literal, mut automaton, mut pcre, mut invalid) = (0, 0, 0, 0);
    for _ in 0..2000 {
        let pattern = pattern().new_tree(&mut runner).expect("a pattern").current();
        match Pattern::compile(&pattern, &PatternOptions::default()).map(|p| p.engine()) {
            Err(_) => invalid += 1,
            Ok(Engine::Automaton) => automaton += 1,
            Ok(Engine::Pcre2(_)) => pcre += 1,
            Ok(_) => literal += 1,
        }
    }
    assert!(literal > 200 && automaton > 200 && pcre > 200, "{literal} {automaton} {pcre} {invalid}");
}
