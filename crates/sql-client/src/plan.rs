//! What all batches of a destination have in common.

use crate::server::About;
use diag::Fault;
use std::path::PathBuf;
use std::sync::Arc;
use tls::Connector;

/// A column as the configuration names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    pub name: String,
    /// The type in a table that is made, with all that may stand behind it.
    pub kind: String,
    /// Its value is the server's own: it is left out of rows.
    pub is_default: bool,
}

/// Where a server is, and as whom it is spoken to.
#[derive(Clone, Default)]
pub struct Login {
    pub host: String,
    pub port: u16,
    pub user: String,
    pub password: String,
    pub database: String,
    /// A socket of this machine in the place of host and port.
    pub socket: Option<String>,
    /// How it is encrypted, or why it cannot be; `None`: in the clear.
    pub tls: Option<Result<Arc<Connector>, Fault>>,
    /// The same, for a library with sessions of its own.
    pub tls_files: Option<TlsFiles>,
}

impl Login {
    /// Which database it is, of which server.
    pub fn whereabouts(&self) -> Vec<About> {
        let server = match &self.socket {
            Some(socket) => socket.clone(),
            None => format!("{}:{}", self.host, self.port),
        };
        vec![("server", server.into()), ("database", self.database.as_str().into())]
    }
}

#[derive(Clone, Debug)]
pub struct TlsFiles {
    /// None: those that the library knows.
    pub authorities: Vec<PathBuf>,
    /// A certificate and its key.
    pub identity: Option<(PathBuf, PathBuf)>,
    pub verifies: bool,
    pub checks_name: bool,
}

#[derive(Clone)]
pub struct Plan {
    /// `None`: each row begins with the name of its table.
    pub table: Option<String>,
    /// What the configuration says of their names has a schema.
    pub names_schema: bool,
    pub columns: Vec<Column>,
    /// Columns that get an index where they are made.
    pub indexes: Vec<String>,
    /// Of rows with the same values in these columns only the first is put; none: each is.
    pub unique: Vec<String>,
    /// What stands behind the statement that makes a table.
    pub create_append: String,
    /// Tables and columns that are not there are made.
    pub makes_tables: bool,
    /// Stands on both sides of names in statements.
    pub quote: String,
    /// Statements that every connection begins with.
    pub session_statements: Vec<String>,
}

impl Plan {
    pub fn quoted(&self, name: &str) -> String {
        format!("{0}{name}{0}", self.quote)
    }

    /// Whether a message has named a table that is somebody else's: one of the server's own, or in a schema
    /// that the configuration does not speak of.
    pub fn is_foreign(&self, table: &str) -> bool {
        const OWN: [&str; 2] = ["pg_", "sqlite_"];
        const SCHEMAS: [&str; 5] = ["pg_catalog", "information_schema", "performance_schema", "mysql", "sys"];
        let name = table.to_ascii_lowercase();
        let is_servers = match name.split_once('.') {
            Some((schema, _)) => SCHEMAS.contains(&schema) || !self.names_schema,
            None => OWN.iter().any(|head| name.starts_with(head)),
        };
        self.table.is_none() && is_servers
    }

    /// Fields of a row.
    pub fn fields(&self) -> usize {
        self.columns.iter().filter(|column| !column.is_default).count()
    }

    /// The columns that make a row the same as another, as statements list them; `None`: none do.
    pub fn listed_unique(&self) -> Option<String> {
        let names: Vec<String> = self.unique.iter().map(|name| self.quoted(name)).collect();
        (!names.is_empty()).then(|| names.join(", "))
    }

    /// The columns of rows, as statements list them.
    pub fn listed(&self) -> String {
        let names = self.columns.iter().filter(|column| !column.is_default);
        names.map(|column| self.quoted(&column.name)).collect::<Vec<_>>().join(", ")
    }
}
