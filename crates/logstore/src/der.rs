//! As much of DER as certificates and time stamps need: elements one in another, read without copies.

/// An element: its tag, what is in it, and all of its bytes.
#[derive(Clone, Copy, Debug)]
pub struct Element<'a> {
    pub tag: u8,
    pub content: &'a [u8],
    pub whole: &'a [u8],
}

pub const INTEGER: u8 = 0x02;
pub const OCTETS: u8 = 0x04;
pub const OID: u8 = 0x06;
pub const SEQUENCE: u8 = 0x30;
pub const SET: u8 = 0x31;
/// `[0]` and `[1]`, with elements in them.
pub const FIELD_0: u8 = 0xa0;
pub const FIELD_1: u8 = 0xa1;

/// Elements one after the other; ends at the first that is none.
#[derive(Clone, Copy, Debug)]
pub struct Elements<'a>(pub &'a [u8]);

impl<'a> Iterator for Elements<'a> {
    type Item = Element<'a>;

    fn next(&mut self) -> Option<Element<'a>> {
        let bytes = self.0;
        let (&tag, &first) = (bytes.first()?, bytes.get(1)?);
        let (head, length) = match first {
            0..=0x7f => (2, usize::from(first)),
            0x81..=0x84 => {
                let count = usize::from(first & 0x7f);
                let digits = bytes.get(2..2 + count)?;
                (2 + count, digits.iter().fold(0, |sum, digit| sum << 8 | usize::from(*digit)))
            }
            _ => return None,
        };
        let whole = bytes.get(..head.checked_add(length)?)?;
        self.0 = bytes.get(whole.len()..)?;
        Some(Element { tag, content: whole.get(head..)?, whole })
    }
}

impl<'a> Elements<'a> {
    /// The next one, if it has this tag.
    pub fn want(&mut self, tag: u8) -> Option<Element<'a>> {
        let before = *self;
        let found = self.next().filter(|element| element.tag == tag);
        if found.is_none() {
            *self = before;
        }
        found
    }
}

impl<'a> Element<'a> {
    pub fn inner(&self) -> Elements<'a> {
        Elements(self.content)
    }
}

/// The first element of bytes, if it has this tag.
pub fn one(bytes: &[u8], tag: u8) -> Option<Element<'_>> {
    Elements(bytes).want(tag)
}

/// What of a certificate is asked for.
pub struct CertificateParts<'a> {
    pub issuer: &'a [u8],
    pub serial: &'a [u8],
    /// SubjectPublicKeyInfo.
    pub public_key: &'a [u8],
}

pub fn certificate(der: &[u8]) -> Option<CertificateParts<'_>> {
    let mut fields = one(one(der, SEQUENCE)?.content, SEQUENCE)?.inner();
    fields.want(FIELD_0);
    let serial = fields.want(INTEGER)?.content;
    fields.want(SEQUENCE)?;
    let issuer = fields.want(SEQUENCE)?.whole;
    fields.want(SEQUENCE)?;
    fields.want(SEQUENCE)?;
    Some(CertificateParts { issuer, serial, public_key: fields.want(SEQUENCE)?.whole })
}

/// The key of a certificate, as SubjectPublicKeyInfo.
pub fn public_key(der: &[u8]) -> Option<&[u8]> {
    certificate(der).map(|parts| parts.public_key)
}

/// An element of these parts.
pub fn write(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    let mut out = vec![tag];
    match u8::try_from(length) {
        Ok(short @ 0..=0x7f) => out.push(short),
        Ok(long) => out.extend_from_slice(&[0x81, long]),
        Err(_) => {
            out.push(0x82);
            out.extend_from_slice(&(length.min(0xffff) as u16).to_be_bytes());
        }
    }
    parts.iter().for_each(|part| out.extend_from_slice(part));
    out
}
