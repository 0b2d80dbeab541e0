use super::*;

fn engine_of(text: &str, flags: &str) -> String {
    pattern(text, flags).engine().to_string()
}

/// `flags`: names of flags and one of the types, separated by blanks.
fn pattern(text: &str, flags: &str) -> Pattern {
    Pattern::compile(text, &options(flags)).unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn options(flags: &str) -> PatternOptions {
    let mut options = PatternOptions::default();
    for flag in flags.split_whitespace() {
        options.set_flag(flag).or_else(|_| options.set_kind(flag)).expect("a flag or type");
    }
    options
}

fn check(text: &str, flags: &str, yes: &[&[u8]], no: &[&[u8]]) {
    let pattern = pattern(text, flags);
    let mut cache = Cache::new();
    yes.iter().for_each(|t| assert!(pattern.is_match(t, &mut cache), "{pattern:?} should match {t:?}"));
    no.iter().for_each(|t| assert!(!pattern.is_match(t, &mut cache), "{pattern:?} should not match {t:?}"));
}

#[test]
fn the_cheapest_engine_is_chosen() {
    for (text, expected) in [
        ("foo", "memmem"),
        ("foo\\.bar", "memmem"),
        (".*foo.*", "memmem"),
        ("(foo)", "memmem"),
        ("foo.+", "automaton"),
        ("foo|bar|baz", "aho-corasick"),
        ("(?:un)?mount", "memmem"),
        ("^foo", "comparison of the beginning"),
        ("^(foo|bar)", "comparison of the beginning"),
        ("^foo.*$", "comparison of the beginning"),
        ("^.*foo.*$", "memmem"),
        ("^.+foo", "automaton"),
        ("^(foo|bar)$", "comparison"),
        ("^foo$", "comparison"),
        ("foo$", "comparison of the end"),
        ("(?i)foo", "memmem ignoring case"),
        ("", "always true"),
        ("a*", "always true"),
        ("fo+", "memmem"),
        ("\\d+ms", "automaton"),
        ("foo(?=bar)", "PCRE2 (look-around)"),
        ("(a)\\1", "PCRE2 (a back reference)"),
        ("a++b", "PCRE2 (a possessive quantifier)"),
        ("(?>a)", "PCRE2 (an atomic group)"),
        ("(a*)*", "PCRE2 (a repeated item that can be empty)"),
    ] {
        assert_eq!(engine_of(text, ""), expected, "{text}");
    }
}

#[test]
fn dollar_matches_before_a_last_newline() {
    for text in ["bar$", "[a-c]ar$", "(bar$|x)", "bar\\Z"] {
        check(text, "", &[b"foobar", b"foobar\n"], &[b"foobar\n\n", b"bar "]);
    }
    check("bar\\z", "", &[b"foobar"], &[b"foobar\n"]);
}

#[test]
fn lines_are_minded_where_there_are_any() {
    check("^.*foo.*$", "", &[b"a foo b", b"foo\n"], &[b"a\nfoo", b"foo\nb"]);
    check("(?s)^.*foo.*$", "", &[b"a\nfoo\nb"], &[b"a\nb"]);
    check("(?m)^.*foo.*$", "", &[b"a\nfoo\nb"], &[b"a\nb"]);
    check("^foo.*$", "", &[b"foo", b"foo b\n"], &[b"foo\nb", b"a foo"]);
}

/// PCRE2Project/pcre2#874: the compiled code skipped over such matches.
#[test]
fn compiled_code_finds_what_the_interpreter_finds() {
    check("(?=)x?ba[a-c]{0,2}", "", &[b"bar", b"  bar", b"bab"], &[b"b"]);
    check("x?ba[a-c]{0,3}(?=r)", "", &[b"bar", b"  bar"], &[b"ba"]);
}

#[test]
fn bytes_without_utf8_and_characters_with() {
    check("^.$", "", &[b"\xff", b"a"], &["é".as_bytes()]);
    check("^.$", "utf8", &["é".as_bytes(), b"a"], &[b"\xff", "éé".as_bytes()]);
    check("\\w", "", &[b"a"], &["é".as_bytes()]);
    check("\\w", "utf8", &["é".as_bytes()], &[b"-"]);
    check("É", "utf8 ignore-case", &["é".as_bytes()], &[b"e"]);
    // Bytes that are no characters match nothing, and disturb nothing else.
    check("^foo", "utf8", &[b"foo", b"foo\xff bar"], &[b"\xfffoo"]);
    check("^foo.bar", "utf8", &["fooébar".as_bytes()], &[b"foo\xffbar"]);
    check("(?=f)foo.bar", "utf8", &["fooébar".as_bytes()], &[b"foo\xffbar"]);
    check("[^a]", "utf8", &["\u{e9}".as_bytes()], &[b"\xff"]);
}

#[test]
fn strings_and_globs() {
    check("foo", "string", &[b"foo"], &[b"foo ", b"foo\n", b"fo"]);
    check("foo", "string prefix", &[b"foo", b"foobar"], &[b"xfoo"]);
    check("foo", "string substring ignore-case", &[b"xFOOx"], &[b"fo"]);
    check("f*r", "glob", &[b"foobar", b"fr"], &[b"foobarx", b"f\xffr"]);
}

#[test]
fn newline_flag_makes_a_carriage_return_end_a_line() {
    check("foo$", "newline", &[b"foo", b"foo\r\n", b"foo\r"], &[b"foox"]);
    check("foo$", "", &[b"foo\n"], &[b"foo\r\n"]);
}

#[test]
fn names_and_groups() {
    let pattern = pattern("(?<user>\\w+)@(\\w+)(?'x'!)?", "store-matches");
    assert_eq!(pattern.names(), [None, Some("user".to_owned()), None, Some("x".to_owned())]);
    let (mut cache, mut slots) = (Cache::new(), Slots::new());
    assert!(pattern.captures(b"to root@host", 0, &mut cache, &mut slots));
    assert_eq!(slots.iter().collect::<Vec<_>>(), [Some((3, 12)), Some((3, 7)), Some((8, 12)), None]);
    assert!(!pattern.captures(b"to root@host", 20, &mut cache, &mut slots));
}

#[test]
fn names_may_be_doubled_when_allowed() {
    assert!(Pattern::compile("(?<n>a)|(?<n>b)", &options("")).is_err());
    let pattern = pattern("(?<n>a)|(?<n>b)", "dupnames");
    assert_eq!(pattern.names(), [None, Some("n".to_owned()), Some("n".to_owned())]);
}

/// As subst() with flags(global) of the distribution's syslog-ng prints it.
#[test]
fn walking_over_empty_matches() {
    for (re, text, expected) in [
        ("x*", "abc", "-a-b-c"),
        ("x*", "axb", "-a--b"),
        ("x*?", "xx", "----"),
        ("(|x)", "xx", "----"),
        ("b|", "abc", "-a--c"),
        ("a", "banana", "b-n-n-"),
        ("$", "ab", "ab-"),
        ("$", "ab\n", "ab-\n"),
        ("^", "ab", "-ab"),
        ("x*", "", "-"),
        ("\\b", "ab cd", "-ab- -cd-"),
        ("(?=b)", "abb", "a-b-b"),
    ] {
        let pattern = pattern(re, "global");
        let (mut cache, mut slots, mut cursor) = (Cache::new(), Slots::new(), Cursor::default());
        let (mut out, mut done) = (String::new(), 0);
        while pattern.next_match(text.as_bytes(), &mut cursor, &mut cache, &mut slots) {
            let (start, end) = slots.get(0).expect("a match");
            out += &text[done..start];
            out += "-";
            done = end;
        }
        out += &text[done..];
        assert_eq!(out, expected, "{re} on {text:?}");
    }
}

#[test]
fn errors_are_pcres_with_their_place() {
    let error = |text: &str, flags: &str| Pattern::compile(text, &options(flags)).expect_err(text);
    let e = error("foo(bar", "utf8 dupnames");
    assert_eq!((e.code, e.offset), ("X0101", Some(7)), "{e}");
    assert_eq!(e.to_string(), "missing closing parenthesis (at byte 7 of the pattern)");
    assert_eq!(error("(*UTF)a(", "").offset, Some(8));
    assert_eq!(error("*a", "").code, "X0101");
    assert_eq!(error("a[", "").code, "X0101");
    assert_eq!(error(&"a".repeat(70_000), "").code, "X0102");
}

#[test]
fn a_pattern_that_explodes_gives_up_and_is_counted() {
    let pattern = pattern("(?=x*)(a+)+(a+)+(a+)+$", "");
    let mut cache = Cache::new();
    assert!(!pattern.is_match(("a".repeat(200) + "!").as_bytes(), &mut cache));
    assert_eq!(cache.take_failures(), 1);
    assert_eq!(cache.take_failures(), 0);
    let linear = super::Pattern::compile("(a+)+(a+)+(a+)+b", &options("")).expect("a pattern");
    assert!(!linear.is_match("a".repeat(5000).as_bytes(), &mut cache));
    assert_eq!(cache.take_failures(), 0);
}

#[test]
fn a_cache_serves_many_patterns_and_outlives_them() {
    let mut cache = Cache::new();
    for round in 0..50 {
        let re = pattern(&format!("a.{{{round}}}b"), "");
        let other = pattern(&format!("a.{{{round}}}(?=b)"), "");
        let text = format!("a{}b", "x".repeat(round));
        assert!(re.is_match(text.as_bytes(), &mut cache) && other.is_match(text.as_bytes(), &mut cache));
        assert!(!re.is_match(b"ab no", &mut cache) || round == 0);
    }
}

#[test]
fn misplaced_flags_are_named() {
    assert_eq!(options("prefix").misplaced_flag(), Some("prefix"));
    assert_eq!(options("string prefix").misplaced_flag(), None);
    assert_eq!(options("glob newline").misplaced_flag(), Some("newline"));
    assert_eq!(PatternOptions::default().set_flag("nosuch").expect_err("unknown").code, "X0105");
    assert!(PatternOptions::default().set_kind("posix").is_ok(), "pcre, as everywhere now");
    assert_eq!(PatternOptions::default().set_kind("nosuch").expect_err("unknown").code, "X0104");
}

#[test]
fn what_mostly_refuses_still_finds() {
    let options = PatternOptions { captures: true, ..options("") };
    let text = "^(<[0-9]+>)([^ ]+) ([^ ]+).* ([^\\[]+)\\[([0-9]+)\\] (\\[[a-z]+x[^\\]]+\\]) *(.*)";
    let pattern = Pattern::compile(text, &options).expect("a pattern");
    let (mut cache, mut slots) = (Cache::new(), Slots::new());
    let good = b"<13>2026 host a b prog[42] [idx y] rest";
    for round in 0..200 {
        let refused = format!("<13>2026 host {} [idx", "w[1 ".repeat(round % 40));
        assert!(!pattern.captures(refused.as_bytes(), 0, &mut cache, &mut slots), "{refused}");
        if round % 7 == 0 {
            assert!(pattern.captures(good, 0, &mut cache, &mut slots));
            assert_eq!(slots.get(4), Some((18, 22)));
            assert_eq!(slots.get(7), Some((35, 39)));
            assert!(!pattern.captures(good, 1, &mut cache, &mut slots), "tied to the beginning");
        }
    }
}
