//! systemd's watchdog (`WatchdogSec=`): a sign of life as long as all workers do their work.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::notify;
use crate::program::Daemon;
use crate::subject::health;

/// After how many microseconds without a sign of life the service manager ends us. `None`: never.
pub fn micros() -> Option<u64> {
    let number = |name: &str| std::env::var(name).ok()?.parse::<u64>().ok();
    let ours = number("WATCHDOG_PID").is_none_or(|pid| pid == u64::from(std::process::id()));
    number("WATCHDOG_USEC").filter(|micros| ours && *micros > 0)
}

/// Gives signs of life twice as often as they are due, until the program is given to another process, which
/// goes on with them.
pub fn start(program: &Arc<Daemon>, micros: u64) {
    program.watchdog.store(micros, Ordering::Relaxed);
    let program = Arc::downgrade(program);
    let pause = Duration::from_micros(micros / 2);
    let started = std::thread::Builder::new().name("watchdog".into()).spawn(move || {
        while let Some(program) = program.upgrade().filter(|program| !program.is_given()) {
            match health::of(&program.shared).complaints.first() {
                None => notify::alive(),
                Some(complaint) => {
                    oplog::error("No sign of life for the service manager", &[("reason", complaint)])
                }
            }
            drop(program);
            std::thread::sleep(pause);
        }
    });
    if let Err(error) = started {
        oplog::error("Cannot start the thread of the watchdog", &[("error", &error)]);
    }
}
