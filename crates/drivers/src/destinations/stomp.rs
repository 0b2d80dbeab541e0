//! `stomp()`: messages sent to a destination of a STOMP server, each with its receipt.

use conf_schema::{Component, Context, Cost, Kind, OptionSpec as Opt, Preset, Settings};
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
use stomp_client::{Plan, StompSession};

pub const PARTS: &[DestinationPart] = &[DestinationPart::new(&STOMP, build)];

const OWN: &[Opt] = &[
    Opt::new("host", Kind::Text, Preset::Text("127.0.0.1"), "The name or address of the server."),
    Opt::new("port", Kind::Port, Preset::Int(61613), "The server's port."),
    Opt::new(
        "destination",
        Kind::Text,
        Preset::Text("/topic/syslog"),
        "Where the server puts messages: a queue, a topic.",
    ),
    Opt::new("body", Kind::Template, Preset::Described("empty"), "The body of each message."),
    Opt::new("persistent", Kind::Bool, Preset::Bool(true), "Ask the server to keep messages on its disk."),
    Opt::new(
        "ack",
        Kind::Bool,
        Preset::Bool(false),
        "Ask for a receipt of each message: it counts as delivered when that is there, else when it is sent.",
    ),
    Opt::new("username", Kind::Text, Preset::Text(""), "The name of the login.").sample("me"),
    Opt::new("password", Kind::Text, Preset::Text(""), "Its password.").sample("secret"),
    Opt::new("vhost", Kind::Text, Preset::Text("/"), "The virtual host. Only in penstock."),
];

static STOMP: Component = Component {
    context: Context::Destination,
    name: "stomp",
    aliases: &[],
    positional: &[],
    groups: &[&PAIRS, &BATCHES, &SERVER, &TEMPLATE, &DESTINATION, &SECURE_CLIENT],
    own: OWN,
    presets: &[("batch-lines", Preset::Int(LINES as i64))],
    not_yet: &[],
    summary: "Sends each message to a server of STOMP 1.1 or 1.2, RabbitMQ or ActiveMQ, with its values as headers. With ack(yes) it counts as \
              delivered when the server's receipt is there, else when it is sent. A wrong password and a destination that the server does \
              not know let messages wait. See docs/stomp.md.",
    example: "stomp(host(\"mq.example.com\") destination(\"/queue/logs\") body(\"$ISODATE $HOST $MSG\") ack(yes) \
              username(\"log\") password(\"secret\"))",
    cost: Some(Cost::elsewhere("Each value copied with its name, and once more as a header.")),
};

/// Messages of a batch: their receipts are small, and come as they are made.
const LINES: usize = 1000;
/// Batches on the way; the session has room for so many.
const AWAY: usize = 4;

fn build(
    s: &Settings,
    cx: &BuildContext<'_>,
    diags: &mut Diagnostics,
) -> Result<DestinationDriver, Reported> {
    let options = writing::template_options(s, cx);
    let mut r = Reading { s, templates: &options, cx, code: "D0303", diags };
    let mut batching = Batching::read(&mut r)?;
    let body = r.template_or("body", "")?;
    let values = read_or_usual(&[], &mut r)?;
    let plan = plan(&mut r)?;
    let dial = Arc::new(dial(s, Where::read(s, r.diags)?, r.diags)?);
    let mut writer = Writer::new(body, cx.identity);
    writer.parts = Some(Fields::with_pairs(Vec::new(), vec![values]));
    writer.disk_buffer = disk_buffer::read(s, cx, r.diags)?;
    let address = format!("{},{},{}", dial.host, dial.port, plan.destination);
    let key = writing::key(s, &mut writer, || format!("stomp({address})"));
    batching.limits.answer = Some(dial.answer_max);
    batching.limits.away = AWAY;
    let plan = Arc::new(plan);
    let session = move || StompSession::new(Arc::clone(&plan));
    let make = dialogue::sinks(cx.id(), Arc::clone(&dial), session);
    let described = ("stomp", format!("stomp,{address}"));
    let destination = batching.destination(described, writer, writing::limits(s), cx.identity, &make);
    Ok(DestinationDriver { key, destination })
}

fn plan(r: &mut Reading<'_>) -> Result<Plan, Reported> {
    let s = r.s;
    let text = |name: &str| s.text(name).unwrap_or_default().to_owned();
    for name in ["username", "password", "vhost"] {
        if text(name).contains(['\n', '\r', '\0']) {
            return r.wrong(name, format!("{name}() has an end of line in it"), "STOMP cannot send it");
        }
    }
    Ok(Plan {
        host: text("vhost"),
        user: text("username"),
        password: text("password"),
        destination: text("destination"),
        persistent: s.bool("persistent").unwrap_or(true),
        receipts: s.bool("ack").unwrap_or(false),
    })
}
