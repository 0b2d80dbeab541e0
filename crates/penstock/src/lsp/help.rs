//! What a word means: from the tables of components, options, filters, rewrites and macros.

use super::documents::Documents;
use super::expressions;
use super::names::Names;
use super::place::{self, Surroundings};
use super::words;
use crate::components::registry;
use conf_schema::{Component, OptionSpec, State, Table};
use lsp_types::{Hover, HoverContents, HoverParams, MarkupContent, MarkupKind, Range};

/// Characters of a statement that are shown.
const STATEMENT_CHARS_MAX: usize = 2000;

pub fn at(documents: &Documents, params: &HoverParams) -> Option<Hover> {
    let (document, offset) = documents.place(&params.text_document_position_params)?;
    let (start, word) = words::word_at(&document.text, offset)?;
    let place = Surroundings::of(&document.text, start);
    if place.is_in_comment {
        return None;
    }
    let behind = document.text.get(..start).unwrap_or_default();
    let text = match place.is_in_string {
        true => of_macro(word),
        false if expressions::is_inside(&place) && behind.ends_with(['$', '{']) => of_macro(word),
        false if expressions::is_inside(&place) => expressions::of_word(&place, word),
        false => of_word(&place, word),
    };
    let text = text.or_else(|| {
        let names = Names::of(document);
        let (kind, name) = names.at(document, offset)?;
        let span = names.statement(kind, &name)?;
        let statement = document.sources().text(span);
        let shown: String = statement.chars().take(STATEMENT_CHARS_MAX).collect();
        Some(format!("```\n{}\n```", crate::subject::secrets::blotted(&shown)))
    })?;
    let end = start + word.len();
    let range =
        Range { start: words::position(&document.text, start), end: words::position(&document.text, end) };
    let contents = HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value: text });
    Some(Hover { contents, range: Some(range) })
}

fn of_word(place: &Surroundings, word: &str) -> Option<String> {
    if let Some((table, inside)) = place.options() {
        if let Some(option) = inside {
            let known = option.kind.words().iter().find(|known| conf_syntax::same_keyword(known.name, word));
            return known.map(|known| format!("`{}` of `{}()`\n\n{}", known.name, option.name, known.help));
        }
        return place::find(&table, word).map(|option| of_option(&table, option));
    }
    match (place.context(), place.calls().as_slice()) {
        (Some(conf_schema::Context::Rewrite), []) => {
            let found = rewrite::OPERATIONS.iter().find(|o| conf_syntax::same_keyword(o.name, word))?;
            Some(format!("`{}({})`\n\n{}", found.name, found.arguments, found.help))
        }
        (Some(context), []) => registry().catalogue.find(context, word).map(of_component),
        _ => {
            let is_it = |f: &&filter::FunctionInfo| f.name == word || f.aliases.contains(&word);
            let is_condition = place.block() == Some("filter")
                || place.calls().iter().any(|call| matches!(*call, "if" | "elif"));
            let found = filter::FUNCTIONS.iter().filter(|_| is_condition).find(is_it)?;
            Some(format!("`{}({})`\n\n{}", found.name, found.arguments, found.help))
        }
    }
}

fn of_component(component: &'static Component) -> String {
    format!(
        "**{}** ({})\n\n{}\n\n```\n{}\n```",
        component.name,
        component.context.as_str(),
        component.summary,
        component.example
    )
}

/// An option with its type, its preset and what it does.
pub fn of_option(table: &Table, option: &OptionSpec) -> String {
    let preset = option.preset_in_words(table.preset(option));
    let preset = preset.map_or_else(|| "none".to_owned(), |preset| format!("`{preset}`"));
    let words: Vec<&str> = option.kind.words().iter().map(|word| word.name).collect();
    let words = if words.is_empty() { String::new() } else { format!("\n\nWords: {}", words.join(", ")) };
    let state = match option.state {
        State::Supported => String::new(),
        State::Obsolete(instead) => format!("\n\nObsolete: {instead}"),
        State::NoEffect(why) => format!("\n\nWithout effect: {why}"),
        State::NotYet(instead) => format!("\n\nNot available: {instead}"),
    };
    format!("`{}()` of {}, preset: {preset}\n\n{}{words}{state}", option.name, table.label, option.help)
}

fn of_macro(word: &str) -> Option<String> {
    let found = template::MACROS.iter().find(|known| known.name == word)?;
    Some(format!("`${{{}}}`, as `{}`\n\n{}", found.name, found.example, found.help))
}
