//! What waits on disk: queues of destinations under the names AxoSyslog has for them, and the logs they
//! share.

use super::{Labels, metric, with};
use crate::counters::{Counter, PromName, Unit};

/// What a destination has on disk, of one file, connection or process.
#[derive(Debug, Clone, Copy, Default)]
pub struct DiskQueue<'a> {
    /// `d_net#0`
    pub id: &'a str,
    pub instance: &'a str,
    /// The name by which it is found again, and the folder of its log.
    pub queue: &'a str,
    pub dir: &'a str,
    pub messages: u64,
    pub bytes: u64,
    pub capacity: u64,
    pub memory: u64,
}

/// A histogram of times.
#[derive(Debug, Clone, Copy, Default)]
pub struct Times<'a> {
    pub sum_ns: u64,
    pub max_ns: u64,
    /// Upper bounds in microseconds, and how many took no longer; the last bound is the largest number there
    /// is.
    pub buckets: &'a [(u64, u64)],
}

/// The log of a folder.
#[derive(Debug, Clone, Copy, Default)]
pub struct DiskLog<'a> {
    pub dir: &'a str,
    pub on_disk: u64,
    pub available: u64,
    pub written: u64,
    pub pending: u64,
    pub commits: u64,
    /// From append to safe on disk, of the groups that were synced.
    pub sync: Times<'a>,
    /// From received to safe on disk, of messages that have to be.
    pub safe: Times<'a>,
    pub shared: u64,
    pub lost_frames: u64,
    pub io_errors: u64,
    pub disk_full: bool,
}

pub fn disk_queue(of: &DiskQueue<'_>) -> Vec<Counter> {
    let labels: Labels = vec![
        ("id", of.id.to_owned()),
        ("driver_instance", of.instance.to_owned()),
        ("path", of.dir.to_owned()),
        ("queue", of.queue.to_owned()),
    ];
    vec![
        metric(1, "disk_queue_events", labels.clone(), of.messages),
        metric(1, "disk_queue_disk_usage_bytes", labels.clone(), of.bytes),
        metric(1, "disk_queue_capacity_bytes", labels.clone(), of.capacity),
        metric(1, "disk_queue_memory_usage_bytes", labels, of.memory),
    ]
}

pub fn disk_log(of: &DiskLog<'_>) -> Vec<Counter> {
    let labels: Labels = vec![("dir", of.dir.to_owned())];
    let count = |name, value| metric(0, name, labels.clone(), value);
    let mut counters = vec![
        count("disk_queue_dir_available_bytes", of.available),
        count("disk_log_bytes", of.on_disk),
        count("disk_log_written_bytes_total", of.written),
        count("disk_log_pending_bytes", of.pending),
        count("disk_log_commits_total", of.commits),
        count("disk_log_shared_events_total", of.shared),
        count("disk_log_lost_frames_total", of.lost_frames),
        count("disk_log_io_errors_total", of.io_errors),
        count("disk_log_full", u64::from(of.disk_full)),
    ];
    counters.extend(times(&labels, SYNC, &of.sync));
    counters.extend(times(&labels, SAFE, &of.safe));
    counters
}

/// Names of a histogram's metrics.
struct Names {
    max: &'static str,
    sum: &'static str,
    count: &'static str,
    bucket: &'static str,
}

const SYNC: Names = Names {
    max: "disk_log_sync_latency_max_seconds",
    sum: "disk_log_sync_latency_seconds_sum",
    count: "disk_log_sync_latency_seconds_count",
    bucket: "disk_log_sync_latency_seconds_bucket",
};
const SAFE: Names = Names {
    max: "disk_log_safe_latency_max_seconds",
    sum: "disk_log_safe_latency_seconds_sum",
    count: "disk_log_safe_latency_seconds_count",
    bucket: "disk_log_safe_latency_seconds_bucket",
};

/// The count is that of the last bucket, as Prometheus demands.
fn times(labels: &Labels, names: Names, of: &Times<'_>) -> Vec<Counter> {
    let seconds = |name, value| {
        let name = PromName { unit: Unit::Nanoseconds, ..PromName::new(name, labels.clone()) };
        Counter::metric(name, value)
    };
    let all = of.buckets.last().map_or(0, |(_, count)| *count);
    let mut counters = vec![
        seconds(names.max, of.max_ns),
        seconds(names.sum, of.sum_ns),
        metric(0, names.count, labels.clone(), all),
    ];
    for (up_to, count) in of.buckets {
        let le = if *up_to == u64::MAX { "+Inf".to_owned() } else { (*up_to as f64 / 1e6).to_string() };
        counters.push(metric(0, names.bucket, with(labels, "le", &le), *count));
    }
    counters
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_are_in_seconds_and_their_count_is_that_of_the_last_bucket() {
        let sync = Times { max_ns: 2_500_000, sum_ns: 0, buckets: &[(512, 3), (u64::MAX, 7)] };
        let counters = disk_log(&DiskLog { dir: "/d", sync, ..DiskLog::default() });
        let found = |name: &str, le: Option<&str>| {
            let is = |c: &&Counter| {
                c.prom.as_ref().is_some_and(|p| {
                    let label = p.labels.iter().find(|(name, _)| *name == "le");
                    p.name == name && label.map(|(_, le)| le.as_str()) == le
                })
            };
            counters.iter().find(is).map(|c| c.value)
        };
        assert_eq!(found("disk_log_sync_latency_seconds_bucket", Some("0.000512")), Some(3));
        assert_eq!(found("disk_log_sync_latency_seconds_bucket", Some("+Inf")), Some(7));
        assert_eq!(found("disk_log_sync_latency_seconds_count", None), Some(7));
        assert!(counters.iter().any(|c| c.prom.as_ref().is_some_and(|p| p.unit == Unit::Nanoseconds)));
    }
}
