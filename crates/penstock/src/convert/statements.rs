//! The statements of a configuration of rsyslog in their order: what is set, what comes in, which rules are
//! tried.

mod objects;

use super::Left;
use super::NoCounterpart;
use super::actions::{Action, Maker};
use super::directives::Directives;
use super::inputs::Input;
use super::reader::{Params, Reader};
use super::templates::Templates;
use super::{actions, conditions, selectors};
use std::collections::BTreeMap;
use std::path::Path;
use stdio::CommandError;

/// Files in files, and blocks in blocks.
const DEPTH_MAX: usize = 20;
/// Characters of a statement that are told.
const SHOWN_MAX: usize = 100;
/// The ruleset of inputs that name none, unless another one is.
pub const DEFAULT_RULESET: &str = "rsyslog_defaultruleset";
/// A configuration, with all that it includes.
const BYTES_MAX: u64 = 16 << 20;

/// What a ruleset does, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Statement {
    /// The first of the two where the filter holds, which is empty for one that always does.
    Rule {
        filter: String,
        then: Vec<Statement>,
        otherwise: Vec<Statement>,
        at: String,
    },
    /// One of [`Converter::actions`].
    Act(usize),
    Stop,
    Call(String),
    /// One of [`Converter::left`] stands here.
    Left(usize),
    /// What comes behind it is of another ruleset.
    Of(String),
}

#[derive(Default)]
pub struct Converter {
    pub inputs: Vec<Input>,
    /// Of the ruleset that all inputs without one have.
    pub rules: Vec<Statement>,
    pub rulesets: BTreeMap<String, Vec<Statement>>,
    /// Its rules are for the inputs that name no ruleset, where there is one.
    pub default_ruleset: Option<String>,
    pub actions: Vec<Action>,
    pub left: Vec<Left>,
    templates: Templates,
    directives: Directives,
    modules: BTreeMap<String, Params>,
    depth: usize,
}

/// The text at work, and the file it is from.
struct Text<'t> {
    reader: Reader<'t>,
    file: &'t Path,
    /// Where the statement at work begins.
    begin: usize,
}

impl Text<'_> {
    /// The place of the statement at work.
    fn at(&self) -> String {
        format!("{}:{}", self.file.display(), self.reader.line_of(self.begin))
    }
}

/// Whether a rule with a selector or a property filter stands here, not an action.
fn is_rule(rest: &str) -> bool {
    let line = rest.lines().next().unwrap_or_default();
    let (first, action) = match line.strip_suffix('\\') {
        // A selector that goes on in the next line.
        Some(begin) if !begin.contains([' ', '\t']) => (begin, "/"),
        _ => line.split_once([' ', '\t']).unwrap_or((line, "")),
    };
    let is_selector =
        first.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '*') && first.contains('.');
    is_selector && !action.trim().is_empty() || first.starts_with(':') && first.ends_with(',')
}

impl Converter {
    /// Reads a file.
    pub fn file(&mut self, path: &Path) -> Result<(), CommandError> {
        let rules = self.read(path)?;
        self.share_out(rules);
        Ok(())
    }

    /// How long a message may be, where it is said.
    pub fn message_size(&self) -> Option<u64> {
        actions::bytes(self.directives.globals().text("maxmessagesize")?).ok()
    }

    /// Gives each ruleset its rules.
    pub fn share_out(&mut self, rules: Vec<Statement>) {
        let mut own = DEFAULT_RULESET.to_owned();
        for rule in rules {
            match rule {
                Statement::Of(name) => own = name,
                rule if own == DEFAULT_RULESET => self.rules.push(rule),
                rule => self.rulesets.entry(own.clone()).or_default().push(rule),
            }
        }
    }

    fn read(&mut self, path: &Path) -> Result<Vec<Statement>, CommandError> {
        let text = regular::read_to_string(path, BYTES_MAX)
            .map_err(|error| CommandError::usage(format!("cannot read {}: {error}", path.display())))?;
        Ok(self.text(&text, path))
    }

    pub fn text(&mut self, text: &str, path: &Path) -> Vec<Statement> {
        let mut text = Text { reader: Reader::new(text), file: path, begin: 0 };
        let mut rules = Vec::new();
        while !text.reader.rest().is_empty() {
            rules.extend(self.block(&mut text));
            text.begin = text.reader.place();
            if text.reader.take("}") {
                rules.push(self.leave(&text, "a closing brace too many"));
            }
        }
        if let Some(place) = text.reader.open_comment() {
            text.begin = place;
            rules.push(self.leave(&text, "a comment without an end"));
        }
        rules
    }

    /// Statements up to the brace that closes the block, or the end of the file.
    fn block(&mut self, text: &mut Text<'_>) -> Vec<Statement> {
        let mut out = Vec::new();
        self.depth += 1;
        loop {
            text.reader.space();
            if text.reader.rest().is_empty() || text.reader.rest().starts_with('}') {
                break;
            }
            if self.depth > DEPTH_MAX {
                text.reader.skip(text.reader.rest().len());
                out.push(self.leave(text, "blocks too deep"));
                break;
            }
            self.statement(text, &mut out);
        }
        self.depth -= 1;
        out
    }

    fn statement(&mut self, text: &mut Text<'_>, out: &mut Vec<Statement>) {
        let outer = std::mem::replace(&mut text.begin, text.reader.place());
        self.statement_here(text, out);
        text.begin = outer;
    }

    fn statement_here(&mut self, text: &mut Text<'_>, out: &mut Vec<Statement>) {
        let rest = text.reader.rest();
        if rest.starts_with('&') {
            text.reader.skip(1);
            let more = self.body(text);
            match out.last_mut() {
                Some(Statement::Rule { then, .. }) => then.extend(more),
                // It goes with something that is not converted.
                _ => out.push(self.leave(text, "it goes with a rule that is not converted")),
            }
            return;
        }
        let is_action =
            rest.starts_with(['/', '@', '?', '|']) || rest.starts_with("-/") || rest.starts_with(":om");
        if is_action {
            out.push(self.legacy_action(text));
            return;
        }
        if rest.starts_with(':') {
            return self.property_rule(text, out);
        }
        if rest.starts_with('$') && rest.chars().nth(1).is_some_and(char::is_alphabetic) {
            return self.directive(text, out);
        }
        if rest.starts_with(['!', '+', '-']) {
            text.reader.line();
            // It says so and goes on, without the condition.
            let why = "a block of a program or a host: rsyslog obeys none, the rules behind it are for all messages";
            out.push(self.leave(text, why));
            return;
        }
        let word: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        let behind = rest.get(word.len()..).unwrap_or_default();
        match word.to_lowercase().as_str() {
            "if" if behind.starts_with([' ', '\t', '(', '\n']) => self.condition(text, out),
            "stop" => {
                text.reader.skip(word.len());
                out.push(Statement::Stop);
            }
            "call" if behind.starts_with([' ', '\t']) => {
                text.reader.skip(word.len());
                text.reader.space();
                out.push(Statement::Call(text.reader.word().to_lowercase()));
            }
            "continue" => text.reader.skip(word.len()),
            "set" | "unset" | "reset" | "foreach" | "call_indirect" => {
                self.skip_statement(text);
                out.push(self.leave(text, "variables are not converted"));
            }
            _ if !word.is_empty() && behind.trim_start_matches([' ', '\t']).starts_with('(') => {
                self.object(text, &word.to_lowercase(), out);
            }
            _ if rest.starts_with('~') => {
                text.reader.skip(1);
                out.push(Statement::Stop);
            }
            _ => self.selector_rule(text, out),
        }
    }

    /// Goes behind `;`, or behind the block that follows.
    fn skip_statement(&mut self, text: &mut Text<'_>) {
        while let Some(c) = text.reader.peek() {
            match c {
                ';' => return text.reader.skip(1),
                '"' | '\'' if text.reader.string().is_some() => {}
                '{' => {
                    text.reader.balanced('{', '}');
                    return;
                }
                c => text.reader.skip(c.len_utf8()),
            }
        }
    }

    /// What is done where a condition holds: a block, or one statement.
    fn body(&mut self, text: &mut Text<'_>) -> Vec<Statement> {
        text.reader.space();
        if text.reader.take("{") {
            return self.whole_block(text);
        }
        let mut out = Vec::new();
        let rest = text.reader.rest();
        if rest.is_empty() || rest.starts_with('}') {
            return vec![self.leave(text, "it has no action")];
        }
        let is_statement = ["if ", "if(", "stop", "call ", "action", "set ", "unset ", "continue"]
            .iter()
            .any(|word| rest.starts_with(word));
        // A rule without an action of its own has the next rule for one.
        match is_statement || is_rule(rest) {
            true => self.statement(text, &mut out),
            false => out.push(self.legacy_action(text)),
        }
        out
    }

    /// Statements up to the closing brace, and that brace.
    fn whole_block(&mut self, text: &mut Text<'_>) -> Vec<Statement> {
        let mut block = self.block(text);
        if !text.reader.take("}") {
            block.push(self.leave(text, "its block has no end"));
        }
        block
    }

    fn legacy_action(&mut self, text: &mut Text<'_>) -> Statement {
        let outer = std::mem::replace(&mut text.begin, text.reader.place());
        let line = text.reader.line();
        let queue = self.directives.take_next();
        let maker = Maker { templates: &self.templates, directives: &self.directives };
        let done = match line.as_str() {
            "~" | "stop" => Statement::Stop,
            line => {
                let made = maker.legacy(line, &queue);
                self.act(made, text)
            }
        };
        text.begin = outer;
        done
    }

    fn act(&mut self, made: Result<Action, NoCounterpart>, text: &Text<'_>) -> Statement {
        match made {
            Ok(action) => {
                let known = self.actions.iter().position(|known| *known == action);
                Statement::Act(known.unwrap_or_else(|| {
                    self.actions.push(action);
                    self.actions.len() - 1
                }))
            }
            Err(why) => self.leave(text, why),
        }
    }

    fn selector_rule(&mut self, text: &mut Text<'_>, out: &mut Vec<Statement>) {
        let selector = text.reader.continued_word();
        if !selector.contains('.') {
            text.reader.line();
            out.push(self.leave(text, "it is not understood"));
            return;
        }
        let then = self.body(text);
        let rule = self.rule(selectors::filter(&selector), then, text);
        out.push(rule);
    }

    fn property_rule(&mut self, text: &mut Text<'_>, out: &mut Vec<Statement>) {
        text.reader.skip(1);
        let mut fields = Vec::new();
        for _ in 0..2 {
            let rest = text.reader.rest();
            let end = rest.find([',', '\n']).unwrap_or(rest.len());
            fields.push(rest.get(..end).unwrap_or_default().trim().to_owned());
            text.reader.skip(end);
            text.reader.take(",");
        }
        text.reader.space();
        // isempty has no text.
        let value = text.reader.string();
        let then = self.body(text);
        let (name, operation) =
            (fields.first().cloned().unwrap_or_default(), fields.get(1).cloned().unwrap_or_default());
        let filter = match (value, operation.trim_start_matches('!')) {
            (None, "isempty") => conditions::property(&name, &operation, ""),
            (Some(value), _) => conditions::property(&name, &operation, &value),
            (None, _) => Err("a property filter without a text".into()),
        };
        let rule = self.rule(filter, then, text);
        out.push(rule);
    }

    fn condition(&mut self, text: &mut Text<'_>, out: &mut Vec<Statement>) {
        text.reader.take("if");
        let mut filter = conditions::expression(&mut text.reader);
        text.reader.space();
        if !text.reader.take_word("then") {
            filter = filter.and(Err("`then` is missing".into()));
            self.skip_to_then(text);
        }
        let at = text.at();
        let then = self.body(text);
        text.reader.space();
        let otherwise = if text.reader.take_word("else") { self.body(text) } else { Vec::new() };
        match filter {
            Ok(filter) => out.push(Statement::Rule { filter, then, otherwise, at }),
            Err(why) => out.push(self.leave(text, why)),
        }
    }

    /// After a condition that is not understood.
    fn skip_to_then(&mut self, text: &mut Text<'_>) {
        while let Some(c) = text.reader.peek() {
            if matches!(c, '"' | '\'') && text.reader.string().is_some() {
                continue;
            }
            if c.is_whitespace() {
                text.reader.space();
                if text.reader.take_word("then") {
                    return;
                }
                continue;
            }
            if c == '{' {
                return;
            }
            text.reader.skip(c.len_utf8());
        }
    }

    fn rule(
        &mut self,
        filter: Result<String, NoCounterpart>,
        then: Vec<Statement>,
        text: &Text<'_>,
    ) -> Statement {
        match filter {
            Ok(filter) => Statement::Rule { filter, then, otherwise: Vec::new(), at: text.at() },
            Err(why) => self.leave(text, why),
        }
    }

    /// Notes that the statement at work, up to where the reader is, is not converted.
    fn leave(&mut self, text: &Text<'_>, why: impl Into<NoCounterpart>) -> Statement {
        let whole = text.reader.since(text.begin);
        let words: Vec<&str> = whole.split_whitespace().collect();
        let shown: String = words.join(" ").chars().take(SHOWN_MAX).collect();
        self.left.push(Left { at: text.at(), text: shown, why: why.into() });
        Statement::Left(self.left.len() - 1)
    }
}
