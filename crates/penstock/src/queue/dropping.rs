//! `drop` and `replay`: through the running program; without one, `drop` takes the folder for itself.

use super::progress::Bar;
use super::{QueueArgs, find, view};
use control::queues::QueueRequest;
use diag::Fault;
use engine::dead_letters;
use std::io;
use std::sync::Arc;
use std::time::SystemTime;
use stdio::CommandError;
use store::{Log, QueueInfo, Waiting};

/// Bytes of one read of what is dropped.
const READ_BYTES: usize = 1 << 20;

/// 90s, 15m, 12h, 7d, in seconds.
pub fn age(text: &str) -> Result<u64, String> {
    let wrong = || "expected a number and s, m, h or d, as in 12h".to_owned();
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    let unit = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        "d" => 86_400,
        _ => return Err(wrong()),
    };
    number.parse::<u64>().ok().and_then(|n| n.checked_mul(unit)).ok_or_else(wrong)
}

/// The moment so many seconds ago, in seconds since 1970.
fn ago(seconds: u64) -> u64 {
    crate::configuration::seconds(SystemTime::now()).saturating_sub(seconds)
}

pub(super) fn drop(asked: &QueueArgs, wanted: &str, older: Option<u64>) -> Result<bool, CommandError> {
    let folder = asked.folder();
    let folder = folder.canonicalize().map_err(|error| format!("{}: {error}", folder.display()))?;
    let queue = find(&view(&folder)?, wanted)?;
    let before = older.map(ago);
    if asked.open_folders().contains(&folder) {
        let request = QueueRequest::Drop { folder, queue: queue.name, before };
        return asked.tell(&request, "the program has ended meanwhile, try again");
    }
    let opened = store::Log::open(store::Options::new(&folder))
        .map_err(|error| format!("cannot change the queues in {}: {error}", folder.display()))?;
    // Nobody changes it any more.
    let view = view(&folder)?;
    let queue = find(&view, wanted)?;
    let until = before.map(|before| {
        let mut bar = Bar::new(view.bytes_from(queue.id, queue.first_waiting), false);
        view.border(queue.id, queue.first_waiting, before, |position| bar.at(position.bytes)).seq
    });
    let gone = forget(&opened.log, &queue, until).map_err(CommandError::failed)?;
    let safe = opened.log.flush();
    opened.log.close();
    if !safe {
        return Err(format!("cannot write to {}", folder.display()).into());
    }
    let messages = stdio::counted(gone.messages, "message", "messages");
    stdio::out!("{messages} dropped, {}", stdio::counted(gone.bytes, "byte", "bytes"));
    Ok(true)
}

/// Drops what waits in a queue that no destination has, before a number of it or all.
pub fn forget(log: &Arc<Log>, queue: &QueueInfo, until: Option<u64>) -> Result<Waiting, Fault> {
    let letters = queue.name == dead_letters::NAME.as_bytes();
    let until = until.filter(|until| *until < queue.end);
    // That of the dead letters is no destination's, and yet in use.
    if until.is_none() && !(letters && queue.opened) {
        log.remove(&queue.name);
        return Ok(queue.waiting);
    }
    let capacity = if letters { dead_letters::CAPACITY_BYTES } else { u64::MAX };
    let wrong = |error: io::Error| Fault::local(error.to_string());
    let handle = log.queue(&queue.name, capacity, Box::new(|| ())).map_err(wrong)?;
    let until = until.unwrap_or(queue.end);
    let (mut at, mut step, mut gone) = (handle.first_waiting(), READ_BYTES, Waiting::default());
    while at < until {
        let read = handle.read(at, step).map_err(wrong)?;
        if read.seqs.end > until && step > 1 {
            // At the border, one at a time: only so is each number known.
            step = 1;
            continue;
        }
        if read.seqs.end <= at || read.seqs.end > until {
            break;
        }
        at = read.seqs.end;
        let (messages, bytes) = (read.ends.len() as u64 + read.lost, read.bytes.len() as u64);
        handle.done(at, messages, bytes);
        gone.messages += messages;
        gone.bytes += bytes;
    }
    Ok(gone)
}

pub(super) fn replay(asked: &QueueArgs, to: Option<String>) -> Result<bool, CommandError> {
    let alone = "no program runs that could give them to a destination: start it first";
    asked.tell(&QueueRequest::Replay { to }, alone)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ops::Range;
    use std::path::Path;
    use store::Safe;

    #[test]
    fn ages() {
        assert_eq!(
            ["90s", "15m", "12h", "7d"].map(|text| age(text).ok()),
            [90, 900, 43_200, 604_800].map(Some)
        );
        for wrong in ["", "7", "d", "-1d", "1w", "99999999999999999999d", "9999999999999999999d"] {
            assert!(age(wrong).is_err(), "{wrong}");
        }
    }

    /// A log with `count` messages in queue `q`, of which some in the middle are damaged. The numbers behind
    /// each of them: there may be holes.
    fn damaged_log(dir: &Path, count: usize, damaged: Range<usize>) -> (Arc<Log>, Vec<u64>) {
        let opened = Log::open(store::Options::new(dir)).expect("made");
        let queue = opened.log.queue(b"q", 1 << 30, Box::new(|| ())).expect("made");
        let append = |number| {
            let text = format!("message {number:04}");
            let (bytes, ends) = (text.as_bytes(), [text.len() as u32]);
            queue.append(bytes, &ends, Safe::Written, Box::new(())).expect("room").end
        };
        let numbers = (0..count).map(append).collect();
        opened.log.flush();
        opened.log.close();
        let mut files = std::fs::read_dir(dir.join("penstock-store")).expect("a folder").flatten();
        let file = files.find(|file| file.path().extension().is_some_and(|e| e == "log")).expect("a file");
        let mut bytes = std::fs::read(file.path()).expect("read");
        for number in damaged {
            let text = format!("message {number:04}");
            let at = bytes.windows(text.len()).position(|w| w == text.as_bytes()).expect("it is there");
            bytes[at] ^= 0x20;
        }
        std::fs::write(file.path(), bytes).expect("written");
        (Log::open(store::Options::new(dir)).expect("opened").log, numbers)
    }

    #[test]
    fn damaged_messages_are_dropped_with_those_around_them() {
        let check = |damaged: Range<usize>, first: Option<usize>, expected: [u64; 2]| {
            let dir = tempfile::tempdir().expect("folder");
            let (log, numbers) = damaged_log(dir.path(), 100, damaged.clone());
            let info = |log: &Arc<Log>| log.queues().into_iter().find(|queue| queue.name == b"q");
            let queue = info(&log).expect("the queue");
            let until = first.map(|count| count.checked_sub(1).map_or(queue.first_waiting, |n| numbers[n]));
            let gone = forget(&log, &queue, until).expect("dropped");
            let left = info(&log).map_or(0, |queue| queue.waiting.messages);
            assert_eq!([gone.messages, left], expected, "{damaged:?}");
            log.close();
        };
        check(0..0, None, [100, 0]);
        check(10..13, None, [100, 0]);
        check(0..0, Some(40), [40, 60]);
        check(10..13, Some(40), [40, 60]);
        check(10..13, Some(0), [0, 100]);
    }
}
