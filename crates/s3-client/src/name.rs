//! The names of objects.

use std::fmt::Write;

/// Longer names no server takes.
pub const KEY_BYTES_MAX: usize = 1024;

/// As a path has it: every byte but letters, digits, `-._~` and, with `slashes`, `/` is percent-encoded.
pub fn encoded(text: &[u8], slashes: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                out.push(char::from(*byte))
            }
            b'/' if slashes => out.push('/'),
            _ => {
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}

/// The name of the object that begins with a message: what stands before, where the message stands, what
/// stands behind.
pub fn object(before: &[u8], place: &str, behind: &str) -> Vec<u8> {
    let mut name = before.to_vec();
    name.push(b'-');
    name.extend_from_slice(place.as_bytes());
    name.extend_from_slice(behind.as_bytes());
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        assert_eq!(encoded(b"a/b c+\xc3\xa9~", true), "a/b%20c%2B%C3%A9~");
        assert_eq!(encoded(b"a/b", false), "a%2Fb");
        assert_eq!(object(b"logs/h", "0a-07", ".log"), b"logs/h-0a-07.log");
    }
}
