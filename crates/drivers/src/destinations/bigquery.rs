//! `bigquery()`: messages as rows of a table of Google BigQuery, by its Storage Write API over gRPC.

use conf_schema::{Component, Context, Cost, Kind, OptionSpec as Opt, Preset, Settings};
use delivery::batching::Batching;
use delivery::writer::{KeyedFields, Writer};
use delivery::{disk_buffer, writing};
use diag::{Diagnostics, Reported};
use driver_options::Reading;
use driver_options::batch_groups::BATCHES;
use driver_options::output_groups::{DESTINATION, TEMPLATE};
use engine::Need;
use engine::driver::{BuildContext, DestinationDriver, DestinationPart};
use flight::Outcome;
use grpc::bigquery::{self, Column, Lenient, Table, serve};
use grpc::options::schema::{self, Columns, Written, Wrong};
use grpc::options::{ADDRESS, Calls, GRPC, HEADERS};
use std::sync::Arc;
use template::OnError;

pub const PARTS: &[DestinationPart] = &[DestinationPart::new(&BIGQUERY, build).needing(needs)];

const URL: &str = "bigquerystorage.googleapis.com";

const OWN: &[Opt] = &[
    Opt::new("project", Kind::Text, Preset::None, "The project of the table.").sample("logs"),
    Opt::new("dataset", Kind::Text, Preset::None, "Its data set.").sample("logs"),
    Opt::new("table", Kind::Text, Preset::None, "The table, which has to be there.").sample("messages"),
    Opt::new(
        "schema",
        Kind::Any,
        Preset::None,
        "The columns, `\"name\" TYPE => \"template\"` each, with BigQuery's types; without one it is STRING. A TIMESTAMP is microseconds since \
         1970 or a time of ISO 8601, a DATE days since 1970 or `YYYY-MM-DD`. An empty value is NULL, unless it is a text.",
    )
    .collects()
    .sample("\"message\" STRING => \"fixed\""),
    schema::FILE,
];

static BIGQUERY: Component = Component {
    context: Context::Destination,
    name: "bigquery",
    aliases: &[],
    positional: &[],
    groups: &[&ADDRESS, &GRPC, &HEADERS, &BATCHES, &TEMPLATE, &DESTINATION],
    own: OWN,
    // What BigQuery takes in one call is 10 MB.
    presets: &[("batch-bytes", Preset::Int(4_000_000)), ("url", Preset::Text(URL))],
    not_yet: &[("proto-var", "write schema() or protobuf-schema()")],
    summary: "Appends messages as rows to a table of Google BigQuery, by its Storage Write API over gRPC. A message counts as delivered when \
              the server has said where its row is; each batch says where it belongs, so that one whose answer was lost is not there twice. A row \
              that is not taken is a dead letter with the server's words, and the others go on. See docs/bigquery.md.",
    example: "bigquery(auth(tls()) project(\"example\") dataset(\"logs\") table(\"messages\") \
              schema(\"time\" TIMESTAMP => \"$ISODATE\" \"host\" STRING => \"$HOST\" \"message\" STRING => \"$MSG\"))",
    cost: Some(Cost::elsewhere("Each value rendered and written into its row.")),
};

const CALLS: Calls = Calls { address: ("url", URL), headers_from: 0, read: |_, _| Outcome::Delivered };

fn needs(s: &Settings) -> Vec<Need<'static>> {
    let path = schema::file(s.args(schema::FILE.name));
    path.map(|path| Need::File { option: schema::FILE.name, path }).into_iter().collect()
}

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
    batching.limits.extra = EXTRA_BYTES;
    let (columns, mut templates) = columns(&mut r)?;
    let project = needed(&mut r, "project")?;
    let (dataset, table) = (needed(&mut r, "dataset")?, needed(&mut r, "table")?);
    let path = format!("projects/{project}/datasets/{dataset}/tables/{table}");
    let mut writer = Writer::new(templates.pop().ok_or(Reported)?, cx.identity);
    writer.parts = Some(KeyedFields::of(called.headers, templates));
    writer.disk_buffer = disk_buffer::read(s, cx, r.diags)?;
    let address = called.plan.url.authority.clone();
    // What waits has the columns that it was made with.
    let listed: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    let listed = listed.join(",");
    let key = writing::key(s, &mut writer, || format!("bigquery({address},{path},{listed})"));
    let lenient = match options.on_error {
        OnError::DropProperty => Lenient::LeavesOut,
        OnError::DropMessage | OnError::FallbackToString => Lenient::No,
    };
    let described = ("bigquery", format!("bigquery,{address},{path}"));
    let (plan, table) = (Arc::new(called.plan), Arc::new(Table::new(path, columns, lenient)));
    let of_guest = Arc::clone(&table);
    let make = guest::sinks(
        cx.id(),
        move |part| bigquery::load(part, &table),
        move |jobs| serve(Arc::clone(&plan), Arc::clone(&of_guest), jobs),
    );
    let destination = batching.destination(described, writer, writing::limits(s), cx.identity, &make);
    Ok(DestinationDriver { key, destination })
}

/// Bytes that a message takes in a call beside its own.
const EXTRA_BYTES: usize = 16;

fn needed(r: &mut Reading<'_>, option: &str) -> Result<String, Reported> {
    let text = r.s.text(option).unwrap_or_default().to_owned();
    let is_name = !text.is_empty() && !text.chars().any(|c| c == '/' || c.is_control() || c.is_whitespace());
    match is_name {
        true => Ok(text),
        false => r.wrong(
            option,
            format!("bigquery() needs the name of its {option}"),
            &format!("add `{option}(\"name\")`"),
        ),
    }
}

fn columns(r: &mut Reading<'_>) -> Result<Columns<Column>, Reported> {
    match (r.s.args("schema"), r.s.args("protobuf-schema")) {
        ([], []) => schema::none(r),
        (own, []) => schema::read(own, r, column),
        ([], file) => schema::of_file(r, file),
        (_, file) => {
            let at = file.first().map(|arg| arg.span);
            r.wrong_at(at, "schema() and protobuf-schema() exclude each other", "leave one of them out")
        }
    }
}

fn column(written: &Written<'_>) -> Result<Column, Wrong> {
    let (kind, at) = written.kind.unwrap_or(("STRING", written.at));
    let Some(kind) = bigquery::Kind::of_table(kind) else {
        let text = format!("`{kind}` is no type of a column here");
        return Err(Wrong { at, text, help: "as STRING, INT64, TIMESTAMP; a RECORD goes as JSON" });
    };
    if !Column::is_name(written.name) {
        let text = format!("`{}` is no name of a column", written.name);
        return Err(Wrong { at: written.at, text, help: "letters, digits and `_`" });
    }
    Ok(Column { name: written.name.to_owned(), kind })
}
