//! Every operation, by example.

use crate::{CODES, OPERATIONS, OperationInfo, Rewrite};
use conf_syntax::{Call, FilterExpr, LogItem, ParseOptions, Statement};
use diag::{Diagnostics, Severity};
use filter::{FilterContext, FilterEnv, NamedFilters, Wanted};
use proptest::prelude::*;
use record::{
    Batch, Context, Demand, Flags, NameId, Peer, Record, Span, Stamp, ValueType, intern, pri, tag_id,
};
use std::sync::Arc;
use template::{Identity, Msg, NoScope, Scope, Template, TemplateOptions, sample};

#[derive(Default)]
struct World {
    options: TemplateOptions,
    named: NamedFilters,
}

impl FilterEnv for World {
    fn scope(&self) -> &dyn Scope {
        &NoScope
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
}

fn calls(text: &str) -> Vec<Call> {
    let parsed = conf_syntax::parse_text("t", &format!("rewrite r {{ {text}; }};"), &ParseOptions::default());
    let errors: Vec<_> = parsed.diagnostics.iter().filter(|d| d.severity == Severity::Error).collect();
    assert!(errors.is_empty(), "{text}: {errors:?}");
    let items = parsed.config.items.into_iter().flat_map(|item| match item {
        Statement::Rewrite(object) => object.body,
        _ => Vec::new(),
    });
    items.filter_map(|item| if let LogItem::Call(call) = item { Some(call) } else { None }).collect()
}

fn compile(text: &str, version: (u16, u16)) -> (Vec<Option<Rewrite>>, Vec<&'static str>) {
    let world =
        World { options: TemplateOptions { version, ..TemplateOptions::default() }, ..World::default() };
    let mut diags = Diagnostics::new();
    let list = calls(text).iter().map(|c| Rewrite::compile(c, &world, &mut diags)).collect();
    (list, diags.iter().map(|d| d.code).collect())
}

fn rewrites(text: &str) -> Vec<Rewrite> {
    let (list, codes) = compile(text, (4, 11));
    list.into_iter().map(|r| r.unwrap_or_else(|| panic!("{text}: {codes:?}"))).collect()
}

fn context() -> FilterContext {
    FilterContext::new(Identity::new("loghost"))
}

/// user.notice of host `web1.example.com`, program `app` (with its header text), PID 7, with SDATA and two
/// values.
fn batch() -> Batch {
    let text = b"web1.example.com app[7]: hello world hello [x@1 k=\"v\\\"w\" l=\"2\"]".to_vec();
    let context = Arc::new(Context::local("s_test", "fromhost", "local+file"));
    let mut batch = Batch::new(text, context, Stamp { secs: 1_000_000, usec: 0, offset: 0 });
    let mut record = Record::new(Span::new(0, 61));
    record.host = Span::new(0, 16);
    record.program = Span::new(17, 3);
    record.pid = Span::new(21, 1);
    record.msghdr = Span::new(17, 8);
    record.message = Span::new(25, 17);
    record.sdata = Span::new(43, 21);
    record.stamp = Stamp { secs: 1_000_000, usec: 5, offset: 3600 };
    record.flags.set(Flags::UTF8);
    batch.records.push(record);
    batch.records.push(record);
    batch.set(0, intern("x.a").expect("room"), b"1", ValueType::Int);
    batch.set(0, intern("x.b").expect("room"), b"two", ValueType::String);
    batch
}

/// Applies the operations to the first of two equal messages.
fn run(text: &str, version: (u16, u16)) -> Batch {
    let (list, codes) = compile(text, version);
    let (mut cx, mut batch) = (context(), batch());
    for rewrite in list {
        rewrite.unwrap_or_else(|| panic!("{text}: {codes:?}")).apply(&mut batch, &[0], &mut cx);
    }
    batch
}

fn value(batch: &Batch, index: usize, name: &str) -> Option<(String, ValueType)> {
    let template =
        template::Template::compile(&format!("${{{name}}}"), &TemplateOptions::default(), &NoScope)
            .expect(name);
    let mut out = Vec::new();
    let msg = template::Msg { batch, record: &batch.records[index] };
    let kind = template.render_typed(msg, &mut context().render, &mut out);
    (!out.is_empty()).then(|| (String::from_utf8_lossy(&out).into_owned(), kind))
}

fn check(text: &str, name: &str, expected: Option<&str>) {
    check_at(text, (4, 11), name, expected);
}

fn check_at(text: &str, version: (u16, u16), name: &str, expected: Option<&str>) {
    let batch = run(text, version);
    assert_eq!(value(&batch, 0, name).map(|v| v.0).as_deref(), expected, "{text}: {name}");
    // The other message is untouched.
    let before = self::batch();
    assert_eq!(value(&batch, 1, name), value(&before, 1, name), "{text}: {name} of the other");
}

fn check_kind(text: &str, version: (u16, u16), name: &str, expected: ValueType) {
    assert_eq!(value(&run(text, version), 0, name).map(|v| v.1), Some(expected), "{text}: {name}");
}

#[test]
fn options_of_templates_and_of_syslog_ng() {
    let (list, codes) = compile("set('x' value('y') internal(yes)); unset-matches(internal(no))", (4, 11));
    assert!(list.iter().all(Option::is_some));
    assert_eq!(codes, ["R0113", "R0113"]);
    // A value that is not of its type is a text in the JSON, or there is no JSON.
    let json = "$(format-json n=int(x))";
    for (option, expected) in
        [("", ""), ("on-error(fallback-to-string)", "{\"n\":\"x\"}"), ("on-error(drop-property)", "{}")]
    {
        let mut batch = batch();
        for rewrite in rewrites(&format!("set('{json}' {option})")) {
            rewrite.apply(&mut batch, &[0], &mut context());
        }
        assert_eq!(String::from_utf8_lossy(batch.bytes(batch.records[0].message)), expected, "{option}");
    }
    assert_eq!(compile("set('x' on-error(maybe))", (4, 11)).1, ["R0103"]);
}

#[test]
fn every_operation_does_what_the_manual_says() {
    for OperationInfo { name, help, example, cost, .. } in OPERATIONS {
        let print = |batch: &Batch| {
            let template = Template::compile(example.template, &TemplateOptions::default(), &NoScope);
            let (mut out, msg) = (Vec::new(), Msg { batch, record: &batch.records[0] });
            template.expect(name).render(msg, &mut sample::context(), &mut out);
            String::from_utf8_lossy(&out).into_owned()
        };
        let mut batch = sample::with_values();
        assert_eq!(print(&batch), example.before, "{name}");
        let mut cx = context();
        cx.begin_batch(sample::now());
        for rewrite in rewrites(example.operation) {
            rewrite.apply(&mut batch, &[0], &mut cx);
        }
        assert_eq!(print(&batch), example.after, "{name}");
        assert!(example.operation.contains(&format!("{name}(")), "{name}");
        assert!(!help.is_empty() && !cost.note.is_empty(), "{name}");
    }
}

#[test]
fn set() {
    for (text, name, expected) in [
        ("set('hi')", "MESSAGE", Some("hi")),
        ("set('hi' value('HOST'))", "HOST", Some("hi")),
        ("set('hi' value('$HOST'))", "HOST", Some("hi")),
        ("set('$HOST' value('copy'))", "copy", Some("web1.example.com")),
        ("set('$HOST/$PROGRAM' value('copy'))", "copy", Some("web1.example.com/app")),
        ("set('$nosuch' value('HOST'))", "HOST", None),
        ("set('hi' value('.SDATA.x@1.k'))", ".SDATA.x@1.k", Some("hi")),
        ("set('hi' value('.SDATA.new@1.k'))", "SDATA", Some("[new@1 k=\"hi\"][x@1 k=\"v\\\"w\" l=\"2\"]")),
        ("set('${.SDATA.x@1.k}' value('copy'))", "copy", Some("v\"w")),
        ("set('x' value('PROGRAM'))", "MSGHDR", Some("x[7]: ")),
        ("set('a' value('b') condition(facility(user)))", "b", Some("a")),
        ("set('a' value('b') condition(facility(mail)))", "b", None),
        ("set('a' value('b') condition(facility(user) and not program('ap')))", "b", None),
        ("set('$HOST_FROM' value('b'))", "b", Some("fromhost")),
        ("set('$ISODATE' value('b') time-zone('+02:00'))", "b", Some("1970-01-12T15:46:40+02:00")),
        ("set('$ISODATE' value('b') frac-digits(3))", "b", Some("1970-01-12T14:46:40.000+01:00")),
        ("set('$UNIXTIME' value('b') template-escape(yes))", "b", Some("1000000")),
    ] {
        check(text, name, expected);
    }
    check_kind("set(int('5') value('b'))", (4, 11), "b", ValueType::Int);
    check_kind("set('5' value('b'))", (4, 11), "b", ValueType::String);
    check_kind("set('${x.a}' value('b'))", (4, 11), "b", ValueType::Int);
    check_kind("set('${x.a}' value('b'))", (3, 38), "b", ValueType::String);
    check_kind("set(list('$HOST,$PID') value('b'))", (4, 11), "b", ValueType::List);
}

#[test]
fn text_is_not_copied_without_need() {
    let size = |text: &str| {
        let (mut cx, mut batch) = (context(), batch());
        let before = batch.text.len();
        rewrites(text).iter().for_each(|r| r.apply(&mut batch, &[0, 1], &mut cx));
        batch.text.len() - before
    };
    assert_eq!(size("set('$HOST' value('copy'))"), 0);
    assert_eq!(size("set('hello' value('copy'))"), 5);
    assert_eq!(size("subst('nosuch' 'x' value('HOST'))"), 0);
    assert_eq!(size("subst('^web1' 'w' value('HOST'))"), 2 * 13);
    assert_eq!(size("rename('HOST' 'h')"), 0);
    assert_eq!(size("set('$LOGHOST' value('copy'))"), "loghost".len());
}

/// What messages have in common that came the same way at the same time is printed once for those.
#[test]
fn what_is_common_is_that_of_each_message() {
    let peer = |remote: &str| Peer::Inet {
        remote: remote.parse().expect("an address"),
        local: "127.0.0.1:514".parse().expect("an address"),
        proxy: None,
    };
    let (mut cx, mut batch) = (context(), batch());
    let from = |remote: &str| Context { peer: peer(remote), ..Context::local("s", "from", "tcp") };
    batch.contexts = vec![Arc::new(from("192.0.2.1:1")), Arc::new(from("192.0.2.2:2"))];
    batch.records = vec![batch.records[1]; 5];
    batch.records[1].context = 1;
    batch.set_received(3, Stamp { secs: 7, usec: 0, offset: 0 });
    let texts = ["$SOURCEIP", "$LOGHOST/$SOURCEPORT at $R_UNIXTIME", "$R_UNIXTIME", "$HOST $S_UNIXTIME"];
    for (number, text) in texts.into_iter().enumerate() {
        let set = format!("set('{text}' value('common{number}'))");
        rewrites(&set).iter().for_each(|rewrite| rewrite.apply(&mut batch, &[0, 1, 2, 3, 4], &mut cx));
        let template = Template::compile(text, &TemplateOptions::default(), &NoScope).expect(text);
        for index in 0..batch.records.len() {
            let mut expected = Vec::new();
            let msg = Msg { batch: &batch, record: &batch.records[index] };
            template.render(msg, &mut cx.render, &mut expected);
            let expected = String::from_utf8(expected).ok();
            let set = value(&batch, index, &format!("common{number}")).map(|(text, _)| text);
            assert_eq!(set, expected, "{text} of {index}");
        }
    }
}

#[test]
fn message_is_known_utf8_only_as_long_as_it_is() {
    assert!(run("set('é')", (4, 11)).records[0].flags.has(Flags::UTF8));
    assert!(!run("set('\u{e9}x'); subst('^.' '')", (4, 11)).records[0].flags.has(Flags::UTF8));
}

#[test]
fn unset_and_rename() {
    for (text, name, expected) in [
        ("unset(value('HOST'))", "HOST", None),
        ("unset()", "MESSAGE", None),
        ("unset(value('x.a'))", "x.a", None),
        ("unset(value('.SDATA.x@1.k'))", "SDATA", Some("[x@1 l=\"2\"]")),
        ("unset(value('SOURCE'))", "SOURCE", None),
        ("rename('x.a' 'y')", "y", Some("1")),
        ("rename('x.a' 'y')", "x.a", None),
        ("rename('HOST' 'PROGRAM')", "PROGRAM", Some("web1.example.com")),
        ("rename('nosuch' 'HOST')", "HOST", Some("web1.example.com")),
    ] {
        check(text, name, expected);
    }
    check_kind("rename('x.a' 'y')", (4, 11), "y", ValueType::Int);
    check_kind("groupset(int('7') values('x.b'))", (4, 11), "x.b", ValueType::Int);
}

#[test]
fn subst() {
    for (text, name, expected) in [
        ("subst('hello' 'bye')", "MESSAGE", Some("bye world hello")),
        ("subst('hello' 'bye' flags(global))", "MESSAGE", Some("bye world bye")),
        ("subst('HELLO' 'bye' flags(ignore-case))", "MESSAGE", Some("bye world hello")),
        ("subst('\\.example\\.com$' '' value('HOST'))", "HOST", Some("web1")),
        ("subst('(\\w+) (\\w+)' '$2 $1')", "MESSAGE", Some("world hello hello")),
        ("subst('(?<first>\\w)(\\w*)' '$2${first}' flags(global))", "MESSAGE", Some("elloh orldw elloh")),
        ("subst('l+' '<$0>' flags(global))", "MESSAGE", Some("he<ll>o wor<l>d he<ll>o")),
        ("subst('x*' '-' value('PROGRAM') flags(global))", "PROGRAM", Some("-a-p-p")),
        ("subst('a' 'x' value('PROGRAM') type(string) flags(prefix))", "PROGRAM", Some("xpp")),
        (
            "set('aab' value('PROGRAM')); subst('a' 'x' value('PROGRAM') type(string) flags(prefix, global))",
            "PROGRAM",
            Some("xxb"),
        ),
        ("subst('$' '!' value('PROGRAM'))", "PROGRAM", Some("app!")),
        ("subst('world' '$HOST')", "MESSAGE", Some("hello web1.example.com hello")),
        ("subst('world' '')", "MESSAGE", Some("hello  hello")),
        ("subst('^hello world hello$' '')", "MESSAGE", None),
        ("subst('world' 'x' type(string))", "MESSAGE", Some("hello world hello")),
        ("subst('o' '0' type(string) flags(substring, global))", "MESSAGE", Some("hell0 w0rld hell0")),
        ("subst('hell' 'b' type(string) flags(prefix))", "MESSAGE", Some("bo world hello")),
        ("subst('o(?= w)' '0')", "MESSAGE", Some("hell0 world hello")),
        ("subst('v' 'V' value('.SDATA.x@1.k'))", "SDATA", Some("[x@1 k=\"V\\\"w\" l=\"2\"]")),
        ("subst('from' '' value('HOST_FROM'))", "HOST_FROM", Some("host")),
        ("subst('^$' 'new' value('nosuch'))", "nosuch", Some("new")),
        ("subst('b' 'x' value('nosuch'))", "nosuch", None),
        ("subst('(o) (w)' 'x')", "2", Some("w")),
        ("subst('(o)|(w)' 'x' flags(global))", "1", Some("o")),
        ("subst('two' '$1' value('x.b') condition(message('(world)' flags(store-matches))))", "x.b", None),
        ("subst('two' '$(uppercase $0)' value('x.b'))", "x.b", Some("TWO")),
    ] {
        check(text, name, expected);
    }
    check_kind("subst('1' '2' value('x.a'))", (4, 11), "x.a", ValueType::String);
}

/// Without anybody who reads matches the results are remembered; they are the same.
#[test]
fn remembered_results_are_the_same() {
    for (text, expected) in [
        ("subst('^(web)' 'www' value('HOST'))", ["www1.x", "www2.x", "db", "", "www1.x", "db"]),
        ("subst('^(\\w+)\\.x$' '$1' value('HOST'))", ["web1", "web2", "db", "", "web1", "db"]),
        ("subst('^(?<h>\\w+)\\.x$' '${h}' value('HOST'))", ["web1", "web2", "db", "", "web1", "db"]),
        ("subst('.+' '' value('HOST'))", ["", "", "", "", "", ""]),
        ("subst('$' '!' value('HOST') flags(global))", ["web1.x!", "web2.x!", "db!", "!", "web1.x!", "db!"]),
        ("subst('^' '$PID' value('HOST'))", ["1web1.x", "2web2.x", "3db", "4", "5web1.x", "6db"]),
    ] {
        let rewrite = &rewrites(text)[0];
        for wanted in [Wanted::All, Wanted::of(&Demand::default())] {
            let (mut cx, mut batch) = (context(), batch());
            cx.work.wanted = wanted;
            for _ in 0..3 {
                batch.records.truncate(1);
                for (n, host) in ["web1.x", "web2.x", "db", "", "web1.x", "db"].iter().enumerate() {
                    batch.records.push(Record::new(Span::EMPTY));
                    batch.set(n + 1, NameId::HOST, host.as_bytes(), ValueType::String);
                    batch.set(n + 1, NameId::PID, (n + 1).to_string().as_bytes(), ValueType::String);
                }
                rewrite.apply(&mut batch, &[1, 2, 3, 4, 5, 6], &mut cx);
                let hosts: Vec<&[u8]> = batch.records[1..].iter().map(|r| batch.bytes(r.host)).collect();
                assert_eq!(hosts, expected.map(str::as_bytes), "{text}");
            }
        }
    }
}

#[test]
fn matches_are_stored_only_if_somebody_reads_them() {
    let rewrite = &rewrites("subst('(o) (w)' 'x')")[0];
    for (read, expected) in [(None, None), (Some(NameId(2)), Some("w"))] {
        let (mut cx, mut batch) = (context(), batch());
        let mut demand = Demand::default();
        read.into_iter().for_each(|n| demand.name(n));
        cx.work.wanted = Wanted::of(&demand);
        rewrite.apply(&mut batch, &[0], &mut cx);
        assert_eq!(value(&batch, 0, "2").map(|v| v.0).as_deref(), expected);
        assert_eq!(value(&batch, 0, "1"), None);
        assert_eq!(value(&batch, 0, "MESSAGE").map(|v| v.0).as_deref(), Some("hellxorld hello"));
    }
}

#[test]
fn tags() {
    let (a, b) = (tag_id("ta").expect("room"), tag_id("app-7").expect("room"));
    for (text, tag, expected) in [
        ("set-tag('ta')", a, true),
        ("set-tag('ta'); clear-tag('ta')", a, false),
        ("set-tag('$PROGRAM-$PID')", b, true),
        ("set-tag('ta'); set-tag('app-7'); clear-tag('$PROGRAM-$PID')", b, false),
        ("set-tag('ta' condition(facility(mail)))", a, false),
        ("set-tag('$nosuch')", a, false),
    ] {
        let batch = run(text, (4, 11));
        assert_eq!(batch.has_tag(&batch.records[0], tag), expected, "{text}");
        assert!(!batch.has_tag(&batch.records[1], tag));
    }
}

#[test]
fn groups() {
    for (text, name, expected) in [
        ("groupset('z' values('x.*'))", "x.a", Some("z")),
        ("groupset('z' values('x.*'))", "x.b", Some("z")),
        ("groupset(int('7') values('x.*'))", "x.b", Some("7")),
        ("groupset('z' values('x.*'))", "x.c", None),
        ("groupset('<$_>' values('x.*'))", "x.b", Some("<two>")),
        ("groupset('<${_}$$_>' values('x.b'))", "x.b", Some("<two$_>")),
        ("groupset('$(uppercase $_)' values('HOST', 'x.b'))", "HOST", Some("WEB1.EXAMPLE.COM")),
        ("groupset('$(uppercase $_)' values('.SDATA.*'))", "SDATA", Some("[x@1 k=\"V\\\"W\" l=\"2\"]")),
        ("groupset('<$_>' values('*'))", "MSGHDR", Some("<app>[<7>]: ")),
        // Another name of MESSAGE.
        ("groupset('z' values('MSG'))", "MESSAGE", Some("z")),
        ("groupset('<$_>' values('LEGACY*'))", "MSGHDR", Some("<app[7]: >")),
        ("groupunset(values('x.*'))", "x.a", None),
        ("groupunset(values('x.a'))", "x.b", Some("two")),
        ("groupunset(values('.SDATA.*'))", "SDATA", None),
        ("groupunset(values('.SDATA.x@1.l'))", "SDATA", Some("[x@1 k=\"v\\\"w\"]")),
        ("groupunset(values('*'))", "MESSAGE", None),
        ("groupunset(values('*'))", "HOST_FROM", None),
        ("groupset('z' values('x.*') condition(facility(mail)))", "x.a", Some("1")),
    ] {
        check(text, name, expected);
    }
    // What `$_` stood for leaves no trace.
    let batch = run("groupset('<$_>' values('x.*'))", (4, 11));
    let names: Vec<&str> = batch.pairs(&batch.records[0]).map(|(n, _)| record::name_of(n)).collect();
    assert_eq!(names.iter().filter(|n| n.contains("item")).count(), 0, "{names:?}");
}

/// A value that is set, unset and set again is there once; one that was unset last is not.
#[test]
fn groups_of_values_that_changed() {
    for (text, name, expected) in [
        ("unset(value('x.a')); groupset('<$_>' values('x.*'))", "x.a", None),
        ("unset(value('x.a')); set('n' value('x.a')); groupset('<$_>' values('x.*'))", "x.a", Some("<n>")),
        ("set('m' value('x.a')); set('n' value('x.a')); groupset('<$_>' values('x.?'))", "x.a", Some("<n>")),
        ("set('m' value('x.a')); groupunset(values('x.a'))", "x.a", None),
        (
            "groupset('<$_>' values('.SDATA.*')); groupset('<$_>' values('.SD*'))",
            ".SDATA.x@1.l",
            Some("<<2>>"),
        ),
        ("groupset('<$_>' values('?SDATA.x@1.l'))", ".SDATA.x@1.l", Some("<2>")),
        ("groupset('<$_>' values('SOURCE'))", "SOURCE", Some("<s_test>")),
    ] {
        // As in a configuration that reads it.
        record::intern(name).expect("room");
        check(text, name, expected);
    }
}

/// Values that nobody else reads are not made for the sake of being unset.
#[test]
fn groups_ask_for_nothing() {
    for text in ["groupunset(values('.raw.*'))", "groupset('x' values('*'))"] {
        let mut demand = Demand::default();
        rewrites(text).iter().for_each(|rewrite| rewrite.reads(&mut demand));
        assert_eq!(demand, Demand::default(), "{text}");
    }
}

#[test]
fn match_numbers() {
    for (text, name, expected) in [
        ("set-matches('a,b,\"c,d\"')", "1", Some("a")),
        ("set-matches('a,b,\"c,d\"')", "3", Some("c,d")),
        ("set-matches('a,b'); set-matches('z')", "2", None),
        ("set-matches('a,b'); set-matches('$2,$1')", "1", Some("b")),
        ("set-matches('')", "1", None),
        ("set-matches('a'); unset-matches()", "1", None),
    ] {
        check(text, name, expected);
    }
}

#[test]
fn pri_in_parts() {
    for (text, expected) in [
        ("set-pri('38')", 38),
        ("set-pri('1023')", 1023),
        ("set-pri('1024')", pri::DEFAULT),
        ("set-pri('$nosuch')", pri::DEFAULT),
        ("set-severity('err')", 8 + 3),
        ("set-severity('7')", 8 + 7),
        ("set-severity('8')", 8 + 5),
        ("set-severity('WRN')", 8 + 4),
        ("set-severity('trace')", 8 + 7),
        ("set-severity(' err')", 8 + 5),
        ("set-severity('$PID')", 8 + 7),
        ("set-severity('$HOST')", 8 + 5),
        ("set-facility('mail')", 16 + 5),
        ("set-facility('MAIL')", 16 + 5),
        ("set-facility('127')", 127 * 8 + 5),
        ("set-facility('128')", 8 + 5),
        ("set-facility('$PID')", 7 * 8 + 5),
        ("set-facility('$HOST')", 8 + 5),
        ("set-facility('mail' condition(program('no')))", 8 + 5),
    ] {
        let batch = run(text, (4, 11));
        assert_eq!((batch.records[0].pri, batch.records[1].pri), (expected, pri::DEFAULT), "{text}");
    }
}

#[test]
fn time_zones() {
    let stamp = |secs, offset| Stamp { secs, usec: 5, offset };
    for (text, expected) in [
        ("set-time-zone('+02:00')", stamp(1_000_000, 7200)),
        ("set-time-zone('Europe/Budapest')", stamp(1_000_000, 3600)),
        ("fix-time-zone('+02:00')", stamp(1_000_000 - 3600, 7200)),
        ("fix-time-zone('UTC')", stamp(1_003_600, 0)),
        ("set-time-zone('+0$PID:00')", stamp(1_000_000, 7 * 3600)),
        ("set-time-zone('$HOST')", stamp(1_000_000, 3600)),
        // Read at 1000000 UTC, the clock showed one hour more: +01:00 it is.
        ("guess-time-zone()", stamp(1_000_000, 3600)),
        ("fix-time-zone('UTC'); guess-time-zone()", stamp(1_000_000, 3600)),
        ("set-time-zone('+02:00' time-stamp(stamp))", stamp(1_000_000, 7200)),
    ] {
        let batch = run(text, (4, 11));
        assert_eq!(batch.records[0].stamp, expected, "{text}");
    }
    // 25 minutes late: no zone explains that.
    let (mut cx, mut batch) = (context(), self::batch());
    batch.received.secs += 25 * 60;
    rewrites("guess-time-zone()")[0].apply(&mut batch, &[0], &mut cx);
    assert_eq!(batch.records[0].stamp, stamp(1_000_000, 3600));
    // Days apart, there is nothing to guess from.
    let (mut cx, mut batch) = (context(), self::batch());
    batch.received.secs += 3 * 86_400;
    rewrites("guess-time-zone()")[0].apply(&mut batch, &[0], &mut cx);
    assert_eq!(batch.records[0].stamp, stamp(1_000_000, 3600));
}

#[test]
fn the_stamp_text_is_dropped_when_it_no_longer_tells_the_time() {
    for (text, kept) in [
        ("set-time-zone('+02:00')", false),
        ("set-time-zone('+01:00')", true),
        ("fix-time-zone('+02:00')", true),
    ] {
        let (mut cx, mut batch) = (context(), batch());
        batch.records[0].stamp_text = 0;
        rewrites(text)[0].apply(&mut batch, &[0], &mut cx);
        assert_eq!(batch.records[0].stamp_text == 0, kept, "{text}");
    }
}

#[test]
fn every_error_has_its_code() {
    for (text, codes) in [
        ("sett('a')", vec!["R0101"]),
        ("set()", vec!["R0103"]),
        ("set('a' 'b')", vec!["R0103"]),
        ("set('a' valu('HOST'))", vec!["R0102"]),
        ("set('a' value('FACILITY'))", vec!["R0104"]),
        ("set('a' value('.SDATA.x'))", vec!["R0104"]),
        ("set('a' value('$HOST'))", vec!["R0113"]),
        ("set('${' value('b'))", vec!["R0106"]),
        ("set('a' value('b') condition(bogus('x')))", vec!["F0101"]),
        ("set('a' value('b') time-zone('No/Where'))", vec!["R0103"]),
        ("unset(value())", vec!["R0103"]),
        ("subst('(' 'b')", vec!["R0105"]),
        ("subst('a*' 'b' type(glob))", vec!["R0105"]),
        ("subst('a')", vec!["R0103"]),
        ("subst('a' 'b' flags(globl))", vec!["X0105"]),
        ("subst('a' 'b' flags(prefix))", vec!["R0113"]),
        ("set-tag('')", vec!["R0103"]),
        ("set-tag('a' value('b'))", vec!["R0102"]),
        ("groupset('a')", vec!["R0103"]),
        ("groupunset(values())", vec![]),
        ("rename('a')", vec!["R0103"]),
        ("rename('a' 'PRI')", vec!["R0104"]),
        ("set-severity('bogus')", vec!["R0108"]),
        ("set-pri('5000')", vec!["R0108"]),
        ("set-time-zone('No/Where')", vec!["R0107"]),
        ("set-time-zone('UTC' time-stamp(read))", vec!["R0103"]),
        ("set-time-zone('UTC' time-stamp(recieved))", vec!["R0103"]),
    ] {
        let (list, found) = compile(text, (4, 11));
        if !codes.is_empty() {
            assert_eq!(found, codes, "{text}");
        }
        let warning = codes.iter().all(|c| ["R0113", "R0108"].contains(c)) && !codes.is_empty();
        assert_eq!(list[0].is_some(), warning, "{text}");
    }
    let mut codes: Vec<&str> = CODES.iter().map(|(code, ..)| *code).collect();
    codes.dedup();
    assert_eq!(codes.len(), CODES.len());
    assert!(OPERATIONS.iter().all(|o| !o.help.is_empty()));
}

#[test]
fn what_is_read_and_written() {
    let rewrite = &rewrites("subst('(?<n>a)' '$PID' value('HOST') condition(facility(mail)))")[0];
    let mut demand = Demand::default();
    rewrite.reads(&mut demand);
    assert!(demand.pri && demand.names.contains(&NameId::HOST) && demand.names.contains(&NameId::PID));
    let writes = rewrite.writes();
    for name in [NameId::HOST, NameId(0), NameId(1), intern("n").expect("room")] {
        assert!(writes.names.contains(&name));
    }
    assert!(
        !writes.pri && rewrites("set-pri('1')")[0].writes().pri && rewrites("set-tag('a')")[0].writes().tags
    );
    assert_eq!(rewrite.explain().len(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn never_panics(message in prop::collection::vec(any::<u8>(), 0..40), text in "\\PC{0,20}", index in 1u32..4) {
        static COMPILED: std::sync::OnceLock<Vec<Rewrite>> = std::sync::OnceLock::new();
        let operations = "subst('(.)(.*)' '$2$1' flags(global)); subst('' '-' flags(global)); subst('\\b' '$MESSAGE' flags(global utf8));
            subst('(?=(.))' '$1$1' flags(global)); set('$MESSAGE' value('.SDATA.a.b')); groupset('$_$_' values('*'));
            set-matches('$MESSAGE'); set-pri('$MESSAGE'); set-severity('$MESSAGE'); set-facility('$MESSAGE');
            set-time-zone('$MESSAGE'); fix-time-zone('$MESSAGE'); guess-time-zone(); set-tag('$MESSAGE'); rename('MESSAGE' 'HOST');
            groupunset(values('*')); unset-matches()";
        let (mut cx, mut batch) = (context(), batch());
        batch.set(0, NameId::MESSAGE, &message, ValueType::String);
        batch.set(1, NameId::MESSAGE, text.as_bytes(), ValueType::String);
        batch.records[0].stamp.secs = i64::MAX;
        batch.records[1].stamp = Stamp { secs: i64::MIN, usec: 7, offset: -5 };
        for rewrite in COMPILED.get_or_init(|| rewrites(operations)) {
            rewrite.apply(&mut batch, &[0, index], &mut cx);
        }
    }
}

mod groups;
