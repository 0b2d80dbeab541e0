//! What was read, written as a configuration of ours.

use super::Left;
use super::conditions::in_brackets;
use super::statements::{Converter, DEFAULT_RULESET, Statement};
use super::written::{MESSAGE, MESSAGE_TEMPLATE, quoted};
use crate::configuration::newest_version;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Rulesets in rulesets.
const DEPTH_MAX: usize = 20;
const DEFAULT: &str = "default";

/// The text, and what is not in it.
pub fn render(mut converter: Converter, from: &str) -> (String, Vec<Left>) {
    let sources = sources(&converter);
    let names = names(&converter);
    let mut writer =
        Writer { converter: &converter, names: &names, used: BTreeSet::new(), missing: Vec::new(), depth: 0 };
    let mut paths = String::new();
    for ruleset in sources.keys() {
        let rules = match ruleset.as_str() {
            DEFAULT => match converter.default_ruleset.as_ref().filter(|name| *name != DEFAULT_RULESET) {
                None => &converter.rules,
                Some(name) => match converter.rulesets.get(name) {
                    Some(rules) => rules,
                    None => continue,
                },
            },
            name => match converter.rulesets.get(name) {
                Some(rules) => rules,
                None => continue,
            },
        };
        let before = format!("source({}); ", source_name(ruleset));
        let _ = writer.block(&mut paths, rules, Around { before: &before, indent: 0 });
    }
    let (used, missing) = (writer.used, writer.missing);
    let mut out = format!("@version: {}\n# Made of {from} by penstock convert.\n", newest_version());
    converter.left.extend(missing.into_iter().map(|(name, why)| Left {
        at: from.to_owned(),
        text: format!("call {name}"),
        why: why.into(),
    }));
    for left in &converter.left {
        let _ = writeln!(out, "# {}: not converted: {} ({})", left.at, left.text, left.why);
    }
    let size = converter.message_size().map(|bytes| format!(" log-msg-size({bytes});"));
    let size = size.unwrap_or_default();
    let _ = writeln!(out, "\noptions {{ keep-hostname(yes); create-dirs(yes); perm(0644);{size} }};\n");
    let mut destinations = String::new();
    let mut places = BTreeSet::new();
    for (at, action) in converter.actions.iter().enumerate().filter(|(at, _)| used.contains(at)) {
        let name = names.get(at).map(String::as_str).unwrap_or_default();
        let drivers: Vec<String> = (1..)
            .zip(&action.drivers)
            .map(|(number, driver)| match (places.insert(&driver.place), action.drivers.as_slice()) {
                (true, _) => driver.text.clone(),
                (false, [_]) => with_option(&driver.text, &format!("persist-name({})", quoted(name))),
                (false, _) => with_option(&driver.text, &format!("persist-name(\"{name}-{number}\")")),
            })
            .collect();
        let _ = writeln!(destinations, "destination {name} {{ {}; }};", drivers.join("; "));
    }
    let refers_to = |text: &str| destinations.contains(text) || paths.contains(text);
    let keeps_raw = refers_to("${RAWMSG}");
    for (ruleset, drivers) in &sources {
        let _ = writeln!(out, "source {} {{", source_name(ruleset));
        drivers.iter().for_each(|driver| {
            let driver = if keeps_raw { with_raw_messages(driver) } else { driver.clone() };
            let _ = writeln!(out, "    {driver};");
        });
        out.push_str("};\n");
    }
    out.push('\n');
    if refers_to(MESSAGE) {
        let _ = writeln!(out, "{MESSAGE_TEMPLATE}");
    }
    out.push_str(&destinations);
    out.push('\n');
    out.push_str(&paths);
    if sources.is_empty() {
        converter.left.push(Left {
            at: from.to_owned(),
            text: "the whole".to_owned(),
            why: "it has no input that is converted, so that nothing would come in".into(),
        });
    }
    (out, converter.left)
}

/// A driver with one option more.
fn with_option(driver: &str, option: &str) -> String {
    match driver.strip_suffix(')') {
        Some(begin) if begin.ends_with('(') => format!("{begin}{option})"),
        Some(begin) => format!("{begin} {option})"),
        None => driver.to_owned(),
    }
}

/// A driver whose messages keep the text that came in.
fn with_raw_messages(driver: &str) -> String {
    match driver.split_once("flags(") {
        Some((begin, rest)) => format!("{begin}flags(store-raw-message {rest}"),
        None => with_option(driver, "flags(store-raw-message)"),
    }
}

fn source_name(ruleset: &str) -> String {
    let name: String = ruleset.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    format!("s_{name}")
}

/// Drivers by the ruleset that gets what they receive.
fn sources(converter: &Converter) -> BTreeMap<String, Vec<String>> {
    let mut sources: BTreeMap<String, Vec<String>> = BTreeMap::new();
    // What system() opens has the kernel's messages in it.
    let has_system = converter.inputs.iter().any(|input| input.driver == "system()");
    for input in &converter.inputs {
        if has_system && input.driver.contains("/proc/kmsg") {
            continue;
        }
        let ruleset = input.ruleset.as_deref().map(str::to_lowercase);
        let ruleset = ruleset.filter(|name| name != DEFAULT_RULESET).unwrap_or_else(|| DEFAULT.to_owned());
        let drivers = sources.entry(ruleset).or_default();
        if !drivers.contains(&input.driver) {
            drivers.push(input.driver.clone());
        }
    }
    sources
}

/// A name for each action, none twice.
fn names(converter: &Converter) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let mut names = Vec::new();
    for action in &converter.actions {
        let plain = format!("d_{}", if action.name.is_empty() { "out" } else { &action.name });
        let mut name = plain.clone();
        let mut number = 1;
        while !taken.insert(name.clone()) {
            number += 1;
            name = format!("{plain}_{number}");
        }
        names.push(name);
    }
    names
}

/// What a log path stands in.
#[derive(Clone, Copy)]
struct Around<'a> {
    /// The source that stands before its filter, at the top.
    before: &'a str,
    indent: usize,
}

impl Around<'_> {
    fn pad(self) -> String {
        "    ".repeat(self.indent)
    }
}

struct Writer<'c> {
    converter: &'c Converter,
    names: &'c [String],
    /// Actions that rules refer to.
    used: BTreeSet<usize>,
    /// Rulesets that are called and do not stand where they are, and why.
    missing: Vec<(String, &'static str)>,
    depth: usize,
}

impl Writer<'_> {
    /// Writes statements as log paths. Gives the filters of the messages for which it ends here, although not
    /// for all.
    fn block(&mut self, out: &mut String, statements: &[Statement], around: Around<'_>) -> Vec<String> {
        let mut ends = Vec::new();
        let (pad, before) = (around.pad(), around.before);
        for statement in statements {
            match statement {
                Statement::Act(action) => {
                    let body = self.destination(*action);
                    let _ = writeln!(out, "{pad}log {{ {before}{body} }};");
                }
                Statement::Stop => {
                    ends.push(String::new());
                    let _ = writeln!(out, "{pad}log {{ {before}flags(final); }};");
                    return ends;
                }
                Statement::Call(name) => ends.extend(self.call(out, name, around)),
                // At the top alone, where it is taken out before.
                Statement::Of(_) => {}
                Statement::Left(at) => {
                    if let Some(left) = self.converter.left.get(*at) {
                        let _ = writeln!(out, "{pad}# {}: not converted: {}", left.at, left.text);
                    }
                }
                Statement::Rule { filter, then, otherwise, at } => {
                    let _ = writeln!(out, "{pad}# {at}");
                    ends.extend(self.branch(out, filter, then, around));
                    if !otherwise.is_empty() {
                        let not = match filter.is_empty() {
                            true => "not level(debug..emerg)".to_owned(),
                            false => format!("not {}", in_brackets_if_not_one(filter)),
                        };
                        ends.extend(self.branch(out, &not, otherwise, around));
                    }
                }
            }
        }
        ends
    }

    fn call(&mut self, out: &mut String, name: &str, around: Around<'_>) -> Vec<String> {
        let Some(rules) = self.converter.rulesets.get(name) else {
            let _ = writeln!(out, "{}# not converted: call {name}", around.pad());
            return self.miss(name, "there is no such ruleset");
        };
        if self.depth > DEPTH_MAX {
            return self.miss(name, "rulesets too deep");
        }
        self.depth += 1;
        let ends = self.block(out, rules, around);
        self.depth -= 1;
        ends
    }

    fn miss(&mut self, name: &str, why: &'static str) -> Vec<String> {
        let missing = (name.to_owned(), why);
        if !self.missing.contains(&missing) {
            self.missing.push(missing);
        }
        Vec::new()
    }

    /// What is done for messages that a filter fits.
    fn branch(
        &mut self,
        out: &mut String,
        filter: &str,
        then: &[Statement],
        around: Around<'_>,
    ) -> Vec<String> {
        let (pad, before) = (around.pad(), around.before);
        let condition = if filter.is_empty() { String::new() } else { format!("filter {{ {filter}; }}; ") };
        let is_end = then.contains(&Statement::Stop);
        let done: Vec<&Statement> =
            then.iter().take_while(|statement| **statement != Statement::Stop).collect();
        let plain: Option<Vec<usize>> = done
            .iter()
            .map(|statement| match statement {
                Statement::Act(action) => Some(*action),
                _ => None,
            })
            .collect();
        let last = if is_end { "flags(final); " } else { "" };
        if let Some(actions) = plain {
            let destinations: String =
                actions.iter().map(|action| format!("{} ", self.destination(*action))).collect();
            if !actions.is_empty() || is_end {
                let _ = writeln!(out, "{pad}log {{ {before}{condition}{destinations}{last}}};");
            }
            return is_end.then(|| filter.to_owned()).into_iter().collect();
        }
        let _ = writeln!(out, "{pad}log {{ {before}{condition}");
        let done: Vec<Statement> = done.into_iter().cloned().collect();
        let inner = self.block(out, &done, Around { before: "", indent: around.indent + 1 });
        let _ = writeln!(out, "{pad}}};");
        // What has ended in there goes no further here either. `final` of the path itself would be for
        // those messages alone that fit a path in it.
        let ends: Vec<String> = match is_end {
            true => vec![filter.to_owned()],
            false => inner.iter().map(|inner| both(filter, inner)).collect(),
        };
        for end in &ends {
            let condition = if end.is_empty() { String::new() } else { format!("filter {{ {end}; }}; ") };
            let _ = writeln!(out, "{pad}log {{ {before}{condition}flags(final); }};");
        }
        ends
    }

    fn destination(&mut self, action: usize) -> String {
        self.used.insert(action);
        format!("destination({});", self.names.get(action).map(String::as_str).unwrap_or_default())
    }
}

/// A filter that `not` may stand before: a comparison needs no brackets.
fn in_brackets_if_not_one(filter: &str) -> String {
    if filter.starts_with("not ") { format!("({filter})") } else { in_brackets(filter) }
}

fn both(outer: &str, inner: &str) -> String {
    match (outer.is_empty(), inner.is_empty()) {
        (true, _) => inner.to_owned(),
        (_, true) => outer.to_owned(),
        _ => format!("{} and {}", in_brackets(outer), in_brackets(inner)),
    }
}
