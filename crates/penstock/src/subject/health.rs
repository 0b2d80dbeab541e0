//! Whether the workers do their work: each is asked, and the time to its answer is the metric syslog-ng has.

use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use control::Health;
use control::ledger::{Wait, WaitState};
use engine::{Shared, View};

/// A worker that has not answered by then is stuck: a turn takes milliseconds.
const ANSWER_MAX: Duration = Duration::from_secs(5);
/// A destination that waits for longer is a complaint.
const WAIT_MAX: Duration = Duration::from_secs(10);

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

/// The destinations that drop messages for want of room, each with the number. The program works, but not as
/// it should.
pub fn dropping(view: &View) -> Vec<String> {
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

/// The destinations that wait for longer than they should, each with all that is known of it.
pub fn waiting(waits: &[Wait]) -> Vec<String> {
    // What is dropped is a complaint of its own.
    let long = waits.iter().filter(|wait| {
        wait.since_seconds >= WAIT_MAX.as_secs() && (wait.state != WaitState::Drops || !wait.holds.is_empty())
    });
    long.map(Wait::sentence).collect()
}
