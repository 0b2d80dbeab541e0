//! The registry: nothing is declared without being built, read and documented.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use conf_schema::{Component, Context, Measured, ReadContext, Settings, State};
use conf_syntax::{Call, LogItem, ParseOptions, Parsed, Statement};
use diag::Diagnostics;
use engine::driver::BuildContext;
use engine::{Need, Privilege};
use template::{Identity, Scope};

use super::*;

fn parse(text: &str) -> Parsed {
    conf_syntax::parse_text("example.conf", &format!("@version: 4.11\n{text}\n"), &ParseOptions::default())
}

/// The one call of a component's example.
fn example(component: &Component) -> (Parsed, Call) {
    let parsed = parse(&format!("{} example {{ {}; }};", component.context.as_str(), component.example));
    let call = parsed.config.items.iter().find_map(|item| match item {
        Statement::Source(o) | Statement::Destination(o) => match o.body.first() {
            Some(LogItem::Call(call)) => Some(call.clone()),
            _ => None,
        },
        _ => None,
    });
    let call = call.unwrap_or_else(|| panic!("{}: the example is no call", component.name));
    (parsed, call)
}

fn presets() -> Arc<Settings> {
    let read = ReadContext { sources: &parse("").sources, globals: None };
    Arc::new(conf_schema::read_options([], registry().options, &read, &mut Diagnostics::new()))
}

/// A configuration with the classes of the examples.
struct Classes;

impl Scope for Classes {
    #[cfg(feature = "python")]
    fn python(&self) -> Result<Arc<python::Pool>, String> {
        let text = "class MyDestination:\n    def send(self, msg): return True\nclass MySource:\n    def run(self): pass\n\
                    class MyFetcher:\n    def fetch(self): pass\n";
        let block = python::Block { file: "example.conf".to_owned(), line: 1, text: text.to_owned() };
        Ok(python::pool(python::Script {
            blocks: vec![block],
            processes: 1,
            bound: std::time::Duration::from_secs(60),
            paths: Vec::new(),
            environment: std::env::vars_os().collect(),
            memory_max: 0,
            debug_level: 0,
        }))
    }
}

/// Of every driver, when it is compiled into a plan.
const READ_BY_THE_ENGINE: &str = "hook-commands";

/// Builds a component's example; says what is wrong with how it reads its options.
fn faults(component: &'static Component, globals: &Arc<Settings>) -> Vec<String> {
    let (parsed, call) = example(component);
    let read = ReadContext { sources: &parsed.sources, globals: Some(Arc::clone(globals)) };
    let mut diags = Diagnostics::new();
    let settings = conf_schema::read(&call, component, &read, &mut diags);
    let identity = Identity::new("localhost");
    let cx = BuildContext {
        sources: &parsed.sources,
        scope: &Classes,
        version: (4, 11),
        globals,
        identity: &identity,
        group: "example",
        index: 0,
    };
    let built = match component.context {
        Context::Source => {
            let part = registry().source(component);
            part.map(|part| (part.build)(&settings, &cx, &mut diags).is_ok())
        }
        _ => {
            let part = registry().destination(component);
            part.map(|part| (part.build)(&settings, &cx, &mut diags).is_ok())
        }
    };
    let name = format!("{} {}()", component.context.as_str(), component.name);
    let mut faults = Vec::new();
    match built {
        None => return vec![format!("{name} has a table and nobody builds it")],
        Some(false) => faults.push(format!("{name}: its example cannot be built")),
        Some(true) => {}
    }
    if diags.has_errors() {
        faults.push(format!("{name}: {}", diag::render_all(&diags, &parsed.sources)));
    }
    for option in settings.unread().into_iter().filter(|option| !option.starts_with(READ_BY_THE_ENGINE)) {
        faults.push(format!("{name}: {option} is read and never obeyed"));
    }
    for option in settings.undeclared() {
        faults.push(format!("{name}: {option} is asked for and not declared"));
    }
    faults
}

#[test]
fn every_option_of_every_driver_is_read_by_its_builder() {
    let globals = presets();
    let drivers = registry().catalogue.components.iter().copied();
    let drivers = drivers.filter(|c| matches!(c.context, Context::Source | Context::Destination));
    let faults: Vec<String> = drivers.flat_map(|c| faults(c, &globals)).collect();
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn every_driver_that_is_built_has_a_table_in_the_catalogue() {
    let listed = |c: &Component| registry().catalogue.components.iter().any(|l| std::ptr::eq(*l, c));
    let sources = registry().sources().map(|part| part.table);
    for component in sources.chain(registry().destinations().map(|part| part.table)) {
        assert!(listed(component), "{} is not in the catalogue", component.name);
    }
}

/// Read by the program itself when a configuration takes effect.
const READ_BY_THE_PROGRAM: [&str; 14] = [
    "console",
    "dead-letters",
    "health",
    "keep-input",
    "keep-on-stop",
    "log-level",
    "sandbox",
    "sandbox-connect",
    "sandbox-read",
    "sandbox-write",
    "stats",
    "stats-freq",
    "stats-level",
    "stats-max-dynamics",
];

#[test]
fn every_global_option_is_read_by_somebody() {
    let example = parse(
        "source s { network(port(5514)); }; destination d { file(\"/x\"); }; log { source(s); destination(d); };",
    );
    let mut diags = Diagnostics::new();
    let plan = engine::compile::compile(
        &example.config,
        &example.sources,
        registry(),
        &Identity::new("localhost"),
        &engine::compile::Existing::new(),
        &mut diags,
    );
    let globals = plan.plan.expect("a plan").globals;
    for component in registry().catalogue.components {
        if matches!(component.context, Context::Source | Context::Destination) {
            faults(component, &globals);
        }
    }
    let unread: Vec<String> =
        globals.unread().into_iter().filter(|name| !READ_BY_THE_PROGRAM.contains(&name.as_str())).collect();
    assert!(unread.is_empty(), "read and never obeyed: {unread:?}");
}

/// A driver's settings when every option of its table is set.
fn all_set(component: &'static Component) -> Settings {
    let value = |option: &str| match option {
        "tls" => Some("key-file(\"/k\") ca-dir(\"/c\")".to_owned()),
        "spoof-source" => Some("yes".to_owned()),
        _ => None,
    };
    let call = conf_schema::sample::call(component, &value);
    let parsed = parse(&format!("{} example {{ {call}; }};", component.context.as_str()));
    let Some(Statement::Source(object) | Statement::Destination(object)) = parsed.config.items.first() else {
        panic!("{call}")
    };
    let Some(LogItem::Call(call)) = object.body.first() else { panic!("{call}") };
    let read = ReadContext { sources: &parsed.sources, globals: Some(presets()) };
    conf_schema::read(call, component, &read, &mut Diagnostics::new())
}

#[test]
fn every_driver_says_what_its_options_ask_for() {
    let sources = registry().sources().map(|part| (part.table, part.needs(&all_set(part.table))));
    let destinations = registry().destinations().map(|part| (part.table, part.needs(&all_set(part.table))));
    for (component, needs) in sources.chain(destinations) {
        let any = |is: fn(&Need<'_>) -> bool| needs.iter().any(is);
        let asked = [
            ("tls", any(|need| matches!(need, Need::Key(key) if key.option == "ca-dir"))),
            ("disk-buffer", any(|need| matches!(need, Need::Queue { .. }))),
            ("spoof-source", any(|need| matches!(need, Need::Spoof { .. }))),
            ("hook-commands", any(|need| matches!(need, Need::Privilege(Privilege::Commands)))),
            ("so-rcvbuf", any(|need| matches!(need, Need::Privilege(Privilege::LargeBuffers)))),
            ("interface", any(|need| matches!(need, Need::Privilege(Privilege::Interface)))),
            ("owner", any(|need| matches!(need, Need::Owners { .. }))),
            ("perm", any(|need| matches!(need, Need::Mode { .. }))),
            ("base-dir", any(|need| matches!(need, Need::Folder { .. }))),
        ];
        for (option, is_said) in asked {
            let has = component.table().option(option).is_some_and(|o| o.state == State::Supported);
            let name = format!("{} {}()", component.context.as_str(), component.name);
            assert!(is_said || !has, "{name} does not say what its {option}() needs");
        }
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn no_code_stands_twice() {
    assert_eq!(diag::find_duplicate(&code_lists()), None);
}

/// Codes in the texts of all crates, tests and comments left out as far as possible.
fn used() -> BTreeSet<String> {
    let mut codes = BTreeSet::new();
    let mut folders = vec![root().join("crates")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap().flatten() {
            let path = entry.path();
            let name = entry.file_name().to_string_lossy().into_owned();
            if path.is_dir() && name != "tests" {
                folders.push(path);
            } else if name.ends_with(".rs") && name != "tests.rs" {
                let text = std::fs::read_to_string(&path).unwrap_or_default();
                let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
                codes.extend(text.split('"').filter(|word| is_code(word)).map(str::to_owned));
            }
        }
    }
    codes
}

/// A capital letter and four digits.
fn is_code(word: &str) -> bool {
    let mut chars = word.chars();
    word.len() == 5
        && chars.next().is_some_and(|c| c.is_ascii_uppercase())
        && chars.all(|c| c.is_ascii_digit())
}

#[test]
fn every_code_that_is_used_is_explained() {
    let lists = code_lists();
    let missing: Vec<String> =
        used().into_iter().filter(|code| diag::explain(&lists, code).is_none()).collect();
    assert!(missing.is_empty(), "not in any list of codes: {missing:?}");
}

/// The page of all codes.
fn page() -> String {
    let mut page = String::from(
        "# Findings\n\n<!-- Made from the lists of codes; UPDATE_DOCS=1 cargo test -p penstock writes it anew. -->\n\n\
         Everything `penstock check` can say, by its code. `penstock check --explain` prints these texts for what it found.\n",
    );
    for (layer, codes) in CODES {
        page.push_str(&format!("\n## {layer}\n"));
        for (code, title, text) in *codes {
            page.push_str(&format!("\n### {code}: {title}\n\n{text}\n"));
        }
    }
    page
}

#[test]
fn the_page_of_findings_is_up_to_date() {
    let path = root().join("docs/errors.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, page()).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == page(), "docs/errors.md is out of date: UPDATE_DOCS=1 cargo test -p penstock");
}

#[test]
fn what_a_manual_page_says_of_cost_is_measured() {
    let example = root().join("crates/parsers/examples/parser_cost/cases.rs");
    let example = std::fs::read_to_string(example).expect("the inputs of parser_cost");
    for component in registry().catalogue.components {
        let measured = match component.cost.as_ref().map(|cost| &cost.measured) {
            Some(Measured::Bench(cases)) => {
                cases.split(',').all(|case| bench::cases::CASES.iter().any(|known| known.name == case))
            }
            Some(Measured::Example) => example.contains(&format!("case(\"{}\", ", component.name)),
            Some(Measured::Elsewhere) | None => true,
        };
        assert!(measured, "{}: what its note names does not exist", component.name);
    }
    let pages = drivers::options::elements::pages();
    for element in pages.iter().flat_map(|page| &page.parts).flat_map(|part| &part.elements) {
        let Some(name) = element.case else { continue };
        assert!(bench::cases::CASES.iter().any(|case| case.name == name), "{}: no case {name}", element.name);
    }
}

#[test]
fn everything_on_the_message_path_says_what_it_costs() {
    let components = registry().catalogue.components.iter().filter(|c| c.context != Context::Options);
    let silent: Vec<&str> =
        components.filter(|component| component.cost.is_none()).map(|component| component.name).collect();
    assert!(silent.is_empty(), "without a word of their cost: {silent:?}");
}
