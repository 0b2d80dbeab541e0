use super::*;
use crate::configuration::Configuration;

const BASE: &str = "options { stats(freq(0)); log-fifo-size(5000); };\n\
    source s { network(port(1514)); };\n\
    template t { template(\"$MSG\\n\"); };\n\
    filter f_app { program(\"app\") and not host(\"bad\"); };\n\
    rewrite r { set(\"x\" value(\"X\")); };\n\
    destination d_app { file(\"/tmp/app\" template(t)); };\n\
    destination d_all { network(\"10.0.0.1\" port(514)); };\n\
    log { source(s); filter(f_app); destination(d_app); flags(final); };\n\
    log { source(s); rewrite(r); destination(d_all); destination(d_app); };\n";

fn outline(text: &str) -> Outline {
    let configuration = Configuration::read_text("x.conf", &format!("@version: 4.11\n{text}"));
    assert!(!configuration.has_errors(), "{}", configuration.report());
    Outline::of(&configuration)
}

/// Each difference in a line.
fn differences(old: &str, new: &str) -> Vec<String> {
    let found = compare(&outline(old), &outline(new));
    let line = |d: &Difference| {
        let text = |side: &Option<Side>| side.as_ref().map_or("", |side| &side.text).to_owned();
        format!("{} {}: {}: {} > {}", d.change.sign(), d.within.join(" "), d.what, text(&d.old), text(&d.new))
    };
    found.iter().map(line).collect()
}

fn check(change: impl Fn(String) -> String, expected: &[&str]) {
    let found = differences(BASE, &change(BASE.to_owned()));
    assert_eq!(found, expected);
}

#[test]
fn what_means_the_same_is_no_difference() {
    for (old, new) in [
        ("", "# a comment\n\n"),
        ("program(\"app\") and not host(\"bad\")", "not host('bad') and program('app')"),
        ("template(t)", "template(\"$MSG\\n\")"),
        ("f_app", "f_other"),
        ("rewrite(r);", "rewrite { set('x', value(X)); };"),
        ("destination(d_all); destination(d_app);", "destination(d_app); destination(d_all);"),
        ("log-fifo-size(5000)", "log_fifo_size(5000)"),
        ("port(1514)", "ip(\"0.0.0.0\") port(1514)"),
        (" port(514)", ""),
        ("filter(f_app);", "filter { program(\"app\"); }; filter { not host(\"bad\"); };"),
        ("log {", "filter f_unused { program(z); };\nlog {"),
    ] {
        check(|text| text.replacen(old, new, if old == "f_app" { 9 } else { 1 }), &[]);
    }
    // A name may have blanks in it.
    let blanks = BASE.replace("source s {", "source \"to b a\" {").replace("source(s)", "source(\"to b a\")");
    assert_eq!(differences(&blanks, &blanks), Vec::<String>::new());
    // Where a message may end, the order of paths counts; of others it does not.
    let turned = |text: &str| {
        let (before, paths) = text.split_at(text.find("log {").expect("a log path"));
        let (one, other) = paths.split_once("};\n").expect("two of them");
        format!("{before}{other}{one}}};\n")
    };
    let plain = BASE.replace(" flags(final);", "");
    assert_eq!(differences(&plain, &turned(&plain)), Vec::<String>::new());
    let moved = differences(BASE, &turned(BASE));
    assert_eq!(moved.len(), 1, "{moved:?}");
    assert!(moved[0].starts_with("~ : log path x.conf:10 now stands behind log path x.conf:9"), "{moved:?}");
}

#[test]
fn what_means_something_else_is_said() {
    check(
        |text| text.replace("port(514)", "port(6514)"),
        &["~ destination d_all network(): port: 514 > 6514"],
    );
    check(
        |text| text.replace("\"$MSG\\n\"", "\"$HOST $MSG\\n\""),
        &["~ destination d_app file(): template: \"$MSG\\n\" > \"$HOST $MSG\\n\""],
    );
    check(
        |text| text.replace("host(\"bad\")", "host(\"worse\")"),
        &[
            "~ log path x.conf:9: filter: not host(\"bad\") and program(\"app\") > not host(\"worse\") and program(\"app\")",
        ],
    );
    check(
        |text| text.replace(" rewrite(r);", ""),
        &["- log path x.conf:10: rewrite set(\"x\" value(\"X\")): set(\"x\" value(\"X\")) > "],
    );
    check(|text| text.replace("d_all", "d_rest"), &["~ : destination d_all is now d_rest: d_all > d_rest"]);
    check(
        |text| text.replace("port(514)", "transport(rltp)"),
        &[
            "~ destination d_all network(): port: 514 > 35514",
            "~ destination d_all network(): transport: \"tcp\" > \"rltp\"",
        ],
    );
    check(
        |text| format!("{text}log {{ source(s); destination(d_all); }};\n"),
        &["+ : log path x.conf:11:  > "],
    );
}

#[test]
fn a_global_option_says_who_inherits_it() {
    let found = compare(&outline(BASE), &outline(&BASE.replace("5000", "6000")));
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].within.join(""), found[0].what.as_str()), ("options".to_owned(), "log-fifo-size"));
    assert_eq!(found[0].inherited_by, ["destination d_all network()", "destination d_app file()"]);
}
