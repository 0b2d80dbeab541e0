//! What text and attributes stand for: the five entities, character references, ends of lines.

/// Bytes to the end of the longest reference: `&#x10FFFF;` with some zeros in front.
const REFERENCE_MAX: usize = 24;

/// The end of the reference at the `&` of `text[at]`; `None` when it is none.
pub fn end(text: &[u8], at: usize) -> Option<usize> {
    reference(text.get(at..)?).map(|(_, len)| at + len)
}

/// Character and length of the reference `text` begins with.
fn reference(text: &[u8]) -> Option<(char, usize)> {
    let body = text.get(1..)?;
    let len = body.iter().take(REFERENCE_MAX).position(|b| *b == b';')?;
    let c = match body.get(..len)? {
        b"lt" => '<',
        b"gt" => '>',
        b"amp" => '&',
        b"quot" => '"',
        b"apos" => '\'',
        [b'#', b'x', digits @ ..] => number(digits, 16)?,
        [b'#', digits @ ..] => number(digits, 10)?,
        _ => return None,
    };
    Some((c, len + 2))
}

/// A character XML allows, and control characters, which syslog-ng's library lets pass.
fn number(digits: &[u8], radix: u32) -> Option<char> {
    let digit = |value: u32, b: &u8| value.checked_mul(radix)?.checked_add(char::from(*b).to_digit(radix)?);
    let value = digits.iter().try_fold(0, digit).filter(|_| !digits.is_empty())?;
    char::from_u32(value).filter(|c| !matches!(c, '\0' | '\u{fffe}' | '\u{ffff}'))
}

/// Appends what a text with good references stands for; in attributes all white space is a blank.
pub fn resolve(raw: &[u8], attribute: bool, out: &mut Vec<u8>) {
    let mut at = 0;
    while let Some(byte) = raw.get(at) {
        at += 1;
        match byte {
            b'&' => match reference(raw.get(at - 1..).unwrap_or_default()) {
                Some((c, len)) => {
                    let mut bytes = [0; 4];
                    out.extend_from_slice(c.encode_utf8(&mut bytes).as_bytes());
                    at += len - 1;
                }
                None => out.push(b'&'),
            },
            b'\r' => {
                at += usize::from(raw.get(at) == Some(&b'\n'));
                out.push(if attribute { b' ' } else { b'\n' });
            }
            b'\t' | b'\n' if attribute => out.push(b' '),
            byte => out.push(*byte),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references() {
        for (text, expected) in [
            ("&lt;x", Some(('<', 4))),
            ("&#65;", Some(('A', 5))),
            ("&#x1F600;", Some(('\u{1f600}', 9))),
            ("&#1;", Some(('\u{1}', 4))),
            ("&#0;", None),
            ("&#xD800;", None),
            ("&#x110000;", None),
            ("&#99999999999;", None),
            ("&#;", None),
            ("&#x;", None),
            ("&;", None),
            ("&LT;", None),
            ("&lt", None),
            ("&#0000000000000000000000000000065;", None),
        ] {
            assert_eq!(reference(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn lines_and_blanks() {
        for (raw, attribute, expected) in [
            ("a\r\nb\rc\td", false, "a\nb\nc\td"),
            ("a\r\nb\rc\td\n", true, "a b c d "),
            ("&amp;amp;", true, "&amp;"),
        ] {
            let mut out = Vec::new();
            resolve(raw.as_bytes(), attribute, &mut out);
            assert_eq!(String::from_utf8_lossy(&out), expected);
        }
    }
}
