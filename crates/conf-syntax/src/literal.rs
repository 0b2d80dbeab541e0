//! Quoted strings: resolving escapes, and putting a text between quotes again.

use crate::ast::Quote;

/// Resolves the escapes of a double-quoted string. An unknown escape is the character itself: `\d` is `d`.
pub fn unescape(content: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(content.len());
    let mut rest = content;
    while let Some((&b, tail)) = rest.split_first() {
        rest = tail;
        if b != b'\\' {
            out.push(b);
            continue;
        }
        let Some((&escape, tail)) = rest.split_first() else {
            out.push(b'\\');
            break;
        };
        rest = tail;
        match escape {
            b'a' => out.push(0x07),
            b'n' => out.push(b'\n'),
            b'r' => out.push(b'\r'),
            b't' => out.push(b'\t'),
            b'v' => out.push(0x0b),
            b'\n' => {}
            b'\r' if rest.first() == Some(&b'\n') => rest = rest.get(1..).unwrap_or_default(),
            b'x' => number(&mut out, &mut rest, 16, 2, b'x'),
            b'o' => number(&mut out, &mut rest, 8, 3, b'o'),
            other => out.push(other),
        }
    }
    out
}

/// Up to `digits_max` digits as one byte; none at all leaves the letter.
fn number(out: &mut Vec<u8>, rest: &mut &[u8], radix: u32, digits_max: usize, letter: u8) {
    let count = rest.iter().take(digits_max).take_while(|b| char::from(**b).is_digit(radix)).count();
    let value =
        rest.iter().take(count).fold(0u32, |n, b| n * radix + char::from(*b).to_digit(radix).unwrap_or(0));
    out.push(if count == 0 { letter } else { value as u8 });
    *rest = rest.get(count..).unwrap_or_default();
}

/// The content of `text` if it is exactly one string literal (blanks around it do not count).
pub fn whole_literal(text: &str) -> Option<String> {
    let text = text.trim();
    let inner = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
    if let Some(content) = inner('\'') {
        return (!content.contains('\'')).then(|| content.to_string());
    }
    let content = inner('"')?;
    let mut bytes = content.bytes();
    while let Some(b) = bytes.next() {
        match b {
            b'"' => return None,
            // The closing quote itself is escaped: not a whole literal.
            b'\\' => bytes.next().map(|_| ())?,
            _ => {}
        }
    }
    String::from_utf8(unescape(content.as_bytes())).ok()
}

/// `text` so that it means itself inside a string of the given kind; None when that kind cannot hold it.
pub fn requote(text: &str, quote: Quote) -> Option<String> {
    match quote {
        Quote::Single => (!text.contains('\'')).then(|| text.to_string()),
        Quote::Double => Some(text.replace('\\', "\\\\").replace('"', "\\\"")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(content: &str, expected: &[u8]) {
        assert_eq!(unescape(content.as_bytes()), expected, "{content}");
    }

    #[test]
    fn escapes() {
        check(r"\a\n\r\t\v", b"\x07\n\r\t\x0b");
        check(r"\x41\x4z\xg", b"A\x04zxg");
        check(r"\o101\o7x\o9", b"A\x07xo9");
        check("a\\\nb\\\r\nc", b"abc");
        check(r#"\\ \" \d \' \/"#, br#"\ " d ' /"#);
        check("raw\nnewline", b"raw\nnewline");
    }

    #[test]
    fn whole_literals() {
        assert_eq!(whole_literal(r#" "a\"b" "#), Some("a\"b".into()));
        assert_eq!(whole_literal("'a\"b'"), Some("a\"b".into()));
        assert_eq!(whole_literal(r#""a" "b""#), None);
        assert_eq!(whole_literal(r#""a\""#), None);
        assert_eq!(whole_literal("'a' 'b'"), None);
        assert_eq!(whole_literal("abc"), None);
        assert_eq!(whole_literal("\""), None);
        assert_eq!(whole_literal(""), None);
    }
}
