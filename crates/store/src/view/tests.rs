//! A log looked at while it is open elsewhere, and after damage.

use super::View;
use crate::{Log, Options, Queue, Safe};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

fn open(dir: &Path) -> Arc<Log> {
    Log::open(Options { segment_bytes: 1 << 16, ..Options::new(dir) }).unwrap().log
}

fn put(queue: &Queue, from: usize, count: usize) -> u64 {
    let mut bytes = Vec::new();
    let mut ends = Vec::new();
    for i in from..from + count {
        bytes.extend_from_slice(format!("message {i} {}\n", "x".repeat(i % 200)).as_bytes());
        ends.push(bytes.len() as u32);
    }
    queue.append(&bytes, &ends, Safe::Synced, Box::new(())).map_err(|(why, _)| why).unwrap().end
}

fn put_written(log: &Log, queue: &Queue, from: usize, count: usize) {
    put(queue, from, count);
    log.flush();
}

fn numbers(view: &View, name: &str) -> Vec<usize> {
    let info = view.queues().into_iter().find(|q| q.name == name.as_bytes()).unwrap();
    let mut numbers = Vec::new();
    view.messages(info.id, info.first_waiting, |message, _| {
        if let Some(message) = message {
            let text = String::from_utf8(message.bytes.to_vec()).unwrap();
            numbers.push(text.split(' ').nth(1).unwrap().parse().unwrap());
        }
        ControlFlow::Continue(())
    });
    numbers
}

#[test]
fn a_log_in_use_is_seen_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(View::open(dir.path()).err().unwrap().kind(), std::io::ErrorKind::NotFound);
    let log = open(dir.path());
    let one = log.queue(b"one", 1 << 30, Box::new(|| ())).unwrap();
    let two = log.queue(b"two", 1 << 30, Box::new(|| ())).unwrap();
    (0..20).for_each(|i| put_written(&log, &one, i * 100, 100));
    put(&two, 0, 10);
    log.flush();
    let read = one.read(one.first_waiting(), 3000).unwrap();
    one.done(read.seqs.end, read.ends.len() as u64, read.bytes.len() as u64);
    log.flush();

    let view = View::open(dir.path()).unwrap();
    let waiting: Vec<u64> = view.queues().iter().map(|q| q.waiting.messages).collect();
    assert_eq!(waiting, [2000 - read.ends.len() as u64, 10]);
    assert_eq!(numbers(&view, "one"), (read.ends.len()..2000).collect::<Vec<_>>());
    assert_eq!(numbers(&view, "two"), (0..10).collect::<Vec<_>>());
    assert!(view.space().segments > 2 && view.space().bytes > 100_000);
    view.verify(|_| (), |checked| assert!(checked.is_whole(), "{checked:?}"));
    // The process that has it open is not disturbed.
    put(&two, 10, 1);
    log.close();
    assert_eq!(numbers(&View::open(dir.path()).unwrap(), "two").len(), 11);
}

#[test]
fn what_is_damaged_is_found_and_said() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(dir.path());
    let queue = log.queue(b"q", 1 << 30, Box::new(|| ())).unwrap();
    (0..30).for_each(|i| put_written(&log, &queue, i * 100, 100));
    log.close();
    let view = View::open(dir.path()).unwrap();
    let victim = view.folder().join(&view.segments[1].name);
    let at = view.segments[1].data.start as usize + 5000;
    let mut bytes = std::fs::read(&victim).unwrap();
    bytes[at] ^= 1;
    std::fs::write(&victim, bytes).unwrap();

    let view = View::open(dir.path()).unwrap();
    let mut hurt = Vec::new();
    view.verify(|_| (), |checked| hurt.extend((!checked.is_whole()).then_some(checked)));
    let [checked] = hurt.as_slice() else { panic!("{hurt:?}") };
    assert_eq!((checked.frames_lost, checked.lost.get(&b"q"[..])), (1, Some(&1)));
    assert_eq!(numbers(&view, "q").len(), 2999);
}

#[test]
fn messages_have_the_time_when_they_were_put_in() {
    let dir = tempfile::tempdir().unwrap();
    let log = Log::open(Options::new(dir.path())).unwrap().log;
    let queue = log.queue(b"q", 1 << 30, Box::new(|| ())).unwrap();
    put(&queue, 0, 1000);
    {
        // A later second, whatever the clock says.
        let mut state = log.shared.lock();
        state.tells_time = false;
        let later = state.told + 1000;
        state.note(log.shared.key, &crate::control::at_time(later));
    }
    let end = put(&queue, 1000, 500);
    log.flush();
    let view = View::open(dir.path()).unwrap();
    let told = log.shared.lock().told;
    let border = |time| view.border(0, queue.first_waiting(), time, |_| ());
    assert_eq!((border(told).messages, border(told + 2).messages), (0, 1000));
    assert_eq!((border(told + 1001).messages, border(told + 1002).messages), (1000, 1500));
    assert_eq!(border(told + 1002).seq, end);
    assert_eq!(border(told + 1002).bytes, queue.waiting().bytes);
}
