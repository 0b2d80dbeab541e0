//! `google-pubsub-grpc()`: messages to topics of Google Pub/Sub, over gRPC.

use conf_schema::{Component, Context, Cost, Kind, OptionSpec as Opt, Preset, Settings};
use delivery::batching::{Batching, MakeFlight};
use delivery::writer::{KeyedFields, Writer};
use delivery::{disk_buffer, writing};
use diag::{Diagnostic, Diagnostics};
use driver_options::batch_groups::BATCHES;
use driver_options::output_groups::{DESTINATION, TEMPLATE};
use driver_options::templates::compile;
use engine::Sink;
use engine::driver::{BuildContext, DestinationDriver, DestinationPart};
use flight::{FlightSink, Limits};
use grpc::options::{Calls, GRPC, HEADERS};
use grpc::pubsub::{self, Attributes};
use grpc::{Load, serve};
use guest::{Line, Seat};
use std::sync::Arc;

pub const PARTS: &[DestinationPart] = &[DestinationPart::new(&PUBSUB, build)];

const OWN: &[Opt] = &[
    Opt::new(
        "project",
        Kind::Template,
        Preset::None,
        "The project of the topic. A template: messages for which it or topic() differs go in different batches.",
    ),
    Opt::new("topic", Kind::Template, Preset::None, "The topic, which has to be there."),
    Opt::new("data", Kind::Template, Preset::Described("`$MSG`"), "The data of a message; any bytes."),
    Opt::new(
        "attributes",
        Kind::Pairs,
        Preset::None,
        "Attributes of messages, `\"name\" => \"template\"`. What is not UTF-8 is replaced by U+FFFD.",
    )
    .collects()
    .sample("\"host\" => \"fixed\""),
    Opt::new(
        "service-endpoint",
        Kind::Text,
        Preset::Text("pubsub.googleapis.com:443"),
        "The server, `host:port`.",
    )
    .alias(&["url"])
    .sample("\"127.0.0.1:9\""),
];

static PUBSUB: Component = Component {
    context: Context::Destination,
    name: "google-pubsub-grpc",
    aliases: &[],
    positional: &[],
    groups: &[&GRPC, &HEADERS, &BATCHES, &TEMPLATE, &DESTINATION],
    own: OWN,
    // What Pub/Sub takes in one call.
    presets: &[("batch-bytes", Preset::Int(9_000_000)), ("batch-lines", Preset::Int(1000))],
    not_yet: &[
        ("cloud-auth", "let a proxy that adds the token stand in front of the server"),
        ("proto-var", "write data() and attributes()"),
    ],
    summary: "Publishes messages to topics of Google Pub/Sub, over gRPC. A message counts as delivered when the server has given it an id. A \
              topic or a right that is missing holds everything, and the log says so. See docs/pubsub.md.",
    example: "google-pubsub-grpc(service-endpoint(\"localhost:8085\") project(\"logs\") topic(\"all\") data(\"$MSG\") attributes(\"host\" => \"$HOST\"))",
    cost: Some(Cost::elsewhere("Each attribute rendered and copied.")),
};

const CALLS: Calls =
    Calls { address: ("service-endpoint", "pubsub.googleapis.com:443"), headers_from: 2, read: pubsub::read };

fn build(s: &Settings, cx: &BuildContext<'_>, diags: &mut Diagnostics) -> Option<DestinationDriver> {
    let options = writing::template_options(s, cx);
    let mut batching = Batching::read(s, &options, cx, diags)?;
    let mut keys = Vec::new();
    for name in ["project", "topic"] {
        let Some(text) = s.template(name) else {
            let text = format!("google-pubsub-grpc() needs {name}()");
            diags.push(
                Diagnostic::error("D0250", text, s.call_span()?).help(format!("add `{name}(\"name\")`")),
            );
            return None;
        };
        keys.push(compile(&text.text, text.span, &options, cx, diags)?);
    }
    let named = format!("{}/{}", s.template("project")?.text, s.template("topic")?.text);
    let called = grpc::options::read(s, &options, &CALLS, cx, diags)?;
    batching.limits.answer = Some(called.plan.timeout);
    batching.limits.extra = EXTRA_BYTES;
    keys.extend(called.headers);
    let (mut names, mut fields) = (Vec::new(), Vec::new());
    for pair in s.pairs("attributes") {
        names.push(pair.key.text.clone());
        fields.push(compile(&pair.value.text, pair.value.span, &options, cx, diags)?);
    }
    let data = match s.template("data") {
        Some(text) => compile(&text.text, text.span, &options, cx, diags)?,
        None => compile("$MSG", s.call_span()?, &options, cx, diags)?,
    };
    let mut writer = Writer::new(data, cx.identity);
    writer.parts = Some(KeyedFields::of(keys, fields));
    writer.disk_buffer = disk_buffer::read(s, cx, diags).ok()?;
    let address = called.plan.url.authority.clone();
    let key = writing::key(s, &mut writer, || format!("google-pubsub-grpc({address},{named})"));
    let (plan, attributes) = (Arc::new(called.plan), Arc::new(Attributes(names)));
    let name = cx.id();
    let make: MakeFlight = Arc::new(move |place, limits: Limits| -> Box<dyn Sink> {
        let seat = Seat { home: place.home.clone(), outlet: place.id };
        let (plan, attributes) = (Arc::clone(&plan), Arc::clone(&attributes));
        let load = move |part: &flight::Part<'_>| pubsub::load(part, &attributes);
        let line: Line<Load> =
            Line::open(seat, &name, limits.away, load, move |jobs| serve(Arc::clone(&plan), jobs));
        Box::new(FlightSink::new(line, limits, name.clone(), place.id, &place.counters))
    });
    let described = ("google-pubsub-grpc", format!("google-pubsub-grpc,{address},{named}"));
    let destination = batching.destination(described, writer, writing::limits(s), cx.identity, &make);
    Some(DestinationDriver { key, destination })
}

/// Bytes that a message takes in a call beside its own.
const EXTRA_BYTES: usize = 20;
