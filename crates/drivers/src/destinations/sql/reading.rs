//! What the options of `sql()` come to: where the server is, its tables, and the templates that make rows.

use super::connection;
use super::rows::{RowParts, Value, fixed};
use conf_schema::Settings;
use conf_syntax::{Arg, ArgKind};
use delivery::writer::Writer;
use diag::{Diagnostic, Reported};
use driver_options::secure::{self, Side};
use driver_options::templates::{compile, type_hint};
use driver_options::{Reading, ports};
use engine::Need;
use sql_client::{Column, Login, Plan, Shape, is_identifier, sanitize};
use std::sync::Arc;
use template::Template;
use tls::Connector;

/// Which database it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Postgres,
    Mysql,
    Sqlite,
}

impl Kind {
    /// As type() says it.
    fn word(self) -> &'static str {
        match self {
            Kind::Postgres => "pgsql",
            Kind::Mysql => "mysql",
            Kind::Sqlite => "sqlite3",
        }
    }
}

pub struct Target {
    pub kind: Kind,
    pub login: Login,
    pub plan: Plan,
    /// Messages have places, by which it is known what comes again.
    pub has_places: bool,
    /// Without its disk-buffer().
    pub writer: Writer,
    /// For names.
    pub address: String,
}

/// The type of a column that does not say.
const COLUMN_TYPE: &str = "text";

/// Reads everything that is not about batches.
pub fn read(r: &mut Reading<'_>) -> Result<Target, Reported> {
    let s = r.s;
    let kind = kind(s);
    let login = login(r, kind)?;
    let table = table(r)?;
    let (columns, values) = columns(r)?;
    let indexes = names_of_columns(r, "indexes", &columns)?;
    let unique = unique(r, &columns)?;
    let place = place(r)?;
    let has_places = place.is_some();
    let literal = table.literal().map(|name| literal_name(s, name));
    let shown = s.template("table").map_or("messages", |table| table.text.as_str());
    let word = kind.word();
    let address = match kind {
        Kind::Sqlite => format!("{word},{},{shown}", login.database),
        _ => format!("{word},{},{},{},{shown}", login.host, login.port, login.database),
    };
    let text = |name: &str| s.text(name).unwrap_or_default().to_owned();
    let null = s.text("null").map(|null| null.as_bytes().to_vec());
    let by_message = literal.is_none();
    let plan = Plan {
        table: literal,
        names_schema: shown.contains('.'),
        columns,
        indexes,
        unique,
        create_append: text("create-statement-append"),
        makes_tables: !s.flag("flags", "dont-create-tables"),
        quote: text("quote-char"),
        session_statements: s.list("session-statements").iter().map(|text| text.text.clone()).collect(),
    };
    let parts = RowParts::new(place, values, by_message, null, Shape::of(&plan).mark());
    // The text of each message is the name of its table, where that is not the same for all.
    let named = if by_message { table } else { r.own_template("")? };
    let mut writer = Writer::new(named, r.cx.identity);
    writer.parts = Some(Arc::new(parts));
    // Each batch is a transaction anyway.
    let _ = s.flag("flags", "explicit-commits");
    Ok(Target { kind, login, plan, has_places, writer, address })
}

/// SQLite's database is a file, with others that come and go beside it.
pub fn needs(s: &Settings) -> Vec<Need<'static>> {
    match (kind(s), s.text("database")) {
        (Kind::Sqlite, Some(path)) => {
            let path = path.to_owned();
            vec![Need::Output { option: "database", path, create_dirs: None }, Need::Connects(Vec::new())]
        }
        _ => Vec::new(),
    }
}

fn kind(s: &Settings) -> Kind {
    match s.choice("type") {
        Some("pgsql") => Kind::Postgres,
        Some("sqlite3") => Kind::Sqlite,
        _ => Kind::Mysql,
    }
}

fn login(r: &mut Reading<'_>, kind: Kind) -> Result<Login, Reported> {
    let given = r.s.is_set("port");
    let port = match (given, kind) {
        (true, _) => ports::port(r.s, "port", false, r.diags)?,
        (false, Kind::Postgres) => 5432,
        (false, _) => 3306,
    };
    if !given {
        let _ = r.s.port("port");
    }
    let text = |name: &str| r.s.text(name).unwrap_or_default().to_owned();
    let host = text("host");
    let (user, password, database) = (text("username"), text("password"), text("database"));
    let asked = secure::read(r.s, "", Side::Destination, r.diags)?;
    let dbd = connection::dbd_options(kind, r)?;
    let socket =
        dbd.socket.or_else(|| (kind == Kind::Postgres && host.starts_with('/')).then(|| host.clone()));
    let is_here = socket.is_some() || kind == Kind::Sqlite;
    if is_here && r.s.is_set("tls") {
        let text = "what does not leave this machine is not encrypted";
        return r.wrong("tls", text, "leave tls() out");
    }
    if kind == Kind::Sqlite && !database.starts_with('/') {
        let at = r.s.span("database");
        let text = format!("`{database}` is no path of a file");
        return r.wrong_at(at, text, "write `database(\"/var/lib/penstock/logs.db\")`");
    }
    let tls_files = match (&asked, kind) {
        (Some(options), Kind::Mysql) => Some(connection::tls_files(options, r)?),
        _ => None,
    };
    // Read now, so that what is wrong shows with the first connection at the latest.
    let tls = asked.filter(|_| kind == Kind::Postgres).map(|mut options| {
        options.sni = true;
        Connector::load(&options)
    });
    Ok(Login { host, port, user, password, database, socket, tls, tls_files })
}

fn table(r: &mut Reading<'_>) -> Result<Arc<Template>, Reported> {
    let (text, at) = match r.s.template("table") {
        Some(table) => (table.text.clone(), table.span),
        None => ("messages".to_owned(), r.call_span()?),
    };
    // Date macros in names of tables are in local time, as in names of files.
    let options = r.templates.for_file_names();
    let table = compile(&text, at, &options, r.cx, r.diags)?;
    if table.literal().is_some_and(<[u8]>::is_empty) {
        return r.wrong_at(Some(at), "the table has no name", "write `table(\"messages\")`, or leave it out");
    }
    Ok(table)
}

/// A table that the configuration names: as one that a message names, unless it has to be there anyway.
fn literal_name(s: &Settings, name: &[u8]) -> String {
    let mut name = name.to_vec();
    if !s.flag("flags", "dont-create-tables") {
        sanitize(&mut name);
    }
    String::from_utf8_lossy(&name).into_owned()
}

fn columns(r: &mut Reading<'_>) -> Result<(Vec<Column>, Vec<Value>), Reported> {
    let (listed, given) = (r.s.list("columns"), r.s.args("values"));
    for (option, is_empty) in [("columns", listed.is_empty()), ("values", given.is_empty())] {
        if is_empty {
            let at = r.s.span(option);
            let help = "write `columns(\"host text\", \"message text\") values(\"$HOST\", \"$MSG\")`";
            return r.wrong_at(at, format!("sql() needs {option}()"), help);
        }
    }
    if listed.len() != given.len() {
        let text = format!("there are {} columns and {} values", listed.len(), given.len());
        let at = r.s.span("values");
        return r.wrong_at(at, text, "give one value for each column");
    }
    let (mut columns, mut values): (Vec<Column>, Vec<Value>) = Default::default();
    for (column, arg) in listed.iter().zip(given) {
        let text = column.text.trim();
        let (name, kind) = text.split_once([' ', '\t']).unwrap_or((text, COLUMN_TYPE));
        if !is_identifier(name) || name.contains('.') {
            return r.wrong_at(Some(column.span), format!("`{name}` is no name of a column"), NAMES);
        }
        if columns.iter().any(|known| known.name.eq_ignore_ascii_case(name)) {
            let text = format!("there are two columns `{name}`");
            return r.wrong_at(Some(column.span), text, "give each its own name");
        }
        let is_default = matches!(&arg.kind, ArgKind::Ident(word) if word == "default");
        columns.push(Column { name: name.to_owned(), kind: kind.trim().to_owned(), is_default });
        if !is_default {
            values.push(value(r, arg)?);
        }
    }
    if values.is_empty() {
        let at = r.s.span("values");
        return r.wrong_at(at, "all values are default", "give a template for at least one column");
    }
    Ok((columns, values))
}

/// A template, which may have a type: the server looks whether a text is one of the column's.
fn value(r: &mut Reading<'_>, arg: &Arg) -> Result<Value, Reported> {
    let arg = match &arg.kind {
        ArgKind::Call(call) if call.args.len() == 1 => {
            type_hint(&call.name, r.diags)?;
            call.args.first().ok_or(Reported)?
        }
        _ => arg,
    };
    let Some(text) = arg.text() else {
        let help = "write a template, `\"$MSG\"`, or `default`";
        return r.wrong_at(Some(arg.span), "this is no value", help);
    };
    let template = r.compile(text, arg.span)?;
    let null = r.s.text("null").map(str::as_bytes);
    Ok(match template.literal() {
        Some(literal) => fixed(literal, null),
        None => Value::Template(template),
    })
}

/// Columns that an option names.
fn names_of_columns(r: &mut Reading<'_>, option: &str, columns: &[Column]) -> Result<Vec<String>, Reported> {
    let mut names = Vec::new();
    for name in r.s.list(option) {
        if !columns.iter().any(|column| column.name == name.text) {
            let known = columns.iter().map(|column| column.name.as_str());
            let finding = format!("{option}() names `{}`, and there is no such column", name.text);
            let finding = Diagnostic::error("D0180", finding, name.span);
            r.diags.push(finding.suggest(diag::nearest(&name.text, known)));
            return Err(Reported);
        }
        names.push(name.text.clone());
    }
    Ok(names)
}

/// Columns by which a row is known to be there already: messages have to bring their values.
fn unique(r: &mut Reading<'_>, columns: &[Column]) -> Result<Vec<String>, Reported> {
    let unique = names_of_columns(r, "unique", columns)?;
    let of_server = columns.iter().find(|column| column.is_default && unique.contains(&column.name));
    if let Some(column) = of_server {
        let at = r.s.span("unique");
        let text = format!("the server makes up `{}`, so no row would be there already", column.name);
        return r.wrong_at(at, text, "name columns whose values come from messages");
    }
    Ok(unique)
}

/// The templates of offsets().
fn place(r: &mut Reading<'_>) -> Result<Option<[Arc<Template>; 2]>, Reported> {
    let args = r.s.args("offsets");
    if !r.s.is_set("offsets") {
        return Ok(None);
    }
    let texts: Option<Vec<(&str, _)>> = args.iter().map(|arg| Some((arg.text()?, arg.span))).collect();
    let [(name, at), (number, number_at)] = texts.as_deref().unwrap_or_default() else {
        let help = "write `offsets(\"${.kafka.topic}/${.kafka.partition}\" \"${.kafka.offset}\")`";
        return r.wrong("offsets", "offsets() takes the name of a sequence and the number in it", help);
    };
    Ok(Some([r.compile(name, *at)?, r.compile(number, *number_at)?]))
}

const NAMES: &str = "letters, digits and `_`, with no digit at the front";
