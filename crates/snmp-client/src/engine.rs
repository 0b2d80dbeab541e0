//! The engine of version 3 that a message belongs to: ours for traps, the receiver's for informs.

use std::sync::OnceLock;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// 2026-01-01: what boots of an engine are counted from, so that each start has a larger number than the one
/// before, without anything kept on disk.
const FIRST: u64 = 1_767_225_600;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Engine {
    pub id: Vec<u8>,
    pub boots: u32,
    /// Seconds since that boot, at `since`.
    time: u32,
    since: Instant,
}

/// When this program began, by both clocks.
fn start() -> (Instant, u32) {
    static START: OnceLock<(Instant, u32)> = OnceLock::new();
    *START.get_or_init(|| {
        let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        (Instant::now(), u32::try_from(seconds.saturating_sub(FIRST)).unwrap_or(1).clamp(1, 0x7fff_fffe))
    })
}

impl Engine {
    /// Ours.
    pub fn own(id: Vec<u8>) -> Engine {
        let (since, boots) = start();
        Engine { id, boots, time: 0, since }
    }

    /// One that said so now.
    pub fn other(id: Vec<u8>, boots: u32, time: u32) -> Engine {
        Engine { id, boots, time, since: Instant::now() }
    }

    pub fn time(&self) -> u32 {
        let passed = u32::try_from(self.since.elapsed().as_secs()).unwrap_or(u32::MAX);
        self.time.saturating_add(passed).min(0x7fff_ffff)
    }
}

/// Hundredths of a second since this program began.
pub fn uptime() -> u32 {
    let (since, _) = start();
    let passed: Duration = since.elapsed();
    (passed.as_millis() / 10) as u32
}
