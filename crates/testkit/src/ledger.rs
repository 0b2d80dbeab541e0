//! The ledger as oracle: the program's own account, parsed, and compared with what a test knows.

use serde_json::Value;
use std::fmt;

/// One account: a source, a log path, a destination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub name: String,
    pub detail: String,
    pub received: u64,
    pub delivered: u64,
    pub waiting: u64,
    pub filtered: u64,
    pub dropped: u64,
    pub reasons: Vec<(String, u64)>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    pub sources: Vec<Row>,
    pub paths: Vec<Row>,
    pub destinations: Vec<Row>,
}

impl Ledger {
    /// Reads what `LEDGER JSON` answers.
    #[track_caller]
    pub fn parse(text: &str) -> Ledger {
        let json: Value =
            serde_json::from_str(text.trim()).unwrap_or_else(|e| panic!("not a ledger: {e}: {text}"));
        Ledger {
            sources: rows(&json["sources"]),
            paths: rows(&json["paths"]),
            destinations: rows(&json["destinations"]),
        }
    }

    fn rows(&self) -> impl Iterator<Item = &Row> {
        self.sources.iter().chain(&self.paths).chain(&self.destinations)
    }

    /// Every account adds up.
    #[track_caller]
    pub fn assert_balanced(&self) {
        for row in self.rows() {
            let known = row.delivered + row.waiting + row.filtered + row.dropped;
            assert_eq!(row.received, known, "{} does not add up\n{self}", row.name);
            let reasons: u64 = row.reasons.iter().map(|(_, n)| n).sum();
            assert_eq!(row.dropped, reasons, "{} dropped without a reason\n{self}", row.name);
        }
    }

    /// Adds up, nothing waits, nothing was dropped.
    #[track_caller]
    pub fn assert_nothing_lost(&self) {
        self.assert_balanced();
        assert_eq!((self.waiting(), self.dropped()), (0, 0), "\n{self}");
    }

    /// Messages received by all sources but the program's own, and without those made by correlation.
    pub fn received(&self) -> u64 {
        self.foreign_sources().map(|row| row.received).sum()
    }

    /// Messages that wait anywhere.
    pub fn waiting(&self) -> u64 {
        self.rows().map(|row| row.waiting).sum()
    }

    /// Messages dropped anywhere.
    pub fn dropped(&self) -> u64 {
        self.rows().map(|row| row.dropped).sum()
    }

    /// Messages dropped for one reason, anywhere.
    pub fn dropped_for(&self, reason: &str) -> u64 {
        self.rows().flat_map(|row| &row.reasons).filter(|(name, _)| name == reason).map(|(_, n)| n).sum()
    }

    /// The sum of a destination statement's drivers.
    #[track_caller]
    pub fn destination(&self, name: &str) -> Row {
        sum(&self.destinations, name).unwrap_or_else(|| panic!("no destination {name}\n{self}"))
    }

    /// The sum of a source statement's drivers.
    #[track_caller]
    pub fn source(&self, name: &str) -> Row {
        sum(&self.sources, name).unwrap_or_else(|| panic!("no source {name}\n{self}"))
    }

    fn foreign_sources(&self) -> impl Iterator<Item = &Row> {
        self.sources
            .iter()
            .filter(|row| !row.detail.contains("internal") && !row.detail.starts_with("generated"))
    }
}

/// `name#0`, `name#1` ... as one.
fn sum(rows: &[Row], name: &str) -> Option<Row> {
    let mut found = rows.iter().filter(|row| row.name.split('#').next() == Some(name));
    let mut total = found.next()?.clone();
    for row in found {
        total.received += row.received;
        total.delivered += row.delivered;
        total.waiting += row.waiting;
        total.filtered += row.filtered;
        total.dropped += row.dropped;
        total.reasons.extend(row.reasons.iter().cloned());
    }
    Some(total)
}

fn rows(list: &Value) -> Vec<Row> {
    list.as_array().into_iter().flatten().map(row).collect()
}

fn row(value: &Value) -> Row {
    let number = |key: &str| value[key].as_u64().unwrap_or_else(|| panic!("no number {key}: {value}"));
    let text = |key: &str| value[key].as_str().unwrap_or_default().to_owned();
    let reasons = value["dropped_by_reason"].as_object().into_iter().flatten();
    Row {
        name: text("name"),
        detail: text("detail"),
        received: number("received"),
        delivered: number("delivered"),
        waiting: number("waiting"),
        filtered: number("filtered"),
        dropped: number("dropped"),
        reasons: reasons.map(|(name, n)| (name.clone(), n.as_u64().unwrap_or(0))).collect(),
    }
}

impl fmt::Display for Ledger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (kind, rows) in
            [("source", &self.sources), ("path", &self.paths), ("destination", &self.destinations)]
        {
            for row in rows {
                write!(f, "{kind} {} ({}): received {} = ", row.name, row.detail, row.received)?;
                write!(
                    f,
                    "delivered {} + waiting {} + filtered {}",
                    row.delivered, row.waiting, row.filtered
                )?;
                writeln!(f, " + dropped {} {:?}", row.dropped, row.reasons)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"{"sources":[{"name":"s#0","detail":"","received":5,"delivered":3,"waiting":1,"filtered":0,
        "dropped":1,"dropped_by_reason":{"queue-full":1}}],"paths":[],"destinations":[]}"#;

    #[test]
    fn adds_up() {
        let ledger = Ledger::parse(TEXT);
        ledger.assert_balanced();
        assert_eq!((ledger.received(), ledger.waiting(), ledger.dropped_for("queue-full")), (5, 1, 1));
        assert_eq!(ledger.source("s").dropped, 1);
    }

    #[test]
    #[should_panic(expected = "does not add up")]
    fn does_not_add_up() {
        Ledger::parse(&TEXT.replace(":3,", ":2,")).assert_balanced();
    }
}
