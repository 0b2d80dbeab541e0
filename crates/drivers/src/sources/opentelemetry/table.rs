//! The options of both sources.

use conf_schema::{Component, Context, Cost, Group, Kind, OptionSpec as Opt, Preset};
use driver_options::socket_groups::{INET, SOCKET, STREAM};
use driver_options::source_groups::SOURCE;
use driver_options::tls_groups::SECURE_SOURCE;
use driver_options::words::IP_PROTOCOLS;

static AUTH: Group = Group {
    name: "proving who one is",
    options: &[
        Opt::new("insecure", Kind::Any, Preset::None, "Nothing is encrypted, as without auth().").sample(""),
        Opt::new("alts", Kind::Any, Preset::None, "Google's own protocol: refused.").sample(""),
    ],
};

static SERVER: Group = Group {
    name: "calls",
    options: &[
        Opt::new("ip", Kind::Text, Preset::Described("all addresses"), "The address to listen on.")
            .alias(&["localip"])
            .sample("127.0.0.1"),
        Opt::new(
            "port",
            Kind::Port,
            Preset::Int(4317),
            "The port to listen on, as a number or a service name. 0 takes any free one.",
        )
        .alias(&["localport"]),
        Opt::new(
            "ip-protocol",
            Kind::Choice(IP_PROTOCOLS),
            Preset::Text("4"),
            "With 6 and no ip(), IPv4 peers are received too.",
        ),
        Opt::new(
            "auth",
            Kind::Block(&[&AUTH, &SECURE_SOURCE]),
            Preset::None,
            "`auth(tls(key-file(\"k.pem\") cert-file(\"c.pem\") ca-file(\"ca.pem\")))` encrypts, with all options of tls(). Without it, or with \
             `auth(insecure())`, nothing is encrypted.",
        )
        .sample("insecure()"),
        Opt::new(
            "concurrent-requests",
            Kind::Int { min: 2, max: 10_000 },
            Preset::Int(2),
            "For each of workers(): requests that are received at the same time; further ones wait, three seconds at most, then their clients are \
             asked to come again. Those that wait for destinations do not count.",
        ),
        Opt::new(
            "workers",
            Kind::Int { min: 1, max: 256 },
            Preset::Int(1),
            "Multiplies concurrent-requests(). All cores are used anyway.",
        ),
        Opt::new(
            "channel-args",
            Kind::Pairs,
            Preset::None,
            "Arguments of grpc by its names. Known is `\"grpc.max_receive_message_length\" => BYTES`, the largest message that is taken (4 MiB).",
        )
        .collects()
        .sample("\"grpc.max_receive_message_length\" => 4194304"),
        Opt::no_effect("log-fetch-limit", "a request is one piece"),
    ],
};

const KEEP_HOSTNAME: (&str, Preset) = ("keep-hostname", Preset::Bool(true));
const MAX_CONNECTIONS: (&str, Preset) = ("max-connections", Preset::Int(1000));

pub static OPENTELEMETRY: Component = Component {
    context: Context::Source,
    name: "opentelemetry",
    aliases: &[],
    positional: &[],
    groups: &[&SERVER, &SOURCE, &STREAM, &SOCKET, &INET],
    own: &[],
    presets: &[KEEP_HOSTNAME, MAX_CONNECTIONS],
    not_yet: &[],
    summary: "Receives logs, metrics and traces over OpenTelemetry's protocol (OTLP over gRPC). Each is a message that holds the record as it \
              came, for opentelemetry() destinations; the parser opentelemetry() takes it apart. A call is answered when everything made \
              from it was delivered, so that the client keeps what did not arrive; use flags(flow-control) in the log paths. See \
              docs/opentelemetry.md.",
    example: "opentelemetry(port(4317) auth(tls(key-file(\"/etc/penstock/key.pem\") cert-file(\"/etc/penstock/cert.pem\") peer-verify(no))))",
    cost: Some(Cost::elsewhere("A record is found, not taken apart; a call is answered with one batch.")),
};

pub static SYSLOG_NG_OTLP: Component = Component {
    context: Context::Source,
    name: "syslog-ng-otlp",
    aliases: &["axosyslog-otlp"],
    positional: &[],
    groups: &[&SERVER, &SOURCE, &STREAM, &SOCKET, &INET],
    own: &[],
    presets: &[KEEP_HOSTNAME, MAX_CONNECTIONS],
    not_yet: &[],
    summary: "Receives messages that another penstock, syslog-ng or AxoSyslog sends with its destination of this name: with their name-value \
              pairs, types, tags, priority and times, as they were there. Other records are received as opentelemetry() does. See \
              docs/opentelemetry.md.",
    example: "syslog-ng-otlp(port(4317))",
    cost: Some(Cost::elsewhere("Each pair that is read on the way is found by its name.")),
};
