//! The options of one driver while its builder reads them, and what is said of those that are wrong.

use crate::templates::compile;
use conf_schema::Settings;
use diag::{Diagnostic, Diagnostics, Reported, Severity, Span};
use engine::driver::BuildContext;
use std::sync::Arc;
use template::{Template, TemplateOptions};

pub struct Reading<'a> {
    pub s: &'a Settings,
    /// Of all templates among the options.
    pub templates: &'a TemplateOptions,
    pub cx: &'a BuildContext<'a>,
    /// The code of what is wrong with the options of this driver.
    pub code: &'static str,
    pub diags: &'a mut Diagnostics,
}

impl Reading<'_> {
    /// An error at an option, or at the whole call where that is not given.
    pub fn wrong<T>(&mut self, option: &str, text: impl Into<String>, help: &str) -> Result<T, Reported> {
        self.wrong_at(self.s.span(option), text, help)
    }

    /// An error at a place in the text, or at the whole call.
    pub fn wrong_at<T>(
        &mut self,
        at: Option<Span>,
        text: impl Into<String>,
        help: &str,
    ) -> Result<T, Reported> {
        let span = at.or(self.s.call_span());
        let finding = Diagnostic::new(Severity::Error, self.code, text).help(help);
        self.diags.push(Diagnostic { span, ..finding });
        Err(Reported)
    }

    /// The place of the whole call.
    pub fn call_span(&mut self) -> Result<Span, Reported> {
        match self.s.call_span() {
            Some(span) => Ok(span),
            None => self.wrong_at(None, "a driver without a place in the configuration", "this is a bug"),
        }
    }

    pub fn compile(&mut self, text: &str, at: Span) -> Result<Arc<Template>, Reported> {
        compile(text, at, self.templates, self.cx, self.diags)
    }

    /// A template that no option gives.
    pub fn own_template(&mut self, text: &str) -> Result<Arc<Template>, Reported> {
        let at = self.call_span()?;
        self.compile(text, at)
    }

    /// The template of an option, or of `usual` where it is not given.
    pub fn template_or(&mut self, option: &str, usual: &str) -> Result<Arc<Template>, Reported> {
        match self.s.template(option) {
            Some(text) => self.compile(&text.text, text.span),
            None => self.own_template(usual),
        }
    }

    /// Each text of a list as a template.
    pub fn template_list(&mut self, option: &str) -> Result<Vec<Arc<Template>>, Reported> {
        self.s.list(option).iter().map(|text| self.compile(&text.text, text.span)).collect()
    }
}
