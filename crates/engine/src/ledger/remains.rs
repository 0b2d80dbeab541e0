//! The last messages that a destination or a source dropped, of each reason, so that they can be looked at
//! afterwards.
//!
//! Kept always, and only where something is dropped: nothing of it is on the way of a message that is
//! delivered. Buffers are used again, so that dropping for hours allocates nothing.

use super::Reason;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::SystemTime;

/// Messages kept of one reason at one place.
pub const MESSAGES_MAX: usize = 100;
/// Messages kept of all reasons at all places: where there are more, each place keeps as many as it has.
const ALL_MAX: usize = 65_536;
/// Bytes kept of one message.
const TEXT_BYTES_MAX: usize = 1024;
/// Bytes kept of what was said of one.
const WORDS_BYTES_MAX: usize = 300;

/// Messages that are kept in this process.
static ALL: AtomicUsize = AtomicUsize::new(0);
/// The number of the next account.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// A message that was dropped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remain {
    /// Those of one place and reason have the same.
    pub account: u64,
    /// Counts the dropped messages of this account, from 1.
    pub number: u64,
    pub at: SystemTime,
    /// The beginning of what would have been written, or of what was read.
    pub text: Vec<u8>,
    /// All of it had so many bytes.
    pub bytes: usize,
}

/// What is left of the dropped messages of a destination or a source.
#[derive(Debug, Default)]
pub struct Remains {
    /// Of each reason for which something was dropped.
    rings: Mutex<Vec<Ring>>,
    /// What the destination said of the last message that it refused.
    refused_with: Mutex<String>,
}

#[derive(Debug)]
struct Ring {
    reason: Reason,
    account: u64,
    dropped: u64,
    last: VecDeque<Remain>,
}

impl Remains {
    /// So many messages were dropped together. `last` are the last of them, or what is left of those.
    pub fn keep<'m>(&self, reason: Reason, count: usize, last: impl Iterator<Item = &'m [u8]>) {
        self.keep_within(ALL_MAX, reason, count, last);
    }

    fn keep_within<'m>(
        &self,
        all_max: usize,
        reason: Reason,
        count: usize,
        last: impl Iterator<Item = &'m [u8]>,
    ) {
        if count == 0 {
            return;
        }
        let mut rings = self.rings.lock();
        let known = rings.iter().position(|ring| ring.reason == reason);
        let index = known.unwrap_or_else(|| {
            rings.push(Ring {
                reason,
                account: NEXT.fetch_add(1, Relaxed),
                dropped: 0,
                last: VecDeque::new(),
            });
            rings.len() - 1
        });
        let Some(ring) = rings.get_mut(index) else { return };
        let at = SystemTime::now();
        let before = ring.dropped;
        ring.dropped = before.saturating_add(count as u64);
        let first = count.saturating_sub(MESSAGES_MAX);
        for (index, message) in last.take(MESSAGES_MAX.min(count)).enumerate() {
            let mut text = ring.room(all_max);
            text.clear();
            text.extend_from_slice(message.get(..TEXT_BYTES_MAX).unwrap_or(message));
            let number = before.saturating_add((first + index + 1) as u64);
            ring.last.push_back(Remain { account: ring.account, number, at, text, bytes: message.len() });
        }
    }

    /// Of `count` messages that come in order, the last are kept.
    pub fn keep_all<'m>(&self, reason: Reason, count: usize, all: impl Iterator<Item = &'m [u8]>) {
        self.keep(reason, count, all.take(count).skip(count.saturating_sub(MESSAGES_MAX)));
    }

    /// The destination refuses a message, and says why.
    pub fn refused(&self, why: &str, message: &[u8]) {
        self.keep(Reason::Refused, 1, std::iter::once(message));
        self.says(why);
    }

    /// The destination says this of messages that it refuses.
    pub fn says(&self, why: &str) {
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
        let rings = self.rings.lock();
        let ring = rings.iter().find(|ring| ring.reason == reason);
        let last = ring.into_iter().flat_map(|ring| &ring.last);
        last.filter(|remain| remain.number > after).cloned().collect()
    }
}

impl Ring {
    /// The buffer of the message that has to go, or a new one.
    fn room(&mut self, all_max: usize) -> Vec<u8> {
        let is_full =
            self.last.len() >= MESSAGES_MAX || (!self.last.is_empty() && ALL.load(Relaxed) >= all_max);
        let oldest = if is_full { self.last.pop_front() } else { None };
        oldest.map_or_else(
            || {
                ALL.fetch_add(1, Relaxed);
                Vec::new()
            },
            |oldest| oldest.text,
        )
    }
}

impl Drop for Remains {
    fn drop(&mut self) {
        let kept: usize = self.rings.get_mut().iter().map(|ring| ring.last.len()).sum();
        ALL.fetch_sub(kept, Relaxed);
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
    fn each_reason_has_an_account_of_its_own() {
        let remains = Remains::default();
        for reason in Reason::ALL {
            remains.keep_all(reason, 3, [&b"a"[..], b"b", b"c"].into_iter());
            // Nothing is left of one of two.
            remains.keep(reason, 2, std::iter::once(&b"d"[..]));
        }
        let mut accounts = Vec::new();
        for reason in Reason::ALL {
            let kept = remains.since(reason, 0);
            let numbers: Vec<u64> = kept.iter().map(|remain| remain.number).collect();
            assert_eq!(numbers, [1, 2, 3, 4], "{reason:?}");
            assert!(kept.iter().all(|remain| remain.account == kept[0].account));
            accounts.push(kept[0].account);
        }
        accounts.sort_unstable();
        accounts.dedup();
        assert_eq!(accounts.len(), Reason::ALL.len());
        // Where there is no more room for anybody, each has the last one at least.
        let late = Remains::default();
        late.keep_within(0, Reason::Framing, 2, [&b"x"[..], b"y"].into_iter());
        let kept: Vec<Vec<u8>> =
            late.since(Reason::Framing, 0).into_iter().map(|remain| remain.text).collect();
        assert_eq!(kept, [b"y"]);
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
