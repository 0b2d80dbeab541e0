//! Frames against every way to cut and to damage them.

use super::*;
use crate::FramerOptions;
use proptest::prelude::*;

const MAX: usize = 1 << 20;

const HELLO: Hello = Hello { oldest: 1, newest: 3, packs: true, lane: 0x1234, stream: *b"0123456789abcdef" };

/// Bytes of all messages and their ends.
fn joined<T: AsRef<[u8]>>(messages: &[T]) -> (Vec<u8>, Vec<u32>) {
    let mut bytes = Vec::new();
    let ends = messages.iter().map(|message| {
        bytes.extend_from_slice(message.as_ref());
        bytes.len() as u32
    });
    let ends = ends.collect();
    (bytes, ends)
}

fn number(sequence: u64) -> Number {
    Number { sequence, position: sequence * 10 }
}

fn encoded<T: AsRef<[u8]>>(sequence: u64, list: &[T], packer: Option<&mut Packer>) -> Vec<u8> {
    let (bytes, ends) = joined(list);
    let payload = Payload { bytes: &bytes, ends: &ends, start: 0 };
    let mut out = Vec::new();
    if let Some(packed) = packer.and_then(|packer| packer.pack(payload)) {
        packed_batch(&mut out, number(sequence), payload, packed.len());
        out.extend_from_slice(packed);
        return out;
    }
    batch(&mut out, number(sequence), payload);
    out.extend_from_slice(&bytes);
    out
}

fn decoded(batch: &Batch<'_>) -> Result<Vec<Vec<u8>>, Error> {
    let mut text = b"before".to_vec();
    match batch.packed {
        false => text.extend_from_slice(batch.payload),
        true => {
            text.resize(6 + batch.plain as usize, 0);
            unpack(batch.payload, &mut text[6..])?;
        }
    }
    let mut found = Vec::new();
    messages(&text[6..], batch.messages, 6, |span| found.push(span.of(&text).to_vec()))?;
    Ok(found)
}

#[test]
fn the_first_words_are_what_the_description_says() {
    let bytes = hello(&HELLO);
    assert_eq!(&bytes[..8], b"\x93PRLTP\r\n");
    assert_eq!(bytes[8..16], [1, 3, 1, 0, 0x34, 0x12, 0, 0]);
    assert_eq!(&bytes[16..], b"0123456789abcdef");
    for cut in 0..bytes.len() {
        assert_eq!(read_hello(&bytes[..cut]), Ok(None));
    }
    assert_eq!(read_hello(&bytes), Ok(Some(HELLO)));
    let reached = Reached { numbering: 6, position: 7 };
    let payload_bytes_max = 70_000;
    let expected =
        Welcome { version: 1, packs: true, payload_bytes_max, run: 5, acknowledged: u64::MAX, reached };
    let mut out = Vec::new();
    welcome(&mut out, &expected);
    assert_eq!(next(&out, MAX), Ok(Some((Frame::Welcome(expected), 48))));
    assert_eq!((read_magic(&bytes[..7]), read_magic(&bytes)), (Ok(false), Ok(true)));
}

#[track_caller]
fn foreign(bytes: &[u8], said: &str) {
    let error = read_hello(bytes).expect_err("it is another protocol").to_string();
    assert!(error.contains(said), "{error}");
}

#[test]
fn other_protocols_are_called_by_their_names() {
    foreign(
        b"<13>Nov 11 01:02:03 h app: m\n",
        "begins with \"<13>Nov 11 01:02\", which looks like plain syslog",
    );
    foreign(b"12 <13>1 ", "plain syslog");
    foreign(b"\x16\x03\x01", "which is TLS");
    foreign(b"GET / HTTP/1.1\r\n", "begins with \"GET / HTTP/1.1\\r\\n\"");
    foreign(b"220 mail", "begins with \"220 mail\"");
    // The line end was changed on the way.
    foreign(b"\x93PRLTP\n", "does not speak rltp");
}

#[test]
fn control_frames() {
    let mut out = Vec::new();
    ack(&mut out, 7);
    ping(&mut out);
    let begin = Start { run: 9, numbering: 3 };
    start(&mut out, begin);
    refuse(&mut out, code::VERSION, &"ä".repeat(1000));
    let mut frames = Vec::new();
    let mut rest = out.as_slice();
    while let Some((frame, length)) = next(rest, 0).expect("good frames") {
        frames.push(frame);
        rest = &rest[length..];
    }
    let text = "ä".repeat(512);
    let refusal = Frame::Refuse { code: 1, text: &text };
    assert_eq!(frames, [Frame::Ack(7), Frame::Ping, Frame::Start(begin), refusal]);
    assert!(rest.is_empty());
}

#[track_caller]
fn wrong(bytes: &[u8], max: usize, expected: Error) {
    assert_eq!(next(bytes, max), Err(expected));
}

#[test]
fn what_is_too_large_or_unknown_is_refused_by_its_head() {
    wrong(&[9, 0, 0, 0, 0, 0, 0, 0], MAX, Error::UnknownFrame(9));
    wrong(&[0, 0, 0, 0, 0, 0, 0, 0], MAX, Error::UnknownFrame(0));
    wrong(&[BATCH, 0, 0, 0, 125, 0, 0, 0], 100, Error::TooLarge { length: 125, max: 124 });
    wrong(&[ACK, 0, 0, 0, 0, 16, 0, 0], MAX, Error::TooLarge { length: 4096, max: 2048 });
    wrong(&[ACK, 0, 0, 0, 1, 0, 0, 0, 0], MAX, Error::Length { frame: "acknowledgement", length: 1 });
    wrong(&[BATCH, 0, 0, 0, 1, 0, 0, 0, 0], MAX, Error::Length { frame: "batch", length: 1 });
    assert_eq!(frame_bytes(&[BATCH, 0, 0, 0, 125, 0, 0]), None);
    assert_eq!(frame_bytes(&[BATCH, 0, 0, 0, 125, 0, 0, 0]), Some(133));
}

#[test]
fn a_batch_that_does_not_add_up_gives_nothing() {
    let good = encoded(1, &["one", "", "three"], None);
    let mut bad = good.clone();
    bad[HEAD_BYTES + BATCH_HEAD_BYTES] = 2;
    let Ok(Some((Frame::Batch(batch), _))) = next(&bad, MAX) else { panic!("a batch") };
    assert_eq!(decoded(&batch), Err(Error::Sum));
    // More messages than there is room for lengths.
    let mut bad = good.clone();
    bad[HEAD_BYTES + 16] = 200;
    assert_eq!(next(&bad, MAX), Err(Error::Sum));
    let mut packer = Packer::new(3).expect("memory");
    let packed = encoded(1, &["the same text"; 100], Some(&mut packer));
    let mut bad = packed.clone();
    let last = bad.len() - 1;
    bad[last] ^= 1;
    let Ok(Some((Frame::Batch(batch), _))) = next(&bad, MAX) else { panic!("a batch") };
    assert!(matches!(decoded(&batch), Err(Error::Unpack(_))));
    let Ok(Some((Frame::Batch(batch), _))) = next(&packed, MAX) else { panic!("a batch") };
    assert_eq!(decoded(&batch).map(|list| list.len()), Ok(100), "the next one is not touched by that");
    assert_eq!(next(&packed, 1300), Err(Error::TooLarge { length: 1700, max: 1300 }));
}

fn batches() -> impl Strategy<Value = Vec<Vec<Vec<u8>>>> {
    let message = prop::collection::vec(any::<u8>(), 0..40);
    prop::collection::vec(prop::collection::vec(message, 0..20), 0..6)
}

proptest! {
    /// However the bytes come, the batches are the same.
    #[test]
    fn every_split_gives_the_same(batches in batches(), packs: bool, step in 1usize..200) {
        let mut packer = Packer::new(1).filter(|_| packs);
        let mut stream = Vec::new();
        for (at, list) in batches.iter().enumerate() {
            stream.extend(encoded(at as u64, list, packer.as_mut()));
            ping(&mut stream);
        }
        let mut found = Vec::new();
        let mut buffer = Vec::new();
        for piece in stream.chunks(step) {
            buffer.extend_from_slice(piece);
            while let Some((frame, length)) = next(&buffer, MAX).expect("good frames") {
                assert_eq!(frame_bytes(&buffer), Some(length));
                if let Frame::Batch(batch) = frame {
                    assert_eq!(number(found.len() as u64), Number { sequence: batch.sequence, position: batch.position });
                    found.push(decoded(&batch).expect("a good batch"));
                }
                buffer.drain(..length);
            }
        }
        prop_assert!(buffer.is_empty());
        prop_assert_eq!(found, batches);
    }

    /// Any bytes: an answer, and never a span outside.
    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200), kind in 0u8..9) {
        let _ = read_hello(&bytes);
        let mut bytes = bytes;
        if let Some(first) = bytes.first_mut() {
            *first = kind;
        }
        if let Ok(Some((frame, length))) = next(&bytes, MAX) {
            prop_assert!(length <= bytes.len());
            if let Frame::Batch(batch) = frame {
                let _ = decoded(&batch);
            }
        }
    }
}

#[test]
fn messages_are_cut_as_lines_are() {
    let text = b"one\n..\r\n\0abcdefgh\n";
    let cut = |start, len, options: FramerOptions| {
        let mut found = Vec::new();
        let truncated = cut(&options, text, Span::new(start, len), |span| found.push(span.of(text)));
        (found.iter().map(|m| String::from_utf8_lossy(m).into_owned()).collect::<Vec<_>>(), truncated)
    };
    let short = FramerOptions { log_msg_size: 3, ..FramerOptions::default() };
    assert_eq!(cut(0, 4, short), (vec!["one".into()], 0));
    assert_eq!(cut(6, 3, short), (vec![], 0), "it is empty");
    assert_eq!(cut(6, 3, FramerOptions { empty_lines: true, ..short }).0, [""]);
    assert_eq!(cut(9, 9, short), (vec!["abc".into(), "def".into(), "gh".into()], 2));
    let trimmed = FramerOptions { trim_large_messages: true, ..short };
    assert_eq!(cut(9, 9, trimmed), (vec!["abc".into()], 1));
}
