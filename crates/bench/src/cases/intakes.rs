//! Sources that answer or ask: another penstock brings them what the senders send, in their protocol. What is
//! measured is the one that reads.

use super::aim::Aim;
use super::{Case, Input, OWN, PLAIN, Path, TEN, Window};

/// Who brings the messages, and how they are read. `PORT` is where the measured one listens, `BETWEEN` the
/// port of the server that stands between the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Intake {
    /// The destination of the one in front.
    pub feeder: &'static str,
    /// A server between the two, by its word on this program's command line.
    pub between: Option<&'static str>,
    /// The drivers of the source; one of them listens on `PORT`.
    pub source: &'static str,
}

/// Sources may have more under way than a batch.
const WIDE: Input = Input { window: Some(Window { messages: 200_000, connections: 100 }), ..TEN };

const fn case(name: &'static str, about: &'static str, us: &'static [Aim], intake: Intake) -> Case {
    Case { name, about, input: WIDE, path: Path::Intake(intake), receivers: OWN, aims: us, ..PLAIN }
}

const KAFKA: Intake = Intake {
    feeder: "kafka(bootstrap-servers(\"127.0.0.1:BETWEEN\") topic(\"bench\") message(\"<$PRI>$DATE $HOST $MSGHDR$MSG\"))",
    between: Some("kafka-log"),
    source: "kafka(bootstrap-servers(\"127.0.0.1:BETWEEN\") topic(\"bench\" => \"0\") read-old-records(yes)); \
        network(ip(\"127.0.0.1\") port(PORT));",
};

const OTEL: Intake = Intake {
    feeder: "opentelemetry(url(\"127.0.0.1:PORT\") batch-lines(10000))",
    between: None,
    source: "channel { source { opentelemetry(port(PORT)); }; parser { opentelemetry(); }; };",
};

const HEC: Intake = Intake {
    feeder: "splunk-hec-event(url(\"http://127.0.0.1:PORT\") token(\"T\") workers(1))",
    between: None,
    source: "hec(port(PORT) tokens(\"T\"));",
};

const BULK: Intake = Intake {
    feeder: "elasticsearch-http(url(\"http://127.0.0.1:PORT/_bulk\") index(\"bench\") workers(1) batch-lines(5000))",
    between: None,
    source: "elasticsearch-bulk(port(PORT));",
};

pub(super) const CASES: [Case; 4] = [
    case("kafka-source", "kafka() in, one partition, one file", &[Aim::CpuUs(0.35)], KAFKA),
    case("otel-in", "opentelemetry() in and its parser, one file", &[Aim::CpuUs(1.0)], OTEL),
    case("hec-in", "hec() in: an event of each message, one file", &[], HEC),
    case("bulk-in", "elasticsearch-bulk() in: a document of each message, one file", &[], BULK),
];
