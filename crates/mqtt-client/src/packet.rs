//! Packets of control, read and written (MQTT 3.1.1 and 5, section 2).

pub const CONNECT: u8 = 0x10;
pub const CONNACK: u8 = 0x20;
pub const PUBLISH: u8 = 0x30;
pub const PUBACK: u8 = 0x40;
pub const PUBREC: u8 = 0x50;
pub const PUBREL: u8 = 0x62;
pub const PUBCOMP: u8 = 0x70;
pub const PINGREQ: u8 = 0xc0;
pub const PINGRESP: u8 = 0xd0;
pub const DISCONNECT: u8 = 0xe0;
/// Of what a server says to one who only publishes.
const PACKET_BYTES_MAX: usize = 64 * 1024;
/// Of a length, of which each byte has seven bits.
const LENGTH_BYTES_MAX: usize = 4;

/// It is no packet.
#[derive(Debug, PartialEq, Eq)]
pub struct Malformed;

#[derive(Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    /// Its flags included.
    pub kind: u8,
    pub body: &'a [u8],
}

/// The first packet and its length; `None` when more is needed.
pub fn packet(bytes: &[u8]) -> Result<Option<(Packet<'_>, usize)>, Malformed> {
    let Some((kind, rest)) = bytes.split_first() else { return Ok(None) };
    let mut reader = Reader(rest);
    let length = match reader.number() {
        Ok(length) if length <= PACKET_BYTES_MAX => length,
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

/// Whether messages can be published under that name.
pub fn is_topic(name: &[u8]) -> bool {
    let text = std::str::from_utf8(name);
    !name.is_empty()
        && name.len() <= usize::from(u16::MAX)
        && text.is_ok_and(|text| !text.contains(['#', '+', '\0']))
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

    fn text(&mut self) -> Result<&'a [u8], Malformed> {
        let count = self.u16()?;
        self.take(usize::from(count))
    }
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
