//! Where a sink leaves its open file between two writes. What lies there may be closed whenever descriptors
//! are missing: the next write opens it again and goes on at its end.

use super::Opened;
use parking_lot::Mutex;
use std::fs::File;
use std::io::Result;
use std::sync::Arc;
use std::sync::LazyLock;
use std::time::Instant;
use transport::descriptors::{self, Idle};

#[derive(Default)]
pub struct Shelf(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    opened: Option<Opened>,
    /// Its number among what may be closed.
    number: Option<u64>,
    /// When it was put here.
    used: u64,
}

/// Microseconds since the first call.
fn now() -> u64 {
    static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);
    BEGAN.elapsed().as_micros() as u64
}

impl Shelf {
    pub fn take(&self) -> Option<Opened> {
        self.0.lock().opened.take()
    }

    /// Without a file, it was closed meanwhile.
    pub fn put(self: &Arc<Shelf>, opened: Option<Opened>) {
        let mut kept = self.0.lock();
        let left = match &opened {
            None => kept.number.take(),
            Some(opened) => {
                if kept.number.is_none() && opened.is_regular {
                    kept.number = Some(descriptors::enter(Arc::clone(self) as Arc<dyn Idle>));
                }
                None
            }
        };
        kept.used = now();
        let gone = std::mem::replace(&mut kept.opened, opened);
        drop(kept);
        drop(gone);
        left.into_iter().for_each(descriptors::leave);
    }

    pub fn clear(self: &Arc<Shelf>) {
        self.put(None);
    }
}

impl Idle for Shelf {
    fn used(&self) -> u64 {
        self.0.try_lock().map_or(u64::MAX, |kept| kept.used)
    }

    fn close(&self) -> bool {
        let Some(mut kept) = self.0.try_lock() else { return false };
        if kept.opened.is_none() {
            return false;
        }
        kept.number = None;
        let gone = kept.opened.take();
        drop(kept);
        drop(gone);
        true
    }
}

/// Opens a file whose descriptor is one that files may have. For want of any, idle ones are closed.
pub fn below_ceiling(open: impl Fn() -> Result<File>) -> Result<File> {
    loop {
        let error = match open() {
            Ok(file) if descriptors::is_below_ceiling(&file) => return Ok(file),
            Ok(_) => std::io::Error::from_raw_os_error(nix::libc::EMFILE),
            Err(error) if descriptors::are_used_up(&error) => error,
            Err(error) => return Err(error),
        };
        if descriptors::close_idle() == 0 {
            return Err(error);
        }
    }
}
