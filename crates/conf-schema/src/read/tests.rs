//! Each kind of value, and each finding as a reader sees it.

use std::sync::Arc;
use std::time::Duration;

use conf_syntax::{LogItem, ParseOptions, Parsed, Statement};
use diag::{Diagnostics, render_all, render_verbose};

use super::{ReadContext, read, read_options};
use crate::{
    Change, Component, Context, Group, Kind, OptionSpec as Opt, Port, Positional, Preset, Settings, State,
    Switch, Word,
};

static INNER: Group = Group {
    name: "inner",
    options: &[
        Opt::new("servers", Kind::TextList, Preset::None, "Servers.").collects(),
        Opt::new("tries", Kind::Int { min: 1, max: 9 }, Preset::Int(3), "Tries."),
    ],
};

static SHARED: Group = Group {
    name: "shared",
    options: &[
        Opt::new("keep", Kind::Bool, Preset::Global("keep"), "Keep."),
        Opt::new("perm", Kind::Perm, Preset::Perm(0o600), "Mode."),
        Opt::not_yet("tls", "send in the clear"),
        Opt::no_effect("flush-timeout", "nothing waits"),
        Opt::new("old-way", Kind::Int { min: 0, max: 9 }, Preset::None, "Old.")
            .obsolete("write `tries(...)`"),
    ],
};

const FLAGS: &[Word] = &[
    Word::new("expect-hostname", "Yes.").undoes(&["no-hostname"]),
    Word::new("no-hostname", "No.").undoes(&["expect-hostname"]),
    Word::new("kernel", "Kernel."),
    Word::no_effect("threaded", "always so"),
    Word::not_yet("ignore-errors", "remove it"),
];

static DRIVER: Component = Component {
    context: Context::Source,
    name: "driver",
    aliases: &["fahrer"],
    positional: &[Positional { name: "path", kind: Kind::Template, required: true, help: "a path" }],
    groups: &[&SHARED],
    own: &[
        Opt::new("dns", Kind::BoolOr(&[Word::new("persist-only", "File.")]), Preset::Bool(true), "Dns."),
        Opt::new("count", Kind::Int { min: 0, max: 100 }, Preset::Int(10), "Count.").old(&["number"]),
        Opt::new("size", Kind::Size { min: 1, max: 1 << 20 }, Preset::Int(8192), "Size."),
        Opt::new("wait", Kind::Seconds { min: 0, max: 60 }, Preset::Int(2), "Wait.").alias(&["pause"]),
        Opt::new("part", Kind::Ratio, Preset::None, "Part."),
        Opt::new("word", Kind::Text, Preset::None, "Text."),
        Opt::new("tags", Kind::TextList, Preset::None, "Tags.").collects(),
        Opt::new("file", Kind::Path, Preset::None, "File."),
        Opt::new("template", Kind::Template, Preset::None, "Template."),
        Opt::new(
            "form",
            Kind::Choice(&[Word::new("rfc3164", "Old.").alias(&["bsd"]), Word::new("rfc3339", "New.")]),
            Preset::Text("rfc3164"),
            "Form.",
        ),
        Opt::new("flags", Kind::Flags(FLAGS), Preset::None, "Flags."),
        Opt::new("level", Kind::Severity, Preset::Text("notice"), "Level."),
        Opt::new("facility", Kind::Facility, Preset::Text("user"), "Facility."),
        Opt::new("bad", Kind::Regexp, Preset::None, "Bad."),
        Opt::new("zone", Kind::Zone, Preset::None, "Zone."),
        Opt::new("owner", Kind::Owner, Preset::None, "Owner."),
        Opt::new("encoding", Kind::Encoding, Preset::None, "Encoding."),
        Opt::new("port", Kind::Port, Preset::Int(514), "Port."),
        Opt::new("condition", Kind::Filter, Preset::None, "Condition."),
        Opt::new("values", Kind::Pairs, Preset::None, "Values.").collects(),
        Opt::new("failover", Kind::Block(&[&INNER]), Preset::None, "Others."),
        Opt::new("raw", Kind::Any, Preset::None, "Raw."),
    ],
    presets: &[("perm", Preset::Perm(0o666))],
    not_yet: &[("spoof", "remove it")],
    summary: "A driver.",
    example: "driver(\"x\")",
    cost: None,
};

static GLOBALS: Component = Component {
    context: Context::Options,
    name: "options",
    aliases: &[],
    positional: &[],
    groups: &[],
    own: &[Opt::new("keep", Kind::Bool, Preset::Bool(false), "Keep.")],
    presets: &[],
    not_yet: &[],
    summary: "Globals.",
    example: "",
    cost: None,
};

fn parse(call: &str) -> Parsed {
    let options = ParseOptions { read_files: false, ..ParseOptions::default() };
    let parsed =
        conf_syntax::parse_text("t", &format!("@version: 4.11\nsource s {{\n{call};\n}};\n"), &options);
    assert!(parsed.diagnostics.is_empty(), "{}", render_all(&parsed.diagnostics, &parsed.sources));
    parsed
}

fn read_with(call: &str, globals: Option<Arc<Settings>>) -> (Settings, String) {
    let parsed = parse(call);
    let mut diags = Diagnostics::new();
    let cx = ReadContext { sources: &parsed.sources, globals };
    let Some(Statement::Source(source)) = parsed.config.items.last() else { panic!("{call}") };
    let Some(LogItem::Call(call)) = source.body.first() else { panic!("a call") };
    let settings = read(call, &DRIVER, &cx, &mut diags);
    (settings, render_verbose(&diags, &parsed.sources))
}

fn good(options: &str) -> Settings {
    let (settings, found) = read_with(&format!("driver(\"x\" {options})"), None);
    assert_eq!(found, "", "{options}");
    settings
}

/// The findings for `call`, without the last line.
fn findings(call: &str) -> String {
    let (_, found) = read_with(call, None);
    let end = found.trim_end().rfind('\n').map_or(0, |i| i + 1);
    found[..end].to_string()
}

#[test]
fn each_kind_gives_its_value() {
    assert_eq!(good("keep(on)").bool("keep"), Some(true));
    assert_eq!(good("keep(0)").bool("keep"), Some(false));
    assert_eq!(good("dns(no)").switch("dns"), Some(Switch::No));
    assert_eq!(good("dns(persist_only)").switch("dns"), Some(Switch::Word("persist-only")));
    assert_eq!(good("count(7)").int("count"), Some(7));
    assert_eq!(good("size(64KiB)").size("size"), Some(65536));
    assert_eq!(good("wait(1.5)").seconds("wait"), Some(Duration::from_millis(1500)));
    assert_eq!(good("pause(3)").seconds("wait"), Some(Duration::from_secs(3)));
    assert_eq!(["part(0.25)", "part(1)"].map(|call| good(call).ratio("part")), [Some(0.25), Some(1.0)]);
    assert_eq!(good("word(10.0.0.1)").text("word"), Some("10.0.0.1"));
    let tags = good("tags(\"a\", b) tags(\"c\")");
    assert_eq!(tags.list("tags").iter().map(|t| t.text.as_str()).collect::<Vec<_>>(), ["a", "b", "c"]);
    assert_eq!(good("file(/tmp/x)").path("file"), Some(std::path::Path::new("/tmp/x")));
    assert_eq!(good("form(\"BSD\")").choice("form"), Some("rfc3164"));
    assert_eq!(good("level(warn)").number("level"), Some(4));
    assert_eq!(good("facility(local7)").number("facility"), Some(23));
    assert_eq!(good("facility(100)").number("facility"), Some(100));
    assert_eq!(good("bad('^a')").text("bad"), Some("^a"));
    assert_eq!(good("zone(\"+02:00\")").zone("zone").map(|z| z.offset_at(0)), Some(7200));
    assert_eq!(good("owner(root)").owner("owner"), Some(Change::Set("root")));
    assert_eq!(good("owner(0)").owner("owner"), Some(Change::Set("0")));
    assert_eq!(good("owner()").owner("owner"), Some(Change::Keep));
    assert_eq!(good("perm(0640)").perm("perm"), Some(Change::Set(0o640)));
    assert_eq!(good("perm(\"640\")").perm("perm"), Some(Change::Set(0o640)));
    assert_eq!(good("perm()").perm("perm"), Some(Change::Keep));
    assert_eq!(good("perm(-1)").perm("perm"), Some(Change::Keep));
    assert_eq!(good("owner(-1)").owner("owner"), Some(Change::Keep));
    assert_eq!(good("encoding(\"latin1\")").encoding("encoding").map(|e| e.name()), Some("ISO-8859-1"));
    assert_eq!(good("port(601)").port("port"), Some(Port::Number(601)));
    assert_eq!(good("port(\"601\")").port("port"), Some(Port::Number(601)));
    assert_eq!(good("port(syslog)").port("port"), Some(Port::Service("syslog")));
    assert!(good("condition(host(\"a\") and not level(debug))").filter("condition").is_some());
    assert_eq!(good("raw(1 \"x\" y(2))").args("raw").len(), 3);
}

#[test]
fn templates_have_a_hint_and_a_place() {
    let settings = good("template(int(\"$X\"))");
    let template = settings.template("template").unwrap();
    assert_eq!(
        (template.type_hint.as_ref().map(|n| n.text.as_str()), template.text.as_str()),
        (Some("int"), "$X")
    );
    let path = settings.template("path").unwrap();
    assert_eq!((path.type_hint.is_none(), path.text.as_str()), (true, "x"));
    assert!(settings.positional(0).is_some() && settings.positional(1).is_none());
    let (typed, found) = read_with("driver(string(\"y\"))", None);
    assert_eq!((found.as_str(), typed.template("path").unwrap().text.as_str()), ("", "y"));
}

#[test]
fn pairs_take_both_forms() {
    let settings = good("values(\"a\" => \"$A\" b(int(\"1\"))) values(c => 3) values(\"d\" int(\"4\"))");
    let pairs: Vec<_> =
        settings.pairs("values").iter().map(|p| (p.key.text.as_str(), p.value.text.as_str())).collect();
    assert_eq!(pairs, [("a", "$A"), ("b", "1"), ("c", "3"), ("d", "4")]);
}

#[test]
fn later_flags_undo_their_opposites() {
    let one = good("flags(kernel expect-hostname no_hostname)");
    assert!(
        one.flag("flags", "no-hostname")
            && !one.flag("flags", "expect-hostname")
            && one.flag("flags", "kernel")
    );
    let two = good("flags(no-hostname, kernel) flags(expect-hostname)");
    assert_eq!(two.flags("flags"), ["kernel", "expect-hostname"]);
    assert!(!good("").flag("flags", "kernel"));
}

#[test]
fn what_is_not_set_has_its_preset() {
    let settings = good("");
    assert_eq!(settings.int("count"), Some(10));
    assert_eq!(settings.size("size"), Some(8192));
    assert_eq!(settings.seconds("wait"), Some(Duration::from_secs(2)));
    assert_eq!(settings.perm("perm"), Some(Change::Set(0o666)), "the component's, not the group's");
    assert_eq!(settings.choice("form"), Some("rfc3164"));
    assert_eq!(settings.switch("dns"), Some(Switch::Yes));
    assert_eq!((settings.number("level"), settings.number("facility")), (Some(5), Some(1)));
    assert_eq!(settings.port("port"), Some(Port::Number(514)));
    assert_eq!((settings.text("word"), settings.bool("keep")), (None, None));
    assert!(settings.list("tags").is_empty() && settings.block("failover").is_none());
    assert!(!settings.is_set("count"));
}

#[test]
fn options_inherit_from_the_global_ones() {
    let parsed = conf_syntax::parse_text(
        "t",
        "@version: 4.11\noptions { keep(no); };\noptions { keep(yes); };\n",
        &ParseOptions::default(),
    );
    let mut diags = Diagnostics::new();
    let cx = ReadContext { sources: &parsed.sources, globals: None };
    let calls = parsed.config.items.iter().flat_map(|s| match s {
        Statement::Options(o) => o.options.as_slice(),
        _ => &[],
    });
    let globals = Arc::new(read_options(calls, &GLOBALS, &cx, &mut diags));
    assert!(diags.is_empty(), "a later options statement wins without a warning");
    let (plain, _) = read_with("driver(x)", Some(globals.clone()));
    assert_eq!(plain.bool("keep"), Some(true));
    let (own, _) = read_with("driver(x keep(no))", Some(globals.clone()));
    assert_eq!(own.bool("keep"), Some(false));
    assert!(globals.unread().is_empty(), "asked for through the driver");
}

#[test]
fn blocks_have_settings_of_their_own() {
    let settings = good("failover(servers(\"a\" \"b\") servers(c))");
    let block = settings.block("failover").unwrap();
    assert_eq!(block.list("servers").len(), 3);
    let settings = good("failover(servers([\"a\", \"b\"], c))");
    assert_eq!(settings.block("failover").unwrap().list("servers").len(), 3);
    assert_eq!(block.int("tries"), Some(3));
}

#[test]
fn what_was_never_asked_for_is_known() {
    let settings = good("failover(servers(a)) flags(kernel)");
    assert!(settings.unread().contains(&"failover".to_string()));
    let names: Vec<String> = settings.unread();
    assert!(
        !names.contains(&"tls".to_string()) && !names.contains(&"flush-timeout".to_string()),
        "{names:?}"
    );
    assert!(names.contains(&"path".to_string()) && names.contains(&"old-way".to_string()));
    settings.block("failover").unwrap().list("servers");
    settings.flag("flags", "kernel");
    settings.int("no-such-option");
    let unread = settings.unread();
    assert!(
        unread.contains(&"failover(tries)".to_string()) && !unread.contains(&"failover(servers)".to_string())
    );
    assert!(
        unread.contains(&"flags(no-hostname)".to_string()) && !unread.contains(&"flags(kernel)".to_string())
    );
    assert!(!unread.contains(&"flags(threaded)".to_string()), "without effect");
    assert_eq!(settings.undeclared(), ["no-such-option"]);
}

#[test]
fn all_errors_are_reported_with_place_and_remedy() {
    let call = "driver(\"x\"\n  cuont(3)\n  count(300)\n  keep(\"yes\")\n  form(rfc1234)\n  flags(kernle ignore-errors)\n  \
                tls(x)\n  spoof(yes)\n  zone(\"Mars\")\n  word(a b)\n  wait()\n)";
    let expected = r#"t:4:3: error[O0101]: `driver()` has no option `cuont()`
    4 |   cuont(3)
      |   ^^^^^
  help: did you mean `count`?
t:5:9: error[O0104]: `count()` must be from 0 to 100
    5 |   count(300)
      |         ^^^
t:6:8: error[O0103]: `keep` takes yes or no, not a string
    6 |   keep("yes")
      |        ^^^^^
  help: write it without quotes
t:7:8: error[O0105]: `form()` does not know `rfc1234`
    7 |   form(rfc1234)
      |        ^^^^^^^
  note: known: `rfc3164`, `rfc3339`
t:8:9: error[O0105]: `flags()` does not know `kernle`
    8 |   flags(kernle ignore-errors)
      |         ^^^^^^
  note: known: `expect-hostname`, `no-hostname`, `kernel`
  help: did you mean `kernel`?
t:8:16: error[O0110]: `flags(ignore-errors)` is not available in this version of penstock
    8 |   flags(kernle ignore-errors)
      |                ^^^^^^^^^^^^^
  help: remove it
t:9:3: error[O0102]: `tls()` of `driver()` is not available in this version of penstock
    9 |   tls(x)
      |   ^^^
  help: send in the clear
t:10:3: error[O0102]: `spoof()` of `driver()` is not available in this version of penstock
   10 |   spoof(yes)
      |   ^^^^^
  help: remove it
t:11:8: error[O0105]: `zone()`: unknown time zone `Mars`
   11 |   zone("Mars")
      |        ^^^^^^
  help: write a name of the time zone database, as `Europe/Budapest`, or an offset, as `+02:00`
t:12:10: error[O0109]: `word()` takes one value: a text
   12 |   word(a b)
      |          ^
  help: put a text with blanks in it between quotes
t:13:3: error[O0108]: `wait()` needs a number of seconds
   13 |   wait()
      |   ^^^^^^
"#;
    assert_eq!(findings(call), expected);
}

#[test]
fn warnings_say_what_counts() {
    let call = "driver(\"x\"\n  count(1) count(2)\n  number(3)\n  flush_timeout(9)\n  old-way(1)\n  perm(640)\n  flags(threaded)\n)";
    let (settings, found) = read_with(call, None);
    assert_eq!(settings.int("count"), Some(3));
    assert_eq!(settings.perm("perm"), Some(Change::Set(640)));
    assert!(found.ends_with("0 errors, 5 warnings\n"), "{found}");
    let expected = r#"t:4:12: warning[O0106]: `count()` is given twice: this one counts
    4 |   count(1) count(2)
      |            ^^^^^^^^
  t:4:3: note: given here before
    4 |   count(1) count(2)
      |   ^^^^^^^^
"#;
    assert!(found.contains(expected), "{found}");
    for part in [
        "warning[O0107]: `number()` is obsolete\n",
        "help: write `count(...)`",
        "remark[O0113]: `flush-timeout()` has no effect\n",
        "note: nothing waits",
        "warning[O0107]: `old-way()` is obsolete\n",
        "warning[O0114]: `perm(640)` is read as a decimal number and means mode 01200\n",
        "help: write `perm(0640)`",
        "remark[O0113]: `flags(threaded)` has no effect\n",
    ] {
        assert!(found.contains(part), "{part} in\n{found}");
    }
}

#[test]
fn values_without_a_name_are_checked() {
    let missing = findings("driver(count(1))");
    assert!(missing.contains("error[O0108]: `driver()` needs a path\n"), "{missing}");
    let second = findings("driver(\"x\" \"y\")");
    assert!(second.contains("error[O0109]: `driver()` takes no second value without a name\n"), "{second}");
    let bare = findings("driver(\"x\" keep)");
    assert!(bare.contains("help: the option is written `keep(...)`"), "{bare}");
    assert!(findings("driver(a => b)").contains("error[O0103]: `path` takes a template, not a pair\n"));
}

#[test]
fn a_wrong_value_leaves_the_option_unset() {
    for (call, code) in [
        ("size(0)", "O0104"),
        ("size(2MiB)", "O0104"),
        ("wait(61)", "O0104"),
        ("wait(-1)", "O0104"),
        ("port(70000)", "O0104"),
        ("port(\"\")", "O0103"),
        ("perm(0888)", "O0103"),
        ("perm(077777)", "O0104"),
        ("level(loud)", "O0105"),
        ("facility(200)", "O0104"),
        ("encoding(\"klingon\")", "O0105"),
        ("count(1.5)", "O0103"),
        ("count(\"1\")", "O0103"),
        ("keep(true)", "O0103"),
        ("values(\"a\")", "O0103"),
        ("form(rfc3164(x))", "O0103"),
        ("failover(tries(0))", "O0104"),
    ] {
        let (settings, found) = read_with(&format!("driver(\"x\" {call})"), None);
        assert!(found.contains(&format!("error[{code}]")), "{call}: {found}");
        let name = call.split('(').next().unwrap_or_default();
        assert!(!settings.is_set(name) || name == "failover", "{call}");
    }
}

#[test]
fn repeating_inside_a_block_is_how_blocks_override() {
    let text = "@version: 4.11\nblock source b(...) { driver(\"x\" count(1) `__VARARGS__`); };\nsource s { b(count(2)); };\n";
    let parsed = conf_syntax::parse_text("t", text, &ParseOptions::default());
    let mut diags = Diagnostics::new();
    let cx = ReadContext { sources: &parsed.sources, globals: None };
    let Some(Statement::Source(source)) = parsed.config.items.last() else { panic!("a source") };
    let call = source.body.iter().find_map(|i| match i {
        LogItem::Call(c) => Some(c),
        _ => None,
    });
    let settings = read(call.unwrap(), &DRIVER, &cx, &mut diags);
    assert_eq!(render_all(&diags, &parsed.sources), "");
    assert_eq!(settings.int("count"), Some(2));
}

#[test]
fn components_are_found_by_name_alias_and_reason() {
    static ALL: &[&Component] = &[&DRIVER];
    let catalogue = crate::Catalogue {
        components: ALL,
        unavailable: &[crate::Unavailable { context: Context::Source, name: "kafka", remedy: "wait" }],
    };
    let mut found = String::new();
    for name in ["fahrer", "kafka", "drivre"] {
        let parsed = parse(&format!("{name}(x)"));
        let mut diags = Diagnostics::new();
        let Some(Statement::Source(source)) = parsed.config.items.last() else { panic!("a source") };
        let Some(LogItem::Call(call)) = source.body.first() else { panic!("a call") };
        let component = catalogue.resolve(Context::Source, call, &mut diags);
        assert_eq!(component.is_some(), name == "fahrer");
        found.push_str(&render_all(&diags, &parsed.sources));
        let mut diags = Diagnostics::new();
        assert!(catalogue.resolve(Context::Destination, call, &mut diags).is_none());
        let elsewhere = render_all(&diags, &parsed.sources);
        assert_eq!(elsewhere.contains("note: `driver()` is a source"), name == "fahrer", "{elsewhere}");
    }
    assert!(
        found.contains("error[O0112]: `kafka()` is a source of syslog-ng that penstock does not have yet\n")
    );
    assert!(
        found.contains("error[O0111]: unknown source `drivre()`\n")
            && found.contains("did you mean `driver`?")
    );
}

#[test]
fn the_manual_has_everything() {
    let page = crate::manual::page(&DRIVER);
    for option in DRIVER.table().options() {
        assert!(page.contains(&format!("`{}()`", option.name)), "{}\n{page}", option.name);
    }
    assert!(page.contains("| `wait()`, `pause()` | a number of seconds | 2 | Wait. |"), "{page}");
    assert!(
        page.contains("## Options in `failover()`")
            && page.contains("| `perm()` | an octal file mode (as `0640`) | 0666 |")
    );
    assert!(
        page.contains("- `ignore-errors`: not available; remove it.")
            && page.contains("| `spoof()` | remove it |")
    );
    let json: serde_json::Value = serde_json::from_str(&crate::manual::options_json(&[&DRIVER])).unwrap();
    let options = json["components"][0]["options"].as_array().unwrap();
    assert_eq!(options.len(), DRIVER.table().options().count());
    assert!(options.iter().any(|o| o["name"] == "failover" && o["options"][0]["name"] == "servers"));
    assert!(DRIVER.table().options().any(|o| o.state == State::NotYet("send in the clear")));
}

#[test]
fn the_sample_sets_every_option() {
    let call = crate::sample::call(&DRIVER, &|name| (name == "count").then(|| "42".to_string()));
    let (settings, found) = read_with(&call, None);
    assert_eq!(found, "", "{call}");
    assert_eq!(settings.int("count"), Some(42));
    for option in DRIVER.table().options().filter(|o| o.state == State::Supported) {
        assert!(settings.is_set(option.name), "{} in {call}", option.name);
    }
}

/// A list that came out empty where it was made is a list without texts.
#[test]
fn a_list_may_be_empty() {
    let (settings, found) = read_with("driver(\"x\" tags())", None);
    assert_eq!(found, "", "{found}");
    assert!(settings.is_set("tags") && settings.list("tags").is_empty());
}
