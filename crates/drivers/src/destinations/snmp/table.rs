//! The options of `snmp()`.

use conf_schema::{Component, Context, Cost, Kind, OptionSpec as Opt, Preset, Word};
use driver_options::SECONDS_MAX;
use driver_options::batch_groups::BATCHES;
use driver_options::output_groups::{DESTINATION, TEMPLATE};

const VERSIONS: &[Word] = &[
    Word::new("v2c", "With a community, in the clear."),
    Word::new("v3", "With a user: signed with a password, and encrypted with another."),
];

const DIGESTS: &[Word] = &[
    Word::new("sha", "HMAC-SHA-96."),
    Word::new("sha256", "HMAC-192-SHA-256."),
    Word::new("sha384", "HMAC-256-SHA-384."),
    Word::new("sha512", "HMAC-384-SHA-512."),
    Word::not_yet("md5", "it is broken: write `sha`"),
];

const CIPHERS: &[Word] = &[Word::new("aes", "AES-128."), Word::not_yet("des", "it is broken: write `aes`")];

const TRANSPORTS: &[Word] =
    &[Word::new("udp", "Datagrams."), Word::not_yet("tcp", "receivers listen on UDP")];

const OWN: &[Opt] = &[
    Opt::new("version", Kind::Choice(VERSIONS), Preset::Text("v2c"), "The version of SNMP.").sample("v3"),
    Opt::new("host", Kind::Text, Preset::Text("127.0.0.1"), "The name or address of the receiver."),
    Opt::new("port", Kind::Port, Preset::Int(162), "Its port."),
    Opt::new(
        "trap-obj",
        Kind::TextList,
        Preset::None,
        "Which notification it is: snmpTrapOID.0, `Objectid`, and its value.",
    )
    .sample("\"1.3.6.1.6.3.1.1.4.1.0\" \"Objectid\" \"1.3.6.1.4.1.9.9.41.2.0.1\""),
    Opt::new(
        "snmp-obj",
        Kind::TextList,
        Preset::None,
        "An object of each notification: its name in numbers, its type (`Integer`, `Timeticks`, `Octetstring`, `Counter32`, `Counter64`, \
         `Gauge32`, `Ipaddress`, `Objectid`) and its value, which is a template. May be given several times. A message whose value is \
         none of its type is a dead letter.",
    )
    .sample("\"1.3.6.1.4.1.18372.3.1.1.1.1.1.0\" \"Octetstring\" \"$MSG\"")
    .collects(),
    Opt::new(
        "inform",
        Kind::Bool,
        Preset::Bool(false),
        "Send informs, which the receiver answers, in place of traps, which nobody does.",
    ),
    Opt::new("community", Kind::Text, Preset::Text("public"), "The community of version 2c."),
    Opt::new(
        "engine-id",
        Kind::Text,
        Preset::None,
        "Version 3: who we are, 5 to 32 bytes in hexadecimal digits; the receiver knows the user of traps by it. Informs need none.",
    )
    .sample("\"0x8000000001020304\""),
    Opt::new("auth-username", Kind::Text, Preset::None, "Version 3: the user.").sample("\"log\""),
    Opt::new("auth-algorithm", Kind::Choice(DIGESTS), Preset::Text("sha"), "How it is proved who sends."),
    Opt::new("auth-password", Kind::Text, Preset::None, "The user's password for that, 8 bytes at least.").sample("\"secret one\""),
    Opt::new("enc-algorithm", Kind::Choice(CIPHERS), Preset::Text("aes"), "How it is encrypted."),
    Opt::new("enc-password", Kind::Text, Preset::None, "The user's password for that, 8 bytes at least.").sample("\"secret two\""),
    Opt::new("transport", Kind::Choice(TRANSPORTS), Preset::Text("udp"), "How it gets there."),
    Opt::new(
        "timeout",
        Kind::Seconds { min: 0, max: SECONDS_MAX },
        Preset::Int(5),
        "Seconds after which an inform that is not answered is sent again, twice before the receiver counts as away.",
    ),
];

pub static SNMP: Component = Component {
    context: Context::Destination,
    name: "snmp",
    aliases: &[],
    positional: &[],
    groups: &[&BATCHES, &TEMPLATE, &DESTINATION],
    own: OWN,
    presets: &[],
    not_yet: &[],
    summary: "Sends each message as a notification of SNMP. A trap counts as delivered when it is sent, an inform when the receiver has \
              answered it. See docs/snmp.md.",
    example: "snmp(host(\"nms.example.com\") trap-obj(\"1.3.6.1.6.3.1.1.4.1.0\" \"Objectid\" \"1.3.6.1.4.1.9.9.41.2.0.1\") \
              snmp-obj(\"1.3.6.1.4.1.9.9.41.1.2.3.1.5.55\" \"Octetstring\" \"$MSG\"))",
    cost: Some(Cost::elsewhere(
        "As `file()`, and a datagram for each message; with version 3 a digest over it and encryption.",
    )),
};
