use super::*;
use crate::writer::Writer;
use std::fs;
use tempfile::TempDir;

struct Folder(TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().expect("folder"))
    }

    /// A file with these numbers; each message says its own.
    fn write(&self, name: &str, id: u8, numbers: impl Iterator<Item = u64>, archived: bool) {
        let mut writer = Writer::new(true, [id; 16]);
        writer.archived = archived;
        numbers.for_each(|n| writer.entry(n, 1, &[("MESSAGE", format!("{id}:{n}").as_bytes())]));
        fs::write(self.0.path().join(name), writer.finish()).expect("written");
    }

    fn journal(&self, begin: Begin) -> Journal {
        let folders = vec![self.0.path().to_owned()];
        let mut journal =
            Journal::new(JournalOptions { folders, filter: Filter::default(), value_max: 1000 }, begin);
        assert!(journal.rescan());
        journal
    }
}

fn messages(journal: &mut Journal) -> Vec<String> {
    let mut found = Vec::new();
    while let Some(entry) = journal.next_entry() {
        found.extend(entry.fields().map(|(_, value)| String::from_utf8_lossy(value).into_owned()));
    }
    found
}

fn numbered(id: u8, numbers: impl Iterator<Item = u64>) -> Vec<String> {
    numbers.map(|n| format!("{id}:{n}")).collect()
}

#[test]
fn files_of_one_numbering_are_one_row() {
    let folder = Folder::new();
    folder.write("system@1.journal", 1, 1..=10, true);
    folder.write("user-1000.journal", 1, (11..=20).step_by(2), false);
    folder.write("system.journal", 1, (12..=20).step_by(2), false);
    folder.write("copy-of-a-part.journal", 1, 3..=5, false);
    folder.write("notes.txt", 1, 30..=31, false);
    assert_eq!(messages(&mut folder.journal(Begin::Head)), numbered(1, 1..=20));
}

#[test]
fn numberings_are_merged_by_time_and_each_resumed() {
    let folder = Folder::new();
    folder.write("a.journal", 1, (1..=20).step_by(2), false);
    folder.write("b.journal", 2, (2..=20).step_by(2), false);
    let mut journal = folder.journal(Begin::Head);
    let expected: Vec<String> = (1..=20u64).map(|n| format!("{}:{n}", 2 - n % 2)).collect();
    for message in &expected[..7] {
        let entry = journal.next_entry().expect("one");
        assert_eq!(entry.fields().next().expect("a field").1, message.as_bytes());
    }
    let places: Vec<EntryPosition> = journal.places().copied().collect();
    assert_eq!(places.len(), 2);
    folder.write("c.journal", 3, 1..=2, false);
    let resumed = messages(&mut folder.journal(Begin::After(places)));
    assert_eq!(resumed[..2], ["3:1", "3:2"], "another numbering is read from its beginning");
    assert_eq!(resumed[2..], expected[7..]);
}

#[test]
fn rotation_while_reading() {
    let folder = Folder::new();
    folder.write("system.journal", 1, 1..=3, false);
    let mut journal = folder.journal(Begin::Tail);
    assert!(messages(&mut journal).is_empty());
    let old = folder.0.path().join("system@1.journal");
    fs::rename(folder.0.path().join("system.journal"), &old).expect("rename");
    folder.write("system.journal", 1, 4..=6, false);
    journal.rescan();
    assert_eq!(messages(&mut journal), numbered(1, 4..=6));
    fs::remove_file(old).expect("remove");
    folder.write("user-1.journal", 1, 7..=7, true);
    journal.rescan();
    assert_eq!(messages(&mut journal), numbered(1, 7..=7));
    journal.rescan();
    assert!(messages(&mut journal).is_empty());
    assert_eq!(journal.files.len(), 1, "what is deleted or complete is closed");
}

#[test]
fn a_damaged_file_keeps_no_other_from_being_read() {
    let folder = Folder::new();
    folder.write("a.journal", 1, 1..=3, false);
    fs::write(folder.0.path().join("b.journal"), vec![b'x'; 5000]).expect("written");
    fs::write(folder.0.path().join("unborn.journal"), b"").expect("written");
    let mut journal = folder.journal(Begin::Head);
    assert_eq!(messages(&mut journal), numbered(1, 1..=3));
    let faults = journal.take_faults();
    assert_eq!(faults.len(), 1);
    assert!(faults[0].path.ends_with("b.journal") && matches!(faults[0].error, Error::Foreign));
    journal.rescan();
    assert!(journal.take_faults().is_empty(), "it is said once");
    folder.write("unborn.journal", 1, 4..=4, false);
    journal.rescan();
    assert_eq!(messages(&mut journal), numbered(1, 4..=4));
}

#[test]
fn what_is_not_wanted_is_passed_over_in_pieces() {
    let folder = Folder::new();
    folder.write("a.journal", 1, 1..=2 * PASSED_MAX as u64 + 10, false);
    let last = format!("1:{}", 2 * PASSED_MAX + 10).into_bytes();
    let filter = Filter { boot: None, matches: vec![(b"MESSAGE".to_vec(), vec![last])] };
    let folders = vec![folder.0.path().to_owned()];
    let mut journal = Journal::new(JournalOptions { folders, filter, value_max: 1000 }, Begin::Head);
    journal.rescan();
    for _ in 0..2 {
        assert!(journal.next_entry().is_none() && journal.has_more());
    }
    assert!(journal.next_entry().is_some());
    assert!(journal.next_entry().is_none() && !journal.has_more());
}

#[test]
fn a_damaged_entry_costs_itself() {
    let folder = Folder::new();
    let mut writer = Writer::new(false, [1; 16]);
    (1..=3u64).for_each(|n| {
        let text = format!("text {n}");
        writer.entry(n, 1, &[("MESSAGE", text.as_bytes()), ("UNIT", format!("u{n}").as_bytes())]);
    });
    let mut bytes = writer.finish();
    let at = bytes.windows(6).position(|w| w == b"text 2").expect("there") - 8;
    bytes[at..at + 8].fill(b'x');
    fs::write(folder.0.path().join("a.journal"), bytes).expect("written");
    let mut journal = folder.journal(Begin::Head);
    assert_eq!(messages(&mut journal), ["text 1", "u1", "text 3", "u3"]);
    let skipped = journal.take_skipped();
    assert_eq!((skipped.count, journal.take_faults().len()), (1, 1));
    assert_eq!(skipped.last, [b"UNIT=u2\n"], "what is left of it");
}
