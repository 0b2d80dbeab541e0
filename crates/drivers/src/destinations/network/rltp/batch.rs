//! The next batch of a queue: which messages it takes, and its bytes in front of theirs.

use engine::Chunk;
use wire::rltp::{self, Number, Packer, Payload};

/// Bytes of a batch; one message may be more. A receiver acknowledges by the batch, so more of them keep both
/// sides going.
const BATCH_BYTES: usize = 256 * 1024;

/// What goes into a batch.
#[derive(Debug)]
pub struct Cut<'a> {
    pub payload: Payload<'a>,
    pub messages: usize,
    /// One message that was too long for the receiver is cut.
    pub truncated: bool,
    end: [u32; 1],
}

/// Takes messages from the front of those of a chunk that were not sent; `payload_max` is what the receiver
/// takes.
pub fn cut(chunk: &Chunk, payload_max: usize) -> Option<Cut<'_>> {
    let first = (chunk.ends.len() - chunk.messages()).saturating_add(chunk.sent());
    let start = match first.checked_sub(1) {
        Some(last) => *chunk.ends.get(last)?,
        None => 0,
    };
    let ends = chunk.ends.get(first..)?;
    let limit = BATCH_BYTES.min(payload_max);
    let fits = |ends: &[u32]| ends.last().is_none_or(|end| (end - start) as usize + 4 * ends.len() <= limit);
    let mut messages = ends.len();
    if chunk.write_max > 0 {
        messages = messages.min(chunk.write_max);
    }
    while messages > 1 && !ends.get(..messages).is_some_and(fits) {
        // Ends are close to even: this finds a good number soon, not the largest one.
        let bytes = ends.get(messages - 1).map_or(limit, |end| (end - start) as usize + 4 * messages);
        messages = (messages * limit / bytes.max(1)).clamp(1, messages - 1);
    }
    let ends = ends.get(..messages).filter(|ends| !ends.is_empty())?;
    let end = *ends.last()?;
    let bytes = chunk.bytes.get(start as usize..end as usize)?;
    let payload = Payload { bytes, ends, start };
    Some(Cut { payload, messages, truncated: payload.plain() > payload_max, end: [0] }.shortened(payload_max))
}

impl<'a> Cut<'a> {
    fn shortened(mut self, payload_max: usize) -> Cut<'a> {
        if self.truncated {
            let keep = payload_max.saturating_sub(4);
            self.payload.bytes = self.payload.bytes.get(..keep).unwrap_or(self.payload.bytes);
            self.end = [self.payload.start.saturating_add(keep as u32)];
        }
        self
    }

    /// What is sent of it.
    pub fn payload(&self) -> Payload<'_> {
        match self.truncated {
            true => Payload { ends: &self.end, ..self.payload },
            false => self.payload,
        }
    }
}

/// Writes the head of a batch, and its messages if they are compressed; otherwise they have to follow as they
/// are.
pub fn write<'a>(
    out: &mut Vec<u8>,
    number: Number,
    payload: Payload<'a>,
    packer: Option<&mut Packer>,
) -> &'a [u8] {
    if let Some(packed) = packer.and_then(|packer| packer.pack(payload)) {
        rltp::packed_batch(out, number, payload, packed.len());
        out.extend_from_slice(packed);
        return &[];
    }
    rltp::batch(out, number, payload);
    payload.bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use delivery::testing::chunk;

    fn messages(cut: &Cut<'_>) -> Vec<String> {
        let payload = cut.payload();
        let mut start = payload.start;
        let texts = payload.ends.iter().map(|end| {
            let at = (start - payload.start) as usize..(end - payload.start) as usize;
            start = *end;
            String::from_utf8_lossy(&payload.bytes[at]).into_owned()
        });
        texts.collect()
    }

    #[test]
    fn what_was_sent_or_delivered_is_not_taken() {
        let mut c = chunk(&["a", "bb", "ccc", "d"]);
        c.skip(1);
        c.send(1);
        let taken = cut(&c, 1000).expect("messages");
        assert_eq!((messages(&taken), taken.messages), (vec!["ccc".to_owned(), "d".to_owned()], 2));
        c.write_max = 1;
        assert_eq!(messages(&cut(&c, 1000).expect("one")), ["ccc"]);
        c.send(2);
        assert!(cut(&c, 1000).is_none());
    }

    #[test]
    fn batches_are_no_larger_than_the_receiver_takes() {
        let mut c = chunk(&["12345678", "12345678", "12345678", "this one is long"]);
        let mut sizes = Vec::new();
        while let Some(taken) = cut(&c, 18) {
            assert!(taken.payload().plain() <= 18);
            sizes.push((taken.messages, taken.truncated));
            c.send(taken.messages);
        }
        assert_eq!(sizes, [(1, false), (1, false), (1, false), (1, true)]);
        let c = chunk(&["this one is long"]);
        assert_eq!(messages(&cut(&c, 18).expect("one")), ["this one is lo"]);
    }
}
