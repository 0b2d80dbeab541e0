//! The counters as a line of the program's own log every stats(freq()) seconds, in syslog-ng's form, for
//! whoever reads them from internal(): `Log statistics; processed='src.internal(s_all#0)=6445',
//! queued='dst.network(d#0,tcp,10.0.0.1:514)=0'`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use control::{Counter, State, Subject};

use crate::program::Daemon;
use crate::subject::Served;

/// Counters of one line; more make further lines.
const COUNTERS_MAX: usize = 1000;

/// Says the counters as often as the running configuration asks for, until the program ends.
pub fn start(program: &Arc<Daemon>) {
    let weak = Arc::downgrade(program);
    let started = std::thread::Builder::new().name("statistics".into()).spawn(move || {
        let mut last = Instant::now();
        while let Some(program) = weak.upgrade().filter(|program| !program.is_given()) {
            let every = program.statistics_every();
            if every.is_some_and(|every| last.elapsed() >= every) {
                last = Instant::now();
                say(&Served::new(Arc::clone(&program)).counters());
            }
            drop(program);
            let left = every.map_or(Duration::MAX, |every| every.saturating_sub(last.elapsed()));
            std::thread::park_timeout(left);
        }
    });
    match started {
        Ok(thread) => program.statistics_changed(thread.thread().clone()),
        Err(error) => oplog::error("Cannot start the thread of stats(freq())", &[("error", &error)]),
    }
}

fn say(counters: &[Counter]) {
    let shown: Vec<(&str, String)> = counters
        .iter()
        .filter(|counter| counter.has_legacy_name() && counter.state == State::Active)
        .map(|counter| (counter.kind, field(counter)))
        .collect();
    for part in shown.chunks(COUNTERS_MAX) {
        let fields: Vec<oplog::Field<'_>> =
            part.iter().map(|(kind, value)| (*kind, value as &dyn std::fmt::Display)).collect();
        oplog::info("Log statistics", &fields);
    }
}

fn field(counter: &Counter) -> String {
    let (id, instance) = (&*counter.source_id, &*counter.instance);
    let comma = if id.is_empty() || instance.is_empty() { "" } else { "," };
    format!("{}({id}{comma}{instance})={}", counter.source_name, counter.value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_of_syslog_ng() {
        for (name, id, instance, expected) in [
            ("src.internal", "s_all#0", "", "src.internal(s_all#0)=7"),
            ("dst.file", "d#0", "/var/log/x", "dst.file(d#0,/var/log/x)=7"),
            ("center", "", "received", "center(received)=7"),
            ("destination", "d", "", "destination(d)=7"),
        ] {
            assert_eq!(field(&Counter::new(name, id, instance, "processed", 7)), expected);
        }
    }
}
