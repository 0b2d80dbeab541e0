//! Rows as literals of INSERT statements, none of which is larger than the server takes.

use crate::not_done::NotDone;
use crate::row;

pub struct Inserts {
    head: String,
    /// Of each row.
    fields: usize,
    plain_backslash: bool,
    bytes_max: usize,
    /// A row that the last statement had no room for.
    kept: Option<Vec<u8>>,
}

pub struct Statement {
    pub text: String,
    pub rows: usize,
}

impl Inserts {
    pub fn new(head: String, fields: usize, plain_backslash: bool, bytes_max: usize) -> Inserts {
        Inserts { head, fields, plain_backslash, bytes_max, kept: None }
    }

    /// The next statement; `None` when there are no more rows. `done`: rows of those before.
    pub fn next<'a>(
        &mut self,
        rows: &mut impl Iterator<Item = &'a [u8]>,
        done: usize,
    ) -> Result<Option<Statement>, NotDone> {
        let mut text = self.head.clone().into_bytes();
        let mut count = 0;
        loop {
            let values = match self.kept.take() {
                Some(values) => values,
                None => match rows.next() {
                    Some(row) => self.values(row).map_err(|why| NotDone::Row { at: done + count, why })?,
                    None => break,
                },
            };
            if count > 0 && text.len() + values.len() > self.bytes_max {
                self.kept = Some(values);
                break;
            }
            if count > 0 {
                text.push(b',');
            }
            text.extend_from_slice(&values);
            count += 1;
        }
        let text = String::from_utf8(text)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        Ok((count > 0).then_some(Statement { text, rows: count }))
    }

    /// `('one',NULL,'two')`
    fn values(&self, text: &[u8]) -> Result<Vec<u8>, String> {
        let mut out = Vec::with_capacity(text.len() + self.fields * 3 + 2);
        let mut count = 0;
        for field in row::fields(text) {
            out.push(if count == 0 { b'(' } else { b',' });
            count += 1;
            match field {
                None => out.extend_from_slice(b"NULL"),
                Some(field) => self.literal(&mut out, &field),
            }
        }
        out.push(b')');
        match count == self.fields {
            true => Ok(out),
            false => Err(format!("the row has {count} fields, and there are {} columns", self.fields)),
        }
    }

    fn literal(&self, out: &mut Vec<u8>, text: &[u8]) {
        out.push(b'\'');
        for part in text.split_inclusive(|byte| matches!(byte, b'\'' | b'\\')) {
            out.extend_from_slice(part);
            match part.last() {
                Some(b'\'') => out.push(b'\''),
                Some(b'\\') if !self.plain_backslash => out.push(b'\\'),
                _ => {}
            }
        }
        out.push(b'\'');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(rows: &[&[u8]], plain: bool, bytes_max: usize) -> Vec<(String, usize)> {
        let mut inserts = Inserts::new("INSERT ".to_owned(), 2, plain, bytes_max);
        let mut rows = rows.iter().copied();
        let mut out = Vec::new();
        let mut done = 0;
        while let Ok(Some(statement)) = inserts.next(&mut rows, done) {
            done += statement.rows;
            out.push((statement.text, statement.rows));
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
        let counts: Vec<usize> = made(&rows, false, 32).into_iter().map(|(_, rows)| rows).collect();
        assert_eq!(counts, [2, 1]);
        assert_eq!(made(&rows, false, 1).len(), 3);
    }

    #[test]
    fn a_row_with_other_fields_is_named() {
        let mut inserts = Inserts::new("INSERT ".to_owned(), 2, false, 100);
        let rows: [&[u8]; 2] = [b"a\tb\n", b"only\n"];
        let found = inserts.next(&mut rows.into_iter(), 5);
        assert!(matches!(found, Err(NotDone::Row { at: 6, .. })));
    }
}
