//! Encodings of several bytes a unit, whose order the name says or a mark at the beginning of the text.

use super::Encoding;
use super::Kind;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wide {
    /// The mark says the order; without one it is that of this program's machines, as iconv has it.
    Utf16,
    Utf32,
    Utf32Le,
    Utf32Be,
}

impl Wide {
    pub fn name(self) -> &'static str {
        match self {
            Wide::Utf16 => "UTF-16",
            Wide::Utf32 => "UTF-32",
            Wide::Utf32Le => "UTF-32LE",
            Wide::Utf32Be => "UTF-32BE",
        }
    }

    pub fn is_open(self) -> bool {
        matches!(self, Wide::Utf16 | Wide::Utf32)
    }

    /// Bytes of the mark.
    pub fn mark(self) -> usize {
        match self {
            Wide::Utf16 => 2,
            _ => 4,
        }
    }

    pub fn of_text(self, beginning: &[u8]) -> Encoding {
        match self {
            Wide::Utf16 if beginning.starts_with(&[0xfe, 0xff]) => Encoding::UTF_16BE,
            Wide::Utf16 => Encoding::UTF_16LE,
            Wide::Utf32 if beginning.starts_with(&[0, 0, 0xfe, 0xff]) => Encoding(Kind::Wide(Wide::Utf32Be)),
            Wide::Utf32 => Encoding(Kind::Wide(Wide::Utf32Le)),
            other => Encoding(Kind::Wide(other)),
        }
    }

    pub fn newline(self) -> &'static [u8] {
        match self {
            Wide::Utf16 => b"\n\0",
            Wide::Utf32 | Wide::Utf32Le => b"\n\0\0\0",
            Wide::Utf32Be => b"\0\0\0\n",
        }
    }

    /// The character of a unit of UTF-32.
    pub fn character(self, unit: [u8; 4]) -> char {
        let number = match self {
            Wide::Utf32Be => u32::from_be_bytes(unit),
            _ => u32::from_le_bytes(unit),
        };
        char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER)
    }
}
