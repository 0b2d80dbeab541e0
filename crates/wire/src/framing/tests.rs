//! Each framing with the bytes it meets, and that no way of splitting them changes the result.

use super::*;
use proptest::prelude::*;

type Frames = (Vec<Vec<u8>>, Option<FrameError>, u64);

/// Feeds `bytes` in pieces that end at `cuts`, moving the tail to the front of a new buffer each time, as a
/// reader does.
fn run(options: FramerOptions, bytes: &[u8], cuts: &[usize]) -> Frames {
    run_some(options, bytes, cuts, usize::MAX)
}

/// The same with so many frames at a time.
fn run_some(options: FramerOptions, bytes: &[u8], cuts: &[usize], max: usize) -> Frames {
    let mut framer = Framer::new(options);
    let mut frames = Vec::new();
    let mut buffer: Vec<u8> = Vec::new();
    let mut error = None;
    let mut from = 0;
    for cut in cuts.iter().copied().chain([bytes.len()]) {
        // A header of another use in front of the buffer: the start offset is honoured.
        let mut text = b"##\n##".to_vec();
        text.extend_from_slice(&buffer);
        text.extend_from_slice(&bytes[from..cut]);
        from = cut;
        let mut start = 5;
        loop {
            let before = frames.len();
            match framer.scan_some(&text, start, max, |span| frames.push(span.of(&text).to_vec())) {
                Ok(tail) => start = tail,
                Err(found) => {
                    error = Some(found);
                    break;
                }
            }
            // All pieces of a line that is too long come together.
            let pieces = text.len() / options.log_msg_size.max(1);
            assert!(
                frames.len() - before <= max.saturating_add(pieces),
                "{} of {max}",
                frames.len() - before
            );
            if !framer.is_held() {
                break;
            }
        }
        if error.is_some() {
            break;
        }
        buffer = text[start..].to_vec();
        assert!(buffer.len() < framer.tail_max(), "a tail of {} bytes", buffer.len());
    }
    if error.is_none() {
        error = framer.finish(&buffer, 0, |span| frames.push(span.of(&buffer).to_vec())).err();
    }
    (frames, error, framer.take_truncated())
}

fn options(framing: Framing, log_msg_size: usize) -> FramerOptions {
    FramerOptions { framing, log_msg_size, ..FramerOptions::default() }
}

fn check(options: FramerOptions, bytes: &[u8], expected: &[&str]) {
    let (frames, error, _) = run(options, bytes, &[]);
    let frames: Vec<String> = frames.iter().map(|f| f.escape_ascii().to_string()).collect();
    assert_eq!((frames.iter().map(|f| &**f).collect::<Vec<_>>(), error), (expected.to_vec(), None));
    let every: Vec<usize> = (0..bytes.len()).collect();
    assert_eq!(run(options, bytes, &every), run(options, bytes, &[]), "byte by byte");
}

#[test]
fn records() {
    let o = options(Framing::Records(6), 8);
    check(o, b"", &[]);
    check(o, b"one\n\0\0two\0\0\0threee\n\0\0\0\0\0a\nb\0\0\0", &["one", "two", "threee", "a"]);
    let (frames, error, truncated) = run(options(Framing::Records(6), 4), b"abcdefab", &[]);
    assert_eq!((frames, truncated), (vec![b"abcd".to_vec()], 1));
    assert_eq!(error, Some(FrameError::Unfinished { waiting: 2 }));
}

#[test]
fn lines() {
    let o = options(Framing::Lines, 8);
    check(o, b"", &[]);
    check(o, b"one\ntwo\r\n\n\0\r\nthree\0\nlast", &["one", "two", "three", "last"]);
    check(o, b"a\0b\n", &["a", "b"]);
    check(options(Framing::LinesWithNuls, 8), b"a\0b\0\nc", &["a\\x00b", "c"]);
    check(options(Framing::NulTerminated, 9), b"a\nb\n\0c\0\0d", &["a\\nb", "c", "d"]);
    let keep = FramerOptions { empty_lines: true, ..o };
    check(keep, b"a\n\n\r\nb\n", &["a", "", "", "b"]);
}

#[test]
fn lines_that_are_too_long() {
    let o = options(Framing::Lines, 4);
    check(o, b"1234\n5678", &["1234", "5678"]);
    check(o, b"12345\nab\n", &["1234", "5", "ab"]);
    check(o, b"123456789", &["1234", "5678", "9"]);
    check(o, b"12345678\nx", &["1234", "5678", "x"]);
    assert_eq!(run(o, b"123456789\n1234\n", &[]).2, 2);
    let trim = FramerOptions { trim_large_messages: true, ..o };
    check(trim, b"123456789\nab\n12345", &["1234", "5678", "9", "ab", "1234", "5"]);
}

#[test]
fn octets() {
    let o = options(Framing::OctetCounting, 8);
    check(o, b"3 one0 5 two\n 8 12345678", &["one", "two\\n ", "12345678"]);
    check(FramerOptions { empty_lines: true, ..o }, b"0 1 a", &["", "a"]);
    check(o, b"0000000003 abc", &["abc"]);
    let trim = FramerOptions { trim_large_messages: true, ..o };
    check(trim, b"10 12345678902 ab", &["12345678", "ab"]);
    check(trim, b"1000 12345678901234", &["12345678"]);
}

#[test]
fn octets_that_are_wrong() {
    let o = options(Framing::OctetCounting, 8);
    let fails = |bytes: &[u8], expected: FrameError| {
        let (frames, error, _) = run(o, bytes, &[]);
        assert_eq!((frames, error), (vec![b"a".to_vec()], Some(expected)));
    };
    fails(b"1 a9 123456789", FrameError::TooLong { count: 9, log_msg_size: 8 });
    fails(b"1 a9999999999 ", FrameError::TooLong { count: 9_999_999_999, log_msg_size: 8 });
    fails(b"1 a99999999999 ", FrameError::BadCount(b"99999999999".to_vec()));
    fails(b"1 a<13>hello", FrameError::BadCount(b"<".to_vec()));
    fails(b"1 a 3 abc", FrameError::BadCount(b" ".to_vec()));
    fails(b"1 a12x", FrameError::BadCount(b"12x".to_vec()));
    fails(b"1 a5 abc", FrameError::Unfinished { waiting: 5 });
    let text = FrameError::BadCount(b"12\n".to_vec()).to_string();
    assert_eq!(text, "expected an octet count and a blank, found \"12\\n\"");
}

#[test]
fn auto() {
    let o = options(Framing::Auto, 40);
    check(o, b"5 a\nb\nc7 <13>abc", &["a\\nb\\nc", "<13>abc"]);
    check(o, b"<13>5 abc\n5 abc\n", &["<13>5 abc", "5 abc"]);
    check(o, b"12345678901 x\n", &["12345678901 x"]);
    check(o, b"12a\n", &["12a"]);
    check(o, b"123", &["123"]);
    check(o, b" 3 abc", &[" 3 abc"]);
    let mut framer = Framer::new(o);
    assert_eq!((framer.scan(b"12", 0, |_| ()), framer.framing()), (Ok(0), Framing::Auto));
    assert_eq!((framer.scan(b"12 ", 0, |_| ()), framer.framing()), (Ok(0), Framing::OctetCounting));
}

#[test]
fn datagrams() {
    let one = |bytes: &[u8]| {
        let mut framer = Framer::new(options(Framing::Datagram, 8));
        let mut found = Vec::new();
        let tail = framer.scan(bytes, 0, |span| found.push(span.of(bytes).escape_ascii().to_string()));
        assert_eq!(tail, Ok(bytes.len()));
        (found.concat(), framer.take_truncated())
    };
    assert_eq!(one(b"a\nb\n\0"), ("a\\nb".to_owned(), 0));
    assert_eq!(one(b"12345678\n"), ("12345678".to_owned(), 0));
    assert_eq!(one(b"123456789"), ("12345678".to_owned(), 1));
    assert_eq!(one(b"\n"), (String::new(), 0));
}

#[test]
fn the_tail_is_not_searched_again() {
    let mut framer = Framer::new(options(Framing::Lines, 100));
    assert_eq!(framer.scan(b"0123456789", 0, |_| ()), Ok(0));
    // A newline put into the part that was already searched is not seen: it was not looked at again.
    let mut found = Vec::new();
    assert_eq!(framer.scan(b"01\n3456789abc\n", 0, |span| found.push(span)), Ok(14));
    assert_eq!(found, [Span::new(0, 13)]);
}

fn any_options() -> impl Strategy<Value = FramerOptions> {
    let framing = prop_oneof![
        Just(Framing::Lines),
        Just(Framing::LinesWithNuls),
        Just(Framing::NulTerminated),
        Just(Framing::Records(7)),
        Just(Framing::OctetCounting),
        Just(Framing::Auto),
    ];
    (framing, 1usize..12, any::<[bool; 3]>()).prop_map(
        |(framing, log_msg_size, [empty_lines, trim_large_messages, is_text])| FramerOptions {
            framing,
            log_msg_size,
            empty_lines,
            trim_large_messages,
            is_text,
        },
    )
}

/// Bytes made of the pieces that matter to framing.
fn any_stream() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        3 => (0usize..14).prop_map(|n| {
            let mut frame = format!("{n} ").into_bytes();
            frame.resize(frame.len() + n, b'm');
            frame
        }),
        2 => proptest::collection::vec(b'a'..=b'z', 0..14),
        3 => prop_oneof![Just(b"\n".to_vec()), Just(b"\r\n".to_vec()), Just(b"\0".to_vec())],
        1 => proptest::collection::vec(any::<u8>(), 0..6),
        1 => Just(b"12345678901".to_vec()),
    ];
    proptest::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_split_gives_the_same_frames(
        options in any_options(),
        bytes in any_stream(),
        cuts in proptest::collection::vec(any::<proptest::sample::Index>(), 0..6),
    ) {
        let whole = run(options, &bytes, &[]);
        let every: Vec<usize> = (0..=bytes.len()).collect();
        prop_assert_eq!(&run(options, &bytes, &every), &whole);
        for cut in 0..=bytes.len() {
            prop_assert_eq!(&run(options, &bytes, &[cut]), &whole, "cut at {}", cut);
        }
        let mut cuts: Vec<usize> = cuts.iter().map(|index| index.index(bytes.len() + 1)).collect();
        cuts.sort_unstable();
        prop_assert_eq!(&run(options, &bytes, &cuts), &whole, "cuts at {:?}", cuts);
        for max in [1, 2, 3] {
            prop_assert_eq!(&run_some(options, &bytes, &cuts, max), &whole, "{} at a time, cuts at {:?}", max, cuts);
        }
    }
}

/// A connection goes from process to process only where both would read it alike: every field must show.
#[test]
fn what_options_say_of_themselves_tells_any_two_apart() {
    let base = FramerOptions::default();
    // A new field has to be thought of here. What is text goes with encoding(), which is compared beside.
    let FramerOptions { framing: _, log_msg_size, empty_lines, trim_large_messages, is_text: _ } = base;
    let mut all = vec![
        FramerOptions { log_msg_size: log_msg_size + 1, ..base },
        FramerOptions { empty_lines: !empty_lines, ..base },
        FramerOptions { trim_large_messages: !trim_large_messages, ..base },
    ];
    let framings = [
        Framing::Lines,
        Framing::LinesWithNuls,
        Framing::NulTerminated,
        Framing::OctetCounting,
        Framing::Auto,
        Framing::Records(1),
        Framing::Records(11),
        Framing::Datagram,
    ];
    all.extend(framings.map(|framing| FramerOptions { framing, ..base }));
    for (n, one) in all.iter().enumerate() {
        for other in &all[n + 1..] {
            assert_ne!(one.described(), other.described());
        }
    }
    // Another process, of another version, reads it: these bytes stay what they are while the number in front
    // is 1.
    assert_eq!(base.described(), "1 lines 65536 0 0");
    let padded = FramerOptions { framing: Framing::Records(9), log_msg_size: 8, empty_lines: true, ..base };
    assert_eq!(padded.described(), "1 records-9 8 1 0");
}

#[test]
fn no_character_of_a_text_is_cut_apart() {
    let text = |framing, limit| FramerOptions { is_text: true, ..options(framing, limit) };
    let o = text(Framing::Lines, 8);
    check(o, "aaaaaaa\u{e9}b\n".as_bytes(), &["aaaaaaa", "\\xc3\\xa9b"]);
    check(o, "aaaaaa\u{1f600}\n".as_bytes(), &["aaaaaa", "\\xf0\\x9f\\x98\\x80"]);
    check(o, "aaaaaa\u{e9}b\n".as_bytes(), &["aaaaaa\\xc3\\xa9", "b"]);
    let (datagrams, _, cut) = run(text(Framing::Datagram, 2), "a\u{20ac}".as_bytes(), &[]);
    assert_eq!((datagrams, cut), (vec![b"a".to_vec()], 1));
    check(text(Framing::Records(5), 3), "ab\u{20ac}".as_bytes(), &["ab"]);
    // One that has no room at all, and bytes that are none.
    check(text(Framing::Lines, 2), "\u{20ac}\n".as_bytes(), &["\\xe2\\x82", "\\xac"]);
    check(text(Framing::Lines, 4), b"\x80\x80\x80\x80\x80\n", &["\\x80\\x80\\x80\\x80", "\\x80"]);
    check(options(Framing::Lines, 2), "a\u{e9}\n".as_bytes(), &["a\\xc3", "\\xa9"]);
}

#[test]
fn blocks_are_whole_whatever_is_in_them() {
    let o = options(Framing::Blocks(4), 2);
    check(o, b"a\n\0b\0\0\0\0", &["a\\n\\x00b", "\\x00\\x00\\x00\\x00"]);
    let (frames, error, _) = run(o, b"abcdef", &[]);
    assert_eq!((frames, error), (vec![b"abcd".to_vec()], Some(FrameError::Unfinished { waiting: 2 })));
}
