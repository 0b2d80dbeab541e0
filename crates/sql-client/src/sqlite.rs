//! SQLite: a file of this machine, written through by threads that may wait for the disk.

use crate::batch::Rows;
use crate::not_done::NotDone;
use crate::plan::{Login, Plan};
use crate::row;
use crate::server::{About, Keys, Server};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, Error, ErrorCode, OpenFlags};
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;
use std::time::Duration;

/// How long to wait for another program that writes.
const BUSY: Duration = Duration::from_secs(5);

/// Of a file that is made.
const PAGE_BYTES: usize = 16 << 10;
/// The same where there are indexes.
const PAGE_BYTES_INDEXED: usize = 4 << 10;

pub struct Sqlite {
    plan: Arc<Plan>,
    login: Arc<Login>,
    open: Option<Open>,
}

struct Open {
    connection: Connection,
    path: String,
    /// Device and inode of the file.
    file: Option<(u64, u64)>,
}

impl Open {
    fn new(path: String, page_bytes: usize) -> Result<Open, Error> {
        let connection = opened(&path, page_bytes)?;
        let file = file_at(&path).ok().flatten();
        Ok(Open { connection, path, file })
    }

    /// Its file is where it was: what was rotated away takes nothing more.
    fn is_in_place(&self) -> bool {
        file_at(&self.path).map_or(true, |file| file == self.file)
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        // SQLite does this at the end itself, unless the file has another name now: then what was written is
        // in a log that nobody finds.
        if !self.is_in_place() {
            let _ = self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        }
    }
}

/// Device and inode of the file at a path; `None`: there is none.
fn file_at(path: &str) -> std::io::Result<Option<(u64, u64)>> {
    match std::fs::metadata(path) {
        Ok(found) => Ok(Some((found.dev(), found.ino()))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
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
            let result = work(&mut open.connection);
            (open, result)
        });
        let (open, result) = done.await.map_err(|error| NotDone::Unknown(error.to_string()))?;
        self.open = Some(open);
        result
    }
}

fn opened(path: &str, page_bytes: usize) -> Result<Connection, Error> {
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let open = Connection::open_with_flags(path, flags)?;
    open.busy_timeout(BUSY)?;
    // Of a file that is there already, the size stays.
    open.pragma_update(None, "page_size", page_bytes as i64)?;
    // Readers do not hold writers up, and what is committed is on the disk.
    open.query_row("PRAGMA journal_mode=WAL", [], |_| Ok(()))?;
    // What a refused row undoes is remembered in memory: a sandbox has no folder for temporary files.
    open.execute_batch("PRAGMA synchronous=FULL; PRAGMA temp_store=MEMORY")?;
    Ok(open)
}

/// Rows behind one another fill large pages, which are fewer writes; an index changes a few bytes here and
/// there, and each change is a page.
fn page_bytes(plan: &Plan) -> usize {
    if plan.indexes.is_empty() && plan.unique.is_empty() { PAGE_BYTES } else { PAGE_BYTES_INDEXED }
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
    const SIGNS: [&str; 8] = [
        "unknown database",
        "syntax error",
        "reserved for internal use",
        "may not be altered",
        "may not be modified",
        "already an index named",
        "to a view",
        "it is a view",
    ];
    SIGNS.iter().any(|sign| words.contains(sign))
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
            // Text: rows are UTF-8.
            let value = field.as_deref().map_or(ValueRef::Null, ValueRef::Text);
            insert.raw_bind_parameter(count, ToSqlOutput::Borrowed(value)).map_err(|error| fault(&error))?;
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
    const LOCKS: &'static str = "";

    fn is_open(&self) -> bool {
        self.open.as_ref().is_some_and(Open::is_in_place)
    }

    async fn open(&mut self) -> Result<(), NotDone> {
        let path = self.login.database.clone();
        let shown = path.clone();
        let page_bytes = page_bytes(&self.plan);
        let before = self.open.take();
        if before.as_ref().is_some_and(|open| !open.is_in_place()) {
            oplog::notice(
                "Another file is begun: that of the database was moved or removed",
                &[("path", &shown)],
            );
        }
        let opened = tokio::task::spawn_blocking(move || {
            drop(before);
            Open::new(path, page_bytes)
        });
        let opened = opened.await;
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

    async fn put(&mut self, plan: &Plan, table: &str, rows: &Rows, keys: &mut Keys) -> Result<(), NotDone> {
        let fields = plan.fields();
        let places = vec!["?"; fields].join(",");
        let unique = plan.listed_unique();
        let tail = unique.map(|unique| format!(" ON CONFLICT ({unique}) DO NOTHING")).unwrap_or_default();
        let (name, columns) = (plan.quoted(table), plan.listed());
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Column;
    use bytes::Bytes;

    fn plan(indexes: &[&str]) -> Plan {
        let column = |name: &str| Column { name: name.into(), kind: "text".into(), is_default: false };
        Plan {
            table: Some("t".to_owned()),
            names_schema: false,
            columns: vec![column("a"), column("b")],
            indexes: indexes.iter().map(|name| (*name).to_owned()).collect(),
            unique: Vec::new(),
            create_append: String::new(),
            makes_tables: true,
            quote: String::new(),
            session_statements: Vec::new(),
        }
    }

    fn rows(text: &'static str) -> Rows {
        let ends = text.match_indices('\n').map(|(at, _)| at as u32 + 1).collect();
        Rows::new(Bytes::from_static(text.as_bytes()), ends)
    }

    #[test]
    fn texts_are_bound_as_they_are() {
        let mut open = Connection::open_in_memory().expect("open");
        open.execute_batch("CREATE TABLE t (a text, b text)").expect("a table");
        let statement = "INSERT INTO t (a, b) VALUES (?,?)".to_owned();
        let wanted = |rows| Insert { statement: statement.clone(), fields: 2, rows, asked: vec![1] };
        let said = insert(&mut open, &wanted(rows("größer\tb\\tc\n\t\\N\n"))).expect("put");
        assert_eq!(said, [(1, 2)]);
        let short = insert(&mut open, &wanted(rows("a\tb\nonly\n")));
        assert!(matches!(short, Err(NotDone::Row { at: 1, .. })), "{short:?}");
        let mut query = open.prepare("SELECT a, b, typeof(a) FROM t LIMIT 2").expect("a query");
        let found = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).expect("rows");
        let found: Vec<(String, Option<String>, String)> = found.map(|row| row.expect("a row")).collect();
        let text = |text: &str| text.to_owned();
        assert_eq!(
            found,
            [(text("größer"), Some(text("b\tc")), text("text")), (text(""), None, text("text")),]
        );
    }

    #[test]
    fn files_that_are_made_have_large_pages_where_nothing_is_indexed() {
        let size = |open: &Connection| open.query_row("PRAGMA page_size", [], |row| row.get::<_, i64>(0));
        let folder = std::env::temp_dir().join(format!("penstock-sqlite-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        for (indexes, expected) in [(&[][..], 16_384), (&["a"], 4096)] {
            let path = folder.join(expected.to_string());
            let path = path.to_str().expect("a path");
            let make = |bytes| opened(path, bytes).expect("open");
            let open = make(page_bytes(&plan(indexes)));
            open.execute_batch("CREATE TABLE t (a text)").expect("a table");
            assert_eq!(size(&open), Ok(expected));
            drop(open);
            // What is there keeps what it has.
            assert_eq!(size(&make(8192)), Ok(expected));
        }
        std::fs::remove_dir_all(&folder).expect("removed");
    }
}
