//! What the control socket is asked about single messages: `EXPLAIN [JSON] [LOST] [DROPPED REASON] [COUNT N]
//! [FOR SECONDS] [WAIT SECONDS] [SOURCE NAME] [FROM ADDRESS] [FILTER EXPRESSION]`. Name and expression are
//! sent in hexadecimal.

use crate::ledger::DropReason;
use crate::queues::{hex, text};
use crate::refusal::Refusal;
use std::net::IpAddr;
use std::time::Duration;

/// The longest time for which messages are waited for.
pub const PATIENCE_MAX: Duration = Duration::from_secs(3600);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExplainRequest {
    pub json: bool,
    /// Only messages that no destination gets.
    pub is_lost: bool,
    /// Only messages that a destination drops for this reason.
    pub dropped: Option<DropReason>,
    pub count: usize,
    pub patience: Duration,
    /// How long destinations may take to say what became of it, where that is more than usual.
    pub wait: Duration,
    /// Name of a source statement, or of one of its drivers.
    pub source: Option<String>,
    pub from: Option<IpAddr>,
    /// A filter expression.
    pub filter: Option<String>,
}

impl Default for ExplainRequest {
    fn default() -> ExplainRequest {
        ExplainRequest {
            json: false,
            is_lost: false,
            dropped: None,
            count: 1,
            patience: Duration::from_secs(10),
            wait: Duration::ZERO,
            source: None,
            from: None,
            filter: None,
        }
    }
}

impl ExplainRequest {
    /// What comes behind `EXPLAIN`.
    pub fn parse(rest: &str) -> Result<ExplainRequest, Refusal> {
        let mut request = ExplainRequest::default();
        let mut words = rest.split_whitespace();
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("{word} needs a value"));
            match word.to_ascii_uppercase().as_str() {
                "JSON" => request.json = true,
                "LOST" => request.is_lost = true,
                "DROPPED" => request.dropped = Some(value()?.parse()?),
                "COUNT" => request.count = number(value()?)?,
                "FOR" => request.patience = Duration::from_secs(number(value()?)?).min(PATIENCE_MAX),
                "WAIT" => request.wait = Duration::from_secs(number(value()?)?).min(PATIENCE_MAX),
                "SOURCE" => request.source = Some(text(value()?)?),
                "FROM" => {
                    let address = value()?.parse().map_err(|_| "expected an address".to_owned())?;
                    request.from = Some(address);
                }
                "FILTER" => request.filter = Some(text(value()?)?),
                _ => {
                    return Err(
                        "expected JSON, LOST, DROPPED, COUNT, FOR, WAIT, SOURCE, FROM or FILTER".into()
                    );
                }
            }
        }
        Ok(request)
    }

    /// The whole line.
    pub fn line(&self) -> String {
        let mut line = format!("EXPLAIN COUNT {} FOR {}", self.count, self.patience.as_secs());
        let named = |word: &str, text: &String| format!(" {word} {}", hex(text.as_bytes()));
        if !self.wait.is_zero() {
            line.push_str(&format!(" WAIT {}", self.wait.as_secs()));
        }
        line.push_str(if self.json { " JSON" } else { "" });
        line.push_str(if self.is_lost { " LOST" } else { "" });
        line.extend(self.dropped.map(|reason| format!(" DROPPED {}", reason.name())));
        line.extend(self.source.as_ref().map(|source| named("SOURCE", source)));
        line.extend(self.from.map(|from| format!(" FROM {from}")));
        line.extend(self.filter.as_ref().map(|filter| named("FILTER", filter)));
        line
    }
}

fn number<T: std::str::FromStr>(word: &str) -> Result<T, String> {
    word.parse().map_err(|_| "expected a number".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_comes_out_as_it_went_in() {
        let all = ExplainRequest {
            json: true,
            is_lost: true,
            dropped: Some(DropReason::QueueFull),
            count: 7,
            wait: Duration::from_secs(7),
            patience: Duration::from_secs(90),
            source: Some("s_net#0".into()),
            from: Some(IpAddr::from([10, 0, 0, 7])),
            filter: Some("program(\"app\") and\nnot f_x".into()),
        };
        for request in [ExplainRequest::default(), all] {
            let line = request.line();
            let rest = line.strip_prefix("EXPLAIN ").expect("the word");
            assert_eq!(ExplainRequest::parse(rest), Ok(request), "{line}");
        }
        for wrong in ["COUNT", "COUNT many", "FROM here", "FILTER xyz", "NEXT"] {
            assert!(ExplainRequest::parse(wrong).is_err(), "{wrong}");
        }
    }
}
