//! The stamps of messages in whatever they travel in: documents, rows, records of protobuf. Each becomes a
//! line of its own, by which the judge knows what arrived.

use memchr::memmem::Finder;

/// `conn=0000 seq=000000000`
const LENGTH: usize = 23;
const BEGINNING: &[u8] = b"conn=";

pub struct Stamps {
    finder: Finder<'static>,
    lines: Vec<u8>,
}

impl Default for Stamps {
    fn default() -> Stamps {
        Stamps { finder: Finder::new(BEGINNING), lines: Vec::new() }
    }
}

impl Stamps {
    /// The stamps in `bytes`, a line each; how many.
    pub fn of(&mut self, bytes: &[u8]) -> (&[u8], usize) {
        self.lines.clear();
        let mut count = 0;
        let mut rest = bytes;
        while let Some(at) = self.finder.find(rest)
            && let Some(stamp) = rest.get(at..at + LENGTH)
        {
            let mut end = at + BEGINNING.len();
            if stamp[9..].starts_with(b" seq=") {
                self.lines.extend_from_slice(stamp);
                self.lines.push(b'\n');
                count += 1;
                end = at + LENGTH;
            }
            rest = &rest[end..];
        }
        (&self.lines, count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_are_found_in_anything() {
        let mut stamps = Stamps::default();
        let text = b"\x00{\"MSG\":\"conn=0001 seq=000000002 x\"}\xffconn=x and conn=0003 seq=000000004";
        assert_eq!(stamps.of(text), (&b"conn=0001 seq=000000002\nconn=0003 seq=000000004\n"[..], 2));
        assert_eq!(stamps.of(b"conn=0003 seq=00000"), (&b""[..], 0));
    }
}
