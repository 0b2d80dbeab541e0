use super::*;
use crate::commit::{Committer, Step};
use crate::model::disk::Handle;
use crate::{Log, Options, Safe};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const PIECE: u64 = 1 << 20;

struct Desk {
    disk: Handle,
    log: Arc<Log>,
    committer: Committer,
    queue: Queue,
    calls: Arc<AtomicUsize>,
}

impl Desk {
    /// With so many pieces waiting.
    fn new(pieces: u64) -> Desk {
        let disk = Handle::new(1);
        let options = Options { files: Some(Box::new(disk.clone())), ..Options::new("".as_ref()) };
        let (log, mut committer, _) = Log::prepare(options).unwrap();
        // Nothing but what is urgent.
        committer.pause = std::time::Duration::from_secs(3600);
        let queue = log.queue(b"q", 1 << 30, Box::new(|| ())).unwrap();
        let calls: Arc<AtomicUsize> = Arc::default();
        let counted = Arc::clone(&calls);
        queue.on_move(Box::new(move || {
            counted.fetch_add(1, Ordering::Relaxed);
        }));
        let mut desk = Desk { disk, log, committer, queue, calls };
        (0..pieces).for_each(|_| desk.append());
        assert_eq!(desk.committer.step(), Step::Wrote);
        desk
    }

    fn append(&mut self) {
        let outcome = self.queue.append(&[b'x'; PIECE as usize], &[PIECE as u32], Safe::Synced, Box::new(()));
        outcome.map_err(|(why, _)| why).unwrap();
    }

    fn done(&self) {
        let read = self.queue.read(self.queue.first_waiting(), 1).unwrap();
        self.queue.done(read.seqs.end, 1, PIECE);
    }

    fn calls(&self) -> usize {
        self.calls.swap(0, Ordering::Relaxed)
    }
}

#[test]
fn nobody_gets_further_ahead_of_the_disk_than_allowed() {
    let mut desk = Desk::new(20);
    assert_eq!(desk.queue.room_ahead(0, PIECE), Some(AHEAD_BYTES_MAX));
    desk.done();
    assert_eq!(desk.committer.step(), Step::Idle, "there is time");
    desk.done();
    assert_eq!(desk.queue.room_ahead(PIECE, PIECE), Some(PIECE));
    assert_eq!(desk.queue.room_ahead(PIECE, PIECE + 1), None, "not as much");
    assert_eq!(desk.queue.room_ahead(2 * PIECE, PIECE), None);
    assert_eq!(desk.calls(), 0);
    assert_eq!(desk.committer.step(), Step::Wrote, "whoever waits has it written now");
    assert_eq!(desk.calls(), 1);
    assert_eq!(desk.queue.room_ahead(2 * PIECE, PIECE), Some(2 * PIECE));
    // Before anybody has to wait, too.
    desk.done();
    desk.done();
    assert_eq!(desk.committer.step(), Step::Wrote);
    assert_eq!((desk.calls(), desk.queue.room_ahead(0, PIECE)), (0, Some(AHEAD_BYTES_MAX)));
    // While messages are to be written, which takes its time, somewhat further.
    desk.append();
    assert_eq!(desk.queue.room_ahead(0, PIECE), Some(AHEAD_BUSY_BYTES_MAX));
    assert_eq!(desk.committer.step(), Step::Wrote);
    // For what the disk was not told of, it is not waited for.
    assert_eq!(desk.queue.room_ahead(2 * AHEAD_BYTES_MAX, PIECE), Some(0));
    desk.disk.0.lock().power_loss();
    let options = Options { files: Some(Box::new(desk.disk.clone())), ..Options::new("".as_ref()) };
    let (log, _committer, _) = Log::prepare(options).unwrap();
    assert_eq!(log.queues()[0].waiting.messages, 17);
}

#[test]
fn a_disk_that_takes_nothing_stops_nobody() {
    let mut desk = Desk::new(20);
    (0..4).for_each(|_| desk.done());
    assert_eq!(desk.queue.room_ahead(0, PIECE), None);
    desk.disk.0.lock().space = 0;
    desk.disk.0.lock().faults.sync = 1;
    assert_eq!(desk.committer.step(), Step::Refused);
    assert_eq!(desk.calls(), 1, "whoever waited is not left waiting");
    assert_eq!(desk.queue.room_ahead(0, PIECE), Some(PIECE));
    desk.done();
    desk.disk.0.lock().space = u64::MAX;
    desk.disk.0.lock().faults.sync = 0;
    assert_eq!(desk.committer.step(), Step::Wrote);
    assert_eq!(desk.queue.room_ahead(0, 4 * PIECE), None, "and from then on it is as before");
    assert_eq!(desk.committer.step(), Step::Wrote);
    assert_eq!((desk.calls(), desk.queue.room_ahead(0, PIECE)), (1, Some(AHEAD_BYTES_MAX)));
    (0..4).for_each(|_| desk.done());
    assert_eq!(desk.queue.room_ahead(0, PIECE), None);
    desk.log.shared.lock().closed = true;
    while desk.committer.step() == Step::Wrote {}
    desk.committer.end();
    assert!(desk.calls() > 0 && desk.queue.room_ahead(0, PIECE).is_some(), "nor does one that is closed");
}

#[test]
fn what_is_written_is_told_before_it_is_synced() {
    let mut desk = Desk::new(1);
    desk.append();
    let end = desk.queue.end();
    assert!(desk.queue.written(end) < end);
    let queue = desk.queue.clone();
    let told: Arc<AtomicUsize> = Arc::default();
    let (log, seen) = (Arc::clone(&desk.log), Arc::clone(&told));
    desk.queue.on_move(Box::new(move || {
        assert!(queue.written(end) >= end);
        let before = log.shared.lock().synced < end;
        seen.fetch_add(if before { 1 } else { 100 }, Ordering::Relaxed);
    }));
    assert_eq!(desk.committer.step(), Step::Wrote);
    assert_eq!(told.load(Ordering::Relaxed), 1, "once, and before");
}
