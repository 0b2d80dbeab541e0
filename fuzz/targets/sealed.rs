//! Fuzzes the opening of sealed logs: whatever the lines are, each is opened or named, and a log that was
//! changed is never clean.
#![no_main]

use slog::{Key, Position, Verifier};
use std::sync::OnceLock;

const TEXTS: [&str; 4] = ["one", "", "three", "a longer text, of several blocks of the cipher"];

/// A good log and the MAC over it. Its random numbers are the only thing that differs between two runs.
fn good() -> &'static (Position, Vec<u8>, [u8; 16]) {
    static GOOD: OnceLock<(Position, Vec<u8>, [u8; 16])> = OnceLock::new();
    GOOD.get_or_init(|| {
        let first = Position::of_key(Key::random().expect("random numbers"));
        let (mut position, mut log) = (first.clone(), Vec::new());
        for text in TEXTS {
            position.seal(text.as_bytes(), &mut log).expect("random numbers");
            log.push(b'\n');
        }
        (first, log, position.mac)
    })
}

driver::fuzz_target!(|input: &[u8]| {
    let (first, log, mac) = good();
    // The input stands in the place of a part of the log that its first two bytes say.
    let Some(([from, count], rest)) = input.split_first_chunk::<2>() else { return };
    let from = usize::from(*from) % (log.len() + 1);
    let end = (from + usize::from(*count)).min(log.len());
    let changed = [&log[..from], rest, &log[end..]].concat();
    let mut verifier = Verifier::whole(first, *mac);
    let mut text = Vec::new();
    let whole = changed.strip_suffix(b"\n").unwrap_or(&changed);
    for line in whole.split(|byte| *byte == b'\n').filter(|_| !changed.is_empty()) {
        text.clear();
        let opened = verifier.line(line, &mut text);
        assert!(opened.is_some() || text.is_empty());
        let _ = slog::Entry::read(line);
    }
    let same = whole == log.strip_suffix(b"\n").unwrap_or(log);
    assert_eq!(verifier.finish().is_clean(), same);
});
