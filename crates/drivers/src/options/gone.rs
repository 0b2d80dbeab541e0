//! Global options of other times, that have no effect here.

use super::globals::STATS;
use conf_schema::{Group, OptionSpec as Opt};

const JIT: &str = "filters and templates are always compiled";

/// What syslog-ng accepts and penstock has no use for.
pub static GONE: Group = Group {
    name: "without effect",
    options: &[
        Opt::no_effect("stats-lifetime", STATS),
        Opt::no_effect(
            "threaded",
            "the program always uses its worker threads; `--worker-threads` says how many",
        ),
        Opt::no_effect("log-iw-size", "it is an option of sources"),
        Opt::no_effect(
            "template-escape",
            "write it in a template, or in the destination whose template it is",
        ),
        Opt::no_effect("log-fetch-limit", "it is an option of sources"),
        Opt::no_effect("flush-timeout", "what is waiting is written as soon as the destination can take it"),
        Opt::no_effect("time-sleep", "a busy connection never keeps the others waiting"),
        Opt::no_effect(
            "use-time-recvd",
            "write `${R_DATE}` and the like where the time of reception is wanted",
        ),
        Opt::no_effect(
            "pass-unix-credentials",
            "it is the option so-passcred() of unix sockets, and on by default",
        ),
        Opt::no_effect("jvm-options", "there is no Java"),
        Opt::no_effect("filterx-jit", JIT),
        Opt::no_effect("filterx-jit-debug-info", JIT),
    ],
};
