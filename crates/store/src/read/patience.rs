//! What becomes of a file that cannot be read: it is tried again for a while, and the queue waits. An error of a controller or of a network
//! that comes back is not damage.

use crate::shared::Shared;
use std::io::{self, ErrorKind};
use std::time::Instant;

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
