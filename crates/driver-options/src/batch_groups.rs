//! Options of destinations that send batches and get answers.

use super::{INT_MAX, SECONDS_MAX};
use conf_schema::{Group, Kind, OptionSpec as Opt, Preset};

/// Outlets of one destination: each has its connections and its queue.
const WORKERS_MAX: i64 = 256;
const BATCH_BYTES_MAX: u64 = 1 << 30;

pub static BATCHES: Group = Group {
    name: "batches",
    options: &[
        Opt::new(
            "batch-lines",
            Kind::Int { min: -1, max: INT_MAX },
            Preset::Int(0),
            "The most messages of a batch. Without this and `batch-bytes()` each message goes alone.",
        )
        .old(&["flush-lines"]),
        Opt::new(
            "batch-bytes",
            Kind::Size { min: 0, max: BATCH_BYTES_MAX },
            Preset::Int(0),
            "The most bytes of messages in a batch; 0 sets no limit but 16 MiB. A message that is larger goes alone.",
        )
        .old(&["flush-bytes"]),
        Opt::new(
            "batch-timeout",
            Kind::Int { min: -1, max: INT_MAX },
            Preset::Int(-1),
            "Milliseconds that a batch waits for more after its first message; without it a batch goes as soon as the one before it is \
             answered.",
        )
        .old(&["flush-timeout"]),
        Opt::new(
            "batch-idle-timeout",
            Kind::Int { min: -1, max: INT_MAX },
            Preset::Int(-1),
            "Milliseconds that a batch waits for more after its last message: with `batch-timeout()` it goes when the first of both is over.",
        ),
        Opt::new(
            "retries",
            Kind::Int { min: 1, max: INT_MAX },
            Preset::Int(3),
            "After so many failures that may lie in the messages, a batch is halved, and so on: a message that fails alone is a dead \
             letter. A server that is away or busy is no such failure.",
        )
        // The name that it had in sql().
        .old(&["retry-sql-inserts"]),
        Opt::new(
            "workers",
            Kind::Int { min: 1, max: WORKERS_MAX },
            Preset::Int(1),
            "Batches that are on the way at the same time. Each worker has a queue and a connection; messages take turns, and their order \
             is kept only within one, or by `worker-partition-key()`.",
        )
        .alias(&["partitions"]),
        Opt::new(
            "worker-partition-key",
            Kind::Template,
            Preset::None,
            "Messages for which this template is the same go to the same worker, in their order.",
        )
        .alias(&["partition-key"]),
        Opt::new(
            "worker-partition-buckets",
            Kind::Template,
            Preset::Described("1"),
            "How many workers share the messages of one `worker-partition-key()`, in turns: a number, or a template that makes one. Their \
             order is kept only within each.",
        )
        .alias(&["partition-buckets"])
        .sample("\"1\""),
        Opt::new(
            "worker-partition-autoscaling",
            Kind::Bool,
            Preset::Bool(false),
            "How many workers share the messages of one `worker-partition-key()` is seen from the last minute: as large a part of them as \
             the key has of the messages, one at least.",
        )
        .sample("no"),
        Opt::no_effect("worker-partition-autoscaling-wfo", "it is always the last minute that is looked at"),
        Opt::new(
            "time-reopen",
            Kind::Seconds { min: 0, max: SECONDS_MAX },
            Preset::Global("time-reopen"),
            "The longest pause, in seconds, between two attempts while the server is away or takes nothing; the first is a tenth of a \
             second, and each is twice as long as the one before.",
        ),
    ],
};
