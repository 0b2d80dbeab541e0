//! The options of the health check: `options { health(...); }`.

use conf_schema::{Group, Kind, OptionSpec as Opt, Preset};

pub static HEALTH: &[&Group] = &[&BOUNDS];

const SECONDS: Kind = Kind::Seconds { min: 0, max: 31_536_000 };

static BOUNDS: Group = Group {
    name: "the health check",
    options: &[
        Opt::new(
            "waits",
            SECONDS,
            Preset::Int(10),
            "Seconds for which a destination may wait. With 0 it may for ever.",
        ),
        Opt::new(
            "held",
            SECONDS,
            Preset::Int(60),
            "Seconds for which a source may be held back, so that nothing of it is read. With 0 it may for ever.",
        ),
        Opt::new(
            "drops",
            Kind::Bool,
            Preset::Bool(true),
            "Whether a destination that drops messages is a complaint: because its queue is full, or at least as many as it delivers.",
        ),
        Opt::new(
            "disk-full-in",
            SECONDS,
            Preset::Int(14_400),
            "A file system that the program writes to is a complaint when it would be full within so many seconds, at the rate of the last ten \
             minutes. With 0 it is none.",
        ),
        Opt::new(
            "disk-free",
            Kind::Int { min: 0, max: 100 },
            Preset::Int(1),
            "A file system that the program writes to is a complaint when less than so many hundredths of it are free.",
        ),
    ],
};
