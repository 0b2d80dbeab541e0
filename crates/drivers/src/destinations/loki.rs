//! `loki()`: messages as entries of Loki's streams, over gRPC.

use conf_schema::{Component, Context, Cost, Kind, OptionSpec as Opt, Preset, Settings, Word};
use delivery::batching::Batching;
use delivery::writer::{KeyedFields, Writer};
use delivery::{disk_buffer, writing};
use diag::{Diagnostics, Reported, Span};
use driver_options::Reading;
use driver_options::batch_groups::BATCHES;
use driver_options::output_groups::{DESTINATION, TEMPLATE};
use engine::driver::{BuildContext, DestinationDriver, DestinationPart};
use grpc::loki::{self, Labels};
use grpc::options::{ADDRESS, Calls, GRPC, HEADERS};
use grpc::{HeaderName, HeaderValueOf, serve};
use std::sync::Arc;
use template::Template;

pub const PARTS: &[DestinationPart] = &[DestinationPart::new(&LOKI, build)];

const TIMESTAMPS: &[Word] = &[
    Word::new("current", "When the message was processed."),
    Word::new("received", "When it was received."),
    Word::new("msg", "Its own time."),
];

const OWN: &[Opt] = &[
    Opt::new(
        "labels",
        Kind::Pairs,
        Preset::Described("`\"app\" => \"$PROGRAM\"` and `\"host\" => \"$HOST\"`"),
        "The labels of the stream that a message goes to, `\"name\" => \"template\"`. Few values are good: each combination is a stream.",
    )
    .collects()
    .sample("\"host\" => \"fixed\""),
    Opt::new("timestamp", Kind::Choice(TIMESTAMPS), Preset::Text("current"), "The time of an entry."),
    Opt::new(
        "template",
        Kind::Template,
        Preset::Described("`$ISODATE $HOST $MSGHDR$MSG`"),
        "The line of an entry. What is not UTF-8 is replaced by U+FFFD.",
    ),
    Opt::new(
        "tenant-id",
        Kind::Template,
        Preset::None,
        "For which tenant (the header `x-scope-orgid`). Messages for which it differs go in different batches.",
    ),
];

static LOKI: Component = Component {
    context: Context::Destination,
    name: "loki",
    aliases: &[],
    positional: &[],
    groups: &[&ADDRESS, &GRPC, &HEADERS, &BATCHES, &TEMPLATE, &DESTINATION],
    own: OWN,
    presets: &[("batch-bytes", Preset::Int(4_000_000)), ("url", Preset::Text("localhost:9095"))],
    not_yet: &[],
    summary: "Pushes messages to Grafana Loki over gRPC, each into the stream of its labels. A message counts as delivered when Loki has \
              answered for its batch; an entry that it refuses (too old, too long) is found by halves and becomes a dead letter with its \
              words: those beside it that are there already Loki recognizes. See docs/loki.md.",
    example: "loki(url(\"loki.example.com:9095\") labels(\"app\" => \"$PROGRAM\" \"host\" => \"$HOST\") timestamp(msg))",
    cost: Some(Cost::elsewhere("Each label rendered and compared with that of the message before.")),
};

const CALLS: Calls = Calls { address: ("url", "localhost:9095"), headers_from: 0, read: loki::read };
const LINE: &str = "$ISODATE $HOST $MSGHDR$MSG";

fn build(
    s: &Settings,
    cx: &BuildContext<'_>,
    diags: &mut Diagnostics,
) -> Result<DestinationDriver, Reported> {
    let options = writing::template_options(s, cx);
    let mut r = Reading { s, templates: &options, cx, code: "D0250", diags };
    let mut batching = Batching::read(&mut r)?;
    let mut called = grpc::options::read(&CALLS, &mut r)?;
    batching.limits.answer = Some(called.plan.timeout);
    let mut keys = called.headers;
    if let Some(text) = s.template("tenant-id") {
        keys.push(r.compile(&text.text, text.span)?);
        called.plan.headers.push((HeaderName::from_static("x-scope-orgid"), HeaderValueOf::Key));
    }
    let (labels, mut fields) = labels(&mut r)?;
    let time = match s.choice("timestamp") {
        Some("received") => "${R_UNIXTIME}${R_USEC}",
        Some("msg") => "${S_UNIXTIME}${S_USEC}",
        _ => "${C_UNIXTIME}${C_USEC}",
    };
    fields.push(r.own_template(time)?);
    let line = r.template_or("template", LINE)?;
    let mut writer = Writer::new(line, cx.identity);
    writer.parts = Some(KeyedFields::of(keys, fields));
    writer.disk_buffer = disk_buffer::read(s, cx, r.diags)?;
    let address = called.plan.url.authority.clone();
    let key = writing::key(s, &mut writer, || format!("loki({address},{})", labels.0.join(",")));
    let (plan, labels) = (Arc::new(called.plan), Arc::new(labels));
    let make = guest::sinks(
        cx.id(),
        move |part| loki::load(part, &labels),
        move |jobs| serve(Arc::clone(&plan), jobs),
    );
    let described = ("loki", format!("loki,{address}"));
    let destination = batching.destination(described, writer, writing::limits(s), cx.identity, &make);
    Ok(DestinationDriver { key, destination })
}

/// The names of labels, and the templates of their values.
fn labels(r: &mut Reading<'_>) -> Result<(Labels, Vec<Arc<Template>>), Reported> {
    let at = r.call_span()?;
    let mut given: Vec<(String, String, Span)> =
        r.s.pairs("labels")
            .iter()
            .map(|pair| (pair.key.text.clone(), pair.value.text.clone(), pair.value.span))
            .collect();
    if given.is_empty() {
        given = [("app", "${PROGRAM}"), ("host", "${HOST}")]
            .map(|(name, text)| (name.to_owned(), text.to_owned(), at))
            .to_vec();
    }
    let (mut names, mut templates) = (Vec::new(), Vec::new());
    for (name, text, span) in given {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if !name.chars().all(is_name) || name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
            let help = "letters, digits and `_`, with a letter at the front";
            return r.wrong_at(Some(span), format!("`{name}` is no name of a label"), help);
        }
        if names.contains(&name) {
            let text = format!("there are two labels `{name}`: Loki refuses what has them");
            return r.wrong_at(Some(span), text, "leave one of them out");
        }
        templates.push(r.compile(&text, span)?);
        names.push(name);
    }
    Ok((Labels(names), templates))
}
