//! The balance as a table: one line a row, reasons of drops beneath it, the verdict last.

use std::fmt::Write;

use super::{DropReason, Ledger, Row};

const COLUMNS: [&str; 6] = ["received", "delivered", "waiting", "filtered", "dropped", "bytes in"];
/// A name longer than this has a line of its own above its numbers.
const NAME_WIDTH_MAX: usize = 48;

pub fn render(ledger: &Ledger) -> String {
    let sections =
        [("source", &ledger.sources), ("path", &ledger.paths), ("destination", &ledger.destinations)];
    let names = ledger.rows().map(|row| label(row).chars().count()).chain([11]);
    let name_width = names.max().unwrap_or(0).min(NAME_WIDTH_MAX);
    let widths: Vec<usize> = COLUMNS
        .iter()
        .enumerate()
        .map(|(index, title)| {
            let numbers = ledger.rows().filter_map(|row| cells(row).get(index).map(String::len));
            numbers.chain([title.len()]).max().unwrap_or(0)
        })
        .collect();

    let mut out = String::new();
    for (title, rows) in sections.into_iter().filter(|(_, rows)| !rows.is_empty()) {
        push_line(&mut out, title, name_width, &COLUMNS, &widths);
        for row in rows {
            push_line(&mut out, &label(row), name_width, &cells(row), &widths);
            if row.flow.recovered > 0 {
                // Writing to a String does not fail.
                let _ = writeln!(out, "    recovered {}: waited on disk from before", row.flow.recovered);
            }
            for (reason, count) in row.flow.dropped.iter() {
                // Writing to a String does not fail.
                let _ = write!(out, "    dropped {count} {}: {}", reason.name(), reason.help());
                if reason == DropReason::Refused && !row.refused_with.is_empty() {
                    let _ = write!(out, "; the last with {}", printable(&row.refused_with));
                }
                out.push('\n');
            }
            let difference = row.flow.difference();
            if difference != 0 {
                let word = if difference > 0 { "missing" } else { "counted twice" };
                let _ = writeln!(out, "    NOT BALANCED: {} {word}", difference.unsigned_abs());
            }
        }
        out.push('\n');
    }
    for block in &ledger.failures {
        let causes = block.causes.iter().map(|(cause, count)| format!("{count} {cause}"));
        let (place, causes) = (printable(&block.place), causes.collect::<Vec<_>>().join(", "));
        let _ = writeln!(out, "filterx {place} failed: {causes}\n");
    }
    let waits = ledger.waits.iter().map(|wait| ("waits", wait.sentence()));
    let held = ledger.held.iter().map(|held| ("held", held.sentence()));
    let disks = ledger.disks.iter().filter(|disk| disk.is_low).map(|disk| ("disk", disk.sentence()));
    for (word, sentence) in waits.chain(held).chain(disks) {
        let _ = writeln!(out, "{word}: {}\n", printable(&sentence));
    }
    out.push_str(if ledger.balanced() {
        "balanced: every message received is accounted for\n"
    } else {
        "NOT BALANCED\n"
    });
    out
}

fn label(row: &Row) -> String {
    let text = match row.detail.as_str() {
        "" => row.name.clone(),
        detail => format!("{} {detail}", row.name),
    };
    printable(&text)
}

fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

fn cells(row: &Row) -> [String; 6] {
    let flow = &row.flow;
    [flow.received, flow.delivered, flow.waiting, flow.filtered, flow.dropped.total(), flow.received_bytes]
        .map(|n| n.to_string())
}

fn push_line<S: AsRef<str>>(out: &mut String, name: &str, name_width: usize, cells: &[S], widths: &[usize]) {
    let beside = if name.chars().count() > name_width { "" } else { name };
    if beside.is_empty() {
        let _ = writeln!(out, "{name}");
    }
    let _ = write!(out, "{beside:<name_width$}");
    for (cell, width) in cells.iter().zip(widths) {
        let _ = write!(out, "  {:>width$}", cell.as_ref());
    }
    out.push('\n');
}
