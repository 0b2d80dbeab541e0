//! Every named object of a configuration, by kind and name.

use super::applications::Applications;
use conf_syntax::{
    Call, Config, FilterObject, LogPath, Name, Object, ObjectKind, RawBlock, Statement, TemplateDef,
    TemplateFunction,
};
use diag::{Diagnostic, Diagnostics, SourceMap, nearest};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

#[derive(Default)]
pub(super) struct Objects<'c> {
    pub sources: BTreeMap<&'c str, &'c Object>,
    pub destinations: BTreeMap<&'c str, &'c Object>,
    pub parsers: BTreeMap<&'c str, &'c Object>,
    pub rewrites: BTreeMap<&'c str, &'c Object>,
    pub filters: BTreeMap<&'c str, &'c FilterObject>,
    /// The folder of the configuration's file.
    pub folder: Option<PathBuf>,
    pub templates: BTreeMap<&'c str, &'c TemplateDef>,
    pub functions: BTreeMap<&'c str, &'c TemplateFunction>,
    pub applications: Applications<'c>,
    pub logs: Vec<&'c LogPath>,
    /// `python { }` blocks.
    #[cfg(feature = "python")]
    pub python: Vec<&'c RawBlock>,
    /// The options statements.
    pub options: Vec<&'c Call>,
    used: RefCell<BTreeSet<(ObjectKind, &'c str)>>,
}

impl<'c> Objects<'c> {
    #[cfg_attr(feature = "python", expect(unused_variables, reason = "nothing is refused by name here"))]
    pub fn collect(config: &'c Config, diags: &mut Diagnostics) -> Objects<'c> {
        let main = config.files.first().and_then(|file| std::path::absolute(file).ok());
        let folder = main.as_deref().and_then(Path::parent).map(Path::to_path_buf);
        let mut objects = Objects { folder, ..Objects::default() };
        for statement in &config.items {
            match statement {
                Statement::Source(o) => drop(objects.sources.insert(&o.name.text, o)),
                Statement::Destination(o) => drop(objects.destinations.insert(&o.name.text, o)),
                Statement::Parser(o) => drop(objects.parsers.insert(&o.name.text, o)),
                Statement::Rewrite(o) => drop(objects.rewrites.insert(&o.name.text, o)),
                Statement::Filter(o) => drop(objects.filters.insert(&o.name.text, o)),
                Statement::Template(o) => drop(objects.templates.insert(&o.name.text, o)),
                Statement::TemplateFunction(o) => drop(objects.functions.insert(&o.name.text, o)),
                Statement::Log(l) => objects.logs.push(l),
                Statement::Options(o) => objects.options.extend(&o.options),
                Statement::Application(a) => objects.applications.define(a),
                #[cfg(feature = "python")]
                Statement::Python(raw) => objects.python.push(raw),
                #[cfg(not(feature = "python"))]
                Statement::Python(raw) => not_available(raw, diags),
                Statement::Transformation(t) => objects.applications.transform(t),
            }
        }
        objects
    }

    fn of(&self, kind: ObjectKind) -> Vec<&'c str> {
        match kind {
            ObjectKind::Source => self.sources.keys().copied().collect(),
            ObjectKind::Destination => self.destinations.keys().copied().collect(),
            ObjectKind::Parser => self.parsers.keys().copied().collect(),
            ObjectKind::Rewrite => self.rewrites.keys().copied().collect(),
            ObjectKind::Filter => self.filters.keys().copied().collect(),
        }
    }

    /// Notes that something refers to an object; reports a reference that leads nowhere.
    pub fn refer(&self, kind: ObjectKind, name: &Name, diags: &mut Diagnostics) -> bool {
        let names = self.of(kind);
        if let Some(known) = names.iter().find(|n| **n == name.text) {
            self.used.borrow_mut().insert((kind, known));
            return true;
        }
        let word = kind.keyword();
        let mut finding =
            Diagnostic::error("E0102", format!("there is no {word} `{}`", name.text), name.span);
        let elsewhere =
            ObjectKind::ALL.into_iter().find(|k| *k != kind && self.of(*k).contains(&name.text.as_str()));
        if let Some(other) = elsewhere {
            finding = finding.note(format!("there is a {} of this name", other.keyword()));
        }
        let near = nearest(&name.text, names.iter().copied());
        let help = format!("define it: `{word} {} {{ ... }};`", name.text);
        diags.push(if near.is_some() { finding.suggest(near) } else { finding.help(help) });
        false
    }

    /// Notes the use of a filter from inside a filter.
    pub fn use_filter(&self, name: &str) {
        if let Some((known, _)) = self.filters.get_key_value(name) {
            self.used.borrow_mut().insert((ObjectKind::Filter, known));
        }
    }

    /// Whether anything refers to an object.
    pub fn is_used(&self, kind: ObjectKind, name: &str) -> bool {
        self.used.borrow().contains(&(kind, name))
    }

    /// Notes that a log path takes from all sources.
    pub fn use_all_sources(&self) {
        let all = self.sources.keys().map(|name| (ObjectKind::Source, *name));
        self.used.borrow_mut().extend(all);
    }

    /// Warns about objects that nothing refers to.
    pub fn report_unused(&self, texts: &SourceMap, diags: &mut Diagnostics) {
        let sets = [
            (ObjectKind::Source, &self.sources),
            (ObjectKind::Destination, &self.destinations),
            (ObjectKind::Parser, &self.parsers),
            (ObjectKind::Rewrite, &self.rewrites),
        ];
        let places = sets.into_iter().flat_map(|(kind, set)| set.values().map(move |o| (kind, &o.name)));
        let filters = self.filters.values().map(|f| (ObjectKind::Filter, &f.name));
        for (kind, name) in places.chain(filters) {
            if !self.is_used(kind, &name.text) {
                let text = format!("{} `{}` is not used by any log path", kind.keyword(), name.text);
                // Files that are included often offer more than one configuration needs.
                let opens = matches!(kind, ObjectKind::Source | ObjectKind::Destination);
                let finding = match opens || texts.chain(name.span).is_empty() {
                    true => Diagnostic::warning("E0103", text, name.span),
                    false => Diagnostic::remark("E0103", text, name.span),
                };
                diags.push(finding.help("remove it, or refer to it in a log path"));
            }
        }
    }
}

#[cfg(not(feature = "python"))]
fn not_available(raw: &RawBlock, diags: &mut Diagnostics) {
    let text = format!("`{}` blocks are not available in this version", raw.keyword.text);
    diags.push(Diagnostic::error("E0101", text, raw.span).help("remove the block and what refers to it"));
}
