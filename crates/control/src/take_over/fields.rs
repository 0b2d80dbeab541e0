//! Bodies of frames: numbers and byte strings one behind the other.

/// Puts fields behind one another.
#[derive(Default)]
pub struct Writer(Vec<u8>);

impl Writer {
    pub fn new() -> Writer {
        Writer::default()
    }

    /// Eight bytes, little-endian.
    #[must_use]
    pub fn number(mut self, number: u64) -> Writer {
        self.0.extend_from_slice(&number.to_le_bytes());
        self
    }

    /// The length as a number, then the bytes.
    #[must_use]
    pub fn bytes(self, bytes: &[u8]) -> Writer {
        let mut next = self.number(bytes.len() as u64);
        next.0.extend_from_slice(bytes);
        next
    }

    #[must_use]
    pub fn text(self, text: &str) -> Writer {
        self.bytes(text.as_bytes())
    }

    pub fn done(self) -> Vec<u8> {
        self.0
    }
}

/// Takes fields off the front. `None` when there is none, or less than it says.
pub struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    pub fn number(&mut self) -> Option<u64> {
        let (number, rest) = self.0.split_first_chunk::<8>()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*number))
    }

    pub fn bytes(&mut self) -> Option<&'a [u8]> {
        let mut after = Reader(self.0);
        let length = usize::try_from(after.number()?).ok()?;
        let (bytes, rest) = after.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }

    pub fn text(&mut self) -> Option<String> {
        String::from_utf8(self.bytes()?.to_vec()).ok()
    }
}
