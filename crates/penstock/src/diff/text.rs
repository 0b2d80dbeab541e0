//! A difference for people.

use super::compare::{Change, Difference, Side};
use super::sample::{Class, Sampled};
use crate::cases::plain;
use std::fmt::Write;

/// Kinds of outcomes of one class that are shown.
const SHOWN_MAX: usize = 20;
/// Milliseconds of a processor, from which on two times can be compared.
const COMPARED_MS_MIN: f64 = 50.0;
/// Names that are listed.
const NAMES_MAX: usize = 8;

pub fn render(differences: &[Difference], sampled: Option<&Sampled>) -> String {
    let mut out = String::new();
    let mut last: &[String] = &[];
    for difference in differences {
        if difference.within != last {
            let _ = writeln!(out, "{}", difference.within.join(" > "));
        }
        last = &difference.within;
        one(&mut out, difference);
    }
    match differences.len() {
        0 => out.push_str("no difference in what the configurations mean\n"),
        1 => out.push_str("1 difference\n"),
        count => {
            let _ = writeln!(out, "{count} differences");
        }
    }
    if let Some(sampled) = sampled {
        sample(&mut out, sampled);
    }
    out
}

fn one(out: &mut String, difference: &Difference) {
    let Difference { change, within, what, old, new, inherited_by } = difference;
    let indent = if within.is_empty() { "" } else { "  " };
    let place = |side: &Option<Side>| side.as_ref().and_then(|side| side.at.clone());
    let _ = write!(out, "{indent}{} {what}", change.sign());
    let text =
        |side: &Option<Side>| side.as_ref().map(|side| side.text.clone()).filter(|text| !text.is_empty());
    match (change, text(old), text(new)) {
        (Change::Renamed | Change::Moved, _, _) => {}
        (_, Some(old), Some(new)) => {
            let _ = write!(out, ": {old} -> {new}");
        }
        // Of a step, its name says it all.
        (_, Some(one), None) | (_, None, Some(one)) if !what.ends_with(one.as_str()) => {
            let _ = write!(out, ": {one}");
        }
        _ => {}
    }
    if within.is_empty() {
        let _ = write!(out, " ({})", change.word());
    }
    match (place(old), place(new)) {
        (Some(old), Some(new)) => {
            let _ = writeln!(out, "  [{old} -> {new}]");
        }
        (Some(one), None) | (None, Some(one)) => {
            let _ = writeln!(out, "  [{one}]");
        }
        (None, None) => out.push('\n'),
    }
    if !inherited_by.is_empty() {
        let shown: Vec<&str> = inherited_by.iter().take(NAMES_MAX).map(String::as_str).collect();
        let more = inherited_by.len().saturating_sub(NAMES_MAX);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let _ = writeln!(out, "{indent}    inherited by {}{more}", shown.join(", "));
    }
}

fn sample(out: &mut String, sampled: &Sampled) {
    let _ = writeln!(out, "\nsample: {}", stdio::counted(sampled.messages, "message", "messages"));
    let _ = writeln!(out, "  same                 {:>9}", sampled.same);
    for class in Class::ALL {
        let outcomes: Vec<_> = sampled.outcomes.iter().filter(|outcome| outcome.class == class).collect();
        let count: u64 = outcomes.iter().map(|outcome| outcome.count).sum();
        let _ = writeln!(out, "  {:<20} {count:>9}", class.word());
        for outcome in outcomes.iter().take(SHOWN_MAX) {
            let _ = writeln!(out, "    {} x {}: {}", outcome.count, outcome.destination, outcome.cause);
            let _ = writeln!(out, "      message  {}", plain(&outcome.message));
            let side = |name: &str, texts: &[Vec<u8>]| {
                texts.iter().map(|text| format!("      {name}  {}\n", plain(text))).collect::<String>()
            };
            out.push_str(&side("old    ", &outcome.old));
            out.push_str(&side("new    ", &outcome.new));
        }
        if outcomes.len() > SHOWN_MAX {
            let _ = writeln!(out, "    and {} kinds more", outcomes.len() - SHOWN_MAX);
        }
    }
    let [old, new] = sampled.cpu.map(|time| time.as_secs_f64() * 1000.0);
    // What takes less says more of the caches than of the configurations.
    let change = match old.min(new) >= COMPARED_MS_MIN {
        true => format!(", {:+.0} %", (new / old - 1.0) * 100.0),
        false => ", too little to compare: take more messages".to_owned(),
    };
    let _ = writeln!(out, "  CPU, step by step    {old:>9.1} ms -> {new:.1} ms{change}");
}
