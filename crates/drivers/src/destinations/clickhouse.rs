//! `clickhouse()`: messages as rows of a table of ClickHouse, over gRPC, each batch one INSERT.

use conf_schema::{Component, Context, Cost, Kind, OptionSpec as Opt, Preset, Settings};
use conf_syntax::Arg;
use delivery::batching::{Batching, MakeFlight};
use delivery::positions::Positions;
use delivery::writer::{KeyedFields, Writer};
use delivery::{disk_buffer, writing};
use diag::{Diagnostic, Diagnostics, Span};
use driver_options::batch_groups::BATCHES;
use driver_options::output_groups::{DESTINATION, TEMPLATE};
use driver_options::templates::{compile, type_hint};
use engine::Sink;
use engine::driver::{BuildContext, DestinationDriver, DestinationPart};
use flight::{FlightSink, Limits};
use grpc::clickhouse::{self, Insert, Rows};
use grpc::options::{ADDRESS, Calls, GRPC, HEADERS, schema};
use grpc::{Load, serve};
use guest::{Line, Seat};
use std::sync::{Arc, OnceLock};
use template::{Template, TemplateOptions};

pub const PARTS: &[DestinationPart] = &[DestinationPart::new(&CLICKHOUSE, build)];

const OWN: &[Opt] = &[
    Opt::new("database", Kind::Text, Preset::None, "The database of the table.").sample("logs"),
    Opt::new("table", Kind::Text, Preset::None, "The table, which has to be there.").sample("messages"),
    Opt::new("user", Kind::Text, Preset::None, "As whom to log in.").sample("writer"),
    Opt::new("password", Kind::Text, Preset::Text(""), "The password of the user."),
    Opt::new(
        "schema",
        Kind::Any,
        Preset::None,
        "The columns, `\"name\" TYPE => \"template\"` each. The server reads every value as what its column is; the type only has to be one \
         that ClickHouse has.",
    )
    .collects()
    .sample("\"message\" STRING => \"fixed\""),
    Opt::new(
        "json-var",
        Kind::Template,
        Preset::None,
        "In the place of schema(): each row is an object of JSON, `json-var(\"$(format-json --scope rfc5424)\")`.",
    ),
];

static CLICKHOUSE: Component = Component {
    context: Context::Destination,
    name: "clickhouse",
    aliases: &[],
    positional: &[],
    groups: &[&ADDRESS, &GRPC, &HEADERS, &BATCHES, &TEMPLATE, &DESTINATION],
    own: OWN,
    presets: &[("batch-bytes", Preset::Int(4_000_000)), ("url", Preset::Text("localhost:9100"))],
    not_yet: &[
        ("cloud-auth", "let a proxy that adds the token stand in front of the server"),
        ("protobuf-schema", "write schema() or json-var()"),
        ("server-side-schema", "write schema() or json-var()"),
        ("proto-var", "write schema() or json-var()"),
        ("format", "it is TabSeparated for schema() and JSONEachRow for json-var()"),
    ],
    summary: "Puts messages into a table of ClickHouse over its gRPC interface, each batch with one INSERT. A message counts as delivered when \
              the server has answered without an exception; a row that it does not take is a dead letter with its words, and the others go on; \
              too many parts, or no memory, let messages wait and batches grow. See docs/clickhouse.md.",
    example: "clickhouse(url(\"clickhouse.example.com:9100\") database(\"logs\") table(\"messages\") user(\"writer\") password(\"secret\") \
              schema(\"time\" DATETIME => \"$UNIXTIME\" \"host\" STRING => \"$HOST\" \"message\" STRING => \"$MSG\"))",
    cost: Some(Cost::elsewhere("Each value rendered and copied into its row.")),
};

const CALLS: Calls = Calls { address: ("url", "localhost:9100"), headers_from: 0, read: clickhouse::read };

/// Types of ClickHouse, and the names that other databases have for them.
const TYPES: &[&str] = &[
    "STRING",
    "FIXEDSTRING",
    "TEXT",
    "LONGTEXT",
    "MEDIUMTEXT",
    "TINYTEXT",
    "BLOB",
    "LONGBLOB",
    "MEDIUMBLOB",
    "TINYBLOB",
    "VARCHAR",
    "CHAR",
    "INT8",
    "INT16",
    "INT32",
    "INT64",
    "INT128",
    "INT256",
    "UINT8",
    "UINT16",
    "UINT32",
    "UINT64",
    "UINT128",
    "UINT256",
    "INT",
    "INTEGER",
    "INT1",
    "TINYINT",
    "SMALLINT",
    "MEDIUMINT",
    "BIGINT",
    "SIGNED",
    "UNSIGNED",
    "BIT",
    "SET",
    "TIME",
    "FLOAT",
    "FLOAT32",
    "FLOAT64",
    "REAL",
    "SINGLE",
    "DOUBLE",
    "DECIMAL",
    "BOOL",
    "BOOLEAN",
    "DATE",
    "DATE32",
    "DATETIME",
    "DATETIME64",
    "UUID",
    "ENUM",
    "ENUM8",
    "ENUM16",
    "IPV4",
    "IPV6",
    "JSON",
    "ARRAY",
    "MAP",
    "NULLABLE",
    "LOWCARDINALITY",
    "BINARY LARGE OBJECT",
    "BINARY VARYING",
    "DOUBLE PRECISION",
];

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
    let (columns, mut templates, rows) = reader.rows()?;
    let [database, table, user] =
        [reader.needed("database")?, reader.needed("table")?, reader.needed("user")?];
    let listed = if columns.is_empty() { String::new() } else { format!(" ({})", columns.join(", ")) };
    let format = if rows == Rows::Json { "JSONEachRow" } else { "TabSeparated" };
    let query = format!("INSERT INTO {}{listed} FORMAT {format}", reader.quoted(&table)?);
    let text = templates.pop()?;
    let mut writer = Writer::new(text, cx.identity);
    writer.parts = Some(KeyedFields::of(called.headers, templates));
    writer.disk_buffer = disk_buffer::read(s, cx, diags).ok()?;
    let address = called.plan.url.authority.clone();
    let key = writing::key(s, &mut writer, || format!("clickhouse({address},{database},{table},{listed})"));
    let insert = Insert {
        query,
        database,
        user,
        password: s.text("password").unwrap_or_default().to_owned(),
        rows,
        queue: None,
    };
    let queue: Arc<OnceLock<String>> = Arc::default();
    if writer.disk_buffer.as_ref().is_some_and(|buffer| buffer.reliable) && batching.workers == 1 {
        // A message keeps its number over restarts.
        batching.limits.numbered = true;
        let (queue, buffer) = (Arc::clone(&queue), disk_buffer::of(&writer));
        batching.prepare = Some(Box::new(move |shared| {
            if let Some(buffer) = &buffer {
                let _ = queue.set(Positions::recall(shared, buffer)?.name);
            }
            Ok(())
        }));
    }
    let (plan, insert) = (Arc::new(called.plan), Arc::new(insert));
    let name = cx.id();
    let make: MakeFlight = Arc::new(move |place, limits: Limits| -> Box<dyn Sink> {
        let seat = Seat { home: place.home.clone(), outlet: place.id };
        let plan = Arc::clone(&plan);
        let own = Insert { queue: queue.get().cloned(), ..Insert::clone(&insert) };
        let load = move |part: &flight::Part<'_>| clickhouse::load(part, &own);
        let line: Line<Load> =
            Line::open(seat, &name, limits.away, load, move |jobs| serve(Arc::clone(&plan), jobs));
        Box::new(FlightSink::new(line, limits, name.clone(), place.id, &place.counters))
    });
    let described = ("clickhouse", format!("clickhouse,{address},{table}"));
    let destination = batching.destination(described, writer, writing::limits(s), cx.identity, &make);
    Some(DestinationDriver { key, destination })
}

impl Reader<'_> {
    fn wrong<T>(&mut self, text: String, at: Option<Span>, help: &str) -> Option<T> {
        let at = at.or(self.s.call_span())?;
        self.diags.push(Diagnostic::error("D0250", text, at).help(help.to_owned()));
        None
    }

    fn needed(&mut self, option: &str) -> Option<String> {
        match self.s.text(option).filter(|text| !text.is_empty()) {
            Some(text) => Some(text.to_owned()),
            None => self.wrong(format!("clickhouse() needs {option}()"), None, "as its user knows it"),
        }
    }

    /// A name in a statement.
    fn quoted(&mut self, name: &str) -> Option<String> {
        if name.contains(['`', '\\', '\'']) || name.chars().any(char::is_control) {
            return self.wrong(
                format!("`{name}` is no name that can be written"),
                None,
                "without quotes and backslashes",
            );
        }
        Some(format!("`{name}`"))
    }

    /// Columns in statements, the templates of their values, and how rows are written.
    fn rows(&mut self) -> Option<(Vec<String>, Vec<Arc<Template>>, Rows)> {
        let args = self.s.args("schema");
        let json = self.s.template("json-var").cloned();
        match (args, json) {
            ([], Some(text)) => {
                let template = compile(&text.text, text.span, self.options, self.cx, self.diags)?;
                Some((Vec::new(), vec![template], Rows::Json))
            }
            ([], None) => {
                let help = "write `schema(\"message\" STRING => \"$MSG\")`";
                self.wrong("clickhouse() does not say which columns there are".to_owned(), None, help)
            }
            (_, Some(text)) => {
                let help = "leave one of them out";
                self.wrong("schema() and json-var() exclude each other".to_owned(), Some(text.span), help)
            }
            (args, None) => self.columns(args),
        }
    }

    fn columns(&mut self, args: &[Arg]) -> Option<(Vec<String>, Vec<Arc<Template>>, Rows)> {
        let (mut columns, mut templates) = (Vec::new(), Vec::new());
        let written = match schema::columns(args) {
            Ok(written) => written,
            Err(at) => return self.no_column(at),
        };
        for column in written {
            if let Some((kind, at)) = column.kind {
                let kind = kind.to_ascii_uppercase();
                let base = kind.split('(').next().unwrap_or_default().trim().to_owned();
                let first = base.split(' ').next().unwrap_or_default();
                if !TYPES.contains(&base.as_str()) && !TYPES.contains(&first) {
                    let text = format!("`{kind}` is no type of ClickHouse");
                    return self.wrong(text, Some(at), "as STRING, INT64, DATETIME, or leave it out");
                }
            }
            if let Some(hint) = column.hint {
                type_hint(hint, self.diags)?;
            }
            columns.push(self.quoted(column.name)?);
            let span = column.template_at;
            templates.push(compile(column.template, span, self.options, self.cx, self.diags)?);
        }
        Some((columns, templates, Rows::Fields))
    }

    fn no_column<T>(&mut self, at: Span) -> Option<T> {
        let help = "write `schema(\"name\" TYPE => \"template\")`";
        self.wrong("this is no column".to_owned(), Some(at), help)
    }
}
