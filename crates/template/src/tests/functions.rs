//! Every template function.

use super::*;
use proptest::prelude::*;
use record::tag_id;

/// What they do in the manual is a test of the crate `filter`, where conditions are filters.
#[test]
fn no_function_stands_twice() {
    let mut names: Vec<&str> = functions().map(|f| f.name).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count, "a name is there twice");
}

#[test]
fn text() {
    check("$(length abc '' ab)", "3 0 2");
    check("$(substr hello 1)", "ello");
    check("$(substr hello 1 2)", "el");
    check("$(substr hello -3)", "llo");
    check("$(substr hello -5)|$(substr hello -6)|$(substr hello 2 -6)", "hello||");
    check("$(substr hello 1 -1)", "ell");
    check("$(substr hello 4 -3)|$(substr hello 9 1)|$(substr hello x)|$(substr hello 1 2x)", "|||");
    check("$(substr hello ' +1')|$(substr hello '1 ')|$(substr hello 0x1)|$(substr hello '')", "ello|||");
    check("$(substr $MESSAGE 0 5)", "hello");
    check("$(strip '  a b ' ' c')|$(strip '' a ' ' b)", "a b c|a b");
    check("$(lowercase $FACILITY 'ABC ÁŰ')|$(uppercase 'straße é')", "auth abc áű|STRASSE É");
    check("$(sanitize a/b 'c\td' ..)", "a_b/c_d/..");
    check("$(sanitize -C -i ab -r - 'a\tb/c')", "-\t-/c");
    check("$(sanitize --invalid-chars=x --replacement=. axb)", "a.b");
    check("$(sanitize -- -c)", "-c");
    check_error("$(sanitize -r xy a)", 17, "one character");
    check("$(replace-delimiter ' ' '' $MESSAGE)", "helloworld");
    check("$(indent-multi-line 'a\n\tb\nc')", "a\n\tb\n\tc");
    check("$(padding abc 2)|$(padding abc 6)|$(padding x 6 ab)", "abc|   abc|ababax");
    check(
        "$(padding x 99999999999 ab)",
        &render_with("$(padding x 65536 ab)", &TemplateOptions::default(), &batch()),
    );
    check("$(padding x -5)$(padding y what)", "xy");
    check("$(binary 0x41 300)", "A?");
}

#[test]
fn logic() {
    check("$(if yes $HOST b)|$(if 'no' a $PID)|$(if no a)", "host|123|");
    check("$(or '' '' $PID)|$(or)|$(or $MSGID ${x:-y})", "123||y");
    check("$(or '' a $PID)|$(or $MSGID '' a $PID)|$(or '' $MSGID '')", "a|a|");
    let mut batch = batch();
    batch.set_tag(0, tag_id("t_known").expect("room"));
    check_in(&batch, "$(tag t_known)$(tag t_other)", "10");
    check_in(&batch, "$(tag t_known a)|$(tag t_other a)|$(tag t_other a b)", "a|0|b");
    check_in(&batch, "$(tags-head t_other t_known)", "t_known");
    check_error("$(tag $HOST)", 6, "fixed text");
}

#[test]
fn numbers() {
    check("$(+ 1 -2)|$(- 5 7)|$(* -3 4)|$(/ 9 4)|$(% -9 4)", "-1|-2|-12|2|-1");
    check("$(+ 1.5 1)|$(/ 1 3.0)", "2.50000000000000000000|0.33333333333333331483");
    check("$(round 7 2)|$(round 2.0 3)|$(+ '1 ' 2)|$(+ 0x10 0)", "7.00|2.000|NaN|16.00000000000000000000");
    check("$(/ 1 0)|$(% 1 0)|$(+ a 1)|$(+ '' 1)|$(/ 1.0 0)", "NaN|NaN|NaN|NaN|NaN");
    check("$(+ 9223372036854775807 1)|$(/ -9223372036854775808 -1)", "NaN|NaN");
    check("$(+ $PID 10)", "133");
    check("$(+ inf 1)$(+ nan 1)", "NaNNaN");
    check(
        "$(round 2.5)|$(floor -1.5)|$(ceil 1.21 1)|$(round 7)|$(round x)|$(round 1.5 -1)",
        "3|-2|1.3|7|NaN|NaN",
    );
}

#[test]
fn lists() {
    check("$(list-head '')|$(list-head 'a')|$(list-head '\"a,b\",c')", "|a|a,b");
    check("$(list-tail a)|$(list-tail '')|$(list-tail a b)", "||b");
    check(
        "$(list-nth 0 'a,b')|$(list-nth 2 'a,b')|$(list-nth -2 'a,b')|$(list-nth -3 'a,b')|$(list-nth x a)",
        "a||a||",
    );
    check("$(list-slice :2 'a,b,c')|$(list-slice 1: 'a,b,c')|$(list-slice -2: 'a,b,c')", "a,b|b,c|b,c");
    check("$(list-slice 2:1 'a,b,c')|$(list-slice 1 'a,b,c')|$(list-slice : 'a,b')", "|b,c|a,b");
    check("$(list-count '')$(list-count a)$(list-count ',a,,b,')$(list-count 'a,\"\"')", "0122");
    // Blanks belong to an item, and a quote that does not end with it, too.
    check("<$(list-head ' a ,b')> $(list-concat ' a ,b')", "< a > \" a \",b");
    check("$(list-nth 0 '\"a\"b,c') $(list-count '\"a,b') $(list-head '\"a\\')", "\"a\"b 1 \"a\\");
    // What is no escape is text.
    check("$(list-head '\"\\q\\\\\\x41\\xZ\\\"\"')", "\\q\\A\\xZ\"");
    check("$(list-concat 'a,b' '' c)", "a,b,c");
    check("$(list-append '' a)|$(list-append a '' \"x'y\")", "a|a,\"\",\"x'y\"");
    // What is there stays as it is written.
    check("$(list-append ' a,,b' c)|$(list-append 'a,' 'b c')|[$(list-append)]", " a,,b,c|a,\"b c\"|[]");
    check(
        "$(list-slice x: 'a,b')$(list-slice 0:1x 'a,b')$(list-slice 0:1:2 'a,b')|$(list-slice '1: 2' 'a,b')",
        "|b",
    );
    check("$(list-search b 'a,b,b')|$(list-search z 'a,b')|$(list-search --start-index 2 b 'a,b,b')", "1||2");
    check("$(list-search --mode substring b 'a,abc')|$(list-search --mode=glob 'a*d?' 'ab,axxde')", "1|1");
    check("$(list-search --mode pcre '^b+$' 'ab,bb')|$(list-search --mode pcre (?i)B 'ab,bc')", "1|1");
    check_error("$(list-search --mode pcre [ a)", 26, "");
    check_error("$(list-search --mode pcre $HOST a)", 26, "fixed text");
    check_error("$(list-search --mode x b a)", 23, "no mode `x`");
    check("$(explode ':' 'a:b::c,d')|$(explode '' 'ab')|$(explode ' ' '')", "a,b,\"\",\"c,d\"|ab|");
    check("$(implode ', ' 'a,\"b,c\"')", "a, b,c");
    check("$(implode '|' ',a')|$(implode '|' '\"\",a,\"\",b,\"\"')|$(implode '' 'a,b')", "a|a||b||ab");
    check("$(implode '|' $(explode , ',,a,,b,'))", "a||b|");
    check("$(map '$(uppercase $_)$PID' 'a,b')|$(map '$(map x$_ 1)' 'a,b')$_", "A123,B123|x1,x1");
    check("$(filter 'b' 'a,b,c,b')|$(filter no a)", "b,b|");
    check("$(map x$_ 'a,\"\"')|$(map $_ '\"b c\"')", "xa,x|\"b c\"");
}

#[test]
fn encoding() {
    check(
        "$(base64-encode '')|$(base64-encode a)|$(base64-encode ab)|$(base64-encode a bc)",
        "|YQ==|YWI=|YWJj",
    );
    check(
        "$(url-encode '\u{e9}~')|$(url-decode '%c3%A9+')$(url-decode 'a%zz')$(url-decode '%4')$(url-decode 'x%00')",
        "%C3%A9~|\u{e9}+",
    );
    check("$(ipv4-to-int 255.255.255.255 1.2.3 0.0.0.1)", "4294967295,,1");
    let uuid = || {
        let template = Template::compile("$(uuid)", &TemplateOptions::default(), &NoScope).expect("compiles");
        let (batch, mut out) = (batch(), Vec::new());
        template.render(Msg { batch: &batch, record: &batch.records[0] }, &mut context(), &mut out);
        String::from_utf8_lossy(&out).into_owned()
    };
    let one = uuid();
    assert_eq!((one.len(), one.matches('-').count()), (36, 4), "{one}");
    assert!(one.is_ascii() && matches!(one.as_bytes()[19], b'8' | b'9' | b'a' | b'b'), "{one}");
    assert_ne!(one, uuid());
}

#[test]
fn iteration() {
    let template = Template::compile("$(iterate '$(+ 1 $_)' 5)$_ ", &TemplateOptions::default(), &NoScope)
        .expect("compiles");
    let (batch, mut out) = (batch(), Vec::new());
    for _ in 0..3 {
        template.render(Msg { batch: &batch, record: &batch.records[0] }, &mut context(), &mut out);
    }
    assert_eq!(out, b"5 6 7 ");
}

#[test]
fn digests() {
    check(
        "$(sha1 --length 6 a)|$(sha1 -l 0 '')|$(md5 a b)|$(md5 --length 99 a)",
        "86f7e4|da39a3ee5e6b4b0d3255bfef95601890afd80709|187ef4436122d1cc2f40dc2b92f0eba0|0cc175b9c0f1b6a831c399e269772661",
    );
    check_error("$(md5 --length x a)", 17, "number of digits");
    check_error("$(md5)", 0, "at least 1");
}

#[test]
fn lookups() {
    check("$(getent passwd nobody-of-this-name)|$(getent passwd root gid)", "|0");
    check_error("$(getent hosts x)", 9, "no database `hosts`");
    check_error("$(getent passwd root passwd)", 21, "no field");
    check_error("$(geoip2 127.0.0.1)", 9, "--database");
    check_error("$(geoip2 --database /no/such/file 127.0.0.1)", 34, "cannot be read");
}

#[test]
fn paths() {
    let names = [
        ("/usr/lib", "lib", "/usr"),
        ("/usr/", "usr", "/usr"),
        ("usr", "usr", "."),
        ("/", "/", "/"),
        ("a//b//", "b", "a//b"),
        ("//", "/", "/"),
        ("''", ".", "."),
    ];
    for (path, base, dir) in names {
        check(&format!("$(basename {path}) $(dirname {path})"), &format!("{base} {dir}"));
    }
    check("$(env '=' '' PENSTOCK_NO_SUCH)|", "  |");
    check("$(env CARGO_PKG_NAME)", env!("CARGO_PKG_NAME"));
}

#[test]
fn dates() {
    check("$(format-date '%Y-%m-%d %H:%M:%S.%f %z %Z')", "2026-11-21 10:00:00.123456 +0100 +01:00");
    check("$(format-date --time-zone Europe/Budapest '%c %Z' 0)", "Thu Jan  1 01:00:00 1970 Europe/Budapest");
    check(
        "$(format-date '%a %A %b %B %h %e %j %u %w %U %W %V %G %g %y %C')",
        "Sat Saturday Nov November Nov 21 325 6 6 46 46 47 2026 26 26 20",
    );
    check(
        "$(format-date '%D|%F|%T|%R|%r|%x|%X|%I%p%P%l%k|%s|%%|%n|%t|%N')",
        "11/21/26|2026-11-21|10:00:00|10:00|10:00:00 AM|11/21/26|10:00:00|10AMam1010|1795251600|%|\n|\t|123456000",
    );
    check("$(format-date %s.%f $UNIXTIME)|$(format-date %s x)", "1795251600.000000|");
    check("$(format-date '%H%z' 1795251600.5)", "09+0000");
    check_error("$(format-date %Q)", 14, "`%Q`");
    check_error("$(format-date 'x%')", 15, "directive");
    check_error("$(format-date --time-zone No/Such %Y)", 34, "No/Such");
    check_error("$(format-date $HOST)", 14, "fixed text");
    check(
        "$(stardate 0)|$(stardate --digits 0 1795251600)|$(stardate --digits 3 1795251600)|$(stardate x)",
        "1970.00|2026|2026.888|",
    );
    check_error("$(stardate --digits x 1)", 22, "0 to 9");
}

#[test]
fn a_template_is_chosen_by_a_value() {
    let chosen = |value: &str, text: &str, expected: &str| check_in(&with("which", value), text, expected);
    chosen("t_program", "$(template ${which})", "program=app");
    chosen("t_program", "$(template t_${which:-x} $HOST)", "host");
    chosen("program", "$(template t_${which} no)", "program=app");
    chosen("nosuch", "$(template ${which} default)", "default");
    chosen("nosuch", "$(template ${which} a '$PROGRAM b' c)", "a app b c");
    chosen("nosuch", "$(template ${which})", "");
    // A name that is there needs no default, and one that is not there and has no macro is wrong.
    chosen("x", "$(template t_program a b)", "program=app");
    check_error("$(template nosuch a)", 11, "no template named");
    check_error("$(template)", 0, "takes at least 1");
}

#[test]
fn underscores_are_hyphens_in_names_of_functions() {
    check("$(list_head a,b) $(format_json --key PROGRAM)", "a {\"PROGRAM\":\"app\"}");
    check_error("$(list_hed a)", 0, "did you mean");
}

/// A list through which the parts go as they are: with it implode() and explode() are not joined into one.
fn through_a_list(new: &str, old: &str) -> String {
    format!("$(implode '{new}' $(list-concat $(explode '{old}' ${{text}} $PROGRAM '' ${{text}})))")
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn imploding_what_was_exploded(
        text in prop::collection::vec(prop::sample::select(b" ,;,;\"'\\\taxp\n\x01\x0b\xff\xc3".to_vec()), 0..24),
        new in prop::sample::select(vec!["", ",", " ", "; ", "\"", "\\"]),
        old in prop::sample::select(vec!["", ",", " ", ";", ",;", "p"]),
    ) {
        let mut batch = with("text", "");
        batch.set(0, intern("text").expect("room"), &text, ValueType::String);
        let joined = format!("$(implode '{new}' $(explode '{old}' ${{text}} $PROGRAM '' ${{text}}))");
        let opts = TemplateOptions::default();
        let bytes = |text: &str| {
            let template = Template::compile(text, &opts, &scope()).expect("compiles");
            let mut out = Vec::new();
            let msg = Msg { batch: &batch, record: &batch.records[0] };
            let kind = template.render_typed(msg, &mut context(), &mut out);
            (out, kind)
        };
        prop_assert_eq!(bytes(&joined), bytes(&through_a_list(new, old)));
    }
}
