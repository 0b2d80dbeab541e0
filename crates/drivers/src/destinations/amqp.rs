//! `amqp()`: messages published to an exchange of RabbitMQ or another AMQP 0-9-1 server, each confirmed.

use amqp_client::{AmqpSession, Exchange, Login, Plan};
use conf_schema::{Component, Context, Cost, Kind, OptionSpec as Opt, Preset, Settings, Word};
use delivery::batching::{Batching, MakeFlight};
use delivery::writer::{Fields, Writer};
use delivery::{disk_buffer, writing};
use diag::{Diagnostic, Diagnostics};
use dialogue::{Dialogue, SERVER, Where, dial};
use driver_options::batch_groups::BATCHES;
use driver_options::output_groups::{DESTINATION, TEMPLATE};
use driver_options::pairs::{PAIRS, read_or_usual};
use driver_options::templates::compile;
use driver_options::tls_groups::SECURE_CLIENT;
use engine::Sink;
use engine::driver::{BuildContext, DestinationDriver, DestinationPart};
use flight::{FlightSink, Limits};
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

fn build(s: &Settings, cx: &BuildContext<'_>, diags: &mut Diagnostics) -> Option<DestinationDriver> {
    let options = writing::template_options(s, cx);
    let mut batching = Batching::read(s, &options, cx, diags)?;
    let template = |name: &str, diags: &mut Diagnostics| {
        let text = s.template(name).map(|text| text.text.clone()).unwrap_or_default();
        compile(&text, s.span(name)?, &options, cx, diags)
    };
    let (body, routing_key) = (template("body", diags)?, template("routing-key", diags)?);
    let values = read_or_usual(s, &[], &options, cx, diags)?;
    let plan = plan(s, diags)?;
    let dial = Arc::new(dial(s, Where::read(s, diags)?, diags)?);
    let mut writer = Writer::new(body, cx.identity);
    writer.parts = Some(Fields::with_id(vec![routing_key], vec![values]));
    writer.disk_buffer = disk_buffer::read(s, cx, diags).ok()?;
    let address = format!("{},{},{},{}", dial.host, dial.port, plan.vhost, plan.exchange.name);
    let key = writing::key(s, &mut writer, || format!("amqp({address})"));
    batching.limits.answer = Some(dial.answer_max);
    batching.limits.away = AWAY;
    let (id, plan) = (cx.id(), Arc::new(plan));
    let make: MakeFlight = Arc::new(move |place, limits: Limits| -> Box<dyn Sink> {
        let (outlet, counters) = (place.id, Arc::clone(&place.counters));
        let client = Dialogue::new(place, Arc::clone(&dial), AmqpSession::new(Arc::clone(&plan)));
        Box::new(FlightSink::new(client, limits, id.clone(), outlet, &counters))
    });
    let described = ("amqp", format!("amqp,{address}"));
    let destination = batching.destination(described, writer, writing::limits(s), cx.identity, &make);
    Some(DestinationDriver { key, destination })
}

/// `None` after an error was reported.
fn plan(s: &Settings, diags: &mut Diagnostics) -> Option<Plan> {
    let text = |name: &str| s.text(name).unwrap_or_default().to_owned();
    let number = |name: &str| s.int(name).and_then(|n| u32::try_from(n).ok()).unwrap_or_default();
    for name in ["vhost", "exchange", "exchange-type"] {
        if text(name).len() > 255 {
            let finding =
                Diagnostic::error("D0301", format!("{name}() is longer than 255 bytes"), s.span(name)?);
            diags.push(finding.help("AMQP has no longer names"));
            return None;
        }
    }
    let (user, password, kind) = (text("username"), text("password"), text("exchange-type"));
    let login = match s.choice("auth-method") {
        Some("external") => Login::External,
        _ => Login::Plain { user, password },
    };
    if login == Login::External && s.block("tls").is_none() {
        let finding = Diagnostic::error("D0301", "auth-method(external) needs tls()", s.span("auth-method")?);
        diags.push(
            finding.help("add `tls(cert-file(\"...\") key-file(\"...\"))`: the certificate says who it is"),
        );
        return None;
    }
    let declared = s.bool("exchange-declare").unwrap_or(false).then_some(kind);
    Some(Plan {
        login,
        vhost: text("vhost"),
        exchange: Exchange { name: text("exchange"), declared },
        persistent: s.bool("persistent").unwrap_or(true),
        channel_max: number("max-channel") as u16,
        frame_max: number("frame-size"),
        heartbeat: number("heartbeat") as u16,
    })
}
