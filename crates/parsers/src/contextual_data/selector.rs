//! Which rows of the file a message gets.

use super::database::Database;
use crate::build::Build;
use crate::input::Input;
use conf_syntax::{FilterExpr, ParseOptions, Statement};
use diag::{Diagnostic, Diagnostics, Severity, Span};
use filter::{Filter, FilterContext, FilterEnv, FilterSet, NamedFilters};
use pattern::{Pattern, PatternOptions};
use record::{Batch, Demand};
use std::collections::HashMap;
use std::sync::Arc;
use template::{Scope, Template, TemplateOptions};

pub enum Selector {
    /// The text is a selector of the file.
    Text { input: Input, ignore_case: bool },
    /// The selectors are globs.
    Globs { input: Input, globs: Vec<(Pattern, u32)> },
    /// The selectors are names of filters.
    Filters { list: Vec<(Arc<Filter>, u32)>, sets: Vec<Set> },
}

/// Filters of the list that are asked together.
pub struct Set {
    first: usize,
    filters: FilterSet,
}

/// Those of the list in sets, where each leaves no trace.
fn sets(list: &[(Arc<Filter>, u32)]) -> Vec<Set> {
    let filters: Vec<Arc<Filter>> = list.iter().map(|(filter, _)| Arc::clone(filter)).collect();
    let (mut sets, mut first) = (Vec::new(), 0);
    while let Some(rest) = filters.get(first..).filter(|rest| !rest.is_empty()) {
        let count = FilterSet::fitting(rest).max(1);
        let Some(filters) = FilterSet::compile(rest.get(..count).unwrap_or_default()) else {
            return Vec::new();
        };
        sets.push(Set { first, filters });
        first += count;
    }
    sets
}

impl Selector {
    pub fn text(template: &Arc<Template>, ignore_case: bool) -> Selector {
        Selector::Text { input: Input::of(template), ignore_case }
    }

    pub fn globs(
        template: &Arc<Template>,
        database: &Database,
        ignore_case: bool,
        at: Span,
        b: &mut Build<'_>,
    ) -> Option<Selector> {
        let mut options = PatternOptions { ignore_case, ..PatternOptions::default() };
        let mut globs = Vec::new();
        for (group, text) in database.selectors().iter().enumerate() {
            match options.set_kind("glob").and_then(|()| Pattern::compile(text, &options)) {
                Ok(glob) => globs.push((glob, group as u32)),
                Err(e) => b.diags.push(Diagnostic::error("A0105", format!("selector `{text}`: {e}"), at)),
            }
        }
        let complete = globs.len() == database.selectors().len();
        complete.then(|| Selector::Globs { input: Input::of(template), globs })
    }

    /// Filters in the order of the database; one that only it names is left out, with a warning.
    pub fn filters(path: &str, database: &Database, at: Span, b: &mut Build<'_>) -> Option<Selector> {
        let text = match b.env.read_file(path).map(String::from_utf8) {
            Ok(Ok(text)) => text,
            Ok(Err(_)) => {
                b.diags.error("A0105", format!("`{path}` is not UTF-8"), at);
                return None;
            }
            Err(error) => {
                b.diags.error("A0105", format!("cannot read `{path}`: {error}"), at);
                return None;
            }
        };
        let parsed = conf_syntax::parse_text(path, &text, &ParseOptions::default());
        let mut findings = Diagnostics::new();
        findings.extend(parsed.diagnostics);
        let mut file = File { env: b.env, exprs: HashMap::new(), named: NamedFilters::default() };
        for item in &parsed.config.items {
            match item {
                Statement::Filter(object) => {
                    file.exprs.insert(object.name.text.as_str(), object.expr.as_ref());
                }
                other => findings.error("A0105", "only filters belong into this file", other.span()),
            }
        }
        let mut filters = Vec::new();
        for (group, name) in database.selectors().iter().enumerate() {
            if !file.exprs.contains_key(&**name) {
                let text = format!("`{path}` has no filter `{name}`: its rows are never used");
                b.diags.push(Diagnostic::warning("A0105", text, at));
            } else if let Some(made) = Filter::named(name, at, &file, &mut findings) {
                filters.push((made, group as u32));
            }
        }
        // The file's own places mean nothing beside the texts of the configuration.
        let errors = findings.iter().filter(|d| d.severity == Severity::Error);
        let errors: Vec<String> = errors.map(|d| d.message.clone()).collect();
        for error in &errors {
            b.diags.error("A0105", format!("{path}: {error}"), at);
        }
        errors.is_empty().then(|| Selector::Filters { sets: sets(&filters), list: filters })
    }

    /// The number of the message's rows.
    #[inline]
    pub fn find(
        &self,
        database: &Database,
        batch: &mut Batch,
        index: usize,
        cx: &mut FilterContext,
    ) -> Option<u32> {
        let input = match self {
            Selector::Filters { list, sets } if sets.is_empty() => {
                return list.iter().find(|(f, _)| f.matches(batch, index, cx)).map(|(_, group)| *group);
            }
            Selector::Filters { list, sets } => {
                let record = batch.records.get(index)?;
                let place = |set: &Set| Some(set.first + set.filters.first(batch, record, cx)?);
                return list.get(sets.iter().find_map(place)?).map(|(_, group)| *group);
            }
            Selector::Text { input, .. } | Selector::Globs { input, .. } => input,
        };
        let span = input.span(batch, index, cx)?;
        let text = batch.bytes(span);
        match self {
            Selector::Text { ignore_case: true, .. } => {
                let mut lower = cx.work.text();
                lower.extend_from_slice(text);
                lower.make_ascii_lowercase();
                let group = database.group(&lower);
                cx.work.keep_text(lower);
                group
            }
            Selector::Globs { globs, .. } => {
                globs.iter().find(|(g, _)| g.is_match(text, &mut cx.work.patterns)).map(|(_, group)| *group)
            }
            _ => database.group(text),
        }
    }

    pub fn reads(&self, demand: &mut Demand) {
        match self {
            Selector::Text { input, .. } | Selector::Globs { input, .. } => input.reads(demand),
            Selector::Filters { list, .. } => list.iter().for_each(|(f, _)| f.reads(demand)),
        }
    }
}

/// The filters of the file see each other, and nothing of the configuration but its templates.
struct File<'a> {
    env: &'a dyn FilterEnv,
    exprs: HashMap<&'a str, Option<&'a FilterExpr>>,
    named: NamedFilters,
}

impl FilterEnv for File<'_> {
    fn scope(&self) -> &dyn Scope {
        self.env.scope()
    }

    fn template_options(&self) -> &TemplateOptions {
        self.env.template_options()
    }

    fn filter(&self, name: &str) -> Option<&FilterExpr> {
        self.exprs.get(name).copied().flatten()
    }

    fn filter_names(&self) -> Vec<&str> {
        self.exprs.keys().copied().collect()
    }

    fn named_filters(&self) -> &NamedFilters {
        &self.named
    }

    fn read_file(&self, path: &str) -> std::io::Result<Vec<u8>> {
        self.env.read_file(path)
    }
}
