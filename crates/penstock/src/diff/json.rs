//! A difference as JSON: version 1 of its form, docs/diff.md.

use super::compare::{Difference, Side};
use super::sample::Sampled;
use serde_json::{Value, json};

const VERSION: u32 = 1;

pub fn render(differences: &[Difference], sampled: Option<&Sampled>) -> String {
    let list: Vec<Value> = differences.iter().map(one).collect();
    let report = json!({ "version": VERSION, "differences": list, "sample": sampled.map(sample) });
    format!("{report:#}\n")
}

fn one(difference: &Difference) -> Value {
    let side = |side: &Option<Side>| side.as_ref().map(|side| json!({ "text": side.text, "at": side.at }));
    json!({
        "change": difference.change.word(),
        "within": difference.within,
        "what": difference.what,
        "old": side(&difference.old),
        "new": side(&difference.new),
        "inherited_by": difference.inherited_by,
    })
}

fn sample(sampled: &Sampled) -> Value {
    let texts = |texts: &[Vec<u8>]| -> Vec<String> {
        texts.iter().map(|text| String::from_utf8_lossy(text).into_owned()).collect()
    };
    let outcomes: Vec<Value> = sampled
        .outcomes
        .iter()
        .map(|outcome| {
            json!({
                "class": outcome.class.word(),
                "destination": outcome.destination,
                "count": outcome.count,
                "cause": outcome.cause,
                "at": outcome.at,
                "message": String::from_utf8_lossy(&outcome.message),
                "old": texts(&outcome.old),
                "new": texts(&outcome.new),
            })
        })
        .collect();
    let [old, new] = sampled.cpu.map(|time| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
    json!({
        "messages": sampled.messages,
        "same": sampled.same,
        "outcomes": outcomes,
        "cpu_ns": { "old": old, "new": new },
    })
}
