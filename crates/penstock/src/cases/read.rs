//! Files of test cases: TOML, or YAML with the same tables, described in docs/test.md.

use super::environment::{self, Variables};
use super::yaml;
use record::{Civil, Stamp};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use stdio::CommandError;
use toml_edit::Datetime;

/// A file is read up to this size.
const BYTES_MAX: u64 = 64 << 20;
/// When it is in a case that does not say so: 2026-01-01 00:00:00 UTC.
const NOW: Stamp = Stamp { secs: 1_767_225_600, usec: 0, offset: 0 };
/// Seconds that a case lets pass in all.
pub const SECONDS_MAX: u64 = 10 * 86_400;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct CaseFile {
    /// Beside the file; without it, the configuration has the file's name.
    pub config: Option<String>,
    /// For all cases that say nothing else.
    pub now: Option<Datetime>,
    pub source: Option<String>,
    #[serde(default)]
    pub environment: Variables,
    #[serde(default, rename = "case")]
    pub cases: Vec<Case>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Case {
    pub name: String,
    pub source: Option<String>,
    pub now: Option<Datetime>,
    pub line: Option<Line>,
    #[serde(default)]
    pub lines: Vec<Line>,
    /// Of all lines that say nothing else.
    pub from: Option<Address>,
    pub transport: Option<String>,
    /// Beside that of the file.
    #[serde(default)]
    pub environment: Variables,
    /// Seconds that pass behind the last line.
    #[serde(default)]
    pub wait: u64,
    #[serde(default, rename = "expect")]
    pub expectations: Vec<Expectation>,
    /// Destinations that get nothing.
    #[serde(default)]
    pub not: Vec<String>,
    pub dropped: Option<Dropped>,
}

/// A message as it comes in.
#[derive(Debug, Clone, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a text, or a table of `text` or `hex`, and `from`, `transport`, `after`"
)]
pub enum Line {
    Text(String),
    Full(FullLine),
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct FullLine {
    pub text: Option<String>,
    pub hex: Option<String>,
    pub from: Option<Address>,
    pub transport: Option<String>,
    /// Seconds that pass before it.
    #[serde(default)]
    pub after: u64,
}

/// An address, with a port or without.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(try_from = "String")]
pub struct Address(pub SocketAddr);

impl TryFrom<String> for Address {
    type Error = String;

    fn try_from(text: String) -> Result<Address, String> {
        let with_port = text.parse::<SocketAddr>();
        let alone = || text.parse::<IpAddr>().map(|address| SocketAddr::new(address, 0));
        let address = with_port.or_else(|_| alone());
        address.map(Address).map_err(|_| format!("`{text}` is no address such as 10.0.0.7 or 10.0.0.7:514"))
    }
}

/// What one destination gets, or what a message is behind a step.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Expectation {
    pub destination: Option<String>,
    pub step: Option<String>,
    /// Only what it gets for this file, connection or process.
    pub to: Option<String>,
    pub line: Option<String>,
    pub lines: Option<Vec<String>>,
    pub matches: Option<String>,
    pub count: Option<usize>,
    #[serde(default)]
    pub values: BTreeMap<String, String>,
    #[serde(default)]
    pub tags: Vec<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(untagged, expecting = "expected true, or the step at which the message ends")]
pub enum Dropped {
    Anywhere(bool),
    At(String),
}

impl CaseFile {
    pub fn read(path: &Path) -> Result<(CaseFile, String), CommandError> {
        let bytes = regular::read(path, BYTES_MAX);
        let bytes =
            bytes.map_err(|error| CommandError::usage(format!("cannot read {}: {error}", path.display())))?;
        let text = String::from_utf8(bytes).map_err(|_| format!("{}: not UTF-8", path.display()))?;
        Ok((CaseFile::of_text(path, &text)?, text))
    }

    /// A file that has been read.
    pub fn of_text(path: &Path, text: &str) -> Result<CaseFile, String> {
        let file = if is_yaml(path) { CaseFile::parse_yaml(text) } else { CaseFile::parse(text) };
        file.map_err(|error| format!("{}: {error}", path.display()))
    }

    fn parse(text: &str) -> Result<CaseFile, String> {
        toml_edit::de::from_str(text).map_err(in_words).and_then(CaseFile::checked)
    }

    fn parse_yaml(text: &str) -> Result<CaseFile, String> {
        let document = yaml::as_toml(text)?;
        toml_edit::de::from_document(document).map_err(in_words).and_then(CaseFile::checked)
    }

    fn checked(file: CaseFile) -> Result<CaseFile, String> {
        environment::check(&file.environment)?;
        file.cases
            .iter()
            .try_for_each(|case| case.check().map_err(|error| format!("case `{}`: {error}", case.name)))?;
        Ok(file)
    }

    /// When the first message of a case comes.
    pub fn now(&self, case: &Case) -> Stamp {
        case.now.as_ref().or(self.now.as_ref()).and_then(stamp).unwrap_or(NOW)
    }
}

impl Case {
    fn check(&self) -> Result<(), String> {
        if let Some(now) = &self.now
            && stamp(now).is_none()
        {
            return Err(format!("now = {now}: a date with a time is needed"));
        }
        if self.line.is_some() != self.lines.is_empty() {
            return Err("one of `line` and `lines` is needed".to_owned());
        }
        environment::check(&self.environment)?;
        let mut seconds = self.wait;
        for line in self.messages() {
            line.bytes()?;
            seconds = seconds.saturating_add(line.after());
        }
        if seconds > SECONDS_MAX {
            return Err(format!("more than {SECONDS_MAX} seconds pass in it"));
        }
        self.expectations.iter().try_for_each(Expectation::check)
    }

    /// It cannot fail.
    pub fn expects_nothing(&self) -> bool {
        self.expectations.is_empty() && self.not.is_empty() && self.dropped.is_none()
    }

    pub fn messages(&self) -> impl Iterator<Item = &Line> {
        self.line.iter().chain(&self.lines)
    }
}

impl Line {
    /// The bytes of the message.
    pub fn bytes(&self) -> Result<Vec<u8>, String> {
        let Line::Full(full) = self else {
            let Line::Text(text) = self else { return Ok(Vec::new()) };
            return Ok(text.clone().into_bytes());
        };
        match (&full.text, &full.hex) {
            (Some(text), None) => Ok(text.clone().into_bytes()),
            (None, Some(hex)) => {
                unhex(hex).ok_or_else(|| format!("hex = \"{hex}\": two digits for each byte are needed"))
            }
            _ => Err("a line has one of `text` and `hex`".to_owned()),
        }
    }

    pub fn after(&self) -> u64 {
        self.full().map_or(0, |full| full.after)
    }

    pub fn full(&self) -> Option<&FullLine> {
        match self {
            Line::Text(_) => None,
            Line::Full(full) => Some(full),
        }
    }
}

impl Expectation {
    fn check(&self) -> Result<(), String> {
        match (&self.destination, &self.step) {
            (Some(_), None) => {}
            (None, Some(_)) => {
                if self.line.is_some() || self.lines.is_some() || self.to.is_some() {
                    return Err(
                        "a step writes no lines: `values`, `tags` and `count` can be expected".to_owned()
                    );
                }
            }
            _ => return Err("an expectation has one of `destination` and `step`".to_owned()),
        }
        if self.line.is_some() && self.lines.is_some() {
            return Err("one of `line` and `lines` is enough".to_owned());
        }
        Ok(())
    }
}

fn in_words(error: toml_edit::de::Error) -> String {
    error.to_string().trim_end().to_owned()
}

/// A file whose name says that it is YAML.
pub fn is_yaml(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml")
}

/// Bytes of hexadecimal digits, with spaces between them or without.
fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> =
        text.chars().filter(|c| !c.is_whitespace()).map(|c| Some(c.to_digit(16)? as u8)).collect();
    let digits = digits.filter(|digits| digits.len() % 2 == 0)?;
    Some(digits.chunks(2).map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit)).collect())
}

/// A date with a time; without an offset it is UTC.
fn stamp(at: &Datetime) -> Option<Stamp> {
    let (date, time) = (at.date.as_ref()?, at.time.as_ref()?);
    let offset = match at.offset {
        Some(toml_edit::Offset::Custom { minutes }) => i32::from(minutes) * 60,
        _ => 0,
    };
    let (year, sec) = (i32::from(date.year), time.second.unwrap_or_default());
    let civil = Civil { year, month: date.month, day: date.day, hour: time.hour, min: time.minute, sec };
    let usec = time.nanosecond.unwrap_or_default() / 1000;
    Some(Stamp { secs: civil.seconds() - i64::from(offset), usec, offset })
}

/// As it stands in a file.
pub fn written(at: Stamp) -> String {
    let Civil { year, month, day, hour, min, sec } = Civil::from_seconds(at.secs);
    let fraction = if at.usec > 0 { format!(".{:06}", at.usec) } else { String::new() };
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{min:02}:{sec:02}{fraction}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str, part: &str) {
        let error = CaseFile::parse(text).expect_err(text);
        assert!(error.contains(part), "{text}: {error}");
    }

    #[test]
    fn what_is_wrong_is_said() {
        refused("cases = 1\n", "unknown field `cases`");
        refused("[[case]]\nline = \"x\"\n", "missing field `name`");
        refused("[[case]]\nname = \"a\"\n", "one of `line` and `lines`");
        refused("[[case]]\nname = \"a\"\nline = { hex = \"0\" }\n", "two digits");
        refused("[[case]]\nname = \"a\"\nline = \"x\"\nfrom = \"there\"\n", "no address");
        refused("[[case]]\nname = \"a\"\nline = \"x\"\nwait = 99999999\n", "seconds pass");
        refused("[[case]]\nname = \"a\"\nline = \"x\"\n[[case.expect]]\ncount = 1\n", "one of `destination`");
        refused("[[case]]\nname = \"a\"\nline = \"x\"\nnow = 2026-01-01\n", "a date with a time");
        refused("environment = { A = true }\n", "`A` needs a text");
        refused("environment = { A = 1 }\n", "expected a text, or false");
        refused("[environment]\n\"A=\" = \"x\"\n", "cannot be the name");
        let case = "[[case]]\nname = \"a\"\nline = \"x\"\nenvironment = { A = \"\\u0000\" }\n";
        refused(case, "zero byte");
    }

    #[test]
    fn times_are_read_and_written() {
        let file = "now = 2026-11-23T10:00:00.5+01:00\n[[case]]\nname = \"a\"\nline = \"x\"\n";
        let file = CaseFile::parse(file).expect("a file");
        let now = file.now(&file.cases[0]);
        assert_eq!((now.secs, now.usec, now.offset), (1_795_424_400, 500_000, 3600));
        assert_eq!(written(now), "2026-11-23T09:00:00.500000Z");
        assert_eq!(unhex("3c 31\n33 3E"), Some(b"<13>".to_vec()));
    }
}
