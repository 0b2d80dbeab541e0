//! Finds the stamp `conn=<4 digits> seq=<9 digits>` in a line. A line with two different ones is two lines
//! run together; one that has its own twice prints its message twice.

use memchr::memmem;

use crate::digits;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    pub conn: u32,
    pub seq: u64,
}

/// `conn=0000 seq=000000000`
const STAMP_BYTES: usize = 23;

pub struct Finder {
    needle: memmem::Finder<'static>,
}

impl Finder {
    pub fn new() -> Finder {
        Finder { needle: memmem::Finder::new(b"conn=") }
    }

    /// The line's stamp; `None` when it has none, or two different ones (lines run together).
    pub fn find(&self, line: &[u8]) -> Option<Stamp> {
        let mut found = None;
        let mut from = 0;
        while let Some(at) = self.needle.find(&line[from..]) {
            let at = from + at;
            if let Some(stamp) = line.get(at..at + STAMP_BYTES).and_then(parse) {
                if found.is_some_and(|other| other != stamp) {
                    return None;
                }
                found = Some(stamp);
            }
            from = at + 5;
        }
        found
    }
}

fn parse(text: &[u8]) -> Option<Stamp> {
    let conn = digits::parse(&text[5..9])?;
    let seq = digits::parse(text[9..].strip_prefix(b" seq=")?)?;
    Some(Stamp { conn: conn as u32, seq })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps() {
        let finder = Finder::new();
        for (line, expected) in [
            ("Nov 21 10:00:00 h app: conn=0012 seq=000000345 text", Some(Stamp { conn: 12, seq: 345 })),
            ("conn=0000 seq=000000000", Some(Stamp { conn: 0, seq: 0 })),
            ("conn=x conn=0001 seq=000000002", Some(Stamp { conn: 1, seq: 2 })),
            ("", None),
            ("conn=0000 seq=00000000", None),
            ("conn=00001seq=000000000", None),
            ("no stamp here", None),
            ("conn=0000 seq=000000000 and conn=0000 seq=000000001", None),
            (
                "conn=0000 seq=000000001 x {\"MESSAGE\":\"conn=0000 seq=000000001 x\"}",
                Some(Stamp { conn: 0, seq: 1 }),
            ),
        ] {
            assert_eq!(finder.find(line.as_bytes()), expected, "{line}");
        }
    }
}
