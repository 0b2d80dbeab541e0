//! Numbered messages, and what must have become of them.

use std::collections::HashMap;

/// What every configuration here begins with.
pub const HEAD: &str = "@version: 4.11\noptions { keep-hostname(yes); use-dns(no); time-reopen(1); };\n";

/// A message of `connection` with its number.
pub fn message(connection: usize, number: usize) -> String {
    format!(
        "<13>Nov 11 01:02:03 host{connection} app[{connection}]: message number {number} of connection {connection}"
    )
}

/// The line that `message` becomes in a file with the default layout.
pub fn line(connection: usize, number: usize) -> String {
    message(connection, number).trim_start_matches("<13>").to_owned()
}

/// All of `count` messages of `connection` in one piece.
pub fn block(connection: usize, count: usize) -> String {
    (0..count).map(|n| message(connection, n) + "\n").collect()
}

/// Every message of every connection is there once, and in order within its connection.
#[track_caller]
pub fn assert_complete(lines: &[String], connections: usize, count: usize) {
    let mut next: HashMap<usize, usize> = HashMap::new();
    for text in lines {
        let mut words = text.rsplit(' ');
        let connection: usize = words.next().and_then(|w| w.parse().ok()).unwrap_or_else(|| panic!("{text}"));
        let number: usize = words.nth(2).and_then(|w| w.parse().ok()).unwrap_or_else(|| panic!("{text}"));
        let expected = next.entry(connection).or_default();
        assert_eq!(number, *expected, "connection {connection}: {text}");
        *expected += 1;
    }
    assert_eq!(next.len(), connections, "connections seen");
    for (connection, seen) in next {
        assert_eq!(seen, count, "messages of connection {connection}");
    }
}
