//! Messages a second of the running program, beside what receives and delivers, and on the arrows between.

use super::flows::{self, Counted};
use super::model::{Graph, Kind, Shape};
use control::client;
use serde_json::Value;
use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, Instant};
use stdio::CommandError;

/// Between the two looks that make a rate.
const BETWEEN: Duration = Duration::from_secs(1);
/// Time given to the program to answer.
const ANSWER_MAX: Duration = Duration::from_secs(10);

/// What has come so far: by part of the ledger and name, and by filter what went on.
type Counts = HashMap<(&'static str, String), u64>;

pub fn add_rates(graph: &mut Graph, socket: &Path) -> Result<(), CommandError> {
    let began = Instant::now();
    let before = counts(socket)?;
    std::thread::sleep(BETWEEN);
    let after = counts(socket)?;
    let seconds = began.elapsed().as_secs_f64();
    let rate = |part: &'static str, name: &str| {
        let key = (part, name.to_owned());
        let count = after.get(&key)?.saturating_sub(before.get(&key).copied().unwrap_or(0));
        Some(count as f64 / seconds)
    };
    let paths: Vec<&str> =
        after.keys().filter(|(part, _)| *part == "paths").map(|(_, name)| name.as_str()).collect();
    let mut counted = Vec::with_capacity(graph.items.len());
    for at in 0..graph.items.len() {
        let is_once = is_once(graph, at);
        let Some(item) = graph.items.get_mut(at) else { break };
        let own = match item.kind {
            Kind::Source => rate("sources", &item.name),
            Kind::Destination => rate("destinations", &item.name),
            // An embedded one has no row of its own.
            Kind::Path if item.column > 1 => None,
            Kind::Path => rate("paths", &item.name).or_else(|| {
                paths.iter().find(|name| is_at(name, &item.at)).and_then(|name| rate("paths", name))
            }),
            Kind::Step | Kind::Case | Kind::Group => None,
        };
        item.rate = own;
        counted.push(match item.kind {
            Kind::Source => Counted { gets: None, gives: own },
            Kind::Step if is_once => Counted { gets: None, gives: rate("filters", &item.name) },
            _ => Counted { gets: own, gives: None },
        });
    }
    let flows = flows::of(graph, &counted);
    graph.arrows.iter_mut().zip(flows).for_each(|(arrow, rate)| arrow.rate = rate);
    Ok(())
}

/// Whether all that is counted of a filter is counted at this box.
fn is_once(graph: &Graph, at: usize) -> bool {
    let Some(item) = graph.items.get(at) else { return false };
    let is_same = |other: &&Shape| other.kind == item.kind && other.title == item.title;
    !item.name.is_empty()
        && item.title.starts_with("filter ")
        && graph.items.iter().filter(is_same).count() == 1
}

/// Whether a path is the one that stands at a place. The program may have been given another path to the
/// same file.
fn is_at(name: &str, place: &str) -> bool {
    name == place || name.strip_suffix(place).is_some_and(|folder| folder.ends_with('/'))
}

/// `1,200/s`
pub fn shown(rate: f64) -> String {
    format!("{}/s", grouped(rate.round() as u64))
}

/// The drivers of a statement are one.
fn counts(socket: &Path) -> Result<Counts, CommandError> {
    let ledger = asked(socket, "LEDGER JSON")?;
    let ledger: Value = serde_json::from_str(&ledger).map_err(|error| format!("not a ledger: {error}"))?;
    let mut counts = Counts::new();
    for part in ["sources", "paths", "destinations"] {
        for row in ledger.get(part).and_then(Value::as_array).into_iter().flatten() {
            let name = row.get("name").and_then(Value::as_str).unwrap_or_default();
            let name = name.rsplit_once('#').filter(|_| part != "paths").map_or(name, |(group, _)| group);
            let received = row.get("received").and_then(Value::as_u64).unwrap_or(0);
            *counts.entry((part, name.to_owned())).or_default() += received;
        }
    }
    let statistics = asked(socket, "STATS PROMETHEUS")?;
    counts.extend(statistics.lines().filter_map(filtered));
    Ok(counts)
}

/// `syslogng_filtered_events_total{id="f_web",result="matched"} 12`
fn filtered(line: &str) -> Option<((&'static str, String), u64)> {
    let rest = line.strip_prefix("syslogng_filtered_events_total{id=\"")?;
    let (name, count) = rest.split_once("\",result=\"matched\"} ")?;
    Some((("filters", name.to_owned()), count.parse().ok()?))
}

fn asked(socket: &Path, question: &str) -> Result<String, CommandError> {
    client::ask(socket, question, ANSWER_MAX)
}

/// `1,234,567`
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_readable() {
        for (number, expected) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(grouped(number), expected);
        }
    }

    #[test]
    fn what_the_program_counts_is_found() {
        let line = "syslogng_filtered_events_total{id=\"f_web\",result=\"matched\"} 12";
        assert_eq!(filtered(line), Some((("filters", "f_web".to_owned()), 12)));
        assert_eq!(filtered(&line.replace("matched", "not_matched")), None);
        assert!(is_at("/etc/x.conf:9", "x.conf:9") && is_at("x.conf:9", "x.conf:9"));
        assert!(!is_at("/etc/ax.conf:9", "x.conf:9") && !is_at("x.conf:9", "/etc/x.conf:9"));
    }
}
