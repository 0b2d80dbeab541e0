//! What becomes of a file that cannot be read: it is tried again for a while, and the queue waits. An error
//! of a controller or of a network that comes back is not damage.

use crate::files::{PAGE, SegmentFile, read_on};
use crate::shared::Shared;
use std::io::{self, ErrorKind};
use std::time::{Duration, Instant};

/// A start does not wait longer.
const START_MAX: Duration = Duration::from_secs(10);
const START_PAUSE: Duration = Duration::from_millis(100);

/// Of one queue.
#[derive(Default)]
pub struct Patience {
    /// When reading failed first, if it still does.
    since: Option<Instant>,
    /// What cannot be read of this content of a segment counts as damage.
    out: Option<u64>,
}

impl Patience {
    pub fn is_out(&self, content: u64) -> bool {
        self.out == Some(content)
    }

    /// Reading has got on.
    pub fn passed(&mut self, shared: &Shared, id: u32) {
        if self.since.take().is_some() {
            oplog::notice(
                "The file of the store can be read again",
                &[("dir", &shared.path), ("queue", &shared.queue_name(id))],
            );
        }
    }

    /// Reading has failed. The error comes back while it is to be tried again.
    pub fn failed(
        &mut self,
        shared: &Shared,
        id: u32,
        (name, content): (&str, u64),
        error: io::Error,
    ) -> io::Result<()> {
        // One that is gone does not come back; it may have been through.
        let gone = error.kind() == ErrorKind::NotFound;
        let queue = shared.queue_name(id);
        let fields: [oplog::Field<'_>; 4] =
            [("dir", &shared.path), ("file", &name), ("queue", &queue), ("error", &error)];
        if self.since.is_none() && !gone {
            let text = "A file of the store cannot be read now, its queue waits; look for what the kernel says of the disk (dmesg)";
            oplog::error(text, &fields);
        }
        let since = *self.since.get_or_insert_with(Instant::now);
        if !gone && since.elapsed() < shared.read_patience {
            return Err(error);
        }
        if !gone {
            oplog::error("What cannot be read of a file of the store counts as damaged from now on", &fields);
        }
        (self.since, self.out) = (None, Some(content));
        Ok(())
    }
}

/// Of a start, for all files together.
pub struct StartPatience {
    until: Instant,
}

impl StartPatience {
    pub fn new(patience: Duration) -> StartPatience {
        StartPatience { until: Instant::now() + patience.min(START_MAX) }
    }

    pub fn is_left(&self) -> bool {
        Instant::now() < self.until
    }

    /// Waits until the first and the last page of a file can be read: what is there tells what is in it.
    pub fn wait_for(&self, name: &str, file: &dyn SegmentFile, length: u64) {
        let mut page = [0; PAGE];
        let last = length.saturating_sub(1) / PAGE as u64 * PAGE as u64;
        while self.is_left() {
            let error = [0, last].into_iter().find_map(|at| read_on(file, &mut page, at).1);
            match error.filter(|error| error.kind() != ErrorKind::NotFound) {
                Some(error) => self.pause(name, &error),
                None => return,
            }
        }
    }

    pub fn pause(&self, name: &str, error: &io::Error) {
        oplog::limited(
            "store-start",
            oplog::Level::Error,
            "A file of the store cannot be read now, trying again; look for what the kernel says of the disk (dmesg)",
            &[("file", &name), ("error", error)],
        );
        std::thread::sleep(START_PAUSE.min(self.until.saturating_duration_since(Instant::now())));
    }
}
