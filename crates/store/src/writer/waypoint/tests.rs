//! Where waypoints are, and what a start makes of them.

use super::*;
use crate::commit::Committer;
use crate::files::{Files, Folder, SegmentFile};
use crate::{Log, Options, Queue, Safe};
use std::path::Path;
use std::sync::Arc;

const MESSAGE: usize = 1000;

fn open(dir: &Path) -> (Arc<Log>, Committer, Queue) {
    let options = Options { segment_bytes: 64 << 10, ..Options::new(dir) };
    let (log, committer, report) = Log::prepare(options).expect("a log");
    assert!(report.damaged.is_empty(), "{report:?}");
    let queue = log.queue(b"a", 1 << 30, Box::new(|| ())).expect("a queue");
    (log, committer, queue)
}

fn put(queue: &Queue, committer: &mut Committer, text: u8, count: usize) {
    let ends: Vec<u32> = (1..=count).map(|n| (n * MESSAGE) as u32).collect();
    let bytes = vec![text; count * MESSAGE];
    queue.append(&bytes, &ends, Safe::Synced, Box::new(())).map_err(|(why, _)| why).expect("room");
    committer.step();
}

fn segment(dir: &Path) -> (Arc<dyn SegmentFile>, u64) {
    let folder = Folder::new(&dir.join(crate::log::FOLDER));
    let names = folder.list().expect("a folder");
    let name = names.iter().filter(|name| name.ends_with(".log")).max().expect("a segment");
    let file = folder.open(name).expect("it opens");
    let length = file.length().expect("a length");
    (file, length)
}

fn last(dir: &Path) -> Option<(Snapshot, Range<u64>)> {
    let (file, length) = segment(dir);
    let header = Snapshot::read_header(&*file, length).expect("a header");
    find_waypoint(&*file, length, &header, None)
}

#[test]
fn places() {
    assert_eq!(place_behind(100, 64 << 10, 4096), Some(STEP));
    assert_eq!(place_behind(STEP, 64 << 10, 4096), Some(STEP));
    assert_eq!(place_behind(STEP + 1, 64 << 10, 4096), Some(2 * STEP));
    assert_eq!(place_behind(57 << 10, 64 << 10, 4096), Some(60 << 10), "the last one");
    assert_eq!(place_behind(61 << 10, 64 << 10, 4096), None);
    assert_eq!(place_behind(0, 64 << 10, BYTES_MAX + 1), None);
}

#[test]
fn a_start_reads_what_lies_between_the_last_waypoint_and_what_it_says() {
    let dir = tempfile::tempdir().expect("a folder");
    let (log, mut committer, queue) = open(dir.path());
    let (mut put_in, mut before) = (0, 0);
    while put_in < 45 {
        put(&queue, &mut committer, b'a' + put_in as u8, 5);
        put_in += 5;
        let (snapshot, range) = last(dir.path()).expect("a waypoint at all times");
        let waiting = snapshot.table.values().map(|row| row.appended.messages).max().unwrap_or(0);
        let end = snapshot.data_start + (put_in * (MESSAGE + 24)) as u64;
        assert!(range.start >= before && range.end >= end, "{range:?}, written up to {end} and more");
        assert!(waiting as usize * MESSAGE <= (range.start - snapshot.data_start) as usize);
        before = range.start;
    }
    assert!(before > 24 << 10, "most of it need not be read: {before}");
    drop((committer, queue, log));
    let (_log, _, queue) = open(dir.path());
    assert_eq!(queue.waiting().messages, 45);
    let read = queue.read(queue.first_waiting(), 1 << 20).expect("it can be read");
    assert_eq!((read.ends.len(), read.lost), (45, 0));
    let texts: Vec<u8> = read.bytes.chunks(5 * MESSAGE).map(|five| five[0]).collect();
    assert_eq!(texts, (0..9).map(|n| b'a' + n * 5).collect::<Vec<u8>>());
}

#[test]
fn damage_in_front_of_a_waypoint_is_found_when_it_is_read() {
    let dir = tempfile::tempdir().expect("a folder");
    let (log, mut committer, queue) = open(dir.path());
    (0..6).for_each(|n| put(&queue, &mut committer, b'a' + n, 5));
    drop((committer, queue, log));
    let (file, length) = segment(dir.path());
    let header = Snapshot::read_header(&*file, length).expect("a header");
    let at = header.data_start + 7 * MESSAGE as u64;
    assert!(last(dir.path()).is_some_and(|(_, range)| range.start > at + 4096));
    write_all(&*file, b"xyz", at).expect("written");
    let (_log, _, queue) = open(dir.path());
    let (mut at, mut got, mut lost) = (queue.first_waiting(), 0, 0);
    while at < queue.end() {
        let read = queue.read(at, 10_000).expect("it can be read");
        (at, got, lost) = (read.seqs.end, got + read.ends.len(), lost + read.lost);
    }
    assert_eq!((got, lost), (29, 1));
}

#[test]
fn a_waypoint_that_is_damaged_or_of_another_segment_counts_for_nothing() {
    let dir = tempfile::tempdir().expect("a folder");
    let (log, mut committer, queue) = open(dir.path());
    (0..3).for_each(|n| put(&queue, &mut committer, b'a' + n, 5));
    let (file, length) = segment(dir.path());
    let header = Snapshot::read_header(&*file, length).expect("a header");
    let (snapshot, range) = find_waypoint(&*file, length, &header, None).expect("a waypoint");
    assert!(find_waypoint(&*file, length, &header, Some(snapshot.next)).is_some());
    assert_eq!(find_waypoint(&*file, length, &header, Some(snapshot.next - 1)), None);
    for other in [
        Snapshot { first: header.first - 1, ..header.clone() },
        Snapshot { key: header.key ^ 1, ..header.clone() },
        Snapshot { sparse: true, ..header.clone() },
    ] {
        assert_eq!(find_waypoint(&*file, length, &other, None), None);
    }
    write_all(&*file, b"?", range.end + 30).expect("written");
    assert_eq!(find_waypoint(&*file, length, &header, None), None);
    drop((committer, queue, log));
    let (_log, _, queue) = open(dir.path());
    assert_eq!(queue.waiting().messages, 15, "all of it is read then");
}
