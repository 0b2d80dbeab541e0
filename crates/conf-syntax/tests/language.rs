//! The rules of the language one by one: what a small text means.

#[path = "golden/dump.rs"]
mod dump;

use conf_syntax::{LogItem, ParseOptions, Parsed, Statement, Version, norm, parse_filter_text, parse_text};
use diag::{Diagnostics, SourceMap, Span};

fn options() -> ParseOptions {
    let mut options = ParseOptions {
        env: Some(|name| (name == "FROM_ENV").then(|| "env-value".into())),
        read_files: false,
        ..ParseOptions::default()
    };
    options.globals.insert("syslog_ng-root".into(), "/opt/sng".into());
    options
}

fn parse(text: &str) -> Parsed {
    let text = if text.contains("@version") { text.to_string() } else { format!("@version: 4.11\n{text}") };
    parse_text("t", &text, &options())
}

fn said(parsed: &Parsed) -> String {
    diag::render_all(&parsed.diagnostics, &parsed.sources)
}

/// The whole text gives this tree and no finding.
#[track_caller]
fn check(text: &str, expected: &str) {
    let parsed = parse(text);
    let mut got = String::new();
    dump::statements(&mut got, &parsed.config.items);
    assert_eq!((said(&parsed).as_str(), got.trim_end()), ("", expected), "{text}");
}

/// The arguments of a call have this form, and there is no finding.
#[track_caller]
fn args(text: &str, expected: &str) {
    check(&format!("source s {{ x({text}); }};"), &format!("source s\n  x({expected})"));
}

#[track_caller]
fn codes(text: &str, expected: &[&str]) {
    let parsed = parse(text);
    let got: Vec<&str> = parsed.diagnostics.sorted(&parsed.sources).iter().map(|d| d.code).collect();
    assert_eq!(got, expected, "{}", said(&parsed));
}

#[test]
fn comments_commas_and_blanks() {
    args("1 # one, \" ' {\n, 2,,3\t4", "1 2 3 4");
    args("\"#\" '#'", "\"#\" '#'");
    args("a # an unpaired ` and `undefined` too\n b", "a b");
    check("source s { a(1);\r\n ;; b(2) ; };\r\n;;", "source s\n  a(1)\n  b(2)");
}

#[test]
fn line_continuation() {
    args("a \\\n b \\\r\n c", "a b c");
    args("\"a\\\nb\" 'a\\\nb'", "\"ab\" 'a\\\nb'");
    codes("source s { x(a \\ b); };", &["P0002"]);
}

#[test]
fn words() {
    args("/var/log/x.log a-b $HOST * 10.0.0.1 % a=b", "/var/log/x.log a-b $HOST * 10.0.0.1 % a=b");
    args("größe", "größe");
    codes("source s { x(a..b..c); };", &["P0101"]);
    codes("source s { x(a.); };", &["P0002"]);
}

#[test]
fn strings() {
    args(r#""\x41\o102\t\d\\\"" 'a\n"'"#, r#""AB\td\\\"" 'a\n"'"#);
    args("\"a\nb\" 'a\nb'", "\"a\\nb\" 'a\nb'");
    codes("source s { x('it's'); };", &["P0001"]);
}

#[test]
fn numbers_and_ranges() {
    args("10MiB 0x10 010 -5 1.5 10kb", "10485760 16 8 -5 1.5f 10000");
    args("a..b, 1..5", "[a .. b] [1 .. 5]");
    args("\"k\" => 1 k=>v", "[\"k\" => 1] k=>v");
    args("\"k\" => f(x)", "[\"k\" => f(x)]");
}

#[test]
fn dash_and_underscore() {
    assert_eq!(norm("keep_host-name"), "keep-host-name");
    let parsed = parse("options { keep_hostname(yes); };");
    let conf_syntax::Statement::Options(o) = &parsed.config.items[0] else { panic!("not options") };
    assert!(o.options[0].is("keep-hostname"));
    assert_eq!(o.options[0].name.text, "keep_hostname");
    assert_eq!(o.options[0].args[0].yes_no(), Some(true));
    // Names of objects are told apart.
    codes("source a_b { }; source a-b { };", &[]);
}

#[test]
fn backtick_look_up_order() {
    let block = "block source b(x(default) e(\"\")) { t(`x` \"`x`\" `e`); };\n";
    check(&format!("{block}source s {{ b(); }};"), "source s\n  t(default \"default\")");
    check(&format!("{block}@define x global\nsource s {{ b(x(arg)); }};"), "source s\n  t(arg \"arg\")");
    check("@define x_y global\nsource s { t(`x-y`); };", "source s\n  t(global)");
    check("source s { t(`FROM_ENV` \"`syslog-ng-root`/x\"); };", "source s\n  t(env-value \"/opt/sng/x\")");
    codes("source s { t(`nothing`); };", &["P0013"]);
    check("source s { t(\"a``b\"); };", "source s\n  t(\"a`b\")");
    // A define acts from its line on.
    codes("source s { t(`late`); };\n@define late 1\n", &["P0013"]);
}

#[test]
fn backticks_are_written_for_the_string_they_stand_in() {
    let block = "block source b(x()) { t(`x` \"<`x`>\" ); };\n";
    let call = |value: &str| format!("{block}source s {{ b(x({value})); }};");
    check(&call(r#""a\"b\\c""#), "source s\n  t(\"a\\\"b\\\\c\" \"<a\\\"b\\\\c>\")");
    check(&call("'a\"b\\'"), "source s\n  t('a\"b\\' \"<a\\\"b\\\\>\")");
    check(&call("a b"), "source s\n  t(a b \"<a b>\")");
    check("block source b(x()) { t('`x`'); };\nsource s { b(x(\"a\\\\d\")); };", "source s\n  t('a\\d')");
    codes("block source b(x()) { t('`x`'); };\nsource s { b(x(\"it's\")); };", &["P0012"]);
}

#[test]
fn backticks_make_words_and_calls() {
    check("@define a fo\n@define b o\nsource s { `a``b`(1); };", "source s\n  foo(1)");
    check(
        "block source inner(p(1)) { tcp(port(`p`)); };\nblock source outer(what()) { `what`; };\n\
         source s { outer(what(inner(p(2)))); };",
        "source s\n  tcp(port(2))",
    );
    check(
        "@define p 514\nblock source b(p()) { tcp(`p`); };\nsource s { b(p(`p`)); };",
        "source s\n  tcp(514)",
    );
    check("block source b(p(`q`)) { tcp(`p`); };\n@define q 7\nsource s { b(); };", "source s\n  tcp(7)");
}

#[test]
fn versions() {
    let version = |text: &str| parse_text("t", text, &options()).config.version;
    assert_eq!(version("@version: 4.2\n"), Some(Version::new(4, 2)));
    assert_eq!(version("@version: current\n"), Some(Version::new(4, 26)));
    assert_eq!(version("@version: 5.0 # newer\n"), Some(Version::new(4, 26)));
    assert_eq!(version("@version: \"4.10\"\n@version: 4.2\n"), Some(Version::new(4, 10)));
    assert_eq!(version("@version: 4.11.1234\n"), None);
    assert_eq!(version("x\n"), None);
    codes("@version: 3.2\nsource s { }; source s { };", &["P0025"]);
}

#[test]
fn facts_of_pragmas_are_kept() {
    let config =
        parse("@config-id: site\n@define a \"b c\"\n@requires json \"m\"\n@module mod-java x(1)\n").config;
    assert_eq!(config.config_id.map(|n| n.text), Some("site".into()));
    assert_eq!(config.defines[0].value, "b c");
    assert_eq!(config.requires[0].message.as_deref(), Some("m"));
    assert_eq!(config.modules[0].name.text, "mod-java");
}

#[test]
fn blocks() {
    // A call may stand before its parenthesis on another line, and the body may bring its own `;`.
    check("block source b() { tcp(); };\nsource s { b # c\n (); };", "source s\n  tcp()");
    // Only in its own context.
    check("block parser b() { tcp(); };\nsource s { b(); };", "source s\n  b()");
    // A later definition wins.
    check(
        "block source b() { tcp(); };\nblock source b() { udp(); };\nsource s { b(); };",
        "source s\n  udp()",
    );
    // `...` in the order of the call.
    check(
        "block source b(a(1) ...) { x(`a` `__VARARGS__`); };\nsource s { b(z(\"q\") a(2) y(x(1))); };",
        "source s\n  x(2 z(\"q\") y(x(1)))",
    );
    // A word without parenthesis is only a word.
    check("block log s() { };\nlog { source(s); };", "log\n  -> source s");
}

#[test]
fn positions_go_through_expansions() {
    let parsed = parse("block source b(p()) {\n  tcp(port(`p`) :);\n};\nsource s {\n  b(p(1));\n};\n");
    let text = said(&parsed);
    assert!(text.starts_with("t:3:17: error[P0002]"), "{text}");
    assert!(text.contains("expanded from block `b` called at t:6:3"), "{text}");
}

#[test]
fn the_preprocessed_text_means_the_same() {
    let text = "@define x \"q`q\"\nblock filter ok(p()) { host(\"`p`\") };\nblock root r() { log { source(s); }; };\n\
                source s { tcp(tags(\"`x`\" \"a``b\")); }; # comment `\nfilter f { ok(p(h)) or ok(p(\"i\")); };\nr();\n\
                python { x = 1 };";
    let first = parse_text("t", &text.replace("q`q", "qq"), &options());
    let again = parse_text("p", &first.config.preprocessed, &options());
    assert!(!again.diagnostics.has_errors(), "{}\n{}", first.config.preprocessed, said(&again));
    let (mut a, mut b) = (String::new(), String::new());
    dump::statements(&mut a, &first.config.items);
    dump::statements(&mut b, &again.config.items);
    assert_eq!(a, b, "{}", first.config.preprocessed);
    assert!(!first.config.preprocessed.contains("block"));
}

#[test]
fn filter_precedence() {
    let filter = |text: &str, expected: &str| {
        check(&format!("filter f {{ {text} }};"), &format!("filter f: {expected}"));
    };
    filter("a() or b() and c();", "any[a(), all[b(), c()]]");
    filter("not a() and b()", "all[not a(), b()]");
    filter("a() or b(); c()", "all[any[a(), b()], c()]");
    filter("not (a() or not(b()))", "not any[a(), not b()]");
    filter("\"$A\" == 5 or \"$A\" lt b", "any[\"$A\" == 5, \"$A\" lt \"b\"]");
    filter("int(\"$A\") !== double(1.5)", "int(\"$A\") !== double(\"1.5\")");
}

#[test]
fn options_that_take_filters() {
    let parsed = parse("parser p { grouping-by(trigger(\"$3\" eq \"F\" and not x(1); y()) key(\"a\")); };");
    let conf_syntax::Statement::Parser(p) = &parsed.config.items[0] else { panic!("not a parser") };
    let conf_syntax::LogItem::Call(call) = &p.body[0] else { panic!("not a call") };
    let trigger = call.options().find(|c| c.is("trigger")).expect("trigger is there");
    let mut diags = Diagnostics::new();
    let expr = trigger.filter_expr(&mut diags);
    assert_eq!(dump::filter(expr.as_ref()), "all[all[\"$3\" eq \"F\", not x(1)], y()]");
    assert!(diags.is_empty());
}

#[test]
fn filters_inside_templates() {
    let (mut sources, mut diags) = (SourceMap::new(), Diagnostics::new());
    let expr = parse_filter_text("'$A' eq 'b' and facility(mail)", None, &mut sources, &mut diags);
    assert_eq!(dump::filter(expr.as_ref()), "all[\"$A\" eq \"b\", facility(mail)]");
    assert!(diags.is_empty());
    let map_before = sources.files().count();
    assert!(parse_filter_text("'$A' eq", None, &mut sources, &mut diags).is_none());
    assert!(diags.has_errors());
    assert_eq!(sources.files().count(), map_before + 1);
    // A finding of before does not spoil the next expression.
    assert!(parse_filter_text("a()", None, &mut sources, &mut diags).is_some());
}

/// Blocks of expressions as they are read, each with the places of what is looked for in it.
#[track_caller]
fn expressions(text: &str, expected: &[(&str, &[(&str, &str)])]) {
    let parsed = parse(text);
    assert_eq!(said(&parsed), "", "{text}");
    let paths = parsed.config.items.iter().filter_map(|item| match item {
        Statement::Log(path) => Some(&path.items),
        _ => None,
    });
    let blocks = paths.flatten().filter_map(|item| match item {
        LogItem::FilterX(raw) => Some(raw),
        _ => None,
    });
    let blocks: Vec<_> = blocks.collect();
    assert_eq!(blocks.len(), expected.len(), "{text}");
    for (raw, (read, places)) in blocks.iter().zip(expected) {
        assert_eq!((raw.text.as_str(), parsed.sources.text(raw.inner)), (*read, *read));
        for (what, place) in *places {
            let start = raw.inner.start as usize + raw.text.find(what).expect("it is in the text");
            let span = Span::new(raw.inner.file, start, start + what.len());
            assert_eq!(parsed.sources.locate(span).to_string(), *place, "{what}");
        }
    }
}

#[test]
fn expressions_stand_where_they_are_written() {
    expressions("log { filterx { a; b; }; };", &[(" a; b; ", &[("b", "t:2:20")])]);
    // Line 1 is the version.
    let head = "@define want \"hello\"\nblock filterx chk(v()) {\n  $MSG == `v`\n};\n";
    expressions(
        &format!(
            "{head}log {{ filterx {{ chk(v=\"a\"); x; }}; }};\nlog {{ filterx {{ y; `want` == $MSG; z; }}; }};"
        ),
        &[
            (" \n  $MSG == \"a\"\n; x; ", &[("$MSG", "t:4:3"), ("\"a\"", "t:4:11"), ("x", "t:6:29")]),
            (" y; hello == $MSG; z; ", &[("y", "t:7:17"), ("hello", "t:7:20"), ("z", "t:7:36")]),
        ],
    );
}

#[test]
fn pragmas_begin_lines_of_expressions_too() {
    expressions(
        "log { filterx { a;\n@define foo 5\nx = `foo`;\n@define foo 6\ny = `foo`; z = \"`foo`\"; }; };",
        &[(" a;\n\nx = 5;\n\ny = 6; z = \"6\"; ", &[("a", "t:2:17"), ("5", "t:4:5"), ("z", "t:6:12")])],
    );
    // In a text, a comment and a pattern it is a byte like others.
    let plain = " x = \"\n@include a\"; # c\n y =~ /\n@define b/; ${\n@c}; ";
    expressions(&format!("log {{ filterx {{{plain}}}; }};"), &[(plain, &[("${", "t:5:13")])]);
    expressions(
        "block log b(n()) { filterx { x;\n@define m 1\n `n` == `m` }; };\nblock filterx s(n()) { `n`;\n@define o 2\n `o`; };\n\
         log { filterx { s(n=7) }; };",
        &[("  7;\n\n 2;  ", &[("7", "t:5:24")])],
    );
    codes("log { filterx {\n@includes \"x\"\n}; };", &["P0020"]);
    codes("log { filterx {\n@include \"x\"\n a; };", &["P0030", "P0103"]);
    codes("log { filterx { a; \"", &["P0103"]);
}

#[test]
fn a_call_of_a_block_stands_anywhere_in_expressions() {
    let head = "block filterx p(a()) { /`a`}/ };\nblock filterx q(b(2)) { p(a=`b`) };\n";
    expressions(
        &format!("{head}log {{ filterx {{ x =~ q(b=1); d.q(1); $q; q; y = q (); }}; }};"),
        &[(" x =~   /1}/  ; d.q(1); $q; q; y =   /2}/  ; ", &[])],
    );
    codes("block filterx r() { r() };\nlog { filterx { r(); }; };", &["P0045"]);
    codes("block filterx r(n()) { `n` };\nlog { filterx { r(m=1, 2); }; };", &["P0043", "P0044", "P0042"]);
}

#[test]
fn all_errors_of_one_run() {
    codes(
        "source a { tcp() };\nfilter b { };\nlog { sauce };\ndestination { };\nlog { source(a); };",
        &["P0102", "P0120", "P0101", "P0105"],
    );
}
