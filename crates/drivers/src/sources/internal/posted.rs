//! What parsers with contexts have made for `internal()`, on its way there.

use filter::MadeOf;
use record::{Batch, Record};

/// Bytes of the messages that those of the queue were made of; it is not told of more.
const PARTS_BYTES_MAX: usize = 1 << 20;

#[derive(Default)]
pub(super) struct Posted {
    pub batch: Batch,
    /// What they were made of, those of which somebody has asked it.
    pub made_of: Vec<MadeOf>,
    parts_bytes: usize,
}

impl Posted {
    /// `false` where there is no room: `limit` messages wait at most.
    pub fn push(
        &mut self,
        limit: usize,
        batch: &Batch,
        record: &Record,
        made_of: Option<&[Vec<u8>]>,
    ) -> bool {
        if self.batch.records.len() >= limit {
            return false;
        }
        let Some(place) = self.batch.adopt(batch, record, |_| true) else { return false };
        if let (Some(parts), Some(own)) = (made_of, self.batch.records.get(place)) {
            let bytes = parts.iter().map(Vec::len).sum::<usize>();
            if self.parts_bytes + bytes <= PARTS_BYTES_MAX {
                self.parts_bytes += bytes;
                self.made_of.push(MadeOf { message: own.message, parts: parts.to_vec() });
            }
        }
        true
    }

    /// All that waits; `empty` takes its place.
    pub fn take(&mut self, empty: Batch) -> Posted {
        std::mem::replace(self, Posted { batch: empty, ..Posted::default() })
    }
}
