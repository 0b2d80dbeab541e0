use super::*;
use crate::{Log, Options, Queue, Safe};
use std::fs;
use std::path::Path;

fn origin(first: u64, span: u32) -> Origin {
    Origin { stream: (*b"sender").into(), first, span }
}

fn lot(first: u64, span: u32, messages: u32) -> Lot {
    Lot { origin: Some(origin(first, span)), messages }
}

fn open(dir: &Path, segment_bytes: u64) -> (Arc<Log>, Queue, Queue) {
    let log = Log::open(Options { segment_bytes, ..Options::new(dir) }).expect("a log").log;
    let queue = |name: &[u8]| log.queue(name, 1 << 30, Box::new(|| ())).expect("a queue");
    let (all, some) = (queue(b"all"), queue(b"some"));
    (log, all, some)
}

fn text(number: u64) -> String {
    format!("message {number} {}\n", "x".repeat(number as usize % 40))
}

/// What a path brings one queue of a batch: every message, or each third.
fn of_batch(numbers: Range<u64>, some: bool) -> Vec<String> {
    numbers.filter(|number| !some || number % 3 == 0).map(text).collect()
}

fn put(queue: &Queue, texts: &[String], lots: &[Lot]) {
    let mut end = 0;
    let ends: Vec<u32> = texts.iter().map(|text| (end += text.len() as u32, end).1).collect();
    let stored = queue.append_from(texts.concat().as_bytes(), &ends, lots, Safe::Written, Box::new(()));
    stored.map_err(|(why, _)| why).expect("room");
}

fn waiting(queue: &Queue) -> String {
    let (mut at, mut got) = (queue.first_waiting(), String::new());
    while at < queue.end() {
        let read = queue.read(at, 10_000).expect("read");
        got.push_str(&String::from_utf8_lossy(&read.bytes));
        at = read.seqs.end;
    }
    got
}

const MESSAGES: u64 = 1_500;
const BATCH: u64 = 5;

fn batches() -> impl Iterator<Item = Range<u64>> {
    (0..MESSAGES).step_by(BATCH as usize).map(|first| first..first + BATCH)
}

/// Two batches a chunk, with a message in between of somebody who does not count, in every second one.
fn send_all(all: &Queue, some: &Queue) {
    let batches: Vec<_> = batches().collect();
    for (at, pair) in batches.chunks(2).enumerate() {
        for (queue, is_some) in [(all, false), (some, true)] {
            let (mut texts, mut lots) = (Vec::new(), Vec::new());
            for batch in pair {
                let these = of_batch(batch.clone(), is_some);
                lots.push(lot(batch.start, BATCH as u32, these.len() as u32));
                texts.extend(these);
                if at % 2 == 1 {
                    texts.push("between\n".to_owned());
                    lots.push(Lot { origin: None, messages: 1 });
                }
            }
            put(queue, &texts, &lots);
        }
    }
}

/// The sender heard nothing and sends everything again, as a path that leaves out what is said to be there.
fn send_again(log: &Log, queues: [(&str, &Queue, bool); 2]) {
    for batch in batches() {
        for (name, queue, is_some) in queues {
            let texts = of_batch(batch.clone(), is_some);
            let again = lot(batch.start, BATCH as u32, texts.len() as u32);
            let here = log.repeated(name.as_bytes(), &again) as usize;
            if let Some(rest) = texts.get(here..).filter(|rest| !rest.is_empty()) {
                put(queue, rest, &[]);
            }
        }
    }
}

#[test]
fn wherever_it_was_killed_everything_is_there_once() {
    // In one segment: then it is known where the cuts are.
    let (partly, nothing) = killed_everywhere(1 << 20);
    assert!(partly > 20 && nothing < 30, "{partly} {nothing}");
    killed_everywhere(1 << 16);
}

/// How often a part of the messages was found, and how often none.
fn killed_everywhere(segment_bytes: u64) -> (usize, usize) {
    let dir = tempfile::tempdir().expect("a folder");
    let (log, all, some) = open(dir.path(), segment_bytes);
    send_all(&all, &some);
    log.close();
    drop((log, all, some));
    let folder = |dir: &Path| dir.join(crate::log::FOLDER);
    let segment = fs::read_dir(folder(dir.path())).expect("a folder").flatten().map(|entry| entry.path());
    let segment =
        segment.filter(|path| path.extension().is_some_and(|e| e == "log")).max().expect("a segment");
    let length = fs::metadata(&segment).expect("a file").len().min(200_000);
    let expected = |some| batches().map(|batch| of_batch(batch, some).concat()).collect::<String>();
    let (mut partly, mut nothing) = (0, 0);
    for cut in (8192..length).step_by(1511) {
        let copy = tempfile::tempdir().expect("a folder");
        fs::create_dir(folder(copy.path())).expect("a folder");
        for file in fs::read_dir(folder(dir.path())).expect("a folder").flatten() {
            fs::copy(file.path(), folder(copy.path()).join(file.file_name())).expect("copied");
        }
        let name = segment.file_name().expect("a name");
        let file = fs::OpenOptions::new().write(true).open(folder(copy.path()).join(name)).expect("a file");
        file.set_len(cut).expect("cut");
        let (log, all, some) = open(copy.path(), segment_bytes);
        let found = waiting(&all).len();
        partly += usize::from(found > 0 && found < expected(false).len());
        nothing += usize::from(!log.may_repeat());
        send_again(&log, [("all", &all, false), ("some", &some, true)]);
        let left = |queue: &Queue| waiting(queue).replace("between\n", "");
        assert_eq!(left(&all), expected(false), "cut at {cut}");
        assert_eq!(left(&some), expected(true), "cut at {cut}");
    }
    (partly, nothing)
}

#[test]
fn what_lies_across_a_border_is_taken_again() {
    let mut known = Known::default();
    known.add(&lot(10, 5, 5), 5);
    known.add(&lot(15, 5, 2), 2);
    known.add(&lot(20, 5, 4), 3);
    assert_eq!(known.repeated(&lot(8, 4, 4)), 0, "begins before");
    assert_eq!(known.repeated(&lot(12, 6, 3)), 3);
    assert_eq!(known.repeated(&lot(10, 2, 2)), 2, "later, and before");
    let other = Origin { stream: (*b"other").into(), ..origin(10, 2) };
    assert_eq!(known.repeated(&Lot { origin: Some(other), messages: 2 }), 0);
    assert_eq!(known.repeated(&lot(20, 2, 2)), 2);
    assert_eq!(known.repeated(&lot(22, 2, 2)), 1, "one of them is not here");
    assert_eq!(known.repeated(&lot(24, 1, 1)), 0);
    assert!(!known.is_empty());
    assert_eq!(known.repeated(&lot(25 + OUT_OF_ORDER, 1, 1)), 0);
    assert!(known.is_empty());
    known.add(&lot(0, 5, 5), 3);
    assert_eq!((known.repeated(&lot(2, 1, 1)), known.repeated(&lot(0, 1, 1))), (0, 0), "not in order");
}

#[test]
fn damaged_lots_are_none() {
    let lots = [lot(7, 3, 2), Lot { origin: None, messages: 9 }];
    let bytes = encode(&lots);
    assert_eq!(decode(&bytes), Some(lots.to_vec()));
    for cut in 1..bytes.len() {
        assert!(decode(&bytes[..cut]).is_none_or(|some| some.len() < 2));
    }
}

#[test]
fn what_is_delivered_is_known_after_several_starts() {
    let dir = tempfile::tempdir().expect("a folder");
    let (log, all, some) = open(dir.path(), 16 << 10);
    for numbers in batches().take(100) {
        put(&all, &of_batch(numbers.clone(), false), &[lot(numbers.start, BATCH as u32, BATCH as u32)]);
        all.done(all.end(), BATCH, 1 << 20);
        assert!(log.flush());
    }
    assert!(log.stats().segments > 2, "the test is about more than one");
    log.close();
    drop((log, all, some));
    for _ in 0..3 {
        let (log, all, some) = open(dir.path(), 16 << 10);
        assert_eq!(all.waiting().messages, 0);
        let again = lot(0, BATCH as u32, BATCH as u32);
        assert_eq!(log.repeated(b"all", &again), BATCH as u32);
        put(&some, &[text(1)], &[]);
        some.done(some.end(), 1, 1 << 20);
        log.close();
    }
}

#[test]
fn what_is_delivered_goes_when_enough_is_behind_it() {
    let dir = tempfile::tempdir().expect("a folder");
    let (log, all, _some) = open(dir.path(), 64 << 10);
    for first in (0..40_000).step_by(100) {
        let texts: Vec<String> = (first..first + 100).map(text).collect();
        put(&all, &texts, &[lot(first, 100, 100)]);
        all.done(all.end(), 100, 1 << 20);
        assert!(log.flush());
    }
    let bytes = log.stats().segments as u64 * (64 << 10);
    assert!((LOOKED_AT..2 * LOOKED_AT).contains(&bytes), "{bytes}");
}
