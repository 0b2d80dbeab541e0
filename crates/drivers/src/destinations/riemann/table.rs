//! The options of `riemann()`.

use conf_schema::{Component, Context, Cost, Group, Kind, OptionSpec as Opt, Preset, Word};
use driver_options::SECONDS_MAX;
use driver_options::batch_groups::BATCHES;
use driver_options::output_groups::{DESTINATION, TEMPLATE};
use driver_options::tls_groups::SECURE_CLIENT;
use parsers::value_pairs::VALUE_PAIRS;

const TYPES: &[Word] = &[
    Word::new("tcp", "A connection, on which the server answers."),
    Word::new("tls", "The same, encrypted."),
    Word::new("udp", "Datagrams of 16 KiB at most, which nobody answers."),
];

static EVENTS: Group = Group {
    name: "events",
    options: &[
    Opt::new("server", Kind::Text, Preset::Text("127.0.0.1"), "The name or address of the server."),
    Opt::new("port", Kind::Port, Preset::Int(5555), "The server's port."),
    Opt::new("type", Kind::Choice(TYPES), Preset::Text("tcp"), "How events get there.").sample("tls"),
    Opt::new("host", Kind::Template, Preset::Described("`${HOST}`"), "The host of an event."),
    Opt::new("service", Kind::Template, Preset::Described("`${PROGRAM}`"), "Its service."),
    Opt::new("state", Kind::Template, Preset::Described("none"), "Its state: `ok`, `warning`, any word."),
    Opt::new("description", Kind::Template, Preset::Described("none"), "Its description."),
    Opt::new(
        "metric",
        Kind::Template,
        Preset::Described("none"),
        "Its number, whole or decimal. A message whose metric is none is a dead letter; one whose metric is empty is an event without.",
    )
    .sample("int(\"$SEQNUM\")"),
    Opt::new("ttl", Kind::Template, Preset::Described("none"), "Seconds that the event is good for.").sample("\"60\""),
    Opt::new(
        "event-time",
        Kind::TextList,
        Preset::Described("`${UNIXTIME}` seconds"),
        "When it happened, as a template, and what that counts: `seconds` or `microseconds` since 1970.",
    )
    .sample("\"${UNIXTIME}\" seconds"),
    Opt::new("tags", Kind::TextList, Preset::Described("those of the message"), "Its tags, which may be templates.").sample("\"log\""),
    Opt::new(
        "attributes",
        Kind::Block(&[&VALUE_PAIRS]),
        Preset::Described("none"),
        "Values of the message that become attributes, chosen as in `value-pairs()`.",
    )
    .sample("pair(\"name\" \"value\")"),
    Opt::new(
        "timeout",
        Kind::Seconds { min: 0, max: SECONDS_MAX },
        Preset::Int(10),
        "Seconds that the server may take for an answer; then the batch is sent again on another connection.",
    ),
    ],
};

pub static RIEMANN: Component = Component {
    context: Context::Destination,
    name: "riemann",
    aliases: &[],
    positional: &[],
    groups: &[&EVENTS, &BATCHES, &TEMPLATE, &DESTINATION, &SECURE_CLIENT],
    own: &[],
    presets: &[],
    not_yet: &[],
    summary: "Sends messages as events to a Riemann server. Over TCP and TLS a message counts as delivered when the server has answered its \
              batch with `ok`; over UDP when it is sent. A batch that the server refuses again and again is halved until the bad event is \
              alone, which is a dead letter. See docs/riemann.md.",
    example: "riemann(server(\"riemann.example.com\") service(\"${PROGRAM}\") state(\"${LEVEL}\") description(\"${MSG}\") ttl(\"60\") \
              metric(int(\"${SEQNUM}\")) attributes(scope(rfc5424)))",
    cost: Some(Cost::elsewhere("As `file()`, and a copy with its lengths for each field.")),
};
