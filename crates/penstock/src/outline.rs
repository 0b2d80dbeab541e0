//! A configuration as a tree of what it does: names are followed to what they mean, options have the values
//! that are in effect. Two configurations that mean the same have the same tree, but for places and names.

mod items;
mod options;

pub use items::in_any_order;

use crate::components::registry;
use crate::configuration::Configuration;
use conf_schema::{Component, Context, ReadContext, Settings};
use conf_syntax::{
    Application, Config, FilterExpr, LogPath, Name, Object, ObjectKind, Statement, TemplateBody, TemplateDef,
};
use diag::{Diagnostics, SourceMap, Span};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// One thing that a configuration does, with what stands in it.
#[derive(Clone, Debug, Default)]
pub struct Node {
    /// `source`, `destination`, `driver`, `filter`, `parser`, `rewrite`, `filterx`, `if`, `case`, `junction`,
    /// `channel`, `log`, `flags`, `options`, `application`
    pub kind: &'static str,
    /// Its name in the configuration, where it has one.
    pub name: String,
    /// What it does, in one spelling.
    pub text: String,
    /// Of a filter, the conditions that all have to hold; of the sources of a path, their names.
    pub terms: Vec<String>,
    pub facts: Vec<Fact>,
    pub children: Vec<Node>,
    /// `relay.conf:12`
    pub at: String,
    /// Of a filter that is used by its name: where it is written.
    pub stated: Option<String>,
    /// Of a path, a filter or a branch: where it stands, with the conditions that all have to hold.
    pub spans: Vec<Span>,
}

/// An option and its value in effect.
#[derive(Clone, Debug)]
pub struct Fact {
    pub name: String,
    pub value: String,
    /// The global option that it is inherited from.
    pub global: Option<&'static str>,
    pub at: Option<String>,
}

impl Node {
    /// All that it means; equal where two nodes mean the same.
    pub fn meaning(&self) -> String {
        let mut out = format!("{} {}", self.kind, self.text);
        for fact in &self.facts {
            out.push_str(&format!("\n{}={}", fact.name, fact.value));
        }
        for child in &self.children {
            out.push_str("\n{");
            out.push_str(&child.meaning());
            out.push('}');
        }
        out
    }

    /// In one line for people.
    pub fn label(&self) -> String {
        match (self.kind, self.name.is_empty(), self.text.is_empty()) {
            ("driver", _, _) => self.text.clone(),
            (_, true, true) => self.kind.to_owned(),
            ("source" | "destination" | "application", false, _) => format!("{} {}", self.kind, self.name),
            (_, _, true) => format!("{} {}", self.kind, self.name),
            _ => format!("{} {}", self.kind, self.text),
        }
    }

    /// The same stands in both, whatever they are called.
    pub fn children_mean(&self, other: &Node) -> bool {
        self.kind == other.kind
            && self.children.iter().map(Node::meaning).eq(other.children.iter().map(Node::meaning))
    }

    fn is_a(&self, kind: &str) -> bool {
        self.kind == kind
    }

    /// The node itself and all in it.
    pub fn each<'n>(&'n self, see: &mut impl FnMut(&'n Node)) {
        see(self);
        self.children.iter().for_each(|child| child.each(see));
    }

    pub fn change_each(&mut self, change: &mut impl FnMut(&mut Node)) {
        change(self);
        self.children.iter_mut().for_each(|child| child.change_each(change));
    }
}

/// The tree of a configuration.
pub struct Outline {
    pub options: Node,
    /// Those that log paths use, by name.
    pub sources: BTreeMap<String, Node>,
    pub destinations: BTreeMap<String, Node>,
    /// By `name[topic]`, where a log path tries applications.
    pub applications: BTreeMap<String, Node>,
    pub paths: Vec<Path>,
}

/// A log path.
#[derive(Clone, Debug)]
pub struct Path {
    /// Names of its sources.
    pub sources: BTreeSet<String>,
    pub node: Node,
    /// A message may end in it, or depend on where others have ended.
    pub depends_on_order: bool,
}

impl Outline {
    pub fn of(configuration: &Configuration) -> Outline {
        let config = configuration.config();
        let sources = &configuration.parsed.sources;
        let maker = Maker::new(config, sources);
        let paths: Vec<Path> = maker.logs.iter().map(|log| maker.path(log)).collect();
        let catches_all = paths.iter().any(|path| flags_of(&path.node).contains("catchall"));
        let used = maker.used.borrow().clone();
        let is_used = |kind, name: &str| used.contains(&(kind, name.to_owned()));
        let objects = |kind: ObjectKind, all: bool| -> BTreeMap<String, Node> {
            let known =
                maker.objects.iter().filter(|((its, name), _)| *its == kind && (all || is_used(kind, name)));
            known.map(|((_, name), object)| (name.clone(), maker.object(kind, object))).collect()
        };
        let mut outline = Outline {
            options: maker.options(),
            sources: objects(ObjectKind::Source, catches_all),
            destinations: objects(ObjectKind::Destination, false),
            applications: BTreeMap::new(),
            paths,
        };
        if maker.tries_applications.get() {
            let named = maker.applications.iter();
            outline.applications = named
                .map(|app| (format!("{}[{}]", app.name.text, app.topic.text), maker.application(app)))
                .collect();
        }
        outline
    }
}

/// The flags of a log path.
fn flags_of(node: &Node) -> &str {
    node.children.iter().find(|child| child.is_a("flags")).map_or("", |flags| &flags.text)
}

/// Makes nodes of statements.
struct Maker<'c> {
    sources: &'c SourceMap,
    version: Option<conf_syntax::Version>,
    globals: Arc<Settings>,
    objects: BTreeMap<(ObjectKind, String), &'c Object>,
    filters: BTreeMap<&'c str, &'c Option<FilterExpr>>,
    templates: BTreeMap<&'c str, &'c TemplateDef>,
    applications: Vec<&'c Application>,
    logs: Vec<&'c LogPath>,
    /// Statements that log paths use.
    used: RefCell<BTreeSet<(ObjectKind, String)>>,
    /// Statements that are being followed: a circle ends there.
    under_way: RefCell<Vec<(ObjectKind, String)>>,
    tries_applications: std::cell::Cell<bool>,
}

impl<'c> Maker<'c> {
    fn new(config: &'c Config, sources: &'c SourceMap) -> Maker<'c> {
        let calls = config.items.iter().filter_map(|statement| match statement {
            Statement::Options(options) => Some(&options.options),
            _ => None,
        });
        let read = ReadContext { sources, globals: None };
        let globals =
            conf_schema::read_options(calls.flatten(), registry().options, &read, &mut Diagnostics::new());
        let mut maker = Maker {
            sources,
            version: config.version,
            globals: Arc::new(globals),
            objects: BTreeMap::new(),
            filters: BTreeMap::new(),
            templates: BTreeMap::new(),
            applications: Vec::new(),
            logs: Vec::new(),
            used: RefCell::default(),
            under_way: RefCell::default(),
            tries_applications: std::cell::Cell::new(false),
        };
        for statement in &config.items {
            maker.collect(statement);
        }
        maker
    }

    fn collect(&mut self, statement: &'c Statement) {
        let mut add = |kind, object: &'c Object| {
            self.objects.insert((kind, object.name.text.clone()), object);
        };
        match statement {
            Statement::Source(object) => add(ObjectKind::Source, object),
            Statement::Destination(object) => add(ObjectKind::Destination, object),
            Statement::Parser(object) => add(ObjectKind::Parser, object),
            Statement::Rewrite(object) => add(ObjectKind::Rewrite, object),
            Statement::Filter(filter) => {
                self.filters.insert(&filter.name.text, &filter.expr);
            }
            Statement::Template(template) => {
                self.templates.insert(&template.name.text, template);
            }
            Statement::Log(path) => self.logs.push(path),
            Statement::Application(app) => self.applications.push(app),
            Statement::TemplateFunction(_)
            | Statement::Options(_)
            | Statement::Python(_)
            | Statement::Transformation(_) => {}
        }
    }

    /// `relay.conf:12`
    fn at(&self, span: Span) -> String {
        let place = self.sources.locate(span);
        format!("{}:{}", place.file, place.line)
    }

    fn path(&self, log: &LogPath) -> Path {
        let mut sources = BTreeSet::new();
        for item in &log.items {
            if let conf_syntax::LogItem::Reference(reference) = item
                && reference.kind == ObjectKind::Source
            {
                sources.insert(reference.name.text.clone());
            }
        }
        let mut node = self.log_path("log", log);
        node.name = log.name.as_ref().map(|name| name.text.clone()).unwrap_or_default();
        let mut depends_on_order = false;
        node.each(&mut |node| {
            let flags = if node.is_a("flags") { node.text.as_str() } else { "" };
            depends_on_order |= ["final", "fallback", "catchall"].iter().any(|flag| flags.contains(flag));
        });
        Path { sources, node, depends_on_order }
    }

    fn object(&self, kind: ObjectKind, object: &Object) -> Node {
        Node {
            kind: kind.keyword(),
            name: object.name.text.clone(),
            children: self.items(&object.body, context(kind)),
            at: self.at(object.span),
            ..Node::default()
        }
    }

    fn application(&self, app: &Application) -> Node {
        let mut children = Vec::new();
        let filter = app.filter.as_ref();
        children.extend(filter.map(|expr| self.filter_node(expr, String::new(), expr.span())));
        children.extend(self.items(app.parser.as_deref().unwrap_or_default(), Some(Context::Parser)));
        children.extend(app.filterx.as_ref().map(|raw| self.filterx(raw)));
        let name = format!("{}[{}]", app.name.text, app.topic.text);
        Node { kind: "application", name, children, at: self.at(app.span), ..Node::default() }
    }

    /// The text of a template statement.
    fn template(&self, name: &str) -> Option<String> {
        match &self.templates.get(name)?.body {
            TemplateBody::Text(text) => Some(text.text.clone()),
            TemplateBody::Options(options) => {
                let call = options.iter().find(|option| option.is("template"))?;
                let arg = call.args.first()?;
                arg.text().map(str::to_owned).or_else(|| Some(arg.canonical()))
            }
        }
    }

    /// Notes that a log path uses a statement, and follows it unless it is being followed already.
    fn follow<T: Default>(&self, kind: ObjectKind, name: &Name, make: impl FnOnce() -> T) -> T {
        let key = (kind, name.text.clone());
        self.used.borrow_mut().insert(key.clone());
        if self.under_way.borrow().contains(&key) {
            return T::default();
        }
        self.under_way.borrow_mut().push(key);
        let made = make();
        self.under_way.borrow_mut().pop();
        made
    }

    fn component(&self, context: Context, name: &str) -> Option<&'static Component> {
        registry().catalogue.find(context, name)
    }
}

/// What a bare call in a statement of this kind is.
fn context(kind: ObjectKind) -> Option<Context> {
    match kind {
        ObjectKind::Source => Some(Context::Source),
        ObjectKind::Destination => Some(Context::Destination),
        ObjectKind::Parser => Some(Context::Parser),
        ObjectKind::Rewrite => Some(Context::Rewrite),
        ObjectKind::Filter => None,
    }
}
