//! Frames as the specification and librelp have them, however they are split, and everything that is none.

use super::*;
use proptest::prelude::*;

type Found = Vec<(u32, Command, Vec<u8>)>;

/// Feeds the stream in pieces of `step` bytes; what was found, the error, and how many messages were cut.
fn read(max: usize, stream: &[u8], step: usize) -> (Found, Option<FrameError>, u64) {
    let mut reader = Reader::new(max);
    let (mut found, mut buffer) = (Vec::new(), Vec::new());
    for piece in stream.chunks(step.max(1)) {
        buffer.extend_from_slice(piece);
        let outcome = reader.scan(&buffer, |f| found.push((f.txnr, f.command, f.data.of(&buffer).to_vec())));
        match outcome {
            Ok(tail) => drop(buffer.drain(..tail)),
            Err(error) => return (found, Some(error), reader.take_truncated()),
        }
        assert!(buffer.len() < reader.tail_max());
    }
    (found, None, reader.take_truncated())
}

fn check(stream: &[u8], expected: &[(u32, Command, &str)]) {
    let expected: Found = expected.iter().map(|(n, c, d)| (*n, *c, d.as_bytes().to_vec())).collect();
    for step in [1, 2, 3, 7, stream.len()] {
        let (found, error, _) = read(100, stream, step);
        assert_eq!((found, error), (expected.clone(), None), "in pieces of {step}");
    }
}

#[test]
fn a_session_of_librelp() {
    check(
        b"1 open 86 relp_version=0\nrelp_software=librelp,1.11.0,http://librelp.adiscon.com\ncommands=syslog\n\
          2 syslog 7 <13>a\nb\n3 syslog 0\n999999999 syslog 1 x\n1 close 0\n0 serverclose 0\n",
        &[
            (
                1,
                Command::Open,
                "relp_version=0\nrelp_software=librelp,1.11.0,http://librelp.adiscon.com\ncommands=syslog",
            ),
            (2, Command::Syslog, "<13>a\nb"),
            (3, Command::Syslog, ""),
            (999_999_999, Command::Syslog, "x"),
            (1, Command::Close, ""),
            (0, Command::ServerClose, ""),
        ],
    );
    check(b"1 close 0 \n2 starttls 3 abc\n", &[(1, Command::Close, ""), (2, Command::Other, "abc")]);
}

#[test]
fn what_is_no_frame_ends_the_session_as_early_as_it_shows() {
    for (stream, found) in [
        (&b"<13>Jan  1 00:00:00 host"[..], "<"),
        (b"1234567890 syslog", "1234567890"),
        (b"1syslog", "1s"),
        (b"1  syslog", "1  "),
        (b"1 sys1log 3", "1 sys1"),
        (b"1 syslog x", "1 syslog x"),
        (b"1 syslog 3x", "1 syslog 3x"),
        (b"1 syslog 3\nabc\n", "1 syslog 3\n"),
        (b"1 abcdefghijklmnopqrstuvwxyzabcdefg 1", "1 abcdefghijklmnopqrstuvwxyzabcdefg"),
    ] {
        for step in [1, stream.len()] {
            let (frames, error, _) = read(100, stream, step);
            assert_eq!((frames, error), (Vec::new(), Some(FrameError::BadHead(found.as_bytes().to_vec()))));
        }
    }
    assert_eq!(read(100, b"1 syslog 3 abcd", 1).1, Some(FrameError::BadEnd(b'd')));
    assert_eq!(read(100, b"1 open 32769 ", 1).1, Some(FrameError::TooLong(32769)));
}

#[test]
fn a_long_message_is_cut_and_the_next_one_is_whole() {
    for step in [1, 5, 100] {
        let (found, error, truncated) = read(3, b"1 syslog 8 abcdefgh\n2 syslog 3 ijk\n", step);
        let expected = vec![(1, Command::Syslog, b"abc".to_vec()), (2, Command::Syslog, b"ijk".to_vec())];
        assert_eq!((found, error, truncated), (expected, None, 1));
    }
    assert_eq!(read(3, b"1 syslog 8 abcdefghi", 1).1, Some(FrameError::BadEnd(b'i')));
}

#[test]
fn answers() {
    let parsed = |text: &'static str| Response::parse(text.as_bytes()).map(|r| (r.code, r.words, r.data));
    assert_eq!(parsed("200 OK"), Some((200, &b"OK"[..], &b""[..])));
    assert_eq!(parsed("200 OK\nrelp_version=0\n"), Some((200, &b"OK"[..], &b"relp_version=0\n"[..])));
    assert_eq!(parsed("500"), Some((500, &b""[..], &b""[..])));
    assert_eq!(parsed(""), Some((200, &b""[..], &b""[..])));
    assert_eq!((parsed("OK"), parsed("2000 OK"), parsed("20")), (None, None, None));
}

#[test]
fn offers_are_looked_at() {
    let parse = |text: &str| Offers::parse(text.as_bytes()).check();
    assert_eq!(parse("relp_version=0\nrelp_software=x,1\ncommands=syslog"), Ok(()));
    assert_eq!(parse("\nrelp_version=1\nx\ncommands=eventlog,syslog\n"), Ok(()));
    assert!(parse("relp_version=7\ncommands=syslog").is_err_and(|why| why.contains("version 7")));
    assert!(parse("commands=syslog").is_err());
    assert!(parse("relp_version=0\ncommands=eventlog").is_err_and(|why| why.contains("syslog")));
    assert_eq!(Offers::parse(&offers::own()).check(), Ok(()));
}

#[test]
fn what_is_written() {
    let mut out = Vec::new();
    open(&mut out, 1);
    message(&mut out, 2, b"hello\n");
    message(&mut out, 3, b"");
    close(&mut out, 4);
    response(&mut out, 2);
    refuse(&mut out, 9, "no");
    serverclose(&mut out);
    assert_eq!(
        String::from_utf8(out).expect("text"),
        "1 open 53 relp_version=0\nrelp_software=penstock\ncommands=syslog\n2 syslog 5 hello\n3 syslog 0\n4 close 0\n\
         2 rsp 6 200 OK\n9 rsp 6 500 no\n0 serverclose 0\n"
    );
    assert_eq!((next(1), next(TXNR_MAX)), (2, 1));
}

proptest! {
    #[test]
    fn what_is_written_is_read_however_it_is_split(
        messages in proptest::collection::vec((1..=TXNR_MAX, proptest::collection::vec(any::<u8>(), 0..60)), 0..20),
        step in 1usize..100,
    ) {
        let (mut stream, mut expected) = (Vec::new(), Vec::new());
        for (txnr, data) in messages {
            frame(&mut stream, txnr, "syslog", &data);
            expected.push((txnr, Command::Syslog, data));
        }
        prop_assert_eq!(read(100, &stream, step), (expected, None, 0));
    }

    #[test]
    fn any_bytes_give_the_same_frames_however_they_are_split(
        stream in proptest::string::string_regex("([0-9]{1,3} (syslog|rsp|open|x) ([0-9]{1,2} ?[a-z\n]{0,12}|0)\n?){0,6}").expect("a pattern"),
        max in 1usize..12,
        step in 1usize..20,
    ) {
        let whole = read(max, stream.as_bytes(), stream.len());
        prop_assert_eq!(read(max, stream.as_bytes(), step), whole.clone());
        prop_assert_eq!(read(max, stream.as_bytes(), 1), whole);
    }
}
