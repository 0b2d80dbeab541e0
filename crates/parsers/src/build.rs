//! What a builder of a parser is given, and what builders share.

use crate::input::Input;
use crate::parse::Parse;
use conf_schema::{Settings, TemplateText};
use diag::{Diagnostic, Diagnostics, Span};
use filter::FilterEnv;
use record::NameId;
use std::sync::Arc;
use template::{Template, TemplateError, TypeHint};

pub type BuildParser = fn(&Settings, &mut Build<'_>) -> Option<Arc<dyn Parse>>;

/// The configuration a parser is built in. What is wrong is reported to `diags`.
pub struct Build<'a> {
    pub env: &'a dyn FilterEnv,
    pub diags: &'a mut Diagnostics,
    /// The whole call, for findings about something that was not written.
    pub span: Span,
}

impl Build<'_> {
    /// The text to parse: `template()`, MESSAGE without it.
    pub fn input(&mut self, settings: &Settings) -> Option<Input> {
        match settings.template("template").cloned() {
            None => Some(Input::message()),
            Some(text) => self.template_or_name(&text).map(|t| Input::of(&t)),
        }
    }

    /// The template of an option without which the parser is nothing.
    pub fn required_template(&mut self, settings: &Settings, option: &str) -> Option<Arc<Template>> {
        match settings.template(option).cloned() {
            Some(text) => self.template(&text),
            None => {
                let text = format!("{}() needs {option}()", settings.component());
                self.wrong(text, None, &format!("as {option}(\"$HOST\")"));
                None
            }
        }
    }

    /// What `template()` and `message-template()` take: a template's text or the name of a template
    /// statement.
    pub fn template_or_name(&mut self, text: &TemplateText) -> Option<Arc<Template>> {
        match text.type_hint {
            None if self.env.scope().template(&text.text).is_some() => {
                let options = self.env.template_options();
                self.reported(text, Template::named_or_text(&text.text, options, self.env.scope()))
            }
            _ => self.template(text),
        }
    }

    /// A template's text. As in syslog-ng the name of a template statement means nothing here and is a text
    /// like others (golden case parser/grouping-by-template-name).
    pub fn template(&mut self, text: &TemplateText) -> Option<Arc<Template>> {
        let made = Template::compile(&text.text, self.env.template_options(), self.env.scope());
        self.reported(text, made.map(Arc::new))
    }

    fn reported(
        &mut self,
        text: &TemplateText,
        made: Result<Arc<Template>, TemplateError>,
    ) -> Option<Arc<Template>> {
        let scope = self.env.scope();
        match made {
            Ok(made) => match text.type_hint.as_ref().map(|hint| TypeHint::named(&hint.text)) {
                None => Some(made),
                Some(Some(hint)) => {
                    let again = Template::compile(&text.text, self.env.template_options(), scope).ok()?;
                    Some(Arc::new(again.with_hint(hint)))
                }
                Some(None) => {
                    let known = TypeHint::NAMES.iter().map(|(name, _)| *name);
                    let hint = text.type_hint.as_ref()?;
                    let finding =
                        Diagnostic::error("A0102", format!("unknown type `{}`", hint.text), hint.span);
                    self.diags.push(finding.suggest(diag::nearest(&hint.text, known)));
                    None
                }
            },
            Err(error) => {
                let finding = Diagnostic::error("A0101", format!("wrong template: {error}"), text.span);
                self.diags.push(match error.help {
                    Some(help) => finding.help(help),
                    None => finding,
                });
                None
            }
        }
    }

    /// The id of a name the configuration gives.
    pub fn name(&mut self, name: &str, at: Span) -> Option<NameId> {
        let found = template::value_name(name);
        if found.is_none() {
            let (code, text) = match template::is_computed(name) {
                true => ("A0106", format!("`{name}` is computed from the message and cannot be set")),
                false => ("A0103", "too many names of values".to_owned()),
            };
            self.diags.error(code, text, at);
        }
        found
    }

    /// Whether a parser's own result has the name of a macro: the macro keeps its meaning, as in syslog-ng,
    /// and `what` is not kept.
    pub fn stays_macro(&mut self, name: &str, what: &str, at: Span) -> bool {
        let computed = template::is_computed(name);
        if computed {
            let finding = format!("`{name}` is computed from the message: the {what} is not kept");
            let finding = Diagnostic::warning("A0106", finding, at);
            self.diags.push(finding.help(format!("give the {what} another name, or a prefix()")));
        }
        computed
    }

    pub fn wrong(&mut self, text: impl Into<String>, at: Option<Span>, help: &str) {
        let at = at.unwrap_or(self.span);
        self.diags.push(Diagnostic::error("A0102", text.into(), at).help(help.to_owned()));
    }
}
