//! Templates and filters by name: compiled when first asked for, each once.

use super::Existing;
use super::filter_counters::FilterCounters;
use super::fingerprint::Fingerprint;
use super::misspelt::Values;
use super::objects::Objects;
use conf_schema::{Settings, Switch};
use conf_syntax::{Call, FilterExpr, TemplateBody, TemplateDef, TypedText};
use diag::{Diagnostic, Diagnostics, SourceMap, Span};
use filter::{Filter, FilterEnv, NamedFilters};
use rewrite::Rewrite;
use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use template::{
    Condition, DnsOptions, NameOptions, NameUse, OnError, Scope, Template, TemplateError, TemplateOptions,
    TsFormat, TypeHint,
};

type Compiled = HashMap<String, Option<Arc<Template>>>;

pub(super) struct Names<'a, 'c> {
    objects: &'a Objects<'c>,
    pub version: (u16, u16),
    options: TemplateOptions,
    names: NameOptions,
    templates: RefCell<Compiled>,
    functions: RefCell<Compiled>,
    filters: NamedFilters,
    counters: FilterCounters<'a>,
    /// Findings made while something was compiled on demand.
    findings: RefCell<Vec<Diagnostic>>,
    /// What only one may have, and who has it.
    claims: RefCell<HashMap<PathBuf, String>>,
    values: Values,
    #[cfg(feature = "python")]
    pub python: super::python::Python,
    /// Everything outside a driver's own text that its output may depend on.
    pub fingerprint: Fingerprint,
    /// Whether the configuration speaks of chain-hostnames() anywhere.
    chains_hostnames: bool,
}

impl<'a, 'c> Names<'a, 'c> {
    pub fn new(
        objects: &'a Objects<'c>,
        globals: &Settings,
        version: (u16, u16),
        texts: &'a SourceMap,
        existing: &'a Existing,
        diags: &mut Diagnostics,
    ) -> Names<'a, 'c> {
        let chains_hostnames = texts.files().any(|(_, file)| names_chaining(&file.text));
        let mut names = Names {
            objects,
            version,
            options: global_template_options(globals, version),
            names: name_options(globals),
            templates: RefCell::default(),
            functions: RefCell::default(),
            filters: NamedFilters::default(),
            counters: FilterCounters::new(&existing.filters, globals),
            findings: RefCell::default(),
            claims: RefCell::default(),
            values: Values::default(),
            #[cfg(feature = "python")]
            python: super::python::Python::new(objects, globals, texts),
            fingerprint: Fingerprint::of(objects, texts, chains_hostnames),
            chains_hostnames,
        };
        // Each statement is compiled even when nothing uses it, so that its errors are seen.
        for name in objects.templates.keys() {
            names.template(name);
        }
        for name in objects.functions.keys() {
            names.function(name);
        }
        names.report(diags);
        names.fingerprint.begins();
        names
    }

    /// The global template options.
    pub fn options(&self) -> &TemplateOptions {
        &self.options
    }

    /// Who reads and who sets which values.
    pub fn values(&self) -> &Values {
        &self.values
    }

    /// What named filters count.
    pub fn counters(&self) -> &FilterCounters<'a> {
        &self.counters
    }

    pub(super) fn report(&self, diags: &mut Diagnostics) {
        for finding in self.findings.borrow_mut().drain(..) {
            diags.push(finding);
        }
    }

    /// A named filter; what is wrong with it is reported once.
    pub fn filter(&self, name: &str, diags: &mut Diagnostics) -> Option<Arc<Filter>> {
        let span = self.objects.filters.get(name)?.name.span;
        self.objects.filters.get(name)?.expr.as_ref()?;
        let found = Filter::named(name, span, self, diags);
        self.report(diags);
        self.values.set(found.iter().flat_map(|filter| filter.writes()));
        found
    }

    pub fn compile_filter(&self, expr: &FilterExpr, diags: &mut Diagnostics) -> Option<Arc<Filter>> {
        let made = Filter::compile(expr, self, diags);
        self.report(diags);
        self.values.set(made.iter().flat_map(Filter::writes));
        made.map(Arc::new)
    }

    pub fn compile_rewrite(&self, call: &Call, diags: &mut Diagnostics) -> Option<Arc<Rewrite>> {
        let made = Rewrite::compile(call, self, diags);
        self.report(diags);
        if let Some(writes) = made.as_ref().map(Rewrite::writes) {
            self.values.set(writes.names);
            if writes.everything {
                self.values.set_any("");
            }
        }
        made.map(Arc::new)
    }

    pub fn build_parser(
        &self,
        build: parsers::BuildParser,
        settings: &Settings,
        span: Span,
        diags: &mut Diagnostics,
    ) -> Option<Arc<dyn parsers::Parse>> {
        let made = build(settings, &mut parsers::Build { env: self, diags, span });
        self.report(diags);
        if let Some(writes) = made.as_ref().map(|parser| parser.writes()) {
            self.values.set(writes.names);
            writes.prefix.iter().for_each(|prefix| self.values.set_any(prefix));
        }
        made
    }

    fn statement(&self, definition: &TemplateDef) -> Option<Template> {
        match &definition.body {
            TemplateBody::Text(text) => self.typed(text, &self.options),
            TemplateBody::Options(calls) => {
                let escape = calls.iter().rfind(|c| c.is("template-escape"));
                let escape = escape.and_then(|c| c.args.first()).and_then(conf_syntax::Arg::yes_no);
                let first = calls.iter().find(|c| c.is("template") || c.is("template-escape"));
                let options = TemplateOptions {
                    escape: escape.unwrap_or(false),
                    escape_arguments: first.is_some_and(|c| c.is("template-escape")),
                    ..self.options.clone()
                };
                for call in calls.iter().filter(|c| !c.is("template") && !c.is("template-escape")) {
                    let text = format!("a template has no option `{}`", call.name.text);
                    let finding = Diagnostic::error("E0114", text, call.name.span);
                    self.find(
                        finding.suggest(diag::nearest(&call.name.text, ["template", "template-escape"])),
                    );
                }
                let Some(call) = calls.iter().find(|c| c.is("template")) else {
                    let finding =
                        Diagnostic::error("E0115", "this template has no text", definition.name.span);
                    self.find(finding.help("add `template(\"...\");`"));
                    return None;
                };
                match call.args.first().map(|a| (&a.kind, a.span)) {
                    Some((conf_syntax::ArgKind::Call(typed), _)) => {
                        let inner = typed.args.first()?;
                        let text = inner.text().unwrap_or_default().to_owned();
                        let text = TypedText { type_hint: Some(typed.name.clone()), text, span: inner.span };
                        self.typed(&text, &options)
                    }
                    Some((_, span)) => {
                        let arg = call.args.first();
                        let text = arg.and_then(|a| a.text()).unwrap_or_default().to_owned();
                        let number = arg.and_then(|a| a.number_type());
                        let type_hint = number.map(|name| conf_syntax::Name { text: name.to_owned(), span });
                        self.typed(&TypedText { type_hint, text, span }, &options)
                    }
                    None => self.typed(
                        &TypedText { type_hint: None, text: String::new(), span: call.span },
                        &options,
                    ),
                }
            }
        }
    }

    fn typed(&self, text: &TypedText, options: &TemplateOptions) -> Option<Template> {
        // Whether it may is decided where it is used.
        let options = TemplateOptions { may_seal: true, ..options.clone() };
        let made = match Template::compile(&text.text, &options, self) {
            Ok(made) => made,
            Err(error) => {
                self.find(template_error(&error, text.span));
                return None;
            }
        };
        let Some(hint) = &text.type_hint else { return Some(made) };
        match TypeHint::named(&hint.text) {
            Some(hint) => Some(made.with_hint(hint)),
            None => {
                let known = TypeHint::NAMES.iter().map(|(name, _)| *name);
                let finding = Diagnostic::error("E0116", format!("unknown type `{}`", hint.text), hint.span);
                self.find(finding.suggest(diag::nearest(&hint.text, known)));
                None
            }
        }
    }

    fn find(&self, finding: Diagnostic) {
        self.findings.borrow_mut().push(finding);
    }

    /// Looks a name up, compiling it at the first time. While it is compiled it is not there: a circle ends
    /// as an unknown name. What is wrong has been reported once that way; an empty one stands in for it, so
    /// that whoever uses it does not report it again.
    fn once(
        &self,
        table: &RefCell<Compiled>,
        name: &str,
        make: impl FnOnce() -> Option<Template>,
    ) -> Option<Arc<Template>> {
        if let Some(known) = table.borrow().get(name) {
            return known.clone();
        }
        table.borrow_mut().insert(name.to_owned(), None);
        let stand_in = || Template::compile("", &self.options, self).ok();
        let made = make().or_else(stand_in).map(Arc::new);
        table.borrow_mut().insert(name.to_owned(), made.clone());
        made
    }
}

/// A finding about a template's text.
pub fn template_error(error: &TemplateError, span: Span) -> Diagnostic {
    let finding = Diagnostic::error("E0117", format!("wrong template: {error}"), span);
    match &error.help {
        Some(help) => finding.help(help.clone()),
        None => finding,
    }
}

pub(crate) fn global_template_options(globals: &Settings, version: (u16, u16)) -> TemplateOptions {
    TemplateOptions {
        ts_format: globals.choice("ts-format").and_then(TsFormat::named).unwrap_or_default(),
        frac_digits: globals.int("frac-digits").unwrap_or(0).clamp(0, 9) as u8,
        time_zone: globals.zone("send-time-zone").cloned(),
        local_time_zone: globals.zone("local-time-zone").cloned(),
        escape: false,
        escape_arguments: false,
        on_error: globals.choice("on-error").and_then(OnError::named).unwrap_or_default(),
        version,
        may_seal: false,
    }
}

fn name_options(globals: &Settings) -> NameOptions {
    let presets = DnsOptions::default();
    NameOptions {
        use_dns: match globals.switch("use-dns") {
            Some(Switch::No) => NameUse::No,
            Some(Switch::Word(_)) => NameUse::PersistOnly,
            _ => NameUse::Yes,
        },
        use_fqdn: globals.bool("use-fqdn").unwrap_or(false),
        normalize_hostnames: globals.bool("normalize-hostnames").unwrap_or(false),
        dns: DnsOptions {
            cache: globals.bool("dns-cache").unwrap_or(presets.cache),
            cache_size: globals
                .int("dns-cache-size")
                .and_then(|n| usize::try_from(n).ok())
                .unwrap_or(presets.cache_size),
            expire: globals.seconds("dns-cache-expire").unwrap_or(presets.expire),
            expire_failed: globals.seconds("dns-cache-expire-failed").unwrap_or(presets.expire_failed),
            hosts: globals.path("dns-cache-hosts").map(Into::into),
        },
    }
}

/// Whether a text of the configuration speaks of chain-hostnames(), under any of its names.
fn names_chaining(text: &str) -> bool {
    ["chain-hostnames", "chain_hostnames", "long-hostnames", "long_hostnames"]
        .iter()
        .any(|name| text.contains(name))
}

impl Scope for Names<'_, '_> {
    fn template(&self, name: &str) -> Option<Arc<Template>> {
        let definition = self.objects.templates.get(name)?;
        self.once(&self.templates, name, || self.statement(definition))
    }

    fn template_names(&self) -> Vec<String> {
        self.objects.templates.keys().map(|name| (*name).to_owned()).collect()
    }

    fn names(&self) -> NameOptions {
        self.names.clone()
    }

    fn chains_hostnames(&self) -> bool {
        self.chains_hostnames
    }

    fn function(&self, name: &str) -> Option<Arc<Template>> {
        let known = |known: &&str| conf_syntax::same_keyword(known, name);
        let (name, definition) = self.objects.functions.iter().find(|(have, _)| known(have))?;
        self.once(&self.functions, name, || self.typed(&definition.text, &self.options))
    }

    fn claim(&self, what: &Path, by: &str) -> Option<String> {
        let mut claims = self.claims.borrow_mut();
        let owner = claims.entry(what.to_owned()).or_insert_with(|| by.to_owned());
        (owner != by).then(|| owner.clone())
    }

    fn made_from(&self, path: &Path) {
        self.fingerprint.made_from(path);
    }

    #[cfg(feature = "python")]
    fn python(&self) -> Result<Arc<::python::Pool>, String> {
        Ok(self.python.pool())
    }

    fn reads(&self, name: &str) {
        self.values.read(name);
    }

    fn sets(&self, prefix: &str) {
        self.values.set_any(prefix);
    }

    fn condition(&self, text: &str) -> Result<Arc<dyn Condition>, String> {
        let (mut texts, mut diags) = (SourceMap::new(), Diagnostics::new());
        let expr = conf_syntax::parse_filter_text(text, None, &mut texts, &mut diags);
        let expr = expr.ok_or_else(|| first_message(&diags))?;
        match Filter::compile(&expr, self, &mut diags) {
            Some(filter) => Ok(Arc::new(filter)),
            None => Err(first_message(&diags)),
        }
    }
}

fn first_message(diags: &Diagnostics) -> String {
    diags.iter().next().map_or_else(|| "not a filter expression".to_owned(), |d| d.message.clone())
}

impl FilterEnv for Names<'_, '_> {
    fn scope(&self) -> &dyn Scope {
        self
    }

    fn template_options(&self) -> &TemplateOptions {
        &self.options
    }

    fn filter(&self, name: &str) -> Option<&FilterExpr> {
        self.objects.use_filter(name);
        self.objects.filters.get(name)?.expr.as_ref()
    }

    fn filter_names(&self) -> Vec<&str> {
        self.objects.filters.keys().copied().collect()
    }

    fn folder(&self) -> Option<&Path> {
        self.objects.folder.as_deref()
    }

    fn named_filters(&self) -> &NamedFilters {
        &self.filters
    }

    fn tally(&self, name: &str) -> Option<Arc<dyn filter::Tally>> {
        self.counters.of_call(name)
    }
}
