//! Frames and what methods are made of (AMQP 0-9-1, section 4.2).

pub const METHOD: u8 = 1;
pub const HEADER: u8 = 2;
pub const BODY: u8 = 3;
pub const HEARTBEAT: u8 = 8;
const END: u8 = 0xce;
/// Type, channel, size; and the end.
pub const AROUND: usize = 8;
/// Of a frame from the server, as this side asks for it.
pub const FRAME_BYTES_MAX: usize = 131_072;

/// A method by the numbers of its class and its own.
pub type Method = (u16, u16);
pub const START: Method = (10, 10);
pub const START_OK: Method = (10, 11);
pub const TUNE: Method = (10, 30);
pub const TUNE_OK: Method = (10, 31);
pub const OPEN: Method = (10, 40);
pub const OPEN_OK: Method = (10, 41);
pub const CLOSE: Method = (10, 50);
pub const CHANNEL_OPEN: Method = (20, 10);
pub const CHANNEL_OPEN_OK: Method = (20, 11);
pub const CHANNEL_CLOSE: Method = (20, 40);
pub const EXCHANGE_DECLARE: Method = (40, 10);
pub const EXCHANGE_DECLARE_OK: Method = (40, 11);
pub const PUBLISH: Method = (60, 40);
pub const RETURN: Method = (60, 50);
pub const ACK: Method = (60, 80);
pub const NACK: Method = (60, 120);
pub const CONFIRM_SELECT: Method = (85, 10);
pub const CONFIRM_SELECT_OK: Method = (85, 11);

/// It is no frame.
#[derive(Debug, PartialEq, Eq)]
pub struct Malformed;

#[derive(Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    pub kind: u8,
    pub payload: &'a [u8],
}

/// The first frame and its length; `None` when more is needed.
pub fn frame(bytes: &[u8]) -> Result<Option<(Frame<'_>, usize)>, Malformed> {
    let Some((head, rest)) = bytes.split_first_chunk::<7>() else { return Ok(None) };
    let size = u32::from_be_bytes([head[3], head[4], head[5], head[6]]) as usize;
    if !matches!(head[0], METHOD | HEADER | BODY | HEARTBEAT) || size > FRAME_BYTES_MAX {
        return Err(Malformed);
    }
    match rest.split_at_checked(size) {
        Some((payload, [END, ..])) => Ok(Some((Frame { kind: head[0], payload }, size + AROUND))),
        Some((_, [_, ..])) => Err(Malformed),
        _ => Ok(None),
    }
}

/// Begins a frame; returns where, for [`end`].
pub fn begin(out: &mut Vec<u8>, kind: u8, channel: u16) -> usize {
    out.push(kind);
    out.extend_from_slice(&channel.to_be_bytes());
    out.extend_from_slice(&[0; 4]);
    out.len()
}

pub fn end(out: &mut Vec<u8>, begin: usize) {
    fill_length(out, begin);
    out.push(END);
}

/// Begins the frame of a method.
pub fn method(out: &mut Vec<u8>, channel: u16, (class, method): Method) -> usize {
    let begin = begin(out, METHOD, channel);
    out.extend_from_slice(&class.to_be_bytes());
    out.extend_from_slice(&method.to_be_bytes());
    begin
}

/// Puts the length of all that stands behind a place in front of it.
fn fill_length(out: &mut [u8], begin: usize) {
    let length = (out.len() - begin) as u32;
    if let Some(place) = out.get_mut(begin - 4..begin) {
        place.copy_from_slice(&length.to_be_bytes());
    }
}

/// A text of at most 255 bytes; what is more is cut.
pub fn short(out: &mut Vec<u8>, text: &[u8]) {
    let text = text.get(..255).unwrap_or(text);
    out.push(text.len() as u8);
    out.extend_from_slice(text);
}

pub fn long(out: &mut Vec<u8>, text: &[u8]) {
    out.extend_from_slice(&(text.len() as u32).to_be_bytes());
    out.extend_from_slice(text);
}

/// A table: begins and ends like a frame.
pub fn begin_table(out: &mut Vec<u8>) -> usize {
    out.extend_from_slice(&[0; 4]);
    out.len()
}

pub fn end_table(out: &mut [u8], begin: usize) {
    fill_length(out, begin);
}

pub fn text_in_table(out: &mut Vec<u8>, name: &[u8], text: &[u8]) {
    short(out, name);
    out.push(b'S');
    long(out, text);
}

pub fn yes_in_table(out: &mut Vec<u8>, name: &[u8]) {
    short(out, name);
    out.extend_from_slice(b"t\x01");
}

/// Reads what a payload is made of, from the front.
pub struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    pub fn take(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(Malformed)?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (taken, rest) = self.0.split_first_chunk::<N>().ok_or(Malformed)?;
        self.0 = rest;
        Ok(*taken)
    }

    pub fn u8(&mut self) -> Result<u8, Malformed> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub fn u16(&mut self) -> Result<u16, Malformed> {
        self.array().map(u16::from_be_bytes)
    }

    pub fn u32(&mut self) -> Result<u32, Malformed> {
        self.array().map(u32::from_be_bytes)
    }

    pub fn u64(&mut self) -> Result<u64, Malformed> {
        self.array().map(u64::from_be_bytes)
    }

    pub fn short(&mut self) -> Result<&'a [u8], Malformed> {
        let count = self.u8()?;
        self.take(usize::from(count))
    }

    pub fn long(&mut self) -> Result<&'a [u8], Malformed> {
        let count = self.u32()?;
        self.take(count as usize)
    }

    pub fn method(&mut self) -> Result<Method, Malformed> {
        Ok((self.u16()?, self.u16()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_come_out_as_they_went_in() {
        let mut out = Vec::new();
        let begin = method(&mut out, 1, ACK);
        out.extend_from_slice(&7u64.to_be_bytes());
        end(&mut out, begin);
        assert_eq!(out, b"\x01\0\x01\0\0\0\x0c\0\x3c\0\x50\0\0\0\0\0\0\0\x07\xce");
        let with_more = [&out[..], b"\x08"].concat();
        let Ok(Some((found, length))) = frame(&with_more) else { panic!("a frame") };
        assert_eq!((found.kind, length), (METHOD, out.len()));
        let mut reader = Reader(found.payload);
        assert_eq!((reader.method(), reader.u64(), reader.u8()), (Ok(ACK), Ok(7), Err(Malformed)));
        for cut in 0..out.len() {
            assert_eq!(frame(&out[..cut]), Ok(None), "{cut}");
        }
        for wrong in [&b"AMQP\0\0\x09\x01"[..], b"\x01\0\0\xff\0\0\0\0", b"\x08\0\0\0\0\0\0\0"] {
            assert_eq!(frame(wrong), Err(Malformed), "{wrong:?}");
        }
    }
}
