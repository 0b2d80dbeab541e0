//! Batches read back by the letter of the protocol's description, and unpacked by other means than they were
//! packed.

use super::*;
use proptest::prelude::*;
use std::io::Read;

fn be(bytes: &[u8], at: usize, length: usize) -> i64 {
    let negative = bytes[at] & 0x80 != 0;
    bytes[at..at + length].iter().fold(if negative { -1 } else { 0 }, |n, byte| n << 8 | i64::from(*byte))
}

fn unpack(code: i64, records: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    match code {
        0 => out.extend_from_slice(records),
        1 => drop(flate2::read::GzDecoder::new(records).read_to_end(&mut out).expect("gzip")),
        2 => {
            let mut rest = &records[16..];
            while !rest.is_empty() {
                let length = be(rest, 0, 4) as usize;
                out.extend(snap::raw::Decoder::new().decompress_vec(&rest[4..4 + length]).expect("snappy"));
                rest = &rest[4 + length..];
            }
        }
        3 => drop(lz4_flex::frame::FrameDecoder::new(records).read_to_end(&mut out).expect("lz4")),
        _ => {
            out.reserve(16 << 20);
            zstd_safe::decompress(&mut out, records).expect("zstd");
        }
    }
    out
}

/// The records of a batch: what stands behind each one's place.
fn records(batch: &[u8]) -> Vec<Vec<u8>> {
    assert_eq!(be(batch, 0, 8), 0, "base offset");
    assert_eq!(be(batch, 8, 4) as usize, batch.len() - 12, "length");
    assert_eq!((be(batch, 12, 4), batch[16]), (-1, 2), "leader epoch, magic");
    assert_eq!(be(batch, 17, 4) as u32, crc32c::crc32c(&batch[21..]), "checksum");
    let unpacked = unpack(be(batch, 21, 2) & 7, &batch[61..]);
    let (mut rest, mut found) = (unpacked.as_slice(), Vec::new());
    while !rest.is_empty() {
        let length = varint::take(&mut rest).expect("length") as usize;
        let (mut record, behind) = rest.split_at(length);
        rest = behind;
        assert_eq!(record[..2], [0, 0], "attributes, time");
        record = &record[2..];
        assert_eq!(varint::take(&mut record), Some(found.len() as i32), "place");
        found.push(record.to_vec());
    }
    assert_eq!(be(batch, 57, 4) as usize, found.len(), "count");
    assert_eq!(be(batch, 23, 4), found.len() as i64 - 1, "last offset");
    found
}

fn compression() -> impl Strategy<Value = Compression> {
    use Compression::*;
    prop_oneof![Just(None), (1u32..10).prop_map(Gzip), Just(Snappy), Just(Lz4), (1i32..8).prop_map(Zstd)]
}

proptest! {
    #[test]
    fn round_trip(
        values in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 1..300),
        compression in compression(),
        sequence in 0i32..,
    ) {
        let mut batch = Batch::new(vec![7; 5]);
        values.iter().for_each(|value| batch.add(Record::Value(value)));
        let mut bytes = batch.finish(compression, 1_700_000_000_123).expect("packed");
        let number = Number { producer: 77, epoch: 3, sequence };
        seal(&mut bytes, Some(number), false);
        prop_assert_eq!((be(&bytes, 43, 8), be(&bytes, 51, 2), be(&bytes, 53, 4)), (77, 3, i64::from(sequence)));
        prop_assert_eq!((be(&bytes, 27, 8), be(&bytes, 35, 8)), (1_700_000_000_123, 1_700_000_000_123));
        let expected: Vec<Vec<u8>> = values.iter().map(|value| {
            let mut record = vec![1];
            varint::append(&mut record, value.len() as i32);
            record.extend_from_slice(value);
            record.push(0);
            record
        }).collect();
        prop_assert_eq!(records(&bytes), expected);
        // Another number, and back: the same bytes.
        let before = bytes.clone();
        seal(&mut bytes, None, true);
        prop_assert_eq!((be(&bytes, 21, 2) & 0x10, be(&bytes, 43, 8), records(&bytes).len()), (0x10, -1, values.len()));
        seal(&mut bytes, Some(number), false);
        prop_assert_eq!(before, bytes);
    }

    #[test]
    fn envelopes_are_sent_as_they_are_stored(
        topic in "[a-z.]{0,20}",
        key in prop::collection::vec(any::<u8>(), 0..200),
        value in prop::collection::vec(any::<u8>(), 0..200),
        headers in prop::collection::vec(("[a-z]{1,9}", prop::collection::vec(any::<u8>(), 0..99)), 0..4),
    ) {
        let mut stored = Vec::new();
        envelope::begin(&mut stored, topic.as_bytes(), &key, &value, headers.len());
        headers.iter().for_each(|(name, value)| envelope::header(&mut stored, name.as_bytes(), value));
        let parts = envelope::read(&stored).expect("whole");
        prop_assert_eq!(parts.topic, topic.as_bytes());
        prop_assert_eq!(envelope::value(&stored), Some(value.as_slice()));
        prop_assert_eq!(parts.key, (!key.is_empty()).then_some(key.as_slice()));
        let mut batch = Batch::new(Vec::new());
        batch.add(Record::Value(b"before"));
        batch.add(Record::Parts(parts.record));
        let mut bytes = batch.finish(Compression::None, 0).expect("no compression");
        seal(&mut bytes, None, false);
        prop_assert_eq!(&records(&bytes)[1], parts.record);
        for end in 0..stored.len() {
            prop_assert!(envelope::read(&stored[..end]).is_none());
        }
    }
}
