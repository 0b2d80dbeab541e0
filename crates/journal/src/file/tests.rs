use super::*;
use crate::writer::{Packing, Writer};
use proptest::prelude::*;
use std::io::Write;

fn opened(bytes: &[u8]) -> Result<JournalFile, Error> {
    let mut file = tempfile::tempfile().expect("a file");
    file.write_all(bytes).expect("written");
    JournalFile::open(file)
}

fn sample(compact: bool, packing: Packing, entries: u64) -> Vec<u8> {
    let mut writer = Writer::new(compact, [7; 16]);
    writer.packing = packing;
    for n in 1..=entries {
        let text = format!("message {n} {}", "abc".repeat(n as usize % 90));
        writer.entry(
            n,
            1,
            &[("MESSAGE", text.as_bytes()), ("PRIORITY", b"6"), ("_PID", &[b'0' + n as u8 % 10])],
        );
    }
    writer.finish()
}

/// Reads to the end, whatever comes; how many entries there were.
fn read(bytes: &[u8]) -> Result<usize, Error> {
    let mut file = opened(bytes)?;
    let mut count = 0;
    while let Some(head) = file.peek()? {
        file.advance();
        if file.fields(&head, 100, |name, value| assert!(!name.is_empty() && value.len() <= 100)).is_ok() {
            count += 1;
        }
    }
    Ok(count)
}

#[test]
fn all_forms_and_packings() {
    for compact in [false, true] {
        for packing in [Packing::Plain, Packing::Xz, Packing::Lz4, Packing::Zstd] {
            let mut file = opened(&sample(compact, packing, 30)).expect("opened");
            for n in 1..=30u64 {
                let head = file.peek().expect("sound").expect("an entry");
                assert_eq!((head.seqnum, head.realtime), (n, 1_000_000 + n));
                let mut message = Vec::new();
                let wanted = format!("message {n} {}", "abc".repeat(n as usize % 90));
                for (max, expected) in [(1000, wanted.as_str()), (11, &wanted[..11])] {
                    file.fields(&head, max, |name, value| {
                        if name == b"MESSAGE" {
                            message = value.to_vec();
                        }
                    })
                    .expect("fields");
                    assert_eq!(String::from_utf8_lossy(&message), expected, "{compact} {packing:?}");
                }
                file.advance();
            }
            assert!(file.peek().expect("sound").is_none());
        }
    }
}

#[test]
fn what_is_added_is_found_and_nothing_twice() {
    let path = tempfile::NamedTempFile::new().expect("a file");
    let mut written = sample(true, Packing::Plain, 3);
    // As journald does it: the room for more is there from the beginning.
    let longer = sample(true, Packing::Plain, 9);
    written.resize(longer.len(), 0);
    std::fs::write(&path, &written).expect("written");
    let mut file = JournalFile::open(File::open(&path).expect("open")).expect("a journal");
    let mut numbers = Vec::new();
    let mut all = |file: &mut JournalFile| {
        while let Some(head) = file.peek().expect("sound") {
            numbers.push(head.seqnum);
            file.fields(&head, 100, |_, _| {}).expect("fields");
            file.advance();
        }
        numbers.clone()
    };
    assert_eq!(all(&mut file), [1, 2, 3]);
    assert!(!file.refresh().expect("sound"));
    std::fs::write(&path, &longer).expect("written");
    // The arrays stand elsewhere in the longer file, so it is walked anew; what was kept of the old bytes
    // must not show.
    file.walk = Walk::default();
    assert!(file.refresh().expect("sound"));
    assert_eq!(all(&mut file), [1, 2, 3, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
}

#[test]
fn what_is_no_journal_is_said() {
    assert!(matches!(opened(b"hello"), Err(Error::Foreign)));
    let mut later = sample(false, Packing::Plain, 1);
    later[13] = 1;
    assert_eq!(
        opened(&later).err().map(|e| e.to_string()).as_deref(),
        Some("it is of a later format of systemd's (incompatible flags 0x100)")
    );
    let whole = sample(false, Packing::Plain, 20);
    assert!(matches!(read(&whole[..whole.len() - 100]), Err(Error::Object(..)) | Ok(0..20)));
}

#[test]
fn arrays_that_lead_back_end_the_file() {
    let mut bytes = sample(false, Packing::Plain, 20);
    let header = Header::parse(&bytes).expect("a header");
    let first = header.entry_array as usize;
    // The first array names itself as the one behind it.
    bytes[first + 16..first + 24].copy_from_slice(&(first as u64).to_le_bytes());
    assert!(matches!(read(&bytes), Err(Error::Object(_, "entry arrays lead backwards"))));
}

proptest! {
    /// Whatever is damaged, reading ends, with no more entries than there can be.
    #[test]
    fn damage_is_an_error_and_never_a_panic(
        compact in any::<bool>(),
        packing in prop::sample::select(vec![Packing::Plain, Packing::Xz, Packing::Lz4, Packing::Zstd]),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
        cut in prop::option::of(any::<prop::sample::Index>()),
        place in 0u64..40,
    ) {
        let mut bytes = sample(compact, packing, 25);
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        if let Ok(count) = read(&bytes) {
            prop_assert!(count <= bytes.len() / 8);
        }
        if let Ok(mut file) = opened(&bytes) {
            let _ = file.seek_after(&EntryPosition { seqnum_id: [7; 16], seqnum: place, ..EntryPosition::default() });
            let _ = file.peek();
            let _ = file.seek_end();
        }
    }

    /// From any place on, all that comes after it.
    #[test]
    fn seeking(entries in 0u64..40, array in 1usize..9, place in 0u64..45, compact in any::<bool>()) {
        let mut writer = Writer::new(compact, [7; 16]);
        writer.array = array;
        (1..=entries).for_each(|n| writer.entry(n, 1, &[("MESSAGE", b"x")]));
        let mut file = opened(&writer.finish()).expect("opened");
        file.seek_after(&EntryPosition { seqnum_id: [7; 16], seqnum: place, ..EntryPosition::default() }).expect("found");
        let first = file.peek().expect("sound").map(|head| head.seqnum);
        prop_assert_eq!(first, (place < entries).then_some(place + 1));
        // The same by time, where another journald has counted.
        file.seek_after(&EntryPosition { seqnum_id: [8; 16], realtime: 1_000_000 + place, ..EntryPosition::default() }).expect("found");
        let first = file.peek().expect("sound").map(|head| head.seqnum);
        prop_assert_eq!(first, (place <= entries && entries > 0).then_some(place.max(1)));
        let last = file.seek_end().expect("found").map(|place| place.seqnum);
        prop_assert_eq!(last, (entries > 0).then_some(entries));
    }
}
