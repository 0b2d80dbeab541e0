//! `--update`: what cases give written into their files, in place of the lines and counts that they expect.
//! Everything else in the files stays as it is.

use super::play::Output;
use super::read::{Case, Expectation, is_yaml};
use super::suite::{Suite, Verdict};
use stdio::CommandError;
use toml_edit::{Array, ArrayOfTables, DocumentMut, Item, Table, value};

/// Writes the files. Whether something is left that fails.
pub fn write(suites: &[Suite]) -> Result<bool, CommandError> {
    let mut is_left = false;
    for suite in suites {
        is_left |= suite.error.is_some();
        is_left |= suite.verdicts.iter().any(|verdict| verdict.at.is_none() && !verdict.failures.is_empty());
        for (index, read) in suite.files.iter().enumerate() {
            if is_yaml(&read.path) {
                stdio::err!("{}: only files in TOML are updated", read.path.display());
                is_left |= suite.has_failed();
                continue;
            }
            let mut document: DocumentMut =
                read.text.parse().map_err(|error| format!("{}: {error}", read.path.display()))?;
            let mut changed = 0;
            let mine =
                suite.verdicts.iter().filter(|verdict| verdict.at.is_some_and(|(file, _)| file == index));
            for verdict in mine.filter(|verdict| !verdict.failures.is_empty()) {
                let Some((_, number)) = verdict.at else { continue };
                let Some(case) = read.file.cases.get(number) else { continue };
                let tables = document.get_mut("case").and_then(Item::as_array_of_tables_mut);
                let table = tables.and_then(|tables| tables.get_mut(number));
                match table.map(|table| correct(table, case, verdict)) {
                    Some(true) => changed += 1,
                    _ => is_left = true,
                }
            }
            if changed > 0 {
                std::fs::write(&read.path, document.to_string())
                    .map_err(|error| format!("cannot write {}: {error}", read.path.display()))?;
                let cases = stdio::counted(changed, "case", "cases");
                stdio::out!("{}: {cases} updated", read.path.display());
            }
        }
    }
    Ok(is_left)
}

/// Changes what a case expects. `false` when something is left that fails.
fn correct(table: &mut Table, case: &Case, verdict: &Verdict) -> bool {
    let Some(outputs) = &verdict.outputs else { return false };
    if case.expects_nothing() {
        let expectations = expectations(outputs);
        if expectations.is_empty() {
            table.insert("dropped", value(true));
        } else {
            table.insert("expect", Item::ArrayOfTables(expectations));
        }
        return true;
    }
    let mut is_whole = true;
    for failure in &verdict.failures {
        let index = failure.expectation;
        let expectation = index.and_then(|index| case.expectations.get(index));
        let target = table.get_mut("expect").and_then(Item::as_array_of_tables_mut);
        let target = target.zip(index).and_then(|(tables, index)| tables.get_mut(index));
        is_whole &= match (expectation, target) {
            (Some(expectation), Some(target)) => one(target, expectation, outputs),
            _ => false,
        };
    }
    is_whole
}

/// Changes one expectation; `false` when it cannot be made right so.
fn one(target: &mut Table, expectation: &Expectation, outputs: &[Output]) -> bool {
    let has_lines = expectation.line.is_some() || expectation.lines.is_some();
    if !expectation.values.is_empty() || !expectation.tags.is_empty() || expectation.matches.is_some() {
        return false;
    }
    let Some(name) = expectation.destination.as_ref().filter(|_| has_lines || expectation.count.is_some())
    else {
        return false;
    };
    let is_meant = |output: &&Output| {
        let id = &output.destination;
        (id == name || id.rsplit_once('#').is_some_and(|(group, _)| group == name))
            && expectation.to.as_ref().is_none_or(|to| *to == output.to)
    };
    let outputs: Vec<&Output> = outputs.iter().filter(is_meant).collect();
    if has_lines {
        target.remove("line");
        target.remove("lines");
        if !put_lines(target, &outputs) {
            return false;
        }
    }
    if expectation.count.is_some() {
        target.insert("count", value(outputs.len() as i64));
    }
    true
}

/// What a case would have to expect: the lines of each destination.
pub fn expectations(outputs: &[Output]) -> ArrayOfTables {
    let mut tables = ArrayOfTables::new();
    let mut done: Vec<(&str, &str)> = Vec::new();
    for output in outputs {
        let key = (output.destination.as_str(), output.to.as_str());
        if done.contains(&key) {
            continue;
        }
        done.push(key);
        let of_key = |other: &&Output| (other.destination.as_str(), other.to.as_str()) == key;
        let same: Vec<&Output> = outputs.iter().filter(of_key).collect();
        let mut table = Table::new();
        table.insert("destination", value(key.0));
        if !key.1.is_empty() {
            table.insert("to", value(key.1));
        }
        if !put_lines(&mut table, &same) {
            table.insert("count", value(same.len() as i64));
        }
        tables.push(table);
    }
    tables
}

/// `false` when the lines are no text.
fn put_lines(table: &mut Table, outputs: &[&Output]) -> bool {
    let lines: Result<Vec<&str>, _> =
        outputs.iter().map(|output| std::str::from_utf8(&output.text)).collect();
    let Ok(lines) = lines else { return false };
    match lines.as_slice() {
        [only] => table.insert("line", value(*only)),
        lines => table.insert("lines", value(lines.iter().copied().collect::<Array>())),
    };
    true
}
