//! After a start of this program: what a sender sends again may be on disk here already, which is told by
//! whole batches of its. So they are taken one by one, and not all that one read brings.

use super::RltpPort;
use crate::sources::network::rltp::stream::Claim;
use engine::reader::SLAB_BYTES;
use engine::worker::{After, PortContext};
use std::time::Instant;
use wire::rltp;

impl RltpPort {
    /// As [`RltpPort::step`]: takes the next frame, or reads when there is none.
    pub(super) fn step_carefully(&mut self, cx: &mut PortContext) -> Result<usize, After> {
        self.starved = !self.feed.may_read();
        if self.starved {
            return Err(After::Idle);
        }
        if let Some(batch) = self.partial.take() {
            self.tail.extend_from_slice(&batch.text);
            cx.recycle(batch);
        }
        if !self.claim.as_ref().is_some_and(Claim::is_careful) {
            self.careful = false;
            self.forget_through();
            return if self.tail.is_empty() { Ok(0) } else { self.again(cx) };
        }
        let rest = self.tail.get(self.through..).unwrap_or_default();
        let frame = match rltp::next(rest, self.limits.payload_bytes_max) {
            Ok(None) => return self.read_more(cx),
            Ok(Some((_, length))) => length,
            // What is wrong with it is said where it is taken.
            Err(_) => rest.len(),
        };
        let mut batch = cx.batch();
        batch.text.extend_from_slice(rest.get(..frame).unwrap_or_default());
        self.through += frame;
        self.take(batch, frame, Instant::now(), cx)
    }

    fn read_more(&mut self, cx: &mut PortContext) -> Result<usize, After> {
        self.forget_through();
        let mut batch = cx.batch();
        batch.text.append(&mut self.tail);
        let wanted = SLAB_BYTES.max(self.missing(&batch.text));
        match self.input.read(&mut batch.text, wanted) {
            Ok(read) if read > 0 => {
                self.heard = Instant::now();
                self.tail.append(&mut batch.text);
                cx.recycle(batch);
                Ok(0)
            }
            other => {
                self.keep(batch, cx);
                Err(self.no_more(other))
            }
        }
    }

    fn forget_through(&mut self) {
        self.tail.drain(..self.through.min(self.tail.len()));
        self.through = 0;
    }
}
