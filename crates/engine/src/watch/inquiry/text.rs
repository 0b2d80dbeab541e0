//! Texts of messages as they are remembered.

use super::TEXT_BYTES_MAX;

/// The beginning of some bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    pub kept: Vec<u8>,
    /// How many there were.
    pub bytes: usize,
}

impl Text {
    pub(super) fn of(bytes: &[u8], bytes_max: usize) -> Text {
        let kept = bytes.get(..bytes_max).unwrap_or(bytes).to_vec();
        Text { kept, bytes: bytes.len() }
    }

    pub fn is_cut(&self) -> bool {
        self.kept.len() < self.bytes
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Text {
        Text::of(text.as_bytes(), TEXT_BYTES_MAX)
    }
}
