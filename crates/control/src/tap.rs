//! What the control socket is asked about dropped messages:
//! `TAP DROPPED [REASON NAME] [AT NAME] [FROM NAME]`. The names of a destination and of a source are sent in
//! hexadecimal.

use crate::ledger::DropReason;
use crate::queues::{hex, text};
use crate::refusal::Refusal;

/// Dropped messages of which something is left.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TapRequest {
    /// `None`: of every reason of which something is kept.
    pub reason: Option<DropReason>,
    /// Name of a destination statement, or of one of its drivers.
    pub destination: Option<String>,
    /// The same of a source.
    pub source: Option<String>,
}

impl TapRequest {
    /// What comes behind `TAP`.
    pub fn parse(rest: &str) -> Result<TapRequest, Refusal> {
        let mut request = TapRequest::default();
        let mut words = rest.split_whitespace();
        if words.next().is_none_or(|word| !word.eq_ignore_ascii_case("DROPPED")) {
            return Err("expected DROPPED".into());
        }
        while let Some(word) = words.next() {
            let value = words.next().ok_or_else(|| format!("{word} needs a value"))?;
            match word.to_ascii_uppercase().as_str() {
                "REASON" => request.reason = Some(value.parse()?),
                "AT" => request.destination = Some(text(value)?),
                "FROM" => request.source = Some(text(value)?),
                _ => return Err("expected REASON, AT or FROM".into()),
            }
        }
        Ok(request)
    }

    /// The whole line.
    pub fn line(&self) -> String {
        let reason = self.reason.map(|reason| format!(" REASON {}", reason.name()));
        let at = self.destination.as_ref().map(|name| format!(" AT {}", hex(name.as_bytes())));
        let from = self.source.as_ref().map(|name| format!(" FROM {}", hex(name.as_bytes())));
        ["TAP DROPPED".to_owned()].into_iter().chain(reason).chain(at).chain(from).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_comes_out_as_it_went_in() {
        let all = TapRequest {
            reason: Some(DropReason::QueueFull),
            destination: Some("d a#0".into()),
            source: Some("s b".into()),
        };
        for request in [TapRequest::default(), all] {
            let line = request.line();
            let rest = line.strip_prefix("TAP ").expect("the word");
            assert_eq!(TapRequest::parse(rest), Ok(request), "{line}");
        }
        for wrong in ["", "s_net", "DROPPED REASON", "DROPPED REASON rain", "DROPPED AT xyz", "DROPPED NOW 1"]
        {
            assert!(TapRequest::parse(wrong).is_err(), "{wrong}");
        }
    }
}
