//! Texts of messages as they are remembered.

use super::TEXT_BYTES_MAX;

/// The beginning of some bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    pub kept: Vec<u8>,
    /// How many there were.
    pub bytes: usize,
    /// More than are kept.
    pub is_cut: bool,
}

impl Text {
    pub(super) fn of(bytes: &[u8], bytes_max: usize) -> Text {
        let kept = bytes.get(..bytes_max).unwrap_or(bytes).to_vec();
        Text { is_cut: kept.len() < bytes.len(), kept, bytes: bytes.len() }
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Text {
        Text::of(text.as_bytes(), TEXT_BYTES_MAX)
    }
}
