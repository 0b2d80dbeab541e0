//! What became of a text, for people and as JSON.

use filterx::Report;
use serde_json::{Map, Value, json};
use std::time::Duration;

/// Grows when something is removed or changes its meaning.
const VERSION: u64 = 1;

pub enum Answer {
    /// It is no FilterX: the findings.
    Wrong {
        text: String,
        json: Value,
    },
    Failed(Box<Failed>),
    Dropped {
        time: Duration,
    },
    /// It went through; without a value where `done` ended it, or there was no statement.
    Value {
        shown: Option<String>,
        json: Option<String>,
        type_name: Option<String>,
        time: Duration,
    },
}

pub struct Failed {
    pub report: Report,
    pub time: Duration,
}

impl Answer {
    pub fn is_value(&self) -> bool {
        matches!(self, Answer::Value { .. } | Answer::Dropped { .. })
    }

    pub fn text(&self) -> String {
        match self {
            Answer::Wrong { text, .. } => text.trim_end().to_owned(),
            Answer::Failed(failed) => failed.text(),
            Answer::Dropped { time } => format!("dropped ({})", shown(*time)),
            Answer::Value { shown: Some(value), type_name: Some(name), time, .. } => {
                format!("{value} : {name} ({})", shown(*time))
            }
            Answer::Value { time, .. } => format!("done ({})", shown(*time)),
        }
    }

    pub fn json(&self) -> Value {
        let mut object = Map::new();
        object.insert("version".to_owned(), VERSION.into());
        let parts = match self {
            Answer::Wrong { json, .. } => json!({"outcome": "wrong", "findings": json}),
            Answer::Failed(failed) => failed.json(),
            Answer::Dropped { time } => json!({"outcome": "dropped", "nanoseconds": nanoseconds(*time)}),
            Answer::Value { shown, json, type_name, time } => {
                let value = json.as_deref().and_then(|text| serde_json::from_str(text).ok());
                json!({
                    "outcome": "value",
                    "value": value.unwrap_or(Value::Null),
                    "repr": shown,
                    "type": type_name,
                    "nanoseconds": nanoseconds(*time),
                })
            }
        };
        if let Value::Object(parts) = parts {
            object.extend(parts);
        }
        Value::Object(object)
    }
}

impl Failed {
    fn text(&self) -> String {
        let Report { location, statement, message, .. } = &self.report;
        let mut text = format!("failed: {message}\n  {location}: {statement}");
        let operands = self.report.operands_told();
        if !operands.is_empty() {
            text.push_str(&format!("\n  with {operands}"));
        }
        text
    }

    fn json(&self) -> Value {
        let operands = self.report.operands.iter();
        let operands: Map<String, Value> =
            operands.map(|operand| (operand.name.clone(), operand.value.clone().into())).collect();
        json!({
            "outcome": "failed",
            "error": {
                "message": self.report.message,
                "location": self.report.location,
                "statement": self.report.statement,
                "falsy": self.report.falsy.is_some(),
                "operands": operands,
            },
            "nanoseconds": nanoseconds(self.time),
        })
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// `840 ns`, `1.2 us`, `3.4 ms`
fn shown(time: Duration) -> String {
    let nanoseconds = nanoseconds(time);
    match nanoseconds {
        0..1_000 => format!("{nanoseconds} ns"),
        1_000..1_000_000 => format!("{:.1} us", nanoseconds as f64 / 1e3),
        _ => format!("{:.1} ms", nanoseconds as f64 / 1e6),
    }
}
