//! Batches as the producer writes them, read back; and what is wrong with some.

use super::unpack::UNPACKED_BYTES_MAX;
use super::*;
use crate::batch::{self, Batch, Record, envelope};
use crate::compression::Compression;
use proptest::prelude::*;

const READING: Reading = Reading { committed_only: true, checked: true };

/// Gives a finished batch its first offset.
fn at(mut batch: Vec<u8>, offset: i64) -> Vec<u8> {
    batch[..8].copy_from_slice(&offset.to_be_bytes());
    batch
}

fn made(values: &[Vec<u8>], compression: Compression, offset: i64) -> Vec<u8> {
    let mut batch = Batch::new(Vec::new());
    values.iter().for_each(|value| batch.add(Record::Value(value)));
    let mut bytes = batch.finish(compression, 1_700_000_000_123).expect("packed");
    batch::seal(&mut bytes, None, false);
    at(bytes, offset)
}

/// Offsets and values; where reading ended; what was wrong.
fn read(bytes: Vec<u8>, from: i64, step: (usize, usize)) -> (Vec<(i64, Vec<u8>)>, i64, usize) {
    let all = 0..bytes.len();
    let mut batches = Batches::new(Arc::new(bytes), all, from, Vec::new(), READING);
    let (mut found, mut end, mut wrong) = (Vec::new(), from, 0);
    let (mut text, mut out) = (b"before".to_vec(), Vec::new());
    loop {
        out.clear();
        let before = text.len();
        match batches.take(step, &mut text, &mut out) {
            Ok(true) => {
                assert!(text.len() > before && out.len() <= step.1);
                found.extend(out.iter().map(|record| {
                    let value = record.value.clone().map(|at| text[at].to_vec());
                    (record.offset, value.unwrap_or_default())
                }));
                end = batches.end();
            }
            Ok(false) => return (found, end, wrong),
            Err(unreadable) => wrong += unreadable.records,
        }
    }
}

fn compression() -> impl Strategy<Value = Compression> {
    use Compression::*;
    prop_oneof![Just(None), (1u32..10).prop_map(Gzip), Just(Snappy), Just(Lz4), (1i32..8).prop_map(Zstd)]
}

proptest! {
    #[test]
    fn what_is_produced_is_read_in_pieces_of_any_size(
        values in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 1..200),
        more in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..30), 1..20),
        (first, second) in (compression(), compression()),
        skip in 0usize..250,
        step in (1usize..2000, 1usize..50),
        cut in 0usize..100,
    ) {
        let mut bytes = made(&values, first, 1000);
        let behind = 1000 + values.len() as i64;
        bytes.extend(made(&more, second, behind));
        let end = behind + more.len() as i64;
        prop_assert_eq!(end_offset(&bytes), Some(end));
        let from = 1000 + skip as i64;
        let all = values.iter().chain(&more).cloned();
        let expected: Vec<(i64, Vec<u8>)> = (1000..).zip(all).filter(|(at, _)| *at >= from).collect();
        let (found, reached, wrong) = read(bytes.clone(), from, step);
        prop_assert_eq!(&found, &expected);
        prop_assert_eq!((reached.max(from), wrong), (end.max(from), 0));
        // An answer may end in the middle of its last batch.
        let whole = made(&values, first, 1000).len();
        bytes.truncate(bytes.len() - 1 - cut.min(bytes.len() - whole - 1));
        let (found, ..) = read(bytes, 1000, step);
        prop_assert_eq!(found.len(), values.len());
    }

    #[test]
    fn damage_is_seen_and_never_a_panic(
        values in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..100), 1..30),
        compression in compression(),
        places in prop::collection::vec((any::<prop::sample::Index>(), 1u8..), 1..5),
        checked: bool,
    ) {
        let mut bytes = made(&values, compression, 5);
        for (at, by) in &places {
            let at = at.index(bytes.len());
            bytes[at] ^= by;
        }
        let all = 0..bytes.len();
        let reading = Reading { checked, ..READING };
        let mut batches = Batches::new(Arc::new(bytes), all, 0, vec![(-1, 0)], reading);
        let (mut text, mut out) = (Vec::new(), Vec::new());
        while !matches!(batches.take((1 << 20, 1 << 20), &mut text, &mut out), Ok(false)) {}
        prop_assert!(out.len() <= 1 << 16);
    }
}

#[test]
fn keys_and_headers_are_found() {
    let mut stored = Vec::new();
    envelope::begin(&mut stored, b"", b"the key", b"the value", 2);
    envelope::header(&mut stored, b"a", b"1");
    envelope::header(&mut stored, b"bb", b"");
    let parts = envelope::read(&stored).expect("whole");
    let mut batch = Batch::new(Vec::new());
    batch.add(Record::Parts(parts.record));
    let mut bytes = batch.finish(Compression::None, 77).expect("packed");
    batch::seal(&mut bytes, None, false);
    let all = 0..bytes.len();
    let mut batches = Batches::new(Arc::new(bytes), all, 0, Vec::new(), READING);
    let (mut text, mut out) = (Vec::new(), Vec::new());
    assert!(batches.take((1 << 20, 10), &mut text, &mut out).expect("readable"));
    let record = &out[0];
    assert_eq!(&text[record.key.clone().expect("a key")], b"the key");
    assert_eq!(&text[record.value.clone().expect("a value")], b"the value");
    assert_eq!((record.offset, record.time_ms), (0, 77));
    let found: Vec<_> = headers(&text[record.headers.clone()]).collect();
    assert_eq!(found, [(&b"a"[..], &b"1"[..]), (&b"bb"[..], &b""[..])]);
}

/// A batch of a transaction, or the end of one.
fn of_producer(values: &[&[u8]], producer: i64, offset: i64, attributes: i16) -> Vec<u8> {
    let mut batch = Batch::new(Vec::new());
    values.iter().for_each(|value| batch.add(Record::Parts(value)));
    let mut bytes = batch.finish(Compression::None, 0).expect("packed");
    batch::seal(&mut bytes, Some(batch::Number { producer, epoch: 0, sequence: 0 }), true);
    bytes[21..23].copy_from_slice(&attributes.to_be_bytes());
    let crc = crc32c::crc32c(&bytes[21..]);
    bytes[17..21].copy_from_slice(&crc.to_be_bytes());
    at(bytes, offset)
}

#[test]
fn what_was_given_up_is_not_seen() {
    // No key, a value of one byte, no headers.
    let value = |byte: u8| [1, 2, byte, 0];
    // A key of four bytes, version 0 and the kind; no value, no headers.
    let end = |kind: u8| [8, 0, 0, 0, kind, 1, 0];
    let mut bytes = of_producer(&[&value(b'a')], 7, 0, TRANSACTIONAL);
    bytes.extend(of_producer(&[&value(b'b')], 8, 1, TRANSACTIONAL));
    bytes.extend(of_producer(&[&end(0)], 7, 2, TRANSACTIONAL | CONTROL));
    bytes.extend(of_producer(&[&value(b'c')], 7, 3, TRANSACTIONAL));
    bytes.extend(of_producer(&[&end(1)], 7, 4, TRANSACTIONAL | CONTROL));
    let seen = |committed_only| {
        let all = 0..bytes.len();
        let reading = Reading { committed_only, checked: true };
        let mut batches = Batches::new(Arc::new(bytes.clone()), all, 0, vec![(7, 0)], reading);
        let (mut text, mut out, mut found) = (Vec::new(), Vec::new(), Vec::new());
        while let Ok(true) = batches.take((1 << 20, 10), &mut text, &mut out) {
            found.extend(out.drain(..).map(|record| text[record.value.expect("a value")][0]));
        }
        (found, batches.from)
    };
    assert_eq!(seen(true), (b"bc".to_vec(), 5));
    assert_eq!(seen(false), (b"abc".to_vec(), 5));
}

#[test]
fn few_bytes_do_not_become_gigabytes() {
    let zeros = vec![0u8; UNPACKED_BYTES_MAX + 1];
    let mut packed = Vec::new();
    Compression::Zstd(1).compress(&zeros, &mut packed).expect("packed");
    let unpacked = unpack::unpack(4, &packed);
    assert!(unpacked.is_err_and(|why| why.contains("more than")));
    // A Snappy block that says it has four gigabytes.
    assert!(unpack::unpack(2, &[0xff, 0xff, 0xff, 0xff, 0x0f, 0]).is_err());
    assert!(unpack::unpack(4, &packed[..packed.len() / 2]).is_err());
}

#[test]
fn what_is_left_of_a_batch_is_kept() {
    let values = [b"one".to_vec(), b"two".to_vec(), b"three".to_vec()];
    let unreadable = |bytes: Vec<u8>, checked: bool| {
        let (all, reading) = (0..bytes.len(), Reading { checked, ..READING });
        let mut batches = Batches::new(Arc::new(bytes), all, 0, Vec::new(), reading);
        let (mut text, mut out) = (Vec::new(), Vec::new());
        loop {
            match batches.take((1 << 20, 10), &mut text, &mut out) {
                Ok(true) => {}
                Ok(false) => panic!("all of it was read"),
                Err(unreadable) => return unreadable,
            }
        }
    };
    let mut bytes = made(&values, Compression::None, 7);
    let at = bytes.windows(3).position(|window| window == b"two").expect("there");
    bytes[at] = b'T';
    let whole = unreadable(bytes.clone(), true);
    assert_eq!((whole.offset, whole.records, &whole.bytes), (7, 3, &bytes));
    // The length of the second record, five bytes before its value, is more than there is.
    bytes[at - 6] = 0x7e;
    let rest = unreadable(bytes.clone(), false);
    assert_eq!((rest.records, rest.bytes.as_slice()), (2, &bytes[at - 6..]));
}
