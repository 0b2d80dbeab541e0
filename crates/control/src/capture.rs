//! What the control socket is asked about recordings: `CAPTURE BEGIN [SOURCE NAME]`, `CAPTURE TAKE NUMBER
//! MILLISECONDS`, `CAPTURE END NUMBER`; and `REPLAY [SOURCE NAME] [TO NAME]... DATA ENTRIES`. Names are sent
//! in hexadecimal, entries of a recording in base64.

use crate::queues::{hex, text};
use crate::refusal::Refusal;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use std::time::Duration;

/// The longest time for which messages are waited for.
const PATIENCE_MAX: Duration = Duration::from_secs(10);

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CaptureRequest {
    /// Answered with a number.
    Begin {
        source: Option<String>,
    },
    /// What has come since, as [`Taken`].
    Take {
        number: u64,
        patience: Duration,
    },
    End {
        number: u64,
    },
}

/// What came since the last time it was asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Taken {
    /// Entries of a recording.
    pub entries: Vec<u8>,
    pub messages: u64,
    /// Messages for which there was no room.
    pub missed: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayRequest {
    /// To which source they are given; `None`: to the one that each came to.
    pub source: Option<String>,
    /// The destinations that get something; with none, all do.
    pub to: Vec<String>,
    /// Entries of a recording.
    pub entries: Vec<u8>,
}

fn number(word: Option<&str>) -> Result<u64, String> {
    word.and_then(|word| word.parse().ok()).ok_or_else(|| "expected a number".to_owned())
}

impl CaptureRequest {
    /// What comes behind `CAPTURE`.
    pub fn parse(rest: &str) -> Result<CaptureRequest, Refusal> {
        let mut words = rest.split_whitespace();
        let request = match words.next().unwrap_or_default().to_ascii_uppercase().as_str() {
            "BEGIN" => match words.next() {
                None => CaptureRequest::Begin { source: None },
                Some(word) if word.eq_ignore_ascii_case("SOURCE") => {
                    CaptureRequest::Begin { source: Some(text(words.next().unwrap_or_default())?) }
                }
                Some(_) => return Err("expected SOURCE and a name".into()),
            },
            "TAKE" => CaptureRequest::Take {
                number: number(words.next())?,
                patience: Duration::from_millis(number(words.next())?).min(PATIENCE_MAX),
            },
            "END" => CaptureRequest::End { number: number(words.next())? },
            _ => return Err("expected BEGIN, TAKE or END".into()),
        };
        words.next().map_or(Ok(request), |word| Err(format!("`{word}` is too much").into()))
    }

    /// The whole line.
    pub fn line(&self) -> String {
        match self {
            CaptureRequest::Begin { source: None } => "CAPTURE BEGIN".to_owned(),
            CaptureRequest::Begin { source: Some(name) } => {
                format!("CAPTURE BEGIN SOURCE {}", hex(name.as_bytes()))
            }
            CaptureRequest::Take { number, patience } => {
                format!("CAPTURE TAKE {number} {}", patience.as_millis())
            }
            CaptureRequest::End { number } => format!("CAPTURE END {number}"),
        }
    }
}

impl Taken {
    /// As an answer.
    pub fn line(&self) -> String {
        format!("{} {} {}", self.messages, self.missed, BASE64_STANDARD.encode(&self.entries))
    }

    pub fn parse(line: &str) -> Result<Taken, String> {
        let mut words = line.split_whitespace();
        let (messages, missed) = (number(words.next())?, number(words.next())?);
        let entries = BASE64_STANDARD.decode(words.next().unwrap_or_default());
        let entries = entries.map_err(|error| format!("not an answer: {error}"))?;
        Ok(Taken { entries, messages, missed })
    }
}

impl ReplayRequest {
    /// What comes behind `REPLAY`.
    pub fn parse(rest: &str) -> Result<ReplayRequest, Refusal> {
        let mut request = ReplayRequest { source: None, to: Vec::new(), entries: Vec::new() };
        let mut words = rest.split_whitespace();
        while let Some(word) = words.next() {
            let value = words.next().ok_or_else(|| format!("{word} needs a value"))?;
            match word.to_ascii_uppercase().as_str() {
                "SOURCE" => request.source = Some(text(value)?),
                "TO" => request.to.push(text(value)?),
                "DATA" => {
                    let decoded = BASE64_STANDARD.decode(value);
                    request.entries = decoded.map_err(|error| format!("no base64: {error}"))?;
                }
                _ => return Err("expected SOURCE, TO or DATA".into()),
            }
        }
        Ok(request)
    }

    /// The whole line.
    pub fn line(&self) -> String {
        let mut line = "REPLAY".to_owned();
        line.extend(self.source.as_ref().map(|name| format!(" SOURCE {}", hex(name.as_bytes()))));
        line.extend(self.to.iter().map(|name| format!(" TO {}", hex(name.as_bytes()))));
        if !self.entries.is_empty() {
            line.push_str(&format!(" DATA {}", BASE64_STANDARD.encode(&self.entries)));
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_what_their_lines_say() {
        let requests = [
            CaptureRequest::Begin { source: None },
            CaptureRequest::Begin { source: Some("s x".into()) },
            CaptureRequest::Take { number: 7, patience: Duration::from_millis(1500) },
            CaptureRequest::End { number: 7 },
        ];
        for request in requests {
            let line = request.line();
            assert_eq!(CaptureRequest::parse(line.strip_prefix("CAPTURE ").expect("the word")), Ok(request));
        }
        for wrong in ["", "BEGIN x", "TAKE", "TAKE 1", "END x", "END 1 2", "BEGIN SOURCE zz"] {
            assert!(CaptureRequest::parse(wrong).is_err(), "{wrong}");
        }
        let taken = Taken { entries: b"\0\xff.\n".to_vec(), messages: 3, missed: 1 };
        assert_eq!(Taken::parse(&taken.line()), Ok(taken));
        assert_eq!(Taken::parse(&Taken::default().line()), Ok(Taken::default()));
        let to = vec!["d".to_owned(), "e#0".to_owned()];
        let replay = ReplayRequest { source: Some("s".into()), to, entries: b"\0\n".to_vec() };
        let line = replay.line();
        assert_eq!(ReplayRequest::parse(line.strip_prefix("REPLAY ").expect("the word")), Ok(replay));
        // Without messages it asks whether they could come.
        let replay = ReplayRequest { source: Some("s".into()), to: vec!["d".into()], entries: Vec::new() };
        assert_eq!(replay.line(), "REPLAY SOURCE 73 TO 64");
        assert_eq!(ReplayRequest::parse("SOURCE 73 TO 64"), Ok(replay));
        assert!(ReplayRequest::parse("DATA *").is_err() && ReplayRequest::parse("TO").is_err());
    }
}
