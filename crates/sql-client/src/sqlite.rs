//! SQLite: a file of this machine, written through by threads that may wait for the disk.

use crate::batch::Rows;
use crate::not_done::NotDone;
use crate::plan::{Login, Plan};
use crate::row;
use crate::server::{About, Keys, Server};
use rusqlite::{Connection, Error, ErrorCode, OpenFlags};
use std::sync::Arc;
use std::time::Duration;

/// How long to wait for another program that writes.
const BUSY: Duration = Duration::from_secs(5);

pub struct Sqlite {
    plan: Arc<Plan>,
    login: Arc<Login>,
    open: Option<Connection>,
}

impl Sqlite {
    pub fn new(plan: Arc<Plan>, login: Arc<Login>) -> Sqlite {
        Sqlite { plan, login, open: None }
    }

    /// Does something with the connection where waiting harms nobody.
    async fn run<T, F>(&mut self, work: F) -> Result<T, NotDone>
    where
        T: Send + 'static,
        F: FnOnce(&mut Connection) -> Result<T, NotDone> + Send + 'static,
    {
        let Some(mut open) = self.open.take() else {
            return Err(NotDone::Away("the database is not open".to_owned()));
        };
        let done = tokio::task::spawn_blocking(move || {
            let result = work(&mut open);
            (open, result)
        });
        let (open, result) = done.await.map_err(|error| NotDone::Unknown(error.to_string()))?;
        self.open = Some(open);
        result
    }
}

fn opened(path: &str) -> Result<Connection, Error> {
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let open = Connection::open_with_flags(path, flags)?;
    open.busy_timeout(BUSY)?;
    // Readers do not hold writers up, and what is committed is on the disk.
    open.query_row("PRAGMA journal_mode=WAL", [], |_| Ok(()))?;
    // What a refused row undoes is remembered in memory: a sandbox has no folder for temporary files.
    open.execute_batch("PRAGMA synchronous=FULL; PRAGMA temp_store=MEMORY")?;
    Ok(open)
}

/// What an error means; of a row, the caller knows which.
fn fault(error: &Error) -> NotDone {
    let why = error.to_string();
    let Error::SqliteFailure(said, _) = error else {
        return match error {
            Error::SqlInputError { msg, .. } if is_about_a_name(msg) => NotDone::Table(why),
            _ => NotDone::Hold(why),
        };
    };
    match said.code {
        ErrorCode::DatabaseBusy
        | ErrorCode::DatabaseLocked
        | ErrorCode::DiskFull
        | ErrorCode::OutOfMemory
        | ErrorCode::SystemIoFailure
        | ErrorCode::FileLockingProtocolFailed
        | ErrorCode::OperationInterrupted => NotDone::Busy(why),
        ErrorCode::ConstraintViolation | ErrorCode::TypeMismatch | ErrorCode::TooBig => NotDone::Rows(why),
        _ if is_about_a_name(&why) => NotDone::Table(why),
        _ => NotDone::Hold(why),
    }
}

fn is_about_a_name(words: &str) -> bool {
    words.contains("unknown database") || words.contains("syntax error")
}

/// What is put into a table.
struct Insert {
    statement: String,
    fields: usize,
    rows: Rows,
    /// Places of rows whose numbers somebody wants to know.
    asked: Vec<usize>,
}

/// Returns the numbers that were asked for, of rows that were not there already.
fn insert(open: &mut Connection, wanted: &Insert) -> Result<Vec<(usize, u64)>, NotDone> {
    let Insert { statement, fields, rows, asked } = wanted;
    let (fields, mut said) = (*fields, Vec::new());
    let mut insert = open.prepare_cached(statement).map_err(|error| fault(&error))?;
    for (at, text) in rows.iter().enumerate() {
        let mut count = 0;
        for field in row::fields(text).take(fields + 1) {
            count += 1;
            if count > fields {
                break;
            }
            let text = field.as_deref().map(String::from_utf8_lossy);
            insert.raw_bind_parameter(count, text.as_deref()).map_err(|error| fault(&error))?;
        }
        if count != fields {
            let why = format!("the row has other fields than there are columns, which are {fields}");
            return Err(NotDone::Row { at, why });
        }
        let made = insert.raw_execute().map_err(|error| match fault(&error) {
            NotDone::Rows(why) => NotDone::Row { at, why },
            fault => fault,
        })?;
        if made > 0 && asked.binary_search(&at).is_ok() {
            said.extend(u64::try_from(open.last_insert_rowid()).map(|number| (at, number)));
        }
    }
    Ok(said)
}

impl Server for Sqlite {
    const BEGIN: &'static str = "BEGIN IMMEDIATE";

    fn is_open(&self) -> bool {
        self.open.is_some()
    }

    async fn open(&mut self) -> Result<(), NotDone> {
        let path = self.login.database.clone();
        let shown = path.clone();
        let opened = tokio::task::spawn_blocking(move || opened(&path)).await;
        let opened = opened.map_err(|error| NotDone::Away(error.to_string()))?;
        self.open = Some(opened.map_err(|error| match fault(&error) {
            NotDone::Busy(why) => NotDone::Busy(format!("{shown}: {why}")),
            _ => NotDone::Hold(format!("{shown}: {error}")),
        })?);
        Ok(())
    }

    async fn ready(&mut self) -> Result<(), NotDone> {
        Ok(())
    }

    fn close(&mut self) {
        self.open = None;
    }

    async fn columns(&mut self, table: &str) -> Result<Option<Vec<String>>, NotDone> {
        let text = format!("SELECT * FROM {} WHERE 1=0", self.plan.quoted(table));
        self.run(move |open| match open.prepare(&text) {
            Ok(statement) => Ok(Some(statement.column_names().map(str::to_owned).collect())),
            Err(error) if error.to_string().contains("no such table") => Ok(None),
            Err(error) => Err(fault(&error)),
        })
        .await
    }

    async fn execute(&mut self, statement: &str) -> Result<u64, NotDone> {
        let text = statement.to_owned();
        self.run(move |open| {
            open.execute_batch(&text).map_err(|error| fault(&error))?;
            Ok(open.changes())
        })
        .await
    }

    async fn put(&mut self, table: &str, rows: &Rows, keys: &mut Keys) -> Result<(), NotDone> {
        let fields = self.plan.fields();
        let places = vec!["?"; fields].join(",");
        let unique = self.plan.listed_unique();
        let tail = unique.map(|unique| format!(" ON CONFLICT ({unique}) DO NOTHING")).unwrap_or_default();
        let (name, columns) = (self.plan.quoted(table), self.plan.listed());
        let statement = format!("INSERT INTO {name} ({columns}) VALUES ({places}){tail}");
        let wanted = Insert { statement, fields, rows: rows.clone(), asked: keys.asked.clone() };
        let said = self.run(move |open| insert(open, &wanted)).await?;
        keys.said = said.into_iter().map(|(at, number)| (at, ("rowid", number.into()))).collect();
        Ok(())
    }

    fn whereabouts(&self) -> Vec<About> {
        vec![("file", self.login.database.as_str().into())]
    }

    /// The number of a row says all.
    async fn transaction(&mut self) -> Result<Option<u64>, NotDone> {
        Ok(None)
    }

    async fn commit(&mut self) -> Result<(), NotDone> {
        self.execute("COMMIT").await.map(drop)
    }

    async fn number(&mut self, query: &str) -> Result<Option<u64>, NotDone> {
        let text = query.to_owned();
        self.run(move |open| {
            let found = open.query_row(&text, [], |row| row.get::<_, i64>(0));
            match found {
                Ok(number) => Ok(u64::try_from(number).ok()),
                Err(Error::QueryReturnedNoRows) => Ok(None),
                Err(error) => Err(fault(&error)),
            }
        })
        .await
    }
}
