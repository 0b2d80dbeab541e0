//! Options several operations share: `type()`, `flags()`, `value()`, `template()`, and how to report an
//! unknown one.

use crate::env::FilterEnv;
use conf_syntax::{Arg, ArgKind, Call};
use diag::{Diagnostic, Diagnostics, Span, nearest};
use pattern::{PatternError, PatternOptions};
use template::Template;

/// Codes under which findings are reported: those of filters, or those of another crate that uses the same
/// options.
#[derive(Clone, Copy, Debug)]
pub struct MatcherOptions {
    pub unknown_option: &'static str,
    pub wrong_argument: &'static str,
    pub wrong_template: &'static str,
    pub useless: &'static str,
}

impl MatcherOptions {
    pub const FILTER: MatcherOptions = MatcherOptions {
        unknown_option: "F0102",
        wrong_argument: "F0103",
        wrong_template: "F0111",
        useless: "F0113",
    };

    /// Reads `type()` or `flags()` into `options`: whether it was right, `None` when the call is neither.
    pub fn read(&self, call: &Call, options: &mut PatternOptions, diags: &mut Diagnostics) -> Option<bool> {
        if call.is("type") {
            let name = self.single_text(call, diags);
            return Some(name.is_some_and(|name| match options.set_kind(name) {
                Ok(()) => true,
                Err(e) => {
                    let known = nearest(name, pattern::KIND_NAMES);
                    diags.push(Diagnostic::error(e.code, e.message, call.span).suggest(known));
                    false
                }
            }));
        }
        if !call.is("flags") {
            return None;
        }
        let mut good = true;
        for arg in &call.args {
            let Some(name) = arg.text() else {
                let text = format!("flags() takes names, not {}", arg.describe());
                diags.error(self.wrong_argument, text, arg.span);
                good = false;
                continue;
            };
            if let Err(e) = options.set_flag(name) {
                let known = nearest(name, pattern::FLAG_NAMES);
                diags.push(Diagnostic::error(e.code, e.message, arg.span).suggest(known));
                good = false;
            }
        }
        Some(good)
    }

    /// The one text an option takes.
    pub fn single_text<'a>(&self, call: &'a Call, diags: &mut Diagnostics) -> Option<&'a str> {
        match call.args.as_slice() {
            [arg] if arg.text().is_some() => arg.text(),
            _ => {
                let text = format!("{}() takes one text", call.name.text);
                diags.error(self.wrong_argument, text, call.span);
                None
            }
        }
    }
}

/// The name in `value("NAME")` or of a name argument; a `$` before it and braces are taken off with a
/// warning.
pub fn value_of<'a>(
    name: &'a str,
    at: Span,
    codes: &MatcherOptions,
    diags: &mut Diagnostics,
) -> Option<&'a str> {
    let bare = match name.strip_prefix('$') {
        None => name,
        Some(rest) => {
            let bare = rest.strip_prefix('{').and_then(|r| r.strip_suffix('}')).unwrap_or(rest);
            let finding =
                Diagnostic::warning(codes.useless, format!("`{name}` names a value: no `$` is needed"), at);
            diags.push(finding.help(format!("write \"{bare}\"")));
            bare
        }
    };
    if bare.is_empty() || bare.contains("${") {
        diags.error(codes.wrong_argument, format!("`{name}` is not the name of a value"), at);
        return None;
    }
    if bare.contains(['{', '}', '$']) {
        let finding =
            Diagnostic::warning(codes.useless, format!("`{bare}` is taken as a name, as it stands"), at);
        diags.push(finding.help("no template stands here: nothing of it is replaced"));
    }
    Some(bare)
}

/// Compiles a template, reporting its error at `at`.
pub fn template_of(
    text: &str,
    at: Span,
    env: &dyn FilterEnv,
    codes: &MatcherOptions,
    diags: &mut Diagnostics,
) -> Option<Template> {
    match Template::compile(text, env.template_options(), env.scope()) {
        Ok(template) => Some(template),
        Err(e) => {
            let mut finding = Diagnostic::error(codes.wrong_template, e.to_string(), at);
            if let Some(help) = e.help {
                finding = finding.help(help);
            }
            diags.push(finding);
            None
        }
    }
}

/// Reports an option a function does not have.
pub fn unknown_option(
    function: &str,
    arg: &Arg,
    known: &[&str],
    codes: &MatcherOptions,
    diags: &mut Diagnostics,
) {
    let finding = match &arg.kind {
        ArgKind::Call(call) => {
            let text = format!("{function}() has no option `{}`", call.name.text);
            let near = nearest(&call.name.text, known.iter().copied());
            let finding = Diagnostic::error(codes.unknown_option, text, call.name.span).suggest(near);
            match near {
                None if !known.is_empty() => finding.note(format!("its options are {}", known.join(", "))),
                _ => finding,
            }
        }
        _ => {
            let text = format!("{function}() does not take {} here", arg.describe());
            Diagnostic::error(codes.wrong_argument, text, arg.span)
        }
    };
    diags.push(finding);
}

/// A finding about a pattern's `text`, which the configuration gives at `at`. Marks the byte, unless escapes
/// make the place uncertain.
pub fn wrong_pattern(code: &'static str, error: &PatternError, text: &str, at: Span) -> Diagnostic {
    let written = (at.end - at.start) as usize;
    let quotes = written.checked_sub(text.len()).filter(|n| matches!(n, 0 | 2)).map(|n| n / 2);
    let place = error.offset.zip(quotes).map_or(at, |(offset, quote)| {
        let start = at.start as usize + quote + offset;
        Span::new(at.file, start, start + 1)
    });
    Diagnostic::error(code, format!("wrong pattern: {error}"), place).note(format!("see {}", error.code))
}
