//! Files that systemd's own programs have written, against what its `journalctl -o export` says of them.

use journal::{Begin, EntryPosition, Filter, Journal, JournalOptions};
use std::path::Path;

fn unpacked(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files").join(name);
    let packed = std::fs::read(path).expect("a file of the repository");
    let size = zstd_safe::get_frame_content_size(&packed).expect("a frame").expect("its size");
    let mut bytes = Vec::with_capacity(size as usize);
    zstd_safe::decompress(&mut bytes, &packed).expect("unpacked");
    bytes
}

type Fields = Vec<(Vec<u8>, Vec<u8>)>;

/// The entries of the export format: `NAME=value` lines, or a name, a length and bytes; a blank line ends
/// one.
fn exported(mut text: &[u8]) -> Vec<Fields> {
    let mut entries = vec![Fields::new()];
    while let Some(end) = text.iter().position(|byte| *byte == b'\n') {
        let (line, rest) = (&text[..end], &text[end + 1..]);
        text = rest;
        match line.iter().position(|byte| *byte == b'=') {
            _ if line.is_empty() => entries.push(Fields::new()),
            Some(at) => entries.last_mut().expect("one").push((line[..at].to_vec(), line[at + 1..].to_vec())),
            None => {
                let length = u64::from_le_bytes(text[..8].try_into().expect("a length")) as usize;
                let value = text[8..8 + length].to_vec();
                entries.last_mut().expect("one").push((line.to_vec(), value));
                text = &text[8 + length + 1..];
            }
        }
    }
    entries.retain(|entry| !entry.is_empty());
    entries
}

fn options(folder: &Path) -> JournalOptions {
    JournalOptions { folders: vec![folder.to_owned()], filter: Filter::default(), value_max: 1 << 20 }
}

fn all(journal: &mut Journal) -> Vec<(EntryPosition, Fields)> {
    let mut found = Vec::new();
    while let Some(entry) = journal.next_entry() {
        let fields = entry.fields().map(|(name, value)| (name.to_vec(), value.to_vec())).collect();
        found.push((entry.place, fields));
    }
    found
}

fn check(name: &str) {
    let folder = tempfile::tempdir().expect("folder");
    std::fs::write(folder.path().join("system.journal"), unpacked(&format!("{name}.journal.zst")))
        .expect("write");
    let mut journal = Journal::new(options(folder.path()), Begin::Head);
    assert!(journal.rescan());
    let found = all(&mut journal);
    assert!(journal.take_faults().is_empty());
    assert_eq!(journal.take_skipped().count, 0);
    let expected = exported(&unpacked(&format!("{name}.export.zst")));
    assert_eq!(found.len(), expected.len());
    for ((place, mut fields), mut expected) in found.into_iter().zip(expected) {
        fields.push((b"__CURSOR".to_vec(), place.cursor().into_bytes()));
        fields.push((b"__REALTIME_TIMESTAMP".to_vec(), place.realtime.to_string().into_bytes()));
        fields.push((b"__MONOTONIC_TIMESTAMP".to_vec(), place.monotonic.to_string().into_bytes()));
        fields.sort();
        expected.sort();
        assert_eq!(fields, expected);
    }
}

#[test]
fn compact_files_packed_with_zstd_keyed_hashes() {
    check("compact");
}

#[test]
fn files_of_older_versions() {
    check("regular");
}

#[test]
fn from_any_place_on() {
    let folder = tempfile::tempdir().expect("folder");
    std::fs::write(folder.path().join("system.journal"), unpacked("compact.journal.zst")).expect("write");
    let mut journal = Journal::new(options(folder.path()), Begin::Head);
    journal.rescan();
    let entries: Vec<EntryPosition> = all(&mut journal).into_iter().map(|(place, _)| place).collect();
    for (index, place) in entries.iter().enumerate() {
        let mut journal = Journal::new(options(folder.path()), Begin::After(vec![*place]));
        journal.rescan();
        let rest: Vec<EntryPosition> = all(&mut journal).into_iter().map(|(place, _)| place).collect();
        assert_eq!(rest, entries[index + 1..], "after {index}");
    }
    let mut journal = Journal::new(options(folder.path()), Begin::Tail);
    journal.rescan();
    assert!(journal.next_entry().is_none());
    assert_eq!(journal.places().copied().collect::<Vec<_>>(), entries[entries.len() - 1..]);
}

#[test]
fn only_what_matches() {
    let folder = tempfile::tempdir().expect("folder");
    std::fs::write(folder.path().join("system.journal"), unpacked("compact.journal.zst")).expect("write");
    let read = |filter: Filter| {
        let mut journal = Journal::new(JournalOptions { filter, ..options(folder.path()) }, Begin::Head);
        journal.rescan();
        all(&mut journal)
    };
    let everything = read(Filter::default());
    let has =
        |fields: &Fields, name: &[u8], value: &[u8]| fields.iter().any(|(n, v)| n == name && v == value);
    let matches = vec![
        (b"PRIORITY".to_vec(), vec![b"3".to_vec(), b"4".to_vec()]),
        (b"_HOSTNAME".to_vec(), vec![b"host0".to_vec()]),
    ];
    let wanted = |fields: &Fields| {
        (has(fields, b"PRIORITY", b"3") || has(fields, b"PRIORITY", b"4"))
            && has(fields, b"_HOSTNAME", b"host0")
    };
    let expected: Vec<_> = everything.iter().filter(|(_, fields)| wanted(fields)).cloned().collect();
    assert!(!expected.is_empty() && expected.len() < everything.len());
    assert_eq!(read(Filter { boot: None, matches }), expected);
    let boot = everything[60].0.boot;
    let expected: Vec<_> = everything.iter().filter(|(place, _)| place.boot == boot).cloned().collect();
    assert!(!expected.is_empty() && expected.len() < everything.len());
    assert_eq!(read(Filter { boot: Some(boot), matches: Vec::new() }), expected);
}

#[test]
fn long_values_are_cut_packed_or_not() {
    let folder = tempfile::tempdir().expect("folder");
    std::fs::write(folder.path().join("system.journal"), unpacked("regular.journal.zst")).expect("write");
    let mut journal = Journal::new(options(folder.path()), Begin::Head);
    journal.rescan();
    let whole = all(&mut journal);
    for value_max in [3, 20, 600, 1000] {
        let mut journal = Journal::new(JournalOptions { value_max, ..options(folder.path()) }, Begin::Head);
        journal.rescan();
        let cut = all(&mut journal);
        assert_eq!(cut.len(), whole.len());
        for ((_, cut), (_, whole)) in cut.iter().zip(&whole) {
            for ((name, cut), (_, whole)) in cut.iter().zip(whole) {
                assert_eq!(cut, &whole[..whole.len().min(value_max)], "{}", String::from_utf8_lossy(name));
            }
        }
    }
}
