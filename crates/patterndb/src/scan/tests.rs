use crate::pattern_text::{Piece, parse};
use pattern::{Cache, Slots};

/// `what was kept|what stands behind`, or `-`.
#[track_caller]
fn check(parser: &str, text: &str, expected: &str) {
    let pieces = parse(parser).expect("a pattern");
    let [Piece::Parser(parser)] = pieces.as_slice() else { panic!("{parser}") };
    let hit = parser.scan.find(text.as_bytes(), &mut Cache::new(), &mut Slots::new());
    let got = hit.map_or_else(|| "-".to_owned(), |h| format!("{}|{}", &text[h.start..h.end], &text[h.len..]));
    assert_eq!(got, expected, "{parser:?} on {text}");
    if hit.is_some_and(|h| h.len > 0) {
        assert!(parser.scan.can_begin(text.as_bytes()[0]), "{parser:?} on {text}");
    }
}

#[test]
fn numbers() {
    for (text, expected) in [
        ("12", "12|"),
        ("-12x", "-12|x"),
        ("+12", "-"),
        ("0x1fg", "0x1f|g"),
        ("0x", "-"),
        ("-0x1f", "-0|x1f"),
        ("1.5", "1|.5"),
        ("-", "-"),
        ("", "-"),
        ("99999999999999999999", "99999999999999999999|"),
    ] {
        check("@NUMBER:n@", text, expected);
    }
    for (text, expected) in [
        ("1.5", "1.5|"),
        ("-.5", "-.5|"),
        ("1.", "1.|"),
        ("1.2.3", "1.2|.3"),
        ("1.5e-3x", "1.5e-3|x"),
        ("1e", "1e|"),
        ("1E+5", "1E|+5"),
        ("1e5.5", "1e5|.5"),
        ("-", "-|"),
        (".", ".|"),
        ("e5", "-"),
        ("+1", "-"),
    ] {
        check("@FLOAT:n@", text, expected);
        check("@DOUBLE:n@", text, expected);
    }
}

#[test]
fn texts() {
    check("@STRING:s@", "abc1 x", "abc1| x");
    check("@STRING:s@", "-a", "-");
    check("@STRING:s:-_.@", "-a._ x", "-a._| x");
    check("@SET:s:abc@", "abcabd", "abcab|d");
    check("@SET:s:abc@", "x", "-");
    check("@OPTIONALSET:s:abc@", "x", "|x");
    check("@ESTRING:e: @", "ab cd", "ab|cd");
    check("@ESTRING:e: @", "abcd", "-");
    check("@ESTRING:e:,,@", "a,b,,c", "a,b|c");
    check("@ESTRING:e:@", "ab cd", "ab cd|");
    check("@QSTRING:q:\"@", "\"ab\"c", "ab|c");
    check("@QSTRING:q:\"@", "\"ab", "-");
    check("@QSTRING:q:()@", "(a(b)c)", "a(b|c)");
    check("@QSTRING:q:()@", "a", "-");
    check("@NLSTRING:l@", "ab\r\nc", "ab|\r\nc");
    check("@NLSTRING:l@", "\nc", "|\nc");
    check("@NLSTRING:l@", "ab", "ab|");
    check("@ANYSTRING:a@", "a\nb", "a\nb|");
    check("@ANYSTRING:a@", "", "-");
    check("@PCRE:p:a+@", "aab", "aa|b");
    check("@PCRE:p:a+@", "baa", "-");
    check("@PCRE:p:a|bc@", "bcd", "bc|d");
    check("@PCRE:p:^b(c)@", "bcd", "bc|d");
}

#[test]
fn addresses() {
    for (text, expected) in [
        ("1.2.3.4", "1.2.3.4|"),
        ("1.2.3.4.5", "1.2.3.4|.5"),
        ("0001.2.3.4:80", "0001.2.3.4|:80"),
        ("256.1.1.1", "-"),
        ("1.2.3.1234", "-"),
        ("1..2.3", "-"),
    ] {
        check("@IPv4:i@", text, expected);
        check("@IPvANY:i@", text, expected);
    }
    for (text, expected) in [
        ("::1", "::1|"),
        ("::", "::|"),
        ("1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7:8|:9"),
        ("fe80::1%eth0", "fe80::1|%eth0"),
        ("::ffff:1.2.3.4", "::ffff:1.2.3.4|"),
        ("1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:1.2.3.4|"),
        ("1:2", "-"),
        ("12345::", "-"),
        ("1::2::3", "-"),
    ] {
        check("@IPv6:i@", text, expected);
        check("@IPvANY:i@", text, expected);
    }
    check("@MACADDR:m@", "00:11:22:33:44:55:66", "00:11:22:33:44:55|:66");
    check("@MACADDR:m@", "00:11:2", "00:11|:2");
    check("@MACADDR:m@", "0:11", "-");
    check("@LLADDR:m:3@", "00:11:22:33", "00:11:22|:33");
}

#[test]
fn hosts() {
    check("@HOSTNAME:h@", "a-b.c_d", "a-b.c|_d");
    check("@HOSTNAME:h@", "a.b. c", "a.b.| c");
    check("@HOSTNAME:h@", "a", "-");
    check("@HOSTNAME:h@", "a.", "-");
    check("@EMAIL:e@", "a.b+c=d@b.c x", "a.b+c=d@b.c| x");
    check("@EMAIL:e@", "a@b", "-");
    check("@EMAIL:e@", ".a@b.c", "-");
    check("@EMAIL:e:<>@", "<<a@b.c>> x", "a@b.c| x");
}
