//! Receipts: where a destination has put a message that somebody follows, and when.
//!
//! A receipt rides in the chunk of its message. Hardly any message is followed: whoever delivers looks at a
//! list that is empty, once a batch.

use crate::ledger::Reason;
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Details of one place.
const DETAILS_MAX: usize = 16;
/// Bytes of one of them.
const DETAIL_BYTES_MAX: usize = 1024;

/// Something about a place: a path, an offset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Detail {
    Text(String),
    Number(u64),
}

impl From<&str> for Detail {
    fn from(text: &str) -> Detail {
        Detail::from(text.to_owned())
    }
}

impl From<String> for Detail {
    fn from(mut text: String) -> Detail {
        text.truncate(text.floor_char_boundary(DETAIL_BYTES_MAX));
        Detail::Text(text)
    }
}

impl From<u64> for Detail {
    fn from(number: u64) -> Detail {
        Detail::Number(number)
    }
}

/// What became of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    Delivered,
    /// With the words of the destination, if it has some.
    Dropped(Reason, String),
}

/// What a receipt says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// Where the message is, or where it was sent, by name.
    pub place: Vec<(&'static str, Detail)>,
    /// Between the queue and the last word about it.
    pub after: Duration,
    /// `None`: it was sent, and no answer has come.
    pub end: Option<End>,
}

#[derive(Debug)]
struct Slip {
    queued: Instant,
    said: Option<Said>,
}

/// Of one message at one destination; copies are of the same.
#[derive(Clone, Debug)]
pub struct Receipt(Arc<Mutex<Slip>>);

impl Receipt {
    /// The message comes to its queue now.
    pub(crate) fn new() -> Receipt {
        Receipt(Arc::new(Mutex::new(Slip { queued: Instant::now(), said: None })))
    }

    fn say(&self, change: impl FnOnce(&mut Said)) {
        let mut slip = self.0.lock();
        let after = slip.queued.elapsed();
        let said = slip.said.get_or_insert_with(|| Said { place: Vec::new(), after, end: None });
        if said.end.is_none() {
            said.after = after;
        }
        change(said);
    }

    /// The message was sent there, or is there. What was said of another place before is over.
    pub fn at(&self, place: impl IntoIterator<Item = (&'static str, Detail)>) {
        self.say(|said| said.place = place.into_iter().take(DETAILS_MAX).collect());
    }

    /// More about where it is, behind what is known.
    pub fn also(&self, more: impl IntoIterator<Item = (&'static str, Detail)>) {
        self.say(|said| {
            let room = DETAILS_MAX.saturating_sub(said.place.len());
            said.place.extend(more.into_iter().take(room));
        });
    }

    /// The destination has it.
    pub fn delivered(&self) {
        self.ends(End::Delivered);
    }

    /// It is lost; the words are those of the destination.
    pub fn dropped(&self, reason: Reason, why: &str) {
        let why = why.get(..why.floor_char_boundary(DETAIL_BYTES_MAX)).unwrap_or_default();
        self.ends(End::Dropped(reason, why.to_owned()));
    }

    fn ends(&self, end: End) {
        // The first end counts.
        if !self.is_ended() {
            self.say(|said| said.end = Some(end));
        }
    }

    pub fn is_ended(&self) -> bool {
        self.0.lock().said.as_ref().is_some_and(|said| said.end.is_some())
    }

    /// `None`: nothing is known yet.
    pub fn said(&self) -> Option<Said> {
        self.0.lock().said.clone()
    }
}

impl PartialEq for Receipt {
    fn eq(&self, other: &Receipt) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Receipt {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_place_and_the_first_end_count() {
        let receipt = Receipt::new();
        assert!(receipt.said().is_none() && !receipt.is_ended());
        receipt.at([("server", "a".into())]);
        assert_eq!(receipt.said().map(|said| said.end), Some(None));
        receipt.clone().at([("server", "b".into())]);
        receipt.also([("offset", 7.into())]);
        receipt.dropped(Reason::Refused, "no");
        receipt.delivered();
        let said = receipt.said().expect("something");
        assert_eq!(said.place, [("server", Detail::Text("b".to_owned())), ("offset", Detail::Number(7))]);
        assert_eq!(said.end, Some(End::Dropped(Reason::Refused, "no".to_owned())));
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let receipt = Receipt::new();
        receipt.at((0..99).map(|_| ("x", Detail::from("é".repeat(2000)))));
        receipt.also([("y", 1.into())]);
        let place = receipt.said().expect("a place").place;
        assert_eq!(place.len(), DETAILS_MAX);
        assert_eq!(place[0].1, Detail::Text("é".repeat(512)));
    }
}
