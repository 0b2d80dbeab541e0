//! The forms a template is written in.

use super::*;

#[test]
fn macros_and_text() {
    check("", "");
    check("plain text, 100% \\n", "plain text, 100% \\n");
    check("$HOST", "host");
    check("$HOST.log", "host.log");
    check("${HOST}x", "hostx");
    check("$HOST$PID", "host123");
    check("a$$b$$$HOST", "a$b$host");
    check("5 $ 3 $", "5 $ 3 $");
    check("$.x", "$.x");
    check("\u{e9}$HOST\u{e9}", "\u{e9}host\u{e9}");
}

#[test]
fn defaults_and_unset_names() {
    check("${no.such.name}|$no_such_name|", "||");
    check("${HOST:-none}", "host");
    check("${no.such.name:-none at all}", "none at all");
    check("${no.such.name:-}", "");
    check("${MSGID:--}", "-");
    check("${SDATA:-x$y}", "x$y");
    check_in(&with("a:b", "v"), "${a:b}", "v");
    check_in(&with(".app.name", "v"), "${.app.name}", "v");
}

#[test]
fn references_to_the_context() {
    check("${HOST}@0|${HOST}@1|$HOST@1|", "host||host@1|");
    check("${HOST}@0@", "host@");
    check("${HOST}@@example|$HOST@@example", "host@example|host@@example");
    check("$HOST@example", "host@example");
    check("user@$HOST", "user@host");
    check("$(echo a)@@b", "a@b");
    check_error("${HOST}@99999999999", 7, "too large");
}

#[test]
fn matches() {
    let mut batch = batch();
    for (n, value) in [(0u8, "a b,c"), (1, "a"), (3, "b,c")] {
        batch.set(0, NameId::of_match(n), value.as_bytes(), ValueType::String);
    }
    check_in(&batch, "$0/$1/$2/${3}", "a b,c/a//b,c");
    check_in(&batch, "$*", "a,\"\",\"b,c\"");
    check_in(&batch, "${*}", "a,\"\",\"b,c\"");
    check("$*", "");
}

#[test]
fn calls_split_their_arguments() {
    check("$(echo)", "");
    check("$( echo a  b )c", "a bc");
    check("$(echo 'a  b' \"c 'd'\")", "a  b c 'd'");
    check("$(echo a\\ b \\) \\$HOST)", "a b ) host");
    // In quotes a backslash is one, as in syslog-ng; outside it takes the next character, also in calls that
    // are arguments, once for each.
    check("$(echo 'a\\' \"\\\\t\")$(length \"\\t\")", "a\\ \\\\t2");
    check("$(echo $(length '\\)' a\\\\b))", "2 2");
    check("$(echo pre'mid dle'post)", "premid dlepost");
    check("$(echo ${HOST} '$PID $PID')", "host 123 123");
    check("$(echo $(echo 'a  b') \"$(echo 'c  d')\")", "a  b c  d");
    check("$(echo $(echo $(echo \"x)\")))", "x)");
    check("$(echo (a b) c)", "(a b) c");
    check("$(echo '')|", "|");
    check("$(echo '' '')|", " |");
    check("$(echo\n\ta)", "a");
}

#[test]
fn old_configurations_escape_with_backslashes() {
    let old = TemplateOptions { version: (3, 4), ..Default::default() };
    check_opts(&old, "\\$HOST\\\\", "$HOST\\");
    check("\\$HOST", "\\host");
}

/// Names nobody can set, or only with some effort, are names of values as in syslog-ng.
#[test]
fn odd_names_are_names_of_values() {
    check("[${$HOST}${ HOST }${}${a/b}${.a b}]", "[]");
    check("[${:-x}${$.tmp.pri:-y}]", "[xy]");
    check_in(&with("$.tmp.pri", "13"), "${$.tmp.pri}", "13");
}

#[test]
fn errors_say_where() {
    check_error("abc ${HOST", 4, "closing brace");
    check_error("a$(echo b", 1, "closing parenthesis");
    check_error("a$(echo 'b)", 8, "quote");
    check_error("a$(echo b\\", 1, "closing parenthesis");
    check_error("$()", 0, "no name");
    check_error("a $(ecko b)", 2, "did you mean $(echo)");
    check_error("$(python f)", 9, "Python cannot be used here");
    check_error("$(echo 'a \\$(nope)')", 11, "no template function $(nope)");
    check_error("$(echo x$(echo \"y${z\"))", 17, "closing brace");
    check_error("$(substr a)", 0, "2 to 3 arguments, not 1");
    check_error("$(greeting x)", 0, "no arguments");
    check_error("$(template nope)", 11, "no template named `nope`");
    check_error("$(if 'what' a b)", 6, "`what` is no filter");
    check_error("$(sanitize -x a)", 11, "no option `-x`");
    check_error("$(sanitize -r)", 11, "needs a value");
}

#[test]
fn calls_are_bounded_in_depth() {
    let nest = |depth: usize| format!("{}x{}", "$(echo ".repeat(depth), ")".repeat(depth));
    check(&nest(32), "x");
    check_error(&nest(33), 32 * 7, "inside one another");
    check_error(&nest(2000), 32 * 7, "inside one another");
}

#[test]
fn the_configuration_s_own_names() {
    check("$(greeting)!", "hi host!");
    check("$(template t_program)", "program=app");
    check("$(template 't_program')", "program=app");
    let opts = TemplateOptions { frac_digits: 3, ..Default::default() };
    check_opts(&opts, "$(template t_iso)", "2026-11-21T10:00:00.123+01:00");
    let named =
        |text: &str| render(&Template::named_or_text(text, &opts, &scope()).expect("compiles"), &batch());
    assert_eq!(named("t_iso"), "2026-11-21T10:00:00.123+01:00");
    assert_eq!(named("no_such_template"), "no_such_template");
}

#[test]
fn escaping() {
    let opts = TemplateOptions { escape: true, ..Default::default() };
    let mut batch = with("v", "it's \"a\\b\"\x01\n");
    batch.set(0, NameId::PROGRAM, b"a'b", ValueType::String);
    let check = |text: &str, expected: &str| assert_eq!(render_with(text, &opts, &batch), expected, "{text}");
    check("'$v'", "'it\\'s \\\"a\\\\b\\\"\\001\\012'");
    check("\"$PROGRAM\" $HOST", "\"a\\'b\" host");
    // What functions print is not escaped: a format has escapes of its own.
    check("$(echo \"$PROGRAM\" \"'\")", "a'b '");
    let json = r#"{"v":"it's \"a\\b\"\u0001\n","p":"a'b"}"#;
    check("$(format-json p=$PROGRAM --key v)", json);
    check("${v:-'}${w:-'}", "it\\'s \\\"a\\\\b\\\"\\001\\012'");
    check("<$PRI>", "<38>");
    let both = TemplateOptions { escape_arguments: true, ..opts.clone() };
    assert_eq!(render_with("$(echo $PROGRAM) $PROGRAM", &both, &batch), "a\\'b a\\'b");
    assert_eq!(render_with("$(format-json p=$PROGRAM --key v)", &both, &batch), json);
    // A named template escapes as its own statement says.
    check("$(template t_program)", "program=a'b");
}

#[test]
fn what_a_template_tells_about_itself() {
    let compile =
        |text: &str| Template::compile(text, &TemplateOptions::default(), &scope()).expect("compiles");
    assert_eq!(compile("a$(echo b)$$").literal(), Some(&b"ab$"[..]));
    assert_eq!(compile("x").literal(), Some(&b"x"[..]));
    assert_eq!(compile("").literal(), Some(&b""[..]));
    assert_eq!(compile("a$HOST").literal(), None);
    assert_eq!(compile("/var/log/$HOST/x").literal_prefix(), b"/var/log/");
    assert_eq!(compile("/$HOST").literal_prefix(), b"/");
    assert_eq!(compile("$HOST/x").literal_prefix(), b"");
    assert_eq!(compile("$MSG").single_name(), Some(NameId::MESSAGE));
    assert_eq!(compile("${my.name}").single_name(), intern("my.name"));
    assert_eq!(compile("$7").single_name(), Some(NameId::of_match(7)));
    for text in ["$MSG ", "$MSGHDR", "${MSG:-x}", "$FACILITY", "x", "$(echo $MSG)"] {
        assert_eq!(compile(text).single_name(), None, "{text}");
    }
    assert_eq!(value_name("MSG"), Some(NameId::MESSAGE));
    assert_eq!((value_name("HOST"), value_name("MSGHDR")), (Some(NameId::HOST), None));
}

#[test]
fn what_a_template_reads() {
    let reads = |text: &str| {
        let mut demand = record::Demand::default();
        Template::compile(text, &TemplateOptions::default(), &scope()).expect("compiles").reads(&mut demand);
        demand.described().join(" ")
    };
    assert_eq!(reads("plain $LOGHOST $C_DATE $R_DATE $SOURCEIP"), "");
    assert_eq!(reads("$HOST ${MSG:-x}"), "HOST MESSAGE");
    assert_eq!(reads("$MSGHDR"), "LEGACY_MSGHDR PID PROGRAM");
    assert_eq!(reads("$DATE"), "time stamp");
    assert_eq!(reads("$S_YEAR"), "time stamp");
    assert_eq!(reads("<$PRI>$FACILITY"), "PRI");
    assert_eq!(reads("$TAGS"), "tags");
    assert_eq!(reads("$SDATA"), "SDATA");
    assert_eq!(reads("${.SDATA.a.b}"), ".SDATA.a.b SDATA");
    assert_eq!(reads("$RAWMSG"), "RAWMSG");
    assert_eq!(reads("$(if yes $a $b)$(template t_program)"), "PRI PROGRAM a b");
    assert_eq!(reads("$(format-date %Y)$(or $c)$(map $d $e)"), "c d e time stamp");
    // Names that are given need no look at all others.
    assert_eq!(reads("$(format-json --scope sdata --key user,ISODATE)"), "SDATA time stamp user");
}
