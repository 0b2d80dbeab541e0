//! `parallelize()` in a log path: bounds or keys the sharing of work that happens anyway.

use conf_schema::{Component, Context, Cost, Kind, OptionSpec as Opt, Preset};

/// More workers than any machine has cores.
const WORKERS_MAX: i64 = 4096;

pub static PARALLELIZE: Component = Component {
    context: Context::LogPath,
    name: "parallelize",
    aliases: &[],
    positional: &[],
    groups: &[],
    own: &[
        Opt::new(
            "workers",
            Kind::Int { min: 0, max: WORKERS_MAX },
            Preset::Described("all"),
            "The most workers that take part in the rest of the log path. 0: all.",
        )
        .alias(&["partitions"]),
        Opt::new(
            "worker-partition-key",
            Kind::Template,
            Preset::None,
            "Messages with the same expanded key stay in order among each other.",
        )
        .alias(&["partition-key"]),
        Opt::no_effect("batch-size", "whole batches are shared"),
        Opt::no_effect("log-fetch-limit", "whole batches are shared"),
        Opt::no_effect("worker-partition-buckets", "idle workers take work by themselves"),
        Opt::no_effect("partition-buckets", "idle workers take work by themselves"),
    ],
    presets: &[],
    not_yet: &[],
    summary: "Limits how the rest of a log path is spread over the cores. Without it work is spread whenever a worker \
              is idle, and messages of a connection keep their order.",
    example: "parallelize(workers(4))",
    cost: Some(Cost::bench(
        "A batch that another core works on costs a queue's lock and the other core's caches: it pays where what is done to a message \
               costs more than a microsecond, and is not needed with many connections.",
        "costly-prepared",
    )),
};
