//! What top shows: two samples of the ledger, and the rows made of their difference.

use control::cli::SortBy;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fmt::Write;
use std::time::Instant;
use stdio::CommandError;

/// Of the JSON; grows when something is removed or changes its meaning.
const VERSION: u32 = 1;

/// Which part of the ledger a row is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    Source,
    Path,
    Destination,
}

impl Part {
    const ALL: [(Part, &'static str); 3] =
        [(Part::Source, "sources"), (Part::Path, "paths"), (Part::Destination, "destinations")];

    pub fn name(self) -> &'static str {
        match self {
            Part::Source => "source",
            Part::Path => "path",
            Part::Destination => "destination",
        }
    }
}

/// The ledger at a moment.
#[derive(Clone)]
pub struct Sample {
    at: Instant,
    rows: Vec<Counted>,
    /// By destination: how it waits, in a word and in a sentence, and how old its oldest message is.
    waits: HashMap<String, (String, String, Option<u64>)>,
}

#[derive(Clone)]
struct Counted {
    part: Part,
    name: String,
    detail: String,
    received: u64,
    delivered: u64,
    waiting: u64,
    filtered: u64,
    dropped: u64,
    reasons: Vec<(String, u64)>,
}

/// A row as it is shown.
#[derive(Clone, Debug)]
pub struct Line {
    pub part: Part,
    pub name: String,
    pub detail: String,
    /// Messages a second that came, and that went on.
    pub rate_in: f64,
    pub rate_out: f64,
    /// Of all that comes to rows of its part, percent.
    pub share: f64,
    pub received: u64,
    pub delivered: u64,
    pub waiting: u64,
    pub filtered: u64,
    pub dropped: u64,
    pub drop_rate: f64,
    pub reasons: Vec<(String, u64)>,
    pub state: String,
    pub sentence: String,
    pub oldest: Option<u64>,
}

pub struct Board {
    pub sort: SortBy,
    /// Rows in whose name this stands.
    pub only: String,
    /// None: all of them.
    pub part: Option<Part>,
    before: Option<Sample>,
    now: Option<Sample>,
}

impl Sample {
    pub fn read(text: &str, at: Instant) -> Result<Sample, CommandError> {
        let ledger: Value = serde_json::from_str(text).map_err(|error| format!("not a ledger: {error}"))?;
        let mut rows = Vec::new();
        for (part, key) in Part::ALL {
            let list = ledger.get(key).and_then(Value::as_array);
            let list = list.ok_or_else(|| format!("not a ledger: no list '{key}'"))?;
            rows.extend(list.iter().map(|row| Counted::read(part, row)));
        }
        let mut waits = HashMap::new();
        for wait in ledger.get("waits").and_then(Value::as_array).into_iter().flatten() {
            let text = |key: &str| wait.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
            let oldest = wait.get("oldest_seconds").and_then(Value::as_u64);
            waits.insert(text("destination"), (text("state"), text("sentence"), oldest));
        }
        Ok(Sample { at, rows, waits })
    }
}

impl Counted {
    fn read(part: Part, row: &Value) -> Counted {
        let text = |key: &str| row.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let number = |key: &str| row.get(key).and_then(Value::as_u64).unwrap_or_default();
        let reasons = row.get("dropped_by_reason").and_then(Value::as_object);
        let reasons = reasons.into_iter().flatten();
        Counted {
            part,
            name: text("name"),
            detail: text("detail"),
            received: number("received") + number("recovered"),
            delivered: number("delivered"),
            waiting: number("waiting"),
            filtered: number("filtered"),
            dropped: number("dropped"),
            reasons: reasons
                .filter_map(|(reason, count)| {
                    Some((reason.clone(), count.as_u64().filter(|count| *count > 0)?))
                })
                .collect(),
        }
    }
}

impl Board {
    pub fn new(sort: SortBy, only: &str) -> Board {
        Board { sort, only: only.to_owned(), part: None, before: None, now: None }
    }

    pub fn add(&mut self, sample: Sample) {
        self.before = self.now.replace(sample);
    }

    /// Sorted and filtered.
    pub fn lines(&self) -> Vec<Line> {
        let Some(now) = &self.now else { return Vec::new() };
        let before = self.before.as_ref().unwrap_or(now);
        let seconds = now.at.saturating_duration_since(before.at).as_secs_f64();
        let known: HashMap<(Part, &str, &str), &Counted> =
            before.rows.iter().map(|row| ((row.part, row.name.as_str(), row.detail.as_str()), row)).collect();
        let rate = |now: u64, before: u64| match seconds > 0.0 {
            true => now.saturating_sub(before) as f64 / seconds,
            false => 0.0,
        };
        let mut lines: Vec<Line> = Vec::new();
        for row in &now.rows {
            let old = known.get(&(row.part, row.name.as_str(), row.detail.as_str())).copied().unwrap_or(row);
            let (state, sentence, oldest) = match (row.part, now.waits.get(&row.name)) {
                (Part::Destination, Some((state, sentence, oldest))) => {
                    (state.clone(), sentence.clone(), *oldest)
                }
                _ => (String::new(), String::new(), None),
            };
            lines.push(Line {
                part: row.part,
                name: row.name.clone(),
                detail: row.detail.clone(),
                rate_in: rate(row.received, old.received),
                rate_out: rate(row.delivered, old.delivered),
                share: 0.0,
                received: row.received,
                delivered: row.delivered,
                waiting: row.waiting,
                filtered: row.filtered,
                dropped: row.dropped,
                drop_rate: rate(row.dropped, old.dropped),
                reasons: row.reasons.clone(),
                state,
                sentence,
                oldest,
            });
        }
        for (part, _) in Part::ALL {
            let all: f64 = lines.iter().filter(|line| line.part == part).map(|line| line.rate_in).sum();
            for line in lines.iter_mut().filter(|line| line.part == part && all > 0.0) {
                line.share = line.rate_in * 100.0 / all;
            }
        }
        lines.retain(|line| self.part.is_none_or(|part| part == line.part) && line.name.contains(&self.only));
        match self.sort {
            SortBy::Name => {}
            SortBy::Rate => lines.sort_by(|a, b| b.rate_in.total_cmp(&a.rate_in)),
            SortBy::Waiting => lines.sort_by_key(|line| std::cmp::Reverse(line.waiting)),
            SortBy::Dropped => lines.sort_by_key(|line| std::cmp::Reverse(line.dropped)),
        }
        lines
    }

    /// The next column to sort by.
    pub fn sort_next(&mut self) {
        self.sort = match self.sort {
            SortBy::Name => SortBy::Rate,
            SortBy::Rate => SortBy::Waiting,
            SortBy::Waiting => SortBy::Dropped,
            SortBy::Dropped => SortBy::Name,
        };
    }

    pub fn part_next(&mut self) {
        self.part = match self.part {
            None => Some(Part::Source),
            Some(Part::Source) => Some(Part::Path),
            Some(Part::Path) => Some(Part::Destination),
            Some(Part::Destination) => None,
        };
    }

    /// The rows for scripts.
    pub fn json(&self) -> String {
        let rows: Vec<Value> = self.lines().iter().map(row_of).collect();
        format!("{:#}\n", json!({ "version": VERSION, "rows": rows }))
    }

    /// For `--once`: columns as wide as what is in them.
    pub fn table(&self) -> String {
        let rows: Vec<Vec<String>> = self.lines().iter().map(|line| cells(line).to_vec()).collect();
        let head: Vec<String> = HEAD.iter().map(|head| (*head).to_owned()).collect();
        let all = || std::iter::once(&head).chain(&rows);
        let mut out = String::new();
        for row in all() {
            for (column, cell) in row.iter().enumerate() {
                let widths = all().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
                let width = widths.max().unwrap_or_default();
                let _ = match column {
                    0 | 1 => write!(out, "{cell:<width$}  "),
                    _ if column + 1 == row.len() => write!(out, "{cell}"),
                    _ => write!(out, "{cell:>width$}  "),
                };
            }
            out.truncate(out.trim_end_matches(' ').len());
            out.push('\n');
        }
        out
    }
}

fn row_of(line: &Line) -> Value {
    let reasons: serde_json::Map<String, Value> =
        line.reasons.iter().map(|(reason, count)| (reason.clone(), (*count).into())).collect();
    json!({
        "part": line.part.name(),
        "name": line.name,
        "detail": line.detail,
        "in_per_second": line.rate_in,
        "out_per_second": line.rate_out,
        "share_percent": line.share,
        "waiting": line.waiting,
        "oldest_seconds": line.oldest,
        "dropped": line.dropped,
        "dropped_per_second": line.drop_rate,
        "dropped_by_reason": reasons,
        "state": line.state,
        "sentence": line.sentence,
    })
}

pub const HEAD: [&str; 9] = ["", "name", "in/s", "out/s", "share", "waiting", "oldest", "dropped", "state"];

pub fn cells(line: &Line) -> [String; 9] {
    let dropped = match line.drop_rate >= 0.5 {
        true => format!("{} (+{}/s)", line.dropped, count(line.drop_rate)),
        false => line.dropped.to_string(),
    };
    [
        line.part.name().to_owned(),
        line.name.chars().map(|c| if c.is_control() { '?' } else { c }).collect(),
        count(line.rate_in),
        count(line.rate_out),
        format!("{:.0}%", line.share),
        line.waiting.to_string(),
        line.oldest.map_or_else(String::new, |seconds| format!("{seconds} s")),
        dropped,
        line.state.clone(),
    ]
}

/// `1234`, `12.3k`, `2.1M`.
fn count(rate: f64) -> String {
    match rate {
        ..10_000.0 => format!("{rate:.0}"),
        10_000.0..1_000_000.0 => format!("{:.1}k", rate / 1e3),
        _ => format!("{:.1}M", rate / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn sample(received: u64, dropped: u64, at: Instant) -> Sample {
        let row = |name: &str, received: u64| {
            format!(
                "{{\"name\":\"{name}\",\"detail\":\"\",\"received\":{received},\"delivered\":0,\"waiting\":3,\
                     \"filtered\":0,\"dropped\":{dropped},\"dropped_by_reason\":{{\"queue-full\":{dropped}}}}}"
            )
        };
        let text = format!(
            "{{\"sources\":[{}],\"paths\":[],\"destinations\":[{},{}],\"waits\":[{{\"destination\":\"d_b\",\
             \"state\":\"drops\",\"sentence\":\"it waits\",\"oldest_seconds\":7}}]}}",
            row("s", received),
            row("d_a", received),
            row("d_b", received * 3)
        );
        Sample::read(&text, at).expect("a ledger")
    }

    #[test]
    fn rates_are_differences_and_shares_are_of_their_part() {
        let begin = Instant::now();
        let mut board = Board::new(SortBy::Rate, "d_");
        board.add(sample(100, 0, begin));
        board.add(sample(300, 10, begin + Duration::from_secs(2)));
        let lines = board.lines();
        let shown: Vec<(&str, f64, f64)> =
            lines.iter().map(|line| (line.name.as_str(), line.rate_in, line.share)).collect();
        assert_eq!(shown, [("d_b", 300.0, 75.0), ("d_a", 100.0, 25.0)]);
        let table = board.table();
        let first = table.lines().nth(1).unwrap_or_default();
        assert!(first.contains("10 (+5/s)") && first.contains("7 s") && first.ends_with("drops"), "{table}");
        let rows: Value = serde_json::from_str(&board.json()).expect("JSON");
        assert_eq!((&rows["version"], &rows["rows"][0]["name"]), (&1.into(), &"d_b".into()), "{rows:#}");
        assert_eq!(
            (&rows["rows"][0]["in_per_second"], &rows["rows"][0]["dropped_by_reason"]["queue-full"]),
            (&300.0.into(), &10.into()),
            "{rows:#}"
        );
        assert!(Sample::read("{}", begin).is_err());
    }
}
