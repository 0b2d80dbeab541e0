//! Stores written and read, cut off at any byte, changed at any bit; and those that PE has written.

use crate::stamp;
use crate::*;
use proptest::prelude::*;
use std::fs::File;
use std::io::Cursor;
use std::path::Path;
use std::sync::{Arc, LazyLock};

struct Pair {
    certificate: Certificate,
    private: Vec<u8>,
}

/// Made by `openssl req -x509`: `rcgen` with `ring` makes no RSA keys.
static PAIR: LazyLock<Pair> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let made = std::process::Command::new("openssl")
        .args([
            "req",
            "-x509",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-days",
            "30",
            "-subj",
            "/CN=reader",
            "-keyout",
        ])
        .arg(path("key.pem"))
        .arg("-out")
        .arg(path("cert.pem"))
        .output();
    assert!(made.expect("openssl").status.success());
    let read = |name: &str| std::fs::read(path(name)).expect("made");
    Pair {
        certificate: Certificate::read(&read("cert.pem")).expect("a certificate"),
        private: read("key.pem"),
    }
});

fn settings(level: u32, encrypted: bool, chunk_bytes: usize) -> Arc<Settings> {
    let certificate = encrypted.then(|| PAIR.certificate.clone());
    Arc::new(Settings { level, digest: Digest::Sha256, certificate, chunk_bytes })
}

fn keys() -> Keys {
    Keys::new(PrivateKey::read(&PAIR.private).expect("a key"))
}

struct Files {
    folder: tempfile::TempDir,
}

impl Files {
    fn new() -> Files {
        Files { folder: tempfile::tempdir().expect("a folder") }
    }

    fn file(&self, name: &str) -> File {
        let mut options = File::options();
        options.read(true).write(true).create(true).truncate(false);
        options.open(self.folder.path().join(name)).expect("opened")
    }

    fn open(&self, settings: &Arc<Settings>) -> Result<(Writer, Opened), Error> {
        Writer::open(self.file("store"), self.file("store.jor"), settings)
    }

    fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.folder.path().join(name)).expect("read")
    }

    fn put(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.folder.path().join(name), bytes).expect("written");
    }
}

fn read(store: &[u8], mut keys: Keys) -> Vec<Vec<u8>> {
    let mut reader = Reader::new(Cursor::new(store)).expect("a store");
    let ours = reader.header.is_ours();
    let mut found = Vec::new();
    while let Some((at, bytes)) = reader.next_record().expect("a record") {
        match record::parse(bytes).expect("whole") {
            Record::Key(wrapped) if ours => keys.add(at, wrapped).expect("the right key"),
            Record::Chunk(chunk) => {
                let data = open(&chunk, &keys, ours).expect("opened");
                found.extend(Messages::new(&data).map(|message| message.expect("whole").to_vec()));
            }
            _ => {}
        }
    }
    found
}

fn checked(store: &[u8], keys: Keys) -> Report {
    check(Cursor::new(store), &mut Trust { keys, ..Trust::default() }).expect("a store")
}

fn messages(count: usize) -> Vec<Vec<u8>> {
    (0..count).map(|n| format!("Nov 11 01:02:03 host app[{n}]: message {n}\n").into_bytes()).collect()
}

const TIME: Time = Time { seconds: 1_700_000_000, micros: 7 };

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn what_is_written_is_read(
        messages in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 1..60),
        level in 0u32..10,
        encrypted: bool,
        chunk_bytes in 1usize..2000,
        steps in prop::collection::vec(0u8..4, 1..60),
    ) {
        let (files, settings) = (Files::new(), settings(level, encrypted, chunk_bytes));
        let (mut writer, _) = files.open(&settings).expect("opened");
        let mut steps = steps.iter().cycle();
        for message in &messages {
            writer.add(message, TIME);
            match steps.next() {
                Some(0) => writer.keep().expect("kept"),
                Some(1) => writer.flush(false).expect("flushed"),
                Some(2) => {
                    // A kill: what was kept or flushed is there.
                    writer.keep().expect("kept");
                    drop(writer);
                    writer = files.open(&settings).expect("opened").0;
                }
                _ => {}
            }
        }
        writer.flush(true).expect("flushed");
        let store = files.bytes("store");
        let open = || if encrypted { keys() } else { Keys::default() };
        prop_assert_eq!(read(&store, open()), messages);
        let report = checked(&store, open());
        prop_assert!(report.is_clean(), "{:?}", report);
        let blind = checked(&store, Keys::default());
        prop_assert!(blind.is_clean(), "{:?}", blind);
    }

    #[test]
    fn a_reader_takes_any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..400), at in 0usize..600) {
        let files = Files::new();
        let (mut writer, _) = files.open(&settings(3, false, 100)).expect("opened");
        messages(10).iter().for_each(|message| writer.add(message, TIME));
        writer.flush(true).expect("flushed");
        let mut store = files.bytes("store");
        let at = at.min(store.len());
        store.splice(at.., bytes);
        let _ = check(Cursor::new(&store), &mut Trust::default());
        let _ = serialized::Stored::read(&store);
    }
}

fn with_stamp(encrypted: bool) -> Vec<u8> {
    let (files, settings) = (Files::new(), settings(3, encrypted, 200));
    let (mut writer, _) = files.open(&settings).expect("opened");
    for message in messages(12) {
        writer.add(&message, TIME);
    }
    writer.flush(true).expect("flushed");
    files.bytes("store")
}

#[test]
fn every_changed_bit_is_found() {
    for encrypted in [false, true] {
        let store = with_stamp(encrypted);
        assert!(checked(&store, Keys::default()).is_clean());
        for bit in 0..store.len() * 8 {
            let mut changed = store.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            let found = check(Cursor::new(&changed), &mut Trust::default());
            let found = found.map_or(true, |report| !report.is_clean());
            assert!(found, "bit {bit} of {} bytes, encrypted: {encrypted}", store.len());
        }
    }
}

#[test]
fn a_store_that_ends_anywhere_is_written_on() {
    let settings = settings(3, false, 200);
    let files = Files::new();
    let (mut writer, _) = files.open(&settings).expect("opened");
    let all = messages(12);
    all.iter().take(6).for_each(|message| writer.add(message, TIME));
    writer.flush(true).expect("flushed");
    let (before, header) = (files.bytes("store"), writer.store().header().length() as usize);
    all.iter().skip(6).take(3).for_each(|message| writer.add(message, TIME));
    writer.keep().expect("kept");
    all.iter().skip(9).for_each(|message| writer.add(message, TIME));
    let journal = files.bytes("store.jor");
    writer.flush(true).expect("flushed");
    drop(writer);
    let after = files.bytes("store");
    for end in before.len()..=after.len() {
        // The records as far as the kill let them be written, and the header from before.
        let cut = [&before[..header], &after[header..end]].concat();
        files.put("store", &cut);
        files.put("store.jor", &journal);
        let (_, opened) = files.open(&settings).expect("opened");
        // Those that were kept are there, and those that were not are there or not.
        let found = read(&files.bytes("store"), Keys::default());
        assert!(found.len() >= 9 && found == all[..found.len()], "cut at {end}: {opened:?}");
        assert!(checked(&files.bytes("store"), Keys::default()).is_clean(), "cut at {end}");
    }
}

#[test]
fn a_journal_that_ends_anywhere_gives_what_is_whole() {
    for encrypted in [false, true] {
        let settings = settings(3, encrypted, 10_000);
        let files = Files::new();
        let (mut writer, _) = files.open(&settings).expect("opened");
        let all = messages(5);
        let mut ends = Vec::new();
        for message in &all {
            writer.add(message, TIME);
            writer.keep().expect("kept");
            ends.push(files.bytes("store.jor").len());
        }
        drop(writer);
        let (store, journal) = (files.bytes("store"), files.bytes("store.jor"));
        for end in 0..=journal.len() {
            files.put("store", &store);
            files.put("store.jor", &journal[..end]);
            let whole = ends.iter().filter(|whole| **whole <= end).count();
            // A journal without a whole magic is foreign, and left alone.
            let Ok((_, opened)) = files.open(&settings) else { continue };
            assert_eq!(opened.recovered as usize, whole, "cut at {end}");
            let open = || if encrypted { keys() } else { Keys::default() };
            assert_eq!(read(&files.bytes("store"), open()), all[..whole], "cut at {end}");
            assert!(checked(&files.bytes("store"), open()).is_clean());
        }
    }
}

#[test]
fn another_certificate_does_not_go_on_with_a_store() {
    let files = Files::new();
    drop(files.open(&settings(3, false, 100)).expect("opened"));
    assert!(matches!(files.open(&settings(3, true, 100)), Err(Error::Unlike(_))));
}

/// The folder with the stores of PE, where there is one.
fn stores() -> Option<std::path::PathBuf> {
    let folder = std::env::var_os("PENSTOCK_LOGSTORES")?;
    Some(folder.into())
}

fn of_pe(folder: &Path, name: &str) -> Vec<u8> {
    std::fs::read(folder.join(format!("{name}.store"))).expect("a store of PE")
}

#[test]
fn stores_of_pe_are_read_byte_for_byte() {
    let Some(folder) = stores() else {
        println!("skipped: PENSTOCK_LOGSTORES does not name the folder with stores of PE");
        return;
    };
    let count = |name: &str| {
        let store = of_pe(&folder, name);
        let report = checked(&store, Keys::default());
        assert!(report.is_clean(), "{name}: {report:?}");
        (report.chunks, report.messages, report.stamps, report.locked)
    };
    assert_eq!(count("abc.uncompressed"), (1, 1810, 0, 0));
    assert_eq!(count("loggen.compressed"), (9, 34212, 0, 0));
    assert_eq!(count("short.compressed"), (1, 4, 0, 0));
    assert_eq!(count("serialized"), (1, 1, 0, 0));
    assert_eq!(count("sha256"), (1, 3, 0, 0));
    assert_eq!(count("timestamped"), (1, 2, 1, 0));
    assert_eq!(count("encrypted"), (1, 3, 0, 1));
    let texts = read(&of_pe(&folder, "short.compressed"), Keys::default());
    assert_eq!(texts[0], b"Jan 13 13:43:37 localhost This is a test message.\n");
    let whole = read(&of_pe(&folder, "sha256"), Keys::default());
    let stored = serialized::Stored::read(&whole[0]).expect("a version that is known");
    assert_eq!(stored.value("PROGRAM"), Some(&b"prg00000"[..]));
    assert_eq!(stored.value("PID"), Some(&b"1234"[..]));
    assert_eq!(stored.value("HOST"), Some(&b"localhost"[..]));
    assert!(stored.value("MESSAGE").expect("a message").starts_with(b"seq: 0000000000, thread: 0000"));
    assert_eq!((stored.priority, stored.stamp.0), (38, 1_356_608_365));
    let whole = read(&of_pe(&folder, "serialized"), Keys::default());
    let stored = serialized::Stored::read(&whole[0]).expect("a version that is known");
    assert_eq!(stored.value("MESSAGE"), Some(&b"This is a test message."[..]));
    assert_eq!(stored.value("random-thingy"), Some(&b"this"[..]));
    assert_eq!(stored.tags, [&b"s_tcp"[..], b".source.s_net"]);
}

#[test]
fn what_we_write_has_the_bytes_of_pe() {
    let Some(folder) = stores() else { return };
    // The same messages, as PE has written them: all but the times and our seal in the reserved bytes.
    let theirs = of_pe(&folder, "abc.uncompressed");
    let files = Files::new();
    let certificate = None;
    let settings = Arc::new(Settings { level: 0, digest: Digest::Sha1, certificate, chunk_bytes: 1 << 20 });
    let (mut writer, _) = files.open(&settings).expect("opened");
    let start = Time { seconds: 1_326_470_995, micros: 630_062 };
    let end = Time { seconds: 1_326_471_003, micros: 531_086 };
    for (n, message) in read(&theirs, Keys::default()).iter().enumerate() {
        writer.add(message, if n == 0 { start } else { end });
    }
    writer.flush(true).expect("flushed");
    let mut ours = files.bytes("store");
    ours[40..136].fill(0);
    assert!(ours == theirs);
    // And a store of theirs is written on.
    files.put("store", &theirs);
    files.put("store.jor", b"");
    let (mut writer, _) = files.open(&settings).expect("opened");
    writer.add(b"one more\n", end);
    writer.flush(true).expect("flushed");
    let report = checked(&files.bytes("store"), Keys::default());
    assert!(report.is_clean() && report.messages == 1811, "{report:?}");
}

#[test]
fn requests_and_policies_are_as_openssl_writes_them() {
    assert_eq!(stamp::policy("1.2.3.4.1"), Some(vec![0x2a, 3, 4, 1]));
    assert_eq!(stamp::policy("1.3.6.1.4.1.13762.3"), Some(vec![0x2b, 6, 1, 4, 1, 0xeb, 0x42, 3]));
    assert_eq!(stamp::policy("3.1"), None);
    assert_eq!(stamp::policy("1"), None);
    let request = stamp::request(Digest::Sha1, &[7; 20], None, 9);
    let wanted = [
        &[0x30, 52, 2, 1, 1, 0x30, 33, 0x30, 9, 6, 5, 0x2b, 0x0e, 3, 2, 0x1a, 5, 0, 4, 20][..],
        &[7; 20],
        &[2, 9, 1, 0, 0, 0, 0, 0, 0, 0, 9, 1, 1, 0xff],
    ];
    assert_eq!(request, wanted.concat());
}
