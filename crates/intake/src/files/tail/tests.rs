use super::*;
use crate::files::identity::HEAD_MAX;
use std::io::Write;

fn options() -> Arc<TailOptions> {
    Arc::new(TailOptions { framing: FramerOptions::default(), multi_line: None, encoding: None })
}

fn lines(tail: &mut Tail) -> Vec<String> {
    let mut lines = Vec::new();
    loop {
        let (mut text, mut spans) = (Vec::new(), Vec::new());
        match tail.read(&mut text, 7, |span| spans.push(span)).expect("read") {
            Step::Read(_) => {}
            Step::End => return lines,
            Step::Anew => {
                tail.restart().expect("restart");
                continue;
            }
        }
        lines.extend(spans.iter().map(|span| String::from_utf8_lossy(span.of(&text)).into_owned()));
    }
}

/// What the look before reading and the one after it find, in one.
fn truncated(tail: &mut Tail) -> Option<u64> {
    let gone = tail.is_rewritten().expect("look") || tail.is_shorter().expect("look");
    gone.then(|| tail.lost())
}

#[test]
fn half_a_line_is_read_again_by_the_next_reader() {
    let dir = tempfile::tempdir().expect("folder");
    let path = dir.path().join("f");
    std::fs::write(&path, "one\ntwo\nthr").expect("write");
    let open = || File::open(&path).expect("open");
    let mut tail = Tail::new(open(), Begin::Start, &options()).expect("tail");
    assert_eq!(lines(&mut tail), ["one", "two"]);
    assert_eq!((tail.position().offset, tail.has_rest()), (8, true));
    let position = tail.position();
    File::options().append(true).open(&path).expect("open").write_all(b"ee\n").expect("write");
    assert_eq!(lines(&mut tail), ["three"]);
    assert_eq!(lines(&mut Tail::new(open(), Begin::At(position), &options()).expect("tail")), ["three"]);
    assert!(lines(&mut Tail::new(open(), Begin::End, &options()).expect("tail")).is_empty());
    // Another file with the same inode.
    std::fs::write(&path, "another, longer one\n").expect("write");
    assert_eq!(
        lines(&mut Tail::new(open(), Begin::At(position), &options()).expect("tail")),
        ["another, longer one"]
    );
}

#[test]
fn bytes_that_were_seen_and_truncated_are_counted() {
    let dir = tempfile::tempdir().expect("folder");
    let path = dir.path().join("f");
    std::fs::write(&path, "one\n").expect("write");
    let mut tail = Tail::new(File::open(&path).expect("open"), Begin::Start, &options()).expect("tail");
    assert_eq!(lines(&mut tail), ["one"]);
    std::fs::write(&path, "one\ntwo\n").expect("write");
    assert_eq!(truncated(&mut tail), None);
    std::fs::write(&path, "").expect("write");
    assert_eq!(truncated(&mut tail), Some(4));
    tail.restart().expect("restart");
    std::fs::write(&path, "new\n").expect("write");
    assert_eq!((truncated(&mut tail), lines(&mut tail)), (None, vec!["new".to_owned()]));
    // As long as before, but not the same.
    std::fs::write(&path, "old\nmore\n").expect("write");
    assert_eq!(truncated(&mut tail), Some(0));
}

#[test]
fn a_position_in_another_encoding() {
    let dir = tempfile::tempdir().expect("folder");
    let path = dir.path().join("f");
    std::fs::write(&path, b"caf\xe9\nth\xe9").expect("write");
    let options =
        Arc::new(TailOptions { encoding: Some(conf_schema::Encoding::LATIN_1), ..(*options()).clone() });
    let mut tail = Tail::new(File::open(&path).expect("open"), Begin::Start, &options).expect("tail");
    assert_eq!(lines(&mut tail), ["café"]);
    assert_eq!(tail.position().offset, 5);
    let mut text = Vec::new();
    let mut span = Span::default();
    tail.finish(&mut text, |found| span = found);
    assert_eq!((span.of(&text), tail.position().offset), ("thé".as_bytes(), 8));
}

#[test]
fn what_a_truncation_takes_is_known_from_the_first_read_on() {
    let dir = tempfile::tempdir().expect("folder");
    let path = dir.path().join("f");
    std::fs::write(&path, "0123456789".repeat(10)).expect("write");
    let mut tail = Tail::new(File::open(&path).expect("open"), Begin::Start, &options()).expect("tail");
    assert_eq!(tail.read(&mut Vec::new(), 30, |_| {}).expect("read"), Step::Read(30));
    std::fs::write(&path, "").expect("truncate");
    assert_eq!(truncated(&mut tail), Some(70));
}

#[test]
fn reading_finds_a_file_that_was_written_anew() {
    let dir = tempfile::tempdir().expect("folder");
    let path = dir.path().join("f");
    for encoding in [None, Some(conf_schema::Encoding::LATIN_1)] {
        let options = Arc::new(TailOptions { encoding, ..(*options()).clone() });
        let written = |text: &str| std::fs::write(&path, text).expect("write");
        written("one\ntwo\nthr");
        let mut tail = Tail::new(File::open(&path).expect("open"), Begin::Start, &options).expect("tail");
        assert_eq!(lines(&mut tail), ["one", "two"]);
        // Longer, as long and shorter than what was read before.
        written("1\n2\n3\n4\n5\n6\n7\n");
        assert_eq!(lines(&mut tail), ["1", "2", "3", "4", "5", "6", "7"]);
        written("a\nb\nc\nd\ne\nf\ng\n");
        assert_eq!(lines(&mut tail), ["a", "b", "c", "d", "e", "f", "g"]);
        written("new\n");
        assert_eq!(lines(&mut tail), ["new"]);
        // What is not complete is not lost with what is read in vain.
        written("new\nha");
        assert_eq!((lines(&mut tail), tail.has_rest()), (vec![], true));
        written("anew");
        assert_eq!(tail.read(&mut Vec::new(), 7, |_| {}).expect("read"), Step::Anew);
        assert_eq!(tail.position().offset, 4);
        let mut text = Vec::new();
        tail.finish(&mut text, |_| {});
        assert_eq!(text, b"ha");
    }
}

#[test]
fn a_file_that_was_written_anew_before_the_next_reader_read_anything() {
    let dir = tempfile::tempdir().expect("folder");
    let path = dir.path().join("f");
    let written = |text: &str| std::fs::write(&path, text).expect("write");
    for next in ["two\n", "three\n", "2\n"] {
        written("one\n");
        let open = |begin| Tail::new(File::open(&path).expect("open"), begin, &options()).expect("tail");
        let mut tail = open(Begin::Start);
        assert_eq!(lines(&mut tail), ["one"]);
        let mut tails = [open(Begin::At(tail.position())), open(Begin::End)];
        written(next);
        for tail in &mut tails {
            assert_eq!(lines(tail), [next.trim_end()]);
        }
    }
}

#[test]
fn what_is_written_over_the_end_is_no_new_file() {
    let dir = tempfile::tempdir().expect("folder");
    let path = dir.path().join("f");
    let front = "x".repeat(2 * HEAD_MAX) + "\n";
    std::fs::write(&path, front.clone() + "one\n").expect("write");
    let mut tail = Tail::new(File::open(&path).expect("open"), Begin::Start, &options()).expect("tail");
    let mut read = || {
        let (mut text, mut spans) = (Vec::new(), Vec::new());
        let step = tail.read(&mut text, 10_000, |span| spans.push(span)).expect("read");
        (step, spans.last().map(|span| String::from_utf8_lossy(span.of(&text)).into_owned()))
    };
    assert_eq!(read().1.as_deref(), Some("one"));
    std::fs::write(&path, front.clone() + "two\nthree\n").expect("write");
    assert_eq!(read(), (Step::Read(6), Some("three".to_owned())));
    std::fs::write(&path, front + "2\n").expect("write");
    assert_eq!(read(), (Step::Anew, None));
}
