//! Every bit of everything that is no message, and every length: no damage of it ends a start, and it costs
//! no message.

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

/// Some of the first messages are done. The last segment is begun, with waypoints.
fn begun() -> (Contents, [Vec<String>; 2]) {
    made_until(false)
}

/// All segments are closed, and cursors are in their file of their own too.
fn made() -> (Contents, [Vec<String>; 2]) {
    made_until(true)
}

fn made_until(full: bool) -> (Contents, [Vec<String>; 2]) {
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
    let contents = disk.0.lock().contents();
    if !full {
        return (contents, waiting);
    }
    // The disk is full: what is done from now on is in the file of cursors.
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

/// What of each file is no message: headers and their copies, footers, waypoints, small files as far as there
/// is something in them.
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
            continue;
        }
        for at in (0..bytes.len()).step_by(crate::snapshot::PAGE as usize) {
            if bytes[at..].starts_with(&crate::snapshot::WAYPOINT) {
                all.push((name.clone(), at..at + size(at).expect("a waypoint")));
            }
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
    flip(&contents, &waiting, own);
}

#[test]
fn no_flipped_bit_in_a_begun_segment_and_its_waypoints_does_either() {
    let (contents, waiting) = begun();
    check("as it was left", &contents, &waiting);
    let own = own_bytes(&contents);
    let last = contents.keys().filter(|name| name.ends_with(".log")).max().expect("a segment");
    let of_last: Vec<_> = own.into_iter().filter(|(name, _)| name == last).collect();
    let is_waypoint = |(name, range): &(String, Range<usize>)| {
        contents[name][range.start..].starts_with(&crate::snapshot::WAYPOINT)
    };
    assert!(of_last.iter().any(is_waypoint), "{of_last:?}");
    flip(&contents, &waiting, of_last);
}

/// Each bit of these parts, one at a time.
fn flip(contents: &Contents, waiting: &[Vec<String>; 2], own: Vec<(String, Range<usize>)>) {
    for (name, range) in own {
        for at in range {
            for bit in 0..8 {
                let mut damaged = contents.clone();
                if let Some(byte) = damaged.get_mut(&name).and_then(|bytes| bytes.get_mut(at)) {
                    *byte ^= 1 << bit;
                }
                check(&format!("{name}, byte {at}, bit {bit}"), &damaged, waiting);
            }
        }
    }
}

/// A frame that is damaged anywhere costs its own message and no other: that one never comes altered. Of both
/// queues, a dead letter with them, in a segment that is closed and in the one that was begun.
#[test]
fn a_flipped_bit_in_a_frame_costs_that_message_alone() {
    let (contents, waiting) = begun();
    let find = |text: &str| {
        let in_file =
            |bytes: &Vec<u8>| bytes.windows(text.len()).position(|window| window == text.as_bytes());
        let found = contents.iter().find_map(|(name, bytes)| Some((name.clone(), in_file(bytes)?)));
        found.unwrap_or_else(|| panic!("{} is nowhere", &text[..20]))
    };
    let mut files = std::collections::BTreeSet::new();
    for (index, queue) in QUEUES.iter().enumerate() {
        for number in [10, 39] {
            let text = message(queue, number);
            assert!(waiting[index].contains(&text));
            let (name, start) = find(&text);
            files.insert(name.clone());
            // Its head and what stands in front of the text, some of the text, and its end with what comes
            // behind it.
            let near = (start - 64..start + 40).chain(start + text.len() - 20..start + text.len() + 16);
            for at in near.filter(|at| *at < contents[&name].len()) {
                for bit in 0..8 {
                    let mut damaged = contents.clone();
                    damaged.get_mut(&name).expect("it is there")[at] ^= 1 << bit;
                    let what = format!("{queue} {number}: {name}, byte {at}, bit {bit}");
                    hold(&what, &delivered(&damaged), &waiting);
                }
            }
        }
    }
    assert!(files.len() > 1, "{files:?}");
}

/// At most one of all messages is missing, none is altered, and they come in order.
fn hold(what: &str, got: &[Vec<String>; 2], waiting: &[Vec<String>; 2]) {
    let mut missing = 0;
    for (index, (got, expected)) in got.iter().zip(waiting).enumerate() {
        missing += expected.iter().filter(|message| !got.contains(message)).count();
        let number = |text: &String| text.split(' ').nth(1).and_then(|n| n.parse::<usize>().ok());
        assert!(got.is_sorted_by(|a, b| number(a) < number(b)), "{what}");
        // What was done may come again.
        let known = |text: &String| number(text).is_some_and(|n| *text == message(QUEUES[index], n));
        assert!(got.iter().all(known), "{what}: altered");
    }
    assert!(missing <= 1, "{what}: {missing} messages are missing");
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
