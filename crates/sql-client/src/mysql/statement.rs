//! Rows as literals of INSERT statements, none of which is larger than the server takes.

use crate::not_done::NotDone;
use crate::row;

pub struct Inserts {
    head: String,
    /// Stands behind the rows.
    tail: String,
    /// Of each row.
    fields: usize,
    plain_backslash: bool,
    bytes_max: usize,
    /// The last statement.
    text: Vec<u8>,
    /// A row that it had no room for.
    kept: Vec<u8>,
}

impl Inserts {
    pub fn new(head: String, tail: String, fields: usize) -> Inserts {
        let (plain_backslash, bytes_max) = (false, usize::MAX);
        let (text, kept) = (Vec::new(), Vec::new());
        Inserts { head, tail, fields, plain_backslash, bytes_max, text, kept }
    }

    /// What the server takes: how backslashes are read, and the most bytes of a statement.
    pub fn for_server(self, plain_backslash: bool, bytes_max: usize) -> Inserts {
        Inserts { plain_backslash, bytes_max, ..self }
    }

    /// Makes the next statement, and says how many rows it has. `done`: rows of those before.
    pub fn next<'a>(
        &mut self,
        rows: &mut impl Iterator<Item = &'a [u8]>,
        done: usize,
    ) -> Result<usize, NotDone> {
        // What was written before is room for this one.
        let mut text = std::mem::take(&mut self.text);
        text.clear();
        text.extend_from_slice(self.head.as_bytes());
        text.append(&mut self.kept);
        let mut count = usize::from(text.len() > self.head.len());
        for row in rows {
            let end = text.len();
            if count > 0 {
                text.push(b',');
            }
            let begin = text.len();
            self.values(row, &mut text).map_err(|why| NotDone::Row { at: done + count, why })?;
            if count > 0 && text.len() + self.tail.len() > self.bytes_max {
                self.kept.extend_from_slice(text.get(begin..).unwrap_or_default());
                text.truncate(end);
                break;
            }
            count += 1;
        }
        text.extend_from_slice(self.tail.as_bytes());
        self.text = text;
        Ok(count)
    }

    pub fn statement(&self) -> &[u8] {
        &self.text
    }

    /// Appends `('one',NULL,'two')`.
    fn values(&self, row: &[u8], out: &mut Vec<u8>) -> Result<(), String> {
        let count = match memchr::memchr2(b'\\', b'\'', row) {
            None => plain_values(row, out),
            Some(_) => self.escaped_values(row, out),
        };
        match count == self.fields {
            true => Ok(()),
            false => Err(format!("the row has {count} fields, and there are {} columns", self.fields)),
        }
    }

    fn escaped_values(&self, row: &[u8], out: &mut Vec<u8>) -> usize {
        let mut count = 0;
        for field in row::fields(row) {
            out.push(if count == 0 { b'(' } else { b',' });
            count += 1;
            match field {
                None => out.extend_from_slice(b"NULL"),
                Some(field) => self.literal(out, &field),
            }
        }
        out.push(b')');
        count
    }

    fn literal(&self, out: &mut Vec<u8>, text: &[u8]) {
        out.push(b'\'');
        let mut rest = text;
        while let Some(at) = memchr::memchr2(b'\\', b'\'', rest) {
            let (head, tail) = rest.split_at(at + 1);
            out.extend_from_slice(head);
            match head.last() {
                Some(b'\'') => out.push(b'\''),
                Some(b'\\') if !self.plain_backslash => out.push(b'\\'),
                _ => {}
            }
            rest = tail;
        }
        out.extend_from_slice(rest);
        out.push(b'\'');
    }
}

/// Of a row in which nothing is escaped, or has to be: each tab stands between two literals.
fn plain_values(row: &[u8], out: &mut Vec<u8>) -> usize {
    let row = row.strip_suffix(b"\n").unwrap_or(row);
    let (mut begin, mut count) = (0, 1);
    out.extend_from_slice(b"('");
    for tab in memchr::memchr_iter(b'\t', row) {
        out.extend_from_slice(row.get(begin..tab).unwrap_or_default());
        out.extend_from_slice(b"','");
        begin = tab + 1;
        count += 1;
    }
    out.extend_from_slice(row.get(begin..).unwrap_or_default());
    out.extend_from_slice(b"')");
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inserts() -> Inserts {
        Inserts::new("INSERT ".to_owned(), "!".to_owned(), 2)
    }

    fn made(rows: &[&[u8]], plain: bool, bytes_max: usize) -> Vec<(String, usize)> {
        let mut inserts = inserts().for_server(plain, bytes_max);
        let mut rows = rows.iter().copied();
        let mut out = Vec::new();
        let mut done = 0;
        while let Ok(count @ 1..) = inserts.next(&mut rows, done) {
            done += count;
            let text = std::str::from_utf8(inserts.statement()).expect("text");
            out.push((text.strip_suffix('!').expect("a tail").to_owned(), count));
        }
        out
    }

    #[test]
    fn no_text_ends_its_literal() {
        let rows: [&[u8]; 2] = [b"it's\t\\N\n", b"a\\\\\tb'; DROP TABLE x; --\\\\'\n"];
        let escaped = "INSERT ('it''s',NULL),('a\\\\','b''; DROP TABLE x; --\\\\''')";
        assert_eq!(made(&rows, false, 1000), [(escaped.to_owned(), 2)]);
        let plain = "INSERT ('it''s',NULL),('a\\','b''; DROP TABLE x; --\\''')";
        assert_eq!(made(&rows, true, 1000), [(plain.to_owned(), 2)]);
    }

    #[test]
    fn statements_are_as_large_as_the_server_takes() {
        let rows: [&[u8]; 3] = [b"aaaa\tb\n", b"cccc\td\n", b"eeee\tf\n"];
        let both = "INSERT ('aaaa','b'),('cccc','d')!".len();
        for (bytes_max, expected) in [(both, &[2, 1][..]), (both - 1, &[1, 1, 1]), (1, &[1, 1, 1])] {
            let all = made(&rows, false, bytes_max);
            assert_eq!(all.iter().map(|(_, rows)| *rows).collect::<Vec<_>>(), expected, "{bytes_max}");
            assert_eq!(all.last().expect("one").0, "INSERT ('eeee','f')");
        }
    }

    #[test]
    fn a_row_with_other_fields_is_named() {
        let mut inserts = inserts();
        let rows: [&[u8]; 2] = [b"a\tb\n", b"only\n"];
        let found = inserts.next(&mut rows.into_iter(), 5);
        assert!(matches!(found, Err(NotDone::Row { at: 6, .. })));
    }

    /// A server reads a row whose texts nothing is to be done to as it reads one that goes field by field.
    #[test]
    fn plain_rows_are_written_as_others_are() {
        for row in ["a\tb\n", "\t\n", "\tb", "größer\tals\n", "x\t\n"] {
            let (mut plain, mut escaped) = (Vec::new(), Vec::new());
            let counts = (
                plain_values(row.as_bytes(), &mut plain),
                inserts().escaped_values(row.as_bytes(), &mut escaped),
            );
            assert_eq!((counts, &plain), ((2, 2), &escaped), "{row}");
        }
    }
}
