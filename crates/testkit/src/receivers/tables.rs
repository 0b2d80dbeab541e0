//! `sql()`: tables with a rule that the message `bad` breaks.

use super::{BAD, Destination, House, PLAIN, Receiver, Trial, Way, certificate};
use crate::lab::Lab;
use crate::mariadb::{self, Mariadb};
use crate::postgres::{self, Postgres};
use std::path::PathBuf;
use std::process::Command;

const KILLS: &[Trial] = &[Trial::ServerKilled, Trial::CollectorKilled];

pub(super) const ALL: &[Destination] = &[
    Destination { name: "postgresql", missing: postgres::MISSING, start: postgresql, ..PLAIN },
    Destination {
        name: "postgresql-exactly-once",
        missing: postgres::MISSING,
        start: exactly,
        once: KILLS,
        without: &[(Trial::Slow, "what waits is on its disk: nobody is held back")],
        ..PLAIN
    },
    Destination { name: "mariadb", missing: mariadb::MISSING, start: mysql, kills: 10, ..PLAIN },
    Destination {
        name: "sqlite",
        missing: "sqlite3 is not installed, see `./x servers mariadb`",
        start: sqlite,
        without: &[
            (Trial::Certificate, "it is a file"),
            (Trial::Login, "it is a file"),
            (Trial::ServerKilled, "it is a file"),
            (Trial::Slow, "it is a file"),
        ],
        ..PLAIN
    },
];

fn password(way: &Way<'_>) -> &'static str {
    if way.word() == "bad" { "wrong" } else { "secret" }
}

struct Pg {
    server: Postgres,
    own: &'static str,
}

fn postgresql(lab: &Lab, house: House) -> Option<Box<dyn Receiver>> {
    of_postgres(lab, house, "")
}

fn exactly(lab: &Lab, house: House) -> Option<Box<dyn Receiver>> {
    of_postgres(
        lab,
        house,
        "exactly-once(yes) disk-buffer(reliable(yes) capacity-bytes(64MiB) dir(\"%dir%\"))",
    )
}

fn of_postgres(lab: &Lab, house: House, own: &'static str) -> Option<Box<dyn Receiver>> {
    let files = (house == House::Secure).then(|| certificate(lab));
    let server = Postgres::start(lab, files.as_ref().map(|(cert, key)| (cert.as_path(), key.as_path())))?;
    if house == House::Strict {
        server.query(&format!(
            "CREATE TABLE messages (id bigserial, msg text CONSTRAINT strict CHECK (msg NOT LIKE '%number {BAD} of%')); \
             ALTER TABLE messages OWNER TO log"
        ));
    }
    Some(Box::new(Pg { server, own }))
}

impl Receiver for Pg {
    fn port(&self) -> u16 {
        self.server.port()
    }

    fn driver(&self, way: &Way<'_>) -> String {
        // A disk buffer of its own is what a trial would give it.
        let own = if way.options.contains("disk-buffer") { "exactly-once(yes)" } else { self.own };
        let own = if self.own.is_empty() { "" } else { own };
        format!(
            "sql(type(pgsql) host(\"127.0.0.1\") port({}) username(log) password({}) database(logs) \
             columns(\"id bigserial\", \"msg text\") values(default, \"$MSG\") batch-lines(500) time-reopen(1) {own} {} {})",
            way.port,
            password(way),
            way.tls(),
            way.options
        )
    }

    fn kill(&mut self) {
        self.server.kill();
    }

    fn run(&mut self) {
        self.server.run();
    }

    fn texts(&self) -> Vec<String> {
        match self.server.count("messages") {
            0 => Vec::new(),
            _ => self.server.query("SELECT msg FROM messages ORDER BY id"),
        }
    }

    fn mend(&mut self) -> bool {
        self.server.query("ALTER TABLE messages DROP CONSTRAINT strict");
        true
    }
}

fn mysql(lab: &Lab, house: House) -> Option<Box<dyn Receiver>> {
    let files = (house == House::Secure).then(|| certificate(lab));
    let server = Mariadb::start(lab, files.as_ref().map(|(cert, key)| (cert.as_path(), key.as_path())))?;
    if house == House::Strict {
        server.query(&format!(
            "CREATE TABLE messages (id bigint auto_increment primary key, msg text, \
             CONSTRAINT strict CHECK (msg NOT LIKE '%number {BAD} of%'))"
        ));
    }
    Some(Box::new(server))
}

impl Receiver for Mariadb {
    fn port(&self) -> u16 {
        Mariadb::port(self)
    }

    fn driver(&self, way: &Way<'_>) -> String {
        format!(
            "sql(type(mysql) host(\"127.0.0.1\") port({}) username(log) password({}) database(logs) \
             columns(\"id bigint auto_increment primary key\", \"msg text\") values(default, \"$MSG\") \
             batch-lines(500) time-reopen(1) {} {})",
            way.port,
            password(way),
            way.tls(),
            way.options
        )
    }

    fn kill(&mut self) {
        Mariadb::kill(self);
    }

    fn run(&mut self) {
        Mariadb::run(self);
    }

    fn texts(&self) -> Vec<String> {
        match self.query("SHOW TABLES LIKE 'messages'").len() {
            0 => Vec::new(),
            _ => self.query("SELECT msg FROM messages ORDER BY id"),
        }
    }

    fn mend(&mut self) -> bool {
        self.query("ALTER TABLE messages DROP CONSTRAINT strict");
        true
    }
}

struct Sqlite(PathBuf);

fn sqlite(lab: &Lab, house: House) -> Option<Box<dyn Receiver>> {
    let there = Command::new("sqlite3").arg("--version").output();
    there.ok().filter(|output| output.status.success())?;
    let file = Sqlite(lab.path("logs.db"));
    if house == House::Strict {
        file.query(&format!(
            "CREATE TABLE messages (msg text); CREATE TRIGGER strict BEFORE INSERT ON messages \
             WHEN new.msg LIKE '%number {BAD} of%' BEGIN SELECT raise(ABORT, 'not this one'); END"
        ));
    }
    Some(Box::new(file))
}

impl Sqlite {
    #[track_caller]
    fn query(&self, statement: &str) -> Vec<String> {
        let output = Command::new("sqlite3")
            .args(["-cmd", ".timeout 10000"])
            .arg(&self.0)
            .arg(statement)
            .output()
            .expect("sqlite3");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
    }
}

impl Receiver for Sqlite {
    fn port(&self) -> u16 {
        0
    }

    fn driver(&self, way: &Way<'_>) -> String {
        format!(
            "sql(type(sqlite3) database(\"%dir%/logs.db\") columns(\"msg text\") values(\"$MSG\") batch-lines(500) {})",
            way.options
        )
    }

    fn kill(&mut self) {}

    fn run(&mut self) {}

    fn texts(&self) -> Vec<String> {
        match self.query("SELECT 1 FROM sqlite_master WHERE name = 'messages'").len() {
            0 => Vec::new(),
            _ => self.query("SELECT msg FROM messages ORDER BY rowid"),
        }
    }

    fn mend(&mut self) -> bool {
        self.query("DROP TRIGGER strict");
        true
    }
}
