//! A profile as JSON, and that as text for people.

use super::verdict::{Summary, rate};
use serde_json::{Value, json};
use std::fmt::Write;
use stdio::CommandError;

/// Grows when something is removed or changes its meaning.
const VERSION: u32 = 1;
/// Lines of the table.
const LINES_MAX: usize = 20;

pub fn json(summary: &Summary) -> String {
    let verdict = summary.verdict();
    let steps = summary.steps.iter().map(|(at, processors)| {
        json!({
            "what": at.what,
            "label": at.label,
            "location": at.location,
            "shown": at.shown(),
            "cpu": processors,
            "share": summary.share(*processors),
        })
    });
    let threads = summary
        .others
        .iter()
        .map(|(name, cpu)| json!({ "name": name, "cpu": cpu, "share": summary.share(*cpu) }));
    let waits = summary.causes.met.keys().map(|cause| {
        json!({
            "cause": cause.name(),
            "source": cause.source(),
            "destination": cause.destination(),
            "percent": summary.held_part(cause),
        })
    });
    let destinations = summary
        .destinations
        .iter()
        .map(|seen| json!({ "id": seen.id, "bytes_per_second": seen.bytes_per_second, "error": seen.error }));
    let workers = summary.busy.iter().map(|busy| json!({ "cpu": busy.ran, "queued": busy.queued }));
    json!({
        "version": VERSION,
        "seconds": summary.seconds,
        "limit": verdict.kind,
        "name": verdict.name,
        "sentence": verdict.sentence,
        "workers": workers.collect::<Vec<Value>>(),
        "steps": steps.collect::<Vec<Value>>(),
        "threads": threads.collect::<Vec<Value>>(),
        "waits": waits.collect::<Vec<Value>>(),
        "quiet_percent": 100.0 * summary.quiet(),
        "destinations": destinations.collect::<Vec<Value>>(),
        "cost_percent": 100.0 * summary.cost,
    })
    .to_string()
}

/// For people, of what [`json`] has written.
pub fn text(profile: &str) -> Result<String, CommandError> {
    let profile: Value = serde_json::from_str(profile).map_err(|error| format!("not an answer: {error}"))?;
    let number = |value: &Value, key: &str| value.get(key).and_then(Value::as_f64).unwrap_or_default();
    let word = |value: &Value, key: &str| -> String {
        let text = value.get(key).and_then(Value::as_str).unwrap_or_default();
        text.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
    };
    let list = |key: &str| profile.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
    let (workers, steps) = (list("workers"), list("steps"));
    let cpu: f64 = workers.iter().map(|worker| number(worker, "cpu")).sum();
    // Writing to a String does not fail.
    let mut out = format!("{}\n\n", word(&profile, "sentence"));
    let _ = writeln!(
        out,
        "CPU of {} workers in {:.1} s: {:.2} processors; the profile itself {:.2} %",
        workers.len(),
        number(&profile, "seconds"),
        cpu,
        number(&profile, "cost_percent"),
    );
    for step in steps.iter().take(LINES_MAX) {
        let _ = writeln!(out, "  {:5.1} %  {}", number(step, "share"), word(step, "shown"));
    }
    let rest: f64 = steps.iter().skip(LINES_MAX).map(|step| number(step, "share")).sum();
    if rest > 0.0 {
        let _ = writeln!(out, "  {rest:5.1} %  {} more steps", steps.len() - LINES_MAX);
    }
    for thread in list("threads").iter().filter(|thread| number(thread, "share") >= 0.1) {
        let _ = writeln!(out, "  {:5.1} %  thread {}", number(thread, "share"), word(thread, "name"));
    }
    let _ = writeln!(out, "\nwaiting");
    let _ = writeln!(out, "  {:5.1} %  sources are quiet", number(&profile, "quiet_percent"));
    for wait in list("waits") {
        let destination = word(&wait, "destination");
        let by = match word(&wait, "cause").as_str() {
            "window" => format!("its window, for {destination}"),
            "disk" => format!("the disk of {destination}"),
            "memory" => "the memory of all sources".to_owned(),
            _ => destination,
        };
        let _ = writeln!(out, "  {:5.1} %  {} by {by}", number(&wait, "percent"), word(&wait, "source"));
    }
    let _ = writeln!(out, "\ndelivered");
    for destination in list("destinations") {
        let taken = rate(number(&destination, "bytes_per_second"));
        let _ = writeln!(out, "  {:>12}  {}", taken, word(&destination, "id"));
    }
    Ok(out)
}
