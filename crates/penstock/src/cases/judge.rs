//! What came of a case, held against what it expects.

use super::play::{Output, Played, State};
use super::read::{Case, Dropped, Expectation};
use engine::compile::Plan;
use regex::bytes::Regex;
use serde::{Deserialize, Serialize};
use std::fmt::Write;

/// Lines of a difference that are shown.
const SHOWN_MAX: usize = 20;

/// Something that is not as expected, in one or several lines.
#[derive(Serialize, Deserialize)]
pub struct Failure {
    /// Which of the case's expectations; None: `not` and `dropped`.
    pub expectation: Option<usize>,
    pub text: String,
}

pub fn judge(case: &Case, played: &Played, plan: &Plan) -> Vec<Failure> {
    let mut failures = Vec::new();
    if case.expects_nothing() {
        let text = "it expects nothing, so it cannot fail: --update writes what it gives into the file";
        failures.push(Failure { expectation: None, text: text.to_owned() });
    }
    for (index, expectation) in case.expectations.iter().enumerate() {
        let texts = match (&expectation.destination, &expectation.step) {
            (Some(name), _) => at_destination(expectation, name, played, plan),
            (None, Some(step)) => at_step(expectation, step, played, plan),
            (None, None) => Vec::new(),
        };
        failures.extend(texts.into_iter().map(|text| Failure { expectation: Some(index), text }));
    }
    let mut other = |text: String| failures.push(Failure { expectation: None, text });
    for name in &case.not {
        match outputs_of(played, plan, name, None) {
            Err(text) => other(text),
            Ok(outputs) if outputs.is_empty() => {}
            Ok(outputs) => other(format!(
                "{name}: expected nothing, got {}{}",
                messages(outputs.len()),
                listed(&outputs)
            )),
        }
    }
    if let Some(text) = case.dropped.as_ref().and_then(|dropped| ended(dropped, played, plan)) {
        other(text);
    }
    failures
}

/// What a destination would have written, for one of its files where one is named.
pub fn outputs_of<'o>(
    played: &'o Played,
    plan: &Plan,
    name: &str,
    to: Option<&str>,
) -> Result<Vec<&'o Output>, String> {
    let is_meant = |id: &str| id == name || id.rsplit_once('#').is_some_and(|(group, _)| group == name);
    if !plan.destinations.iter().any(|destination| is_meant(&destination.id)) {
        let ids: Vec<&str> = plan.destinations.iter().map(|destination| destination.id.as_str()).collect();
        return Err(format!("no log path has a destination `{name}`, there are {}", ids.join(", ")));
    }
    let outputs = played.outputs.iter().filter(|output| is_meant(&output.destination));
    Ok(outputs.filter(|output| to.is_none_or(|to| output.to == to)).collect())
}

fn at_destination(expected: &Expectation, name: &str, played: &Played, plan: &Plan) -> Vec<String> {
    let outputs = match outputs_of(played, plan, name, expected.to.as_deref()) {
        Ok(outputs) => outputs,
        Err(text) => return vec![text],
    };
    let place = expected.to.as_ref().map_or_else(|| name.to_owned(), |to| format!("{name}, {to}"));
    let mut failures = Vec::new();
    let lines = expected.lines.clone().or_else(|| Some(vec![expected.line.clone()?]));
    if let Some(lines) = &lines {
        failures.extend(difference(&place, lines, &outputs));
    }
    match expected.count {
        Some(count) if count != outputs.len() => {
            failures.push(format!(
                "{place}: expected {}, got {}{}",
                messages(count),
                outputs.len(),
                listed(&outputs)
            ));
        }
        None if lines.is_none() && outputs.is_empty() => {
            failures.push(format!("{place}: expected a message, got none"));
        }
        _ => {}
    }
    if let Some(pattern) = &expected.matches {
        failures.extend(unmatched(&place, pattern, &outputs));
    }
    failures.extend(outputs.iter().flat_map(|output| values(&place, expected, &output.state, played)));
    failures
}

fn at_step(expected: &Expectation, step: &str, played: &Played, plan: &Plan) -> Vec<String> {
    let is_meant = |label: &str| label == step || label.split_once(' ').is_some_and(|(_, name)| name == step);
    if !plan.map.entries().any(|entry| is_meant(&entry.label())) {
        return vec![format!(
            "there is no step `{step}`; steps are named as explain names them: `filter f_name`"
        )];
    }
    let states: Vec<&State> = played.states.iter().filter(|state| is_meant(&state.step)).collect();
    let mut failures = Vec::new();
    match expected.count {
        Some(count) if count != states.len() => {
            failures.push(format!(
                "{step}: expected {} to come there, got {}",
                messages(count),
                states.len()
            ));
        }
        None if states.is_empty() => failures.push(format!("{step}: no message comes there")),
        _ => {}
    }
    failures.extend(states.iter().flat_map(|state| values(step, expected, state, played)));
    failures
}

fn values(place: &str, expected: &Expectation, state: &State, played: &Played) -> Vec<String> {
    let mut failures = Vec::new();
    for (name, wanted) in &expected.values {
        let at = played.names.iter().position(|known| known == name);
        let got = at.and_then(|at| state.values.get(at)).map(Vec::as_slice).unwrap_or_default();
        if got != wanted.as_bytes() {
            failures.push(format!(
                "{place}: value {name}: expected \"{}\", got \"{}\"",
                plain(wanted.as_bytes()),
                plain(got)
            ));
        }
    }
    for tag in expected.tags.iter().filter(|tag| !state.tags.contains(tag)) {
        failures.push(format!("{place}: expected the tag {tag}, got {}", state.tags.join(", ")));
    }
    failures
}

fn unmatched(place: &str, pattern: &str, outputs: &[&Output]) -> Option<String> {
    let regex = match Regex::new(pattern) {
        Ok(regex) => regex,
        Err(error) => return Some(format!("{place}: the expression is wrong: {error}")),
    };
    let output = outputs.iter().find(|output| !regex.is_match(&output.text))?;
    Some(format!("{place}: expected a match of {pattern}, got\n    + {}", plain(&output.text)))
}

/// What is missing (-) and what is too much (+), in order.
fn difference(place: &str, expected: &[String], outputs: &[&Output]) -> Option<String> {
    let wanted: Vec<&[u8]> = expected.iter().map(|line| line.as_bytes()).collect();
    let got: Vec<&[u8]> = outputs.iter().map(|output| output.text.as_slice()).collect();
    if wanted == got {
        return None;
    }
    let same = |n: usize| wanted.get(n).is_some() && wanted.get(n) == got.get(n);
    let begin = (0..wanted.len()).take_while(|n| same(*n)).count();
    let mut text = format!("{place}: not the lines that are expected (-), but others (+)");
    let mut shown = 0;
    for (sign, lines) in [('-', &wanted), ('+', &got)] {
        for line in lines.iter().skip(begin) {
            shown += 1;
            if shown <= SHOWN_MAX {
                let _ = write!(text, "\n    {sign} {}", plain(line));
            }
        }
    }
    if begin > 0 {
        let _ = write!(text, "\n    the first {begin} are as expected");
    }
    if shown > SHOWN_MAX {
        let more = stdio::counted((shown - SHOWN_MAX) as u64, "line", "lines");
        let _ = write!(text, "\n    and {more} more");
    }
    Some(text)
}

/// Whether no destination gets a message, and, where that is said, at which step it ends.
fn ended(dropped: &Dropped, played: &Played, plan: &Plan) -> Option<String> {
    let wanted = match dropped {
        Dropped::Anywhere(wanted) => *wanted,
        Dropped::At(_) => true,
    };
    let got: Vec<&Output> = played.outputs.iter().collect();
    if got.is_empty() != wanted {
        return Some(match wanted {
            true => format!(
                "expected that no destination gets a message, got {}{}",
                messages(got.len()),
                listed(&got)
            ),
            false => "expected that a destination gets a message, got none".to_owned(),
        });
    }
    let Dropped::At(step) = dropped else { return None };
    let ends = played.ends(plan);
    let is_meant = |(label, location): &(String, String)| {
        label == step || label.split_once(' ').is_some_and(|(_, name)| name == step) || is_at(location, step)
    };
    if ends.iter().any(is_meant) {
        return None;
    }
    let ends: Vec<String> =
        ends.into_iter().map(|(label, location)| format!("{label} ({location})")).collect();
    let ends = if ends.is_empty() { "nowhere".to_owned() } else { ends.join(", ") };
    Some(format!("expected that the message ends at {step}, it ends at {ends}"))
}

/// `relay.conf:12` means each step that stands in that line of a file of that name.
fn is_at(location: &str, wanted: &str) -> bool {
    let line = location.rsplit_once(':').map_or(location, |(line, _)| line);
    let rest = line.strip_suffix(wanted);
    rest.is_some_and(|folder| folder.is_empty() || folder.ends_with('/'))
}

fn messages(count: usize) -> String {
    match count {
        0 => "nothing".to_owned(),
        1 => "one message".to_owned(),
        count => format!("{count} messages"),
    }
}

fn listed(outputs: &[&Output]) -> String {
    let mut text = String::new();
    for output in outputs.iter().take(SHOWN_MAX) {
        let _ = write!(text, "\n    + {}: {}", output.destination, plain(&output.text));
    }
    text
}

/// As it can be shown on a terminal.
pub fn plain(bytes: &[u8]) -> String {
    let mut out = String::new();
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c.is_control() {
                true => out.extend(c.escape_default()),
                false => out.push(c),
            }
        }
        for byte in chunk.invalid() {
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    out
}
