//! A database made ready for matching: the program decides the tree, the message the rule.

use crate::model::{Database, Placed, Rule};
use crate::pattern_text::{self, Piece};
use crate::tree::{Builder, Capture, Search, Tree};
use diag::{Diagnostic, Diagnostics};

/// Rules of all programs.
pub struct Rules {
    programs: Tree,
    /// By what `programs` finds; the first is for programs no pattern knows.
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
        let mut messages = vec![Builder::new()];
        let mut rules =
            Rules { programs: Tree::default(), messages: Vec::new(), list: Vec::new(), doubles: Vec::new() };
        for ruleset in database.rulesets {
            let mut trees = Vec::new();
            for program in &ruleset.programs {
                let Some(pieces) = pieces(program, prefix, diags) else { continue };
                let next = messages.len() as u32;
                match programs.insert(&pieces, next) {
                    Ok(()) => {
                        messages.push(Builder::new());
                        trees.push(next);
                    }
                    Err(known) => trees.push(known),
                }
            }
            if ruleset.programs.is_empty() {
                trees.push(0);
            }
            for rule in ruleset.rules {
                rules.add(rule, &trees, &mut messages, prefix, diags);
            }
        }
        rules.programs = programs.finish();
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
        let tree = self.programs.find(program, &mut scratch.program).unwrap_or(0);
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
        let tree = self.programs.find(program, search).unwrap_or(0);
        self.messages.get(tree as usize)
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
}
