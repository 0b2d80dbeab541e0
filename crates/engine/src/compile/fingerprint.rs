//! What of a configuration every destination depends on, beside its own options.

use super::objects::Objects;
use conf_syntax::{Call, TemplateBody, TypedText};
use diag::SourceMap;

/// Global options and templates with names in backticks replaced, and what HOST means: a destination stays
/// over a reload only when none of them changed.
pub fn of(objects: &Objects<'_>, texts: &SourceMap, chains_hostnames: bool) -> String {
    let options = objects.options.iter().map(|call| call.canonical());
    let templates = objects.templates.values().map(|t| format!("{}{}", t.name.text, body(&t.body)));
    let functions = objects.functions.values().map(|f| format!("{}{}", f.name.text, typed(&f.text)));
    let chains = if chains_hostnames { "chain-hostnames" } else { "" };
    let all = templates.chain(functions).chain(options).chain([chains.to_owned()]);
    #[cfg(not(feature = "python"))]
    let _ = texts;
    #[cfg(feature = "python")]
    let all = all.chain(objects.python.iter().map(|block| texts.text(block.span).to_owned()));
    all.collect::<Vec<_>>().join("\n")
}

/// A template as it is, names in backticks replaced.
fn body(body: &TemplateBody) -> String {
    match body {
        TemplateBody::Text(text) => typed(text),
        TemplateBody::Options(calls) => calls.iter().map(Call::canonical).collect(),
    }
}

fn typed(text: &TypedText) -> String {
    let hint = text.type_hint.as_ref().map_or("", |hint| hint.text.as_str());
    format!("{hint}({})", text.text)
}
