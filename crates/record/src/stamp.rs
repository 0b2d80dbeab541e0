//! A point in time with the zone offset it was written in.

use std::time::{SystemTime, UNIX_EPOCH};

/// Seconds since 1970-01-01 UTC, microseconds, and the offset from UTC in seconds of the wall clock it was read from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    pub secs: i64,
    /// 0..=999_999.
    pub usec: u32,
    /// Seconds east of UTC.
    pub offset: i32,
}

impl Stamp {
    /// The present, with the offset given (the caller knows its zone, see [`crate::ZoneCursor`]).
    pub fn now(offset: i32) -> Stamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Stamp { secs: since.as_secs() as i64, usec: since.subsec_micros(), offset }
    }
}
