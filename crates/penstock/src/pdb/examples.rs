//! `pdb test`: databases are checked, and the examples of their rules looked up.

use super::TestArgs;
use super::session::{Session, value, values};
use patterndb::model::{Example, Rule};
use patterndb::overlap::{overlaps, programs};
use std::collections::HashSet;
use std::path::Path;
use stdio::CommandError;

/// An example did not come out as its rule says.
const EXIT_WRONG: u8 = 2;
/// There was nothing to test.
const EXIT_NOTHING: u8 = 3;

pub fn run(args: &TestArgs) -> Result<u8, CommandError> {
    let mut worst = 0;
    for path in &args.files {
        worst = worst.max(file(args, path)?);
    }
    Ok(worst)
}

fn file(args: &TestArgs, path: &Path) -> Result<u8, CommandError> {
    let mut session = Session::open(path)?;
    for warning in &session.warnings {
        stdio::err!("{warning}");
    }
    if args.validate && !session.warnings.is_empty() {
        return Ok(crate::EXIT_CONFIG);
    }
    let rules: Vec<Rule> = session.rules.list.clone();
    let chosen = |rule: &&Rule| args.rule_id.as_ref().is_none_or(|id| *id == rule.id);
    let (mut tested, mut wrong) = (0, false);
    let mut hit: HashSet<String> = HashSet::new();
    for rule in rules.iter().filter(chosen) {
        for example in &rule.examples {
            tested += 1;
            let program = example.program.as_deref().unwrap_or_default();
            stdio::out!("Testing message: program='{program}' message='{}'", example.message);
            let Some(tried) = try_one(&mut session, rule, example) else { continue };
            for (name, got, expected) in &tried.wrong {
                stdio::out!(" Wrong match name='{name}', value='{got}', expected='{expected}'");
            }
            if !tried.wrong.is_empty() && args.debug_pattern {
                stdio::out_text!(
                    "{}",
                    session.explain(program.as_bytes(), example.message.as_bytes(), args.color_out)
                );
                stdio::out!("{}", tried.values);
            }
            wrong |= !tried.wrong.is_empty();
            hit.insert(tried.rule);
        }
    }
    if args.report {
        report(&session, &hit, path)?;
    }
    Ok(match (wrong, tested, &args.rule_id) {
        (true, _, _) => EXIT_WRONG,
        (false, 0, Some(id)) => {
            stdio::err!("no rule with the id `{id}` has an example");
            EXIT_NOTHING
        }
        _ => 0,
    })
}

/// How an example came out.
pub struct Tried {
    /// The rule that it came out at, "" for none.
    pub rule: String,
    /// Name, value and expected value of what is wrong.
    pub wrong: Vec<(String, String, String)>,
    /// Everything it has, a line each.
    values: String,
}

/// Looks an example of a rule up. None: there is no message afterwards.
pub fn try_one(session: &mut Session, rule: &Rule, example: &Example) -> Option<Tried> {
    let mut batch = session.message(example.program.as_deref().unwrap_or_default(), &example.message);
    let selection = session.run(&mut batch);
    let record = selection.first().and_then(|i| batch.records.get(*i as usize)).copied()?;
    let found = value(&batch, &record, ".classifier.rule_id");
    let mut wrong = Vec::new();
    let id = ".classifier.rule_id".to_owned();
    for (name, expected) in [(id, rule.id.clone())].into_iter().chain(example.values.iter().cloned()) {
        let got = value(&batch, &record, &name);
        if got != expected {
            wrong.push((name, got, expected));
        }
    }
    let values = values(&batch, &record);
    session.done(batch);
    Some(Tried { rule: found, wrong, values })
}

/// Rules in each other's way, and rules no example reaches.
fn report(session: &Session, hit: &HashSet<String>, path: &Path) -> Result<(), CommandError> {
    let (_, database) = super::database(path)?;
    let programs = programs(&database);
    let of = |rule: u32| programs.get(rule as usize).cloned().unwrap_or_default();
    let id = |rule: u32| session.rules.rule(rule).map_or("", |r| r.id.as_str());
    for double in &session.rules.doubles {
        stdio::out!(
            "Same pattern: rule '{}' never gets what rule '{}' matches: {}",
            id(double.rule),
            id(double.first),
            double.pattern
        );
    }
    for overlap in overlaps(&session.rules, &of) {
        let known =
            session.rules.doubles.iter().any(|d| d.rule == overlap.rule && d.pattern == overlap.pattern);
        if !known {
            stdio::out!(
                "Overlap: rule '{}' takes a message of rule '{}': program='{}' message='{}' pattern='{}'",
                id(overlap.taken_by),
                id(overlap.rule),
                overlap.program,
                overlap.message,
                overlap.pattern
            );
        }
    }
    for rule in session.rules.list.iter().filter(|rule| !hit.contains(&rule.id)) {
        stdio::out!("Never hit: no example reaches rule '{}'", rule.id);
    }
    Ok(())
}
