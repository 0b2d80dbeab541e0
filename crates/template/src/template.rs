//! The compiled template and what can be asked of it. How it is printed is in `render`.

use crate::compile::Compiler;
use crate::line::Line;
use crate::macros::Fact;
use crate::op::{Lit, Op, Step};
use crate::syntax::Text;
use crate::typed::TypeHint;
use crate::{Scope, TemplateError, TemplateOptions};
use record::{Demand, NameId, ValueType};
use std::fmt;
use std::sync::Arc;

pub struct Template {
    pub(crate) text: Box<str>,
    pub(crate) steps: Box<[Step]>,
    /// Set when the template is the layout of a syslog line, which is printed in one copy where possible.
    pub(crate) line: Option<Line>,
    pub(crate) literals: Box<[u8]>,
    pub(crate) prefix: Box<[u8]>,
    pub(crate) options: TemplateOptions,
    pub(crate) escape: bool,
    /// The type its value is declared to have.
    pub(crate) hint: Option<ValueType>,
    /// The type of a template that is one literal or one computed macro.
    pub(crate) lone_type: ValueType,
    /// From @version 4.0 on a lone macro keeps its type. What is escaped is text.
    pub(crate) keep_type: bool,
    /// What it seals with, each chain once.
    pub(crate) chains: Box<[Arc<slog::Chain>]>,
}

impl Template {
    pub fn compile(text: &str, opts: &TemplateOptions, scope: &dyn Scope) -> Result<Template, TemplateError> {
        Compiler::new(opts, scope).compile(&Text::of(text))
    }

    /// What a driver's `template()` means: the name of a template of the configuration, else a template's
    /// text. A named one is compiled anew when its options, the time zone say, differ from the driver's.
    pub fn named_or_text(
        text: &str,
        opts: &TemplateOptions,
        scope: &dyn Scope,
    ) -> Result<Arc<Template>, TemplateError> {
        match scope.template(text) {
            Some(named) if named.fits(opts) => Ok(named),
            Some(named) => named.for_options(opts, scope).map(Arc::new),
            None => Template::compile(text, opts, scope).map(Arc::new),
        }
    }

    /// The same template under other options; `template-escape()` stays what its statement said.
    pub fn for_options(&self, opts: &TemplateOptions, scope: &dyn Scope) -> Result<Template, TemplateError> {
        let mut compiled = Template::compile(&self.text, &self.rebound_options(opts), scope)?;
        compiled.hint = self.hint;
        Ok(compiled)
    }

    pub(crate) fn rebound_options(&self, opts: &TemplateOptions) -> TemplateOptions {
        TemplateOptions {
            escape: self.escape,
            escape_arguments: self.options.escape_arguments,
            ..opts.clone()
        }
    }

    pub(crate) fn fits(&self, opts: &TemplateOptions) -> bool {
        let opts = self.rebound_options(opts);
        // One that seals nothing may stand wherever its other options fit.
        self.options == TemplateOptions { may_seal: self.options.may_seal, ..opts.clone() }
            && (opts.may_seal || self.chains.is_empty())
    }

    /// Declares the type of its value: `int("$PID")`.
    pub fn with_hint(mut self, hint: TypeHint) -> Template {
        self.hint = hint.value_type();
        self
    }

    /// The text it was compiled from; empty for a layout.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The whole output, when no message changes it.
    pub fn literal(&self) -> Option<&[u8]> {
        match &*self.steps {
            [] => Some(b""),
            [Step { op, then: None }] if op.is_literal() => Some(&self.prefix),
            _ => None,
        }
    }

    /// The type of [`Template::literal`]: of its hint, else of a function that was computed when it was
    /// compiled, else text.
    pub fn literal_type(&self) -> ValueType {
        self.hint.unwrap_or(if self.keep_type { self.lone_type } else { ValueType::String })
    }

    /// What every output begins with.
    pub fn literal_prefix(&self) -> &[u8] {
        &self.prefix
    }

    /// The value it prints, when it is that and nothing else: then its users may look at the value in place.
    /// An escaping template never is.
    pub fn single_name(&self) -> Option<NameId> {
        match &*self.steps {
            [Step { op, then: None }] if !self.escape => op.name(),
            _ => None,
        }
    }

    /// The computed macro it prints, when it is that and nothing else.
    pub(crate) fn single_fact(&self) -> Option<Fact> {
        match &*self.steps {
            [Step { op: Op::Fact(fact), then: None }] => Some(*fact),
            _ => None,
        }
    }

    /// Whether it prints the same for all messages of a batch with one context and one time of reception.
    pub fn is_common(&self) -> bool {
        self.steps.iter().all(|step| step.op.is_common())
    }

    /// The sealed logs it makes entries of. What it prints are drafts then: [`crate::seal`] has to see them
    /// before anybody else does.
    pub fn chains(&self) -> &[Arc<slog::Chain>] {
        &self.chains
    }

    /// Adds what it looks at.
    pub fn reads(&self, demand: &mut Demand) {
        self.steps.iter().for_each(|step| step.op.reads(demand));
    }

    #[inline]
    pub(crate) fn literal_text(&self, lit: Lit) -> &[u8] {
        let start = lit.start as usize;
        self.literals.get(start..start + lit.len as usize).unwrap_or_default()
    }
}

impl fmt::Debug for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Template").field("text", &self.text).field("hint", &self.hint).finish_non_exhaustive()
    }
}
