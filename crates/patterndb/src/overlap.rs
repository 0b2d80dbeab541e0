//! Rules that stand in each other's way: a text made for one of them is taken by another.

use crate::pattern_text;
use crate::rules::{Rules, Scratch};
use crate::sample;

/// A message that a pattern of `rule` matches, and `taken_by` gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overlap {
    pub rule: u32,
    pub pattern: String,
    pub program: String,
    pub message: String,
    pub taken_by: u32,
}

/// Rules whose patterns another rule takes messages of: tried with a few texts for each pattern, so what is
/// found is certain, and what only rare texts would show is not found.
pub fn overlaps(rules: &Rules, programs: &dyn Fn(u32) -> Vec<String>) -> Vec<Overlap> {
    let mut scratch = Scratch::default();
    let mut found: Vec<Overlap> = Vec::new();
    for (number, rule) in rules.list.iter().enumerate() {
        let number = number as u32;
        for pattern in &rule.patterns {
            let Ok(pieces) = pattern_text::parse(&pattern.text) else { continue };
            let mut one = || {
                for program in programs(number) {
                    for variant in 0..sample::COUNT {
                        let message = sample::sample(&pieces, variant)?;
                        let got = rules.find(program.as_bytes(), &message, &mut scratch);
                        let Some(got) = got.filter(|got| got.rule != number) else { continue };
                        let message = String::from_utf8_lossy(&message).into_owned();
                        return Some((program, message, got.rule));
                    }
                }
                None
            };
            if let Some((program, message, taken_by)) = one() {
                found.push(Overlap {
                    rule: number,
                    pattern: pattern.text.clone(),
                    program,
                    message,
                    taken_by,
                });
            }
        }
    }
    found
}

/// A program for each program pattern of each rule's ruleset; `""` where it has none.
pub fn programs(database: &crate::model::Database) -> Vec<Vec<String>> {
    let mut all = Vec::new();
    for ruleset in &database.rulesets {
        let mut programs: Vec<String> = ruleset
            .programs
            .iter()
            .filter_map(|p| pattern_text::parse(&p.text).ok())
            .filter_map(|pieces| sample::sample(&pieces, 0))
            .map(|text| String::from_utf8_lossy(&text).into_owned())
            .collect();
        if ruleset.programs.is_empty() {
            programs.push(String::new());
        }
        all.extend(ruleset.rules.iter().map(|_| programs.clone()));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_another_rule_takes_is_found() {
        let mut loaded = crate::load(
            "t",
            b"<patterndb version='5'><ruleset><pattern>p</pattern><rules>
               <rule id='all'><pattern>user @ANYSTRING:a@</pattern></rule>
               <rule id='never'><pattern>user @NUMBER:n@ in</pattern></rule>
               <rule id='free'><pattern>user root</pattern></rule></rules></ruleset></patterndb>",
        );
        let database = loaded.database.take().expect("a database");
        let programs = programs(&database);
        let rules = Rules::compile(database, "", &mut loaded.diags);
        let found = overlaps(&rules, &|rule| programs[rule as usize].clone());
        let shown: Vec<(u32, &str, u32)> =
            found.iter().map(|o| (o.rule, o.message.as_str(), o.taken_by)).collect();
        assert_eq!(shown, [(1, "user 42 in", 0)]);
    }
}
