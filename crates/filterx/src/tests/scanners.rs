//! What functions make of texts, against what the parsers of the same formats make of them.

use super::{Env, compiled};
use conf_schema::ReadContext;
use conf_syntax::{LogItem, ParseOptions, Statement};
use diag::Diagnostics;
use filter::FilterContext;
use parsers::{ALL, Build};
use proptest::prelude::*;
use record::{Batch, Context, NameId, Record, Span, Stamp};
use std::collections::BTreeMap;
use std::sync::Arc;
use template::Identity;

type Pairs = BTreeMap<String, String>;

fn message(text: &str) -> (Batch, FilterContext) {
    let context = Arc::new(Context::local("s_test", "here", "local+file"));
    let mut batch = Batch::new(b"before ".to_vec(), context, Stamp::default());
    let mut record = Record::new(Span::EMPTY);
    record.message = batch.append(text.as_bytes());
    batch.records.push(record);
    let mut cx = FilterContext::new(Identity::new("here"));
    cx.begin_batch(Stamp::default());
    (batch, cx)
}

/// The values below a prefix of the message.
fn values(batch: &Batch, prefix: &str) -> Pairs {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let pairs = batch.pairs(&batch.records[0]);
    let named = pairs.filter_map(|(name, value)| {
        Some((batch.name_of(name).strip_prefix(prefix)?.to_owned(), text(value.bytes)))
    });
    named.collect()
}

/// What a parser with the prefix `k.` makes of a text; `None` where it does not match.
fn flat(parser: &str, text: &str) -> Option<Pairs> {
    parsed(parser, text).map(|batch| values(&batch, "k."))
}

/// A message after a parser.
fn parsed(parser: &str, text: &str) -> Option<Batch> {
    let parsed =
        conf_syntax::parse_text("test", &format!("parser p {{ {parser}; }};"), &ParseOptions::default());
    let Some(Statement::Parser(object)) = parsed.config.items.first() else { panic!("{parser}") };
    let Some(LogItem::Call(call)) = object.body.first() else { panic!("{parser}") };
    let (component, build) = ALL.iter().find(|(c, _)| call.is(c.name)).expect("a parser");
    let mut diags = Diagnostics::new();
    let read = ReadContext { sources: &parsed.sources, globals: None };
    let settings = conf_schema::read(call, component, &read, &mut diags);
    let env = Env::default();
    let made = build(&settings, &mut Build { env: &env, diags: &mut diags, span: call.span }).expect(parser);
    let (mut batch, mut cx) = message(text);
    let mut selection = vec![0];
    made.parse(&mut batch, &mut selection, &mut cx);
    (!selection.is_empty()).then_some(batch)
}

/// What is in the variable `d` behind a block, its leaves joined by dots; `None` where the block fails.
fn tree(block: &str, text: &str) -> Option<Pairs> {
    let flattened = format!("{block} flatten(d); $D = format_json(d);");
    let block = compiled(&flattened).unwrap_or_else(|errors| panic!("{flattened}: {errors:?}"));
    let (mut batch, mut cx) = message(text);
    let (mut selection, mut dropped) = (vec![0], Vec::new());
    block.run(&mut batch, &mut selection, &mut cx, &mut dropped);
    if selection.is_empty() {
        return None;
    }
    let json = values(&batch, "D").remove("").expect("a dict");
    let made: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&json).expect("JSON");
    let text = |value: serde_json::Value| match value {
        serde_json::Value::String(text) => text,
        serde_json::Value::Null => String::new(),
        other => other.to_string(),
    };
    Some(made.into_iter().map(|(key, value)| (key, text(value))).collect())
}

fn check(parser: &str, block: &str, text: &str) {
    assert_eq!(tree(block, text), flat(parser, text), "{text:?}");
}

/// Objects whose members have no dots in their names and that no array is in.
fn object() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        any::<i64>().prop_map(serde_json::Value::from),
        any::<bool>().prop_map(serde_json::Value::from),
        Just(serde_json::Value::Null),
        "[ -~é\n\t\"\\\\]{0,12}".prop_map(serde_json::Value::from),
    ];
    let inner = leaf.prop_recursive(3, 24, 5, |inner| {
        proptest::collection::hash_map("[a-e\"\\\\é]{1,3}", inner, 1..5)
            .prop_map(|pairs| serde_json::Value::Object(pairs.into_iter().collect()))
    });
    proptest::collection::hash_map("[f-j]{1,6}", inner, 0..6)
        .prop_map(|pairs| serde_json::Value::Object(pairs.into_iter().collect()))
}

#[test]
fn the_comparison_sees_differences() {
    assert_eq!(tree("d = parse_kv($MSG);", "a=1"), Some(Pairs::from([("a".to_owned(), "1".to_owned())])));
    assert_eq!(
        flat("kv-parser(prefix(\"k.\"))", "a=2"),
        Some(Pairs::from([("a".to_owned(), "2".to_owned())]))
    );
    assert_eq!(NameId::MESSAGE, record::lookup("MESSAGE").expect("a name"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn json(value in object(), blanks in any::<bool>()) {
        let text = if blanks { format!("{value:#}") } else { value.to_string() };
        check("json-parser(prefix(\"k.\"))", "d = json($MSG);", &text);
    }

    #[test]
    fn keys_and_values(pieces in proptest::collection::vec(prop_oneof![
        6 => "[a-e]{1,4}=[a-z0-9]{0,9}[ ,]{1,2}",
        2 => "[a-e]{1,4}=(\"[a-z =,\\\\\"]{0,9}\"|'[a-z =]{0,9}')[ ,]{1,2}",
        1 => "[ =,a-c\"'\\\\-]{0,5}",
    ], 0..16)) {
        let text = pieces.concat();
        check("kv-parser(prefix(\"k.\"))", "d = parse_kv($MSG);", &text);
        let with = |separator: char, pair: char| text.replace('=', &separator.to_string()).replace(',', &pair.to_string());
        check(
            "kv-parser(prefix(\"k.\") value-separator(\":\") pair-separator(\";\"))",
            "d = parse_kv($MSG, value_separator=\":\", pair_separator=\";\");",
            &with(':', ';'),
        );
    }

    #[test]
    fn keys_of_which_some_are_read(pieces in proptest::collection::vec(prop_oneof![
        6 => "[ab]{1,2}=[a-z0-9]{0,9}[ ,]{1,2}",
        2 => "[ab]{1,2}=\"[a-z =,\\\\\"]{0,9}\"[ ,]{1,2}",
        1 => "[ =,ab\"\\\\-]{0,5}",
    ], 0..12)) {
        let text = pieces.concat();
        let some = |pairs: Option<Pairs>| pairs.map(|mut pairs| { pairs.retain(|key, _| key == "a" || key == "ab"); pairs });
        let narrow = "x = parse_kv($MSG); d = {\"a\":?? x.a, \"ab\":?? x[\"ab\"]};";
        prop_assert_eq!(tree(narrow, &text), some(flat("kv-parser(prefix(\"k.\"))", &text)), "{}", text);
    }

    #[test]
    fn members_of_which_some_are_read(value in object(), cut in 0usize..40) {
        let whole = value.to_string();
        let text: String = whole.chars().take(whole.chars().count().saturating_sub(cut / 20 * cut)).collect();
        let all = "x = json($MSG); y = x; d = {\"f\":?? x.f, \"g\":?? x.g.a};";
        let some = "x = json($MSG); d = {\"f\":?? x.f, \"g\":?? x.g.a};";
        prop_assert_eq!(tree(some, &text), tree(all, &text), "{}", text);
    }

    #[test]
    fn columns(text in proptest::collection::vec("([a-z0-9]{0,4}|\"[a-z,' ]{0,5}\"|'[a-z,\" ]{0,5}'|[\"' ,a]{0,3})", 0..7)) {
        let text = text.join(",");
        let made = tree("d = parse_csv($MSG, columns=[\"a\",\"b\",\"c\",\"d\"]);", &text).expect("a dict");
        let mut parsed = flat("csv-parser(columns(\"k.a\",\"k.b\",\"k.c\",\"k.d\") delimiters(\",\") flags(escape-none))", &text).unwrap_or_default();
        // A column that is not there is set to nothing by the parser.
        parsed.retain(|key, value| made.contains_key(key) || !value.is_empty());
        prop_assert_eq!(made, parsed, "{}", text);
    }

    #[test]
    fn events(name in "[a-z |\\\\]{0,6}", pairs in proptest::collection::vec(("[a-e]{1,3}", "[a-z0-9 \\\\|.]{0,8}"), 0..6)) {
        let escaped = name.replace('\\', "\\\\").replace('|', "\\|");
        let mut extensions = Vec::new();
        for (key, value) in &pairs {
            extensions.push(format!("{key}={}", value.trim().replace('\\', "\\\\")));
        }
        let text = format!("CEF:0|v|p|1|id|{escaped}|5|{}", extensions.join(" "));
        let rename = |key: &str| match key {
            "cef_version" => "version".to_owned(),
            "event_name" => "name".to_owned(),
            other => other.to_owned(),
        };
        let made = tree("d = parse_cef($MSG, separate_extensions=true);", &text);
        let mut made: Option<Pairs> = made.map(|made| made.into_iter().map(|(key, value)| (rename(&key), value)).collect());
        // Without an extension the dict of them is empty.
        made.iter_mut().for_each(|made| made.retain(|key, _| key != "extensions"));
        prop_assert_eq!(made, flat("cef-parser(prefix(\"k.\"))", &text), "{}", text);
    }

    #[test]
    fn events_of_qradar(
        (version, name) in (0..2u8, "[a-zA-Z ]{1,6}"),
        pairs in proptest::collection::vec(("[a-e]{1,3}", "[a-z0-9 .=]{0,8}"), 0..6),
    ) {
        let (head, by) = if version == 0 { ("LEEF:1.0|v|p|1|id|", "\t") } else { ("LEEF:2.0|v|p|1|id|^|", "^") };
        let extensions: Vec<String> = pairs.iter().map(|(key, value)| format!("{key}={}", value.trim())).collect();
        let text = format!("{}{}", head.replace("|p|", &format!("|{name}|")), extensions.join(by));
        let rename = |key: &str| match key {
            "leef_version" => "version".to_owned(),
            "vendor_name" => "vendor".to_owned(),
            other => other.to_owned(),
        };
        let made = tree("d = parse_leef($MSG, separate_extensions=true); unset(d.leef_delimiter);", &text);
        let mut made: Option<Pairs> = made.map(|made| made.into_iter().map(|(key, value)| (rename(&key), value)).collect());
        made.iter_mut().for_each(|made| made.retain(|key, _| key != "extensions"));
        prop_assert!(made.is_some(), "{}", text);
        prop_assert_eq!(made, flat("leef-parser(prefix(\"k.\"))", &text), "{}", text);
    }

    #[test]
    fn elements(element in element()) {
        let text = element.text();
        let rename = |key: &str| key.replace(".@", "._").trim_end_matches(".#text").to_owned();
        let made = tree("d = parse_xml($MSG);", &text);
        let mut made: Option<Pairs> = made.map(|made| made.into_iter().map(|(key, value)| (rename(&key), value)).collect());
        let mut parsed = flat("xml(prefix(\"k.\") create-lists(no))", &text);
        // An element without text has none of it, or nothing as its text.
        made.iter_mut().chain(&mut parsed).for_each(|made| made.retain(|_, value| !value.is_empty()));
        prop_assert_eq!(made, parsed, "{}", text);
    }

    #[test]
    fn messages_of_rfc_5424(host in "[a-z0-9.]{1,9}", program in "[a-z]{1,9}", text in "[!-~]([ -~]{0,20}[!-~])?", pri in 0u16..192) {
        let block = format!(
            "$D = str_rstrip(format_syslog_5424($MSG, pri={pri}, timestamp=datetime(1704164645000000), host=\"{host}\", program=\"{program}\"));"
        );
        let (mut batch, mut cx) = message(&text);
        let (mut selection, mut dropped) = (vec![0], Vec::new());
        compiled(&block).expect("a block").run(&mut batch, &mut selection, &mut cx, &mut dropped);
        let line = values(&batch, "D").remove("").expect("a line");
        let fields = parsed("syslog-parser(flags(syslog-protocol))", &line).expect("a message");
        let field = |span: Span| String::from_utf8_lossy(fields.bytes(span)).into_owned();
        let record = &fields.records[0];
        prop_assert_eq!([field(record.host), field(record.program), field(record.message)], [host, program, text]);
        prop_assert_eq!((record.pri, record.stamp.secs), (pri, 1_704_164_645), "{}", line);
    }
}

/// An element of XML whose children have names of their own.
#[derive(Clone, Debug)]
struct Element {
    name: String,
    attribute: Option<String>,
    text: String,
    inside: Vec<Element>,
}

impl Element {
    fn text(&self) -> String {
        let escaped = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
        let attribute =
            self.attribute.as_ref().map_or(String::new(), |value| format!(" k=\"{}\"", escaped(value)));
        let inside: String = self.inside.iter().map(Element::text).collect();
        format!("<{0}{attribute}>{1}{inside}</{0}>", self.name, escaped(&self.text))
    }
}

fn element() -> impl Strategy<Value = Element> {
    let parts = || ("[a-z]{1,3}", proptest::option::of("[a-z<&]{1,4}"), "([a-z&<][a-z &<\"]{0,5}[a-z])?");
    let leaf =
        parts().prop_map(|(name, attribute, text)| Element { name, attribute, text, inside: Vec::new() });
    leaf.prop_recursive(3, 12, 3, move |inner| {
        (parts(), proptest::collection::vec(inner, 0..3)).prop_map(|((name, attribute, text), mut inside)| {
            inside.iter_mut().enumerate().for_each(|(at, child)| child.name = format!("{}{at}", child.name));
            Element { name, attribute, text, inside }
        })
    })
}
