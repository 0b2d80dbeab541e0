//! What may stand in a block of FilterX, and what its words mean: from the table of functions.

use super::completion::{as_snippet, documented, macros, plain};
use super::place::Surroundings;
use filterx::Function;
use lsp_types::{CompletionItem, CompletionItemKind};

/// Whether a place is in a block of FilterX, outside of its strings.
pub fn is_inside(place: &Surroundings) -> bool {
    place.brackets.iter().any(|bracket| bracket.is_brace && bracket.word == "filterx")
}

/// Functions, arguments with a name and keywords; behind a `$`, macros.
pub fn at(place: &Surroundings, text: &str, offset: usize) -> Vec<CompletionItem> {
    let before = text.get(..offset).unwrap_or_default();
    let before = before.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
    if before.ends_with('$') || before.ends_with("${") {
        return macros();
    }
    let called = place.brackets.last().filter(|bracket| !bracket.is_brace);
    let called = called.and_then(|bracket| function(&bracket.word));
    let mut items: Vec<CompletionItem> = called.map(arguments).unwrap_or_default();
    items.extend(filterx::functions().map(|function| {
        let item =
            documented(function.name, CompletionItemKind::FUNCTION, &function.usage(), &described(function));
        let open = if function.parameters.is_empty() { "()" } else { "($0)" };
        CompletionItem { insert_text: Some(format!("{}{open}", function.name)), ..as_snippet(item) }
    }));
    items.extend(filterx::grammar::KEYWORDS.iter().map(|word| plain(word, CompletionItemKind::KEYWORD)));
    items
}

/// What a function or an argument of the one whose brackets this is in does; behind a `$`, nothing.
pub fn of_word(place: &Surroundings, word: &str) -> Option<String> {
    let called = place.brackets.last().filter(|bracket| !bracket.is_brace);
    let argument = called.and_then(|bracket| {
        let function = function(&bracket.word)?;
        let parameter = function.parameters.iter().find(|p| p.named && p.name == word)?;
        let preset = if parameter.default.is_empty() { "none" } else { parameter.default };
        Some(format!("`{word}=` of `{}()`: {}, preset: {preset}", function.name, parameter.form.describe()))
    });
    argument.or_else(|| function(word).map(|f| format!("`{}`\n\n{}", f.usage(), described(f))))
}

fn function(name: &str) -> Option<&'static Function> {
    filterx::functions().find(|function| function.name == name)
}

fn arguments(function: &'static Function) -> Vec<CompletionItem> {
    let named = function.parameters.iter().filter(|parameter| parameter.named);
    named
        .map(|parameter| {
            let label = format!("{}=", parameter.name);
            documented(&label, CompletionItemKind::PROPERTY, &parameter.form.describe(), "")
        })
        .collect()
}

/// What it does and returns, with its examples.
fn described(function: &Function) -> String {
    let examples = function.examples.iter().map(|(text, value)| format!("{text}    {value}\n"));
    format!(
        "{}\n\nReturns {}.\n\n```\n{}```",
        function.help,
        function.returns.describe(),
        examples.collect::<String>()
    )
}
