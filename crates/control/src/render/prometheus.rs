//! The Prometheus text exposition: one sample a line, sorted, labels escaped.

use std::fmt::Write;

use crate::counters::{Counter, Unit};

pub(super) const PREFIX: &str = "syslogng_";

/// Counters with a Prometheus name; with `legacy` the others too, under a name made of their old one.
pub fn prometheus(counters: &[Counter], legacy: bool) -> String {
    let mut lines: Vec<String> = counters.iter().filter_map(|c| line(c, legacy)).collect();
    lines.sort_unstable();
    lines.dedup();
    lines.concat()
}

/// One sample with the newline: `name{label="value"} number`.
pub fn sample_line(name: &str, labels: &[(&str, &str)], number: &str) -> String {
    let mut out = String::with_capacity(name.len() + number.len() + labels.len() * 32 + 4);
    push_name(&mut out, name);
    let mut open = false;
    for (label, value) in labels.iter().filter(|(_, value)| !value.is_empty()) {
        out.push(if open { ',' } else { '{' });
        open = true;
        push_name(&mut out, label);
        out.push_str("=\"");
        push_value(&mut out, value);
        out.push('"');
    }
    if open {
        out.push('}');
    }
    out.push(' ');
    out.push_str(number);
    out.push('\n');
    out
}

fn line(counter: &Counter, legacy: bool) -> Option<String> {
    match &counter.prom {
        Some(_) => sample(counter).map(|(_, _, line)| line),
        None if legacy => {
            let name = format!("{PREFIX}{}_{}", counter.source_name, counter.kind);
            let labels = [("id", counter.source_id.as_str()), ("stats_instance", counter.instance.as_str())];
            Some(sample_line(&name, &labels, &counter.value.to_string()))
        }
        None => None,
    }
}

/// Of a counter with such a name: the name as it is printed, the name with its labels, and the line.
pub(super) fn sample(counter: &Counter) -> Option<(String, String, String)> {
    let prom = counter.prom.as_ref()?;
    let labels: Vec<_> = prom.labels.iter().map(|(n, v)| (n.as_ref(), v.as_str())).collect();
    let mut name = String::new();
    if !prom.name.starts_with(PREFIX) {
        name.push_str(PREFIX);
    }
    push_name(&mut name, &prom.name);
    let number = number(counter.value, prom.unit);
    let line = sample_line(&name, &labels, &number);
    let series = line.strip_suffix('\n').and_then(|line| line.strip_suffix(&*number)).unwrap_or(&line);
    Some((name, series.to_owned(), line))
}

/// Integers stay exact; nanoseconds become seconds without passing through a float.
fn number(value: u64, unit: Unit) -> String {
    const NANOS: u64 = 1_000_000_000;
    match unit {
        Unit::Plain => value.to_string(),
        Unit::Nanoseconds if value.is_multiple_of(NANOS) => (value / NANOS).to_string(),
        Unit::Nanoseconds => {
            let mut text = format!("{}.{:09}", value / NANOS, value % NANOS);
            text.truncate(text.trim_end_matches('0').len());
            text
        }
    }
}

/// What a metric or label name may not hold becomes `_`.
fn push_name(out: &mut String, name: &str) {
    for (index, c) in name.chars().enumerate() {
        let legal = c.is_ascii_alphabetic() || c == '_' || (index > 0 && c.is_ascii_digit());
        out.push(if legal { c } else { '_' });
    }
}

fn push_value(out: &mut String, value: &str) {
    for c in value.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '"' => out.push_str("\\\""),
            '\n' => out.push_str("\\n"),
            c if c.is_ascii_control() => {
                // Legal in the exposition, but not on a terminal.
                let _ = write!(out, "\\\\x{:02x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(id: &str, result: &str, value: u64) -> Counter {
        Counter::new("dst.file", id, "/l", "written", value)
            .with_prom("output_events_total", vec![("id", id.into()), ("result", result.into())])
    }

    #[test]
    fn samples_are_sorted_and_old_counters_left_out() {
        let rows = [
            output("d_b#0", "delivered", 2),
            output("d_a#0", "queued", 0),
            Counter::new("center", "", "queued", "processed", 9),
            output("d_a#0", "delivered", 1),
        ];
        assert_eq!(
            prometheus(&rows, false),
            "syslogng_output_events_total{id=\"d_a#0\",result=\"delivered\"} 1\n\
             syslogng_output_events_total{id=\"d_a#0\",result=\"queued\"} 0\n\
             syslogng_output_events_total{id=\"d_b#0\",result=\"delivered\"} 2\n"
        );
    }

    #[test]
    fn legacy_counters_get_a_legal_name() {
        let rows = [
            Counter::new("src.internal", "s_sys#0", "", "processed", 4),
            Counter::new("center", "", "", "processed", 1),
        ];
        assert_eq!(
            prometheus(&rows, true),
            "syslogng_center_processed 1\nsyslogng_src_internal_processed{id=\"s_sys#0\"} 4\n"
        );
    }

    #[test]
    fn label_values_cannot_end_their_quotes() {
        let check = |value: &str, expected: &str| {
            assert_eq!(sample_line("m", &[("l", value)], "1"), format!("m{{l=\"{expected}\"}} 1\n"));
        };
        check("a\"} 9\nx{b=\"", "a\\\"} 9\\nx{b=\\\"");
        check("c:\\dir", "c:\\\\dir");
        check("é\u{1b}", "é\\\\x1b");
        assert_eq!(sample_line("9a-b", &[("l", "")], "1"), "_a_b 1\n");
    }

    #[test]
    fn nanoseconds_are_printed_as_exact_seconds() {
        let check = |value, expected: &str| assert_eq!(number(value, Unit::Nanoseconds), expected);
        check(0, "0");
        check(198_092, "0.000198092");
        check(1_500_000_000, "1.5");
        check(20_000_000_000, "20");
        check(u64::MAX, "18446744073.709551615");
    }
}
