//! `clickhouse()`: messages as rows of a table of ClickHouse, over gRPC, each batch one INSERT.

use conf_schema::{Component, Context, Cost, Kind, OptionSpec as Opt, Preset, Settings};
use delivery::batching::Batching;
use delivery::positions::Positions;
use delivery::writer::{KeyedFields, Writer};
use delivery::{disk_buffer, writing};
use diag::{Diagnostics, Reported};
use driver_options::Reading;
use driver_options::batch_groups::BATCHES;
use driver_options::output_groups::{DESTINATION, TEMPLATE};
use engine::Need;
use engine::driver::{BuildContext, DestinationDriver, DestinationPart};
use grpc::bigquery::{Column, Kind as Scalar, Lenient};
use grpc::clickhouse::{self, Insert, Rows};
use grpc::options::schema::{self, Written, Wrong};
use grpc::options::{ADDRESS, Calls, GRPC, HEADERS};
use grpc::serve;
use std::sync::Arc;
use template::{OnError, Template};

pub const PARTS: &[DestinationPart] = &[DestinationPart::new(&CLICKHOUSE, build).needing(needs)];

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
    schema::FILE,
    Opt::new(
        "proto-var",
        Kind::Template,
        Preset::None,
        "In the place of schema(): each row is a message of protobuf, made by `protobuf_message()` of filterx: `proto-var(\"$row\")`. Give \
         server-side-schema() beside it, or number its fields as the columns of the table stand.",
    ),
    Opt::new(
        "server-side-schema",
        Kind::Text,
        Preset::None,
        "`FILE:MESSAGE`: a file of protobuf's language in the server's folder of format schemas, and the message in it by which rows are read. \
         The columns of schema() are its fields, numbered in their order.",
    )
    .sample("\"row:Row\""),
    Opt::new(
        "format",
        Kind::Text,
        Preset::Described("what the rows are made of needs"),
        "How rows are written: `JSONEachRow` or `JSONCompactEachRow` (lists) with json-var(), `Protobuf` with the others; without it schema() \
         alone is TabSeparated.",
    )
    .sample("Protobuf"),
];

static CLICKHOUSE: Component = Component {
    context: Context::Destination,
    name: "clickhouse",
    aliases: &[],
    positional: &[],
    groups: &[&ADDRESS, &GRPC, &HEADERS, &BATCHES, &TEMPLATE, &DESTINATION],
    own: OWN,
    presets: &[("batch-bytes", Preset::Int(4_000_000)), ("url", Preset::Text("localhost:9100"))],
    not_yet: &[],
    summary: "Puts messages into a table of ClickHouse over its gRPC interface, each batch with one INSERT. A message counts as delivered when \
              the server has answered without an exception; a row that it does not take is a dead letter with its words, and the others go on; \
              too many parts, or no memory, let messages wait and batches grow. See docs/clickhouse.md.",
    example: "clickhouse(url(\"clickhouse.example.com:9100\") database(\"logs\") table(\"messages\") user(\"writer\") password(\"secret\") \
              schema(\"time\" DATETIME => \"$UNIXTIME\" \"host\" STRING => \"$HOST\" \"message\" STRING => \"$MSG\"))",
    cost: Some(Cost::elsewhere("Each value rendered and copied into its row.")),
};

fn needs(s: &Settings) -> Vec<Need<'static>> {
    let path = schema::file(s.args(schema::FILE.name));
    path.map(|path| Need::File { option: schema::FILE.name, path }).into_iter().collect()
}

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
    let Row { columns, mut templates, rows, format } = row(&mut r)?;
    let schema = server_schema(&mut r, &rows)?;
    let database = needed(&mut r, "database")?;
    let (table, user) = (needed(&mut r, "table")?, needed(&mut r, "user")?);
    let listed = if columns.is_empty() { String::new() } else { format!(" ({})", columns.join(", ")) };
    let query = format!("INSERT INTO {}{listed} FORMAT {format}", table_name(&mut r, &table)?);
    let text = templates.pop().ok_or(Reported)?;
    let mut writer = Writer::new(text, cx.identity);
    writer.parts = Some(match writer.template.single_name().filter(|_| rows == Rows::Message) {
        Some(name) => KeyedFields::of_value(called.headers, name),
        None => KeyedFields::of(called.headers, templates),
    });
    writer.disk_buffer = disk_buffer::read(s, cx, r.diags)?;
    let address = called.plan.url.authority.clone();
    let key = writing::key(s, &mut writer, || format!("clickhouse({address},{database},{table},{listed})"));
    let insert = Insert {
        query,
        database,
        user,
        password: s.text("password").unwrap_or_default().to_owned(),
        rows,
        schema,
        queue: Arc::default(),
    };
    if writer.disk_buffer.as_ref().is_some_and(|buffer| buffer.reliable) && batching.workers == 1 {
        // A message keeps its number over restarts.
        batching.limits.numbered = true;
        let (queue, buffer) = (Arc::clone(&insert.queue), disk_buffer::of(&writer));
        batching.prepare = Some(Box::new(move |shared| {
            if let Some(buffer) = &buffer {
                let _ = queue.set(Positions::recall(shared, buffer)?.name);
            }
            Ok(())
        }));
    }
    let (plan, insert) = (Arc::new(called.plan), Arc::new(insert));
    let make = guest::sinks(
        cx.id(),
        move |part| clickhouse::load(part, &insert),
        move |jobs| serve(Arc::clone(&plan), jobs),
    );
    let described = ("clickhouse", format!("clickhouse,{address},{table}"));
    let destination = batching.destination(described, writer, writing::limits(s), cx.identity, &make);
    Ok(DestinationDriver { key, destination })
}

fn needed(r: &mut Reading<'_>, option: &str) -> Result<String, Reported> {
    match r.s.text(option).filter(|text| !text.is_empty()) {
        Some(text) => Ok(text.to_owned()),
        None => r.wrong_at(None, format!("clickhouse() needs {option}()"), "as its user knows it"),
    }
}

/// A name in a statement; `None` where it cannot be written.
fn quoted(name: &str) -> Option<String> {
    let is_wrong = name.contains(['`', '\\', '\'']) || name.chars().any(char::is_control);
    (!is_wrong).then(|| format!("`{name}`"))
}

const NAMES: &str = "without quotes and backslashes";

fn unwritable(name: &str) -> String {
    format!("`{name}` is no name that can be written")
}

fn table_name(r: &mut Reading<'_>, name: &str) -> Result<String, Reported> {
    match quoted(name) {
        Some(name) => Ok(name),
        None => r.wrong("table", unwritable(name), NAMES),
    }
}

/// What stands in a row.
struct Row {
    /// The names of columns, as in a statement.
    columns: Vec<String>,
    /// The templates of their values.
    templates: Vec<Arc<Template>>,
    rows: Rows,
    format: &'static str,
}

/// What rows may be made of; one of them is given.
const ORIGINS: [&str; 4] = ["schema", "protobuf-schema", "json-var", "proto-var"];
const PROTOBUF: &str = "Protobuf";

fn row(r: &mut Reading<'_>) -> Result<Row, Reported> {
    let given = |name: &&str| match *name {
        "schema" | "protobuf-schema" => !r.s.args(name).is_empty(),
        name => r.s.template(name).is_some(),
    };
    let given: Vec<&str> = ORIGINS.into_iter().filter(given).collect();
    match given[..] {
        [] => schema::none(r),
        ["schema"] => of_schema(r),
        ["protobuf-schema"] => {
            let format = format(r, "protobuf-schema", &[PROTOBUF])?;
            let (columns, templates) = schema::of_file(r, r.s.args(schema::FILE.name))?;
            let names = columns.iter().map(|column| quoted(&column.name)).collect::<Option<Vec<_>>>();
            let rows = Rows::Columns(columns, lenient(r));
            Ok(Row { columns: names.ok_or(Reported)?, templates, rows, format })
        }
        ["json-var"] => {
            let format = format(r, "json-var", &["JSONEachRow", "JSONCompactEachRow"])?;
            of_text(r, "json-var", Rows::Json, format)
        }
        ["proto-var"] => {
            let format = format(r, "proto-var", &[PROTOBUF])?;
            let row = of_text(r, "proto-var", Rows::Message, format)?;
            match row.templates.iter().all(|template| template.single_name().is_some()) {
                true => Ok(row),
                false => r.wrong("proto-var", "proto-var() is one value", "write `proto-var(\"${row}\")`"),
            }
        }
        [one, other, ..] => {
            let at = r.s.span(other);
            r.wrong_at(at, format!("{one}() and {other}() exclude each other"), "leave one of them out")
        }
        [_] => Err(Reported),
    }
}

fn of_text(r: &mut Reading<'_>, name: &str, rows: Rows, format: &'static str) -> Result<Row, Reported> {
    let text = r.s.template(name).cloned().ok_or(Reported)?;
    let template = r.compile(&text.text, text.span)?;
    Ok(Row { columns: Vec::new(), templates: vec![template], rows, format })
}

fn of_schema(r: &mut Reading<'_>) -> Result<Row, Reported> {
    let format = format(r, "schema", &["TabSeparated", PROTOBUF])?;
    let (named, templates) = schema::read(r.s.args("schema"), r, column)?;
    let is_message = format == PROTOBUF || r.s.is_set("server-side-schema");
    let columns = named.iter().map(|(quoted, _)| quoted.clone()).collect();
    if !is_message {
        return Ok(Row { columns, templates, rows: Rows::Fields, format });
    }
    let rows = Rows::Columns(named.into_iter().map(|(_, column)| column).collect(), lenient(r));
    Ok(Row { columns, templates, rows, format: PROTOBUF })
}

/// format(), or the first of those that are possible with an option.
fn format(r: &mut Reading<'_>, with: &str, possible: &[&'static str]) -> Result<&'static str, Reported> {
    let Some(text) = r.s.text("format").map(str::to_owned) else {
        return possible.first().copied().ok_or(Reported);
    };
    match possible.iter().find(|known| known.eq_ignore_ascii_case(&text)) {
        Some(known) => Ok(*known),
        None => {
            let wrong = format!("`{text}` is no format for {with}()");
            r.wrong("format", wrong, &format!("it is {}", possible.join(" or ")))
        }
    }
}

fn lenient(r: &Reading<'_>) -> Lenient {
    match r.templates.on_error {
        OnError::DropProperty => Lenient::LeavesOut,
        OnError::DropMessage | OnError::FallbackToString => Lenient::No,
    }
}

/// `FILE:MESSAGE`.
fn server_schema(r: &mut Reading<'_>, rows: &Rows) -> Result<Option<String>, Reported> {
    let option = "server-side-schema";
    let Some(text) = r.s.text(option).map(str::to_owned) else { return Ok(None) };
    if matches!(rows, Rows::Fields | Rows::Json) {
        let help = "leave it out, or write schema(), protobuf-schema() or proto-var()";
        return r.wrong(option, format!("{option}() is for rows of protobuf"), help);
    }
    match text.split_once(':') {
        Some((file, message)) if !file.is_empty() && !message.is_empty() => Ok(Some(text)),
        _ => r.wrong(
            option,
            format!("`{text}` does not say which message of which file"),
            "write `\"FILE:MESSAGE\"`",
        ),
    }
}

/// The name of a column as in a statement, and the column as a field of protobuf.
fn column(written: &Written<'_>) -> Result<(String, Column), Wrong> {
    if let Some((kind, at)) = written.kind {
        let kind = kind.to_ascii_uppercase();
        let base = kind.split('(').next().unwrap_or_default().trim();
        let first = base.split(' ').next().unwrap_or_default();
        if !TYPES.contains(&base) && !TYPES.contains(&first) {
            let text = format!("`{kind}` is no type of ClickHouse");
            return Err(Wrong { at, text, help: "as STRING, INT64, DATETIME, or leave it out" });
        }
    }
    let at = written.at;
    let quoted =
        quoted(written.name).ok_or_else(|| Wrong { at, text: unwritable(written.name), help: NAMES })?;
    let kind = scalar(written.kind.map_or("STRING", |(kind, _)| kind));
    Ok((quoted, Column { name: written.name.to_owned(), kind }))
}

/// How a value of a type of ClickHouse is written in a message of protobuf: what is no number is a text.
fn scalar(kind: &str) -> Scalar {
    let kind = kind.to_ascii_uppercase();
    let inner = ["NULLABLE(", "LOWCARDINALITY("].iter().find_map(|around| kind.strip_prefix(around));
    if let Some(inner) = inner {
        return scalar(inner);
    }
    let base = kind.split(['(', ')', ' ']).next().unwrap_or_default();
    let is_unsigned = kind.contains("UNSIGNED");
    match base {
        "INT64" | "BIGINT" if !is_unsigned => Scalar::Int64,
        "UINT64" | "BIGINT" => Scalar::Uint64,
        "INT8" | "INT16" | "INT32" | "INT" | "INTEGER" | "INT1" | "TINYINT" | "SMALLINT" | "MEDIUMINT"
        | "SIGNED"
            if !is_unsigned =>
        {
            Scalar::Int32
        }
        "UINT8" | "UINT16" | "UINT32" | "INT8" | "INT16" | "INT32" | "INT" | "INTEGER" | "INT1"
        | "TINYINT" | "SMALLINT" | "MEDIUMINT" | "UNSIGNED" | "BIT" => Scalar::Uint32,
        "FLOAT32" | "FLOAT" | "REAL" | "SINGLE" => Scalar::Float,
        "FLOAT64" | "DOUBLE" => Scalar::Double,
        "BOOL" | "BOOLEAN" => Scalar::Bool,
        _ => Scalar::String,
    }
}
