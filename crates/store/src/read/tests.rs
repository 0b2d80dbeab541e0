//! Files that cannot be read, for a while or for good.

use crate::model::disk::Handle;
use crate::{Log, Options, Queue, Safe};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

const MESSAGES: usize = 2000;

fn open(disk: &Handle, read_patience: Duration) -> (Arc<Log>, Queue) {
    oplog::set_stderr(false);
    let options = Options {
        dir: PathBuf::new(),
        segment_bytes: 32 << 10,
        free_segments: 2,
        read_patience,
        files: Some(Box::new(disk.clone())),
    };
    let log = Log::open(options).expect("a log").log;
    let queue = log.queue(b"q", u64::MAX, Box::new(|| ())).expect("a queue");
    (log, queue)
}

/// Several files full of messages.
fn fill(log: &Log, queue: &Queue) {
    for i in 0..MESSAGES {
        let text = format!("message {i:05} {}\n", "x".repeat(i % 100));
        let stored = queue.append(text.as_bytes(), &[text.len() as u32], Safe::Written, Box::new(()));
        assert!(stored.is_ok());
        if i % 100 == 99 {
            assert!(log.flush());
        }
    }
}

/// What comes before something cannot be read, and how much was lost on the way.
fn drain(queue: &Queue) -> (usize, u64, std::io::Result<()>) {
    let (mut messages, mut lost) = (0, 0);
    while queue.first_waiting() < queue.end() {
        match queue.read(queue.first_waiting(), 3000) {
            Ok(read) => {
                messages += read.ends.len();
                lost += read.lost;
                queue.done(read.seqs.end, read.ends.len() as u64 + read.lost, read.bytes.len() as u64);
            }
            Err(error) => return (messages, lost, Err(error)),
        }
    }
    (messages, lost, Ok(()))
}

fn segments(log: &Log) -> Vec<String> {
    log.shared.lock().segments.values().map(|segment| segment.name.clone()).collect()
}

#[test]
fn what_cannot_be_read_for_a_while_costs_nothing() {
    let disk = Handle::new(1);
    let (log, queue) = open(&disk, Duration::from_secs(3600));
    fill(&log, &queue);
    let victim = segments(&log)[1].clone();
    disk.0.lock().wear_out(&victim, 16_000..17_000);
    let (before, lost, end) = drain(&queue);
    assert!(end.is_err() && lost == 0 && (1..MESSAGES).contains(&before), "{before}");
    // Again and again.
    for _ in 0..3 {
        let (more, lost, end) = drain(&queue);
        assert!(end.is_err() && (more, lost) == (0, 0));
    }
    disk.0.lock().wear_out(&victim, 0..0);
    let (after, lost, end) = drain(&queue);
    assert!(end.is_ok() && lost == 0, "{end:?}");
    assert_eq!((before + after, log.stats().frames_lost), (MESSAGES, 0));
    log.close();
}

#[test]
fn what_cannot_be_read_for_good_costs_its_messages() {
    let disk = Handle::new(2);
    let (log, queue) = open(&disk, Duration::ZERO);
    fill(&log, &queue);
    let victim = segments(&log)[1].clone();
    disk.0.lock().wear_out(&victim, 16_000..17_000);
    let (messages, lost, end) = drain(&queue);
    assert!(end.is_ok() && lost > 0, "{end:?}");
    assert_eq!(messages + lost as usize, MESSAGES);
    // A page is lost, and what its borders cut.
    assert!(lost <= (4096 / 24) + 2 && log.stats().frames_lost >= lost, "{lost}");
    log.close();
    assert!(crate::files::Files::list(&disk).expect("names").iter().any(|name| name.ends_with(".damaged")));
}
