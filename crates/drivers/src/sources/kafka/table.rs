//! The options of `kafka()`.

use conf_schema::{Component, Context, Cost, Kind, OptionSpec as Opt, Preset, Word};
use driver_options::INT_MAX;
use driver_options::source_groups::{MESSAGE_FORMAT, QUEUE_SOURCE, READER_FLAGS};
use driver_options::tls_groups::SECURE_DESTINATION;

const ASKED: &str =
    "brokers answer when there is something, and are asked again as soon as that is being read";
const CORES: &str = "costly log paths are shared with all idle cores, in order";

const OWN: &[Opt] = &[
    Opt::new(
        "bootstrap-servers",
        Kind::Text,
        Preset::None,
        "Brokers that are asked for the others, `host:port` with commas between; the port is 9092 when it is not given.",
    )
    .alias(&["kafka-bootstrap-servers"])
    .sample("\"kafka1:9092,kafka2:9092\""),
    Opt::new(
        "topic",
        Kind::Pairs,
        Preset::None,
        "Topics and their partitions, as `topic(\"logs\" => \"0,1\" \"more\" => \"-1\")`: -1 is all of them. A name with characters that no \
         topic can have is a regular expression. With an expression or -1 it is a subscription: all partitions are read, those that come \
         later too. Collects.",
    )
    .collects()
    .sample("\"logs\" => \"-1\""),
    Opt::new(
        "strategy-hint",
        Kind::Choice(&[
            Word::new("assign", "Read the partitions that are named."),
            Word::new("subscribe", "Read all partitions of the topics, in a group divided among its members."),
        ]),
        Preset::Text("assign"),
        "What to do where topic() names single partitions.",
    ),
    Opt::new(
        "persist-store",
        Kind::Choice(&[
            Word::new("local", "In the state file; this source reads its topics alone."),
            Word::new("remote", "In the cluster, under `group.id`; those who subscribe in one group divide the partitions among them."),
        ]),
        Preset::Text("local"),
        "Where bookmarks are kept: how far each partition was dealt with.",
    ),
    Opt::new("disable-bookmarks", Kind::Bool, Preset::Bool(false), "Keep no bookmarks."),
    Opt::new(
        "ignore-saved-bookmarks",
        Kind::Bool,
        Preset::Bool(false),
        "Begin as if there were no bookmarks, whenever reading begins: see read-old-records().",
    ),
    Opt::new(
        "store-metadata",
        Kind::Bool,
        Preset::Bool(true),
        "Give each message `.kafka.topic`, `.kafka.partition`, `.kafka.offset`, `.kafka.key`, `.kafka.timestamp` (milliseconds since 1970) \
         and its headers as `.kafka.headers.NAME`. What no log path reads costs nothing.",
    ),
    Opt::new(
        "config",
        Kind::Pairs,
        Preset::None,
        "Properties by librdkafka's names, `config(\"group.id\" => \"edge\")`: docs/kafka.md lists them. One that is not known is an error.",
    )
    .alias(&["properties"])
    .collects()
    .sample("\"isolation.level\" => \"read_committed\""),
    Opt::new(
        "log-fetch-limit",
        Kind::Int { min: 1, max: INT_MAX },
        Preset::Int(10_000),
        "The most messages taken before others have their turn.",
    ),
    Opt::new(
        "time-reopen",
        Kind::Seconds { min: 0, max: 1 << 30 },
        Preset::Global("time-reopen"),
        "The longest pause between two attempts to connect, where `reconnect.backoff.max.ms` is not shorter.",
    ),
    Opt::no_effect("log-fetch-delay", ASKED),
    Opt::no_effect("log-fetch-retry-delay", ASKED),
    Opt::no_effect("log-fetch-queue-full-delay", ASKED),
    Opt::no_effect("poll-timeout", ASKED),
    Opt::no_effect("state-update-timeout", ASKED),
    Opt::no_effect("kafka-logging", "the log of penstock has it"),
    Opt::no_effect("workers", CORES),
    Opt::no_effect("separate-worker-queues", CORES),
    Opt::no_effect("single-worker-queue", CORES),
];

pub static KAFKA: Component = Component {
    context: Context::Source,
    name: "kafka",
    aliases: &[],
    positional: &[],
    groups: &[&READER_FLAGS, &MESSAGE_FORMAT, &QUEUE_SOURCE, &SECURE_DESTINATION],
    own: OWN,
    presets: &[],
    not_yet: &[],
    summary: "Reads messages from topics of Apache Kafka (2.1 or later) and what speaks its protocol, with all its compressions. The value of \
              each is read as a syslog message; `flags(no-parse)` takes it whole. Bookmarks move behind what was dealt with by the \
              destinations, and not before: after a kill reading goes on there. See docs/kafka.md.",
    example: "kafka(bootstrap-servers(\"kafka1:9092\") topic(\"logs\" => \"-1\") persist-store(remote) config(\"group.id\" => \"workers\"))",
    cost: Some(Cost::elsewhere(
        "A copy of each record batch, and a look at the head of each record in it; compressed ones are unpacked.",
    )),
};
