//! The counters syslog-ng has, by both their names and with the level from which they are shown.
//!
//! Levels and names of the older form are those syslog-ng 3.38 shows at each `stats(level())`.

mod certificates;
mod disk_buffer;
mod kubernetes;
mod metrics;

use crate::counters::{Counter, PromName, State};
use crate::ledger::{Ledger, Row};

pub use certificates::certificates;
pub use disk_buffer::{DiskLog, DiskQueue, Times, disk_log, disk_queue};
pub use kubernetes::{Pods, kubernetes};
pub use metrics::{METRICS, Metric};

type Labels = Vec<(&'static str, String)>;

/// A driver or peer that receives.
#[derive(Debug, Clone, Copy, Default)]
pub struct Input<'a> {
    /// `network`, `internal`, ...
    pub driver: &'a str,
    /// `s_net#0`
    pub id: &'a str,
    /// `tcp,127.0.0.1`, a path, or empty.
    pub instance: &'a str,
    pub processed: u64,
    pub bytes: u64,
    /// Seconds since 1970 of the newest message, 0 if none.
    pub stamp: u64,
}

/// A driver that sends or writes.
#[derive(Debug, Clone, Copy, Default)]
pub struct Output<'a> {
    /// `file`, `network`, ...
    pub driver: &'a str,
    /// `d_file#0`
    pub id: &'a str,
    /// The file name as opened, `tcp,127.0.0.1:514`, ...
    pub instance: &'a str,
    pub processed: u64,
    pub written: u64,
    pub dropped: u64,
    pub queued: u64,
    /// Bytes of the messages that wait.
    pub memory_usage: u64,
    pub written_bytes: u64,
    pub truncated_count: u64,
    pub unreachable: bool,
}

/// A socket that takes connections.
#[derive(Debug, Clone, Copy, Default)]
pub struct Listener<'a> {
    pub driver: &'a str,
    /// The statement, `s_net`.
    pub id: &'a str,
    /// `stream,AF_INET(0.0.0.0:514)`
    pub address: &'a str,
    /// Of sources that share an address; it stands for it then.
    pub persist_name: Option<&'a str>,
    pub connections: u64,
    pub max_connections: u64,
    pub rejected: u64,
}

/// Level 0 for `internal()`, 1 for every other source.
pub fn input(of: &Input<'_>) -> Vec<Counter> {
    let name = format!("src.{}", of.driver);
    let level = u8::from(of.driver != "internal");
    let make = |kind, value| at(level, Counter::new(&name, of.id, of.instance, kind, value));
    let labels = vec![("id", of.id.to_owned()), ("driver_instance", of.instance.to_owned())];
    vec![
        make("processed", of.processed).with_prom("input_events_total", labels.clone()),
        make("stamp", of.stamp),
        metric(level, "input_event_bytes_total", labels, of.bytes),
    ]
}

/// Level 1 for files and pipes, which can be many, 0 for every other destination.
pub fn output(of: &Output<'_>) -> Vec<Counter> {
    let name = format!("dst.{}", of.driver);
    let level = u8::from(matches!(of.driver, "file" | "pipe"));
    let make = |kind, value| at(level, Counter::new(&name, of.id, of.instance, kind, value));
    let labels: Labels = vec![("id", of.id.to_owned()), ("driver_instance", of.instance.to_owned())];
    let result = |word: &str| with(&labels, "result", word);
    vec![
        make("dropped", of.dropped).with_prom("output_events_total", result("dropped")),
        make("processed", of.processed),
        make("queued", of.queued).with_prom("output_events_total", result("queued")),
        make("written", of.written).with_prom("output_events_total", result("delivered")),
        make("truncated_count", of.truncated_count),
        at(1, Counter::new(&name, of.id, of.instance, "memory_usage", of.memory_usage))
            .with_prom("memory_queue_memory_usage_bytes", labels.clone()),
        metric(level, "memory_queue_events", labels.clone(), of.queued),
        metric(level, "output_event_bytes_total", labels.clone(), of.written_bytes),
        metric(level, "output_unreachable", labels, u64::from(of.unreachable)),
    ]
}

/// Connections of a stream source.
pub fn listener(of: &Listener<'_>) -> Vec<Counter> {
    let instance = match of.persist_name {
        Some(name) => format!("afsocket_sd.{name}"),
        None => format!("afsocket_sd.({})", of.address),
    };
    let labels: Labels = vec![
        ("id", of.id.to_owned()),
        ("driver_instance", of.persist_name.unwrap_or(of.address).to_owned()),
        ("direction", "input".to_owned()),
    ];
    let connections =
        Counter::new(&format!("src.{}", of.driver), of.id, &instance, "connections", of.connections);
    vec![
        connections.with_prom("socket_connections", labels.clone()),
        metric(0, "socket_max_connections", labels.clone(), of.max_connections),
        metric(0, "socket_rejected_connections_total", labels, of.rejected),
    ]
}

/// Datagrams the kernel had no room for.
pub fn kernel_drops(id: &str, instance: &str, dropped: u64) -> Counter {
    let labels = vec![("id", id.to_owned()), ("driver_instance", instance.to_owned())];
    metric(0, "socket_receive_dropped_packets_total", labels, dropped)
}

/// Texts, names and patterns of messages that were given up because they met a bound.
pub fn given_up(oversized_texts: u64, names_left_out: u64, patterns: u64) -> [Counter; 3] {
    [
        metric(0, "oversized_texts_total", Labels::new(), oversized_texts),
        metric(0, "names_left_out_total", Labels::new(), names_left_out),
        metric(0, "patterns_given_up_total", Labels::new(), patterns),
    ]
}

/// Messages for which a class or function of Python has failed: it raised, or a process died of them.
pub fn python(class: &str, raised: u64, lost: u64) -> [Counter; 2] {
    let make = |cause: &'static str, value| {
        let labels = vec![("class", class.to_owned()), ("cause", cause.to_owned())];
        Counter::new("python", class, "", cause, value).with_prom("python_failed_messages_total", labels)
    };
    [make("raised", raised), make("lost", lost)]
}

/// A `source` statement.
pub fn source(name: &str, processed: u64) -> Counter {
    Counter::new("source", name, "", "processed", processed).with_prom("route_ingress_total", id(name))
}

/// A `destination` statement.
pub fn destination(name: &str, processed: u64) -> Counter {
    Counter::new("destination", name, "", "processed", processed).with_prom("route_egress_total", id(name))
}

/// The messages given to a log path with a name.
pub fn path_ingress(name: &str, messages: u64) -> Counter {
    metric(1, "route_ingress_total", id(name), messages)
}

/// The messages of such a log path that it gave to a destination.
pub fn path_egress(name: &str, messages: u64) -> Counter {
    metric(1, "route_egress_total", id(name), messages)
}

/// Connections and datagrams of a source that were given up for what their peers sent.
pub fn transport_errors(id: &str, instance: &str, reason: &str, errors: u64) -> Counter {
    let labels =
        vec![("id", id.to_owned()), ("driver_instance", instance.to_owned()), ("reason", reason.to_owned())];
    metric(1, "input_transport_errors_total", labels, errors)
}

/// What all sources received and all destinations were given.
pub fn center(received: u64, queued: u64) -> [Counter; 2] {
    [
        Counter::new("center", "", "queued", "processed", queued),
        Counter::new("center", "", "received", "processed", received),
    ]
}

/// A filter: what it let through and what not.
pub fn filter(name: &str, matched: u64, not_matched: u64) -> [Counter; 2] {
    let make = |kind, value| {
        at(1, Counter::new("filter", name, "", kind, value))
            .with_prom("filtered_events_total", with(&id(name), "result", kind))
    };
    [make("matched", matched), make("not_matched", not_matched)]
}

/// A parser: what it parsed and what it could not.
pub fn parser(name: &str, processed: u64, discarded: u64) -> [Counter; 2] {
    let make = |kind, value| {
        at(1, Counter::new("parser", name, "", kind, value))
            .with_prom("parsed_events_total", with(&id(name), "result", kind))
    };
    [make("processed", processed), make("discarded", discarded)]
}

/// Messages that a block of FilterX failed for, by the cause.
pub fn filterx(place: &str, cause: &'static str, failed: u64) -> Counter {
    let labels = vec![("location", place.to_owned()), ("cause", cause.to_owned())];
    at(1, Counter::new("filterx", place, "", cause, failed)).with_prom("filterx_failures_total", labels)
}

/// A counter of the program as a whole, as `global("msg_clones", "processed", 0)`.
pub fn global(name: &str, kind: &'static str, value: u64) -> Counter {
    Counter::new("global", name, "", kind, value)
}

/// Messages of the program's own log.
pub fn internal_events(queued: u64, dropped: u64) -> [Counter; 2] {
    let make = |kind, value| {
        Counter::new("global", "internal_source", "", kind, value)
            .with_prom("internal_events_total", vec![("result", kind.to_owned())])
    };
    [make("queued", queued), make("dropped", dropped)]
}

/// Batches of one connection that went to another core.
pub fn shared_batches(count: u64) -> Counter {
    Counter::new("global", "shared_batches", "", "processed", count).with_prom("shared_batches_total", vec![])
}

/// What workers fight over: locks they had to wait for, workers that were woken, batches that one read and
/// another worked on.
pub fn friction(lock_waits: u64, wake_ups: u64, hand_overs: u64) -> [Counter; 3] {
    let make = |name: &str, metric, value| {
        Counter::new("global", name, "", "processed", value).with_prom(metric, vec![])
    };
    [
        make("lock_waits", "lock_waits_total", lock_waits),
        make("wake_ups", "wake_ups_total", wake_ups),
        make("hand_overs", "hand_overs_total", hand_overs),
    ]
}

/// Messages of one host (level 2), program or sender (level 3): `kind` is `host`, `program` or `sender`.
pub fn dynamic(kind: &str, id: &str, name: &str, processed: u64, stamp: u64) -> [Counter; 2] {
    let level = if kind == "host" && id.is_empty() { 2 } else { 3 };
    [("processed", processed), ("stamp", stamp)].map(|(what, value)| {
        let counter = Counter::new(&format!("src.{kind}"), id, name, what, value);
        Counter { state: State::Dynamic, ..at(level, counter) }
    })
}

/// Messages of one facility or severity (level 3).
pub fn class(kind: &str, number: &str, processed: u64) -> Counter {
    at(3, Counter::new(&format!("src.{kind}"), "", number, "processed", processed))
}

/// Messages with a tag (level 3).
pub fn tag(name: &str, processed: u64) -> Counter {
    at(3, Counter::new("tag", name, "", "processed", processed)).with_prom("tagged_events_total", id(name))
}

/// A counter of metrics-probe().
pub fn probed(key: String, labels: Vec<(String, String)>, value: u64) -> Counter {
    Counter { state: State::Dynamic, ..Counter::metric(PromName::configured(key, labels), value) }
}

/// A moment in seconds since 1970, as `last_config_reload_timestamp_seconds`.
pub fn moment(name: &'static str, seconds: u64) -> Counter {
    metric(0, name, Vec::new(), seconds)
}

/// The ledger as metrics.
pub fn ledger(ledger: &Ledger) -> Vec<Counter> {
    let sections =
        [("source", &ledger.sources), ("path", &ledger.paths), ("destination", &ledger.destinations)];
    let mut counters = Vec::new();
    for (kind, rows) in sections {
        for row in rows {
            ledger_row(kind, row, &mut counters);
        }
    }
    counters
}

fn ledger_row(kind: &str, row: &Row, counters: &mut Vec<Counter>) {
    let labels: Labels =
        vec![("kind", kind.to_owned()), ("id", row.name.clone()), ("driver_instance", row.detail.clone())];
    let flow = &row.flow;
    for (result, count) in
        [("received", flow.received), ("delivered", flow.delivered), ("filtered", flow.filtered)]
    {
        counters.push(metric(0, "ledger_events_total", with(&labels, "result", result), count));
    }
    for (reason, count) in flow.dropped.iter() {
        let labels = with(&with(&labels, "result", "dropped"), "reason", reason.name());
        counters.push(metric(0, "ledger_events_total", labels, count));
    }
    counters.push(metric(0, "ledger_waiting_events", labels, flow.waiting));
}

/// The counters shown at `stats(level())`.
pub fn at_level(mut counters: Vec<Counter>, level: u8) -> Vec<Counter> {
    counters.retain(|c| c.level <= level);
    counters
}

fn metric(level: u8, name: &'static str, labels: Labels, value: u64) -> Counter {
    at(level, Counter::metric(PromName::new(name, labels), value))
}

fn at(level: u8, counter: Counter) -> Counter {
    Counter { level, ..counter }
}

fn id(name: &str) -> Labels {
    vec![("id", name.to_owned())]
}

fn with(labels: &Labels, name: &'static str, value: &str) -> Labels {
    let mut labels = labels.clone();
    labels.push((name, value.to_owned()));
    labels
}

#[cfg(test)]
mod tests;
