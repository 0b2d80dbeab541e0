//! Messages a second of the running program, beside what receives, does and delivers.

use super::model::{Graph, Kind};
use control::client::{self, Status};
use serde_json::Value;
use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, Instant};

/// Between the two looks that make a rate.
const BETWEEN: Duration = Duration::from_secs(1);
/// Time given to the program to answer.
const ANSWER_MAX: Duration = Duration::from_secs(10);

/// What has come so far, by part of the ledger and name.
type Counts = HashMap<(&'static str, String), u64>;

pub fn add_rates(graph: &mut Graph, socket: &Path) -> Result<(), String> {
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
    for item in &mut graph.items {
        let own = match item.kind {
            Kind::Source => rate("sources", &item.name),
            Kind::Destination => rate("destinations", &item.name),
            Kind::Path => rate("paths", &item.name).or_else(|| rate("paths", &item.at)),
            Kind::Step | Kind::Case | Kind::Group => None,
        };
        item.rate = own.map(|rate| format!("{}/s", grouped(rate.round() as u64)));
    }
    Ok(())
}

/// The drivers of a statement are one.
fn counts(socket: &Path) -> Result<Counts, String> {
    let reply =
        client::request(socket, "LEDGER JSON", Some(ANSWER_MAX)).map_err(|error| error.explained())?;
    if reply.status != Status::Ok {
        return Err(reply.text);
    }
    let ledger: Value =
        serde_json::from_str(&reply.text).map_err(|error| format!("not a ledger: {error}"))?;
    let mut counts = Counts::new();
    for part in ["sources", "paths", "destinations"] {
        for row in ledger.get(part).and_then(Value::as_array).into_iter().flatten() {
            let name = row.get("name").and_then(Value::as_str).unwrap_or_default();
            let name = name.rsplit_once('#').filter(|_| part != "paths").map_or(name, |(group, _)| group);
            let received = row.get("received").and_then(Value::as_u64).unwrap_or(0);
            *counts.entry((part, name.to_owned())).or_default() += received;
        }
    }
    Ok(counts)
}

/// `1,234,567`
fn grouped(number: u64) -> String {
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
    use super::grouped;

    #[test]
    fn numbers_are_readable() {
        for (number, expected) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(grouped(number), expected);
        }
    }
}
