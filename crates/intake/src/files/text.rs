//! Text that comes in pieces, from the beginning of something or from a place in it, cut into messages as the
//! text of a file is: each place between messages is a place to go on from.

use super::encoded::Encoded;
use super::tail::{TailOptions, cutter};
use crate::cut::Cutter;
use record::Span;

pub struct Text {
    cutter: Cutter,
    encoded: Option<Box<Encoded>>,
    /// Where the next piece begins.
    offset: u64,
    /// The text of the message that is not complete.
    kept: Vec<u8>,
}

impl Text {
    /// From a place on that [`Text::position`] has said, or 0.
    pub fn new(options: &TailOptions, offset: u64) -> Text {
        let (cutter, encoded) = cutter(options);
        Text { cutter, encoded, offset, kept: Vec::new() }
    }

    /// Takes in the next piece: what was kept and the piece are in `text` then, which is empty, and its
    /// complete messages are handed out.
    pub fn take(&mut self, piece: &[u8], text: &mut Vec<u8>, sink: impl FnMut(Span)) {
        text.extend_from_slice(&self.kept);
        match &mut self.encoded {
            None => text.extend_from_slice(piece),
            Some(encoded) => {
                let is_start = self.offset == encoded.behind() as u64 && encoded.is_unread();
                encoded.buffer().extend_from_slice(piece);
                encoded.decode(text, is_start);
            }
        }
        self.offset += piece.len() as u64;
        let consumed = self.cutter.scan(text, sink);
        self.kept.clear();
        self.kept.extend_from_slice(text.get(consumed..).unwrap_or_default());
        if let Some(encoded) = &mut self.encoded {
            encoded.consumed(consumed);
        }
    }

    /// Nothing more comes: what is left is a message. It is in `text` then, which is empty.
    pub fn finish(&mut self, text: &mut Vec<u8>, sink: impl FnMut(Span)) {
        text.append(&mut self.kept);
        if let Some(encoded) = &mut self.encoded {
            encoded.decode_rest(text);
            encoded.consumed(text.len());
        }
        self.cutter.finish(text, sink);
    }

    /// Where the first message that was not handed out begins.
    pub fn position(&self) -> u64 {
        let behind = self.encoded.as_deref().map_or(self.kept.len(), Encoded::behind);
        self.offset.saturating_sub(behind as u64)
    }

    /// Whether places in the text are as far from each other as in what it was read from.
    pub fn is_as_read(&self) -> bool {
        self.encoded.is_none()
    }

    pub fn take_truncated(&mut self) -> u64 {
        self.cutter.take_truncated()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use wire::{FramerOptions, Framing};

    fn options(encoding: Option<conf_schema::Encoding>) -> TailOptions {
        let framing = FramerOptions {
            framing: Framing::Lines,
            log_msg_size: 40,
            empty_lines: false,
            trim_large_messages: false,
            is_text: encoding.is_some(),
        };
        TailOptions { framing, multi_line: None, encoding }
    }

    /// The messages of pieces, and each place between two pieces.
    fn read(options: &TailOptions, from: u64, pieces: &[&[u8]]) -> (Vec<String>, Vec<(usize, u64)>) {
        let mut reader = Text::new(options, from);
        let (mut found, mut places) = (Vec::new(), Vec::new());
        for piece in pieces {
            let (mut text, mut spans) = (Vec::new(), Vec::new());
            reader.take(piece, &mut text, |span| spans.push(span));
            found.extend(spans.iter().map(|span| String::from_utf8_lossy(span.of(&text)).into_owned()));
            places.push((found.len(), reader.position()));
        }
        let (mut text, mut spans) = (Vec::new(), Vec::new());
        reader.finish(&mut text, |span| spans.push(span));
        found.extend(spans.iter().map(|span| String::from_utf8_lossy(span.of(&text)).into_owned()));
        (found, places)
    }

    proptest! {
        /// However the bytes come, the messages are the same, and whoever goes on from a place gets the rest.
        #[test]
        fn pieces_make_no_difference_and_each_place_is_one_to_go_on_from(
            lines in proptest::collection::vec("[a-zé ]{1,30}", 1..12),
            cuts in proptest::collection::vec(1usize..50, 1..20),
            is_utf16 in any::<bool>(),
        ) {
            let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
            let (options, bytes) = match is_utf16 {
                false => (options(None), text.clone().into_bytes()),
                true => (options(Some(conf_schema::Encoding::UTF_16LE)), text.encode_utf16().flat_map(u16::to_le_bytes).collect()),
            };
            let whole = read(&options, 0, &[&bytes]).0;
            let (mut pieces, mut rest) = (Vec::new(), bytes.as_slice());
            for cut in cuts.iter().cycle() {
                let (piece, behind) = rest.split_at((*cut).min(rest.len()));
                pieces.push(piece);
                rest = behind;
                if rest.is_empty() { break; }
            }
            let (found, places) = read(&options, 0, &pieces);
            prop_assert_eq!(&found, &whole);
            for (count, place) in places {
                let again = read(&options, place, &[&bytes[place as usize..]]).0;
                prop_assert_eq!(&again, &whole[count..].to_vec());
            }
        }
    }
}
