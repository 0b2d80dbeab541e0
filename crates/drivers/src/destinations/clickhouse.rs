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
use engine::driver::{BuildContext, DestinationDriver, DestinationPart};
use grpc::clickhouse::{self, Insert, Rows};
use grpc::options::schema::{self, Written, Wrong};
use grpc::options::{ADDRESS, Calls, GRPC, HEADERS};
use grpc::serve;
use std::sync::Arc;
use template::Template;

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
    let Row { columns, mut templates, rows } = row(&mut r)?;
    let database = needed(&mut r, "database")?;
    let (table, user) = (needed(&mut r, "table")?, needed(&mut r, "user")?);
    let listed = if columns.is_empty() { String::new() } else { format!(" ({})", columns.join(", ")) };
    let format = if rows == Rows::Json { "JSONEachRow" } else { "TabSeparated" };
    let query = format!("INSERT INTO {}{listed} FORMAT {format}", table_name(&mut r, &table)?);
    let text = templates.pop().ok_or(Reported)?;
    let mut writer = Writer::new(text, cx.identity);
    writer.parts = Some(KeyedFields::of(called.headers, templates));
    writer.disk_buffer = disk_buffer::read(s, cx, r.diags)?;
    let address = called.plan.url.authority.clone();
    let key = writing::key(s, &mut writer, || format!("clickhouse({address},{database},{table},{listed})"));
    let insert = Insert {
        query,
        database,
        user,
        password: s.text("password").unwrap_or_default().to_owned(),
        rows,
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
}

fn row(r: &mut Reading<'_>) -> Result<Row, Reported> {
    let args = r.s.args("schema");
    let json = r.s.template("json-var").cloned();
    match (args, json) {
        ([], Some(text)) => {
            let template = r.compile(&text.text, text.span)?;
            Ok(Row { columns: Vec::new(), templates: vec![template], rows: Rows::Json })
        }
        ([], None) => schema::none(r),
        (_, Some(text)) => {
            let help = "leave one of them out";
            r.wrong_at(Some(text.span), "schema() and json-var() exclude each other", help)
        }
        (args, None) => {
            let (columns, templates) = schema::read(args, r, column)?;
            Ok(Row { columns, templates, rows: Rows::Fields })
        }
    }
}

fn column(written: &Written<'_>) -> Result<String, Wrong> {
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
    quoted(written.name).ok_or_else(|| Wrong { at, text: unwritable(written.name), help: NAMES })
}
