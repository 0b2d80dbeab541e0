//! The options of the endpoint for people and scrapers: `options { console(...); }`.

use crate::tls_groups::SECURE_SOURCE;
use conf_schema::{Group, Kind, OptionSpec as Opt, Preset};

/// Where the endpoint is unless it is told otherwise.
pub const CONSOLE_PORT: u16 = 9514;

pub static CONSOLE: &[&Group] = &[&ENDPOINT, &SECURE_SOURCE];

static ENDPOINT: Group = Group {
    name: "the console",
    options: &[
        Opt::new("ip", Kind::Text, Preset::Text("127.0.0.1"), "The address to listen on.")
            .alias(&["localip"])
            .sample("127.0.0.1"),
        Opt::new(
            "port",
            Kind::Port,
            Preset::Int(CONSOLE_PORT as i64),
            "The port to listen on. 0 takes any free one.",
        )
        .alias(&["localport"]),
        Opt::new(
            "hosts",
            Kind::TextList,
            Preset::None,
            "Names under which it is asked for, beside its address and, on this machine, `localhost`. Requests for others are refused: they \
             come from pages of somebody else.",
        )
        .sample("\"logs.example.com\""),
        Opt::new(
            "token",
            Kind::Text,
            Preset::None,
            "What whoever asks has to show, as `Authorization: Bearer TOKEN`; at least 16 characters. Beyond this machine, a token or \
             client certificates and tls() have to be there.",
        )
        .sample("\"0123456789abcdef\""),
        Opt::new(
            "allow-control",
            Kind::Bool,
            Preset::Bool(false),
            "Whether a reload may be asked for here. Without it nothing can be changed.",
        ),
        Opt::new(
            "show-messages",
            Kind::Bool,
            Preset::Described("yes with token()"),
            "Whether messages, the program's log and lines of the configuration are shown, not only numbers and names. Without a token, every \
             user of this machine can ask.",
        ),
        Opt::new(
            "degraded-is-ready",
            Kind::Bool,
            Preset::Bool(true),
            "What `/readyz` says while something waits or drops, which `/healthz` always tells: with `no`, 503.",
        ),
    ],
};
