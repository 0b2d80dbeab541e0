//! What the control socket is asked about messages that come by a place: `LOOK AT PLACE [WHERE EXPRESSION]
//! [FORMAT TEMPLATE] [COUNT N] [FOR MILLISECONDS]`. Place, expression and template are sent in hexadecimal.

use crate::queues::{hex, text};
use crate::refusal::Refusal;
use std::time::Duration;

/// The longest time for which messages are waited for.
const PATIENCE_MAX: Duration = Duration::from_secs(60);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LookRequest {
    /// A source, a destination, a step, or `file:line`.
    pub place: String,
    /// A filter expression, asked of the message as it is there.
    pub filter: Option<String>,
    /// None: what is written, at destinations; elsewhere time, host, header and text.
    pub template: Option<String>,
    pub count: usize,
    pub patience: Duration,
}

impl LookRequest {
    /// What comes behind `LOOK`.
    pub fn parse(rest: &str) -> Result<LookRequest, Refusal> {
        let (place, filter, template) = (String::new(), None, None);
        let mut request = LookRequest { place, filter, template, count: 1, patience: Duration::from_secs(1) };
        let mut words = rest.split_whitespace();
        while let Some(word) = words.next() {
            let value = words.next().ok_or_else(|| format!("{word} needs a value"))?;
            let number = || value.parse::<u32>().map_err(|_| "expected a number".to_owned());
            match word.to_ascii_uppercase().as_str() {
                "AT" => request.place = text(value)?,
                "WHERE" => request.filter = Some(text(value)?),
                "FORMAT" => request.template = Some(text(value)?),
                "COUNT" => request.count = number()? as usize,
                "FOR" => request.patience = Duration::from_millis(number()?.into()).min(PATIENCE_MAX),
                _ => return Err("expected AT, WHERE, FORMAT, COUNT or FOR".into()),
            }
        }
        if request.place.is_empty() {
            return Err("expected AT and a place".into());
        }
        Ok(request)
    }

    /// The whole line.
    pub fn line(&self) -> String {
        let mut line = format!("LOOK AT {}", hex(self.place.as_bytes()));
        let named = |word: &str, text: &String| format!(" {word} {}", hex(text.as_bytes()));
        line.extend(self.filter.as_ref().map(|filter| named("WHERE", filter)));
        line.extend(self.template.as_ref().map(|template| named("FORMAT", template)));
        line.push_str(&format!(" COUNT {} FOR {}", self.count, self.patience.as_millis()));
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_comes_out_as_it_went_in() {
        let plain = LookRequest {
            place: "filter f_ssh".into(),
            filter: None,
            template: None,
            count: 7,
            patience: Duration::from_millis(1500),
        };
        let all = LookRequest {
            filter: Some("host(\"a b\")".into()),
            template: Some("$MSG\n".into()),
            ..plain.clone()
        };
        for request in [plain, all] {
            let line = request.line();
            let rest = line.strip_prefix("LOOK ").expect("the word");
            assert_eq!(LookRequest::parse(rest), Ok(request), "{line}");
        }
        for wrong in ["", "AT", "COUNT 1", "AT 61 COUNT many", "AT 61 NOW 1", "AT xyz"] {
            assert!(LookRequest::parse(wrong).is_err(), "{wrong}");
        }
    }
}
