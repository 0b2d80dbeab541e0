//! What is wrong with a text, all of it at once.

use super::{check, findings};

fn wrong(text: &str, expected: &[&str]) {
    let found = findings(text);
    assert_eq!(found.len(), expected.len(), "{text}: {found:?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.contains(expected), "{text}: {found}, not {expected}");
    }
}

#[test]
fn all_errors_of_a_block_are_found() {
    wrong(
        "x = ; y = 1; z = 2 3; $A = nosuch();",
        &["Y0101 expected an expression", "Y0101 expected `;`", "Y0102"],
    );
    wrong("if ($A) { x = ; } else if (1) {}", &["expected an expression", "no `else if`"]);
    wrong("1 = 2;", &["nothing can be assigned"]);
    wrong("$YEAR = 1;", &["Y0108"]);
    wrong("dpath(a.b);", &["Y0108 dpath() can only be assigned to"]);
    wrong("$MSG =~ \"a(\";", &["Y0105"]);
    wrong("$MSG =~ $X;", &["Y0104"]);
    wrong("\"$(nosuch)\" == \"\";", &["Y0106"]);
    wrong("x = \"a\" + {};", &["Y0107 string and dict can never be added"]);
    wrong("x = 1 / 0;", &["Y0107 this always fails"]);
    wrong("x = 9223372036854775807 + 1;", &["Y0107"]);
    wrong("len(1);", &["Y0107 len() never takes integer"]);
    wrong("len();", &["Y0103 len() needs the argument `value`"]);
    wrong("len(\"a\", 1);", &["Y0103 len() takes no more arguments"]);
    wrong("startswith(\"a\", \"b\", ignorcase=true);", &["Y0103 startswith() has no argument `ignorcase=`"]);
    wrong("startswith(\"a\", ignorecase=true, \"b\");", &["Y0101 an argument without a name"]);
    wrong("istype(1, \"int\");", &["unknown type: int"]);
    wrong("switch ($A) { case \"a\": true; case \"a\": false; };", &["Y0109"]);
    wrong("switch (1) { case 5..3: true; };", &["Y0109"]);
    wrong("x = 0xFFFFFFFFFFFFFFFF;", &["does not fit 64 bits"]);
    wrong("x = 1e3;", &["is no unit of a number"]);
    wrong("x = @;", &["`@` means nothing here", "expected an expression"]);
    wrong("d.in = 1;", &["`in` is a keyword"]);
    wrong("x = \"abc;", &["is never closed", "expected `;`"]);
}

#[test]
fn texts_and_numbers() {
    check("1k + 1Ki", "2024");
    check("010 + 0x10", "24");
    check("08", "8");
    check("-9223372036854775808", "-9223372036854775808");
    check("5 -1", "4");
    check(r#""a\tb\x41\o101\q""#, r#""a\tbAAq""#);
    check(r"'a\tb'", r#""a\\tb""#);
    check(r"/a\d\/b/", r#""a\\d/b""#);
    check("\"x${MSG}y\"", "\"xhello worldy\"");
    check("'$MSG'", "\"hello world\"");
    check("\"${nosuch:-dflt}z\"", "\"dfltz\"");
    check("\"${nosuch:-dflt}\"", "\"dflt\"");
    check("\"$(echo a b)\"", "\"a b\"");
    check("\"cost: 5$$\"", "\"cost: 5$\"");
    check("\"$(+ 1 2)\"", "3");
    check("{\"a\":1,\"b\":2,\"a\":3}", "{\"a\":3,\"b\":2}");
    check("{\"a\":?? null, \"b\":?? nosuch, \"c\": 1,}", "{\"c\":1}");
}

#[test]
fn a_text_of_a_thousand_brackets_ends() {
    let deep = format!("x = {}1{};", "(".repeat(3000), ")".repeat(3000));
    assert!(!findings(&deep).is_empty());
    let long = format!("x = 1{};", " + 1".repeat(3000));
    assert!(!findings(&long).is_empty());
    let minus = format!("x = {}1;", "-+".repeat(3000));
    assert!(!findings(&minus).is_empty());
}
