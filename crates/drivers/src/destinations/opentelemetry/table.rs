//! The options of `opentelemetry()` and `syslog-ng-otlp()`.

use conf_schema::{Component, Context, Cost, Preset};
use driver_options::batch_groups::BATCHES;
use driver_options::output_groups::{DESTINATION, TEMPLATE};
use grpc::options::{ADDRESS, GRPC, HEADERS};

/// As in syslog-ng: below what servers of gRPC take in one message.
const BATCH_BYTES: Preset = Preset::Int(4_000_000);

pub static OPENTELEMETRY: Component = Component {
    context: Context::Destination,
    name: "opentelemetry",
    aliases: &[],
    positional: &[],
    groups: &[&ADDRESS, &GRPC, &HEADERS, &BATCHES, &TEMPLATE, &DESTINATION],
    own: &[],
    presets: &[("batch-bytes", BATCH_BYTES), ("url", Preset::Text("localhost:4317"))],
    not_yet: &[],
    summary: "Sends messages as log records to a collector of OpenTelemetry, over gRPC (OTLP). A message counts as delivered when the \
              collector has answered for its batch; what it refuses is a dead letter with its words. What came in over OpenTelemetry goes \
              on as it is: logs, metrics and traces. See docs/opentelemetry.md.",
    example: "opentelemetry(url(\"collector.example.com:4317\") auth(tls(ca-file(\"/etc/ssl/certs/ca-certificates.crt\"))))",
    cost: Some(Cost::elsewhere("Copying each message into a record, and that into the request.")),
};

pub static SYSLOG_NG_OTLP: Component = Component {
    context: Context::Destination,
    name: "syslog-ng-otlp",
    aliases: &["axosyslog-otlp"],
    positional: &[],
    groups: &[&ADDRESS, &GRPC, &HEADERS, &BATCHES, &TEMPLATE, &DESTINATION],
    own: &[],
    presets: &[("batch-bytes", BATCH_BYTES), ("url", Preset::Text("localhost:4317"))],
    not_yet: &[],
    summary: "Sends messages with all their name-value pairs, types and tags to another penstock, syslog-ng or AxoSyslog, over OpenTelemetry's \
              protocol: the source syslog-ng-otlp() there has them as they were here. A message counts as delivered when the other side \
              has answered for its batch. See docs/opentelemetry.md.",
    example: "syslog-ng-otlp(url(\"relay.example.com:4317\") auth(tls(ca-file(\"/etc/ssl/certs/ca-certificates.crt\"))))",
    cost: Some(Cost::elsewhere(
        "All name-value pairs of each message, copied twice. What is upstream makes all values.",
    )),
};
