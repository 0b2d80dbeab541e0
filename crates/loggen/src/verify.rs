//! Reads what a receiver wrote and says, connection by connection, which stamped messages are missing,
//! doubled or out of order, and which lines are none of ours.
//!
//! A message counts as out of order when a later number of its connection stands before it in the same file
//! (or in an earlier file, with `Order::AcrossFiles`). Memory is a bit per number, in pages made on demand.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

mod line;
mod seen;

use line::Stamp;
use seen::Seen;
use stdio::CommandError;

const BUFFER_BYTES: usize = 1 << 20;
/// A longer line cannot hold a message of ours and is counted as foreign.
const LINE_MAX: usize = 16 << 20;
/// How many missing ranges are listed per connection.
pub const RANGES_MAX: usize = 8;
/// How many foreign lines are quoted.
const SAMPLES_MAX: usize = 5;
const SAMPLE_BYTES: usize = 200;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Each file has its own order: one file, or files by host.
    #[default]
    PerFile,
    /// The files are pieces of one stream, oldest first.
    AcrossFiles,
}

/// What should be there. Without it, each connection is complete up to its highest number.
#[derive(Clone, Copy, Debug, Default)]
pub struct Expected {
    pub connections: Option<usize>,
    /// Messages over all connections, shared out as `send::Load` does.
    pub number: Option<u64>,
    pub per_connection: Option<u64>,
    pub order: Order,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Connection {
    pub id: u32,
    /// Different numbers seen.
    pub received: u64,
    pub expected: u64,
    pub missing: u64,
    pub doubled: u64,
    pub reordered: u64,
    /// First missing numbers as inclusive ranges, at most `RANGES_MAX`.
    pub missing_ranges: Vec<(u64, u64)>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    pub lines: u64,
    pub bytes: u64,
    pub files: usize,
    pub connections: Vec<Connection>,
    /// Lines without a stamp, with more than one, or with numbers beyond what was expected.
    pub foreign: u64,
    /// `FILE:LINE: text` of the first foreign lines.
    pub foreign_samples: Vec<String>,
    pub expected_connections: Option<usize>,
    /// A shortfall that no connection explains: `number` was expected without `connections`.
    pub total_missing: u64,
}

impl Report {
    pub fn received(&self) -> u64 {
        self.connections.iter().map(|c| c.received).sum()
    }

    /// Connections of which something arrived.
    pub fn connections_seen(&self) -> usize {
        self.connections.iter().filter(|c| c.received > 0).count()
    }

    pub fn missing(&self) -> u64 {
        self.connections.iter().map(|c| c.missing).sum::<u64>().max(self.total_missing)
    }

    pub fn doubled(&self) -> u64 {
        self.connections.iter().map(|c| c.doubled).sum()
    }

    pub fn reordered(&self) -> u64 {
        self.connections.iter().map(|c| c.reordered).sum()
    }

    pub fn ok(&self) -> bool {
        self.missing() + self.doubled() + self.reordered() + self.foreign == 0
            && self.expected_connections.is_none_or(|count| count == self.connections_seen())
    }

    pub fn to_json(&self) -> serde_json::Value {
        let connection = |c: &Connection| {
            serde_json::json!({
                "connection": c.id, "received": c.received, "expected": c.expected, "missing": c.missing,
                "doubled": c.doubled, "reordered": c.reordered, "missing_ranges": c.missing_ranges,
            })
        };
        serde_json::json!({
            "ok": self.ok(), "files": self.files, "lines": self.lines, "bytes": self.bytes,
            "received": self.received(), "missing": self.missing(), "doubled": self.doubled(),
            "reordered": self.reordered(), "foreign": self.foreign, "foreign_samples": self.foreign_samples,
            "expected_connections": self.expected_connections,
            "connections": self.connections.iter().map(connection).collect::<Vec<_>>(),
        })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const LISTED_MAX: usize = 20;
        writeln!(
            f,
            "lines={}, received={}, connections={}, missing={}, doubled={}, reordered={}, foreign={}",
            self.lines,
            self.received(),
            self.connections_seen(),
            self.missing(),
            self.doubled(),
            self.reordered(),
            self.foreign
        )?;
        if let Some(count) = self.expected_connections.filter(|&count| count != self.connections_seen()) {
            writeln!(f, "expected {count} connections, found {}", self.connections_seen())?;
        }
        let bad = |c: &&Connection| c.missing + c.doubled + c.reordered > 0;
        for c in self.connections.iter().filter(bad).take(LISTED_MAX) {
            write!(f, "connection {:04}: received {} of {}", c.id, c.received, c.expected)?;
            let counts = [("missing", c.missing), ("doubled", c.doubled), ("out of order", c.reordered)];
            counts.iter().filter(|(_, n)| *n > 0).try_for_each(|(what, n)| write!(f, ", {n} {what}"))?;
            if !c.missing_ranges.is_empty() {
                let ranges: Vec<_> = c
                    .missing_ranges
                    .iter()
                    .map(|(a, b)| if a == b { a.to_string() } else { format!("{a}-{b}") })
                    .collect();
                write!(
                    f,
                    " (missing {}{})",
                    ranges.join(", "),
                    if ranges.len() == RANGES_MAX { ", ..." } else { "" }
                )?;
            }
            writeln!(f)?;
        }
        let more = self.connections.iter().filter(bad).count().saturating_sub(LISTED_MAX);
        if more > 0 {
            writeln!(f, "and {more} more connections")?;
        }
        self.foreign_samples.iter().try_for_each(|sample| writeln!(f, "foreign line {sample}"))?;
        write!(f, "{}", if self.ok() { "ok" } else { "NOT ok" })
    }
}

/// Reads `files` in their order.
pub fn verify_files<P: AsRef<Path>>(files: &[P], expected: &Expected) -> Result<Report, CommandError> {
    let mut judge = Judge::new(expected.order);
    for path in files {
        let path = path.as_ref();
        let failed = |e| format!("cannot read {}: {e}", path.display());
        let mut file = File::open(path).map_err(failed)?;
        judge.begin_file(path.to_path_buf());
        judge.read(&mut file).map_err(failed)?;
    }
    judge.finish(expected)
}

/// The same for bytes in memory.
pub fn verify_bytes(bytes: &[u8], expected: &Expected) -> Report {
    let mut judge = Judge::new(expected.order);
    judge.begin_file(PathBuf::from("-"));
    let mut rest = bytes;
    // Reading from memory cannot fail.
    let _ = judge.read(&mut rest);
    judge.finish(expected).unwrap_or_default()
}

struct Judge {
    order: Order,
    path: PathBuf,
    line_in_file: u64,
    report: Report,
    seen: Vec<Option<Track>>,
    finder: line::Finder,
    over_limit: bool,
}

/// What is known of one connection while reading.
struct Track {
    seen: Seen,
    highest: Option<u64>,
    /// Which file `highest` is of.
    file: usize,
    doubled: u64,
    reordered: u64,
}

impl Judge {
    fn new(order: Order) -> Judge {
        Judge {
            order,
            path: PathBuf::new(),
            line_in_file: 0,
            report: Report::default(),
            seen: Vec::new(),
            finder: line::Finder::new(),
            over_limit: false,
        }
    }

    fn begin_file(&mut self, path: PathBuf) {
        self.path = path;
        self.line_in_file = 0;
        self.report.files += 1;
    }

    fn read(&mut self, file: &mut impl Read) -> std::io::Result<()> {
        let mut buffer = vec![0; BUFFER_BYTES];
        // `buffer[..kept]` is the start of a line whose end has not been read yet.
        let mut kept = 0;
        // Inside a line that was too long and has been counted.
        let mut skipping = false;
        loop {
            if kept == buffer.len() {
                if kept >= LINE_MAX {
                    self.foreign(&buffer);
                    skipping = true;
                    kept = 0;
                } else {
                    buffer.resize(buffer.len() * 2, 0);
                }
            }
            let count = match file.read(&mut buffer[kept..]) {
                Ok(0) => break,
                Ok(count) => count,
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(e) => return Err(e),
            };
            self.report.bytes += count as u64;
            let filled = kept + count;
            let mut start = 0;
            while let Some(length) = memchr::memchr(b'\n', &buffer[start.max(kept)..filled]) {
                let end = start.max(kept) + length;
                if !std::mem::take(&mut skipping) {
                    self.line(&buffer[start..end]);
                }
                start = end + 1;
            }
            if skipping {
                kept = 0;
                continue;
            }
            buffer.copy_within(start..filled, 0);
            kept = filled - start;
        }
        if kept > 0 {
            self.line(&buffer[..kept]);
        }
        Ok(())
    }

    fn line(&mut self, line: &[u8]) {
        match self.finder.find(line) {
            Some(stamp) => {
                self.report.lines += 1;
                self.line_in_file += 1;
                self.stamp(stamp);
            }
            None => self.foreign(line),
        }
    }

    fn foreign(&mut self, line: &[u8]) {
        self.report.lines += 1;
        self.line_in_file += 1;
        self.report.foreign += 1;
        if self.report.foreign_samples.len() < SAMPLES_MAX {
            let text = String::from_utf8_lossy(&line[..line.len().min(SAMPLE_BYTES)]);
            self.report.foreign_samples.push(format!(
                "{}:{}: {text}",
                self.path.display(),
                self.line_in_file
            ));
        }
    }

    fn stamp(&mut self, stamp: Stamp) {
        let place = stamp.conn as usize;
        if place >= self.seen.len() {
            self.seen.resize_with(place + 1, || None);
        }
        let track = self.seen[place].get_or_insert_with(|| Track {
            seen: Seen::default(),
            highest: None,
            file: 0,
            doubled: 0,
            reordered: 0,
        });
        if self.order == Order::PerFile && track.file != self.report.files {
            track.file = self.report.files;
            track.highest = None;
        }
        match track.seen.insert(stamp.seq) {
            Some(true) => {}
            Some(false) => {
                track.doubled += 1;
                return;
            }
            None => {
                self.over_limit = true;
                return;
            }
        }
        if track.highest.is_some_and(|highest| stamp.seq < highest) {
            track.reordered += 1;
        } else {
            track.highest = Some(stamp.seq);
        }
    }

    fn finish(mut self, expected: &Expected) -> Result<Report, CommandError> {
        if self.over_limit {
            return Err(
                "the numbers are spread too wide to keep track of: not output of this generator".into()
            );
        }
        // With fewer messages than connections some have nothing to send.
        let fullest =
            expected.number.map_or(usize::MAX, |number| usize::try_from(number).unwrap_or(usize::MAX));
        self.report.expected_connections = expected.connections.map(|count| count.min(fullest));
        let count = self.seen.len().max(expected.connections.unwrap_or(0));
        let mut connections = Vec::new();
        for id in 0..count {
            let track = self.seen.get_mut(id).and_then(Option::take);
            let asked = expected_of(expected, id);
            if track.is_none() && (asked.is_none() || expected.connections.is_none()) {
                continue;
            }
            let (connection, beyond) = conclude(id as u32, track, asked);
            self.report.foreign += beyond;
            connections.push(connection);
        }
        self.report.connections = connections;
        if let (Some(number), None) = (expected.number, expected.connections) {
            self.report.total_missing = number.saturating_sub(self.report.received());
        }
        Ok(self.report)
    }
}

/// Messages connection `id` should have; `None` when nothing was said about it.
fn expected_of(expected: &Expected, id: usize) -> Option<u64> {
    if expected.connections.is_some_and(|count| id >= count) {
        return None;
    }
    expected.per_connection.or_else(|| {
        let (count, number) = (expected.connections? as u64, expected.number?);
        Some(number / count + u64::from((id as u64) < number % count))
    })
}

/// The verdict on one connection, and how many of its numbers were beyond the expected ones.
fn conclude(id: u32, track: Option<Track>, asked: Option<u64>) -> (Connection, u64) {
    let Some(track) = track else {
        let expected = asked.unwrap_or(0);
        let missing_ranges = if expected > 0 { vec![(0, expected - 1)] } else { Vec::new() };
        return (Connection { id, expected, missing: expected, missing_ranges, ..Connection::default() }, 0);
    };
    let expected = asked.unwrap_or_else(|| track.seen.end());
    let within = track.seen.count_below(expected);
    let received = track.seen.count_below(u64::MAX);
    let connection = Connection {
        id,
        received,
        expected,
        missing: expected - within,
        doubled: track.doubled,
        reordered: track.reordered,
        missing_ranges: track.seen.gaps(expected, RANGES_MAX),
    };
    (connection, received - within)
}

#[cfg(test)]
mod tests;
