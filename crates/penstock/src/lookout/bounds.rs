//! From when on the program is not well: `options { health(...); }`.

use conf_schema::{Settings, Table};
use control::ledger::Disk;
use driver_options::health_groups::HEALTH;
use std::time::Duration;

/// What lasts longer, or is worse, is a complaint. `None` never is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bounds {
    pub waits: Option<Duration>,
    pub held: Option<Duration>,
    pub drops: bool,
    disk_full_in: Option<Duration>,
    /// Hundredths.
    disk_free: u64,
}

impl Bounds {
    pub fn of(globals: &Settings) -> Bounds {
        let presets = || Settings::empty(Table::block("health()", HEALTH), None, None);
        let own = globals.block("health").cloned().unwrap_or_else(presets);
        let time = |name: &str| own.seconds(name).filter(|time| !time.is_zero());
        Bounds {
            waits: time("waits"),
            held: time("held"),
            drops: own.bool("drops").unwrap_or(true),
            disk_full_in: time("disk-full-in"),
            disk_free: own.int("disk-free").and_then(|free| u64::try_from(free).ok()).unwrap_or(0),
        }
    }

    /// Whether a file system has too little room, or will soon.
    pub fn finds_low(&self, disk: &Disk) -> bool {
        let soon = self.disk_full_in.zip(disk.full_in_seconds);
        soon.is_some_and(|(bound, seconds)| seconds < bound.as_secs())
            || u128::from(disk.free) * 100 < u128::from(disk.size) * u128::from(self.disk_free)
    }
}
