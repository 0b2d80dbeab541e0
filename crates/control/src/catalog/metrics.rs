//! Names and meanings of the metrics, for `--metrics-registry` and the manual.

/// A metric as the Prometheus rendering names it, without the prefix `syslogng_`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Metric {
    pub name: &'static str,
    pub help: &'static str,
}

/// Every metric there is, sorted by name.
pub const METRICS: &[Metric] = &[
    Metric { name: "disk_log_bytes", help: "bytes of a log on disk that destinations share" },
    Metric { name: "disk_log_commits_total", help: "groups written to a log on disk" },
    Metric { name: "disk_log_full", help: "1 while a log on disk cannot be written to for want of space" },
    Metric { name: "disk_log_io_errors_total", help: "failed writes and syncs of a log on disk" },
    Metric {
        name: "disk_log_lost_frames_total",
        help: "parts of a log on disk that could not be read again",
    },
    Metric { name: "disk_log_pending_bytes", help: "bytes given to a log on disk and not yet written" },
    Metric {
        name: "disk_log_safe_latency_max_seconds",
        help: "the longest time from receiving a message to its being safe on disk",
    },
    Metric {
        name: "disk_log_safe_latency_seconds_bucket",
        help: "messages of disk-buffer(reliable(yes)) by the time from receiving them to their being safe on disk",
    },
    Metric {
        name: "disk_log_safe_latency_seconds_count",
        help: "messages of disk-buffer(reliable(yes)) that are safe on disk",
    },
    Metric {
        name: "disk_log_safe_latency_seconds_sum",
        help: "the sum of the times from receiving messages to their being safe on disk",
    },
    Metric {
        name: "disk_log_shared_events_total",
        help: "messages that were stored once for several destinations",
    },
    Metric {
        name: "disk_log_sync_latency_max_seconds",
        help: "the longest time from a message to its being safe on disk",
    },
    Metric {
        name: "disk_log_sync_latency_seconds_bucket",
        help: "groups by the time from a message to its being safe on disk",
    },
    Metric { name: "disk_log_sync_latency_seconds_count", help: "groups that were synced" },
    Metric {
        name: "disk_log_sync_latency_seconds_sum",
        help: "the sum of the times from a message to its being safe on disk",
    },
    Metric { name: "disk_log_written_bytes_total", help: "bytes written to a log on disk" },
    Metric { name: "disk_queue_capacity_bytes", help: "bytes that may wait on disk for a destination" },
    Metric { name: "disk_queue_dir_available_bytes", help: "free bytes of the file system of a log on disk" },
    Metric { name: "disk_queue_disk_usage_bytes", help: "bytes that wait on disk for a destination" },
    Metric { name: "disk_queue_events", help: "messages that wait on disk for a destination" },
    Metric {
        name: "disk_queue_memory_usage_bytes",
        help: "bytes in memory of the messages that wait for a destination with disk-buffer()",
    },
    Metric { name: "filtered_events_total", help: "messages a filter has seen, by result" },
    Metric {
        name: "filterx_failures_total",
        help: "messages that a block of FilterX failed for, by the place of the block and the cause",
    },
    Metric { name: "hand_overs_total", help: "batches that one worker read and another worked on" },
    Metric { name: "input_event_bytes_total", help: "bytes of the messages received by a source driver" },
    Metric { name: "input_events_total", help: "messages received by a source driver" },
    Metric {
        name: "input_lost_bytes_total",
        help: "bytes of files that were truncated away before they were read",
    },
    Metric {
        name: "input_transport_errors_total",
        help: "connections and datagrams given up for what their peer sent, by source driver and reason",
    },
    Metric { name: "internal_events_total", help: "messages of the program's own log, by result" },
    Metric {
        name: "kubernetes_failed_requests_total",
        help: "requests to an API server of Kubernetes that brought nothing, by server",
    },
    Metric { name: "kubernetes_lists_total", help: "lists of the pods of a node that were read whole" },
    Metric {
        name: "kubernetes_messages_total",
        help: "messages of containers, by whether their pod was known when they came by",
    },
    Metric { name: "kubernetes_pods", help: "names of pods that are known" },
    Metric { name: "kubernetes_pods_bytes", help: "bytes of what is known of pods" },
    Metric {
        name: "kubernetes_pods_left_out_total",
        help: "pods that were let go for want of room although they may be wanted",
    },
    Metric { name: "kubernetes_watch_events_total", help: "events that told of pods of a node" },
    Metric {
        name: "last_config_file_modification_timestamp_seconds",
        help: "when the configuration file was last changed",
    },
    Metric { name: "last_config_reload_timestamp_seconds", help: "when the configuration was last read" },
    Metric {
        name: "last_successful_config_reload_timestamp_seconds",
        help: "when the configuration was last read with success",
    },
    Metric {
        name: "ledger_events_total",
        help: "messages by source, path and destination, result and reason",
    },
    Metric { name: "ledger_waiting_events", help: "messages not done yet, by source, path and destination" },
    Metric {
        name: "lock_waits_total",
        help: "locks on the way of messages that somebody else held when they were wanted",
    },
    Metric { name: "memory_queue_events", help: "messages waiting for a destination" },
    Metric {
        name: "memory_queue_memory_usage_bytes",
        help: "bytes in memory of the messages waiting for a destination, those included that its peer has not acknowledged yet",
    },
    Metric {
        name: "names_left_out_total",
        help: "values and tags that were left out because a batch of messages had too many names",
    },
    Metric {
        name: "output_event_bytes_total",
        help: "bytes of the messages delivered by a destination driver: they count together, when the peer has acknowledged the message",
    },
    Metric { name: "output_events_total", help: "messages of a destination driver, by result" },
    Metric { name: "output_unreachable", help: "1 while a destination cannot be reached" },
    Metric {
        name: "oversized_texts_total",
        help: "texts made of messages that were given up because they were too large",
    },
    Metric { name: "parsed_events_total", help: "messages a parser has seen, by result" },
    Metric {
        name: "patterns_given_up_total",
        help: "texts that count as not matching because a pattern took too long for them",
    },
    Metric {
        name: "route_egress_total",
        help: "messages given to a destination statement, and by a log path with a name to its destinations",
    },
    Metric {
        name: "route_ingress_total",
        help: "messages received by a source statement, and given to a log path with a name",
    },
    Metric { name: "shared_batches_total", help: "batches of one connection that went to another core" },
    Metric { name: "socket_connections", help: "connections open at a stream source" },
    Metric { name: "socket_max_connections", help: "connections a stream source takes at most" },
    Metric { name: "socket_receive_dropped_packets_total", help: "datagrams the kernel had no room for" },
    Metric {
        name: "socket_rejected_connections_total",
        help: "connections refused: at the limit, or by the TLS handshake",
    },
    Metric { name: "tagged_events_total", help: "messages with a tag" },
    Metric {
        name: "tls_certificate_not_after_timestamp_seconds",
        help: "when a certificate that is shown to peers expires",
    },
    Metric {
        name: "wake_ups_total",
        help: "workers that were woken for what other threads had done, by a system call each",
    },
];
