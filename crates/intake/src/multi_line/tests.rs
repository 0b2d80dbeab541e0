use super::*;
use pattern::PatternOptions;
use proptest::prelude::*;

fn pattern(text: &str) -> Arc<Pattern> {
    let options = PatternOptions { captures: true, ..PatternOptions::default() };
    Arc::new(Pattern::compile(text, &options).expect("a pattern"))
}

fn options(log_msg_size: usize) -> FramerOptions {
    FramerOptions { log_msg_size, ..FramerOptions::default() }
}

/// The messages of a text that comes in pieces of these lengths.
fn cut_in(mode: &Mode, options: FramerOptions, text: &str, pieces: &[usize]) -> Vec<String> {
    let mut joiner = MultiLine::new(mode.clone(), options);
    let (mut messages, mut kept, mut at) = (Vec::new(), Vec::new(), 0);
    let ends = pieces.iter().scan(0, |sum, n| {
        *sum += n;
        Some(*sum)
    });
    for end in ends.chain([text.len()]).map(|end| end.min(text.len())) {
        kept.extend_from_slice(&text.as_bytes()[at..end]);
        at = end;
        let tail = {
            let mut sink = |span: Span| messages.push(String::from_utf8_lossy(span.of(&kept)).into_owned());
            joiner.scan(&kept, &mut sink)
        };
        kept.drain(..tail);
    }
    joiner
        .finish(&kept, &mut |span: Span| messages.push(String::from_utf8_lossy(span.of(&kept)).into_owned()));
    messages
}

#[track_caller]
fn check(mode: &Mode, text: &str, expected: &[&str]) {
    assert_eq!(cut_in(mode, options(1000), text, &[]), expected);
    assert_eq!(cut_in(mode, options(1000), text, &vec![1; text.len()]), expected, "byte by byte");
}

#[test]
fn indented_lines_belong_to_the_one_before() {
    check(&Mode::Indented, "a\n b\n\tc\nd\r\n e\r\nf", &["a\n b\n\tc", "d\r\n e", "f"]);
    check(&Mode::Indented, " a\nb\n", &[" a", "b"]);
    // An empty line says nothing of its own.
    check(&Mode::Indented, "a\n\n b\n\n\nc\n\nd\n", &["a\n\n b", "c", "d"]);
}

#[test]
fn empty_lines_separate() {
    check(&Mode::EmptyLineSeparated, "\n\na\nb\n\n\nc\r\n\r\nd\n", &["a\nb", "c", "d"]);
}

#[test]
fn a_backtrace_is_one_message() {
    let trace = "x.Exception: no\n\tat a.b(c.java:1)\n\t... 1 more";
    check(
        &Mode::Smart,
        &format!("a\n\nb\n{trace}\n{trace}\n\tat home\r\n c\n"),
        &["a", "b", trace, &format!("{trace}\n\tat home"), " c"],
    );
    check(
        &Mode::Smart,
        "Error: x\nError: y\nPHP Notice:  z\nStack trace:\n#0 f\n  thrown in x\n#1 g",
        &["Error: x", "Error: y", "PHP Notice:  z\nStack trace:\n#0 f\n  thrown in x", "#1 g"],
    );
}

#[test]
fn from_prefix_to_prefix_or_garbage() {
    let mode = Mode::PrefixGarbage { prefix: Some(pattern("^[0-9]")), garbage: None };
    check(&mode, "x\n1 a\nb\n2 c\n3\n", &["x", "1 a\nb", "2 c", "3"]);
    let mode = Mode::PrefixGarbage { prefix: Some(pattern("^[0-9]")), garbage: Some(pattern("END")) };
    check(&mode, "1 a\nb END x\ny\n2 c\n3 d END\nz\n4\n", &["1 a\nb ", "2 c", "3 d ", "4"]);
    let mode = Mode::PrefixGarbage { prefix: None, garbage: Some(pattern("^--")) };
    check(&mode, "a\nb\n--x\nc\n--\n", &["a\nb", "c"]);
}

#[test]
fn from_prefix_to_suffix() {
    let mode = Mode::PrefixSuffix { prefix: Some(pattern("^<")), suffix: pattern(">") };
    check(&mode, "<a\nb> x\ny\n<c>\n<d\n<e>\n", &["<a\nb>", "<c>", "<d", "<e>"]);
}

#[test]
fn long_messages_are_split() {
    let small = options(4);
    assert_eq!(
        cut_in(&Mode::Indented, small, "abcdefghij\n x\ny\n", &[]),
        ["abcd", "efgh", "ij\n ", "x", "y"]
    );
    let trimmed = FramerOptions { trim_large_messages: true, ..small };
    assert_eq!(
        cut_in(&Mode::Indented, trimmed, "abcdefghij\n x\ny\n", &[]),
        cut_in(&Mode::Indented, small, "abcdefghij\n x\ny\n", &[])
    );
}

proptest! {
    /// The result does not depend on how the bytes were split.
    #[test]
    fn any_split_gives_the_same(text in "[ab1<> \n]{0,60}", pieces in prop::collection::vec(0usize..9, 0..12), mode in 0usize..4) {
        let mode = match mode {
            0 => Mode::Indented,
            1 => Mode::EmptyLineSeparated,
            2 => Mode::PrefixGarbage { prefix: Some(pattern("^1")), garbage: Some(pattern("b")) },
            _ => Mode::PrefixSuffix { prefix: Some(pattern("^<")), suffix: pattern(">") },
        };
        let whole = cut_in(&mode, options(1000), &text, &[]);
        prop_assert_eq!(cut_in(&mode, options(1000), &text, &pieces), whole);
    }
}
