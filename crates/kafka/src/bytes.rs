//! Values of Kafka's protocol: big-endian numbers, texts and lists behind their lengths.

/// What a peer said cannot be read: where it went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed(pub &'static str);

pub type Read<T> = Result<T, Malformed>;

/// What is left to read of an answer.
#[derive(Clone, Copy)]
pub struct Input<'a>(pub &'a [u8]);

impl<'a> Input<'a> {
    fn take<const N: usize>(&mut self) -> Read<[u8; N]> {
        let (head, rest) = self.0.split_first_chunk::<N>().ok_or(Malformed("it ends too early"))?;
        self.0 = rest;
        Ok(*head)
    }

    pub fn bool(&mut self) -> Read<bool> {
        Ok(self.take::<1>()?[0] != 0)
    }

    pub fn i16(&mut self) -> Read<i16> {
        Ok(i16::from_be_bytes(self.take()?))
    }

    pub fn i32(&mut self) -> Read<i32> {
        Ok(i32::from_be_bytes(self.take()?))
    }

    pub fn i64(&mut self) -> Read<i64> {
        Ok(i64::from_be_bytes(self.take()?))
    }

    fn slice(&mut self, length: usize) -> Read<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(length).ok_or(Malformed("a text is longer than it"))?;
        self.0 = rest;
        Ok(head)
    }

    /// `None` is null.
    pub fn text(&mut self) -> Read<Option<&'a [u8]>> {
        let length = self.i16()?;
        usize::try_from(length).ok().map(|length| self.slice(length)).transpose()
    }

    /// `None` is null.
    pub fn bytes(&mut self) -> Read<Option<&'a [u8]>> {
        let length = self.i32()?;
        usize::try_from(length).ok().map(|length| self.slice(length)).transpose()
    }

    /// Reads each item of a list. A null list is empty.
    pub fn list(&mut self, mut each: impl FnMut(&mut Input<'a>) -> Read<()>) -> Read<()> {
        let count = self.i32()?;
        for _ in 0..count {
            // An item is never empty, so a count that lies ends the list early.
            each(self)?;
        }
        Ok(())
    }
}

/// What newer versions of a protocol's messages have: lengths of seven bits a byte, one more than they are.
impl<'a> Input<'a> {
    fn length(&mut self) -> Read<usize> {
        let mut length = 0;
        for at in 0..5 {
            let [byte] = self.take::<1>()?;
            length |= usize::from(byte & 0x7f) << (7 * at);
            if byte < 0x80 {
                return Ok(length);
            }
        }
        Err(Malformed("a length has no end"))
    }

    /// `None` is null.
    pub fn compact_text(&mut self) -> Read<Option<&'a [u8]>> {
        let length = self.length()?;
        length.checked_sub(1).map(|length| self.slice(length)).transpose()
    }

    /// Of a topic.
    pub fn number(&mut self) -> Read<[u8; 16]> {
        self.take()
    }

    pub fn i8(&mut self) -> Read<i8> {
        Ok(i8::from_be_bytes(self.take()?))
    }

    pub fn compact_list(&mut self, mut each: impl FnMut(&mut Input<'a>) -> Read<()>) -> Read<()> {
        for _ in 1..self.length()? {
            each(self)?;
        }
        Ok(())
    }

    /// Fields that are not known here.
    pub fn skip_tags(&mut self) -> Read<()> {
        for _ in 0..self.length()? {
            self.length()?;
            let length = self.length()?;
            self.slice(length)?;
        }
        Ok(())
    }
}

/// A text for people.
pub fn shown(text: Option<&[u8]>) -> String {
    String::from_utf8_lossy(text.unwrap_or_default()).into_owned()
}

/// Appends a text behind its length. Longer ones than there can be are cut.
pub fn put_text(out: &mut Vec<u8>, text: &[u8]) {
    let text = text.get(..i16::MAX as usize).unwrap_or(text);
    out.extend_from_slice(&(text.len() as i16).to_be_bytes());
    out.extend_from_slice(text);
}

pub fn put_null_text(out: &mut Vec<u8>) {
    out.extend_from_slice(&(-1i16).to_be_bytes());
}

pub fn put_i16(out: &mut Vec<u8>, n: i16) {
    out.extend_from_slice(&n.to_be_bytes());
}

pub fn put_i32(out: &mut Vec<u8>, n: i32) {
    out.extend_from_slice(&n.to_be_bytes());
}

pub fn put_i64(out: &mut Vec<u8>, n: i64) {
    out.extend_from_slice(&n.to_be_bytes());
}

/// Of a compact text or list: one more than there are, 0 for null.
pub fn put_length(out: &mut Vec<u8>, mut length: usize) {
    while length >= 0x80 {
        out.push(length as u8 | 0x80);
        length >>= 7;
    }
    out.push(length as u8);
}

pub fn put_compact_text(out: &mut Vec<u8>, text: &[u8]) {
    put_length(out, text.len() + 1);
    out.extend_from_slice(text);
}

/// A text, or null.
pub fn put_optional_compact_text(out: &mut Vec<u8>, text: Option<&[u8]>) {
    match text {
        Some(text) => put_compact_text(out, text),
        None => out.push(0),
    }
}

/// A text, or null.
pub fn put_optional_text(out: &mut Vec<u8>, text: Option<&[u8]>) {
    match text {
        Some(text) => put_text(out, text),
        None => put_null_text(out),
    }
}

pub fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_i32(out, bytes.len() as i32);
    out.extend_from_slice(bytes);
}
