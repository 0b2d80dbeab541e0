//! The log on a real folder, with its thread.

use crate::{Full, Log, OnSafe, Options, Queue, Read, Safe};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

fn open(dir: &Path) -> Arc<Log> {
    Log::open(Options { segment_bytes: 1 << 16, ..Options::new(dir) }).unwrap().log
}

fn queue(log: &Arc<Log>, name: &str) -> Queue {
    log.queue(name.as_bytes(), 1 << 30, Box::new(|| ())).unwrap()
}

fn put(queue: &Queue, texts: &[String], safe: Safe) -> u64 {
    let bytes = texts.concat();
    let mut end = 0;
    let ends: Vec<u32> = texts
        .iter()
        .map(|t| {
            end += t.len() as u32;
            end
        })
        .collect();
    let seqs = queue.append(bytes.as_bytes(), &ends, safe, Box::new(()));
    seqs.map_err(|(why, _)| why).unwrap().end
}

fn texts(range: std::ops::Range<usize>) -> Vec<String> {
    range.map(|i| format!("message {i} {}\n", "x".repeat(i % 300))).collect()
}

fn all(read: &Read) -> Vec<String> {
    let mut from = 0;
    let text = |end: &u32| {
        let text = String::from_utf8(read.bytes[from..*end as usize].to_vec()).unwrap();
        from = *end as usize;
        text
    };
    read.ends.iter().map(text).collect()
}

/// Everything that waits, with what it cost in lost ones; nothing is done.
fn drain(queue: &Queue) -> (Vec<String>, u64) {
    let (mut at, mut got, mut lost) = (queue.first_waiting(), Vec::new(), 0);
    while at < queue.end() {
        let read = queue.read(at, 10_000).unwrap();
        assert!(read.seqs.start == at && read.seqs.end > at, "{:?}", read.seqs);
        got.extend(all(&read));
        lost += read.lost;
        at = read.seqs.end;
    }
    (got, lost)
}

#[test]
fn what_is_put_in_comes_out_again_after_a_restart_too() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(dir.path());
    let (a, b) = (queue(&log, "a"), queue(&log, "b"));
    for i in 0..20 {
        put(&a, &texts(i * 50..i * 50 + 50), Safe::Written);
        put(&b, &texts(i..i + 1), Safe::Synced);
    }
    assert_eq!(a.waiting().messages, 1000);
    assert!(log.flush());
    assert_eq!(drain(&a), (texts(0..1000), 0));
    assert_eq!(drain(&b), (texts(0..20), 0));
    assert!(log.stats().segments > 2);
    let first = a.read(a.first_waiting(), 5000).unwrap();
    let count = first.ends.len();
    a.done(first.seqs.end, count as u64, first.bytes.len() as u64);
    log.close();
    assert_eq!(put_refused(&a), Full::Closed);
    drop((a, b, log));

    let opened = Log::open(Options::new(dir.path())).unwrap();
    assert!(opened.report.damaged.is_empty(), "{:?}", opened.report);
    let (a, b) = (queue(&opened.log, "a"), queue(&opened.log, "b"));
    assert_eq!(a.waiting().messages as usize, 1000 - count);
    assert_eq!(drain(&a), (texts(count..1000), 0));
    assert_eq!(drain(&b), (texts(0..20), 0));
    let bytes: usize = texts(count..1000).iter().map(String::len).sum();
    assert_eq!(a.waiting().bytes as usize, bytes);
    put(&a, &texts(1000..1001), Safe::Synced);
    assert!(opened.log.flush());
    assert_eq!(drain(&a).0.len(), 1001 - count);
}

fn put_refused(queue: &Queue) -> Full {
    queue.append(b"x", &[1], Safe::Written, Box::new(())).unwrap_err().0
}

#[test]
fn delivered_segments_are_given_back() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(dir.path());
    let a = queue(&log, "a");
    for i in 0..60 {
        let end = put(&a, &texts(i * 50..i * 50 + 50), Safe::Written);
        assert!(log.flush());
        a.done(end, 50, 0);
    }
    assert!(log.flush());
    assert!(log.flush());
    let stats = log.stats();
    assert!(stats.segments <= 2 && stats.segments_free >= 1, "{stats:?}");
    log.close();
    drop((a, log));
    let log = open(dir.path());
    assert_eq!(queue(&log, "a").waiting().messages, 0);
}

#[test]
fn the_same_messages_of_several_queues_are_written_once() {
    let dir = tempfile::tempdir().unwrap();
    let (log, mut committer, _) = Log::prepare(Options::new(dir.path())).unwrap();
    let queues: Vec<Queue> = (0..5).map(|i| queue(&log, &format!("q{i}"))).collect();
    committer.step();
    for i in 0..10 {
        for q in &queues {
            put(q, &texts(i * 100..i * 100 + 100), Safe::Synced);
        }
    }
    let pending = log.stats().bytes_pending as usize;
    let once: usize = texts(0..1000).iter().map(|t| t.len() + 24).sum();
    // What it is written at, beside them, is a frame of its own.
    assert!((once..once + 100).contains(&pending), "{pending} bytes, {once} of messages");
    committer.step();
    assert_eq!(log.stats().messages_shared, 4000);
    for q in &queues {
        assert_eq!(drain(q), (texts(0..1000), 0));
    }
}

#[test]
fn a_full_queue_refuses_and_says_when_there_is_room() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(dir.path());
    let calls = Arc::new(AtomicUsize::new(0));
    let on_room = {
        let calls = calls.clone();
        move || {
            calls.fetch_add(1, Ordering::SeqCst);
        }
    };
    let a = log.queue(b"a", 10, Box::new(on_room)).unwrap();
    // Larger than may wait, and alone: it fits.
    let end = put(&a, &["longer than ten".to_owned()], Safe::Written);
    assert_eq!(put_refused(&a), Full::Capacity);
    assert_eq!(calls.load(Ordering::SeqCst), 0);
    a.done(end, 1, 15);
    assert_eq!(calls.load(Ordering::SeqCst), 1);
    put(&a, &["x".to_owned()], Safe::Written);
    assert!(log.remove(b"a") && !log.remove(b"a"));
    assert_eq!(put_refused(&a), Full::Closed);
    assert_eq!(queue(&log, "a").waiting().messages, 0);
}

#[test]
fn a_second_process_is_kept_out() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(dir.path());
    let error = Log::open(Options::new(dir.path())).err().unwrap();
    assert!(error.to_string().contains("in use by another process"), "{error}");
    drop(log);
    open(dir.path());
}

#[test]
fn held_values_hear_when_the_disk_has_the_messages_and_when_it_never_will() {
    struct Flag(Arc<AtomicUsize>);
    impl OnSafe for Flag {
        fn safe(self: Box<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
        fn never_safe(self: Box<Self>) {
            self.0.fetch_add(100, Ordering::SeqCst);
        }
    }
    let dir = tempfile::tempdir().unwrap();
    let (log, mut committer, _) = Log::prepare(Options::new(dir.path())).unwrap();
    let gone = Arc::new(AtomicUsize::new(0));
    let a = queue(&log, "a");
    a.append(b"x", &[1], Safe::Synced, Box::new(Flag(gone.clone()))).map_err(|e| e.0).unwrap();
    a.append(b"y", &[1], Safe::Written, Box::new(Flag(gone.clone()))).map_err(|e| e.0).unwrap();
    assert_eq!(gone.load(Ordering::SeqCst), 0);
    committer.step();
    assert_eq!(gone.load(Ordering::SeqCst), 2);
    assert_eq!(log.stats().syncs, 1);
    a.append(b"z", &[1], Safe::Written, Box::new(Flag(gone.clone()))).map_err(|e| e.0).unwrap();
    committer.end();
    assert_eq!(gone.load(Ordering::SeqCst), 102);
}

#[test]
fn a_message_larger_than_a_segment_has_one_of_its_own() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(dir.path());
    let a = queue(&log, "a");
    let large = vec!["y".repeat(3 << 20), "z".repeat(100_000), "small".to_owned()];
    put(&a, &large, Safe::Synced);
    put(&a, &texts(0..10), Safe::Synced);
    assert!(log.flush());
    let expected: Vec<String> = large.into_iter().chain(texts(0..10)).collect();
    assert_eq!(drain(&a), (expected.clone(), 0));
    drop((a, log));
    let log = open(dir.path());
    assert_eq!(drain(&queue(&log, "a")), (expected, 0));
}

#[test]
fn what_a_slow_queue_holds_is_rewritten() {
    let dir = tempfile::tempdir().unwrap();
    let (log, mut committer, _) =
        Log::prepare(Options { segment_bytes: 1 << 16, ..Options::new(dir.path()) }).unwrap();
    let (slow, fast) = (queue(&log, "slow"), queue(&log, "fast"));
    for i in 0..40 {
        put(&slow, &texts(i..i + 1), Safe::Written);
        let end = put(&fast, &texts(i * 50..i * 50 + 50), Safe::Written);
        committer.step();
        fast.done(end, 50, 0);
    }
    // Only what is done after a power loss too is left out.
    log.shared.lock().flush = true;
    committer.step();
    let before = log.stats().bytes_on_disk;
    let mut count = 0;
    while crate::compact::step(&log.shared).unwrap() {
        count += 1;
    }
    assert!(count >= 3, "{count}");
    assert!(log.stats().bytes_on_disk < before / 3, "{:?}", log.stats());
    assert_eq!(drain(&slow), (texts(0..40), 0));
    drop((slow, fast, log, committer));
    let log = open(dir.path());
    let (slow, fast) = (queue(&log, "slow"), queue(&log, "fast"));
    assert_eq!(drain(&slow), (texts(0..40), 0));
    assert_eq!(slow.waiting().messages, 40);
    assert!(fast.waiting().messages <= 50);
}

#[test]
fn what_was_read_knows_its_numbers() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(dir.path());
    let (one, other) = (queue(&log, "one"), queue(&log, "other"));
    let mut expected = Vec::new();
    for i in 0..5 {
        let end = put(&one, &texts(3 * i..3 * i + 3), Safe::Written);
        expected.extend(end - 3..end);
        put(&other, &texts(100..102), Safe::Written);
    }
    log.flush();
    let read = one.read(one.first_waiting(), 1 << 20).unwrap();
    let numbers: Vec<u64> = (0..).map_while(|message| read.number(message)).collect();
    assert_eq!(numbers, expected);
    for until in expected[0] - 1..=expected[14] + 2 {
        assert_eq!(read.before(until), expected.iter().filter(|number| **number < until).count());
    }
    assert_eq!((read.before(0), read.before(u64::MAX)), (0, 15));
    log.close();
}
