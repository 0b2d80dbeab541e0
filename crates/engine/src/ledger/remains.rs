//! The last messages that a destination dropped, of each reason, so that they can be looked at afterwards.
//!
//! Kept always, and only where something is dropped: nothing of it is on the way of a message that is
//! delivered. Buffers are used again, so that dropping for hours allocates nothing.

use super::Reason;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::time::SystemTime;

/// Messages kept of one reason.
pub const MESSAGES_MAX: usize = 100;
/// Bytes kept of one message.
const TEXT_BYTES_MAX: usize = 1024;
/// Bytes kept of what was said of one.
const WORDS_BYTES_MAX: usize = 300;

/// A message that was dropped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remain {
    /// Counts the dropped messages of this reason at this destination, from 1.
    pub number: u64,
    pub at: SystemTime,
    /// The beginning of what would have been written.
    pub text: Vec<u8>,
    /// All of it had so many bytes.
    pub bytes: usize,
}

/// What is left of the dropped messages of a destination.
#[derive(Debug, Default)]
pub struct Remains {
    queue_full: Mutex<Ring>,
    refused: Mutex<Ring>,
    /// What the destination said of the last message that it refused.
    refused_with: Mutex<String>,
}

#[derive(Debug, Default)]
struct Ring {
    dropped: u64,
    last: VecDeque<Remain>,
}

impl Remains {
    /// The reasons of which something is kept.
    pub const REASONS: [Reason; 2] = [Reason::QueueFull, Reason::Refused];

    fn ring(&self, reason: Reason) -> Option<&Mutex<Ring>> {
        match reason {
            Reason::QueueFull => Some(&self.queue_full),
            Reason::Refused => Some(&self.refused),
            _ => None,
        }
    }

    /// So many messages were dropped together. `last` are the last of them.
    pub fn keep<'m>(&self, reason: Reason, count: usize, last: impl Iterator<Item = &'m [u8]>) {
        let Some(mut ring) = self.ring(reason).map(Mutex::lock) else { return };
        let at = SystemTime::now();
        let before = ring.dropped;
        ring.dropped = before.saturating_add(count as u64);
        let first = count.saturating_sub(MESSAGES_MAX);
        for (index, message) in last.take(MESSAGES_MAX).enumerate() {
            let oldest = if ring.last.len() < MESSAGES_MAX { None } else { ring.last.pop_front() };
            let mut text = oldest.map_or_else(Vec::new, |oldest| oldest.text);
            text.clear();
            text.extend_from_slice(message.get(..TEXT_BYTES_MAX).unwrap_or(message));
            let number = before.saturating_add((first + index + 1) as u64);
            ring.last.push_back(Remain { number, at, text, bytes: message.len() });
        }
    }

    /// The destination refuses a message, and says why.
    pub fn refused(&self, why: &str, message: &[u8]) {
        self.keep(Reason::Refused, 1, std::iter::once(message));
        let mut words = self.refused_with.lock();
        words.clear();
        words.push_str(why.get(..why.floor_char_boundary(WORDS_BYTES_MAX)).unwrap_or(why));
    }

    /// What the destination said of the last message that it refused; empty when there is none.
    pub fn refused_with(&self) -> String {
        self.refused_with.lock().clone()
    }

    /// Those with numbers above `after` that are still there, the oldest first.
    pub fn since(&self, reason: Reason, after: u64) -> Vec<Remain> {
        let ring = self.ring(reason).map(Mutex::lock);
        ring.map_or_else(Vec::new, |ring| {
            ring.last.iter().filter(|remain| remain.number > after).cloned().collect()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_hundred_by_their_numbers() {
        let remains = Remains::default();
        let texts: Vec<Vec<u8>> = (1..=250).map(|n| format!("message {n}").into_bytes()).collect();
        remains.keep(Reason::QueueFull, 3, texts.iter().take(3).map(Vec::as_slice));
        assert_eq!(remains.since(Reason::QueueFull, 1).len(), 2);
        remains.keep(Reason::QueueFull, 247, texts.iter().skip(150).map(Vec::as_slice));
        let kept = remains.since(Reason::QueueFull, 0);
        assert_eq!(kept.len(), MESSAGES_MAX);
        for remain in &kept {
            assert_eq!(remain.text, format!("message {}", remain.number).into_bytes());
        }
        assert_eq!(kept.last().map(|remain| remain.number), Some(250));
        assert!(remains.since(Reason::Refused, 0).is_empty());
        let long = vec![b'x'; 5000];
        remains.keep(Reason::Refused, 1, std::iter::once(long.as_slice()));
        let kept = remains.since(Reason::Refused, 0);
        assert_eq!(kept.iter().map(|r| (r.text.len(), r.bytes)).collect::<Vec<_>>(), [(1024, 5000)]);
    }

    #[test]
    fn what_was_said_of_the_last_one() {
        let remains = Remains::default();
        remains.refused("too large", b"one");
        // Whole characters, up to the bound.
        remains.refused(&format!("-{}", "\u{e4}".repeat(400)), b"two");
        assert_eq!(remains.refused_with(), format!("-{}", "\u{e4}".repeat(149)));
        let texts: Vec<_> = remains.since(Reason::Refused, 0).into_iter().map(|remain| remain.text).collect();
        assert_eq!(texts, [b"one", b"two"]);
    }
}
