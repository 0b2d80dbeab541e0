//! The `rltp()` block of destinations with `transport("rltp")`.

use conf_schema::{Group, Kind, OptionSpec as Opt, Preset};

pub const RLTP_DESTINATION: Opt = Opt::new(
    "rltp",
    Kind::Block(RLTP_GROUPS),
    Preset::None,
    "How messages are transferred with `transport(\"rltp\")`: `rltp(connections(4) compress(yes))`.",
);

const RLTP_GROUPS: &[&Group] = &[&RLTP];

/// More than any machine has a use for.
const CONNECTIONS_MAX: i64 = 64;

static RLTP: Group = Group {
    name: "acknowledged transfer",
    options: &[
        Opt::new(
            "connections",
            Kind::Int { min: 1, max: CONNECTIONS_MAX },
            Preset::Int(1),
            "Connections in parallel. What one source statement receives from one address always takes the same one, so its order is \
             kept; log-fifo-size() and marks are those of each. Several help when one core is not enough for compression or TLS, and \
             over long distances, where a connection's rate is bounded by the kernel's buffers.",
        ),
        Opt::new(
            "window",
            Kind::Size { min: 64 << 10, max: 1 << 30 },
            Preset::Described("64 MiB"),
            "Bytes of messages that may be sent before the first of them is acknowledged, on each connection. It has to hold what is \
             sent during one round trip; so much memory may be taken while the receiver is slow.",
        ),
        Opt::new(
            "compress",
            Kind::Bool,
            Preset::Bool(false),
            "Compress batches with Zstandard: ordinary logs take a fifth to a tenth of the bytes, for about as much CPU as everything \
             else here takes together.",
        ),
        Opt::new(
            "compression-level",
            Kind::Int { min: 1, max: 19 },
            Preset::Int(1),
            "From the fastest to the smallest. From 4 on, compression is what takes most of the time.",
        ),
    ],
};
