//! Prebuilt messages lying one after the other in memory, so that a run of them is one write. Only the
//! number, the connection and, once a second, the time are written over before sending.

use crate::clock::Moment;
use crate::digits;
use crate::message::{self, Framing, Message, Style};

/// About what one write takes; also fits a core's second-level cache.
const RING_BYTES: usize = 256 * 1024;
const SLOTS_MIN: usize = 8;
const SLOTS_MAX: usize = 4096;

/// Places to patch, as absolute offsets into `bytes`; `u32::MAX` when the layout has none.
#[derive(Clone, Copy)]
struct Slot {
    seq10: u32,
    thread4: u32,
    conn4: u32,
    seq9: u32,
}

pub struct Ring {
    bytes: Vec<u8>,
    slots: Vec<Slot>,
    times: Vec<usize>,
    frame_len: usize,
    message_len: usize,
    now: i64,
}

impl Ring {
    pub fn new(style: &Style) -> Ring {
        let count = (RING_BYTES / style.size.max(64)).clamp(SLOTS_MIN, SLOTS_MAX);
        let now = Moment::now();
        let messages = message::build_all(style, count, &now);
        let frame_len = messages.first().map_or(1, |m| m.bytes.len());
        let prefix = match style.framing {
            Framing::Newline => 0,
            Framing::OctetCount => {
                messages.first().map_or(0, |m| m.bytes.iter().take_while(|&&b| b != b' ').count() + 1)
            }
        };
        let mut ring = Ring {
            bytes: Vec::with_capacity(frame_len * count),
            slots: Vec::with_capacity(count),
            times: Vec::new(),
            frame_len,
            message_len: frame_len - prefix,
            now: now.unix_seconds,
        };
        messages.iter().for_each(|message| ring.push(message));
        ring
    }

    fn push(&mut self, message: &Message) {
        let base = self.bytes.len();
        let place = |at: Option<usize>| at.map_or(u32::MAX, |at| (base + at) as u32);
        self.slots.push(Slot {
            seq10: place(message.seq10_at),
            thread4: place(message.thread4_at),
            conn4: place(message.conn4_at),
            seq9: place(message.seq9_at),
        });
        self.times.extend(message.times_at.iter().map(|at| base + at));
        self.bytes.extend_from_slice(&message.bytes);
    }

    /// Bytes of one message on the wire; all have the same.
    pub fn frame_len(&self) -> usize {
        self.frame_len
    }

    /// Bytes of one message without its octet count.
    pub fn message_len(&self) -> usize {
        self.message_len
    }

    pub fn bytes_max(&self) -> usize {
        self.bytes.len()
    }

    /// Writes the current time into all messages when the second has changed.
    pub fn refresh(&mut self, now: &Moment) {
        if now.unix_seconds == self.now || now.iso.len() != 19 {
            return;
        }
        self.now = now.unix_seconds;
        for &at in &self.times {
            self.bytes[at..at + 19].copy_from_slice(now.iso.as_bytes());
        }
    }

    /// Messages `seq`, `seq + 1` ... of connection `conn`, at least one and at most `count`: what lies in one
    /// piece. A message's content depends on `conn` and `seq` only (and the time), never on how sending was
    /// cut up.
    pub fn prepare(&mut self, conn: u32, seq: u64, count: usize) -> &[u8] {
        let first = (seq.wrapping_add(u64::from(conn)) % self.slots.len() as u64) as usize;
        let count = count.clamp(1, self.slots.len() - first);
        let mut conn4 = [0; 4];
        digits::put(&mut conn4, u64::from(conn));
        for (offset, slot) in self.slots[first..first + count].iter().enumerate() {
            let number = seq + offset as u64;
            if slot.seq9 != u32::MAX {
                digits::put(&mut self.bytes[slot.seq9 as usize..slot.seq9 as usize + 9], number);
                self.bytes[slot.conn4 as usize..slot.conn4 as usize + 4].copy_from_slice(&conn4);
            }
            if slot.seq10 != u32::MAX {
                digits::put(&mut self.bytes[slot.seq10 as usize..slot.seq10 as usize + 10], number);
                self.bytes[slot.thread4 as usize..slot.thread4 as usize + 4].copy_from_slice(&conn4);
            }
        }
        &self.bytes[first * self.frame_len..(first + count) * self.frame_len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{Body, Syntax};

    #[test]
    fn content_does_not_depend_on_the_cut() {
        let mut ring = Ring::new(&Style::new(Syntax::Rfc3164, Body::Text, 400));
        let mut whole = Vec::new();
        while whole.len() < 2000 * 400 {
            let seq = (whole.len() / 400) as u64;
            let part = ring.prepare(3, seq, 2000 - whole.len() / 400);
            whole.extend_from_slice(part);
        }
        for (seq, expected) in whole.chunks(400).enumerate() {
            assert_eq!(ring.prepare(3, seq as u64, 1), expected);
        }
    }

    #[test]
    fn numbers_are_patched() {
        let mut ring = Ring::new(&Style { stamp: true, ..Style::new(Syntax::Rfc3164, Body::Padd, 256) });
        let text = String::from_utf8(ring.prepare(12, 345_678, 1).to_vec()).unwrap();
        assert!(text.contains("seq: 0000345678, thread: 0012, "), "{text}");
        assert!(text.contains(" conn=0012 seq=000345678 "), "{text}");
        assert_eq!(text.len(), 256);
    }

    #[test]
    fn times_move_once_a_second() {
        let mut ring = Ring::new(&Style::new(Syntax::Rfc3164, Body::Padd, 256));
        ring.refresh(&Moment::at(&"2031-01-02T03:04:05+00:00[UTC]".parse().unwrap()));
        let text = String::from_utf8(ring.prepare(0, 0, 1).to_vec()).unwrap();
        assert!(text.starts_with("<38>2031-01-02T03:04:05 localhost"), "{text}");
        assert!(text.contains("stamp: 2031-01-02T03:04:05 "), "{text}");
    }
}
