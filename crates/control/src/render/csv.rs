//! The table of `stats`, and `name=value` lines.

use std::fmt::Write;

use crate::counters::Counter;

/// First line of the table.
pub const HEADER: &str = "SourceName;SourceId;SourceInstance;State;Type;Number";

/// The table. Observed of syslog-ng 3.38: a field with `;` or `"` stands in quotes; backslashes, quotes and
/// control characters are escaped with a backslash in every field.
pub fn csv(counters: &[Counter], header: bool) -> String {
    let mut out = String::with_capacity(counters.len() * 64 + HEADER.len() + 1);
    if header {
        out.push_str(HEADER);
        out.push('\n');
    }
    for c in counters.iter().filter(|c| c.has_legacy_name()) {
        for field in [&*c.source_name, &*c.source_id, &*c.instance] {
            push_field(&mut out, field);
            out.push(';');
        }
        // Writing to a String does not fail.
        let _ = writeln!(out, "{};{};{}", c.state.letter(), c.kind, c.value);
    }
    out
}

/// `name=value` lines, the output of `query get`.
pub fn kv(counters: &[Counter]) -> String {
    let mut out = String::with_capacity(counters.len() * 64);
    for c in counters.iter().filter(|c| c.has_legacy_name()) {
        let _ = writeln!(out, "{}={}", one_line(&c.key()), c.value);
    }
    out
}

/// A key never takes more than its line, whatever a peer put into a name.
pub(crate) fn one_line(key: &str) -> String {
    let mut out = String::with_capacity(key.len());
    for c in key.chars() {
        push_control(&mut out, c);
    }
    out
}

fn push_field(out: &mut String, field: &str) {
    let quoted = field.contains([';', '"']);
    if quoted {
        out.push('"');
    }
    for c in field.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c => push_control(out, c),
        }
    }
    if quoted {
        out.push('"');
    }
}

fn push_control(out: &mut String, c: char) {
    match c {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        c if c.is_ascii_control() => {
            let _ = write!(out, "\\x{:02x}", u32::from(c));
        }
        c => out.push(c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counters::State;

    fn line(instance: &str) -> String {
        csv(&[Counter::new("dst.file", "d_f#0", instance, "written", 7)], false)
    }

    #[test]
    fn rows_follow_the_header() {
        let mut orphan = Counter::new("src.host", "", "web1", "processed", u64::MAX);
        orphan.state = State::Orphaned;
        let rows = [Counter::new("center", "", "received", "processed", 5), orphan];
        assert_eq!(
            csv(&rows, true),
            "SourceName;SourceId;SourceInstance;State;Type;Number\n\
             center;;received;a;processed;5\n\
             src.host;;web1;o;processed;18446744073709551615\n"
        );
    }

    /// Each line as syslog-ng 3.38 prints it for a file destination of that name.
    #[test]
    fn fields_are_quoted_as_syslog_ng_does() {
        let check = |instance: &str, field: &str| {
            assert_eq!(line(instance), format!("dst.file;d_f#0;{field};a;written;7\n"));
        };
        check("/l/a b,c.log", "/l/a b,c.log");
        check("/l/a;b.log", "\"/l/a;b.log\"");
        check("/l/a\"b.log", "\"/l/a\\\"b.log\"");
        check("/l/a'b.log", "/l/a'b.log");
        check("/l/a\\b.log", "/l/a\\\\b.log");
        check("/l/a\tb.log", "/l/a\\tb.log");
        check("/l/aéb.log", "/l/aéb.log");
        check("a\nb;\u{1}", "\"a\\nb;\\x01\"");
    }

    #[test]
    fn kv_is_one_line_a_counter() {
        let rows = [
            Counter::new("source", "s_net", "", "processed", 3),
            Counter::new("src.host", "", "evil\nname", "processed", 1),
        ];
        assert_eq!(kv(&rows), "source.s_net.processed=3\nsrc.host.evil\\nname.processed=1\n");
    }
}
