//! Names and meanings of the metrics, for `--metrics-registry` and the manual.

/// A metric as the Prometheus rendering names it, without the prefix `syslogng_`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Metric {
    pub name: &'static str,
    pub help: &'static str,
}

/// Every metric there is, sorted by name.
pub const METRICS: &[Metric] = &[
    Metric { name: "filtered_events_total", help: "messages a filter has seen, by result" },
    Metric { name: "input_event_bytes_total", help: "bytes of the messages received by a source driver" },
    Metric { name: "input_events_total", help: "messages received by a source driver" },
    Metric {
        name: "input_lost_bytes_total",
        help: "bytes of files that were truncated away before they were read",
    },
    Metric { name: "internal_events_total", help: "messages of the program's own log, by result" },
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
    Metric { name: "memory_queue_events", help: "messages waiting for a destination" },
    Metric {
        name: "memory_queue_memory_usage_bytes",
        help: "bytes of the messages waiting for a destination",
    },
    Metric { name: "output_event_bytes_total", help: "bytes delivered by a destination driver" },
    Metric { name: "output_events_total", help: "messages of a destination driver, by result" },
    Metric { name: "output_unreachable", help: "1 while a destination cannot be reached" },
    Metric { name: "parsed_events_total", help: "messages a parser has seen, by result" },
    Metric { name: "route_egress_total", help: "messages given to a destination statement" },
    Metric { name: "route_ingress_total", help: "messages received by a source statement" },
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
];
