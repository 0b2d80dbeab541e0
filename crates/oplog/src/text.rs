//! The text of a message: `Text; name='value', name2='value2'`, one line whatever the values hold.

use std::fmt::{self, Display, Write};

use crate::Field;

/// Bytes of one value that are kept; the rest is replaced by `...`.
pub const VALUE_BYTES_MAX: usize = 4096;

/// Foreign bytes as a value. What is not UTF-8 shows as the replacement character.
pub struct Bytes<'a>(pub &'a [u8]);

impl Display for Bytes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.0.utf8_chunks() {
            f.write_str(chunk.valid())?;
            if !chunk.invalid().is_empty() {
                f.write_char(char::REPLACEMENT_CHARACTER)?;
            }
        }
        Ok(())
    }
}

/// The message without timestamp and line end. The semicolon stands even when no field follows, as in
/// syslog-ng's own log.
pub fn render(text: &str, fields: &[Field<'_>]) -> String {
    let mut out = String::with_capacity(text.len() + fields.len() * 32);
    out.push_str(text);
    out.push(';');
    for (index, (name, value)) in fields.iter().enumerate() {
        out.push_str(if index == 0 { " " } else { ", " });
        out.push_str(name);
        out.push_str("='");
        let mut escaper = Escaper { out: &mut out, room: VALUE_BYTES_MAX };
        // A value that is too long ends the formatting with an error: that is how it is cut.
        if write!(escaper, "{value}").is_err() {
            out.push_str("...");
        }
        out.push('\'');
    }
    out
}

/// The line for standard error: local time with microseconds, then the message.
pub fn stderr_line(time: jiff::Timestamp, message: &str) -> String {
    let local = time.to_zoned(jiff::tz::TimeZone::system());
    format!("[{}] {message}\n", local.strftime("%Y-%m-%dT%H:%M:%S%.6f"))
}

/// Controls, and characters that are not seen and change how what stands around them is seen: other
/// directions of writing, joiners, line ends of other scripts, tags.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

struct Escaper<'a> {
    out: &'a mut String,
    room: usize,
}

impl Write for Escaper<'_> {
    fn write_str(&mut self, s: &str) -> fmt::Result {
        for c in s.chars() {
            self.room = self.room.checked_sub(c.len_utf8()).ok_or(fmt::Error)?;
            match c {
                '\'' => self.out.push_str("\\'"),
                '\\' => self.out.push_str("\\\\"),
                c if is_hidden(c) => {
                    let mut raw = [0; 4];
                    for byte in c.encode_utf8(&mut raw).bytes() {
                        write!(self.out, "\\x{byte:02x}")?;
                    }
                }
                c => self.out.push(c),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_listed_after_a_semicolon() {
        assert_eq!(render("Reloaded", &[]), "Reloaded;");
        assert_eq!(render("Accepted", &[("fd", &7), ("client", &"a b")]), "Accepted; fd='7', client='a b'");
    }

    #[test]
    fn no_value_can_end_its_quotes_or_its_line() {
        let check = |value: &str, expected: &str| {
            assert_eq!(render("T", &[("v", &value)]), format!("T; v='{expected}'"));
        };
        check("it's", "it\\'s");
        check("a\nb\t\0", "a\\x0ab\\x09\\x00");
        check("\\', x='", "\\\\\\', x=\\'");
        check("\u{1b}[31m\u{7f}\u{85}", "\\x1b[31m\\x7f\\xc2\\x85");
        check("héllo", "héllo");
        check(
            "a\u{202e}b\u{2066}\u{200f}\u{feff}\u{ad}",
            "a\\xe2\\x80\\xaeb\\xe2\\x81\\xa6\\xe2\\x80\\x8f\\xef\\xbb\\xbf\\xc2\\xad",
        );
    }

    #[test]
    fn a_long_value_is_cut() {
        let long = "x".repeat(VALUE_BYTES_MAX + 1);
        let line = render("T", &[("v", &long), ("w", &1)]);
        assert_eq!(line, format!("T; v='{}...', w='1'", "x".repeat(VALUE_BYTES_MAX)));
        let exact = "x".repeat(VALUE_BYTES_MAX);
        assert_eq!(render("T", &[("v", &exact)]), format!("T; v='{exact}'"));
    }

    #[test]
    fn foreign_bytes_are_shown_not_trusted() {
        assert_eq!(render("T", &[("v", &Bytes(b"a\xff\xfeb\n"))]), "T; v='a\u{fffd}\u{fffd}b\\x0a'");
    }

    #[test]
    fn the_stderr_prefix_has_microseconds() {
        let line = stderr_line(jiff::Timestamp::new(1_700_000_000, 1_000).unwrap_or_default(), "Hello");
        assert!(line.ends_with(".000001] Hello\n"), "{line}");
        assert_eq!(line.len(), "[2026-11-21T10:00:00.000000] Hello\n".len());
    }
}
