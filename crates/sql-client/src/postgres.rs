//! PostgreSQL: rows by COPY, which is two hundred times cheaper than INSERT, and names the line that it does
//! not take.

mod errors;

use crate::batch::Rows;
use crate::not_done::NotDone;
use crate::plan::{Login, Plan};
use crate::schema;
use crate::server::{About, Keys, Server};
use bytes::Bytes;
use errors::{Stage, fault};
use futures_util::SinkExt;
use std::collections::HashMap;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::AbortHandle;
use tokio_postgres::config::SslMode;
use tokio_postgres::{Client, Config, NoTls, SimpleQueryMessage, Statement};
use tokio_postgres_rustls::MakeRustlsConnect;

/// A server that does not let us in within this time is away.
const CONNECT_MAX: Duration = Duration::from_secs(20);
/// Bytes that are sent and not acknowledged by the other kernel end the connection after this time.
const USER_TIMEOUT: Duration = Duration::from_secs(60);
const KEEPALIVE: Duration = Duration::from_secs(60);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(10);
const KEEPALIVE_PROBES: u32 = 3;
/// Rows go in messages of so many bytes, so that little is sent in vain when one of them is bad.
const MESSAGE_BYTES: usize = 256 * 1024;
/// Statements that are kept prepared, one for each table.
const COPIES_MAX: usize = 256;

pub struct Postgres {
    plan: Arc<Plan>,
    login: Arc<Login>,
    open: Option<Open>,
}

struct Open {
    client: Client,
    driver: AbortHandle,
    copies: HashMap<String, Statement>,
}

impl Drop for Open {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

impl Postgres {
    pub fn new(plan: Arc<Plan>, login: Arc<Login>) -> Postgres {
        Postgres { plan, login, open: None }
    }

    fn config(&self) -> Config {
        let login = &self.login;
        let mut config = Config::new();
        config.user(&login.user).dbname(&login.database).port(login.port);
        config.application_name("penstock").connect_timeout(CONNECT_MAX).tcp_user_timeout(USER_TIMEOUT);
        config
            .keepalives_idle(KEEPALIVE)
            .keepalives_interval(KEEPALIVE_INTERVAL)
            .keepalives_retries(KEEPALIVE_PROBES);
        if !login.password.is_empty() {
            config.password(&login.password);
        }
        match &login.socket {
            Some(folder) => config.host_path(folder),
            None => config.host(&login.host),
        };
        config.ssl_mode(if login.tls.is_some() { SslMode::Require } else { SslMode::Disable });
        config
    }

    async fn connect(&self) -> Result<Open, NotDone> {
        let config = self.config();
        let failed = |error| fault(&error, Stage::Login);
        let (client, driver) = match &self.login.tls {
            None => {
                let (client, connection) = config.connect(NoTls).await.map_err(failed)?;
                // What goes wrong is said to whoever has asked something.
                (client, tokio::spawn(async move { drop(connection.await) }).abort_handle())
            }
            Some(tls) => {
                let tls = tls.as_ref().map_err(|fault| NotDone::Hold(fault.said().to_owned()))?;
                let session = tls.client_config().map_err(|fault| NotDone::Hold(fault.into()))?;
                let session = MakeRustlsConnect::new((*session).clone());
                let (client, connection) = config.connect(session).await.map_err(failed)?;
                (client, tokio::spawn(async move { drop(connection.await) }).abort_handle())
            }
        };
        Ok(Open { client, driver, copies: HashMap::new() })
    }

    /// The connection; without one, it is away.
    fn here(&mut self) -> Result<&mut Open, NotDone> {
        self.open.as_mut().ok_or_else(|| NotDone::Away("there is no connection".to_owned()))
    }
}

impl Open {
    /// `place`: a table with its columns.
    async fn copy(&mut self, place: &str) -> Result<Statement, NotDone> {
        if let Some(statement) = self.copies.get(place) {
            return Ok(statement.clone());
        }
        let text = format!("COPY {place} FROM STDIN");
        let statement = self.client.prepare(&text).await.map_err(|error| fault(&error, Stage::Statement))?;
        if self.copies.len() >= COPIES_MAX {
            self.copies.clear();
        }
        self.copies.insert(place.to_owned(), statement.clone());
        Ok(statement)
    }

    async fn run(&self, statement: &str, stage: Stage) -> Result<(), NotDone> {
        self.client.batch_execute(statement).await.map_err(|error| fault(&error, stage))
    }

    async fn copy_rows(&mut self, place: &str, rows: &Rows) -> Result<(), NotDone> {
        let statement = self.copy(place).await?;
        let begun = self.client.copy_in::<_, Bytes>(&statement).await;
        let mut sink = pin!(begun.map_err(|error| fault(&error, Stage::Statement))?);
        let mut bytes = rows.bytes();
        while !bytes.is_empty() {
            let piece = bytes.split_to(bytes.len().min(MESSAGE_BYTES));
            if sink.send(piece).await.is_err() {
                // Why, its end says.
                break;
            }
        }
        let ended = sink.as_mut().finish().await;
        // A trigger or a rule of the table may pass rows over: that is its right.
        ended.map(drop).map_err(|error| fault(&error, Stage::Rows))
    }
}

impl Server for Postgres {
    const BEGIN: &'static str = "BEGIN";
    const LOCKS: &'static str = " FOR UPDATE";

    fn is_open(&self) -> bool {
        self.open.as_ref().is_some_and(|open| !open.client.is_closed())
    }

    async fn open(&mut self) -> Result<(), NotDone> {
        self.open = None;
        let connected = tokio::time::timeout(CONNECT_MAX, self.connect()).await;
        let host = &self.login.host;
        self.open = Some(connected.map_err(|_| NotDone::Away(format!("{host}: no answer to the login")))??);
        Ok(())
    }

    async fn ready(&mut self) -> Result<(), NotDone> {
        Ok(())
    }

    fn close(&mut self) {
        self.open = None;
    }

    async fn number(&mut self, query: &str) -> Result<Option<u64>, NotDone> {
        let answers = self.here()?.client.simple_query(query).await;
        let answers = answers.map_err(|error| fault(&error, Stage::Statement))?;
        Ok(answers.iter().find_map(|answer| match answer {
            SimpleQueryMessage::Row(row) => row.get(0)?.parse().ok(),
            _ => None,
        }))
    }

    async fn columns(&mut self, table: &str) -> Result<Option<Vec<String>>, NotDone> {
        let text = format!("SELECT * FROM {} WHERE 1=0", self.plan.quoted(table));
        match self.here()?.client.prepare(&text).await {
            Ok(statement) => {
                Ok(Some(statement.columns().iter().map(|column| column.name().to_owned()).collect()))
            }
            Err(error) if errors::is_missing_table(&error) => Ok(None),
            Err(error) => Err(fault(&error, Stage::Statement)),
        }
    }

    async fn execute(&mut self, statement: &str) -> Result<u64, NotDone> {
        let answers = self.here()?.client.simple_query(statement).await;
        let answers = answers.map_err(|error| fault(&error, Stage::Statement))?;
        let changed = answers.iter().filter_map(|answer| match answer {
            SimpleQueryMessage::CommandComplete(rows) => Some(*rows),
            _ => None,
        });
        Ok(changed.sum())
    }

    /// COPY says no keys; rows have the number of their transaction, see [`Server::transaction`].
    async fn put(&mut self, plan: &Plan, table: &str, rows: &Rows, _keys: &mut Keys) -> Result<(), NotDone> {
        let (name, columns) = (plan.quoted(table), plan.listed());
        let place = format!("{name} ({columns})");
        let unique = plan.listed_unique();
        let open = self.here()?;
        let Some(unique) = unique else {
            return open.copy_rows(&place, rows).await;
        };
        // COPY knows no conflicts: rows arrive in a table of this connection, and those that are not there go
        // on in the same transaction.
        let arriving = format!("penstock_{:016x}", schema::number_of(&place));
        if open.copies.len() >= COPIES_MAX {
            open.run("DISCARD TEMP", Stage::Statement).await?;
        }
        let like = format!("ON COMMIT DELETE ROWS AS SELECT {columns} FROM {name} WITH NO DATA");
        let make = format!("CREATE TEMP TABLE IF NOT EXISTS {arriving} {like}");
        open.run(&make, Stage::Statement).await?;
        open.copy_rows(&format!("{arriving} ({columns})"), rows).await?;
        let go_on = format!("INSERT INTO {place} SELECT {columns} FROM {arriving}");
        let go_on = format!("{go_on} ON CONFLICT ({unique}) DO NOTHING; TRUNCATE {arriving}");
        open.run(&go_on, Stage::Rows).await
    }

    fn whereabouts(&self) -> Vec<About> {
        self.login.whereabouts()
    }

    async fn transaction(&mut self) -> Result<Option<u64>, NotDone> {
        // Rows have the low half of it as their xmin. A server that knows no such thing ends what it is asked
        // in.
        self.execute("SAVEPOINT penstock_asks").await?;
        match self.number("SELECT txid_current()").await {
            Ok(number) => Ok(number),
            Err(fault @ (NotDone::Away(_) | NotDone::Unknown(_))) => Err(fault),
            Err(_) => self.execute("ROLLBACK TO SAVEPOINT penstock_asks").await.map(|_| None),
        }
    }

    async fn commit(&mut self) -> Result<(), NotDone> {
        let ended = self.here()?.client.simple_query("COMMIT").await;
        ended.map(drop).map_err(|error| fault(&error, Stage::Commit))
    }
}
