//! Every bit of everything that is no message, and every length: no damage of it ends a start, and it costs no message.

use crate::commit::Step;
use crate::model::disk::{Disk, Handle};
use crate::{Log, Options, Queue, Safe};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

type Contents = BTreeMap<String, Vec<u8>>;

const QUEUES: [&str; 2] = ["d_network#0", "dead-letters"];
const SEGMENT_BYTES: u64 = 1 << 15;

/// A log in memory.
fn open(disk: &Handle) -> (Arc<Log>, crate::commit::Committer, crate::Report) {
    let files = Some(Box::new(disk.clone()) as Box<dyn crate::Files>);
    let options = Options { files, segment_bytes: SEGMENT_BYTES, ..Options::new("".as_ref()) };
    Log::prepare(options).expect("no damage ends a start")
}

fn message(queue: &str, number: usize) -> String {
    format!("{queue} {number} {}\n", "x".repeat(900))
}

fn queues(log: &Arc<Log>) -> [Queue; 2] {
    QUEUES.map(|name| log.queue(name.as_bytes(), 1 << 30, Box::new(|| ())).expect("a queue"))
}

/// Everything that a queue gives back, in order.
fn drain(queue: &Queue) -> Vec<String> {
    let (mut at, mut got) = (queue.first_waiting(), Vec::new());
    while at < queue.end() {
        let read = queue.read(at, 100_000).expect("no error");
        assert!(read.seqs.start == at && read.seqs.end > at, "{:?}", read.seqs);
        let mut from = 0;
        for end in &read.ends {
            got.push(String::from_utf8_lossy(&read.bytes[from..*end as usize]).into_owned());
            from = *end as usize;
        }
        at = read.seqs.end;
    }
    got
}

/// Three segments, some of the first messages done, cursors in their file of their own too.
fn made() -> (Contents, [Vec<String>; 2]) {
    let disk = Handle::new(1);
    let (log, mut committer, _) = open(&disk);
    let both = queues(&log);
    let mut waiting = [Vec::new(), Vec::new()];
    for number in 0..40 {
        for (index, queue) in both.iter().enumerate() {
            let text = message(QUEUES[index], number);
            assert!(queue.append(text.as_bytes(), &[text.len() as u32], Safe::Synced, Box::new(())).is_ok());
            waiting[index].push(text);
        }
        assert_eq!(committer.step(), Step::Wrote);
    }
    for (index, queue) in both.iter().enumerate() {
        let read = queue.read(queue.first_waiting(), 3000).expect("messages");
        queue.done(read.seqs.end, read.ends.len() as u64, read.bytes.len() as u64);
        waiting[index].drain(..read.ends.len());
    }
    committer.step();
    // The disk is full: what is done from now on is in the file of cursors.
    let contents = disk.0.lock().contents();
    disk.0.lock().space = contents.values().map(|bytes| bytes.len() as u64).sum();
    let read = both[0].read(both[0].first_waiting(), 1000).expect("a message");
    both[0].done(read.seqs.end, read.ends.len() as u64, read.bytes.len() as u64);
    waiting[0].drain(..read.ends.len());
    let large = "y".repeat(SEGMENT_BYTES as usize);
    assert!(both[0].append(large.as_bytes(), &[large.len() as u32], Safe::Written, Box::new(())).is_ok());
    for _ in 0..3 {
        committer.step();
    }
    (disk.0.lock().contents(), waiting)
}

/// Opens a log of these files. Returns what its queues give back.
fn delivered(contents: &Contents) -> [Vec<String>; 2] {
    let disk = Handle(Arc::new(Mutex::new(Disk::new(2).with(contents))));
    let (log, _committer, _) = open(&disk);
    queues(&log).map(|queue| drain(&queue))
}

/// All that waits comes, in order and once; of what was done some may come again before it.
fn check(what: &str, contents: &Contents, waiting: &[Vec<String>; 2]) {
    for (got, expected) in delivered(contents).iter().zip(waiting) {
        let tail = got.len().checked_sub(expected.len()).map(|from| &got[from..]);
        assert!(tail == Some(expected.as_slice()), "{what}: {} of {}", got.len(), expected.len());
        assert!(
            got.is_sorted_by_key(|text| text.split(' ').nth(1).and_then(|n| n.parse::<usize>().ok())),
            "{what}"
        );
    }
}

/// What of each file is no message: headers and their copies, footers, small files as far as there is something in them.
fn own_bytes(contents: &Contents) -> Vec<(String, Range<usize>)> {
    let mut all = Vec::new();
    for (name, bytes) in contents {
        let used = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        if !name.ends_with(".log") {
            let half = crate::snapshot::ASIDE_BYTES as usize / 2;
            let used = if name == "cursors" { used.min(400) } else { used };
            all.push((name.clone(), 0..used));
            if name == "cursors" {
                all.push((name.clone(), half..(half + 400).min(bytes.len())));
            }
            continue;
        }
        let size = |at: usize| {
            let length = bytes.get(at + 8..at + 12)?.first_chunk().map(|four| u32::from_le_bytes(*four))?;
            Some(length as usize)
        };
        let header = size(0).expect("a header");
        all.push((name.clone(), 0..header));
        all.push((name.clone(), 4096..4096 + header));
        if bytes.ends_with(b"PSTOREZ\x01") {
            let length = bytes[bytes.len() - 16..].first_chunk().map(|eight| u64::from_le_bytes(*eight));
            all.push((name.clone(), bytes.len() - 16 - length.expect("a footer") as usize..bytes.len()));
        }
    }
    all
}

#[test]
fn no_flipped_bit_ends_a_start_or_costs_a_message() {
    let (contents, waiting) = made();
    check("as it was left", &contents, &waiting);
    let own = own_bytes(&contents);
    assert!(own.iter().filter(|(name, _)| name.ends_with(".log")).count() >= 8, "{own:?}");
    for file in ["key", "cursors", "progress"] {
        assert!(own.iter().any(|(name, range)| name == file && !range.is_empty()), "{file}: {own:?}");
    }
    for (name, range) in own {
        for at in range {
            for bit in 0..8 {
                let mut damaged = contents.clone();
                if let Some(byte) = damaged.get_mut(&name).and_then(|bytes| bytes.get_mut(at)) {
                    *byte ^= 1 << bit;
                }
                check(&format!("{name}, byte {at}, bit {bit}"), &damaged, &waiting);
            }
        }
    }
}

/// Files of their own are cut anywhere; a segment anywhere too, and then all that is in the others is there.
#[test]
fn no_file_that_is_cut_ends_a_start_or_costs_what_is_in_others() {
    let (contents, waiting) = made();
    for (name, bytes) in &contents {
        let used = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        let segment = name.ends_with(".log");
        for length in (0..=used).filter(|length| *length < 600 || !segment || length % 97 == 0) {
            let mut damaged = contents.clone();
            damaged.insert(name.clone(), bytes[..length].to_vec());
            let what = format!("{name} cut to {length}");
            if !segment {
                check(&what, &damaged, &waiting);
                continue;
            }
            let text = |message: &str| {
                let message = message.as_bytes();
                bytes.windows(message.len().min(40)).any(|window| message.starts_with(window))
            };
            for (got, expected) in delivered(&damaged).iter().zip(&waiting) {
                for message in expected.iter().filter(|message| !got.contains(message)) {
                    assert!(text(message), "{what}: {}", &message[..20]);
                }
            }
        }
        let mut damaged = contents.clone();
        damaged.remove(name);
        delivered(&damaged);
    }
}
