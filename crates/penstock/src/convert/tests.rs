use super::output;
use super::statements::Converter;
use std::path::Path;

/// The log paths of what a configuration becomes, and what is left of it.
fn converted(text: &str) -> (String, Vec<String>) {
    let mut converter = Converter::default();
    converter.rules = converter.text(text, Path::new("r.conf"));
    let (text, left) = output::render(converter, "r.conf");
    (text, left.into_iter().map(|left| format!("{}: {}", left.at, left.why)).collect())
}

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    let (made, left) = converted(&format!("input(type=\"imtcp\" port=\"514\")\n{text}"));
    assert_eq!(left, Vec::<String>::new(), "{made}");
    let paths: Vec<&str> = made.lines().map(str::trim).filter(|line| line.starts_with("log ")).collect();
    assert_eq!(paths, expected, "{made}");
}

#[test]
fn rules_are_log_paths() {
    check(
        "mail.* -/var/log/mail.log\n",
        &["log { source(s_default); filter { facility(mail); }; destination(d_mail_log); };"],
    );
    check(
        ":programname, isequal, \"x\" /var/log/x\n& stop\n*.* /var/log/all\n",
        &[
            "log { source(s_default); filter { match('^x(/|$)' value(\"PROGRAM\")); }; destination(d_x); flags(final); };",
            "log { source(s_default); destination(d_all); };",
        ],
    );
    check(
        "if $programname == 'x' then { action(type=\"omfile\" file=\"/x\") stop } else /y\n",
        &[
            "log { source(s_default); filter { match('^x(/|$)' value(\"PROGRAM\")); }; destination(d_x); flags(final); };",
            "log { source(s_default); filter { not match('^x(/|$)' value(\"PROGRAM\")); }; destination(d_y); };",
        ],
    );
}

#[test]
fn what_stops_in_a_block_stops_behind_it() {
    check(
        "if $syslogseverity <= 3 then {\n if $programname == 'x' then stop\n action(type=\"omfile\" file=\"/a\")\n}\n*.* /b\n",
        &[
            "log { source(s_default); filter { level(err..emerg); };",
            "log { filter { match('^x(/|$)' value(\"PROGRAM\")); }; flags(final); };",
            "log { destination(d_a); };",
            "log { source(s_default); filter { level(err..emerg) and match('^x(/|$)' value(\"PROGRAM\")); }; flags(final); };",
            "log { source(s_default); destination(d_b); };",
        ],
    );
}

#[test]
fn what_is_not_converted_is_said() {
    for (text, place, why) in [
        ("module(load=\"mmnormalize\")", "r.conf:1", "the module mmnormalize"),
        ("\n$NoSuchThing on", "r.conf:2", "not known"),
        ("*.* :ommysql:host,db,user,pw", "r.conf:1", "the action `:ommysql"),
        ("set $!x = \"y\";", "r.conf:1", "variables"),
        ("if $!x == 'y' then /z", "r.conf:1", "the property $!x"),
        ("template(name=\"t\" type=\"subtree\" subtree=\"$!\")", "r.conf:1", "type subtree"),
        ("$template t,\"%msg:F,44:2%\"", "r.conf:1", "characters F,44 to 2"),
        ("*.* action(type=\"omfile\" file=\"/x\" nosuch=\"y\")", "r.conf:1", "the parameter nosuch"),
        ("garbage", "r.conf:1", "not understood"),
        ("!sshd", "r.conf:1", "a block of a program"),
        ("action(type=", "r.conf:1", "parameters are not understood"),
    ] {
        let (made, left) = converted(text);
        let found = left.iter().any(|left| left.starts_with(place) && left.contains(why));
        assert!(found, "{text}: {left:?}");
        assert!(made.contains("not converted"), "{made}");
    }
}

#[test]
fn no_text_makes_it_stumble() {
    let all = include_str!("tests/everything.conf");
    for end in (0..all.len()).filter(|end| all.is_char_boundary(*end)) {
        let _ = converted(&all[..end]);
        let _ = converted(&all[end..]);
    }
}
