//! What the page asks for beside the stream: a statement with its options, dropped messages, those that come
//! next, a line that is only tried, queues on disk, dead letters, what a reload would change, the log.

use control::explain::ExplainRequest;
use control::look::LookRequest;
use control::tap::TapRequest;
use control::{ConfigView, Counter, InEffect, Refusal, SetBy, Subject};
use http_server::{Answer, Query};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// Grows when something is removed or changes its meaning.
const VERSION: u32 = 1;
/// Messages that are waited for at a time, and for how long at most.
const COUNT_MAX: u64 = 20;
const PATIENCE_MAX: u64 = 20;
/// Where nothing is said.
const SECONDS: u64 = 10;
/// Dead letters in one answer.
const LETTERS_MAX: usize = 100;
/// A line that is tried.
const LINE_BYTES_MAX: usize = 8 << 10;

/// As it may be said to whoever asks.
pub fn said(text: &str) -> String {
    oplog::hidden(text).into_owned()
}

/// A sentence that is no answer.
fn refused(why: &str) -> Answer {
    Answer::json(422, json!({ "version": VERSION, "error": said(why) }).to_string())
}

/// A number that may be left out. The error names it.
pub fn number(query: Query<'_>, name: &str) -> Result<Option<u64>, String> {
    match query.has(name) {
        false => Ok(None),
        true => {
            let number = query.get(name).and_then(|text| text.parse().ok());
            number.map(Some).ok_or_else(|| format!("{name} is not a number"))
        }
    }
}

/// How many messages are waited for, and how long: the first is `count` where nothing is said.
fn bounds(query: Query<'_>, count: u64) -> Result<(usize, Duration), String> {
    let count = number(query, "count")?.unwrap_or(count).clamp(1, COUNT_MAX);
    let seconds = number(query, "seconds")?.unwrap_or(SECONDS).clamp(1, PATIENCE_MAX);
    Ok((count as usize, Duration::from_secs(seconds)))
}

fn given(outcome: Result<String, Refusal>) -> Answer {
    outcome.map_or_else(|refusal| refused(refusal.said()), |text| Answer::json(200, said(&text)))
}

/// The lines of a statement, and the options of its drivers that are in effect.
pub fn configuration(query: Query<'_>, subject: &dyn Subject) -> Answer {
    let node = query.get("node").unwrap_or_default();
    let Some(text) = subject.statement(&node) else { return refused("there is no such statement") };
    let options: Vec<Value> = subject.options(&node).iter().map(option).collect();
    let all = json!({ "version": VERSION, "node": node, "text": text, "options": options });
    given(Ok(all.to_string()))
}

fn option(option: &InEffect) -> Value {
    let (set_by, at) = match &option.set_by {
        SetBy::Driver { at } => ("driver", Some(at)),
        SetBy::Global { at } => ("global", Some(at)),
        SetBy::Preset => ("preset", None),
    };
    json!({
        "driver": option.driver,
        "name": option.name,
        "value": option.value,
        "set_by": set_by,
        "at": at,
    })
}

/// `destination` or `source`, and `reason`, all may be left out.
pub fn dropped(query: Query<'_>, subject: &dyn Subject) -> Answer {
    let reason = query.get("reason").map(|name| name.parse()).transpose();
    match reason {
        Ok(reason) => {
            let (destination, source) = (query.get("destination"), query.get("source"));
            given(subject.tap(&TapRequest { reason, destination, source }))
        }
        Err(why) => refused(&why),
    }
}

/// The messages that come next, step by step: `source`, `filter`, `count`, `seconds`, `lost`.
pub fn next(query: Query<'_>, subject: &dyn Subject) -> Answer {
    let (count, patience) = match bounds(query, 1) {
        Ok(bounds) => bounds,
        Err(why) => return refused(&why),
    };
    let request = ExplainRequest {
        json: true,
        is_lost: query.is_on("lost"),
        dropped: None,
        count,
        patience,
        wait: Duration::ZERO,
        source: query.get("source").filter(|name| !name.is_empty()),
        from: None,
        filter: query.get("filter").filter(|text| !text.trim().is_empty()),
    };
    given(subject.explain(&request))
}

/// The messages that come by a `place`: `count`, `seconds`.
pub fn tap(query: Query<'_>, subject: &dyn Subject) -> Answer {
    let Some(place) = query.get("place").filter(|place| !place.is_empty()) else {
        return refused("a place is needed, as text in UTF-8");
    };
    let (count, patience) = match bounds(query, 10) {
        Ok(bounds) => bounds,
        Err(why) => return refused(&why),
    };
    let request = LookRequest {
        place,
        filter: query.get("filter").filter(|text| !text.trim().is_empty()),
        template: None,
        count,
        patience,
    };
    given(subject.look(&request))
}

/// What the file says differently from what runs.
pub fn difference(subject: &dyn Subject) -> Answer {
    let said = subject.config(ConfigView::Difference);
    given(said.map(|text| json!({ "version": VERSION, "text": text }).to_string()))
}

/// The oldest of them.
pub fn dead_letters(subject: &dyn Subject) -> Answer {
    given(subject.dead_letters(LETTERS_MAX))
}

/// `line`, and `source` where several fit.
pub fn rehearse(query: Query<'_>, subject: &dyn Subject) -> Answer {
    let line = query.get("line").unwrap_or_default();
    if line.is_empty() || line.len() > LINE_BYTES_MAX {
        return refused("one line of text is needed, of at most 8 kB");
    }
    let source = query.get("source").filter(|name| !name.is_empty());
    given(subject.rehearse(source.as_deref(), &line))
}

/// From the counters of queues on disk.
pub fn queues(subject: &dyn Subject) -> Answer {
    let mut queues: BTreeMap<String, Map<String, Value>> = BTreeMap::new();
    for Counter { prom, value, .. } in subject.counters() {
        let Some(prom) = prom else { continue };
        let Some(what) = prom.name.strip_prefix("disk_queue_") else { continue };
        let label =
            |name: &str| prom.labels.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone());
        let Some(id) = label("id") else { continue };
        let queue = queues.entry(id).or_default();
        queue.insert(what.to_owned(), value.into());
        for name in ["path", "queue", "dir", "driver_instance"] {
            if let Some(value) = label(name) {
                queue.insert(name.to_owned(), value.into());
            }
        }
    }
    let list: Vec<Value> = queues
        .into_iter()
        .map(|(id, mut queue)| {
            queue.insert("destination".to_owned(), id.into());
            Value::Object(queue)
        })
        .collect();
    Answer::json(200, json!({ "version": VERSION, "queues": list }).to_string())
}

/// The last lines that the program has said.
pub fn log() -> Answer {
    let lines: Vec<Value> = oplog::recent()
        .into_iter()
        .map(|entry| {
            json!({
                "time": entry.time.as_millisecond(),
                "level": entry.level.name(),
                "text": entry.message,
            })
        })
        .collect();
    Answer::json(200, json!({ "version": VERSION, "lines": lines }).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_number_is_refused() {
        assert_eq!(number(Query(""), "trial"), Ok(None));
        assert_eq!(number(Query("x=1&trial=30"), "trial"), Ok(Some(30)));
        let nines = format!("trial={}", "9".repeat(20));
        for bad in [
            "trial=abc",
            "trial=-5",
            "trial=1e3",
            "trial=3x",
            "trial=",
            "trial",
            "trial=%4",
            "tri%61l=x",
            nines.as_str(),
        ] {
            assert_eq!(number(Query(bad), "trial"), Err("trial is not a number".to_owned()), "{bad}");
        }
        assert_eq!(bounds(Query("count=500&seconds=3"), 10), Ok((20, Duration::from_secs(3))));
        assert_eq!(bounds(Query(""), 10), Ok((10, Duration::from_secs(10))));
        assert!(bounds(Query("count=abc"), 10).is_err() && bounds(Query("seconds=x"), 10).is_err());
    }
}
