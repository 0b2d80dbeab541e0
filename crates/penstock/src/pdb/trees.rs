//! `pdb dump` and `pdb dictionary`: what is in a database.

use super::DumpArgs;
use patterndb::Rules;
use patterndb::model::Rule;
use patterndb::pattern_text::{Piece, parse};
use patterndb::tree::Search;
use std::collections::BTreeSet;
use stdio::CommandError;

pub fn dump(args: &DumpArgs) -> Result<u8, CommandError> {
    let (_, database) = super::database(&args.pdb)?;
    let rules = Rules::compile(database, "", &mut diag::Diagnostics::new());
    let text = match (&args.program, args.tree) {
        (_, true) => rules.programs().dump(&|_| "RULES".to_owned()),
        (None, false) => return Err("dump needs --program NAME or --tree".into()),
        (Some(program), false) => {
            let label = |rule: u32| format!("rule_id='{}'", rules.rule(rule).map_or("", |r| &r.id));
            let tree = rules.tree_for(program.as_bytes(), &mut Search::default());
            tree.map_or_else(String::new, |tree| tree.dump(&label))
        }
    };
    crate::printing::print(&text);
    Ok(0)
}

pub fn dictionary(args: &DumpArgs) -> Result<u8, CommandError> {
    let (_, database) = super::database(&args.pdb)?;
    let mut names = BTreeSet::new();
    for ruleset in &database.rulesets {
        let fits = |program: &String| ruleset.programs.iter().any(|p| p.text == *program);
        if args.program.as_ref().is_some_and(|program| !fits(program)) {
            continue;
        }
        for rule in &ruleset.rules {
            match args.tree {
                true => {
                    names.extend(rule.tags.iter().cloned().chain([format!(".classifier.{}", rule.class)]))
                }
                false => values(rule, &mut names),
            }
        }
    }
    crate::printing::print(&names.iter().map(|name| format!("{name}\n")).collect::<String>());
    Ok(0)
}

fn values(rule: &Rule, names: &mut BTreeSet<String>) {
    names.extend(rule.values.iter().map(|v| v.name.clone()));
    for piece in rule.patterns.iter().filter_map(|p| parse(&p.text).ok()).flatten() {
        if let Piece::Parser(parser) = piece
            && !parser.name.is_empty()
        {
            names.insert(parser.name);
        }
    }
}
