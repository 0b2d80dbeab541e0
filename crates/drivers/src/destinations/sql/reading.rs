//! What the options of `sql()` come to: where the server is, its tables, and the templates that make rows.

use super::connection;
use super::rows::{RowParts, Value, fixed};
use conf_schema::Settings;
use conf_syntax::{Arg, ArgKind};
use delivery::writer::Writer;
use diag::{Diagnostic, Diagnostics, Span};
use driver_options::ports;
use driver_options::secure::{self, Side};
use driver_options::templates::{compile, type_hint};
use engine::driver::BuildContext;
use sql_client::{Column, Login, Plan, is_identifier};
use std::sync::Arc;
use template::{Template, TemplateOptions};
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
    /// Without its disk-buffer().
    pub writer: Writer,
    /// For names.
    pub address: String,
}

/// The type of a column that does not say.
const COLUMN_TYPE: &str = "text";

struct Reader<'a> {
    s: &'a Settings,
    options: &'a TemplateOptions,
    cx: &'a BuildContext<'a>,
    diags: &'a mut Diagnostics,
}

/// Reads everything that is not about batches; `None` after an error was reported.
pub fn read(
    s: &Settings,
    options: &TemplateOptions,
    cx: &BuildContext<'_>,
    diags: &mut Diagnostics,
) -> Option<Target> {
    let mut reader = Reader { s, options, cx, diags };
    let kind = reader.kind()?;
    let login = reader.login(kind)?;
    let table = reader.table()?;
    let (columns, values) = reader.columns()?;
    let indexes = reader.names_of_columns("indexes", &columns)?;
    let unique = reader.unique(&columns)?;
    let literal = table.literal().map(|name| String::from_utf8_lossy(name).into_owned());
    let shown = s.template("table").map_or("messages", |table| table.text.as_str());
    let word = kind.word();
    let address = match kind {
        Kind::Sqlite => format!("{word},{},{shown}", login.database),
        _ => format!("{word},{},{},{},{shown}", login.host, login.port, login.database),
    };
    let text = |name: &str| s.text(name).unwrap_or_default().to_owned();
    let null = s.text("null").map(|null| null.as_bytes().to_vec());
    let parts = RowParts::new(values, literal.is_none(), null);
    // The text of each message is the name of its table, where that is not the same for all.
    let named = if literal.is_some() { reader.compile("", s.call_span()?)? } else { table };
    let mut writer = Writer::new(named, cx.identity);
    writer.parts = Some(Arc::new(parts));
    let plan = Plan {
        table: literal,
        columns,
        indexes,
        unique,
        create_append: text("create-statement-append"),
        makes_tables: !s.flag("flags", "dont-create-tables"),
        quote: text("quote-char"),
        session_statements: s.list("session-statements").iter().map(|text| text.text.clone()).collect(),
    };
    // Each batch is a transaction anyway.
    let _ = s.flag("flags", "explicit-commits");
    Some(Target { kind, login, plan, writer, address })
}

impl Reader<'_> {
    fn compile(&mut self, text: &str, span: Span) -> Option<Arc<Template>> {
        compile(text, span, self.options, self.cx, self.diags)
    }

    fn wrong<T>(&mut self, text: String, span: Span, help: &str) -> Option<T> {
        self.diags.push(Diagnostic::error("D0180", text, span).help(help.to_owned()));
        None
    }

    fn at(&self, option: &str) -> Option<Span> {
        self.s.span(option).or(self.s.call_span())
    }

    fn kind(&mut self) -> Option<Kind> {
        match self.s.choice("type") {
            Some("pgsql") => Some(Kind::Postgres),
            Some("sqlite3") => Some(Kind::Sqlite),
            _ => Some(Kind::Mysql),
        }
    }

    fn login(&mut self, kind: Kind) -> Option<Login> {
        let given = self.s.is_set("port");
        let port = match (given, kind) {
            (true, _) => ports::port(self.s, "port", false, self.diags)?,
            (false, Kind::Postgres) => 5432,
            (false, _) => 3306,
        };
        if !given {
            let _ = self.s.port("port");
        }
        let text = |name: &str| self.s.text(name).unwrap_or_default().to_owned();
        let host = text("host");
        let (user, password, database) = (text("username"), text("password"), text("database"));
        let asked = secure::read(self.s, "", Side::Destination, self.diags).ok()?;
        let dbd = connection::dbd_options(self.s, kind, self.diags)?;
        let socket =
            dbd.socket.or_else(|| (kind == Kind::Postgres && host.starts_with('/')).then(|| host.clone()));
        let is_here = socket.is_some() || kind == Kind::Sqlite;
        if let (true, Some(at)) = (is_here && self.s.is_set("tls"), self.s.span("tls")) {
            let text = "what does not leave this machine is not encrypted";
            return self.wrong(text.to_owned(), at, "leave tls() out");
        }
        if kind == Kind::Sqlite && !database.starts_with('/') {
            let at = self.at("database")?;
            let text = format!("`{database}` is no path of a file");
            return self.wrong(text, at, "write `database(\"/var/lib/penstock/logs.db\")`");
        }
        let tls_files = match (&asked, kind) {
            (Some(options), Kind::Mysql) => Some(connection::tls_files(self.s, options, self.diags)?),
            _ => None,
        };
        // Read now, so that what is wrong shows with the first connection at the latest.
        let tls = asked.filter(|_| kind == Kind::Postgres).map(|mut options| {
            options.sni = true;
            Connector::load(&options).map_err(|error| error.to_string())
        });
        Some(Login { host, port, user, password, database, socket, tls, tls_files })
    }

    fn table(&mut self) -> Option<Arc<Template>> {
        let (text, at) = match self.s.template("table") {
            Some(table) => (table.text.clone(), table.span),
            None => ("messages".to_owned(), self.s.call_span()?),
        };
        // Date macros in names of tables are in local time, as in names of files.
        let options = self.options.for_file_names();
        let table = compile(&text, at, &options, self.cx, self.diags)?;
        if let Some(name) = table.literal().filter(|name| !std::str::from_utf8(name).is_ok_and(is_identifier))
        {
            let name = String::from_utf8_lossy(name).into_owned();
            return self.wrong(format!("`{name}` is no name of a table"), at, NAMES);
        }
        Some(table)
    }

    fn columns(&mut self) -> Option<(Vec<Column>, Vec<Value>)> {
        let (listed, given) = (self.s.list("columns"), self.s.args("values"));
        for (option, is_empty) in [("columns", listed.is_empty()), ("values", given.is_empty())] {
            if is_empty {
                let at = self.at(option)?;
                let help = "write `columns(\"host text\", \"message text\") values(\"$HOST\", \"$MSG\")`";
                return self.wrong(format!("sql() needs {option}()"), at, help);
            }
        }
        if listed.len() != given.len() {
            let text = format!("there are {} columns and {} values", listed.len(), given.len());
            let at = self.at("values")?;
            return self.wrong(text, at, "give one value for each column");
        }
        let (mut columns, mut values): (Vec<Column>, Vec<Value>) = Default::default();
        for (column, arg) in listed.iter().zip(given) {
            let text = column.text.trim();
            let (name, kind) = text.split_once([' ', '\t']).unwrap_or((text, COLUMN_TYPE));
            if !is_identifier(name) || name.contains('.') {
                return self.wrong(format!("`{name}` is no name of a column"), column.span, NAMES);
            }
            if columns.iter().any(|known| known.name.eq_ignore_ascii_case(name)) {
                let text = format!("there are two columns `{name}`");
                return self.wrong(text, column.span, "give each its own name");
            }
            let is_default = matches!(&arg.kind, ArgKind::Ident(word) if word == "default");
            columns.push(Column { name: name.to_owned(), kind: kind.trim().to_owned(), is_default });
            if !is_default {
                values.push(self.value(arg)?);
            }
        }
        if values.is_empty() {
            let at = self.at("values")?;
            return self.wrong(
                "all values are default".to_owned(),
                at,
                "give a template for at least one column",
            );
        }
        Some((columns, values))
    }

    /// A template, which may have a type: the server looks whether a text is one of the column's.
    fn value(&mut self, arg: &Arg) -> Option<Value> {
        let arg = match &arg.kind {
            ArgKind::Call(call) if call.args.len() == 1 => {
                type_hint(&call.name, self.diags)?;
                call.args.first()?
            }
            _ => arg,
        };
        let Some(text) = arg.text() else {
            let help = "write a template, `\"$MSG\"`, or `default`";
            return self.wrong("this is no value".to_owned(), arg.span, help);
        };
        let template = self.compile(text, arg.span)?;
        let null = self.s.text("null").map(str::as_bytes);
        Some(match template.literal() {
            Some(literal) => fixed(literal, null),
            None => Value::Template(template),
        })
    }

    /// Columns that an option names.
    fn names_of_columns(&mut self, option: &str, columns: &[Column]) -> Option<Vec<String>> {
        let mut names = Vec::new();
        for name in self.s.list(option) {
            if !columns.iter().any(|column| column.name == name.text) {
                let known = columns.iter().map(|column| column.name.as_str());
                let finding = format!("{option}() names `{}`, and there is no such column", name.text);
                let finding = Diagnostic::error("D0180", finding, name.span);
                self.diags.push(finding.suggest(diag::nearest(&name.text, known)));
                return None;
            }
            names.push(name.text.clone());
        }
        Some(names)
    }

    /// Columns by which a row is known to be there already: messages have to bring their values.
    fn unique(&mut self, columns: &[Column]) -> Option<Vec<String>> {
        let unique = self.names_of_columns("unique", columns)?;
        let of_server = columns.iter().find(|column| column.is_default && unique.contains(&column.name));
        if let Some(column) = of_server {
            let at = self.at("unique")?;
            let text = format!("the server makes up `{}`, so no row would be there already", column.name);
            return self.wrong(text, at, "name columns whose values come from messages");
        }
        Some(unique)
    }
}

const NAMES: &str = "letters, digits and `_`, with a letter at the front; schemas of tables end with `.`";
