//! The form in which messages wait for a database: a row of text as PostgreSQL's COPY reads it. Fields stand
//! between tabs, the row ends with a line feed, a backslash makes the character behind it a part of the text
//! (`\n`, `\r`, `\t` are the control characters), and `\N` is NULL. It is UTF-8 without NUL.

use std::borrow::Cow;

/// What stands for a byte that no text of a database may have.
const REPLACEMENT: &[u8] = "\u{fffd}".as_bytes();

/// Whether a text stands in a row as it is.
fn is_plain(bytes: &[u8]) -> bool {
    // Without a branch in it, so that it is done many bytes at a time. As signed numbers, bytes from 128 on
    // are below all others. It also finds some that stay as they are.
    let bad = |byte: u8| (byte.cast_signed() < 0x10) | (byte == b'\\');
    !bytes.iter().fold(false, |found, byte| found | bad(*byte))
}

/// Whether all these texts, one behind the other, are plain: then each is appended by itself.
pub fn are_plain(texts: &[u8]) -> bool {
    is_plain(texts)
}

/// Appends a text as a field.
pub fn append(out: &mut Vec<u8>, text: &[u8]) {
    if is_plain(text) {
        out.extend_from_slice(text);
        return;
    }
    // As a whole it is looked at many bytes at a time.
    if std::str::from_utf8(text).is_ok() {
        append_escaped(out, text);
        return;
    }
    for chunk in text.utf8_chunks() {
        append_escaped(out, chunk.valid().as_bytes());
        if !chunk.invalid().is_empty() {
            out.extend_from_slice(REPLACEMENT);
        }
    }
}

fn append_escaped(out: &mut Vec<u8>, text: &[u8]) {
    let mut rest = text;
    while let Some(at) = rest.iter().position(|byte| matches!(byte, b'\\' | b'\t' | b'\n' | b'\r' | 0)) {
        let (head, tail) = rest.split_at(at);
        out.extend_from_slice(head);
        match tail.first() {
            Some(b'\\') => out.extend_from_slice(b"\\\\"),
            Some(b'\t') => out.extend_from_slice(b"\\t"),
            Some(b'\n') => out.extend_from_slice(b"\\n"),
            Some(b'\r') => out.extend_from_slice(b"\\r"),
            _ => out.extend_from_slice(REPLACEMENT),
        }
        rest = tail.get(1..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
}

/// Appends NULL as a field.
pub fn append_null(out: &mut Vec<u8>) {
    out.extend_from_slice(b"\\N");
}

/// The first field, which names a table, and the row behind it.
pub fn table(row: &[u8]) -> (Cow<'_, [u8]>, &[u8]) {
    match row.iter().position(|byte| *byte == b'\t') {
        Some(at) => (
            text(row.get(..at).unwrap_or_default()).unwrap_or_default(),
            row.get(at + 1..).unwrap_or_default(),
        ),
        None => (Cow::Borrowed(b""), row),
    }
}

/// The fields of a row, `None` being NULL.
pub fn fields(row: &[u8]) -> impl Iterator<Item = Option<Cow<'_, [u8]>>> {
    let row = row.strip_suffix(b"\n").unwrap_or(row);
    let is_escaped = memchr::memchr(b'\\', row).is_some();
    let mut rest = Some(row);
    std::iter::from_fn(move || {
        let begun = rest?;
        let field = match memchr::memchr(b'\t', begun) {
            Some(tab) => {
                rest = begun.get(tab + 1..);
                begun.get(..tab).unwrap_or_default()
            }
            None => rest.take().unwrap_or_default(),
        };
        Some(if is_escaped { text(field) } else { Some(Cow::Borrowed(field)) })
    })
}

/// The text of a field.
fn text(field: &[u8]) -> Option<Cow<'_, [u8]>> {
    if field == b"\\N" {
        return None;
    }
    let Some(first) = memchr::memchr(b'\\', field) else { return Some(Cow::Borrowed(field)) };
    let mut out = field.get(..first).unwrap_or_default().to_vec();
    let mut rest = field.get(first..).unwrap_or_default().iter();
    while let Some(byte) = rest.next() {
        match (byte, byte == &b'\\') {
            (_, false) => out.push(*byte),
            _ => match rest.next() {
                Some(b't') => out.push(b'\t'),
                Some(b'n') => out.push(b'\n'),
                Some(b'r') => out.push(b'\r'),
                Some(other) => out.push(*other),
                None => out.push(b'\\'),
            },
        }
    }
    Some(Cow::Owned(out))
}

/// For the fuzz target and its replay: what is written comes back, whatever it is, and anything can be read.
#[doc(hidden)]
pub fn read_anything(input: &[u8]) {
    let (first, second) = input.split_at(input.len() / 2);
    let mut row = Vec::new();
    append(&mut row, first);
    row.push(b'\t');
    append(&mut row, second);
    row.push(b'\n');
    assert!(std::str::from_utf8(&row).is_ok_and(|text| !text.contains('\0') && text.lines().count() == 1));
    let clean = |text: &[u8]| String::from_utf8_lossy(text).replace('\0', "\u{fffd}").into_bytes();
    let back: Vec<_> = fields(&row).map(|field| field.map(Cow::into_owned)).collect();
    assert_eq!(back, [Some(clean(first)), Some(clean(second))]);
    let _ = (table(input), fields(input).count());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_comes_back() {
        for input in [
            &b""[..],
            b"plain",
            b"tab\there and\nthere\r\\ \\N",
            b"\\N",
            b"nul\0 and \xff\xfe not UTF-8 \xc3",
            "größer\tals".as_bytes(),
            b"bell \x07 and \x0f stay",
            b"\\\\",
        ] {
            read_anything(input);
        }
    }

    #[test]
    fn null_is_not_the_text_that_stands_for_it() {
        let mut row = Vec::new();
        append(&mut row, b"\\N");
        row.push(b'\t');
        append_null(&mut row);
        row.push(b'\n');
        assert_eq!(row, b"\\\\N\t\\N\n");
        assert_eq!(fields(&row).collect::<Vec<_>>(), [Some(Cow::Borrowed(&b"\\N"[..])), None]);
    }

    #[test]
    fn a_table_stands_first() {
        let (name, rest) = table(b"messages_a\tone\ttwo\n");
        assert_eq!((&*name, rest), (&b"messages_a"[..], &b"one\ttwo\n"[..]));
    }

    #[test]
    fn fields_stand_between_tabs() {
        let check = |row: &str, expected: &[&str]| {
            let found: Vec<_> = fields(row.as_bytes()).map(Option::unwrap_or_default).collect();
            assert_eq!(found, expected.iter().map(|text| text.as_bytes()).collect::<Vec<_>>(), "{row:?}");
        };
        check("", &[""]);
        check("\n", &[""]);
        check("a\tb\n", &["a", "b"]);
        check("\t\t\n", &["", "", ""]);
        check("a\\\\\tb\\tc\n", &["a\\", "b\tc"]);
    }
}
