//! No text holds a worker: what is bounded is how often a search goes on, and how many steps it is given.

use super::budget::testing::{waiting, with_step};
use crate::{Cache, Cursor, Pattern, PatternOptions, Slots};
use std::time::Duration;

fn pattern(text: &str, global: bool) -> Pattern {
    let options = PatternOptions { global, captures: true, ..PatternOptions::default() };
    Pattern::compile(text, &options).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Each part of a search takes a millisecond here, so few of them may follow each other.
#[test]
fn a_search_has_one_budget_for_all_its_starting_places() {
    let spaces = [&b" ".repeat(65_000)[..], b"x"].concat();
    let words = "ab ".repeat(21_000).into_bytes();
    let a = [&b"a".repeat(65_000)[..], b"!"].concat();
    for (re, text) in [
        ("\\s+$(?!\\n)", &spaces),
        ("(\\s*)*$(?!\\n)", &spaces),
        ("(?=a*)(a+)+$", &a),
        ("(a|aa)+$(?!b)", &a),
        ("(\\w+\\s?)*$(?!b)", &words),
        ("(?<!y)a*b(?!z)b", &a),
        ("(a*)\\1b", &a),
    ] {
        let (re, mut cache) = (pattern(re, false), Cache::new());
        let looks = with_step(Duration::from_millis(1), || assert!(!re.is_match(text, &mut cache)));
        assert!(looks <= 16, "{re:?}: went on {looks} times");
        assert_eq!(cache.take_failures(), 1, "{re:?}");
    }
}

#[test]
fn time_spent_waiting_for_a_cpu_is_not_counted() {
    let text = [&b" ".repeat(20_000)[..], b"needle!"].concat();
    let (re, mut cache) = (pattern("(?=n)needle!", false), Cache::new());
    let looks = with_step(Duration::from_secs(1), || {
        waiting(|| assert!(re.is_match(&text, &mut cache)));
    });
    assert!(looks > 1, "the search has to be one that goes on");
    assert_eq!(cache.take_failures(), 0);
}

#[test]
fn a_walk_over_all_matches_has_one_budget_too() {
    // Each search of it is short, all of them are not.
    let text = "ab".repeat(30_000).into_bytes();
    for re in ["a(?=b)", "b*", "a"] {
        let (re, mut cache, mut slots) = (pattern(re, true), Cache::new(), Slots::new());
        let (mut cursor, mut count) = (Cursor::default(), 0);
        let looks = with_step(Duration::from_millis(1), || {
            while re.next_match(&text, &mut cursor, &mut cache, &mut slots) {
                count += 1;
            }
        });
        assert!(cursor.gave_up() && looks <= 16 && count < 200, "{re:?}: {looks} looks, {count} matches");
        assert!(!re.next_match(&text, &mut cursor, &mut cache, &mut slots), "it is over");
    }
}

#[test]
fn a_search_in_parts_finds_what_one_in_a_piece_does() {
    let mut cache = Cache::new();
    let mut slots = Slots::new();
    let len = 200_000;
    for at in [0, 1, 9, 10, 11, 4095, 4096, 100_001, len - 8] {
        let mut text = vec![b'x'; len];
        text[at..at + 7].copy_from_slice(b"needle!");
        for re in ["(?=n)needle(?=!)", "(?<!y)needle!", "n(e)+dle(?!x)", "(?<=x)(needle)(?=!)"] {
            let re = pattern(re, false);
            let found = re.captures(&text, 0, &mut cache, &mut slots);
            assert_eq!(found, at > 0 || !re.text().starts_with("(?<="), "{re:?} at {at}");
            if found {
                assert_eq!(slots.get(0).map(|(start, _)| start), Some(at), "{re:?}");
            }
        }
        assert!(!pattern("^needle(?=!)", false).is_match(&text, &mut cache) || at == 0);
        assert!(pattern("(?s)^.*needle(?=!)", false).is_match(&text, &mut cache));
    }
    assert_eq!(cache.take_failures(), 0);
}
