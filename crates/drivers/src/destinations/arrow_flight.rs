//! `arrow-flight()`: messages as rows of record batches, put to servers of Apache Arrow Flight.

use conf_schema::{Component, Context, Cost, Kind, OptionSpec as Opt, Preset, Settings};
use delivery::batching::Batching;
use delivery::writer::{KeyedFields, Writer};
use delivery::{disk_buffer, writing};
use diag::{Diagnostics, Reported};
use driver_options::Reading;
use driver_options::batch_groups::BATCHES;
use driver_options::output_groups::{DESTINATION, TEMPLATE};
use engine::driver::{BuildContext, DestinationDriver, DestinationPart};
use flight::Outcome;
use grpc::arrow::{self, Column, Table, serve};
use grpc::options::schema::{self, Written, Wrong};
use grpc::options::{ADDRESS, Calls, GRPC, HEADERS};
use std::sync::Arc;
use template::{OnError, Template};

pub const PARTS: &[DestinationPart] = &[DestinationPart::new(&ARROW_FLIGHT, build)];

const URL: &str = "localhost:8815";

const OWN: &[Opt] = &[
    Opt::new(
        "path",
        Kind::Template,
        Preset::None,
        "The path that record batches are put to, as the server knows it. A template: messages for which it differs go in different batches.",
    )
    .sample("logs"),
    Opt::new(
        "schema",
        Kind::Any,
        Preset::None,
        "The columns, `\"name\" TYPE => \"template\"` each: STRING, INT64 (INTEGER), FLOAT64 (DOUBLE), BOOL (BOOLEAN), TIMESTAMP, MAP. Without a \
         type it is STRING. A TIMESTAMP is microseconds since 1970 or a time of ISO 8601, a MAP an object of JSON. An empty value is NULL, \
         unless it is a text.",
    )
    .collects()
    .sample("\"message\" STRING => \"fixed\""),
];

static ARROW_FLIGHT: Component = Component {
    context: Context::Destination,
    name: "arrow-flight",
    aliases: &[],
    positional: &[],
    groups: &[&ADDRESS, &GRPC, &HEADERS, &BATCHES, &TEMPLATE, &DESTINATION],
    own: OWN,
    // What servers of gRPC take in one message is 4 MiB, where nothing else was said to them.
    presets: &[("batch-bytes", Preset::Int(3_000_000)), ("url", Preset::Text(URL))],
    not_yet: &[],
    summary: "Puts messages as rows of record batches to a server of Apache Arrow Flight, each batch with one call. A message counts as delivered \
              when the server has ended the call with success. See docs/arrow-flight.md.",
    example: "arrow-flight(url(\"grpc://localhost:8815\") path(\"logs/$HOST\") \
              schema(\"time\" TIMESTAMP => \"$ISODATE\" \"host\" STRING => \"$HOST\" \"message\" STRING => \"$MSG\"))",
    cost: Some(Cost::elsewhere(
        "Each value rendered, copied into its column, and copied once more into the call.",
    )),
};

const CALLS: Calls = Calls { address: ("url", URL), headers_from: 1, read: |_, _| Outcome::Delivered };

fn build(
    s: &Settings,
    cx: &BuildContext<'_>,
    diags: &mut Diagnostics,
) -> Result<DestinationDriver, Reported> {
    let options = writing::template_options(s, cx);
    let mut r = Reading { s, templates: &options, cx, code: "D0250", diags };
    let mut batching = Batching::read(&mut r)?;
    let called = grpc::options::read(&CALLS, &mut r)?;
    batching.limits.answer = Some(called.plan.timeout);
    let (columns, mut templates) = schema::read(s.args("schema"), &mut r, column)?;
    batching.limits.extra = columns.len() * COLUMN_BYTES;
    let mut keys = vec![path(&mut r)?];
    keys.extend(called.headers);
    let mut writer = Writer::new(templates.pop().ok_or(Reported)?, cx.identity);
    writer.parts = Some(KeyedFields::of(keys, templates));
    writer.disk_buffer = disk_buffer::read(s, cx, r.diags)?;
    let path = s.template("path").map_or("", |path| path.text.as_str());
    let address = format!("{},{path}", called.plan.url.authority);
    // What waits has the columns that it was made with.
    let listed: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    let listed = listed.join(",");
    let key = writing::key(s, &mut writer, || format!("arrow-flight({address},{listed})"));
    let table = Arc::new(Table::new(columns, options.on_error == OnError::DropProperty));
    let plan = Arc::new(called.plan);
    let make = guest::sinks(
        cx.id(),
        move |part| arrow::load(part, &table),
        move |jobs| serve(Arc::clone(&plan), jobs),
    );
    let described = ("arrow-flight", format!("arrow-flight,{address}"));
    let destination = batching.destination(described, writer, writing::limits(s), cx.identity, &make);
    Ok(DestinationDriver { key, destination })
}

/// Bytes that a value takes beside its own: where it ends, and whether it is there.
const COLUMN_BYTES: usize = 5;

fn path(r: &mut Reading<'_>) -> Result<Arc<Template>, Reported> {
    match r.s.template("path") {
        Some(text) => r.compile(&text.text, text.span),
        None => r.wrong_at(None, "arrow-flight() needs path()", "add `path(\"logs\")`"),
    }
}

fn column(written: &Written<'_>) -> Result<Column, Wrong> {
    let (kind, at) = written.kind.unwrap_or(("STRING", written.at));
    match arrow::Kind::named(kind) {
        Some(kind) => Ok(Column { name: written.name.to_owned(), kind }),
        None => Err(Wrong {
            at,
            text: format!("`{kind}` is no type of a column here"),
            help: "there are STRING, INT64, FLOAT64, BOOL, TIMESTAMP and MAP",
        }),
    }
}
