//! Destinations whose template makes entries of a sealed log: what has to hold so that the log can be opened
//! again.

use crate::writer::Writer;
use conf_schema::Settings;
use diag::{Diagnostic, Diagnostics, Reported, Span};
use engine::driver::BuildContext;

/// The entries of a key stand in one place, in order and whole.
pub fn check(
    writer: &Writer,
    at: Option<Span>,
    s: &Settings,
    cx: &BuildContext<'_>,
    diags: &mut Diagnostics,
) -> Result<(), Reported> {
    let Some(at) = at.or(s.call_span()).filter(|_| !writer.template.chains().is_empty()) else {
        return Ok(());
    };
    if let Some(why) = divided(s, cx) {
        let finding = Diagnostic::error("D0106", format!("$(slog) cannot be used here: {why}"), at);
        diags.push(finding.help(
            "entries are numbered and each depends on the one before it, so all entries of a key have to stand in one place: one \
             destination, one file or connection. Give each place a key and a MAC file of its own",
        ));
        return Err(Reported);
    }
    if writer.truncate_size > 0 {
        let finding = Diagnostic::error("D0106", "$(slog) cannot be used with truncate-size()", at);
        diags.push(finding.help(
            "an entry that is cut cannot be opened; shorten the text inside of $(slog), $(substr) does it",
        ));
        return Err(Reported);
    }
    for path in writer.template.chains().iter().flat_map(|chain| chain.paths()) {
        if let Some(other) = cx.scope.claim(path, &cx.id()) {
            let text = format!("$(slog): {} is in use by the destination {other}", path.display());
            diags.push(Diagnostic::error("D0106", text, at).help(
                "the entries of a key would be spread over two places, and missing in both: give each destination a key and a MAC file of \
                 its own",
            ));
            return Err(Reported);
        }
    }
    Ok(())
}

/// Why the messages of a destination go to several places.
fn divided(s: &Settings, cx: &BuildContext<'_>) -> Option<&'static str> {
    let is_made = |span: Span| cx.sources.text(span).contains('$');
    if s.is_set("path") && s.span("path").is_some_and(is_made) {
        return Some("the name of the file is made from messages, so there are several files");
    }
    if s.is_set("load-balance") {
        return Some("load-balance() divides the messages between servers");
    }
    if s.is_set("rltp") && s.block("rltp").and_then(|block| block.int("connections")).is_some_and(|n| n > 1) {
        return Some("rltp(connections()) divides the messages between connections");
    }
    None
}
