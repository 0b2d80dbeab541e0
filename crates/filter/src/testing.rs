//! A small world for tests: filters from configuration text, messages from a few words, and the one `check`.

use crate::{Filter, FilterContext, FilterEnv, NamedFilters};
use conf_syntax::{FilterExpr, ParseOptions, Statement};
use diag::{Diagnostics, Severity};
use record::{Batch, Context, NameId, Peer, Record, Span, Stamp, ValueType, intern, pri, tag_id};
use std::collections::HashMap;
use std::sync::Arc;
use template::{Condition, Identity, Scope, TemplateOptions};

/// The configuration: `filter NAME { ... };` statements.
pub struct World {
    filters: HashMap<String, FilterExpr>,
    named: NamedFilters,
    options: TemplateOptions,
    pub files: HashMap<String, Vec<u8>>,
}

impl World {
    pub fn new(config: &str, version: (u16, u16)) -> World {
        let parsed = conf_syntax::parse_text("test.conf", config, &ParseOptions::default());
        let errors: Vec<_> = parsed.diagnostics.iter().filter(|d| d.severity == Severity::Error).collect();
        assert!(errors.is_empty(), "{config}: {errors:?}");
        let filters = parsed.config.items.into_iter().filter_map(|item| match item {
            Statement::Filter(f) => Some((f.name.text, f.expr?)),
            _ => None,
        });
        let options = TemplateOptions { version, ..TemplateOptions::default() };
        World { filters: filters.collect(), named: NamedFilters::default(), options, files: HashMap::new() }
    }

    pub fn filter_statement(&self, name: &str) -> Option<&FilterExpr> {
        self.filters.get(name)
    }

    /// Compiles the filter `f`; the codes of all findings.
    pub fn compile(&self, name: &str) -> (Option<Filter>, Vec<&'static str>) {
        let mut diags = Diagnostics::new();
        let expr = self.filters.get(name).unwrap_or_else(|| panic!("no filter {name}"));
        let filter = Filter::compile(expr, self, &mut diags);
        (filter, diags.iter().map(|d| d.code).collect())
    }

    pub fn filter(&self, name: &str) -> Filter {
        let (filter, codes) = self.compile(name);
        filter.unwrap_or_else(|| panic!("{name}: {codes:?}"))
    }
}

impl Scope for World {
    fn condition(&self, text: &str) -> Result<Arc<dyn Condition>, String> {
        crate::compile_condition(text, self)
    }
}

impl FilterEnv for World {
    fn scope(&self) -> &dyn Scope {
        self
    }
    fn template_options(&self) -> &TemplateOptions {
        &self.options
    }
    fn filter(&self, name: &str) -> Option<&FilterExpr> {
        self.filters.get(name)
    }
    fn filter_names(&self) -> Vec<&str> {
        self.filters.keys().map(String::as_str).collect()
    }
    fn named_filters(&self) -> &NamedFilters {
        &self.named
    }
    fn read_file(&self, path: &str) -> std::io::Result<Vec<u8>> {
        self.files.get(path).cloned().ok_or_else(|| std::io::ErrorKind::NotFound.into())
    }
}

/// The filter of an expression, at the newest version.
pub fn filter(text: &str) -> Filter {
    filter_at(text, (4, 11))
}

pub fn filter_at(text: &str, version: (u16, u16)) -> Filter {
    World::new(&format!("filter f {{ {text}; }};"), version).filter("f")
}

/// The codes of what is found wrong with an expression; without an error there must be a filter, with one
/// there must be none.
pub fn findings(text: &str) -> Vec<&'static str> {
    let world = World::new(&format!("filter f {{ {text}; }};"), (4, 11));
    let (filter, codes) = world.compile("f");
    let warnings = ["F0107", "F0112", "F0113", "F0114", "F0117"];
    assert_eq!(filter.is_some(), codes.iter().all(|c| warnings.contains(c)), "{text}: {codes:?}");
    codes
}

pub fn context() -> FilterContext {
    FilterContext::new(Identity::new("loghost"))
}

/// An empty batch of a local source `s_test`.
pub fn batch() -> Batch {
    Batch::new(Vec::new(), Arc::new(Context::local("s_test", "fromhost", "local+file")), Stamp::default())
}

/// Adds a message: `key=value` words; `msg=` takes the rest. Keys: fac sev host prog pid peer tag, and any
/// value's name; a value may have a type: `int:x=5`.
pub fn add(batch: &mut Batch, words: &str) -> usize {
    let index = batch.records.len();
    batch.records.push(Record::new(Span::EMPTY));
    let (words, message) = words.split_once("msg=").unwrap_or((words, ""));
    batch.set(index, NameId::MESSAGE, message.as_bytes(), ValueType::String);
    for word in words.split_whitespace() {
        let (key, value) = word.split_once('=').unwrap_or((word, ""));
        let old = batch.records[index].pri;
        match key {
            "fac" => {
                batch.records[index].pri =
                    (u16::from(pri::facility(value).expect("facility")) << 3) | (old & 7)
            }
            "sev" => {
                batch.records[index].pri = (old & !7) | u16::from(pri::severity(value).expect("severity"))
            }
            "tag" => batch.set_tag(index, tag_id(value).expect("room")),
            "peer" => {
                let remote = format!("{value}:514").parse().expect("an address");
                let peer =
                    Peer::Inet { remote, local: "127.0.0.1:514".parse().expect("an address"), proxy: None };
                let context = Context { peer, ..Context::local("s_net", "peerhost", "rfc3164+tcp") };
                batch.contexts.push(Arc::new(context));
                batch.records[index].context = (batch.contexts.len() - 1) as u16;
            }
            _ => {
                let (kind, name) = key.split_once(':').unwrap_or(("string", key));
                let kind = template::TypeHint::named(kind).and_then(|h| h.value_type()).expect("a type");
                let name = match name {
                    "host" => NameId::HOST,
                    "prog" => NameId::PROGRAM,
                    "pid" => NameId::PID,
                    name => intern(name).expect("room"),
                };
                batch.set(index, name, value.as_bytes(), kind);
            }
        }
    }
    index
}

/// Every way to ask gives the expected answer.
pub fn check(text: &str, message: &str, expected: bool) {
    check_at(text, (4, 11), message, expected);
}

pub fn check_at(text: &str, version: (u16, u16), message: &str, expected: bool) {
    check_filter(filter_at(text, version), text, message, expected);
}

pub fn check_filter(filter: Filter, text: &str, message: &str, expected: bool) {
    let mut cx = context();
    let mut batch = batch();
    // Neighbours must not disturb.
    add(&mut batch, "host=other msg=something else");
    let index = add(&mut batch, message);
    add(&mut batch, "fac=local7 sev=debug prog=x");
    let record = batch.records[index];
    assert_eq!(filter.holds_for(&batch, &record, &mut cx), expected, "holds: {text} on {message}");
    let msg = template::Msg { batch: &batch, record: &record };
    assert_eq!(Condition::holds(&filter, msg, &mut cx.render), expected, "condition: {text} on {message}");
    let mut selection = vec![0, 1, 2];
    filter.select(&mut batch, &mut selection, &mut cx);
    assert_eq!(selection.contains(&(index as u32)), expected, "select: {text} on {message}");
    assert!(selection.is_sorted());
    assert_eq!(filter.matches(&mut batch, index, &mut cx), expected, "matches: {text} on {message}");
    let judged = filter.judge(&mut batch, index, &mut cx, &mut |_| {});
    assert_eq!(judged, expected, "judge: {text} on {message}");
}

/// The value of a name for a message, empty when it is not set.
pub fn value(batch: &Batch, index: usize, name: &str) -> String {
    let name = template::value_name(name).expect("a value");
    let value = batch.value(&batch.records[index], name).map(|v| v.bytes).unwrap_or_default();
    String::from_utf8_lossy(value).into_owned()
}
