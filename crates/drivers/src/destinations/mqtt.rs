//! `mqtt()`: messages published to a server of MQTT 3.1.1 or 5, each judged by the answer to its packet.

use conf_schema::{Component, Context, Cost, Kind, OptionSpec as Opt, Preset, Settings};
use delivery::batching::Batching;
use delivery::writer::{Fields, Writer};
use delivery::{disk_buffer, writing};
use diag::{Diagnostics, Reported};
use dialogue::{Dial, HTTP_PROXY, SERVER, dial};
use driver_options::Reading;
use driver_options::batch_groups::BATCHES;
use driver_options::output_groups::{DESTINATION, TEMPLATE};
use driver_options::tls_groups::SECURE_CLIENT;
use engine::driver::{BuildContext, DestinationDriver, DestinationPart};
use mqtt_client::options::{CLIENT, keep_alive, login, quality, server, version};
use mqtt_client::{MqttSession, Plan, is_topic};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

pub const PARTS: &[DestinationPart] = &[DestinationPart::new(&MQTT, build)];

const TEMPLATE_TEXT: &str = "$ISODATE $HOST $MSGHDR$MSG";
const FALLBACK: &str = "syslog/fallback";

const OWN: &[Opt] = &[
    Opt::new(
        "topic",
        Kind::Template,
        Preset::None,
        "The topic, which may have macros in it. It has to be given.",
    )
    .sample("syslog"),
    Opt::new(
        "fallback-topic",
        Kind::Text,
        Preset::Text(FALLBACK),
        "For messages whose topic is none: empty, or with `#`, `+` or NUL in it.",
    ),
    Opt::new("template", Kind::Template, Preset::Described("`$ISODATE $HOST $MSGHDR$MSG`"), "The message."),
    Opt::new(
        "qos",
        Kind::Int { min: 0, max: 2 },
        Preset::Int(0),
        "Quality of service: with 0 a message counts as delivered when it is sent, with 1 and 2 when the server has answered.",
    ),
    Opt::new(
        "client-id",
        Kind::Text,
        Preset::Described("`syslog-ng-destination-` and the topic, or the persist-name()"),
        "The name of this client at the server; further workers have a number behind it.",
    )
    .sample("collector"),
    Opt::no_effect(
        "cleansession",
        "at a server there is nothing to remember for who only publishes: each connection is new",
    ),
];

static MQTT: Component = Component {
    context: Context::Destination,
    name: "mqtt",
    aliases: &[],
    positional: &[],
    groups: &[&CLIENT, &BATCHES, &SERVER, &HTTP_PROXY, &TEMPLATE, &DESTINATION, &SECURE_CLIENT],
    own: OWN,
    presets: &[("batch-lines", Preset::Int(LINES as i64))],
    not_yet: &[],
    summary: "Publishes each message to a server of MQTT. With qos(1) and qos(2) it counts as delivered when the server has answered its packet; \
              one that a server of MQTT 5 refuses is a dead letter with its reason, and the others of its batch are delivered. With qos(0) it \
              counts as delivered when it is sent. A wrong password lets messages wait. See docs/mqtt.md.",
    example: "mqtt(address(\"tcp://mq.example.com:1883\") topic(\"syslog/$HOST\") template(\"$ISODATE $MSGHDR$MSG\") qos(1))",
    cost: Some(Cost::elsewhere("As `file()`, and two copies with a head.")),
};

/// Messages of a batch.
const LINES: usize = 1000;
/// Batches on the way; the session has room for so many.
const AWAY: usize = 4;

fn build(
    s: &Settings,
    cx: &BuildContext<'_>,
    diags: &mut Diagnostics,
) -> Result<DestinationDriver, Reported> {
    let options = writing::template_options(s, cx);
    let mut r = Reading { s, templates: &options, cx, code: "D0302", diags };
    let mut batching = Batching::read(&mut r)?;
    let Some(named) = s.template("topic") else {
        return r.wrong_at(None, "mqtt() does not say which topic", "add `topic(\"syslog/$HOST\")`");
    };
    let topic = r.compile(&named.text, named.span)?;
    let fixed = topic.literal().map(|text| String::from_utf8_lossy(text).into_owned());
    let fallback = s.text("fallback-topic").unwrap_or(FALLBACK).to_owned();
    for (text, at) in [(fixed.as_deref(), Some(named.span)), (Some(&*fallback), s.span("fallback-topic"))] {
        if text.is_some_and(|text| !is_topic(text.as_bytes())) {
            return r.wrong_at(
                at,
                "nothing can be published to such a topic",
                "leave `#` and `+` out, and name one",
            );
        }
    }
    let body = r.template_or("template", TEMPLATE_TEXT)?;
    let proxy = dialogue::proxy(s, r.diags)?;
    let dial = Arc::new(Dial { proxy, ..dial(s, server(s, r.diags)?, r.diags)? });
    let mut writer = Writer::new(body, cx.identity);
    if fixed.is_none() {
        writer.parts = Some(Fields::of(vec![topic]));
    } else {
        writer.parts = Some(Fields::of(Vec::new()));
    }
    writer.disk_buffer = disk_buffer::read(s, cx, r.diags)?;
    let address = format!("{},{},{}", dial.host, dial.port, named.text);
    let key = writing::key(s, &mut writer, || format!("mqtt({address})"));
    let named_by_place = s.text("persist-name").map(str::to_owned);
    let other = named_by_place.unwrap_or_else(|| format!("syslog-ng-destination-{}", named.text));
    let plan = plan(s, (fixed, fallback), other);
    batching.limits.answer = Some(dial.answer_max);
    batching.limits.away = AWAY;
    let made = AtomicUsize::new(0);
    let session = move || {
        let mut plan = plan.clone();
        // Two of one name would put one another out.
        match made.fetch_add(1, Ordering::Relaxed) {
            0 => {}
            nth => plan.client_id = format!("{}-{nth}", plan.client_id),
        }
        MqttSession::new(Arc::new(plan))
    };
    let make = dialogue::sinks(cx.id(), Arc::clone(&dial), session);
    let described = ("mqtt", format!("mqtt,{address}"));
    let destination = batching.destination(described, writer, writing::limits(s), cx.identity, &make);
    Ok(DestinationDriver { key, destination })
}

fn plan(s: &Settings, (topic, fallback): (Option<String>, String), client_id: String) -> Plan {
    Plan {
        version: version(s),
        client_id: s.text("client-id").map_or(client_id, str::to_owned),
        login: login(s),
        keep_alive: keep_alive(s),
        quality: quality(s),
        topic,
        fallback,
    }
}
