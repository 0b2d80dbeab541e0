//! Templates that options give: compiled, and what is said of wrong ones.

use conf_syntax::Name;
use diag::{Diagnostic, Diagnostics, Reported, Span};
use engine::driver::BuildContext;
use std::sync::Arc;
use template::{Template, TemplateError, TemplateOptions, TypeHint};

/// A template by name, or of its text.
pub fn compile(
    text: &str,
    span: Span,
    options: &TemplateOptions,
    cx: &BuildContext<'_>,
    diags: &mut Diagnostics,
) -> Result<Arc<Template>, Reported> {
    match Template::named_or_text(text, options, cx.scope) {
        Ok(made) => Ok(made),
        Err(error) => {
            diags.push(wrong_template(&error, span));
            Err(Reported)
        }
    }
}

pub fn wrong_template(error: &TemplateError, span: Span) -> Diagnostic {
    let finding = Diagnostic::error("D0106", format!("wrong template: {error}"), span);
    match &error.help {
        Some(help) => finding.help(help.clone()),
        None => finding,
    }
}

/// The type a template's text is said to be of.
pub fn type_hint(name: &Name, diags: &mut Diagnostics) -> Result<TypeHint, Reported> {
    let hint = TypeHint::named(&name.text);
    if hint.is_none() {
        let known = TypeHint::NAMES.iter().map(|(name, _)| *name);
        let finding = Diagnostic::error("D0105", format!("unknown type `{}`", name.text), name.span);
        diags.push(finding.suggest(diag::nearest(&name.text, known)));
    }
    hint.ok_or(Reported)
}
