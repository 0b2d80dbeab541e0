//! What was measured, and where: docs/estate.md says of each how.

use control::cli::PlanTarget;

/// A measured figure, with its source.
#[derive(Clone, Copy)]
pub struct Figure {
    pub value: f64,
    pub unit: &'static str,
    pub stands_on: &'static str,
}

/// TCP in, kafka() with a key out, the slowest of its runs.
pub const EDGE: Figure = Figure {
    value: 0.96,
    unit: "us of CPU a message",
    stands_on: "deliver-kafka-key, 0.58 to 0.96 in four runs (docs/estate.md)",
};
pub const TLS: Figure =
    Figure { value: 0.09, unit: "us of CPU a message", stands_on: "0.33 become 0.42 with TLS (docs/tls.md)" };
/// The slowest of its runs, 580,000 messages of 400 bytes a second.
pub const PARTITION: Figure = Figure {
    value: 232.0,
    unit: "MB a second into one partition",
    stands_on: "one broker on two cores, 0.58 to 1.23 million messages of 400 bytes a second (docs/estate.md)",
};
/// The same broker had two cores, and kept one copy.
pub const BROKER: Figure = Figure {
    value: 116.0,
    unit: "MB of one copy a second and core of a broker",
    stands_on: "the same broker, busy with one copy (docs/estate.md)",
};
pub const DISK: Figure = Figure {
    value: 700.0,
    unit: "MB a second that a disk writes or reads",
    stands_on: "700 to 1,100 MB/s with two virtual cores (docs/bench.md, buffer-late)",
};

/// What a target costs whoever writes to it, and itself.
pub struct Store {
    pub name: &'static str,
    /// kafka() in, the target out.
    pub worker: Figure,
    /// CPU of the server; `None` where there is no server of one's own.
    pub server: Option<Figure>,
}

pub fn store(target: PlanTarget) -> Store {
    let worker = |value, stands_on| Figure { value, unit: "us of CPU a message", stands_on };
    let server = |value, stands_on| Some(Figure { value, unit: "us of CPU a message", stands_on });
    match target {
        PlanTarget::Opensearch => Store {
            name: "OpenSearch",
            worker: worker(WORKER_HTTP, "kafka() to opensearch(), 400,000 messages (docs/estate.md)"),
            server: server(130.0, "OpenSearch 3.6, documents of 287 bytes (docs/estate.md)"),
        },
        PlanTarget::Postgresql => Store {
            name: "PostgreSQL",
            worker: worker(
                WORKER_SQL,
                "kafka() to sql(), COPY of five columns, 400,000 messages (docs/estate.md)",
            ),
            server: server(6.0, "COPY of five columns without an index, 3 to 6 (docs/estate.md)"),
        },
        PlanTarget::Clickhouse => Store {
            name: "ClickHouse",
            worker: worker(
                WORKER_HTTP,
                "not measured: that of http() stands for it, whose body is JSON too (docs/estate.md)",
            ),
            server: server(1.48, "JSONEachRow of five columns (docs/estate.md)"),
        },
        PlanTarget::S3 => Store {
            name: "S3",
            worker: worker(
                WORKER_HTTP,
                "not measured with s3(): that of http() stands for it (docs/estate.md)",
            ),
            server: None,
        },
    }
}

/// kafka() to opensearch(): a document of JSON and an action line for each message.
const WORKER_HTTP: f64 = 1.72;
/// kafka() to sql(): five columns.
const WORKER_SQL: f64 = 1.1;
