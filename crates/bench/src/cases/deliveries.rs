//! Destinations that are answered, beside a relay: what their batches cost, and waiting for the answers. The
//! servers are on the same machine and do as little as can be done: they read, write down which messages
//! came, and answer.

use super::aim::Aim;
use super::{Case, Input, ONE, OWN, PLAIN, Path, TEN, Window};
use crate::receiver::Receiver;

/// What is sent, and to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// The driver; `PORT` is where the server listens, `DIR` a folder for what waits on disk.
    pub driver: &'static str,
    /// The server, by its word on this program's command line.
    pub server: &'static str,
}

const fn case(name: &'static str, about: &'static str, server: &'static str, driver: &'static str) -> Case {
    Case {
        name,
        about,
        input: TEN,
        path: Path::Delivery(Delivery { driver, server }),
        receivers: OWN,
        ..PLAIN
    }
}

/// Sources may have more under way than a batch: one that waits for more does not hold them back.
const WIDE: Input = Input { window: Some(Window { messages: 200_000, connections: 100 }), ..TEN };

const fn from(input: Input, case: Case) -> Case {
    Case { input, ..case }
}

/// One connection and one worker.
const fn by_one_worker(case: Case) -> Case {
    Case { worker_threads: Some(1), ..from(ONE, case) }
}

const BESIDE: &[Receiver] = &[Receiver::Floor, Receiver::Penstock, Receiver::SyslogNg];

/// The distribution's syslog-ng has a module for it, and takes the same text. Its module for Kafka wants more
/// of a broker than the server here has: `scripts/deliveries --peers` has a real one.
const fn beside(case: Case) -> Case {
    Case { receivers: BESIDE, ..case }
}

const fn with(aims: &'static [Aim], case: Case) -> Case {
    Case { aims, ..case }
}

const KAFKA: &str = "kafka-sink";
const HTTP: &str = "http-sink";
const GRPC: &str = "grpc-sink";
const MONGODB: &str = "mongodb-sink";

macro_rules! kafka {
    ($more:literal) => {
        concat!("kafka(bootstrap-servers(\"127.0.0.1:PORT\") topic(\"bench\") message(\"$DATE $HOST $MSGHDR$MSG\") ", $more, ")")
    };
}

macro_rules! http {
    ($more:literal) => {
        concat!(
            "http(url(\"http://127.0.0.1:PORT/\") body(\"$DATE $HOST $MSGHDR$MSG\") batch-lines(100000) batch-timeout(100) ",
            $more,
            ")"
        )
    };
}

/// Columns that are made of each message.
macro_rules! columns {
    ($driver:literal, $more:literal) => {
        concat!(
            $driver,
            " schema(\"pri\" => \"$PRI\" \"stamp\" => \"$DATE\" \"host\" => \"$HOST\" \"tag\" => \"$MSGHDR\" \"msg\" => \"$MSG\") ",
            $more,
            ")"
        )
    };
}

pub(super) const CASES: [Case; 21] = [
    with(
        &[Aim::CpuUs(0.40)],
        from(
            WIDE,
            beside(case(
                "deliver-http",
                "http() out in requests of 1 MB, each answered",
                HTTP,
                http!("batch-bytes(1MiB)"),
            )),
        ),
    ),
    from(ONE, case("deliver-http-1", "the same, one connection in", HTTP, http!("batch-bytes(1MiB)"))),
    from(WIDE, beside(case("deliver-http-100k", "requests of 100 kB", HTTP, http!("batch-bytes(100KiB)")))),
    with(
        &[Aim::FasterThanCase { case: "deliver-http", times: 0.7 }],
        from(
            WIDE,
            case("deliver-http-disk", "deliver-http with disk-buffer(reliable(yes))", HTTP, HTTP_DISK),
        ),
    ),
    by_one_worker(case(
        "deliver-http-json-1-worker",
        "format-json out, one connection, one worker",
        HTTP,
        HTTP_JSON,
    )),
    with(
        &[Aim::FasterThanCase { case: "deliver-http-json-1-worker", times: 1.5 }],
        from(ONE, case("deliver-http-json-1", "the same by all workers", HTTP, HTTP_JSON)),
    ),
    with(
        &[Aim::CpuUs(0.60)],
        from(WIDE, case("deliver-splunk", "splunk-hec-event(): an event of each message", HTTP, SPLUNK)),
    ),
    with(
        &[Aim::CpuUs(0.80)],
        from(
            WIDE,
            beside(case(
                "deliver-elasticsearch",
                "elasticsearch-http(): format-json of rfc5424, items judged",
                HTTP,
                ELASTICSEARCH,
            )),
        ),
    ),
    with(
        &[Aim::CpuUs(0.50)],
        case("deliver-kafka", "kafka() out, acknowledged by all, each batch written once", KAFKA, kafka!("")),
    ),
    from(ONE, case("deliver-kafka-1", "the same, one connection in", KAFKA, kafka!(""))),
    case("deliver-kafka-key", "the same, each message with a key", KAFKA, kafka!("key(\"$HOST\")")),
    case("deliver-kafka-lz4", "the same, lz4", KAFKA, kafka!("config(\"compression.codec\" => \"lz4\")")),
    case(
        "deliver-kafka-zstd",
        "the same, zstd of level 1",
        KAFKA,
        kafka!("config(\"compression.codec\" => \"zstd\" \"compression.level\" => \"1\")"),
    ),
    with(
        &[Aim::FasterThanCase { case: "deliver-kafka", times: 0.7 }],
        case("deliver-kafka-disk", "deliver-kafka with disk-buffer(reliable(yes))", KAFKA, KAFKA_DISK),
    ),
    by_one_worker(case(
        "deliver-kafka-json-1-worker",
        "format-json out, one connection, one worker",
        KAFKA,
        KAFKA_JSON,
    )),
    with(
        &[Aim::FasterThanCase { case: "deliver-kafka-json-1-worker", times: 1.5 }],
        from(ONE, case("deliver-kafka-json-1", "the same by all workers", KAFKA, KAFKA_JSON)),
    ),
    with(
        &[Aim::CpuUs(1.2)],
        case("deliver-mongodb", "mongodb() out: a document of 5 values of each message", MONGODB, MONGO),
    ),
    with(
        &[Aim::CpuUs(0.70)],
        from(
            WIDE,
            case(
                "deliver-clickhouse",
                "clickhouse() out, 5 columns",
                GRPC,
                columns!(
                    "clickhouse(url(\"127.0.0.1:PORT\") database(\"bench\") table(\"bench\") user(\"bench\")",
                    "batch-lines(100000)"
                ),
            ),
        ),
    ),
    with(
        &[Aim::CpuUs(1.2)],
        from(
            WIDE,
            case(
                "deliver-otlp",
                "opentelemetry() out",
                GRPC,
                "opentelemetry(url(\"127.0.0.1:PORT\") batch-lines(10000))",
            ),
        ),
    ),
    with(&[Aim::CpuUs(0.40)], from(WIDE, case("deliver-s3", "s3() out in objects of 4 MiB", HTTP, S3))),
    beside(case("deliver-redis", "redis() out: a list", "redis-sink", REDIS)),
];

const HTTP_DISK: &str =
    http!("batch-bytes(1MiB) disk-buffer(reliable(yes) capacity-bytes(16GiB) dir(\"DIR\"))");
const KAFKA_DISK: &str = kafka!("disk-buffer(reliable(yes) capacity-bytes(16GiB) dir(\"DIR\"))");
const HTTP_JSON: &str = "http(url(\"http://127.0.0.1:PORT/\") body(\"$(format-json --scope rfc5424)\") delimiter(\"\\n\") \
    batch-lines(100000) batch-bytes(1MiB))";
const KAFKA_JSON: &str = "kafka(bootstrap-servers(\"127.0.0.1:PORT\") topic(\"bench\") message(\"$(format-json --scope rfc5424)\") key(\"$HOST\"))";
const SPLUNK: &str = "splunk-hec-event(url(\"http://127.0.0.1:PORT\") token(\"T\") workers(1))";
const ELASTICSEARCH: &str = "elasticsearch-http(url(\"http://127.0.0.1:PORT/_bulk\") index(\"bench\") type(\"\") workers(1) batch-lines(5000))";
const MONGO: &str = "mongodb(uri(\"mongodb://127.0.0.1:PORT/bench\") value-pairs(pair(\"pri\" int(\"$PRI\")) pair(\"stamp\" \"$DATE\") \
    pair(\"host\" \"$HOST\") pair(\"tag\" \"$MSGHDR\") pair(\"msg\" \"$MSG\")))";
const S3: &str = "s3(url(\"http://127.0.0.1:PORT\") bucket(\"bench\") access-key(\"a\") secret-key(\"s\") object-key(\"log\") \
    template(\"$DATE $HOST $MSGHDR$MSG\\n\") max-object-size(4MiB))";
const REDIS: &str = "redis(port(PORT) command(RPUSH bench \"$DATE $HOST $MSGHDR$MSG\"))";
