//! Messages of several fields: what a destination wants of each beside its text, a topic or the arguments of
//! a command. They wait in this form: how many there are, each behind its length, and the text. All numbers
//! are `u32`, little endian.

/// Begins a message that has so many fields beside its text.
pub fn begin_fields(out: &mut Vec<u8>, count: usize) {
    out.extend_from_slice(&(count as u32).to_le_bytes());
}

pub fn put_field(out: &mut Vec<u8>, field: &[u8]) {
    out.extend_from_slice(&(field.len() as u32).to_le_bytes());
    out.extend_from_slice(field);
}

/// The fields of a message, and its text as the last one.
pub fn fields(message: &[u8]) -> Fields<'_> {
    match message.split_first_chunk::<4>() {
        Some((count, rest)) => Fields { left: u32::from_le_bytes(*count), rest: Some(rest) },
        None => Fields { left: 0, rest: Some(message) },
    }
}

#[derive(Clone)]
pub struct Fields<'a> {
    left: u32,
    rest: Option<&'a [u8]>,
}

impl<'a> Fields<'a> {
    /// The text, whatever comes before it.
    pub fn text(self) -> &'a [u8] {
        let mut text = &[][..];
        for field in self {
            text = field;
        }
        text
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = &'a [u8];

    /// What has no whole field is the text.
    fn next(&mut self) -> Option<&'a [u8]> {
        let rest = self.rest.take()?;
        let Some(left) = self.left.checked_sub(1) else { return Some(rest) };
        let split = rest
            .split_first_chunk::<4>()
            .and_then(|(length, after)| after.split_at_checked(u32::from_le_bytes(*length) as usize));
        match split {
            Some((field, after)) => {
                (self.left, self.rest) = (left, Some(after));
                Some(field)
            }
            None => Some(rest),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_come_out_as_they_went_in_and_foreign_bytes_end() {
        let mut message = Vec::new();
        begin_fields(&mut message, 2);
        put_field(&mut message, b"");
        put_field(&mut message, &[0xff; 300]);
        message.extend_from_slice(b"text");
        let all: [&[u8]; 3] = [b"", &[0xff; 300], b"text"];
        assert_eq!(fields(&message).collect::<Vec<_>>(), all);
        assert_eq!(fields(&message).text(), b"text");
        for cut in 0..message.len() {
            assert!(fields(&message[..cut]).count() <= 3);
        }
        assert_eq!(fields(b"\xff\xff\xff\xff\xff\xff\xff\xff").count(), 1);
        assert_eq!(fields(b"x").text(), b"x");
    }
}
