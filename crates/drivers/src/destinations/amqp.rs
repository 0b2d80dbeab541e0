//! `amqp()`: messages published to an exchange of RabbitMQ or another AMQP 0-9-1 server, each confirmed.

use amqp_client::{AmqpSession, Exchange, Login, Plan};
use conf_schema::{Component, Context, Cost, Kind, OptionSpec as Opt, Preset, Settings, Word};
use delivery::batching::Batching;
use delivery::writer::{Fields, Writer};
use delivery::{disk_buffer, writing};
use diag::{Diagnostics, Reported};
use dialogue::{SERVER, Where, dial};
use driver_options::Reading;
use driver_options::batch_groups::BATCHES;
use driver_options::output_groups::{DESTINATION, TEMPLATE};
use driver_options::pairs::{PAIRS, read_or_usual};
use driver_options::tls_groups::SECURE_CLIENT;
use engine::driver::{BuildContext, DestinationDriver, DestinationPart};
use std::sync::Arc;

pub const PARTS: &[DestinationPart] = &[DestinationPart::new(&AMQP, build)];

const WAYS: &[Word] = &[
    Word::new("plain", "By name and password."),
    Word::new("external", "By the certificate that `tls()` shows."),
];

const OWN: &[Opt] = &[
    Opt::new("host", Kind::Text, Preset::Text("127.0.0.1"), "The name or address of the server."),
    Opt::new("port", Kind::Port, Preset::Int(5672), "The server's port; with TLS it is usually 5671."),
    Opt::new("vhost", Kind::Text, Preset::Text("/"), "The virtual host."),
    Opt::new("exchange", Kind::Text, Preset::Text("syslog"), "The exchange that messages are published to."),
    Opt::new(
        "exchange-declare",
        Kind::Bool,
        Preset::Bool(false),
        "Make the exchange where it is not there, one that does not outlive the server.",
    ),
    Opt::new(
        "exchange-type",
        Kind::Text,
        Preset::Text("fanout"),
        "Its kind, when it is made: `fanout`, `direct`, `topic`, `headers`.",
    ),
    Opt::new(
        "routing-key",
        Kind::Template,
        Preset::Described("empty"),
        "The routing key; one that is longer than 255 bytes makes a dead letter.",
    ),
    Opt::new("body", Kind::Template, Preset::Described("empty"), "The body of each message."),
    Opt::new(
        "persistent",
        Kind::Bool,
        Preset::Bool(true),
        "The server keeps messages on its disk, in queues that outlive it.",
    ),
    Opt::new("auth-method", Kind::Choice(WAYS), Preset::Text("plain"), "How to log in."),
    Opt::new("username", Kind::Text, Preset::Text("guest"), "The name of the login."),
    Opt::new("password", Kind::Text, Preset::Text("guest"), "Its password.").sample("secret"),
    Opt::new(
        "max-channel",
        Kind::Int { min: 0, max: 65535 },
        Preset::Int(0),
        "The most channels; one is used. 0 is the server's limit.",
    ),
    Opt::new(
        "frame-size",
        Kind::Int { min: 0, max: 131_072 },
        Preset::Int(0),
        "The most bytes of a frame; larger bodies go in several. 0 is the server's limit, at most 128 KiB.",
    ),
    Opt::new(
        "heartbeat",
        Kind::Int { min: 0, max: 3600 },
        Preset::Int(0),
        "Seconds after which a side that says nothing counts as gone; 0 is never.",
    ),
];

static AMQP: Component = Component {
    context: Context::Destination,
    name: "amqp",
    aliases: &[],
    positional: &[],
    groups: &[&PAIRS, &BATCHES, &SERVER, &TEMPLATE, &DESTINATION, &SECURE_CLIENT],
    own: OWN,
    presets: &[("batch-lines", Preset::Int(LINES as i64))],
    not_yet: &[],
    summary: "Publishes each message to an exchange of RabbitMQ, or another server of AMQP 0-9-1, with its values as headers. A message counts \
              as delivered when the server has confirmed it; one that no queue gets is a dead letter, and the others of its batch are \
              delivered. A wrong password and an exchange that is not there let messages wait. See docs/amqp.md.",
    example: "amqp(host(\"mq.example.com\") exchange(\"logs\") exchange-type(\"topic\") routing-key(\"$PROGRAM\") body(\"$ISODATE $HOST $MSG\") \
              username(\"log\") password(\"secret\"))",
    cost: Some(Cost::elsewhere("Each value copied with its name, and once more as a header.")),
};

/// Messages of a batch: their confirmations are small, and come together.
const LINES: usize = 1000;
/// Batches on the way; the session has room for so many.
const AWAY: usize = 4;

fn build(
    s: &Settings,
    cx: &BuildContext<'_>,
    diags: &mut Diagnostics,
) -> Result<DestinationDriver, Reported> {
    let options = writing::template_options(s, cx);
    let mut r = Reading { s, templates: &options, cx, code: "D0301", diags };
    let mut batching = Batching::read(&mut r)?;
    let (body, routing_key) = (r.template_or("body", "")?, r.template_or("routing-key", "")?);
    let values = read_or_usual(&[], &mut r)?;
    let keyed = routing_key.literal().is_none();
    let plan = plan(keyed, &mut r)?;
    let dial = Arc::new(dial(s, Where::read(s, r.diags)?, r.diags)?);
    let mut writer = Writer::new(body, cx.identity);
    writer.parts = Some(Fields::with_id(vec![routing_key], vec![values]));
    writer.disk_buffer = disk_buffer::read(s, cx, r.diags)?;
    let address = format!("{},{},{},{}", dial.host, dial.port, plan.vhost, plan.exchange.name);
    let key = writing::key(s, &mut writer, || format!("amqp({address})"));
    batching.limits.answer = Some(dial.answer_max);
    batching.limits.away = AWAY;
    let plan = Arc::new(plan);
    let session = move || AmqpSession::new(Arc::clone(&plan));
    let make = dialogue::sinks(cx.id(), Arc::clone(&dial), session);
    let described = ("amqp", format!("amqp,{address}"));
    let destination = batching.destination(described, writer, writing::limits(s), cx.identity, &make);
    Ok(DestinationDriver { key, destination })
}

fn plan(keyed: bool, r: &mut Reading<'_>) -> Result<Plan, Reported> {
    let s = r.s;
    let text = |name: &str| s.text(name).unwrap_or_default().to_owned();
    let number = |name: &str| s.int(name).and_then(|n| u32::try_from(n).ok()).unwrap_or_default();
    for name in ["vhost", "exchange", "exchange-type"] {
        if text(name).len() > 255 {
            return r.wrong(name, format!("{name}() is longer than 255 bytes"), "AMQP has no longer names");
        }
    }
    let (user, password, kind) = (text("username"), text("password"), text("exchange-type"));
    let login = match s.choice("auth-method") {
        Some("external") => Login::External,
        _ => Login::Plain { user, password },
    };
    if login == Login::External && s.block("tls").is_none() {
        let help = "add `tls(cert-file(\"...\") key-file(\"...\"))`: the certificate says who it is";
        return r.wrong("auth-method", "auth-method(external) needs tls()", help);
    }
    let declared = s.bool("exchange-declare").unwrap_or(false).then_some(kind);
    Ok(Plan {
        login,
        vhost: text("vhost"),
        exchange: Exchange { name: text("exchange"), declared },
        persistent: s.bool("persistent").unwrap_or(true),
        channel_max: number("max-channel") as u16,
        frame_max: number("frame-size"),
        heartbeat: number("heartbeat") as u16,
        keyed,
    })
}
