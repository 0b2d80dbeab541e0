//! Files that the distribution's syslog-ng 3.38 has written, and what becomes of damaged ones.

use super::{Found, Header, Message, messages};
use record::ValueType;

const RELIABLE: &[u8] = include_bytes!("../../../../fuzz/seeds/queue_file/reliable.rqf");
const NORMAL: &[u8] = include_bytes!("../../../../fuzz/seeds/queue_file/normal.qf");
const VALUES: &[u8] = include_bytes!("../../../../fuzz/seeds/queue_file/values.rqf");

fn texts(file: &[u8]) -> (Vec<String>, Found) {
    let header = Header::parse(file).expect("a header");
    let mut texts = Vec::new();
    let found = messages(file, file.len() as u64, &header, |message| {
        texts.push(String::from_utf8_lossy(message.value("MESSAGE").unwrap_or_default()).into_owned());
        true
    });
    (texts, found)
}

fn first(file: &[u8], check: impl FnOnce(&Message<'_>)) {
    let mut check = Some(check);
    messages(file, file.len() as u64, &Header::parse(file).expect("a header"), |message| {
        check.take().into_iter().for_each(|check| check(message));
        false
    });
    assert!(check.is_none(), "no message");
}

#[test]
fn a_reliable_file() {
    let (found, count) = texts(RELIABLE);
    assert_eq!(found, ["number 65", "number 66", "structured 0", "structured 1"]);
    assert_eq!(count, Found { messages: 4, ..Found::default() });
    first(RELIABLE, |message| {
        assert_eq!((message.pri, message.peer), (34, None));
        assert_eq!(message.tags, [&b"one-tag"[..], b".source.s"]);
        let value = |name| message.value(name).map(String::from_utf8_lossy);
        assert_eq!(value("HOST").as_deref(), Some("h"));
        assert_eq!((value("PROGRAM").as_deref(), value("PID").as_deref()), (Some("a"), Some("65")));
        assert_eq!((value(".my.value").as_deref(), value("MSGID")), (Some("värde"), None));
    });
}

#[test]
fn structured_data_address_and_zone() {
    let header = Header::parse(RELIABLE).expect("a header");
    let mut seen = 0;
    messages(RELIABLE, RELIABLE.len() as u64, &header, |message| {
        if message.pri == 165 {
            seen += 1;
            assert_eq!(message.peer.map(|peer| peer.to_string()).as_deref(), Some("127.0.0.1"));
            assert_eq!(
                (message.stamp.secs, message.stamp.usec, message.stamp.offset),
                (1_061_727_255, 3, -25_200)
            );
            let sdata = message.values.iter().filter(|(name, ..)| name.starts_with(b".SDATA."));
            let sdata: Vec<_> = sdata.map(|(name, ..)| String::from_utf8_lossy(name)).collect();
            assert_eq!(sdata, [".SDATA.ex@32473.iut", ".SDATA.ex@32473.eventID"]);
        }
        true
    });
    assert_eq!(seen, 2);
}

#[test]
fn a_file_of_the_other_kind_with_what_was_in_memory_first() {
    let (found, count) = texts(NORMAL);
    let numbers: Vec<String> = (1..=66).map(|n| format!("number {n}")).collect();
    assert_eq!(found[..66], numbers);
    assert_eq!(found[66..], ["structured 0", "structured 1"]);
    assert_eq!(count.messages, Header::parse(NORMAL).expect("a header").messages());
}

#[test]
fn types_parts_of_values_and_what_was_unset() {
    first(VALUES, |message| {
        let typed = |name: &str| {
            let found = message.values.iter().find(|(known, ..)| *known == name.as_bytes());
            found.map(|(_, value, kind)| (String::from_utf8_lossy(value).into_owned(), *kind))
        };
        let check =
            |name, value: &str, kind| assert_eq!(typed(name), Some((value.to_owned(), kind)), "{name}");
        check("1", "1", ValueType::String);
        check("0", "number 1", ValueType::String);
        check("c.one", "message", ValueType::String);
        check("j.i", "5", ValueType::Int);
        check("j.b", "true", ValueType::Boolean);
        check("j.f", "1.500000", ValueType::Double);
        check("j.l", "a,b", ValueType::List);
        check("j.n", "", ValueType::Null);
        assert_eq!(typed("c.three"), None);
    });
}

#[test]
fn the_ring_goes_on_at_its_front() {
    // The last two of four records come first in the file.
    let records: Vec<&[u8]> = records(RELIABLE);
    let mut file = RELIABLE[..4096].to_vec();
    file.extend(records[2].iter().chain(records[3]));
    let write_head = file.len() as u64;
    file.extend_from_slice(&[0; 64]);
    let read_head = file.len() as u64;
    file.extend(records[0].iter().chain(records[1]));
    file[8..16].copy_from_slice(&read_head.to_le_bytes());
    file[16..24].copy_from_slice(&write_head.to_le_bytes());
    let in_order = texts(RELIABLE).0;
    assert_eq!(texts(&file).0, in_order);
    file.extend_from_slice(&[0; 4]);
    assert_eq!(texts(&file).0, in_order);
    // Two of them were sent and not acknowledged.
    file[80..88].copy_from_slice(&read_head.to_le_bytes());
    file[88..96].copy_from_slice(&2u64.to_le_bytes());
    file[8..16].copy_from_slice(&4096u64.to_le_bytes());
    file[24..32].copy_from_slice(&2u64.to_le_bytes());
    assert_eq!(texts(&file).0, in_order);
}

fn records(file: &[u8]) -> Vec<&[u8]> {
    let (mut at, mut records) = (4096, Vec::new());
    while let Some(head) = file.get(at..).and_then(|rest| rest.first_chunk()) {
        let end = at + 4 + u32::from_be_bytes(*head) as usize;
        records.push(&file[at..end]);
        at = end;
    }
    records
}

#[test]
fn damaged_records_are_passed_over_and_counted() {
    let mut file = RELIABLE.to_vec();
    file[4100] = 99;
    let (found, count) = texts(&file);
    assert_eq!((found.len(), count), (3, Found { messages: 3, damaged: 1, missing: 0 }));
    // Its length is damaged: nothing says where the next one is.
    let mut file = RELIABLE.to_vec();
    file[4096] = 0x7f;
    assert_eq!(texts(&file).1, Found { messages: 0, damaged: 0, missing: 4 });
    let cut = &RELIABLE[..RELIABLE.len() - 10];
    assert_eq!(texts(cut).1, Found { messages: 3, damaged: 0, missing: 1 });
    assert!(Header::parse(b"SLRQ").is_err() && Header::parse(&[b'x'; 4096]).is_err());
}

mod properties {
    use super::{Header, Message, RELIABLE, messages};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_damage_does_harm(at in 0..RELIABLE.len(), value: u8, cut in 0..RELIABLE.len()) {
            let mut file = RELIABLE.to_vec();
            file[at] = value;
            file.truncate(cut.max(96));
            if let Ok(header) = Header::parse(&file) {
                let found = messages(file.as_slice(), file.len() as u64, &header, |_| true);
                prop_assert!(found.messages <= header.messages());
            }
        }

        #[test]
        fn nor_do_any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
            let mut message = vec![26];
            message.extend(bytes);
            let _ = Message::parse(&message);
        }
    }
}
