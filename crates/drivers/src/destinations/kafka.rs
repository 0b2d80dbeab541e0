//! `kafka()`: messages to topics of a Kafka cluster, as record batches written straight from the queue, each
//! batch once.

mod client;
mod parts;
mod transacting;

use client::KafkaClient;
use conf_schema::{Component, Context, Cost, Kind, OptionSpec as Opt, Preset, Settings};
use delivery::single::{MakeSink, SingleDestination};
use delivery::writer::{Envelope, Writer};
use delivery::{disk_buffer, writing};
use diag::{Diagnostic, Diagnostics};
use driver_options::INT_MAX;
use driver_options::output_groups::{DESTINATION, TEMPLATE};
use driver_options::templates::compile;
use driver_options::tls_groups::SECURE_DESTINATION;
use engine::driver::{BuildContext, DestinationDriver, DestinationPart};
use flight::{FlightSink, Limits};
use kafka::{IN_FLIGHT_MAX, RECORD_EXTRA_BYTES};
use kafka_client::{Properties, Role, Server};
use parts::{RecordParts, TopicTemplate};
use std::sync::Arc;
use std::time::Duration;
use template::TemplateOptions;

pub const PARTS: &[DestinationPart] =
    &[DestinationPart::new(&KAFKA, |s, cx, d| build(s, cx, d).ok_or(diag::Reported))];

const ALL_ACKNOWLEDGED: &str = "a message counts as delivered when the brokers have acknowledged it; until then it waits in the queue of the destination";

const OWN: &[Opt] = &[
    Opt::new(
        "bootstrap-servers",
        Kind::Text,
        Preset::None,
        "Brokers that are asked for the others, `host:port` with commas between; the port is 9092 when it is not given.",
    )
    .alias(&["kafka-bootstrap-servers"])
    .sample("\"kafka1:9092,kafka2:9092\""),
    Opt::new(
        "topic",
        Kind::Template,
        Preset::None,
        "The topic, as a template. A text that is no name of a topic (letters, digits, `-._`, 249 at most) goes to fallback-topic().",
    )
    .sample("\"logs\""),
    Opt::new(
        "fallback-topic",
        Kind::Text,
        Preset::None,
        "Where messages go for which topic() gives no name of a topic. Needed when topic() is a template.",
    )
    .sample("\"logs\""),
    Opt::new(
        "key",
        Kind::Template,
        Preset::None,
        "The key of each message, as a template. Messages with the same key go to the same partition, in order; an empty key is none.",
    ),
    Opt::new(
        "message",
        Kind::Template,
        Preset::Described("`$ISODATE $HOST $MSGHDR$MSG`"),
        "The value of each message, as a template.",
    )
    .alias(&["template"]),
    Opt::new(
        "headers",
        Kind::Pairs,
        Preset::None,
        "Headers of each message, `\"name\" => \"template\"`. Only in penstock.",
    )
    .collects(),
    Opt::new(
        "config",
        Kind::Pairs,
        Preset::None,
        "Properties by librdkafka's names, `config(\"compression.codec\" => \"zstd\")`: docs/kafka.md lists them. One that is not known is an \
         error.",
    )
    .alias(&["properties"])
    .collects()
    .sample("\"compression.codec\" => \"lz4\""),
    Opt::new(
        "batch-lines",
        Kind::Int { min: 0, max: INT_MAX },
        Preset::Int(0),
        "The most messages of a batch; 0 sets no limit but bytes (`batch.size`, a million unless config() says otherwise).",
    ),
    Opt::new(
        "batch-timeout",
        Kind::Int { min: -1, max: INT_MAX },
        Preset::Int(-1),
        "Milliseconds that a batch which is not full waits for more messages; -1: it goes as soon as a broker can take it.",
    ),
    Opt::new(
        "batch-idle-timeout",
        Kind::Int { min: -1, max: INT_MAX },
        Preset::Int(-1),
        "Milliseconds that a batch waits for more after its last message: with batch-timeout() it goes when the first of both is over.",
    ),
    Opt::new(
        "retries",
        Kind::Int { min: 1, max: INT_MAX },
        Preset::Int(3),
        "Failures of the same batch that only sending less at a time can cure, after which it is halved.",
    ),
    Opt::new(
        "time-reopen",
        Kind::Seconds { min: 0, max: 1 << 30 },
        Preset::Global("time-reopen"),
        "The longest pause between two attempts while no broker can be reached, or while something has to be done first.",
    ),
    Opt::new(
        "sync-send",
        Kind::Bool,
        Preset::Bool(false),
        "Each batch is a transaction. With disk-buffer(reliable(yes)) the position in the queue travels in it: nothing comes twice for those \
         who read what is committed.",
    ),
    Opt::no_effect("flush-timeout-on-shutdown", ALL_ACKNOWLEDGED),
    Opt::no_effect("flush-timeout-on-reload", ALL_ACKNOWLEDGED),
    Opt::no_effect("poll-timeout", "answers are heard as they come"),
    Opt::no_effect("kafka-logging", "the log of penstock has it"),
    Opt::no_effect("workers", "several requests are on the way to each broker at once"),
];

static KAFKA: Component = Component {
    context: Context::Destination,
    name: "kafka",
    aliases: &["kafka-c"],
    positional: &[],
    groups: &[&TEMPLATE, &DESTINATION, &SECURE_DESTINATION],
    own: OWN,
    presets: &[],
    not_yet: &[],
    summary: "Sends messages to topics of Apache Kafka (2.1 or later) and what speaks its protocol. A message counts as delivered when the \
              brokers have acknowledged it. Batches carry numbers (the idempotent producer), so that brokers write each once and in order \
              whatever connections do; only a collector that is killed may send again what it had on the way.",
    example: "kafka(bootstrap-servers(\"kafka1:9092,kafka2:9092\") topic(\"logs\") key(\"$HOST\") config(\"compression.codec\" => \"zstd\"))",
    cost: Some(Cost::bench("Copying each message into its batch, and a checksum of it.", "deliver-kafka")),
};

/// The layout of messages when message() is not given.
const MESSAGE: &str = "$ISODATE $HOST $MSGHDR$MSG";

pub fn build(s: &Settings, cx: &BuildContext<'_>, diags: &mut Diagnostics) -> Option<DestinationDriver> {
    let properties = Properties::read(Role::Producer, s, diags)?;
    let options = writing::template_options(s, cx);
    let (servers, listed) = kafka_client::servers(s, &properties, diags)?;
    let (topic, by_message) = topic(s, cx, &options, diags)?;
    let parts = parts(s, cx, &options, by_message, diags)?;
    let mut writer = writer(s, cx, &options, diags)?;
    let key = writing::key(s, &mut writer, || format!("kafka-c({topic})"));
    let otherwise = || format!("{key}-{:08x}", cx.identity.host_id);
    let wish = transacting::Wish::read(s, &properties, otherwise, diags).ok()?;
    let keeps = wish.as_ref().and_then(|wish| wish.keep(&writer, &topic));
    let enveloped = parts.is_needed();
    writer.parts = enveloped.then(|| Arc::new(parts) as _);
    (writer.envelope, writer.kin) = (Envelope::Text, RecordParts::KIN);
    let dial = Arc::new(kafka_client::dial(s, &properties, diags)?);
    let mut sends = sends(&properties, topic.clone().into_bytes(), enveloped);
    sends.transaction = wish.as_ref().map(|wish| Arc::clone(&wish.id));
    let mut limits = limits(s, &properties);
    (limits.numbered, limits.knows_again) = (keeps.is_some(), keeps.is_some());
    let instance = format!("kafka,{servers},{topic}");
    let servers: Arc<[Server]> = listed.into();
    let name = key.clone();
    let make: MakeSink = Box::new(move |place| {
        let (id, counters) = (place.id, Arc::clone(&place.counters));
        let sends = (sends.clone(), wish.as_ref().map(transacting::Wish::plan));
        let client = KafkaClient::new(place, Arc::clone(&dial), Arc::clone(&servers), sends);
        Box::new(FlightSink::new(client, limits.clone(), name.clone(), id, &counters))
    });
    let mut destination = SingleDestination::new(("kafka", instance), writer, writing::limits(s), true, make);
    destination.prepare = keeps;
    Some(DestinationDriver { key, destination: Arc::new(destination) })
}

/// The topic of all messages, or the template and the topic of those for which it gives none.
fn topic(
    s: &Settings,
    cx: &BuildContext<'_>,
    options: &TemplateOptions,
    diags: &mut Diagnostics,
) -> Option<(String, Option<TopicTemplate>)> {
    let Some(text) = s.template("topic") else {
        let finding = Diagnostic::error("D0162", "kafka() does not say which topic", s.call_span()?);
        diags.push(finding.help("add `topic(\"name\")`"));
        return None;
    };
    let template = compile(&text.text, text.span, options, cx, diags).ok()?;
    let is_name = |name: &[u8]| kafka::is_topic_name(name);
    let fallback = s.text("fallback-topic").map(str::to_owned);
    if let Some(fallback) = fallback.as_ref().filter(|name| !is_name(name.as_bytes())) {
        let text = format!("`{fallback}` is no name of a topic");
        diags.push(Diagnostic::error("D0162", text, s.span("fallback-topic")?).help(NAME_HELP));
        return None;
    }
    let literal = template.literal().map(|text| String::from_utf8_lossy(text).into_owned());
    match (literal, fallback) {
        (Some(name), _) if is_name(name.as_bytes()) => Some((name, None)),
        (Some(name), _) => {
            let finding = Diagnostic::error("D0162", format!("`{name}` is no name of a topic"), text.span);
            diags.push(finding.help(NAME_HELP));
            None
        }
        (None, Some(fallback)) => Some((fallback.clone(), Some(TopicTemplate { template, fallback }))),
        (None, None) => {
            let text_of = "topic() is a template, and there is no fallback-topic() for texts that are no name of a topic";
            diags.push(Diagnostic::error("D0162", text_of, text.span).help("add `fallback-topic(\"name\")`"));
            None
        }
    }
}

const NAME_HELP: &str = "letters, digits, `-`, `.` and `_`, 249 at most";

fn parts(
    s: &Settings,
    cx: &BuildContext<'_>,
    options: &TemplateOptions,
    topic: Option<TopicTemplate>,
    diags: &mut Diagnostics,
) -> Option<RecordParts> {
    let key = match s.template("key") {
        Some(text) => Some(compile(&text.text, text.span, options, cx, diags).ok()?),
        None => None,
    };
    let mut headers = Vec::new();
    for pair in s.pairs("headers") {
        let value = compile(&pair.value.text, pair.value.span, options, cx, diags).ok()?;
        headers.push((pair.key.text.clone(), value));
    }
    Some(RecordParts::new(topic, key, headers))
}

fn writer(
    s: &Settings,
    cx: &BuildContext<'_>,
    options: &TemplateOptions,
    diags: &mut Diagnostics,
) -> Option<Writer> {
    let template = match s.template("message") {
        Some(text) => compile(&text.text, text.span, options, cx, diags).ok()?,
        None => compile(MESSAGE, s.call_span()?, options, cx, diags).ok()?,
    };
    let mut writer = Writer::new(template, cx.identity);
    writer.disk_buffer = disk_buffer::read(s, cx, diags).ok()?;
    Some(writer)
}

fn sends(p: &Properties, topic: Vec<u8>, enveloped: bool) -> kafka::Options {
    let numbered = p.is_numbered();
    kafka::Options {
        topic,
        enveloped,
        partitioner: p.partitioner,
        compression: p.compression(),
        batch_bytes: p.batch_bytes.min(p.message_bytes),
        acks: p.acks,
        numbered,
        in_flight: if numbered { p.in_flight.min(IN_FLIGHT_MAX) } else { p.in_flight },
        timeout_ms: p.request_timeout.as_millis() as i32,
        makes_topics: p.makes_topics,
        refresh: p.refresh,
        transaction: None,
    }
}

fn limits(s: &Settings, p: &Properties) -> Limits {
    let lines = s.int("batch-lines").filter(|n| *n > 0).map_or(p.batch_lines, |n| n as usize);
    let ms = |name| s.int(name).and_then(|ms| u64::try_from(ms).ok()).map(Duration::from_millis);
    let timeout = ms("batch-timeout");
    Limits {
        lines,
        bytes: p.batch_bytes.min(p.message_bytes).saturating_sub(kafka::BATCH_HEAD_BYTES).max(1),
        extra: RECORD_EXTRA_BYTES,
        timeout: timeout.or(p.linger).filter(|timeout| !timeout.is_zero()),
        idle: ms("batch-idle-timeout").filter(|idle| !idle.is_zero()),
        // The client says how many there may be.
        away: usize::MAX,
        retries: s.int("retries").map_or(3, |n| n.clamp(1, i64::from(u32::MAX)) as u32),
        time_reopen: writing::time_reopen(s),
        throttle: writing::throttle(s),
        answer: Some(p.socket_timeout),
        keyed: false,
        numbered: false,
        knows_again: false,
    }
}
