//! Fuzzes the reader of systemd's journal files: whatever the file holds, reading it ends.
#![no_main]

use journal::{EntryPosition, JournalFile};
use std::io::Write;

driver::fuzz_target!(|input: &[u8]| {
    let Ok(mut file) = tempfile::tempfile() else { return };
    if file.write_all(input).is_err() {
        return;
    }
    let Ok(mut file) = JournalFile::open(file) else { return };
    let mut entries = 0;
    while let Ok(Some(head)) = file.peek() {
        file.advance();
        let _ = file.fields(&head, 100, |name, value| assert!(!name.is_empty() && value.len() <= 100));
        entries += 1;
        assert!(entries <= input.len());
    }
    let place = EntryPosition { seqnum_id: [7; 16], seqnum: 3, ..EntryPosition::default() };
    let _ = file.seek_after(&place);
    let _ = file.peek();
    let _ = file.seek_end();
});
