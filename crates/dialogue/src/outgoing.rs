//! Bytes that wait to be sent, and how many ever were, so that a batch knows whether any of its own were.

/// `0 <= taken <= bytes.len()`.
#[derive(Default)]
pub struct Outgoing {
    bytes: Vec<u8>,
    taken: usize,
    /// All that were sent before `bytes`.
    before: u64,
}

/// Room that is kept when everything is sent.
const KEPT_BYTES: usize = 1 << 20;

impl Outgoing {
    pub fn waiting(&self) -> &[u8] {
        self.bytes.get(self.taken..).unwrap_or_default()
    }

    /// To append to.
    pub fn bytes(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// The place behind the last byte, in the stream of all bytes.
    pub fn end(&self) -> u64 {
        self.before + self.bytes.len() as u64
    }

    /// The place up to which they were sent.
    pub fn sent_to(&self) -> u64 {
        self.before + self.taken as u64
    }

    pub fn sent(&mut self, bytes: usize) {
        self.taken = self.taken.saturating_add(bytes).min(self.bytes.len());
        if self.taken == self.bytes.len() {
            self.before += self.bytes.len() as u64;
            self.bytes.clear();
            self.bytes.shrink_to(KEPT_BYTES);
            self.taken = 0;
        } else if self.taken > KEPT_BYTES && self.taken > self.bytes.len() / 2 {
            self.before += self.taken as u64;
            self.bytes.drain(..self.taken);
            self.taken = 0;
        }
    }

    /// Forgets what waits.
    pub fn clear(&mut self) {
        self.before = self.end();
        self.bytes.clear();
        self.taken = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_stay_while_bytes_go() {
        let mut out = Outgoing::default();
        out.bytes().extend_from_slice(b"abc");
        assert_eq!((out.waiting(), out.end(), out.sent_to()), (&b"abc"[..], 3, 0));
        out.sent(2);
        assert_eq!((out.waiting(), out.end(), out.sent_to()), (&b"c"[..], 3, 2));
        out.sent(9);
        assert_eq!((out.waiting(), out.end(), out.sent_to()), (&b""[..], 3, 3));
        out.bytes().resize(3 * KEPT_BYTES, 0);
        out.sent(2 * KEPT_BYTES);
        assert_eq!((out.waiting().len(), out.end()), (KEPT_BYTES, 3 * KEPT_BYTES as u64 + 3));
        out.clear();
        assert_eq!((out.waiting(), out.end() - out.sent_to()), (&b""[..], 0));
    }
}
