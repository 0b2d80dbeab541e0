//! Every rule of `csv-parser()`, by example. Checked by hand against syslog-ng 3.38 where it has the option.

use crate::testing::{build, check, check_bytes, check_codes};

const BLANKS: &str = "csv-parser(columns(\"a\", \"b\", \"c\") delimiters(\" \"))";

#[test]
fn fields_and_quotes() {
    for (input, expected) in [
        ("a b c", "a=a|b=b|c=c"),
        ("a  b c", "a=a|b=b|c=c"),
        ("\"a b\" c d", "a=a b|b=c|c=d"),
        ("'a b' c d", "a=a b|b=c|c=d"),
        ("\"a\"\"b\" c d", "a=a\"b\"|b=c|c=d"),
        ("\"a\"x b c", "a=ax|b=b|c=c"),
        ("a b", "a=a|b=b"),
        ("a b c d", "a=a|b=b|c=c"),
        ("- \"-\" x", "a=-|b=-|c=x"),
        ("\"unterminated b c", "a=unterminated b c"),
        (" lead \"x", "a=lead|b=x"),
        ("a b\"c d", "a=a|b=b\"c|c=d"),
        ("\"a\\\"b\" c d", "a=a\\b\"|b=c|c=d"),
        ("\"\" '' c", "a=|b=|c=c"),
        (" \"a\"  \"b\" \"c\"", "a=\"a\"|b=\"b\"|c=c"),
        ("a\\ b c", "a=a\\|b=b|c=c"),
        ("", ""),
    ] {
        check(BLANKS, input, expected);
    }
    check_bytes(BLANKS, b"\xff\x00 \"\xfe", "a=\u{fffd}\u{0}|b=\u{fffd}");
}

#[test]
fn escapes() {
    for (how, input, expected) in [
        ("flags(escape-double-char)", "\"a\"\"b\" 'c''d' \"e\"", "a=a\"b|b=c'd|c=e"),
        ("dialect(escape-double-char)", "\"a\"\"b\" \"\"\"\" \"e\"", "a=a\"b|b=\"|c=e"),
        ("flags(escape-backslash)", "\"a\\\"b\\\\n\\n\\x41\" c", "a=a\"b\\nnx41|b=c"),
        ("flags(escape-backslash)", "a\\\"b c \"x\\", "a=a\\\"b|b=c|c=x\\"),
        ("dialect(escape-backslash)", "\"a\\\"b\" c", "a=a\"b|b=c"),
        ("dialect(escape-backslash-with-sequences)", "\"x\\t\\x41\\xg\\a\" \"\\\"\"", "a=x\tAxg\u{7}|b=\""),
        ("flags(escape-none)", "\"a\\\" b", "a=a\\|b=b"),
    ] {
        check(&format!("csv-parser(columns(\"a\", \"b\", \"c\") {how})"), input, expected);
    }
}

#[test]
fn flags_replace_the_default() {
    let greedy = "csv-parser(columns(\"a\", \"b\", \"c\") flags(greedy))";
    for (input, expected) in [
        ("a  b c", "a=a|b=|c=b c"),
        ("a b", "a=a|b=b|c="),
        ("a b c d", "a=a|b=b|c=c d"),
        (" lead \"x", "a=|b=lead|c=\"x"),
        ("'a''b' c \"d e\" f", "a=a'b'|b=c|c=\"d e\" f"),
        (" \"a\"  \"b\" \"c\"", "a=|b=a|c= \"b\" \"c\""),
        ("\"a b", "a=a b"),
    ] {
        check(greedy, input, expected);
    }
    let comma = |more: &str| format!("csv-parser(columns(\"a\", \"b\", \"c\") delimiters(\",\") {more})");
    check(&comma("flags(greedy, strip-whitespace)"), "a , b, c , d ", "a=a|b=b|c=c , d");
    check(&comma(""), "\"a \" ,\" b\",\" c \"x ", "a=a|b=b|c=c x");
    check(&comma("flags(escape-none)"), " a , b ,", "a= a |b= b ");
    check(&comma("null(\"-\")"), "-, - ,\"-\"", "a=|b=|c=");
}

#[test]
fn the_number_of_columns() {
    let strict = |more: &str| format!("csv-parser(columns(\"a\", \"b\", \"c\") delimiters(\",\") {more})");
    for (input, expected) in [
        ("a,b,c", "a=a|b=b|c=c"),
        ("a,b,c,", "a=a|b=b|c=c"),
        ("a,b,\"c", "a=a|b=b|c=c"),
        ("x,\"\",c", "a=x|b=|c=c"),
        ("a,b", "no match"),
        ("a,b,", "no match"),
        ("a,b,c,d", "no match"),
        ("\"a,b", "no match"),
        ("", "no match"),
    ] {
        check(&strict("drop-invalid(yes)"), input, expected);
        check(&strict("flags(strip-whitespace, drop-invalid)"), input, expected);
    }
    check(&strict("flags(greedy, drop-invalid)"), "a,b,", "a=a|b=b|c=");
    check(&strict("flags(greedy, drop-invalid)"), "a,b,c,d", "a=a|b=b|c=c,d");
    check(&strict("flags(greedy, drop-invalid)"), "\"a,b", "no match");
    check(&strict("flags(greedy, drop-invalid)"), "a,\"b,", "a=a|b=b,|c=");
    let one = "csv-parser(columns(\"a\") delimiters(\",\") flags(greedy, drop-invalid))";
    check(one, "", "a=");
    check("csv-parser(delimiters(\",\") drop-invalid(yes))", "x,y", "1=x|2=y");
    // Of the two that say the same, the last one holds.
    check(&strict("flags(drop-invalid) drop-invalid(no)"), "x", "a=x");
    check(&strict("drop-invalid(no) flags(drop-invalid)"), "x", "no match");
    check(&strict("flags(escape-none) dialect(escape-double-char)"), "\"x\"\"y\"", "a=x\"y");
    check(&strict("dialect(escape-double-char) flags(escape-none)"), "\"x\"\"y\",z", "a=x\"y\"|b=z");
    check(&strict(""), "a,b,", "a=a|b=b");
    check(&strict(""), "\"\" x,\" \", 'y ''z'", "a= x|b=|c='y ''z'");
}

#[test]
fn delimiters_and_quotes_of_all_kinds() {
    for (how, input, expected) in [
        ("delimiters(strings(\"::\"))", "a::b::c", "a=a|b=b|c=c"),
        ("delimiters(strings(\"::\"))", "a:b::c|d", "a=a:b|b=c¦d"),
        ("delimiters(chars(\"|\") strings(\"::\"))", "a:b::c|d", "a=a:b|b=c|c=d"),
        ("delimiters(strings(\"::\"))", "\"a::b\"::c", "a=a::b|b=c"),
        ("delimiters(strings(\"::\"))", "::", "a="),
        ("delimiters(\"|:\")", "a::b::c", "a=a|b=|c=b"),
        ("delimiters(\"|:\")", "::", "a=|b="),
        ("delimiters(chars(\"\") strings(\"::\"))", "\"a \" :: \"b\"", "a=a|b=\"b\""),
        ("quote-pairs(\"[]<>\")", "[a b] <c d> \"e", "a=a b|b=c d|c=\"e"),
        ("quotes(\"x\")", "xa bx \"c", "a=a b|b=\"c"),
        ("quotes(\"x\") quote-pairs(\"[]\")", "xa bx [c d]", "a=xa|b=bx|c=c d"),
        ("quote-pairs(\"[]\") quotes(\"x\")", "xa bx [c", "a=a b|b=[c"),
        ("quotes(\"x\") quote-pairs(\"\")", "xa bx", "a=xa|b=bx"),
        ("quote-pairs(\"[]\") quotes(\"\")", "[a b]", "a=[a|b=b]"),
        ("prefix(\".x.\")", "1 2", ".x.a=1|.x.b=2"),
    ] {
        check(&format!("csv-parser(columns(\"a\", \"b\", \"c\") {how})"), input, expected);
    }
    check("csv-parser(delimiters(\":\"))", "a:b", "1=a|2=b");
    check("csv-parser(columns(\"a\") template(\"x$MSG y\"))", "1", "a=x1");
}

#[test]
fn types() {
    let typed = |more: &str| {
        format!("csv-parser(columns(int(\"a\"), double(\"b\"), boolean(\"c\")) delimiters(\",\") {more})")
    };
    check(&typed(""), "1,1.5,true", "a=int:1|b=double:1.5|c=boolean:true");
    check(&typed(""), "x,1.5,true", "b=double:1.5|c=boolean:true");
    check(&typed("on-type-error(drop-message)"), "x,1.5,true", "no match");
    check(&typed("on-type-error(drop-message)"), "1,1.5", "no match");
    check(&typed("drop-invalid(yes)"), "x,1.5,true", "no match");
    check(&typed("flags(drop-invalid)"), "1,1.5,what", "no match");
    check(
        &typed("drop-invalid(yes) on-type-error(fallback-to-string)"),
        "x,1,1",
        "a=x|b=double:1|c=boolean:1",
    );
    check(&typed("on-type-error(drop-property)"), "x,1.5,y", "b=double:1.5");
    check(&typed("on-type-error(fallback-to-string)"), "x,1.5,y", "a=x|b=double:1.5|c=y");
    check(&typed(""), "99999999999999999999,1,1", "b=double:1|c=boolean:1");
}

#[test]
fn what_is_wrong_is_said() {
    for text in [
        "csv-parser(columns(\"a\") quote-pairs(\"[\"))",
        "csv-parser(columns(nonsense(\"a\")))",
        "csv-parser(columns(\"a\") delimiters(what(\"a\")))",
    ] {
        check_codes(text, &["A0102"]);
    }
    // Macros keep their meaning: a warning.
    let (made, codes, _) = build("csv-parser(columns(\"DATE\"))");
    assert!(made.is_some());
    assert_eq!(codes, ["A0106"]);
}

#[test]
fn hostile_texts_of_a_megabyte() {
    for options in [
        "delimiters(\",\")",
        "delimiters(chars(\",;\") strings(\"::\", \":::\"))",
        "delimiters(\",\") flags(escape-backslash)",
        "delimiters(\",\") flags(escape-double-char)",
        "delimiters(\",\") flags(greedy) quote-pairs(\"[]()\")",
    ] {
        let made = crate::testing::parser(&format!("csv-parser(columns(\"a\", \"b\", \"c\") {options})"));
        for piece in
            [",", "\"", "\\", ":", "\",", "[", "[(", "\"\"", " ", "x\u{e9}", "\"\\\"", ",,,x", "::\""]
        {
            for tail in ["", "\"", "\\", "x,"] {
                let text = format!("{}{tail}", piece.repeat((1 << 20) / piece.len()));
                let mut batch = crate::testing::batch(&[text.as_bytes()]);
                let mut selection = vec![0];
                made.parse(&mut batch, &mut selection, &mut crate::testing::context());
                assert_eq!(selection, [0], "{options} {piece} {tail}");
                assert!(batch.text.len() < 8 << 20, "{options} {piece} {tail}");
            }
        }
    }
    check(BLANKS, "", "");
}
