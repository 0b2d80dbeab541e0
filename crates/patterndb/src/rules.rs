//! A database made ready for matching: the program decides the tree, the message the rule.

use crate::model::{Database, Placed, Rule};
use crate::pattern_text::{self, Piece};
use crate::tree::{Builder, Capture, Search, Tree};
use diag::{Diagnostic, Diagnostics};
use std::collections::BTreeMap;

/// Rules of all programs.
pub struct Rules {
    /// Finds the number of a program; 0 is for those no pattern knows.
    programs: Tree,
    /// The tree in `messages` by the number of a program. Programs that have the same rulesets share one.
    tree_of: Vec<u32>,
    messages: Vec<Tree>,
    /// In the order of the file.
    pub list: Vec<Rule>,
    /// The patterns of `list` that matched nothing new: (rule, pattern, the rule that has it).
    pub doubles: Vec<Double>,
}

/// A pattern that stands for another rule already.
#[derive(Clone, Debug)]
pub struct Double {
    pub rule: u32,
    pub pattern: String,
    pub first: u32,
}

/// What worker keeps for lookups.
#[derive(Default)]
pub struct Scratch {
    pub program: Search,
    pub message: Search,
}

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// Index into [`Rules::list`].
    pub rule: u32,
    /// Which tree, for [`Rules::tree`].
    pub tree: u32,
}

impl Rules {
    /// Patterns that are wrong are left out with a warning, as in syslog-ng.
    pub fn compile(database: Database, prefix: &str, diags: &mut Diagnostics) -> Rules {
        let mut programs = Builder::new();
        // Indices of rulesets, by the number of a program.
        let mut sets: Vec<Vec<usize>> = vec![Vec::new()];
        for (index, ruleset) in database.rulesets.iter().enumerate() {
            for program in &ruleset.programs {
                let Some(pieces) = pieces(program, prefix, diags) else { continue };
                match programs.insert(&pieces, sets.len() as u32) {
                    Ok(()) => sets.push(vec![index]),
                    Err(known) => sets.get_mut(known as usize).into_iter().for_each(|set| set.push(index)),
                }
            }
            if ruleset.programs.is_empty() {
                sets[0].push(index);
            }
        }
        let mut kinds: BTreeMap<&[usize], u32> = BTreeMap::new();
        let mut trees_of_ruleset = vec![Vec::new(); database.rulesets.len()];
        let mut tree_of = Vec::with_capacity(sets.len());
        for set in &mut sets {
            set.dedup();
        }
        for set in &sets {
            let next = kinds.len() as u32;
            let tree = *kinds.entry(set).or_insert(next);
            tree_of.push(tree);
            if tree == next {
                set.iter().for_each(|ruleset| trees_of_ruleset[*ruleset].push(tree));
            }
        }
        let mut messages: Vec<Builder> = (0..kinds.len()).map(|_| Builder::new()).collect();
        let mut rules = Rules {
            programs: programs.finish(),
            tree_of,
            messages: Vec::new(),
            list: Vec::new(),
            doubles: Vec::new(),
        };
        for (ruleset, trees) in database.rulesets.into_iter().zip(&trees_of_ruleset) {
            for rule in ruleset.rules {
                rules.add(rule, trees, &mut messages, prefix, diags);
            }
        }
        rules.messages = messages.into_iter().map(Builder::finish).collect();
        rules
    }

    fn add(
        &mut self,
        rule: Rule,
        trees: &[u32],
        messages: &mut [Builder],
        prefix: &str,
        diags: &mut Diagnostics,
    ) {
        let number = self.list.len() as u32;
        for pattern in &rule.patterns {
            let Some(pieces) = pieces(pattern, prefix, diags) else { continue };
            for tree in trees {
                let Some(builder) = messages.get_mut(*tree as usize) else { continue };
                let Err(first) = builder.insert(&pieces, number) else { continue };
                let other = self.list.get(first as usize).unwrap_or(&rule);
                let text = format!("rule `{}` has the pattern of rule `{}` again", rule.id, other.id);
                diags.push(Diagnostic::warning("A0207", text, pattern.span).label(other.span, "the first"));
                self.doubles.push(Double { rule: number, pattern: pattern.text.clone(), first });
            }
        }
        self.list.push(rule);
    }

    /// The rule for a message; captures are in `scratch`.
    #[inline]
    pub fn find(&self, program: &[u8], message: &[u8], scratch: &mut Scratch) -> Option<Found> {
        let tree = self.tree_number(program, &mut scratch.program);
        let rule = self.messages.get(tree as usize)?.find(message, &mut scratch.message)?;
        Some(Found { rule, tree })
    }

    pub fn rule(&self, number: u32) -> Option<&Rule> {
        self.list.get(number as usize)
    }

    pub fn programs(&self) -> &Tree {
        &self.programs
    }

    /// The trees messages are looked up in; [`Found::tree`] is an index.
    pub fn trees(&self) -> &[Tree] {
        &self.messages
    }

    /// The tree for a program.
    pub fn tree_for(&self, program: &[u8], search: &mut Search) -> Option<&Tree> {
        self.messages.get(self.tree_number(program, search) as usize)
    }

    #[inline]
    fn tree_number(&self, program: &[u8], search: &mut Search) -> u32 {
        let number = self.programs.find(program, search).unwrap_or(0);
        self.tree_of.get(number as usize).copied().unwrap_or(0)
    }

    /// Name and place of everything that was captured: of the program, then of the message.
    pub fn captured<'a>(
        &'a self,
        found: Found,
        scratch: &'a Scratch,
    ) -> impl Iterator<Item = (Captured<'a>, &'a Capture)> + 'a {
        let of = |tree: Option<&'a Tree>, search: &'a Search, program| {
            let parsers = tree.map_or(&[][..], Tree::parsers);
            search.captures.iter().filter_map(move |c| {
                let parser = parsers.get(c.parser as usize)?;
                Some((Captured { name: &parser.name, program, parser }, c))
            })
        };
        of(Some(&self.programs), &scratch.program, true).chain(of(
            self.messages.get(found.tree as usize),
            &scratch.message,
            false,
        ))
    }
}

/// What is known of a capture.
#[derive(Clone, Copy)]
pub struct Captured<'a> {
    pub name: &'a str,
    /// It stands in the program, not in the message.
    pub program: bool,
    pub parser: &'a pattern_text::Parser,
}

fn pieces(pattern: &Placed, prefix: &str, diags: &mut Diagnostics) -> Option<Vec<Piece>> {
    let mut pieces = match pattern_text::parse(&pattern.text) {
        Ok(pieces) => pieces,
        Err(text) => {
            diags.warning("A0206", format!("this pattern is left out: {text}"), pattern.span);
            return None;
        }
    };
    if !prefix.is_empty() {
        for piece in &mut pieces {
            if let Piece::Parser(parser) = piece
                && !parser.name.is_empty()
            {
                parser.name.insert_str(0, prefix);
            }
        }
    }
    Some(pieces)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::load;

    fn rules(inner: &str) -> (Rules, Vec<String>) {
        let mut loaded = load("t", format!("<patterndb version='5'>{inner}</patterndb>").as_bytes());
        let database = loaded.database.take().expect("a database");
        let rules = Rules::compile(database, "", &mut loaded.diags);
        (rules, loaded.lines())
    }

    #[track_caller]
    fn check(rules: &Rules, program: &str, message: &str, expected: &str) {
        let mut scratch = Scratch::default();
        let got = match rules.find(program.as_bytes(), message.as_bytes(), &mut scratch) {
            None => "-".to_owned(),
            Some(found) => {
                let mut text = rules.list[found.rule as usize].id.clone();
                for (captured, place) in rules.captured(found, &scratch) {
                    let from = if captured.program { program } else { message };
                    let value = String::from_utf8_lossy(place.value.of(from.as_bytes()));
                    text.push_str(&format!(" {}={value}", captured.name));
                }
                text
            }
        };
        assert_eq!(got, expected, "{program}: {message}");
    }

    #[test]
    fn the_program_decides_the_tree() {
        let (rules, findings) = rules(
            "<ruleset><patterns><pattern>ab</pattern><pattern>x@NUMBER:p@</pattern></patterns><rules>
               <rule id='1'><pattern>m @NUMBER:n@</pattern></rule></rules></ruleset>
             <ruleset><rules><rule id='any'><pattern>m</pattern></rule></rules></ruleset>
             <ruleset><pattern>ab</pattern><rules><rule id='2'><pattern>q</pattern><pattern>@NO@</pattern></rule>
               <rule id='3'><pattern>m @NUMBER:n@</pattern></rule></rules></ruleset>",
        );
        check(&rules, "ab", "m 5", "1 n=5");
        check(&rules, "abc", "q 5", "2");
        check(&rules, "x7", "m 5", "1 p=7 n=5");
        check(&rules, "x7", "m x", "-");
        check(&rules, "other", "m x", "any");
        check(&rules, "", "m x", "any");
        assert_eq!(
            findings,
            [
                "t:4:93: warning: A0206 this pattern is left out: there is no parser `@NO@`",
                "t:5:38: warning: A0207 rule `3` has the pattern of rule `1` again",
            ]
        );
    }

    #[test]
    fn programs_with_the_same_rulesets_share_a_tree() {
        let ruleset = |programs: &str, id: &str| {
            format!(
                "<ruleset name='{id}' id='{id}'><patterns>{programs}</patterns><rules><rule id='{id}' class='c' provider='p'>\
                 <patterns><pattern>text {id}</pattern></patterns></rule></rules></ruleset>"
            )
        };
        let both = ruleset("<pattern>a</pattern><pattern>b</pattern><pattern>a</pattern>", "r1");
        let (rules, said) = rules(&(both + &ruleset("<pattern>b</pattern><pattern>c</pattern>", "r2")));
        assert!(said.is_empty(), "{said:?}");
        assert_eq!(rules.trees().len(), 4, "none, a, b, c");
        for (program, message, expected) in [
            ("a", "text r1", "r1"),
            ("b", "text r1", "r1"),
            ("b", "text r2", "r2"),
            ("c", "text r2", "r2"),
            ("a", "text r2", "-"),
            ("x", "text r1", "-"),
        ] {
            check(&rules, program, message, expected);
        }
        let many: String = (0..50).map(|n| format!("<pattern>p{n}</pattern>")).collect();
        let (rules, _) = super::tests::rules(&ruleset(&many, "r"));
        assert_eq!(rules.trees().len(), 2);
        check(&rules, "p49", "text r", "r");
    }
}
