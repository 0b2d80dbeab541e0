//! Where in the language a place of a text is: in which statement, in whose brackets. Texts that are being
//! written are not complete, so this looks at nothing but what stands before the place.

use crate::components::registry;
use conf_schema::{Component, Context, Kind, OptionSpec, Table};

/// Brackets in brackets that are looked at.
const DEPTH_MAX: usize = 64;

/// What encloses a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bracket {
    pub is_brace: bool,
    /// The word before it; before a brace, the first of the words before it.
    pub word: String,
}

/// The brackets around a place, outermost first, and whether it is in a string.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Surroundings {
    pub brackets: Vec<Bracket>,
    pub is_in_string: bool,
    pub is_in_comment: bool,
}

impl Surroundings {
    pub fn of(text: &str, offset: usize) -> Surroundings {
        let mut place = Surroundings::default();
        let (mut words, mut word): (Vec<String>, String) = (Vec::new(), String::new());
        // Of each bracket, the words before it.
        let mut before: Vec<Vec<String>> = Vec::new();
        let (mut quote, mut escaped) = (None, false);
        for c in text.get(..offset).unwrap_or(text).chars() {
            place.is_in_comment &= c != '\n';
            match (quote, c) {
                _ if place.is_in_comment => {}
                _ if escaped => escaped = false,
                (Some('"'), '\\') => escaped = true,
                (Some(open), c) if c == open => quote = None,
                (Some(_), _) => {}
                (None, '"' | '\'') => quote = Some(c),
                (None, '#') => place.is_in_comment = true,
                // `@version: 4.11` ends with its line.
                (None, '\n') if words.first().is_some_and(|word| word.starts_with('@')) => {
                    word.clear();
                    words.clear();
                }
                (None, '(' | '{') => {
                    words.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
                    let named = if c == '{' { words.first() } else { words.last() };
                    let word: String = named.cloned().unwrap_or_default();
                    if place.brackets.len() < DEPTH_MAX {
                        place.brackets.push(Bracket { is_brace: c == '{', word });
                    }
                    before.push(std::mem::take(&mut words));
                }
                (None, ')' | '}') => {
                    if before.len() <= DEPTH_MAX {
                        place.brackets.pop();
                    }
                    word.clear();
                    // `if (...) {`: the words before the bracket count.
                    words = before.pop().filter(|_| c == ')').unwrap_or_default();
                }
                (None, ';') => {
                    word.clear();
                    words.clear();
                }
                (None, c) if c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '@') => word.push(c),
                (None, _) => words.extend((!word.is_empty()).then(|| std::mem::take(&mut word))),
            }
        }
        place.is_in_string = quote.is_some();
        place
    }

    /// The innermost brace: what kind of thing stands in it.
    pub fn block(&self) -> Option<&str> {
        self.brackets.iter().rfind(|bracket| bracket.is_brace).map(|bracket| bracket.word.as_str())
    }

    /// The brackets behind the innermost brace: a driver, an option, an option in that.
    pub fn calls(&self) -> Vec<&str> {
        let behind = self.brackets.iter().rposition(|bracket| bracket.is_brace).map_or(0, |at| at + 1);
        self.brackets.iter().skip(behind).map(|bracket| bracket.word.as_str()).collect()
    }

    /// What a name with brackets is here, before any other.
    pub fn context(&self) -> Option<Context> {
        Some(match self.block()? {
            "source" => Context::Source,
            "destination" => Context::Destination,
            "parser" => Context::Parser,
            "rewrite" => Context::Rewrite,
            "options" => Context::Options,
            _ => return None,
        })
    }

    /// The component whose brackets this is in.
    pub fn component(&self) -> Option<&'static Component> {
        match self.context()? {
            Context::Options => Some(registry().options),
            context => registry().catalogue.find(context, self.calls().first()?),
        }
    }

    /// The options that may stand here, and the option whose value stands here.
    pub fn options(&self) -> Option<(Table, Option<&'static OptionSpec>)> {
        let mut table = self.component()?.table();
        let skipped = if self.context() == Some(Context::Options) { 0 } else { 1 };
        let mut inside = None;
        for name in self.calls().into_iter().skip(skipped) {
            let option = find(&table, name)?;
            inside = Some(option);
            if let Kind::Block(groups) = option.kind {
                table = Table::block(option.name, groups);
                inside = None;
            }
        }
        Some((table, inside))
    }
}

/// An option in any of its spellings.
pub fn find(table: &Table, name: &str) -> Option<&'static OptionSpec> {
    table.options().find(|option| {
        let all = std::iter::once(option.name)
            .chain(option.aliases.iter().copied())
            .chain(option.old_names.iter().copied());
        all.into_iter().any(|known| conf_syntax::same_keyword(known, name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, block: Option<&str>, calls: &[&str]) {
        let place = Surroundings::of(text, text.len());
        assert_eq!(place.block(), block, "{text}");
        assert_eq!(place.calls(), calls, "{text}");
    }

    #[test]
    fn brackets_tell_where_a_place_is() {
        check("source s_net { network(port(", Some("source"), &["network", "port"]);
        check("source s { network(port(514) ", Some("source"), &["network"]);
        check("log { source(s); filter { program(\"(\") and ", Some("filter"), &[]);
        check("log { if (program(x)) { destination(", Some("if"), &["destination"]);
        check("@version: 4.11\nsource s { ", Some("source"), &[]);
        check("@version: 4.11 # new\nsource s { ", Some("source"), &[]);
        check("@include \"x.conf\"\nlog { ", Some("log"), &[]);
        check("source s { # a ( {\n internal(); };\n", None, &[]);
        check("destination d { network(\"h\" tls(ca-file(\"x\") ", Some("destination"), &["network", "tls"]);
        assert!(Surroundings::of("template(\"$", 11).is_in_string);
        assert!(Surroundings::of("# x", 3).is_in_comment);
    }

    #[test]
    fn options_are_known_inside_blocks() {
        let text = "destination d { network(\"h\" tls(peer-verify(";
        let (_, inside) = Surroundings::of(text, text.len()).options().expect("options");
        assert_eq!(inside.map(|option| option.name), Some("peer-verify"));
        let text = "destination d { network(\"h\" tls(";
        let (table, inside) = Surroundings::of(text, text.len()).options().expect("options");
        assert!(inside.is_none() && find(&table, "ca_file").is_some() && find(&table, "port").is_none());
    }
}
