//! `arrow-flight()`: messages as rows of record batches, put to servers of Apache Arrow Flight.

use conf_schema::{Component, Context, Cost, Kind, OptionSpec as Opt, Preset, Settings};
use delivery::batching::{Batching, MakeFlight};
use delivery::writer::{KeyedFields, Writer};
use delivery::{disk_buffer, writing};
use diag::{Diagnostic, Diagnostics, Span};
use driver_options::batch_groups::BATCHES;
use driver_options::output_groups::{DESTINATION, TEMPLATE};
use driver_options::templates::{compile, type_hint};
use engine::Sink;
use engine::driver::{BuildContext, DestinationDriver, DestinationPart};
use flight::{FlightSink, Limits, Outcome};
use grpc::arrow::{self, Column, Load, Table, serve};
use grpc::options::{ADDRESS, Calls, GRPC, HEADERS, schema};
use guest::{Line, Seat};
use std::sync::Arc;
use template::{OnError, Template, TemplateOptions};

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

struct Reader<'a> {
    s: &'a Settings,
    options: &'a TemplateOptions,
    cx: &'a BuildContext<'a>,
    diags: &'a mut Diagnostics,
}

fn build(s: &Settings, cx: &BuildContext<'_>, diags: &mut Diagnostics) -> Option<DestinationDriver> {
    let options = writing::template_options(s, cx);
    let mut batching = Batching::read(s, &options, cx, diags)?;
    let called = grpc::options::read(s, &options, &CALLS, cx, diags)?;
    batching.limits.answer = Some(called.plan.timeout);
    let mut reader = Reader { s, options: &options, cx, diags };
    let (columns, mut templates) = reader.columns()?;
    batching.limits.extra = columns.len() * COLUMN_BYTES;
    let mut keys = vec![reader.path()?];
    keys.extend(called.headers);
    let mut writer = Writer::new(templates.pop()?, cx.identity);
    writer.parts = Some(KeyedFields::of(keys, templates));
    writer.disk_buffer = disk_buffer::read(s, cx, diags).ok()?;
    let address = format!("{},{}", called.plan.url.authority, s.template("path")?.text);
    // What waits has the columns that it was made with.
    let listed: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    let listed = listed.join(",");
    let key = writing::key(s, &mut writer, || format!("arrow-flight({address},{listed})"));
    let table = Arc::new(Table::new(columns, options.on_error == OnError::DropProperty));
    let (plan, name) = (Arc::new(called.plan), cx.id());
    let make: MakeFlight = Arc::new(move |place, limits: Limits| -> Box<dyn Sink> {
        let seat = Seat { home: place.home.clone(), outlet: place.id };
        let (plan, table) = (Arc::clone(&plan), Arc::clone(&table));
        let load = move |part: &flight::Part<'_>| arrow::load(part, &table);
        let line: Line<Load> =
            Line::open(seat, &name, limits.away, load, move |jobs| serve(Arc::clone(&plan), jobs));
        Box::new(FlightSink::new(line, limits, name.clone(), place.id, &place.counters))
    });
    let described = ("arrow-flight", format!("arrow-flight,{address}"));
    let destination = batching.destination(described, writer, writing::limits(s), cx.identity, &make);
    Some(DestinationDriver { key, destination })
}

/// Bytes that a value takes beside its own: where it ends, and whether it is there.
const COLUMN_BYTES: usize = 5;

type Columns = (Vec<Column>, Vec<Arc<Template>>);

impl Reader<'_> {
    fn wrong<T>(&mut self, text: String, at: Option<Span>, help: &str) -> Option<T> {
        let at = at.or(self.s.call_span())?;
        self.diags.push(Diagnostic::error("D0250", text, at).help(help.to_owned()));
        None
    }

    fn path(&mut self) -> Option<Arc<Template>> {
        match self.s.template("path") {
            Some(text) => compile(&text.text, text.span, self.options, self.cx, self.diags),
            None => self.wrong("arrow-flight() needs path()".to_owned(), None, "add `path(\"logs\")`"),
        }
    }

    fn columns(&mut self) -> Option<Columns> {
        let help = "write `schema(\"message\" STRING => \"$MSG\")`";
        let (mut columns, mut templates) = (Vec::new(), Vec::new());
        let written = match schema::columns(self.s.args("schema")) {
            Ok(written) if written.is_empty() => {
                return self.wrong(
                    "arrow-flight() does not say which columns there are".to_owned(),
                    None,
                    help,
                );
            }
            Ok(written) => written,
            Err(at) => return self.wrong("this is no column".to_owned(), Some(at), help),
        };
        for column in written {
            let (kind, at) = column.kind.unwrap_or(("STRING", column.at));
            let Some(kind) = arrow::Kind::named(kind) else {
                let text = format!("`{kind}` is no type of a column here");
                return self.wrong(
                    text,
                    Some(at),
                    "there are STRING, INT64, FLOAT64, BOOL, TIMESTAMP and MAP",
                );
            };
            if let Some(hint) = column.hint {
                type_hint(hint, self.diags)?;
            }
            columns.push(Column { name: column.name.to_owned(), kind });
            let span = column.template_at;
            templates.push(compile(column.template, span, self.options, self.cx, self.diags)?);
        }
        Some((columns, templates))
    }
}
