//! After a start with messages on disk: what the receiver has of them already is not sent again.

use super::RltpSink;
use engine::{Chunk, Progress, Whole};
use std::collections::VecDeque;

impl RltpSink {
    /// Counts as delivered what the receiver says it has. Its messages on disk come before all others, so it
    /// is looked at before the first message is sent; with nothing at hand, what is still to be read comes
    /// first.
    pub(super) fn leave_out(&mut self, chunks: &mut VecDeque<Chunk>, progress: &mut Progress<'_>) {
        let Some(reached) = self.reached.filter(|_| self.unacked.is_idle()) else { return };
        while let Some(chunk) = chunks.front_mut() {
            let (messages, before) = (chunk.numbered_before(reached), chunk.waiting_bytes());
            chunk.skip(messages);
            progress.delivered(Whole { messages, bytes: before - chunk.waiting_bytes() });
            if !chunk.is_empty() {
                self.reached = None;
                return;
            }
            if let Some(chunk) = chunks.pop_front() {
                progress.finished(chunk);
            }
        }
    }
}
