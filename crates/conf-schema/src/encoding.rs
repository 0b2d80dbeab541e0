//! `encoding()`: the web's character encodings, and what iconv reads otherwise or beside them.

mod decoder;
mod pages;
mod wide;

pub use decoder::Decoder;

use pages::Page;
use std::borrow::Cow;
use wide::Wide;

/// A character encoding that texts come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Encoding(Kind);

/// Bytes that a character may have without its last one.
const UNFINISHED_MAX: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// As the web reads it.
    Web(&'static encoding_rs::Encoding),
    /// As the web reads it, but that the bytes from 80 to 9F are control characters. The web takes these
    /// encodings of ISO for those of Windows that were made of them.
    Controls(&'static str, &'static encoding_rs::Encoding),
    Page(&'static Page),
    Wide(Wide),
}

impl Encoding {
    pub const UTF_8: Encoding = Encoding(Kind::Web(encoding_rs::UTF_8));
    pub const UTF_16LE: Encoding = Encoding(Kind::Web(encoding_rs::UTF_16LE));
    pub const UTF_16BE: Encoding = Encoding(Kind::Web(encoding_rs::UTF_16BE));
    /// Each byte is the character of its number.
    pub const LATIN_1: Encoding = Encoding(Kind::Controls("ISO-8859-1", encoding_rs::WINDOWS_1252));

    /// The encoding of a name of the web, of IANA or of iconv.
    pub fn named(label: &str) -> Option<Encoding> {
        let label = label.trim();
        if let Some(kind) = of_its_own(&label.to_ascii_lowercase()) {
            return Some(Encoding(kind));
        }
        let web = encoding_rs::Encoding::for_label(label.as_bytes()).map(Kind::Web);
        web.or_else(|| Page::named(label).map(Kind::Page)).map(Encoding)
    }

    pub fn name(self) -> &'static str {
        match self.0 {
            Kind::Web(encoding) => encoding.name(),
            Kind::Controls(name, _) => name,
            Kind::Page(page) => page.name,
            Kind::Wide(wide) => wide.name(),
        }
    }

    /// A whole text. A byte order mark stays in it, but where it has said what the encoding is.
    pub fn decode(self, raw: &[u8]) -> Cow<'_, str> {
        match self.0 {
            Kind::Web(encoding) => encoding.decode_without_bom_handling(raw).0,
            _ if raw.is_ascii() && self.is_ascii_beneath() => {
                Cow::Borrowed(std::str::from_utf8(raw).unwrap_or(""))
            }
            _ => {
                let mut text = Vec::with_capacity(raw.len());
                let mut decoder = self.decoder();
                decoder.decode(raw, &mut text);
                decoder.end(&mut text);
                Cow::Owned(String::from_utf8(text).unwrap_or_default())
            }
        }
    }

    /// The same without a byte order mark.
    pub fn decode_first(self, raw: &[u8]) -> Cow<'_, str> {
        match self.decode(raw) {
            Cow::Borrowed(text) => Cow::Borrowed(text.strip_prefix('\u{feff}').unwrap_or(text)),
            Cow::Owned(mut text) => {
                if text.starts_with('\u{feff}') {
                    text.remove(0);
                }
                Cow::Owned(text)
            }
        }
    }

    /// How many bytes of a text that was cut off somewhere are whole characters.
    pub fn whole(self, raw: &[u8]) -> usize {
        let unit = self.newline().len();
        let is_whole = |length: &usize| {
            let (mut decoder, mut text) = (self.decoder(), Vec::with_capacity(raw.len()));
            decoder.decode(raw.get(..*length).unwrap_or(raw), &mut text);
            let before = text.len();
            decoder.end(&mut text);
            text.len() == before
        };
        let shortest = raw.len().saturating_sub(UNFINISHED_MAX);
        (shortest..=raw.len()).rev().filter(|length| length % unit == 0).find(is_whole).unwrap_or(raw.len())
    }

    /// For a text that comes in pieces.
    pub fn decoder(self) -> Decoder {
        Decoder::new(self)
    }

    /// What it is in a text with this beginning: byte order marks are looked at where the name leaves the
    /// order open.
    pub fn of_text(self, beginning: &[u8]) -> Encoding {
        match self.0 {
            Kind::Wide(wide) => wide.of_text(beginning),
            _ => self,
        }
    }

    /// Whether [`Encoding::of_text`] may say something else.
    pub fn is_open(self) -> bool {
        matches!(self.0, Kind::Wide(wide) if wide.is_open())
    }

    /// The bytes of a newline; they stand only at multiples of their number.
    pub fn newline(self) -> &'static [u8] {
        match self.0 {
            Kind::Web(encoding) if encoding == encoding_rs::UTF_16LE => b"\n\0",
            Kind::Web(encoding) if encoding == encoding_rs::UTF_16BE => b"\0\n",
            Kind::Wide(wide) => wide.newline(),
            // In every other encoding the byte is a newline wherever it stands.
            _ => b"\n",
        }
    }

    fn is_ascii_beneath(self) -> bool {
        self.newline().len() == 1
    }
}

/// What the web has another meaning for, or none.
fn of_its_own(label: &str) -> Option<Kind> {
    Some(match label {
        "iso-8859-1" | "iso8859-1" | "iso_8859-1" | "iso88591" | "iso_8859-1:1987" | "iso-ir-100"
        | "8859_1" | "latin1" | "latin-1" | "l1" | "cp819" | "ibm819" => Encoding::LATIN_1.0,
        "iso-8859-9" | "iso8859-9" | "iso_8859-9" | "iso88599" | "iso_8859-9:1989" | "iso-ir-148"
        | "8859_9" | "latin5" | "latin-5" | "l5" => Kind::Controls("ISO-8859-9", encoding_rs::WINDOWS_1254),
        "iso-8859-11" | "iso8859-11" | "iso_8859-11" | "iso885911" | "tis-620" | "tis620" => {
            Kind::Controls("ISO-8859-11", encoding_rs::WINDOWS_874)
        }
        "cp874" => Kind::Web(encoding_rs::WINDOWS_874),
        "cp932" | "ms932" => Kind::Web(encoding_rs::SHIFT_JIS),
        "cp936" | "ms936" => Kind::Web(encoding_rs::GBK),
        "cp949" | "ms949" | "uhc" => Kind::Web(encoding_rs::EUC_KR),
        "cp950" | "ms950" => Kind::Web(encoding_rs::BIG5),
        "ucs2" | "ucs-2le" | "unicodelittle" | "utf16le" | "utf-16-le" => Encoding::UTF_16LE.0,
        "ucs-2be" | "unicodebig" | "utf16be" | "utf-16-be" => Encoding::UTF_16BE.0,
        "utf-16" | "utf16" => Kind::Wide(Wide::Utf16),
        "utf-32" | "utf32" | "ucs-4" | "ucs4" => Kind::Wide(Wide::Utf32),
        "utf-32le" | "utf32le" | "ucs-4le" => Kind::Wide(Wide::Utf32Le),
        "utf-32be" | "utf32be" | "ucs-4be" => Kind::Wide(Wide::Utf32Be),
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
