//! `bigquery()`: messages as rows of a table of Google BigQuery, by its Storage Write API over gRPC.

use conf_schema::{Component, Context, Cost, Kind, OptionSpec as Opt, Preset, Settings};
use conf_syntax::{Arg, ArgKind};
use delivery::batching::{Batching, MakeFlight};
use delivery::writer::{KeyedFields, Writer};
use delivery::{disk_buffer, writing};
use diag::{Diagnostic, Diagnostics, Span};
use driver_options::batch_groups::BATCHES;
use driver_options::output_groups::{DESTINATION, TEMPLATE};
use driver_options::templates::{compile, type_hint};
use engine::driver::{BuildContext, DestinationDriver, DestinationPart};
use engine::{Need, Sink};
use flight::{FlightSink, Limits, Outcome};
use grpc::bigquery::{self, Column, Lenient, Rows, Table, serve};
use grpc::options::{ADDRESS, Calls, GRPC, HEADERS, schema};
use guest::{Line, Seat};
use std::path::Path;
use std::sync::Arc;
use template::{OnError, Template, TemplateOptions};

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
    Opt::new(
        "protobuf-schema",
        Kind::Any,
        Preset::None,
        "In the place of schema(): a file of protobuf's language whose first message has the columns, and a template for each of its fields, in \
         the order of their numbers: `protobuf-schema(\"/etc/penstock/row.proto\" => \"$HOST\", \"$MSG\")`.",
    )
    .sample(""),
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
    not_yet: &[
        ("cloud-auth", "let a proxy that adds the token stand in front of the server"),
        ("proto-var", "write schema() or protobuf-schema()"),
    ],
    summary: "Appends messages as rows to a table of Google BigQuery, by its Storage Write API over gRPC. A message counts as delivered when \
              the server has said where its row is; each batch says where it belongs, so that one whose answer was lost is not there twice. A row \
              that is not taken is a dead letter with the server's words, and the others go on. See docs/bigquery.md.",
    example: "bigquery(auth(tls()) project(\"example\") dataset(\"logs\") table(\"messages\") \
              schema(\"time\" TIMESTAMP => \"$ISODATE\" \"host\" STRING => \"$HOST\" \"message\" STRING => \"$MSG\"))",
    cost: Some(Cost::elsewhere("Each value rendered and written into its row.")),
};

const CALLS: Calls = Calls { address: ("url", URL), headers_from: 0, read: |_, _| Outcome::Delivered };

struct Reader<'a> {
    s: &'a Settings,
    options: &'a TemplateOptions,
    cx: &'a BuildContext<'a>,
    diags: &'a mut Diagnostics,
}

fn needs(s: &Settings) -> Vec<Need<'static>> {
    let path = s.args("protobuf-schema").iter().find_map(|arg| match &arg.kind {
        ArgKind::Pair(path, _) => path.text().map(|path| Path::new(path).to_owned()),
        _ => None,
    });
    path.map(|path| Need::File { option: "protobuf-schema", path }).into_iter().collect()
}

fn build(s: &Settings, cx: &BuildContext<'_>, diags: &mut Diagnostics) -> Option<DestinationDriver> {
    let options = writing::template_options(s, cx);
    let mut batching = Batching::read(s, &options, cx, diags)?;
    let called = grpc::options::read(s, &options, &CALLS, cx, diags)?;
    batching.limits.answer = Some(called.plan.timeout);
    batching.limits.extra = EXTRA_BYTES;
    let mut reader = Reader { s, options: &options, cx, diags };
    let (columns, mut templates) = reader.columns()?;
    let [project, dataset, table] =
        [reader.needed("project")?, reader.needed("dataset")?, reader.needed("table")?];
    let path = format!("projects/{project}/datasets/{dataset}/tables/{table}");
    let mut writer = Writer::new(templates.pop()?, cx.identity);
    writer.parts = Some(KeyedFields::of(called.headers, templates));
    writer.disk_buffer = disk_buffer::read(s, cx, diags).ok()?;
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
    let name = cx.id();
    let make: MakeFlight = Arc::new(move |place, limits: Limits| -> Box<dyn Sink> {
        let seat = Seat { home: place.home.clone(), outlet: place.id };
        let (plan, of_load, of_guest) = (Arc::clone(&plan), Arc::clone(&table), Arc::clone(&table));
        let load = move |part: &flight::Part<'_>| bigquery::load(part, &of_load);
        let serve = move |jobs| serve(Arc::clone(&plan), Arc::clone(&of_guest), jobs);
        let line: Line<Rows> = Line::open(seat, &name, limits.away, load, serve);
        Box::new(FlightSink::new(line, limits, name.clone(), place.id, &place.counters))
    });
    let destination = batching.destination(described, writer, writing::limits(s), cx.identity, &make);
    Some(DestinationDriver { key, destination })
}

/// Bytes that a message takes in a call beside its own.
const EXTRA_BYTES: usize = 16;

type Columns = (Vec<Column>, Vec<Arc<Template>>);

impl Reader<'_> {
    fn wrong<T>(&mut self, text: String, at: Option<Span>, help: &str) -> Option<T> {
        let at = at.or(self.s.call_span())?;
        self.diags.push(Diagnostic::error("D0250", text, at).help(help.to_owned()));
        None
    }

    fn needed(&mut self, option: &str) -> Option<String> {
        let text = self.s.text(option).unwrap_or_default().to_owned();
        let is_name =
            !text.is_empty() && !text.chars().any(|c| c == '/' || c.is_control() || c.is_whitespace());
        match is_name {
            true => Some(text),
            false => self.wrong(
                format!("bigquery() needs the name of its {option}"),
                self.s.span(option),
                &format!("add `{option}(\"name\")`"),
            ),
        }
    }

    fn columns(&mut self) -> Option<Columns> {
        let help = "write `schema(\"message\" STRING => \"$MSG\")`";
        match (self.s.args("schema"), self.s.args("protobuf-schema")) {
            ([], []) => self.wrong("bigquery() does not say which columns there are".to_owned(), None, help),
            (own, []) => self.own_columns(own),
            ([], file) => self.file_columns(file),
            (_, file) => {
                let at = file.first().map(|arg| arg.span);
                self.wrong(
                    "schema() and protobuf-schema() exclude each other".to_owned(),
                    at,
                    "leave one of them out",
                )
            }
        }
    }

    fn own_columns(&mut self, args: &[Arg]) -> Option<Columns> {
        let (mut columns, mut templates) = (Vec::new(), Vec::new());
        let written = match schema::columns(args) {
            Ok(written) => written,
            Err(at) => {
                let help = "write `schema(\"name\" TYPE => \"template\")`";
                return self.wrong("this is no column".to_owned(), Some(at), help);
            }
        };
        for column in written {
            let (kind, at) = column.kind.unwrap_or(("STRING", column.at));
            let Some(kind) = bigquery::Kind::of_table(kind) else {
                let text = format!("`{kind}` is no type of a column here");
                return self.wrong(text, Some(at), "as STRING, INT64, TIMESTAMP; a RECORD goes as JSON");
            };
            if !Column::is_name(column.name) {
                let text = format!("`{}` is no name of a column", column.name);
                return self.wrong(text, Some(column.at), "letters, digits and `_`");
            }
            if let Some(hint) = column.hint {
                type_hint(hint, self.diags)?;
            }
            columns.push(Column { name: column.name.to_owned(), kind });
            let span = column.template_at;
            templates.push(compile(column.template, span, self.options, self.cx, self.diags)?);
        }
        Some((columns, templates))
    }

    /// The file, and the first template behind the arrow; the others follow.
    fn file_columns(&mut self, args: &[Arg]) -> Option<Columns> {
        let help = "write `protobuf-schema(\"/path/to/file.proto\" => \"$HOST\", \"$MSG\")`";
        let at = args.first()?.span;
        let ArgKind::Pair(path, first) = &args.first()?.kind else {
            return self.wrong("protobuf-schema() names no file".to_owned(), Some(at), help);
        };
        let columns = match bigquery::read_proto_file(Path::new(path.text().unwrap_or_default())) {
            Ok(columns) => columns,
            Err(why) => return self.wrong(why, Some(path.span), help),
        };
        let mut templates = Vec::new();
        for arg in std::iter::once(&**first).chain(args.iter().skip(1)) {
            let Some(text) = arg.text() else {
                return self.wrong("this is no template".to_owned(), Some(arg.span), help);
            };
            templates.push(compile(text, arg.span, self.options, self.cx, self.diags)?);
        }
        if templates.len() != columns.len() {
            let text = format!(
                "the message has {} fields, and there are {} templates",
                columns.len(),
                templates.len()
            );
            return self.wrong(text, Some(at), "a template for each field");
        }
        Some((columns, templates))
    }
}
