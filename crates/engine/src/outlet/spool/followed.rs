//! Messages that somebody follows while they wait on disk: their receipts, by their numbers there.

use crate::chunk::Chunk;
use crate::receipt::Receipt;
use std::collections::VecDeque;

/// So many are remembered; of the oldest beyond that, it is not known where they go.
const FOLLOWED_MAX: usize = 1024;

/// In the order of their numbers.
#[derive(Default)]
pub(super) struct Followed(VecDeque<(u64, Receipt)>);

impl Followed {
    /// A chunk is on disk now, and knows its numbers. It may stay in memory as well.
    pub fn note(&mut self, chunk: &Chunk) {
        if !chunk.is_followed() {
            return;
        }
        self.0.retain(|(_, receipt)| !receipt.is_ended());
        for (place, receipt) in chunk.receipts(0..chunk.messages()) {
            if let Some(after) = chunk.number_after(place + 1) {
                self.0.push_back((after.saturating_sub(1), receipt.clone()));
            }
        }
        while self.0.len() > FOLLOWED_MAX {
            self.0.pop_front();
        }
    }

    /// A chunk was read back: whoever follows its messages goes on.
    pub fn find(&mut self, chunk: &mut Chunk) {
        if self.0.is_empty() {
            return;
        }
        let messages = chunk.messages();
        self.0.retain(|(number, receipt)| {
            let place = chunk.numbered_before(*number);
            let is_here = place < messages && chunk.number_after(place + 1) == number.checked_add(1);
            if is_here && !receipt.is_ended() {
                chunk.follow(place, receipt.clone());
            }
            !is_here
        });
    }
}
