//! `google-pubsub-grpc()`: messages to topics of Google Pub/Sub, over gRPC.

use conf_schema::{Component, Context, Cost, Kind, OptionSpec as Opt, Preset, Settings};
use delivery::batching::Batching;
use delivery::writer::{KeyedFields, Writer};
use delivery::{disk_buffer, writing};
use diag::{Diagnostics, Reported};
use driver_options::Reading;
use driver_options::batch_groups::BATCHES;
use driver_options::output_groups::{DESTINATION, TEMPLATE};
use engine::driver::{BuildContext, DestinationDriver, DestinationPart};
use grpc::options::{Calls, GRPC, HEADERS};
use grpc::pubsub::{self, Attributes};
use grpc::serve;
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
    not_yet: &[("proto-var", "write data() and attributes()")],
    summary: "Publishes messages to topics of Google Pub/Sub, over gRPC. A message counts as delivered when the server has given it an id. A \
              topic or a right that is missing holds everything, and the log says so. See docs/pubsub.md.",
    example: "google-pubsub-grpc(service-endpoint(\"localhost:8085\") project(\"logs\") topic(\"all\") data(\"$MSG\") attributes(\"host\" => \"$HOST\"))",
    cost: Some(Cost::elsewhere("Each attribute rendered and copied.")),
};

const CALLS: Calls =
    Calls { address: ("service-endpoint", "pubsub.googleapis.com:443"), headers_from: 2, read: pubsub::read };

fn build(
    s: &Settings,
    cx: &BuildContext<'_>,
    diags: &mut Diagnostics,
) -> Result<DestinationDriver, Reported> {
    let options = writing::template_options(s, cx);
    let mut r = Reading { s, templates: &options, cx, code: "D0250", diags };
    let mut batching = Batching::read(&mut r)?;
    let mut keys = Vec::new();
    for name in ["project", "topic"] {
        let Some(text) = s.template(name) else {
            let text = format!("google-pubsub-grpc() needs {name}()");
            return r.wrong_at(None, text, &format!("add `{name}(\"name\")`"));
        };
        keys.push(r.compile(&text.text, text.span)?);
    }
    let text = |name| s.template(name).map_or("", |text| text.text.as_str());
    let named = format!("{}/{}", text("project"), text("topic"));
    let mut called = grpc::options::read(&CALLS, &mut r)?;
    called.plan.ids = Some(pubsub::ids);
    batching.limits.answer = Some(called.plan.timeout);
    batching.limits.extra = EXTRA_BYTES;
    keys.extend(called.headers);
    let (mut names, mut fields) = (Vec::new(), Vec::new());
    for pair in s.pairs("attributes") {
        names.push(pair.key.text.clone());
        fields.push(r.compile(&pair.value.text, pair.value.span)?);
    }
    let data = r.template_or("data", "$MSG")?;
    let mut writer = Writer::new(data, cx.identity);
    writer.parts = Some(KeyedFields::of(keys, fields));
    writer.disk_buffer = disk_buffer::read(s, cx, r.diags)?;
    let address = called.plan.url.authority.clone();
    let key = writing::key(s, &mut writer, || format!("google-pubsub-grpc({address},{named})"));
    let (plan, attributes) = (Arc::new(called.plan), Arc::new(Attributes(names)));
    let make = guest::sinks(
        cx.id(),
        move |part| pubsub::load(part, &attributes),
        move |jobs| serve(Arc::clone(&plan), jobs),
    );
    let described = ("google-pubsub-grpc", format!("google-pubsub-grpc,{address},{named}"));
    let destination = batching.destination(described, writer, writing::limits(s), cx.identity, &make);
    Ok(DestinationDriver { key, destination })
}

/// Bytes that a message takes in a call beside its own.
const EXTRA_BYTES: usize = 20;
