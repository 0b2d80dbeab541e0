//! Drivers and parsers of syslog-ng that this version does not have: refused by name, with what to do
//! instead.

use conf_schema::{Context, INCLUDE_LIBRARY as LIBRARY, Unavailable};

const fn source(name: &'static str, remedy: &'static str) -> Unavailable {
    Unavailable { context: Context::Source, name, remedy }
}

const fn destination(name: &'static str, remedy: &'static str) -> Unavailable {
    Unavailable { context: Context::Destination, name, remedy }
}

const fn parser(name: &'static str, remedy: &'static str) -> Unavailable {
    Unavailable { context: Context::Parser, name, remedy }
}

const NOT_HERE: &str = "there is no such source on Linux";
const SCRIPT: &str = "write it in Python: `python(class(\"module.Class\"))` with a LogDestination whose init(), open(), send(), flush() and close() do the \
                      same (docs/python.md)";
const SCRIPT_PARSER: &str = "write it in Python: `python(class(\"module.Class\"))` with a LogParser whose parse() does the same (docs/python.md)";
const FETCH: &str = "let another program fetch the messages and send them to `network()`";

#[cfg(not(all(
    feature = "http",
    feature = "grpc",
    feature = "arrow-flight",
    feature = "logstore",
    feature = "python",
    feature = "s3",
    feature = "hdfs",
    feature = "smtp",
    feature = "riemann",
    feature = "snmp"
)))]
const NOT_BUILT: &str = "this program was built without it: build it with the feature of its name";

pub const UNAVAILABLE: &[Unavailable] = &[
    source("sun-streams", NOT_HERE),
    source("sun-stream", NOT_HERE),
    source("openbsd", NOT_HERE),
    source("darwin-oslog", NOT_HERE),
    source("darwin-oslog-stream", NOT_HERE),
    source("darwinosl", NOT_HERE),
    #[cfg(not(feature = "kafka"))]
    source("kafka", "this penstock was built without it: build it with `--features kafka`"),
    #[cfg(not(feature = "mqtt"))]
    source("mqtt", "this penstock was built without it: build it with `--features mqtt`"),
    #[cfg(not(feature = "grpc"))]
    source("google-pubsub", NOT_BUILT),
    #[cfg(not(feature = "grpc"))]
    source("opentelemetry", NOT_BUILT),
    #[cfg(not(feature = "grpc"))]
    source("syslog-ng-otlp", NOT_BUILT),
    #[cfg(not(feature = "grpc"))]
    source("axosyslog-otlp", NOT_BUILT),
    source("webhook-json", LIBRARY),
    source("kubernetes", LIBRARY),
    source("hypr-app-audit-trail", FETCH),
    source("hypr-audit-trail", FETCH),
    source("office365", FETCH),
    source("mssql", FETCH),
    source("oracle", FETCH),
    source("sql", FETCH),
    source("windowsevent", "let the Windows agent send syslog to `network()`"),
    #[cfg(not(feature = "python"))]
    source("python", NOT_BUILT),
    #[cfg(not(feature = "python"))]
    source("python-fetcher", NOT_BUILT),
    source("example-random-generator", "write `example-msg-generator()`"),
    source("random-choice-generator", "write `example-msg-generator()`"),
    source("example-diskq-source", "write `example-msg-generator()`"),
    source("default-network-drivers", LIBRARY),
    source("ewmm", LIBRARY),
    source("linux-audit", LIBRARY),
    source("mbox", LIBRARY),
    source("osquery", LIBRARY),
    source("snmptrap", LIBRARY),
    source("nodejs", LIBRARY),
    source("freebsd-audit", NOT_HERE),
    source("sonarr", LIBRARY),
    source("lidarr", LIBRARY),
    source("radarr", LIBRARY),
    source("prowlarr", LIBRARY),
    source("readarr", LIBRARY),
    source("whisparr", LIBRARY),
    source("jellyfin", LIBRARY),
    source("qbittorrent", LIBRARY),
    source("pihole-ftl", LIBRARY),
    #[cfg(not(feature = "http"))]
    destination("http", NOT_BUILT),
    #[cfg(not(feature = "sql"))]
    destination("sql", "this penstock was built without it: build it with `--features sql`"),
    #[cfg(not(feature = "mongodb"))]
    destination("mongodb", "this penstock was built without it: build it with `--features mongodb`"),
    #[cfg(not(feature = "kafka"))]
    destination("kafka", "this penstock was built without it: build it with `--features kafka`"),
    #[cfg(not(feature = "kafka"))]
    destination("kafka-c", "this penstock was built without it: build it with `--features kafka`"),
    #[cfg(not(feature = "amqp"))]
    destination("amqp", "this penstock was built without it: build it with `--features amqp`"),
    #[cfg(not(feature = "redis"))]
    destination("redis", "this penstock was built without it: build it with `--features redis`"),
    #[cfg(not(feature = "mqtt"))]
    destination("mqtt", "this penstock was built without it: build it with `--features mqtt`"),
    #[cfg(not(feature = "stomp"))]
    destination("stomp", "this penstock was built without it: build it with `--features stomp`"),
    #[cfg(not(feature = "smtp"))]
    destination("smtp", NOT_BUILT),
    #[cfg(not(feature = "snmp"))]
    destination("snmp", NOT_BUILT),
    #[cfg(not(feature = "riemann"))]
    destination("riemann", NOT_BUILT),
    #[cfg(not(feature = "s3"))]
    destination("s3", NOT_BUILT),
    #[cfg(not(feature = "hdfs"))]
    destination("hdfs", NOT_BUILT),
    destination("lua", SCRIPT),
    destination("perl", SCRIPT),
    #[cfg(not(feature = "python"))]
    destination("python", NOT_BUILT),
    #[cfg(not(feature = "grpc"))]
    destination("opentelemetry", NOT_BUILT),
    #[cfg(not(feature = "grpc"))]
    destination("syslog-ng-otlp", NOT_BUILT),
    #[cfg(not(feature = "grpc"))]
    destination("axosyslog-otlp", NOT_BUILT),
    #[cfg(not(feature = "grpc"))]
    destination("loki", NOT_BUILT),
    #[cfg(not(feature = "grpc"))]
    destination("bigquery", NOT_BUILT),
    #[cfg(not(feature = "grpc"))]
    destination("clickhouse", NOT_BUILT),
    #[cfg(not(feature = "grpc"))]
    destination("google-pubsub-grpc", NOT_BUILT),
    #[cfg(not(feature = "arrow-flight"))]
    destination("arrow-flight", NOT_BUILT),
    #[cfg(not(feature = "logstore"))]
    destination("logstore", NOT_BUILT),
    destination("sentinel", LIBRARY),
    destination("example-destination", LIBRARY),
    destination("syslog-ng", LIBRARY),
    destination("ewmm", LIBRARY),
    destination("network-load-balancer", LIBRARY),
    destination("osquery", LIBRARY),
    destination("collectd", LIBRARY),
    destination("elasticsearch-http", LIBRARY),
    destination("elasticsearch-datastream", LIBRARY),
    destination("opensearch", LIBRARY),
    destination("openobserve-log", LIBRARY),
    destination("splunk-hec-event", LIBRARY),
    destination("splunk-hec-raw", LIBRARY),
    destination("logscale", LIBRARY),
    destination("sumologic-http", LIBRARY),
    destination("sumologic-syslog", LIBRARY),
    destination("google-pubsub", LIBRARY),
    destination("azure-monitor", LIBRARY),
    destination("azure-monitor-builtin", LIBRARY),
    destination("azure-monitor-custom", LIBRARY),
    destination("slack", LIBRARY),
    destination("telegram", LIBRARY),
    destination("discord", LIBRARY),
    destination("loggly", LIBRARY),
    destination("logmatic", LIBRARY),
    destination("graylog2", LIBRARY),
    destination("graphite", LIBRARY),
    #[cfg(not(feature = "python"))]
    parser("python", NOT_BUILT),
    parser("lua", SCRIPT_PARSER),
    parser("perl", SCRIPT_PARSER),
    parser("apache-accesslog-parser", LIBRARY),
    parser("cisco-parser", LIBRARY),
    parser("checkpoint-parser", LIBRARY),
    parser("fortigate-parser", LIBRARY),
    parser("iptables-parser", LIBRARY),
    parser("mariadb-audit-parser", LIBRARY),
    parser("netskope-parser", LIBRARY),
    parser("panos-parser", LIBRARY),
    parser("postgresql-csvlog-parser", LIBRARY),
    parser("sudo-parser", LIBRARY),
    parser("websense-parser", LIBRARY),
    parser("windows-eventlog-parser", LIBRARY),
    parser("ewmm-parser", LIBRARY),
    parser("kubernetes-metadata-parser", LIBRARY),
    parser("kubernetes-log-parser", LIBRARY),
    parser("extract-solaris-msgid", LIBRARY),
];
