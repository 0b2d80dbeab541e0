//! Packets of control, read and written (MQTT 3.1.1 and 5, section 2).

use crate::session::{Login, Version};

pub const CONNECT: u8 = 0x10;
pub const CONNACK: u8 = 0x20;
pub const PUBLISH: u8 = 0x30;
pub const PUBACK: u8 = 0x40;
pub const PUBREC: u8 = 0x50;
pub const PUBREL: u8 = 0x62;
pub const PUBCOMP: u8 = 0x70;
pub const SUBSCRIBE: u8 = 0x82;
pub const SUBACK: u8 = 0x90;
pub const PINGREQ: u8 = 0xc0;
pub const PINGRESP: u8 = 0xd0;
pub const DISCONNECT: u8 = 0xe0;
/// Of what a server says to one who only publishes.
const PACKET_BYTES_MAX: usize = 64 * 1024;
/// Of a length, of which each byte has seven bits.
const LENGTH_BYTES_MAX: usize = 4;

const PASSWORD: u8 = 0x40;
const USER: u8 = 0x80;
/// The property that says how long a session is kept.
const SESSION_EXPIRY: u8 = 0x11;

/// It is no packet.
#[derive(Debug, PartialEq, Eq)]
pub struct Malformed;

#[derive(Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    /// Its flags included.
    pub kind: u8,
    pub body: &'a [u8],
}

/// The first packet that a publisher hears, and its length; `None` when more is needed.
pub fn packet(bytes: &[u8]) -> Result<Option<(Packet<'_>, usize)>, Malformed> {
    packet_up_to(bytes, PACKET_BYTES_MAX)
}

/// The first packet and its length; `None` when more is needed. Longer ones are none.
pub fn packet_up_to(bytes: &[u8], bytes_max: usize) -> Result<Option<(Packet<'_>, usize)>, Malformed> {
    let Some((kind, rest)) = bytes.split_first() else { return Ok(None) };
    let mut reader = Reader(rest);
    let length = match reader.number() {
        Ok(length) if length <= bytes_max => length,
        Err(Malformed) if rest.len() < LENGTH_BYTES_MAX && rest.iter().all(|byte| byte & 0x80 != 0) => {
            return Ok(None);
        }
        _ => return Err(Malformed),
    };
    match reader.take(length) {
        Ok(body) => Ok(Some((Packet { kind: *kind, body }, bytes.len() - reader.0.len()))),
        Err(Malformed) => Ok(None),
    }
}

/// The beginning of a packet that brings a message of more bytes.
pub struct Large {
    pub kind: u8,
    /// Of its kind and its length.
    pub head_bytes: usize,
    /// Behind these.
    pub bytes: usize,
}

/// Whether a packet begins here that brings a message of more than so many bytes.
pub fn large(bytes: &[u8], bytes_max: usize) -> Option<Large> {
    let (kind, rest) = bytes.split_first()?;
    let mut reader = Reader(rest);
    let length = reader.number().ok().filter(|length| *length > bytes_max)?;
    is_message(*kind).then_some(Large {
        kind: *kind,
        head_bytes: bytes.len() - reader.0.len(),
        bytes: length,
    })
}

/// Appends kind and length of a packet.
pub fn head(out: &mut Vec<u8>, kind: u8, mut length: usize) {
    out.push(kind);
    loop {
        let bits = (length & 0x7f) as u8;
        length >>= 7;
        out.push(bits | if length > 0 { 0x80 } else { 0 });
        if length == 0 {
            return;
        }
    }
}

/// A text behind its length; at most 65535 bytes of it.
pub fn text(out: &mut Vec<u8>, text: &[u8]) {
    let text = text.get(..usize::from(u16::MAX)).unwrap_or(text);
    out.extend_from_slice(&(text.len() as u16).to_be_bytes());
    out.extend_from_slice(text);
}

/// A packet about the identifier of another.
pub fn about(out: &mut Vec<u8>, kind: u8, id: u16) {
    head(out, kind, 2);
    out.extend_from_slice(&id.to_be_bytes());
}

/// Whether a packet of this kind brings a message.
pub fn is_message(kind: u8) -> bool {
    kind & 0xf0 == PUBLISH
}

/// The first words. `flags`, seconds of keep-alive, name; `remembered`: a server of MQTT 5 keeps the
/// session when
/// the connection ends.
pub fn connect(
    out: &mut Vec<u8>,
    version: Version,
    login: &Login,
    (flags, keep_alive, client_id): (u8, u16, &str),
    remembered: bool,
) {
    let mut body = Vec::new();
    text(&mut body, b"MQTT");
    let is_five = version == Version::Five;
    body.push(if is_five { 5 } else { 4 });
    let user = if login.user.is_some() { USER } else { 0 };
    let password = if login.password.is_some() { PASSWORD } else { 0 };
    body.push(flags | user | password);
    body.extend_from_slice(&keep_alive.to_be_bytes());
    match (is_five, remembered) {
        (false, _) => {}
        (true, false) => body.push(0),
        // The session does not end.
        (true, true) => body.extend_from_slice(&[5, SESSION_EXPIRY, 0xff, 0xff, 0xff, 0xff]),
    }
    text(&mut body, client_id.as_bytes());
    for word in [&login.user, &login.password].into_iter().flatten() {
        text(&mut body, word.as_bytes());
    }
    head(out, CONNECT, body.len());
    out.extend_from_slice(&body);
}

/// Whether it can be subscribed to (section 4.7.1): `+` and `#` alone in their levels, `#` last.
pub fn is_filter(filter: &str) -> bool {
    let levels: Vec<&str> = filter.split('/').collect();
    let is_level = |(at, level): (usize, &&str)| match *level {
        "#" => at + 1 == levels.len(),
        "+" => true,
        level => !level.contains(['+', '#', '\0']),
    };
    !filter.is_empty() && filter.len() <= usize::from(u16::MAX) && levels.iter().enumerate().all(is_level)
}

/// Levels of a topic that Mosquitto takes.
const LEVELS_MAX: usize = 200;

/// Whether messages can be published under that name. A server may end the connection because of characters
/// that are not to be in a text (section 1.5.4): of control, and those that are none.
pub fn is_topic(name: &[u8]) -> bool {
    let is_none = |c: char| matches!(u32::from(c), 0xfdd0..=0xfdef) || u32::from(c) & 0xfffe == 0xfffe;
    let text = std::str::from_utf8(name);
    !name.is_empty()
        && name.len() <= usize::from(u16::MAX)
        && name.iter().filter(|byte| **byte == b'/').count() < LEVELS_MAX
        && text
            .is_ok_and(|text| !text.chars().any(|c| matches!(c, '#' | '+') || c.is_control() || is_none(c)))
}

/// Reads what a body is made of, from the front.
pub struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    pub fn take(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(Malformed)?;
        self.0 = rest;
        Ok(taken)
    }

    pub fn u8(&mut self) -> Result<u8, Malformed> {
        self.take(1).map(|bytes| bytes.iter().fold(0, |_, byte| *byte))
    }

    pub fn u16(&mut self) -> Result<u16, Malformed> {
        Ok(u16::from_be_bytes([self.u8()?, self.u8()?]))
    }

    pub fn u32(&mut self) -> Result<u32, Malformed> {
        Ok(u32::from_be_bytes([self.u8()?, self.u8()?, self.u8()?, self.u8()?]))
    }

    /// A number of one to four bytes.
    pub fn number(&mut self) -> Result<usize, Malformed> {
        let mut number = 0;
        for at in 0..LENGTH_BYTES_MAX {
            let byte = self.u8()?;
            number |= usize::from(byte & 0x7f) << (7 * at);
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(Malformed)
    }

    pub fn text(&mut self) -> Result<&'a [u8], Malformed> {
        let count = self.u16()?;
        self.take(usize::from(count))
    }
}

/// Properties of MQTT 5 that say nothing to us.
pub fn skip_properties(reader: &mut Reader<'_>) -> Result<(), Malformed> {
    let length = reader.number()?;
    reader.take(length).map(drop)
}

/// What the properties of a CONNACK of MQTT 5 limit (section 3.2.2.3).
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Limits {
    pub receive_max: Option<u16>,
    pub quality_max: Option<u8>,
    pub packet_bytes_max: Option<u32>,
    pub keep_alive: Option<u16>,
}

pub fn limits(reader: &mut Reader<'_>) -> Result<Limits, Malformed> {
    let length = reader.number()?;
    let mut rest = Reader(reader.take(length)?);
    let mut limits = Limits::default();
    while let Ok(property) = rest.u8() {
        match property {
            0x21 => limits.receive_max = Some(rest.u16()?),
            0x24 => limits.quality_max = Some(rest.u8()?),
            0x27 => limits.packet_bytes_max = Some(rest.u32()?),
            0x13 => limits.keep_alive = Some(rest.u16()?),
            0x25 | 0x28 | 0x29 | 0x2a => {
                rest.u8()?;
            }
            0x22 => {
                rest.u16()?;
            }
            0x11 => {
                rest.u32()?;
            }
            0x12 | 0x1a | 0x1c | 0x1f | 0x15 | 0x16 => {
                rest.text()?;
            }
            0x26 => {
                rest.text()?;
                rest.text()?;
            }
            _ => return Err(Malformed),
        }
    }
    Ok(limits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_come_out_as_they_went_in() {
        for length in [0, 1, 127, 128, 16_383, 16_384, PACKET_BYTES_MAX] {
            let mut out = Vec::new();
            head(&mut out, PUBACK, length);
            out.resize(out.len() + length, 7);
            let size = out.len();
            out.push(1);
            let Ok(Some((found, end))) = packet(&out) else { panic!("{length}") };
            assert_eq!((found.kind, found.body.len(), end), (PUBACK, length, size));
            for cut in [0, 1, 2, size / 2, size - 1] {
                if cut < size {
                    assert_eq!(packet(&out[..cut]), Ok(None), "{length} {cut}");
                }
            }
        }
        assert_eq!(packet(b"\x40\xff\xff\xff\x7f"), Err(Malformed));
        assert_eq!(packet(b"\x40\x80\x80\x80\x80\x01"), Err(Malformed));
    }

    #[test]
    fn topics() {
        for (name, expected) in
            [("a", true), ("a/b c/é", true), ("", false), ("a/#", false), ("+/a", false), ("a\0", false)]
        {
            assert_eq!(is_topic(name.as_bytes()), expected, "{name}");
        }
        assert!(!is_topic(b"\xff") && !is_topic(&[b'a'; 65_536]));
        for text in ["a\tb", "a\u{7f}", "a\u{85}", "\u{fffe}", "\u{1ffff}", "\u{fdd0}"] {
            assert!(!is_topic(text.as_bytes()), "{text:?}");
        }
        assert!(is_topic("\u{fffd}\u{e000}".as_bytes()));
        assert!(is_topic("/".repeat(199).as_bytes()) && !is_topic("/".repeat(200).as_bytes()));
    }

    #[test]
    fn filters() {
        for (filter, expected) in [
            ("a", true),
            ("a/+/b", true),
            ("#", true),
            ("a/#", true),
            ("", false),
            ("a/#/b", false),
            ("a+", false),
            ("a#", false),
        ] {
            assert_eq!(is_filter(filter), expected, "{filter}");
        }
    }

    #[test]
    fn properties() {
        let bytes = b"\x0b\x21\0\x14\x24\x01\x27\0\0\x10\0\x25";
        assert_eq!(limits(&mut Reader(bytes)), Err(Malformed));
        let bytes = b"\x0f\x21\0\x14\x24\x01\x27\0\0\x10\0\x12\0\x02id";
        let expected = Limits {
            receive_max: Some(20),
            quality_max: Some(1),
            packet_bytes_max: Some(4096),
            keep_alive: None,
        };
        assert_eq!(limits(&mut Reader(bytes)), Ok(expected));
        assert_eq!(limits(&mut Reader(b"\x02\x99\0")), Err(Malformed));
    }
}
