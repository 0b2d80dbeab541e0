//! What is synced when, one step after the other.

use super::*;
use crate::{Log, Options};

#[test]
fn cursors_are_synced_when_much_was_delivered_since() {
    let dir = tempfile::tempdir().expect("a folder");
    let (log, mut committer, _) = Log::prepare(Options::new(dir.path())).expect("a log");
    committer.pause = Duration::ZERO;
    let queue = log.queue(b"a", 1 << 30, Box::new(|| ())).expect("a queue");
    let message = vec![b'x'; 1000];
    let ends: Vec<u32> = (1..=20).map(|n| n * 1000).collect();
    let seqs = queue.append(&message.repeat(20), &ends, Safe::Synced, Box::new(())).map_err(|(why, _)| why);
    let first = seqs.expect("room").start;
    assert_eq!(committer.step(), Step::Wrote);
    let before = committer.writer.syncs;
    queue.done(first + 1, 1, 1000);
    assert_eq!(committer.step(), Step::Wrote);
    assert_eq!(committer.writer.syncs, before, "one message may come again");
    queue.done(first + 15, 14, 14_000);
    assert_eq!(committer.step(), Step::Wrote);
    assert_eq!(committer.writer.syncs, before + 1);
    assert_eq!(log.shared.lock().queues.values().next().map(|queue| queue.safe.0), Some(first + 15));
    assert_eq!(committer.step(), Step::Idle, "and no more for the same");
    assert!(!committer.owing, "nothing is to be waited for");

    // The disk is left alone for a while after that; what is owed then is not forgotten, though nothing else
    // comes.
    committer.pause = Duration::from_nanos(1);
    committer.rest = Some(Instant::now() + Duration::from_secs(3600));
    queue
        .append(&message.repeat(20), &ends, Safe::Written, Box::new(()))
        .map_err(|(why, _)| why)
        .expect("room");
    queue.done(first + 25, 10, 10_000);
    assert_eq!(committer.step(), Step::Wrote);
    assert_eq!((committer.writer.syncs, committer.owing), (before + 1, true));
    committer.rest = None;
    assert_eq!(committer.step(), Step::Wrote);
    assert_eq!((committer.writer.syncs, log.shared.lock().pending.is_empty()), (before + 2, true));
}
