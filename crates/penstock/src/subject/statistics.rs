//! The engine's counters under the names syslog-ng has for them.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use control::Counter;
use control::catalog::{self, DiskLog, DiskQueue, Input, Listener, Output, Times};
use engine::driver::Destination;
use engine::ledger::{Reason, TransportError};
use engine::source::{Carrier, Source};
use engine::{LogFolder, Shared, View};

use crate::program::Gone;

/// Counters of the objects of a configuration, in the order of their names.
pub fn of_view(view: &View) -> Vec<Counter> {
    let mut counters = Vec::new();
    let mut groups: BTreeMap<&str, u64> = BTreeMap::new();
    for source in &view.sources {
        of_source(source, &mut counters);
        *groups.entry(&source.group).or_default() += source.counters.received.value();
    }
    counters.extend(groups.iter().map(|(name, received)| catalog::source(name, *received)));
    // One series has one value: a path that is named as a source is counts with that.
    let named = view.named_paths().filter(|(name, _)| !groups.contains_key(name));
    counters.extend(named.map(|(name, path)| catalog::path_ingress(name, path.ingress.value())));
    let mut groups: BTreeMap<&str, u64> = BTreeMap::new();
    for (id, destination) in &view.destinations {
        of_destination(id, &**destination, &mut counters);
        *groups.entry(group(id)).or_default() += destination.counters().accepted.value();
    }
    counters.extend(groups.iter().map(|(name, accepted)| catalog::destination(name, *accepted)));
    let named = view.named_paths().filter(|(name, _)| !groups.contains_key(name));
    counters.extend(named.map(|(name, path)| catalog::path_egress(name, path.matched.value())));
    for (name, step) in &view.filters {
        counters.extend(catalog::filter(name, step.matched.value(), step.not_matched.value()));
    }
    for (name, step) in &view.parsers {
        counters.extend(catalog::parser(name, step.matched.value(), step.not_matched.value()));
    }
    for (place, block) in &view.blocks {
        counters.extend(block.values().map(|(cause, count)| catalog::filterx(place, cause, count)));
    }
    counters
}

/// Counters of the program as a whole.
pub fn of_program(view: &View, gone: Gone, shared: &Shared) -> Vec<Counter> {
    let received: u64 = view.sources.iter().map(|s| s.counters.received.value()).sum();
    let queued: u64 = view.destinations.iter().map(|(_, d)| d.counters().accepted.value()).sum();
    let internal = view.sources.iter().filter(|s| s.driver == "internal");
    let internal: u64 = internal.map(|s| s.counters.received.value()).sum();
    let mut counters = catalog::center(gone.received + received, gone.queued + queued).to_vec();
    counters.push(catalog::global("msg_allocated_bytes", "value", shared.budget.used() as u64));
    counters.push(catalog::shared_batches(shared.shared_batches()));
    let engine::Friction { lock_waits, wake_ups, hand_overs } = engine::friction();
    counters.extend(catalog::friction(lock_waits, wake_ups, hand_overs));
    counters.extend(catalog::given_up(template::oversized(), record::names_left_out(), pattern::given_up()));
    counters.extend(catalog::internal_events(internal, oplog::logger().lost()));
    #[cfg(feature = "python")]
    counters.extend(python::failures().into_iter().flat_map(|f| catalog::python(&f.class, f.raised, f.lost)));
    #[cfg(feature = "kubernetes")]
    counters.extend(kubernetes::statistics().iter().flat_map(of_pods));
    shared.durable.places().iter().for_each(|place| of_log(place, &mut counters));
    let probed = parsers::metrics_probe::snapshot();
    counters.extend(probed.into_iter().map(|m| catalog::probed(m.key, m.labels, m.value)));
    counters
}

/// `s_net#0` belongs to `s_net`.
fn group(id: &str) -> &str {
    id.rsplit_once('#').map_or(id, |(group, _)| group)
}

fn of_source(source: &Source, counters: &mut Vec<Counter>) {
    let c = &source.counters;
    counters.extend(catalog::input(&Input {
        driver: source.driver,
        id: &source.id,
        instance: &source.instance,
        processed: c.received.value(),
        bytes: c.received_bytes.value(),
        stamp: c.last_seen.load(Ordering::Relaxed),
    }));
    if source.carrier == Carrier::Files {
        let labels = vec![("id", source.id.clone()), ("driver_instance", source.instance.clone())];
        let lost = c.lost_bytes.value();
        let counter = Counter::new("src.file", &source.id, &source.instance, "lost_bytes", lost);
        counters.push(Counter { level: 1, ..counter.with_prom("input_lost_bytes_total", labels) });
    }
    match &source.carrier {
        Carrier::Connections { address, persist_name } => {
            counters.extend(TransportError::ALL.into_iter().map(|error| errors(source, error)));
            let max_connections = c.connections_max.load(Ordering::Relaxed);
            counters.extend(catalog::listener(&Listener {
                driver: source.driver,
                id: &source.group,
                address: &format!("stream,{address}"),
                persist_name: persist_name.as_deref(),
                connections: c.connections.value(),
                max_connections,
                rejected: c.rejected_connections.value(),
            }));
        }
        Carrier::Datagrams => {
            counters.push(errors(source, TransportError::ProxyHeader));
            counters.push(catalog::kernel_drops(
                &source.id,
                &source.instance,
                c.dropped.value(Reason::Kernel) + c.dropped.value(Reason::NoCredit),
            ));
        }
        Carrier::Files | Carrier::Other => {}
    }
}

fn errors(source: &Source, error: TransportError) -> Counter {
    let errors = source.counters.transport_errors.value(error);
    catalog::transport_errors(&source.id, &source.instance, error.name(), errors)
}

fn of_destination(id: &str, destination: &dyn Destination, counters: &mut Vec<Counter>) {
    let (driver, instance) = destination.described();
    let c = destination.counters();
    // A file whose name messages make is none before the first of them.
    if driver == "file" && instance.contains('$') && c.accepted.value() == 0 {
        return;
    }
    counters.extend(catalog::output(&Output {
        driver,
        id,
        instance: &instance,
        processed: c.accepted.value(),
        written: c.delivered.value(),
        dropped: c.dropped.total(),
        queued: c.waiting.value(),
        memory_usage: destination.outlets().iter().map(|outlet| outlet.waiting_bytes() as u64).sum(),
        written_bytes: c.delivered_bytes.value(),
        truncated_count: c.truncated.value(),
        unreachable: c.unreachable.value() > 0,
    }));
    for on_disk in destination.outlets().iter().filter_map(|outlet| outlet.on_disk()) {
        counters.extend(catalog::disk_queue(&DiskQueue {
            id,
            instance: &instance,
            queue: &String::from_utf8_lossy(&on_disk.queue),
            dir: &on_disk.dir.display().to_string(),
            messages: on_disk.messages,
            bytes: on_disk.bytes,
            capacity: on_disk.capacity_bytes,
            memory: on_disk.memory_bytes,
        }));
    }
}

/// A server of Kubernetes that is asked for pods.
#[cfg(feature = "kubernetes")]
fn of_pods(of: &kubernetes::Statistics) -> Vec<Counter> {
    catalog::kubernetes(&catalog::Pods {
        server: &of.server,
        known: of.with,
        unknown: of.without,
        events: of.events,
        lists: of.lists,
        failed: of.failures,
        pods: of.pods as u64,
        bytes: of.bytes as u64,
        left_out: of.left_out,
    })
}

/// A log on disk that destinations with disk-buffer() share.
fn of_log(place: &LogFolder, counters: &mut Vec<Counter>) {
    let stats = place.log.stats();
    let mut sum = 0;
    let buckets = stats.synced.buckets.iter().enumerate().map(|(i, groups)| {
        sum += groups;
        (1_u64 << i, sum)
    });
    // From 64 microseconds to a second.
    let mut buckets: Vec<(u64, u64)> = buckets.skip(6).step_by(2).take(8).collect();
    buckets.push((u64::MAX, stats.synced.buckets.iter().sum()));
    let safe = &place.latency;
    let ns = |time: std::time::Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    counters.extend(catalog::disk_log(&DiskLog {
        dir: &place.dir.display().to_string(),
        on_disk: stats.bytes_on_disk,
        available: stats.bytes_free,
        written: stats.bytes_written,
        pending: stats.bytes_pending,
        commits: stats.commits,
        sync: Times { sum_ns: ns(stats.synced.sum), max_ns: ns(stats.synced.max), buckets: &buckets },
        safe: Times { sum_ns: ns(safe.sum()), max_ns: ns(safe.max()), buckets: &safe.buckets() },
        shared: stats.messages_shared,
        lost_frames: stats.frames_lost,
        io_errors: stats.io_errors,
        disk_full: stats.disk_full,
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_of_drivers() {
        assert_eq!(group("a#b#0"), "a#b");
    }
}
