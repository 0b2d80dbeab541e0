//! Which destination a queue is of, for people: a file beside each log, written when a configuration comes
//! into effect, so that it can be read whether the program runs or not. Its form stands in docs/queues.md.

use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

const FILE: &str = "penstock.queues";
const NEW: &str = "penstock.queues.new";
const HEAD: &str = "PENSTOCK-QUEUES 1";
/// Destinations that no configuration has any more are forgotten beyond so many.
const GONE_MAX: usize = 1000;

/// Destinations, `<statement>#<n>`, each with what the names of its queues begin with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueNames(Vec<(String, String)>);

impl QueueNames {
    pub(crate) fn new<'n>(all: impl Iterator<Item = (&'n str, &'n str)>) -> QueueNames {
        // Of what would not be read back there is no line.
        let is_plain = |text: &str| !text.contains(['\t', '\n', '\r']);
        let plain = all.filter(|(destination, key)| is_plain(destination) && is_plain(key));
        QueueNames(plain.map(|(destination, key)| (destination.to_owned(), key.to_owned())).collect())
    }

    /// What is noted in a folder; nothing where there is no such file, or it cannot be read.
    pub fn read(folder: &Path) -> QueueNames {
        let text = std::fs::read_to_string(folder.join(FILE)).unwrap_or_default();
        let mut lines = text.lines();
        if lines.next() != Some(HEAD) {
            return QueueNames::default();
        }
        QueueNames::new(lines.filter_map(|line| line.split_once('\t')))
    }

    /// The destination of the queue of this name.
    pub fn destination(&self, queue: &[u8]) -> Option<&str> {
        let rest = |key: &String| queue.strip_prefix(key.as_bytes());
        let fits = |key: &String| rest(key).is_some_and(|rest| matches!(rest, [] | [b' ', ..]));
        let fitting = self.0.iter().filter(|(_, key)| fits(key));
        fitting.max_by_key(|(_, key)| key.len()).map(|(destination, _)| destination.as_str())
    }

    /// Writes them beside a log, with those of before whose place nobody else has: something may wait there.
    pub(crate) fn write(&self, folder: &Path) -> io::Result<()> {
        let before = QueueNames::read(folder);
        let is_gone = |key: &String| !self.0.iter().any(|(_, known)| known == key);
        let gone = before.0.iter().filter(|(_, key)| is_gone(key)).take(GONE_MAX);
        let all = QueueNames(self.0.iter().chain(gone).cloned().collect());
        if all == before {
            return Ok(());
        }
        let mut text = format!("{HEAD}\n");
        all.0.iter().for_each(|(destination, key)| text += &format!("{destination}\t{key}\n"));
        let (new, mut options) = (folder.join(NEW), std::fs::OpenOptions::new());
        let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(&new)?;
        file.write_all(text.as_bytes())?;
        std::fs::rename(&new, folder.join(FILE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_is_of_the_destination_with_the_longest_name_it_begins_with() {
        let folder = tempfile::tempdir().expect("a folder");
        assert_eq!(QueueNames::read(folder.path()), QueueNames::default());
        let names = [("d_a#0", "file(/a)"), ("d_b#0", "file(/a) more"), ("d_c#0", "has\ttab")];
        QueueNames::new(names.into_iter()).write(folder.path()).expect("written");
        let read = QueueNames::read(folder.path());
        for (queue, expected) in [
            ("file(/a)", Some("d_a#0")),
            ("file(/a) /a/one", Some("d_a#0")),
            ("file(/a) more", Some("d_b#0")),
            ("file(/a) more and more", Some("d_b#0")),
            ("file(/a)b", None),
            ("dead-letters", None),
            ("has\ttab", None),
        ] {
            assert_eq!(read.destination(queue.as_bytes()), expected, "{queue}");
        }
        // Another configuration: what waits at a destination that is gone keeps its name.
        QueueNames::new([("d_new#0", "file(/a)")].into_iter()).write(folder.path()).expect("written");
        let read = QueueNames::read(folder.path());
        assert_eq!(read.destination(b"file(/a)"), Some("d_new#0"));
        assert_eq!(read.destination(b"file(/a) more"), Some("d_b#0"));
        std::fs::write(folder.path().join(FILE), b"\xff\xfe").expect("written");
        assert_eq!(QueueNames::read(folder.path()), QueueNames::default());
    }
}
