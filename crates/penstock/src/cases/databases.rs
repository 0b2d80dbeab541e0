//! The examples in the pattern databases that a configuration reads, as cases beside the others.

use super::coverage::Coverage;
use super::environment::Environment;
use super::judge::Failure;
use super::suite::{Verdict, is_meant};
use crate::configuration::Configuration;
use crate::pdb::examples;
use crate::pdb::session::Session;
use conf_syntax::ast::{Call, Visit};
use control::cli::TestArgs;
use std::path::Path;
use std::time::Instant;

/// Finds the files of db-parser().
#[derive(Default)]
struct Databases(Vec<String>);

impl Visit for Databases {
    fn call(&mut self, call: &Call) {
        if !call.is("db-parser") {
            return;
        }
        let file = call.options().find(|option| option.is("file"));
        let name = file.and_then(|option| option.values().next()?.text().map(str::to_owned));
        self.0.extend(name.filter(|name| !self.0.contains(name)));
    }
}

pub fn test(
    configuration: &Configuration,
    args: &TestArgs,
    coverage: &mut Coverage,
) -> Result<Vec<Verdict>, String> {
    let mut databases = Databases::default();
    configuration.config().visit(&mut databases);
    let mut verdicts = Vec::new();
    for name in &databases.0 {
        let mut session = Session::open(Path::new(name)).map_err(|error| error.to_string())?;
        let rules = session.rules.list.clone();
        let mut hits = std::collections::HashMap::<String, u64>::new();
        for rule in &rules {
            for (number, example) in (1..).zip(&rule.examples) {
                let title = format!("rule {} example {number}", rule.id);
                if !is_meant(&title, args) {
                    continue;
                }
                let began = Instant::now();
                let Some(tried) = examples::try_one(&mut session, rule, example) else { continue };
                *hits.entry(tried.rule).or_default() += 1;
                let failure = |(value, got, expected): (String, String, String)| Failure {
                    expectation: None,
                    text: format!("value {value}: expected \"{expected}\", got \"{got}\""),
                };
                verdicts.push(Verdict {
                    at: None,
                    file: name.clone(),
                    name: title,
                    took: began.elapsed(),
                    failures: tried.wrong.into_iter().map(failure).collect(),
                    explained: String::new(),
                    outputs: None,
                    environment: Environment::default(),
                });
            }
        }
        let rules =
            rules.iter().map(|rule| (rule.id.clone(), hits.get(&rule.id).copied().unwrap_or_default()));
        coverage.add_rules(name, rules);
    }
    Ok(verdicts)
}
