//! MySQL and MariaDB: rows by INSERT of many at a time, inside a transaction. LOAD DATA would be cheaper, and
//! changes what it cannot read without an error.

mod errors;
mod statement;

use crate::batch::Rows;
use crate::not_done::NotDone;
use crate::plan::{Login, Plan, TlsFiles};
use crate::server::{About, Keys, Server};
use errors::{Stage, fault};
use mysql_async::prelude::{AsQuery, Queryable};
use mysql_async::{ClientIdentity, Conn, Opts, OptsBuilder, SslOpts};
use statement::Inserts;
use std::sync::Arc;
use std::time::Duration;

/// A server that does not let us in within this time is away.
const CONNECT_MAX: Duration = Duration::from_secs(20);
const KEEPALIVE: Duration = Duration::from_secs(60);
/// The most bytes of a statement, where the server takes that much: as much as stays in a processor's cache
/// while the library copies it.
const STATEMENT_BYTES: usize = 256 << 10;
/// Bytes of a packet that are not the statement's.
const PACKET_EXTRA: usize = 1024;
/// Of these, those that every packet has.
const PACKET_HEAD: usize = 16;
/// What a column cannot hold is an error, and nothing is cut or made a zero.
const STRICT: &str = "SET SESSION sql_mode = CONCAT(@@SESSION.sql_mode, ',STRICT_ALL_TABLES')";

pub struct Mysql {
    plan: Arc<Plan>,
    login: Arc<Login>,
    open: Option<Conn>,
    /// A backslash in a literal is one, and nothing else.
    plain_backslash: bool,
    statement_bytes: usize,
    /// The most that the server takes at once.
    packet_bytes: usize,
}

impl Mysql {
    pub fn new(plan: Arc<Plan>, login: Arc<Login>) -> Mysql {
        let (plain_backslash, statement_bytes) = (false, STATEMENT_BYTES);
        Mysql { plan, login, open: None, plain_backslash, statement_bytes, packet_bytes: usize::MAX }
    }

    fn options(&self) -> Opts {
        let login = &self.login;
        let options = OptsBuilder::default()
            .ip_or_hostname(&login.host)
            .tcp_port(login.port)
            .socket(login.socket.clone())
            .prefer_socket(login.socket.is_some())
            .user(Some(&login.user))
            .pass(Some(&login.password).filter(|password| !password.is_empty()))
            .db_name(Some(&login.database))
            .tcp_keepalive(Some(KEEPALIVE))
            .ssl_opts(login.tls_files.as_ref().map(encrypted));
        options.into()
    }

    /// The connection; without one, it is away.
    fn here(&mut self) -> Result<&mut Conn, NotDone> {
        self.open.as_mut().ok_or_else(|| NotDone::Away("there is no connection".to_owned()))
    }

    async fn run(&mut self, statement: impl AsQuery, stage: Stage) -> Result<u64, NotDone> {
        let conn = self.here()?;
        match conn.query_drop(statement).await {
            Ok(()) => Ok(conn.affected_rows()),
            Err(error) => {
                if error.is_fatal() {
                    self.open = None;
                }
                Err(fault(&error, stage))
            }
        }
    }
}

fn encrypted(files: &TlsFiles) -> SslOpts {
    let owned = |path: &std::path::PathBuf| path.clone().into();
    let identity = files.identity.as_ref().map(|(cert, key)| ClientIdentity::new(owned(cert), owned(key)));
    SslOpts::default()
        .with_root_certs(files.authorities.iter().map(owned).collect())
        .with_disable_built_in_roots(!files.authorities.is_empty())
        .with_client_identity(identity)
        .with_danger_accept_invalid_certs(!files.verifies)
        .with_danger_skip_domain_validation(!files.verifies || !files.checks_name)
}

impl Server for Mysql {
    const BEGIN: &'static str = "START TRANSACTION";
    const LOCKS: &'static str = " FOR UPDATE";
    // It may be one of a statement in a trigger.
    const IS_SURE_OF_ROWS: bool = false;

    fn is_open(&self) -> bool {
        self.open.is_some()
    }

    async fn open(&mut self) -> Result<(), NotDone> {
        self.open = None;
        let connected = tokio::time::timeout(CONNECT_MAX, Conn::new(self.options())).await;
        let host = self.login.socket.as_ref().unwrap_or(&self.login.host);
        let connected = connected.map_err(|_| NotDone::Away(format!("{host}: no answer to the login")))?;
        self.open = Some(connected.map_err(|error| fault(&error, Stage::Login))?);
        self.run(STRICT, Stage::Statement).await.map(drop)
    }

    async fn ready(&mut self) -> Result<(), NotDone> {
        let asked = "SELECT @@SESSION.sql_mode, @@SESSION.max_allowed_packet";
        let answer = self.here()?.query_first::<(String, u64), _>(asked).await;
        let answer = answer.map_err(|error| fault(&error, Stage::Statement))?;
        let (mode, packet) = answer.unwrap_or_default();
        self.plain_backslash = mode.split(',').any(|word| word == "NO_BACKSLASH_ESCAPES");
        self.packet_bytes = packet as usize;
        self.statement_bytes =
            (packet as usize).saturating_sub(PACKET_EXTRA).clamp(PACKET_EXTRA, STATEMENT_BYTES);
        Ok(())
    }

    fn close(&mut self) {
        self.open = None;
    }

    async fn columns(&mut self, table: &str) -> Result<Option<Vec<String>>, NotDone> {
        let text = format!("SELECT * FROM {} WHERE 1=0", self.plan.quoted(table));
        let conn = self.here()?;
        let found = match conn.query_iter(text).await {
            Ok(result) => {
                let names =
                    result.columns_ref().iter().map(|column| column.name_str().into_owned()).collect();
                result.drop_result().await.map(|()| names)
            }
            Err(error) => Err(error),
        };
        match found {
            Ok(names) => Ok(Some(names)),
            Err(error) if errors::is_missing_table(&error) => Ok(None),
            Err(error) => Err(fault(&error, Stage::Statement)),
        }
    }

    async fn execute(&mut self, statement: &str) -> Result<u64, NotDone> {
        self.run(statement, Stage::Statement).await
    }

    async fn put(&mut self, plan: &Plan, table: &str, rows: &Rows, keys: &mut Keys) -> Result<(), NotDone> {
        let head = format!("INSERT INTO {} ({}) VALUES ", plan.quoted(table), plan.listed());
        let fields = plan.fields();
        // What is there already changes nothing.
        let unchanged = |name: &String| plan.quoted(name);
        let tail = plan.unique.first().map(unchanged);
        let tail = tail.map(|name| format!(" ON DUPLICATE KEY UPDATE {name}={name}")).unwrap_or_default();
        let mut inserts =
            Inserts::new(head, tail, fields).for_server(self.plain_backslash, self.statement_bytes);
        let mut done = 0;
        let mut rows = rows.iter();
        loop {
            let count = inserts.next(&mut rows, done)?;
            if count == 0 {
                return Ok(());
            }
            // The server would end the connection.
            let bytes = inserts.statement().len();
            if count == 1 && bytes + PACKET_HEAD > self.packet_bytes {
                let most = self.packet_bytes;
                let why =
                    format!("its INSERT has {bytes} bytes, and the server's max_allowed_packet is {most}");
                return Err(NotDone::Row { at: done, why });
            }
            let inserted = self.run(inserts.statement(), Stage::Statement).await;
            inserted.map_err(|fault| match fault {
                NotDone::Row { at, why } => NotDone::Row { at: done + at, why },
                fault => fault,
            })?;
            // Of the rows of a statement, the server says what the first is called.
            let first = self.open.as_ref().and_then(Conn::last_insert_id);
            if let Some(first) = first.filter(|first| *first > 0 && plan.unique.is_empty()) {
                let of_it = keys.asked.iter().filter(|at| (done..done + count).contains(*at));
                keys.said.extend(of_it.map(|at| (*at, ("first_id_of_statement", first.into()))));
            }
            done += count;
        }
    }

    fn whereabouts(&self) -> Vec<About> {
        self.login.whereabouts()
    }

    /// It does not say that to everybody.
    async fn transaction(&mut self) -> Result<Option<u64>, NotDone> {
        Ok(None)
    }

    async fn commit(&mut self) -> Result<(), NotDone> {
        self.run("COMMIT", Stage::Commit).await.map(drop)
    }

    async fn number(&mut self, query: &str) -> Result<Option<u64>, NotDone> {
        let found = self.here()?.query_first::<u64, _>(query).await;
        found.map_err(|error| fault(&error, Stage::Statement))
    }
}
