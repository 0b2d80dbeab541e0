//! What the configuration says about statistics.

use conf_schema::Settings;

/// What the configuration says about statistics, in its block or by the names of old.
pub struct Statistics {
    pub level: u8,
    pub max_dynamics: Option<usize>,
    /// Seconds.
    pub freq: u64,
}

pub fn statistics(globals: &Settings) -> Statistics {
    let block = globals.block("stats");
    let number = |name: &str, old: &str| {
        let given = block.filter(|stats| stats.is_set(name)).and_then(|stats| stats.int(name));
        given.or(globals.int(old).filter(|_| globals.is_set(old)))
    };
    let seconds = |settings: &Settings, name: &str| settings.seconds(name).map(|every| every.as_secs());
    let freq = block.filter(|stats| stats.is_set("freq")).and_then(|stats| seconds(stats, "freq"));
    Statistics {
        level: number("level", "stats-level").and_then(|n| u8::try_from(n).ok()).unwrap_or(0),
        max_dynamics: number("max-dynamics", "stats-max-dynamics").and_then(|n| usize::try_from(n).ok()),
        freq: freq.or(seconds(globals, "stats-freq")).unwrap_or(0),
    }
}
