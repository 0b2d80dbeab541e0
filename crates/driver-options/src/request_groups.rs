//! Options of sources that take requests of HTTP.

use crate::{INT_MAX, SECONDS_MAX};
use conf_schema::{Group, Kind, OptionSpec as Opt, Preset};

pub static REQUESTS: Group = Group {
    name: "requests",
    options: &[
        Opt::new("ip", Kind::Text, Preset::Described("all addresses"), "The address to listen on.")
            .alias(&["localip"])
            .sample("127.0.0.1"),
        Opt::new(
            "port",
            Kind::Port,
            Preset::Described("that of the driver"),
            "The port to listen on. 0 takes any free one.",
        )
        .alias(&["localport"]),
        Opt::new(
            "max-connections",
            Kind::Int { min: 1, max: INT_MAX },
            Preset::Int(256),
            "Connections at one time. More of them wait in the kernel.",
        ),
        Opt::new(
            "max-request-size",
            Kind::Size { min: 1, max: 1 << 29 },
            Preset::Int(32 << 20),
            "Bytes of a request's body, as it comes and unpacked. Larger ones are refused with 413.",
        ),
        Opt::new(
            "answer-timeout",
            Kind::Seconds { min: 0, max: SECONDS_MAX },
            Preset::Int(60),
            "Seconds after which a request whose messages are not dealt with is answered with 503. They are delivered all the same, and come \
             twice if the client sends them again. 0 waits for ever.",
        ),
    ],
};
