//! The receipts of those messages of a chunk that somebody follows.

use super::{Chunk, Whole};
use crate::ledger::Reason;
use crate::receipt::Receipt;
use std::ops::Range;

/// By the places of their messages, ascending.
#[derive(Debug, Default)]
pub(super) struct Receipts(Vec<(u32, Receipt)>);

impl Receipts {
    /// Those of messages in these places of the chunk.
    fn within(&self, places: Range<usize>) -> impl Iterator<Item = (usize, &Receipt)> {
        let found = self.0.iter().map(|(place, receipt)| (*place as usize, receipt));
        found.filter(move |(place, _)| places.contains(place))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    pub(super) fn truncate(&mut self, messages: usize) {
        self.0.retain(|(place, _)| (*place as usize) < messages);
    }

    /// Takes out those of `count` messages from `at` on.
    pub(super) fn take_out(&mut self, at: usize, count: usize) {
        self.0.retain(|(place, _)| !(at..at + count).contains(&(*place as usize)));
        self.0.iter_mut().filter(|(place, _)| *place as usize >= at).for_each(|(place, _)| {
            *place -= count as u32;
        });
    }

    /// Takes off those of the messages from `at` on, which becomes the first.
    pub(super) fn split_off(&mut self, at: usize) -> Receipts {
        let rest = self.0.split_off(self.0.partition_point(|(place, _)| (*place as usize) < at));
        Receipts(rest.into_iter().map(|(place, receipt)| (place - at as u32, receipt)).collect())
    }
}

impl Chunk {
    /// Somebody follows the message at this place.
    pub(crate) fn follow(&mut self, place: usize, receipt: Receipt) {
        self.receipts.0.push((place as u32, receipt));
    }

    /// Whether somebody follows one of its messages.
    #[inline]
    pub fn is_followed(&self) -> bool {
        !self.receipts.is_empty()
    }

    /// Receipts of the messages in these places, counted from the first that is not yet delivered.
    pub fn receipts(&self, places: Range<usize>) -> impl Iterator<Item = (usize, &Receipt)> {
        let done = self.done;
        let found = self.receipts.within(done + places.start..done + places.end);
        found.map(move |(place, receipt)| (place - done, receipt))
    }

    /// Receipts of the messages that the last [`Chunk::advance`] has completed, each with the bytes between
    /// the beginning of its message and the end of what is written.
    pub fn written_receipts(&self, whole: Whole) -> impl Iterator<Item = (usize, &Receipt)> {
        let found = self.receipts.within(self.done.saturating_sub(whole.messages)..self.done);
        found.map(|(place, receipt)| (self.written.saturating_sub(self.end_of(place)), receipt))
    }

    /// The first `count` messages that are not yet delivered are now, for those who follow them.
    pub fn say_delivered(&self, count: usize) {
        self.receipts(0..count).for_each(|(_, receipt)| receipt.delivered());
    }

    /// The same of messages that are lost.
    pub fn say_dropped(&self, places: Range<usize>, reason: Reason, why: &str) {
        self.receipts(places).for_each(|(_, receipt)| receipt.dropped(reason, why));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::receipt::End;

    fn chunk() -> (Chunk, Vec<Receipt>) {
        let mut chunk = Chunk::of(b"abbcccdddd".to_vec(), vec![1, 3, 6, 10]).expect("whole");
        let receipts: Vec<Receipt> = (0..4).map(|_| Receipt::new()).collect();
        receipts.iter().enumerate().for_each(|(at, receipt)| chunk.follow(at, receipt.clone()));
        (chunk, receipts)
    }

    fn places(chunk: &Chunk, receipts: &[Receipt]) -> Vec<(usize, usize)> {
        let at = |receipt: &Receipt| receipts.iter().position(|one| one == receipt).unwrap_or(9);
        chunk.receipts(0..chunk.messages()).map(|(place, receipt)| (place, at(receipt))).collect()
    }

    #[test]
    fn receipts_stay_with_their_messages() {
        let (mut first, receipts) = chunk();
        first.skip(1);
        let mut rest = first.split(1);
        assert_eq!(
            (places(&first, &receipts), places(&rest, &receipts)),
            (vec![(0, 1)], vec![(0, 2), (1, 3)])
        );
        rest.truncate(1);
        assert_eq!(places(&rest, &receipts), [(0, 2)]);
        let (mut whole, receipts) = chunk();
        whole.take_out(1, 2);
        assert_eq!(places(&whole, &receipts), [(0, 0), (1, 3)]);
        whole.clear();
        assert!(!whole.is_followed());
    }

    #[test]
    fn what_is_written_is_known_from_its_end() {
        let (mut chunk, receipts) = chunk();
        let whole = chunk.advance(8);
        let behind: Vec<usize> = chunk.written_receipts(whole).map(|(behind, _)| behind).collect();
        assert_eq!(behind, [8, 7, 5]);
        let whole = chunk.advance(2);
        let told: Vec<_> = chunk.written_receipts(whole).collect();
        assert_eq!(told, [(4, &receipts[3])]);
    }

    #[test]
    fn those_that_are_acknowledged_are_delivered() {
        let (mut chunk, receipts) = chunk();
        chunk.send(3);
        chunk.say_dropped(0..1, Reason::Refused, "bad");
        chunk.acknowledge(2);
        let ends: Vec<Option<End>> =
            receipts.iter().map(|one| one.said().and_then(|said| said.end)).collect();
        let bad = End::Dropped(Reason::Refused, "bad".to_owned());
        assert_eq!(ends, [Some(bad), Some(End::Delivered), None, None]);
    }
}
