//! Whether the workers do their work: each is asked, and the time to its answer is the metric syslog-ng has.

use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use control::Health;
use control::ledger::{Disk, Held, Wait, WaitState};
use engine::{Shared, View};

use crate::lookout::Observed;
use crate::lookout::bounds::Bounds;

/// A worker that has not answered by then is stuck: a turn takes milliseconds.
const ANSWER_MAX: Duration = Duration::from_secs(5);

pub fn of(shared: &Shared) -> Health {
    let mut health = Health::default();
    let mut slowest = Duration::ZERO;
    for worker in shared.workers() {
        let asked = Instant::now();
        let (answered, waiting) = sync_channel(0);
        worker.barrier(answered);
        // The answer is that the sender is dropped.
        match waiting.recv_timeout(ANSWER_MAX) {
            Err(RecvTimeoutError::Timeout) => {
                let (number, seconds) = (worker.index(), ANSWER_MAX.as_secs());
                health.is_stuck = true;
                health.complaints.push(format!("worker {number} has not answered within {seconds} seconds"));
            }
            _ => slowest = slowest.max(asked.elapsed()),
        }
    }
    let seconds = slowest.as_secs_f64();
    health.metrics.push(("syslogng_io_worker_latency_seconds".into(), seconds));
    health.metrics.push(("syslogng_mainloop_io_worker_roundtrip_latency_seconds".into(), seconds));
    health
}

/// What is not as it should be, by the bounds of the configuration: sentences.
pub fn complaints(view: &View, observed: &Observed, bounds: &Bounds) -> Vec<String> {
    let mut complaints = if bounds.drops { dropping(view) } else { Vec::new() };
    complaints.extend(observed.refusing.iter().filter(|_| bounds.drops).map(|refusing| {
        let (id, sum, why) = (&refusing.destination, refusing.dropped, refusing.reason.help());
        format!("destination {id} drops messages, {why}: {sum} since that began")
    }));
    let waits = |wait: &&Wait| {
        let is_long = bounds.waits.is_some_and(|max| wait.since_seconds >= max.as_secs());
        // What is dropped is a complaint of its own.
        is_long && (wait.state != WaitState::Drops || !bounds.drops || !wait.holds.is_empty())
    };
    let waits: Vec<&Wait> = observed.waits.iter().filter(waits).collect();
    complaints.extend(waits.iter().map(|wait| wait.sentence()));
    let held = observed.held.iter().filter(|held| {
        bounds.held.is_some_and(|max| held.since_seconds >= max.as_secs())
            && !waits.iter().any(|wait| wait.holds.contains(&held.source))
    });
    complaints.extend(held.map(Held::sentence));
    complaints.extend(observed.disks.iter().filter(|disk| disk.is_low).map(Disk::sentence));
    complaints
}

/// The destinations that drop messages for want of room, each with the number. The program works, but not as
/// it should.
fn dropping(view: &View) -> Vec<String> {
    let sums = view.destinations.iter().map(|(id, destination)| {
        (id, destination.outlets().iter().filter_map(|outlet| outlet.sheds()).sum::<usize>())
    });
    let dropping = sums.filter(|(_, sum)| *sum > 0);
    dropping
        .map(|(id, sum)| {
            format!("destination {id} drops messages, its queue is full: {sum} since that began")
        })
        .collect()
}
