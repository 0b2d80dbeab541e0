//! Every rule of `kv-parser()` and `linux-audit-parser()`, by example; all of them were compared with
//! syslog-ng 3.38.

use crate::testing::{batch, check, check_bytes, check_codes, context, parser, values};

/// Values of `p.`, and the stray words as `stray`.
#[track_caller]
fn both(input: &str, expected: &str) {
    let stray = "kv-parser(prefix(\"p.\") extract-stray-words-into(\"stray\"))";
    let expected =
        if expected.contains("stray=") { expected.to_owned() } else { format!("{expected}|stray=") };
    let expected = expected.trim_start_matches('|');
    check(stray, input, expected);
    let plain: Vec<&str> = expected.split('|').filter(|p| !p.starts_with("stray=")).collect();
    check("kv-parser(prefix(\"p.\"))", input, &plain.join("|"));
}

#[test]
fn bare_values() {
    for (input, expected) in [
        ("a=1 b=2", "p.a=1|p.b=2"),
        ("a=1, b=2", "p.a=1|p.b=2"),
        ("a=1,b=2", "p.a=1,b=2"),
        ("a=foo bar b=2", "p.a=foo bar|p.b=2"),
        ("a=foo bar baz", "p.a=foo bar baz"),
        ("a=foo  b=2", "p.a=foo|p.b=2"),
        ("a=foo,  b=2", "p.a=foo|p.b=2"),
        ("a = 1 b = 2", "p.a=1|p.b=2"),
        ("a= 1 b =2", "p.a=1|p.b=2"),
        ("a==1 b=2", "p.a==1|p.b=2"),
        ("a=\"\" b= c=3", "p.a=|p.b=|p.c=3"),
        ("a=b=c", "p.a=b=c"),
        ("a=x;b=y", "p.a=x;b=y"),
        ("x-y.z_9=1 ü=2 {k}=3", "p.x-y.z_9=1 ü=2 {k}=3"),
        ("  a=1", "p.a=1"),
        ("a=foo bar=baz qux", "p.a=foo|p.bar=baz qux"),
        ("a=x\tb=y", "p.a=x\tb=y"),
        ("a=1,,b=2", "p.a=1,,b=2"),
        ("a=1 ,b=2", "p.a=1 ,b=2"),
        ("a=foo \"bar b=2\" c=3", "p.a=foo \"bar|p.b=2\"|p.c=3"),
        ("foo=\\\"bar\\\" b=1", "p.b=1|p.foo=\\\"bar\\\""),
        ("url=http://x/?q=1&r=2 z=3", "p.url=http://x/?q=1&r=2|p.z=3"),
        ("k=v1 k=v2", "p.k=v2"),
        ("a=, b=1", "p.a=|p.b=1"),
        ("a= b=1", "p.a=|p.b=1"),
        ("a=  b=1", "p.a=|p.b=1"),
        ("a=b c d =e f", "p.a=b c|p.d=e f"),
        ("a=b  c  =e", "p.a=b|p.c=e"),
        ("a=1 , b=2", "p.a=1|p.b=2"),
        ("a=1 ,  b=2", "p.a=1|p.b=2"),
        ("a=1,   b=2", "p.a=1|p.b=2"),
        ("a=x y=", "p.a=x|p.y="),
        ("a=x =y", "p.a=x =y"),
        ("a=x  ", "p.a=x"),
        ("a=", "p.a="),
        ("a=,", "p.a=,"),
        ("a=, ", "p.a="),
        ("", ""),
    ] {
        both(input, expected);
    }
    check_bytes("kv-parser()", b"a=\xff\xfe b=\x00", "a=\u{fffd}\u{fffd}|b=\u{0}");
}

#[test]
fn quoted_values() {
    for (input, expected) in [
        ("a=\"x y\" b='z w' c=3", "p.a=x y|p.b=z w|p.c=3"),
        ("a=\"x\\\"y\\n\\t\\\\z\" b='q\\'r'", "p.a=x\"y\n\t\\z|p.b=q'r"),
        ("a='x\\ny' b=\"\\x41\\a\"", "p.a=x\ny|p.b=\\x41\\a"),
        ("a=\"x\\'y\\b\\f\\q\" b='x\\\"y'", "p.a=x\\'y\u{8}\u{c}\\q|p.b=x\\\"y"),
        ("a= \"x\" b=1", "p.a=x|p.b=1"),
        ("a=\"x y\" ", "p.a=x y"),
        ("u: v \t c=d", "p.c=d|stray=\"u: v \\t\""),
        ("\t a=b \t", "p.a=b \t|stray=\"\\t\""),
        ("a=\"unterminated b=2", "p.a=\"unterminated b=2|p.b=2|stray='\"unterminated'"),
        ("a=\"x\"y b=2", "p.a=\"x\"y |p.b=2|stray='\"x\"y'"),
        ("a='it''s' b=2", "p.a='it''s' |p.b=2|stray=\"'it''s'\""),
        ("a=\"x\"y, b=2", "p.a=\"x\"y, |p.b=2|stray='\"x\"y,'"),
        ("a=\"x\",b=\"y\" c=3", "p.a=\"x\",b=\"y\" |p.b=y|p.c=3|stray='\"x\",'"),
        ("a=\"x\"y z b=2", "p.a=\"x\"y |p.b=2|stray='\"x\"y z'"),
        ("a=\"1\"b=\"2\"", "p.a=\"1\"b=\"2\"|p.b=2|stray='\"1\"'"),
        ("a=\"x\\\" b=1", "p.a=\"x\\\" b=1|p.b=1|stray='\"x\\\\\"'"),
        ("a=\"x y", "p.a=\"x y|stray='\"x y'"),
        (
            "b=\"c='x,, yz=c=''   \\\"\"yz",
            "p.b=\"c='x,, yz=c=''   \\\"\"yz|p.c='x,, yz=c='' |p.yz=c=''   \\\"\"yz|stray='\"',\"'x,,\"",
        ),
        ("a=\"", "p.a=\"|stray='\"'"),
    ] {
        both(input, expected);
    }
}

#[test]
fn stray_words() {
    for (input, expected) in [
        ("=1 a=2", "p.a=2|stray==1"),
        ("stray a=1 words here b=2 end", "p.a=1 words here|p.b=2 end|stray=stray"),
        ("a b c", "stray=\"a b c\""),
        ("a=x, y, b=z", "p.a=x|p.b=z|stray=\"y,\""),
        ("a=1, stray b=2, more stray", "p.a=1|p.b=2|stray=stray,\"more stray\""),
        ("a=\"x\" stray b=\"y\"", "p.a=x|p.b=y|stray=stray"),
        ("\"k\"=v b=1", "p.b=1|stray='\"k\"=v'"),
        ("a=1 b=\"v1\" , c=2", "p.a=1|p.b=v1|p.c=2|stray=\",\""),
        ("a:1 b=2", "p.b=2|stray=a:1"),
        ("a=\"x\"   stray b=1", "p.a=x|p.b=1|stray=stray"),
        ("a=\"\" \"\"", "p.a=|stray='\"\"'"),
        ("a=1, foo bar, \"q\", it's b=2", "p.a=1|p.b=2|stray=\"foo bar, \\\"q\\\", it's\""),
        ("==", "stray==="),
        (" =x", "stray==x"),
    ] {
        both(input, expected);
    }
}

#[test]
fn other_separators() {
    let colon = "kv-parser(value-separator(\":\") pair-separator(\";\") extract-stray-words-into(\"s\"))";
    check(colon, "a:1;b:2", "a=1|b=2|s=");
    check(colon, "a:1; b:2 ; c:3", "a=1|b=2|c=3|s=");
    check(colon, "a:x y;b:\"q;r\";c", "a=x y|b=q;r|s=c");
    check(colon, "a: 1 b: 2", "a=1|b=2|s=");
    let blank = "kv-parser(pair-separator(\" \") extract-stray-words-into(\"s\"))";
    check(blank, "a=1 b=2 c=\"x y\" d=e f g=3", "a=1|b=2|c=x y|d=e|g=3|s=f");
    check(blank, "a= b", "a=|s=b");
    check(blank, "a=\"x\"b=\"y\" c", "a=\"x\"b=\"y\" |b=y|s='\"x\"',c");
    check_codes("kv-parser(value-separator(\"::\"))", &["A0102"]);
    check_codes("kv-parser(value-separator(\" \"))", &["A0102"]);
    check_codes("kv-parser(pair-separator(\"\"))", &["A0102"]);
}

#[test]
fn audit_values_in_hexadecimal() {
    let audit = "linux-audit-parser(prefix(\"p.\"))";
    for (input, expected) in [
        (
            "type=EXECVE msg=audit(14.1:18): argc=2 a0=\"ls\" a1=6C73202D6C name=612062 proctitle=6C730061",
            "p.a0=ls|p.a1=ls -l|p.argc=2|p.msg=audit(14.1:18):|p.name=a b|p.proctitle=ls\ta|p.type=EXECVE",
        ),
        ("comm=61620A name=\"plain\" data=414", "p.comm=ab\n|p.data=414|p.name=plain"),
        (
            "path=(null) dir=41 old=4142zz ocomm=C3A9 new=FF",
            "p.dir=41|p.new=FF|p.ocomm=é|p.old=4142zz|p.path=(null)",
        ),
        (
            "a10=6C73202D6C exe=6C73202D6C key=6C73202D6C vm=6C73202D6C",
            "p.a10=ls -l|p.exe=6C73202D6C|p.key=6C73202D6C|p.vm=6C73202D6C",
        ),
        ("name=6c73202d6c new=22 old=00 data=4100", "p.data=A\t|p.name=ls -l|p.new=\"|p.old=\t"),
    ] {
        check(audit, input, expected);
    }
}

/// Broken quotes, blanks and separators without end: the time grows with the length, which a run that does
/// not end would show.
#[test]
fn hostile_texts_of_a_megabyte() {
    let made = parser("kv-parser(extract-stray-words-into(\"s\"))");
    for piece in ["a=\"", "a=\"\"x", "=", " ", "a= ", "a=x ", "a \"", "a='\\", ", ", "a=\"b\"c='"] {
        let text = piece.repeat((1 << 20) / piece.len());
        let mut batch = batch(&[text.as_bytes()]);
        let mut selection = vec![0];
        made.parse(&mut batch, &mut selection, &mut context());
        assert_eq!(selection, [0]);
        assert!(!values(&batch, 0).is_empty(), "{piece}");
    }
}
