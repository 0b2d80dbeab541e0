//! `encoding()` of files: decoded line by line, so that every place in the text has its place in the file.

use conf_schema::Encoding;
use memchr::memchr;
use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Bytes of the longest byte order mark.
const MARK_MAX: usize = 4;

pub struct Encoded {
    encoding: Encoding,
    /// `pad-size()`: bytes of a record; otherwise lines.
    record: Option<usize>,
    /// A line that is longer is decoded in pieces.
    line_max: usize,
    /// Bytes of the line that is not complete yet.
    raw: Vec<u8>,
    /// Length as text and in the file of each line whose text was not consumed.
    lines: VecDeque<(usize, usize)>,
    /// Bytes of those lines in the file.
    waiting: usize,
}

impl Encoded {
    pub fn new(encoding: Encoding, record: Option<usize>, line_max: usize) -> Encoded {
        Encoded {
            encoding,
            record,
            line_max: line_max.max(16),
            raw: Vec::new(),
            lines: VecDeque::new(),
            waiting: 0,
        }
    }

    /// Reading begins in the middle of the file: what its beginning says of the encoding holds there too.
    pub fn resume(&mut self, file: &File) -> io::Result<()> {
        if self.encoding.is_open() {
            let mut beginning = [0; MARK_MAX];
            let read = file.read_at(&mut beginning, 0)?;
            self.encoding = self.encoding.of_text(beginning.get(..read).unwrap_or_default());
        }
        Ok(())
    }

    /// Where the next bytes of the file go.
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.raw
    }

    /// Decodes the complete lines to the end of `text`. `is_start` says that the first of them begins the
    /// file.
    pub fn decode(&mut self, text: &mut Vec<u8>, mut is_start: bool) {
        if is_start && self.encoding.is_open() {
            if self.raw.len() < MARK_MAX {
                return;
            }
            self.encoding = self.encoding.of_text(&self.raw);
        }
        let mut at = 0;
        while let Some(length) = self.next_line(self.raw.get(at..).unwrap_or_default()) {
            let line = self.raw.get(at..at + length).unwrap_or_default();
            let before = text.len();
            let decoded = match std::mem::take(&mut is_start) {
                true => self.encoding.decode_first(line),
                false => self.encoding.decode(line),
            };
            match self.record {
                None => text.extend_from_slice(decoded.as_bytes()),
                Some(_) => {
                    let end = decoded.find(['\n', '\0']).unwrap_or(decoded.len());
                    text.extend_from_slice(decoded.as_bytes().get(..end).unwrap_or_default());
                    text.push(b'\n');
                }
            }
            self.lines.push_back((text.len() - before, length));
            self.waiting += length;
            at += length;
        }
        self.raw.drain(..at);
    }

    /// The rest without an end of line.
    pub fn decode_rest(&mut self, text: &mut Vec<u8>) {
        let raw = std::mem::take(&mut self.raw);
        let decoded = self.encoding.decode(&raw);
        text.extend_from_slice(decoded.as_bytes());
        self.lines.push_back((decoded.len(), raw.len()));
        self.waiting += raw.len();
    }

    /// So many bytes of the text are done with.
    pub fn consumed(&mut self, mut bytes: usize) {
        while let Some((text, raw)) = self.lines.front_mut() {
            if bytes < *text {
                *text -= bytes;
                return;
            }
            bytes -= *text;
            self.waiting -= *raw;
            self.lines.pop_front();
        }
    }

    /// Bytes read from the file that were not consumed.
    pub fn behind(&self) -> usize {
        self.waiting + self.raw.len()
    }

    /// Whether half a line is here.
    pub fn has_rest(&self) -> bool {
        !self.raw.is_empty()
    }

    /// Whether no line was decoded that is still here.
    pub fn is_unread(&self) -> bool {
        self.lines.is_empty()
    }

    fn next_line(&self, raw: &[u8]) -> Option<usize> {
        if let Some(size) = self.record {
            return (raw.len() >= size).then_some(size);
        }
        let newline = self.encoding.newline();
        let unit = newline.len();
        let found = match unit {
            1 => memchr(b'\n', raw).map(|at| at + 1),
            _ => raw.chunks_exact(unit).position(|c| c == newline).map(|n| (n + 1) * unit),
        };
        // No character is torn apart.
        found.or_else(|| Some(self.encoding.whole(raw.get(..self.line_max / unit * unit)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_in_the_text_are_places_in_the_file() {
        let utf16: Vec<u8> = "\u{feff}é\n€uro\nrest".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let mut encoded = Encoded::new(Encoding::UTF_16LE, None, 1000);
        let mut text = Vec::new();
        for (at, byte) in utf16.iter().enumerate() {
            encoded.buffer().push(*byte);
            encoded.decode(&mut text, at < 8);
        }
        assert_eq!(text, "é\n€uro\n".as_bytes());
        assert_eq!(encoded.behind(), utf16.len());
        encoded.consumed("é\n".len() + 1);
        assert_eq!(encoded.behind(), utf16.len() - 6, "half a line counts as unread");
        encoded.consumed("€uro\n".len() - 1);
        assert_eq!(encoded.behind(), 8);
        encoded.decode_rest(&mut text);
        assert!(text.ends_with(b"rest"));
    }

    #[test]
    fn a_mark_says_what_the_encoding_is_also_in_the_middle() {
        let raw: Vec<u8> = "\u{feff}é\n€\n".encode_utf16().flat_map(u16::to_be_bytes).collect();
        let open = Encoding::named("UTF-16").expect("known");
        let (mut encoded, mut text) = (Encoded::new(open, None, 1000), Vec::new());
        for byte in &raw {
            let is_start = text.is_empty();
            encoded.buffer().push(*byte);
            encoded.decode(&mut text, is_start);
        }
        assert_eq!(String::from_utf8(std::mem::take(&mut text)).expect("utf-8"), "é\n€\n");
        let mut file = tempfile::tempfile().expect("a file");
        std::io::Write::write_all(&mut file, &raw).expect("written");
        let mut resumed = Encoded::new(open, None, 1000);
        resumed.resume(&file).expect("read");
        resumed.buffer().extend_from_slice(raw.get(6..).expect("the second line"));
        resumed.decode(&mut text, false);
        assert_eq!(String::from_utf8(text).expect("utf-8"), "€\n");
    }

    #[test]
    fn a_line_that_is_too_long_is_cut_between_characters() {
        for (label, raw) in
            [("Shift_JIS", "\u{30c6}\u{30b9}".repeat(20)), ("UTF-16LE", "\u{1f600}".repeat(20))]
        {
            let encoding = Encoding::named(label).expect("known");
            let bytes: Vec<u8> = match label {
                "Shift_JIS" => [0x83, 0x65, 0x83, 0x58].repeat(20),
                _ => raw.encode_utf16().flat_map(u16::to_le_bytes).collect(),
            };
            for before in 0..4 {
                // All that is before is of one unit.
                let unit = encoding.newline().len();
                let ahead = [&b"a\0"[..unit]].concat().repeat(before);
                let (mut encoded, mut text) = (Encoded::new(encoding, None, 17), Vec::new());
                encoded.buffer().extend_from_slice(&[&ahead[..], &bytes].concat());
                encoded.decode(&mut text, false);
                assert!(!encoded.is_unread(), "{label}");
                encoded.decode_rest(&mut text);
                let text = String::from_utf8(text).expect("utf-8");
                assert_eq!(text, format!("{}{raw}", "a".repeat(before)), "{label}");
            }
        }
    }

    #[test]
    fn records_of_one_size() {
        let mut encoded = Encoded::new(Encoding::LATIN_1, Some(4), 1000);
        encoded.buffer().extend_from_slice(b"\xe9\0\0\0ab\ncd");
        let mut text = Vec::new();
        encoded.decode(&mut text, true);
        assert_eq!((String::from_utf8(text).expect("utf-8"), encoded.behind()), ("é\nab\n".to_owned(), 9));
    }
}
