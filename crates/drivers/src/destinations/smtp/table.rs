//! The options of `smtp()`.

use conf_schema::{Component, Context, Cost, Kind, OptionSpec as Opt, Preset};
use driver_options::SECONDS_MAX;
use driver_options::batch_groups::BATCHES;
use driver_options::output_groups::{DESTINATION, TEMPLATE};
use driver_options::tls_groups::SECURE_CLIENT;

const OWN: &[Opt] = &[
    Opt::new("host", Kind::Text, Preset::Text("127.0.0.1"), "The name or address of the mail server.").alias(&["server"]),
    Opt::new("port", Kind::Port, Preset::Int(25), "The server's port; 465 with `tls()` is encrypted from the beginning."),
    Opt::new(
        "from",
        Kind::TextList,
        Preset::None,
        "Whom mails are from: an address, or a name and an address. A word without `@` in front of one that has it is a name.",
    )
    .sample("\"log@example.com\"")
    .collects(),
    Opt::new("sender", Kind::TextList, Preset::Described("from()"), "Who sends them for somebody else.").sample("\"log@example.com\""),
    Opt::new("to", Kind::TextList, Preset::None, "Whom they go to, any number, each as in from().")
        .sample("\"The Admin\" \"admin@example.com\"")
        .collects(),
    Opt::new("cc", Kind::TextList, Preset::None, "Who gets a copy.").sample("\"x@example.com\"").collects(),
    Opt::new("bcc", Kind::TextList, Preset::None, "Who gets a copy that the others do not see.")
        .sample("\"x@example.com\"")
        .collects(),
    Opt::new("reply-to", Kind::TextList, Preset::None, "Whom answers go to.").sample("\"x@example.com\"").collects(),
    Opt::new("subject", Kind::Template, Preset::Described("empty"), "The subject; ends of lines in it become blanks."),
    Opt::new("body", Kind::Template, Preset::Described("empty"), "The text of each mail."),
    Opt::new(
        "header",
        Kind::TextList,
        Preset::None,
        "A header of its own: the name and the value, which is a template. May be given several times.",
    )
    .sample("\"X-Host\" \"$HOST\"")
    .collects(),
    Opt::new("username", Kind::Text, Preset::None, "The name to log in with, where the server wants that."),
    Opt::new("password", Kind::Text, Preset::None, "Its password. Without `tls()` everybody on the way can read it.").sample("secret"),
    Opt::new(
        "starttls",
        Kind::Bool,
        Preset::Described("yes with tls(), but for port 465"),
        "Begin TLS after the greeting. A server that does not offer it gets nothing.",
    )
    .sample("no"),
    Opt::new(
        "timeout",
        Kind::Seconds { min: 0, max: SECONDS_MAX },
        Preset::Int(60),
        "Seconds that the server may take for each answer; then the connection is ended, and what was not answered is sent again on another.",
    ),
];

pub static SMTP: Component = Component {
    context: Context::Destination,
    name: "smtp",
    aliases: &[],
    positional: &[],
    groups: &[&BATCHES, &TEMPLATE, &DESTINATION, &SECURE_CLIENT],
    own: OWN,
    presets: &[],
    not_yet: &[],
    summary: "Sends each message as a mail. It counts as delivered when the server has taken it (250). A mail that the server will never take, \
              or one of whose recipients it refuses, is a dead letter with the server's words; a server that is away or busy, a recipient \
              that can get nothing now, and a wrong password let messages wait. See docs/smtp.md.",
    example: "smtp(host(\"mail.example.com\") port(25) from(\"Log\" \"log@example.com\") to(\"admin@example.com\") subject(\"[$LEVEL] $HOST\") \
              body(\"$ISODATE $HOST $MSGHDR$MSG\\n\"))",
    cost: Some(Cost::elsewhere(
        "A few questions and answers with the server for each mail: hundreds a second, not thousands.",
    )),
};
