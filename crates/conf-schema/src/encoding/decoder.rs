//! A text that comes in pieces, which may end within a character.

use super::pages::Page;
use super::wide::Wide;
use super::{Encoding, Kind};
use encoding_rs::CoderResult;

pub struct Decoder(State);

enum State {
    Web(encoding_rs::Decoder),
    Controls(&'static encoding_rs::Encoding),
    Page(&'static Page),
    /// The mark is not complete.
    Open(Wide, Vec<u8>),
    /// A unit is not complete.
    Units(Wide, Vec<u8>),
}

impl Decoder {
    pub(super) fn new(encoding: Encoding) -> Decoder {
        Decoder(match encoding.0 {
            Kind::Web(encoding) => State::Web(encoding.new_decoder_without_bom_handling()),
            Kind::Controls(_, encoding) => State::Controls(encoding),
            Kind::Page(page) => State::Page(page),
            Kind::Wide(wide) if wide.is_open() => State::Open(wide, Vec::new()),
            Kind::Wide(wide) => State::Units(wide, Vec::new()),
        })
    }

    /// Appends the characters that are complete, as UTF-8.
    pub fn decode(&mut self, raw: &[u8], into: &mut Vec<u8>) {
        match &mut self.0 {
            State::Web(decoder) => web(decoder, raw, into),
            State::Controls(encoding) => controls(encoding, raw, into),
            State::Page(page) => raw.iter().for_each(|byte| append(into, page.character(*byte))),
            State::Open(wide, begun) => {
                begun.extend_from_slice(raw);
                if begun.len() >= wide.mark() {
                    self.settle(into);
                }
            }
            State::Units(wide, begun) => {
                begun.extend_from_slice(raw);
                let (units, _) = begun.as_chunks::<4>();
                let whole = units.len() * 4;
                units.iter().for_each(|unit| append(into, wide.character(*unit)));
                begun.drain(..whole);
            }
        }
    }

    /// The text is over: what is left of a character is none.
    pub fn end(&mut self, into: &mut Vec<u8>) {
        if let State::Open(..) = self.0 {
            self.settle(into);
        }
        match &mut self.0 {
            State::Web(decoder) => {
                let mut piece = [0u8; 16];
                let (_, _, written, _) = decoder.decode_to_utf8(&[], &mut piece, true);
                into.extend_from_slice(piece.get(..written).unwrap_or_default());
            }
            State::Units(_, begun) if !begun.is_empty() => {
                begun.clear();
                append(into, char::REPLACEMENT_CHARACTER);
            }
            _ => {}
        }
    }

    /// The mark is there, or there is none. It is not part of the text.
    fn settle(&mut self, into: &mut Vec<u8>) {
        let State::Open(wide, begun) = &mut self.0 else { return };
        let (encoding, begun) = (wide.of_text(begun), std::mem::take(begun));
        *self = encoding.decoder();
        let at = into.len();
        self.decode(&begun, into);
        if into.get(at..).is_some_and(|text| text.starts_with("\u{feff}".as_bytes())) {
            into.drain(at..at + '\u{feff}'.len_utf8());
        }
    }
}

fn web(decoder: &mut encoding_rs::Decoder, mut raw: &[u8], into: &mut Vec<u8>) {
    let mut piece = [0u8; 4096];
    loop {
        let (result, read, written, _) = decoder.decode_to_utf8(raw, &mut piece, false);
        into.extend_from_slice(piece.get(..written).unwrap_or_default());
        raw = raw.get(read..).unwrap_or_default();
        if result == CoderResult::InputEmpty {
            return;
        }
    }
}

fn controls(encoding: &'static encoding_rs::Encoding, raw: &[u8], into: &mut Vec<u8>) {
    // Stretches without those bytes are what the web says they are.
    for piece in raw.chunk_by(|a, b| is_control(*a) == is_control(*b)) {
        match piece.first() {
            Some(first) if is_control(*first) => {
                piece.iter().for_each(|byte| append(into, char::from(*byte)))
            }
            _ => into.extend_from_slice(encoding.decode_without_bom_handling(piece).0.as_bytes()),
        }
    }
}

fn is_control(byte: u8) -> bool {
    matches!(byte, 0x80..0xa0)
}

fn append(into: &mut Vec<u8>, character: char) {
    into.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
}
