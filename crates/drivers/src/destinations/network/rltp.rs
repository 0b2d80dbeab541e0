//! `transport(rltp)` of network() and syslog(): messages to another penstock, which acknowledges each batch
//! when it has dealt with it. docs/rltp.md has the protocol.

mod batch;
mod identity;
mod lanes;
mod sink;
mod spread;

use conf_schema::Settings;

pub use lanes::Lanes;
use sink::RltpSink;
pub use spread::Spread;

/// Bytes sent and not acknowledged, when `window()` is not given: 5 Gbit/s over a round trip of 100 ms.
const WINDOW_BYTES: usize = 64 << 20;
/// The level of compress(yes): most of what can be saved is, at a small part of the cost of higher ones
/// (`penstock bench`, rltp-packed).
const LEVEL: i32 = 1;

/// The `rltp()` block.
#[derive(Clone, Copy, Debug)]
pub struct Wishes {
    /// Connections in parallel; what one sender sends takes one of them.
    pub connections: u16,
    /// Bytes of messages on the way on each of them.
    pub window: usize,
    /// `None`: nothing is compressed.
    pub level: Option<i32>,
}

impl Wishes {
    pub fn read(s: &Settings) -> Wishes {
        let block = s.block("rltp");
        let int = |name: &str| block.and_then(|block| block.int(name));
        let size = |name: &str| block.and_then(|block| block.size(name));
        let compress = block.and_then(|block| block.bool("compress")).unwrap_or(false);
        let level = int("compression-level").map_or(LEVEL, |level| level.clamp(1, 19) as i32);
        Wishes {
            connections: int("connections").map_or(1, |n| n.clamp(1, i64::from(u16::MAX)) as u16),
            window: size("window").map_or(WINDOW_BYTES, |n| n as usize),
            level: compress.then_some(level),
        }
    }
}

#[cfg(test)]
mod tests;
