//! Why a source is held: who has what it sent, since when nothing of it is read, and the option that would
//! change it.

use super::waits::span;
use serde_json::{Value, json};

/// A source that is not read, because its messages wait at destinations.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Held {
    pub source: String,
    /// Driver and address.
    pub detail: String,
    pub since_seconds: u64,
    /// Destinations at which messages of it wait.
    pub by: Vec<String>,
}

impl Held {
    /// All of it in one sentence, without an end.
    pub fn sentence(&self) -> String {
        let detail = if self.detail.is_empty() { String::new() } else { format!(" ({})", self.detail) };
        let by = match self.by.as_slice() {
            [] => "what it sent before is not dealt with".to_owned(),
            some => format!("what it sent before waits at {}", some.join(", ")),
        };
        let (source, since) = (&self.source, span(self.since_seconds));
        format!("source {source}{detail} is held back since {since}: {by}; {}", self.remedy())
    }

    /// The option that would change it.
    pub fn remedy(&self) -> String {
        match self.by.as_slice() {
            [] => format!("a larger log-iw-size() of {} lets more come in", self.source),
            some => {
                let (names, source) = (some.join(", "), &self.source);
                format!(
                    "disk-buffer() of {names} lets it go on, a larger log-iw-size() of {source} for longer"
                )
            }
        }
    }

    pub fn to_json(&self) -> Value {
        json!({
            "source": self.source,
            "detail": self.detail,
            "since_seconds": self.since_seconds,
            "by": self.by,
            "remedy": self.remedy(),
            "sentence": self.sentence(),
        })
    }

    /// What [`Held::to_json`] has written.
    pub fn from_json(value: &Value) -> Result<Held, String> {
        let wrong = |key: &str| format!("not a ledger: no '{key}' of what is held");
        let text =
            |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned).ok_or_else(|| wrong(key));
        let by = value.get("by").and_then(Value::as_array).ok_or_else(|| wrong("by"))?;
        Ok(Held {
            source: text("source")?,
            detail: text("detail")?,
            since_seconds: value
                .get("since_seconds")
                .and_then(Value::as_u64)
                .ok_or_else(|| wrong("since"))?,
            by: by.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_and_json_and_back() {
        let held = Held {
            source: "s#0".into(),
            detail: "network tcp".into(),
            since_seconds: 130,
            by: vec!["d#0".into()],
        };
        let expected = "source s#0 (network tcp) is held back since 2 min: what it sent before waits at d#0; disk-buffer() of d#0 \
             lets it go on, a larger log-iw-size() of s#0 for longer";
        assert_eq!(held.sentence(), expected);
        assert_eq!(Held::from_json(&held.to_json()), Ok(held.clone()));
        let nobody = Held { by: Vec::new(), ..held };
        assert!(nobody.sentence().ends_with("a larger log-iw-size() of s#0 lets more come in"));
        assert!(Held::from_json(&json!({ "source": "s" })).is_err());
    }
}
