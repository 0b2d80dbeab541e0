//! Parsers from configuration text, messages, and the one `check`.

use crate::{ALL, Build, Parse};
use conf_schema::ReadContext;
use conf_syntax::{Call, FilterExpr, LogItem, ParseOptions, Parsed, Statement, same_keyword};
use diag::{Diagnostics, Severity};
use filter::{FilterContext, FilterEnv, NamedFilters, Wanted};
use record::{Batch, Context, Demand, Record, Span, Stamp, ValueType};
use std::sync::Arc;
use template::{Identity, Scope, TemplateOptions};

#[derive(Default)]
pub struct World {
    options: TemplateOptions,
    named: NamedFilters,
}

impl FilterEnv for World {
    fn scope(&self) -> &dyn Scope {
        &TestScope
    }
    fn template_options(&self) -> &TemplateOptions {
        &self.options
    }
    fn filter(&self, _: &str) -> Option<&FilterExpr> {
        None
    }
    fn named_filters(&self) -> &NamedFilters {
        &self.named
    }
    fn read_file(&self, path: &str) -> std::io::Result<Vec<u8>> {
        if path.ends_with(".mmdb") {
            return Ok(crate::geoip2::tests::database());
        }
        let file = FILES
            .iter()
            .chain(crate::db::FILES)
            .find(|(name, _)| *name == path)
            .map(|(_, text)| text.as_bytes().to_vec());
        file.ok_or_else(|| std::io::ErrorKind::NotFound.into())
    }
}

/// A configuration with a `python` block.
struct TestScope;

impl Scope for TestScope {
    #[cfg(feature = "python")]
    fn python(&self) -> Result<Arc<python::Pool>, String> {
        let text = "class MyParser:\n\x20   def init(self, options):\n\x20       self.prefix = options.get('prefix')\n\
                    \x20       return True\n\x20   def parse(self, msg):\n\x20       text = msg.get_as_str('MESSAGE', '', errors='replace')\n\
                    \x20       msg[(self.prefix or '') + 'text'] = text.upper()\n\
                    \x20       msg[(self.prefix or '') + 'len'] = len(text)\n\x20       return True\n";
        let block = python::Block { file: "test.conf".to_owned(), line: 1, text: text.to_owned() };
        Ok(python::pool(python::Script {
            blocks: vec![block],
            processes: 2,
            bound: std::time::Duration::from_secs(60),
            paths: Vec::new(),
            environment: std::env::vars_os().collect(),
            memory_max: 0,
            debug_level: 0,
        }))
    }
}

/// The files there are.
const FILES: &[(&str, &str)] = crate::contextual_data::FILES;

pub fn parsed(text: &str) -> Parsed {
    conf_syntax::parse_text("t", &format!("parser p {{ {text}; }};"), &ParseOptions::default())
}

pub fn calls(parsed: &Parsed) -> Vec<Call> {
    let errors: Vec<_> = parsed.diagnostics.iter().filter(|d| d.severity == Severity::Error).collect();
    assert!(errors.is_empty(), "{errors:?}");
    let items = parsed.config.items.iter().flat_map(|item| match item {
        Statement::Parser(object) => object.body.as_slice(),
        _ => &[],
    });
    items.filter_map(|item| if let LogItem::Call(call) = item { Some(call.clone()) } else { None }).collect()
}

/// The parser, the codes of all findings, and the options nobody asked for.
pub fn build(text: &str) -> (Option<Arc<dyn Parse>>, Vec<&'static str>, Vec<String>) {
    let parsed = parsed(text);
    let call = calls(&parsed).remove(0);
    let (component, build) = ALL
        .iter()
        .find(|(c, _)| c.names().any(|n| same_keyword(n, &call.name.text)))
        .unwrap_or_else(|| panic!("no parser {text}"));
    let mut diags = Diagnostics::new();
    let read = ReadContext { sources: &parsed.sources, globals: None };
    let settings = conf_schema::read(&call, component, &read, &mut diags);
    let world = World::default();
    let mut b = Build { env: &world, diags: &mut diags, span: call.span };
    let made = build(&settings, &mut b);
    let codes = diags.iter().map(|d| d.code).collect();
    (made, codes, settings.unread())
}

pub fn parser(text: &str) -> Arc<dyn Parse> {
    let (made, codes, _) = build(text);
    made.unwrap_or_else(|| panic!("{text}: {codes:?}"))
}

pub fn context() -> FilterContext {
    FilterContext::new(Identity::new("loghost"))
}

pub fn batch(messages: &[&[u8]]) -> Batch {
    let context = Arc::new(Context::local("s_test", "fromhost", "local+file"));
    let mut batch = Batch::new(b"text before ".to_vec(), context, Stamp::default());
    for message in messages {
        let mut record = Record::new(Span::EMPTY);
        record.message = batch.append(message);
        record.origin = batch.records.len() as u32;
        batch.records.push(record);
    }
    batch
}

/// All values of a record, sorted: `a=1|b=int:2`.
pub fn values(batch: &Batch, index: usize) -> String {
    let mut all: Vec<String> = batch
        .pairs(&batch.records[index])
        .map(|(name, value)| {
            let kind = match value.kind {
                ValueType::String => String::new(),
                kind => format!("{}:", format!("{kind:?}").to_ascii_lowercase()),
            };
            format!(
                "{}={kind}{}",
                batch.name_of(name),
                String::from_utf8_lossy(value.bytes).replace('|', "¦")
            )
        })
        .collect();
    all.sort_unstable();
    all.join("|")
}

fn run(parser: &dyn Parse, input: &[u8], cx: &mut FilterContext) -> String {
    let mut batch = batch(&[b"neighbour", input, b"other"]);
    let mut selection = vec![1];
    parser.parse(&mut batch, &mut selection, cx);
    assert_eq!(values(&batch, 0), "", "a neighbour was changed");
    match selection.as_slice() {
        [1] => values(&batch, 1),
        [] => {
            assert_eq!(values(&batch, 1), "", "a record that failed was changed");
            "no match".to_owned()
        }
        // Contexts may have made messages, of this one and earlier ones.
        _ if parser.state().is_some() => "no match".to_owned(),
        other => panic!("{other:?}"),
    }
}

/// The values a parser makes of a text, twice by one worker, and narrowed to each of them alone.
#[track_caller]
pub fn check(text: &str, input: &str, expected: &str) {
    check_bytes(text, input.as_bytes(), expected);
}

#[track_caller]
pub fn check_bytes(text: &str, input: &[u8], expected: &str) {
    let made = parser(text);
    let mut cx = context();
    let shown = String::from_utf8_lossy(input).into_owned();
    assert_eq!(run(&*made, input, &mut cx), expected, "{text} on {shown}");
    assert_eq!(run(&*made, input, &mut cx), expected, "again: {text} on {shown}");
    let nothing = made.narrowed(&Demand::default());
    if expected == "no match" {
        let again = nothing.map_or_else(String::new, |n| run(&*n, input, &mut cx));
        assert!(again == expected || again.is_empty(), "narrowed to nothing: {text} on {shown}: {again}");
        return;
    }
    for pair in expected.split('|').filter(|p| !p.is_empty()) {
        let Some((name, _)) = pair.split_once('=') else { continue };
        let Some(id) = record::lookup(name) else { continue };
        let mut demand = Demand::default();
        demand.name(id);
        cx.work.wanted = Wanted::of(&demand);
        if let Some(narrow) = made.narrowed(&demand) {
            assert_eq!(run(&*narrow, input, &mut cx), pair, "narrowed: {text} on {shown}");
        }
    }
}

#[track_caller]
pub fn check_codes(text: &str, expected: &[&str]) {
    let (made, codes, _) = build(text);
    assert_eq!(codes, expected, "{text}");
    assert!(made.is_none(), "{text}");
}

mod every {
    use super::*;
    use proptest::prelude::*;

    /// A call with every option, for each parser.
    fn full(component: &'static conf_schema::Component) -> String {
        conf_schema::sample::call(component, &|name| crate::testing::sample(component.name, name))
    }

    #[test]
    fn every_option_is_read() {
        for (component, _) in ALL {
            let text = full(component);
            let (made, codes, unread) = build(&text);
            assert!(made.is_some(), "{text}: {codes:?}");
            assert_eq!(unread, Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn examples_build() {
        for (component, _) in ALL {
            let (made, codes, _) = build(component.example);
            assert!(made.is_some() && codes.is_empty(), "{}: {codes:?}", component.example);
        }
    }

    #[test]
    fn codes_are_unique() {
        assert_eq!(diag::find_duplicate(&[crate::CODES]), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]
        #[test]
        fn no_input_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200), text in "[ =,:;\"'\\\\{}\\[\\]<>/a-c0-9.@_-]{0,80}") {
            let mut cx = context();
            // A class of Python sees the bytes as they are; what it answers has its own test and fuzz target.
            for (component, _) in ALL.iter().filter(|(component, _)| component.name != "python") {
                let made = parser(component.example);
                let narrow = made.narrowed(&Demand::default());
                for input in [&bytes, text.as_bytes()] {
                    run(&*made, input, &mut cx);
                    if let Some(narrow) = &narrow {
                        run(&**narrow, input, &mut cx);
                    }
                }
            }
        }
    }
}

/// Values of options that a sample made from their type would not be.
fn sample(component: &str, option: &str) -> Option<String> {
    Some(match option {
        "labels" => "\"a\" => \"$HOST\" key(\"b*\")".to_owned(),
        "columns" => "\"a\", int(\"b\")".to_owned(),
        "class" => "\"MyParser\"".to_owned(),
        "delimiters" => "\",\"".to_owned(),
        "value-separator" => "\":\"".to_owned(),
        "key" if component == "map-value-pairs" => "\".a.*\" rekey(shift(1))".to_owned(),
        "rekey" => "\"b*\" upper()".to_owned(),
        "scope" if component == "map-value-pairs" => "\"rfc3164\"".to_owned(),
        "key-delimiter" => "\".\"".to_owned(),
        "format" => "\"%s\"".to_owned(),
        "flags" if component == "regexp-parser" => "\"ignore-case\"".to_owned(),
        "type" => "pcre".to_owned(),
        "multi-line-mode" => "regexp".to_owned(),
        "aggregate" => "value(\"a\" \"b\") tags(\"t\") inherit-mode(none)".to_owned(),
        "database" if component == "geoip2" => "\"t.mmdb\"".to_owned(),
        "address" | "increment" => "\"$MESSAGE\"".to_owned(),
        "database" => "\"hosts.csv\"".to_owned(),
        "quote-pairs" => "\"[]\"".to_owned(),
        _ => return None,
    })
}
