//! The options of `sql()`.

use conf_schema::{Component, Context, Cost, Group, Kind, OptionSpec as Opt, Preset, Word};
use driver_options::batch_groups::BATCHES;
use driver_options::output_groups::{DESTINATION, TEMPLATE};
use driver_options::tls_groups::SECURE_DESTINATION;

const NO_LIBRARY: &str =
    "relay with `syslog()` to a collector with a driver for it, or send to PostgreSQL, MariaDB or SQLite";

const TYPES: &[Word] = &[
    Word::new("pgsql", "PostgreSQL 10 or later, by COPY.").alias(&["postgresql", "postgres"]),
    Word::new("mysql", "MariaDB and MySQL, by INSERT of many rows.").alias(&["mariadb"]),
    Word::new("sqlite3", "SQLite: database() is the path of a file.").alias(&["sqlite"]),
    Word::not_yet("oracle", NO_LIBRARY),
    Word::not_yet("freetds", NO_LIBRARY),
    Word::not_yet("mssql", NO_LIBRARY),
];

const FLAGS: &[Word] = &[
    Word::new("explicit-commits", "Each batch is one transaction, which it always is."),
    Word::new("dont-create-tables", "Tables and columns that are not there are not made."),
];

static DATABASE: Group = Group {
    name: "database",
    options: &[
        Opt::new("type", Kind::Choice(TYPES), Preset::Text("mysql"), "Which database it is.").sample("pgsql"),
        Opt::new("host", Kind::Text, Preset::Text("localhost"), "The server, or the folder of its socket (`/run/postgresql`)."),
        Opt::new("port", Kind::Port, Preset::Described("5432 for PostgreSQL, 3306 for MySQL"), "The port of the server."),
        Opt::new("username", Kind::Text, Preset::Text("syslog-ng"), "As whom to log in."),
        Opt::new("password", Kind::Text, Preset::Text(""), "The password of the user."),
        Opt::new("database", Kind::Text, Preset::Text("logs"), "The database, which has to be there; of SQLite the path of its file."),
        Opt::new(
            "table",
            Kind::Template,
            Preset::Described("`messages`"),
            "The table, as a template. In what it makes everything but letters, digits, `_` and `.` becomes `_`. A table that is not there is \
             made, and so are columns that it does not have.",
        ),
        Opt::new(
            "columns",
            Kind::TextList,
            Preset::None,
            "The columns, `\"name type\"` each; without a type it is `text`. The type may have more behind it, `\"id serial primary key\"`.",
        )
        .sample("\"message text\""),
        Opt::new(
            "values",
            Kind::Any,
            Preset::None,
            "What stands in the columns, a template for each; the word `default` leaves the value to the server. What is not UTF-8, and NUL, \
             is replaced by U+FFFD.",
        )
        .sample("\"$MSG\""),
        Opt::new("indexes", Kind::TextList, Preset::None, "Columns that get an index when they are made.").sample("message"),
        Opt::new(
            "unique",
            Kind::TextList,
            Preset::None,
            "A row with the same values in these columns as one that is there counts as delivered and is passed over, so that what comes twice \
             is there once: `unique(\"kafka_partition\", \"kafka_offset\")`. Tables that are made get a unique index. Only in penstock.",
        )
        .sample("message"),
        Opt::new(
            "null",
            Kind::Text,
            Preset::Described("no value is NULL"),
            "Values that are this text become NULL: `null(\"\")`, `null(\"-\")`.",
        ),
        Opt::new("flags", Kind::Flags(FLAGS), Preset::None, "How tables are used. Collects."),
        Opt::new("session-statements", Kind::TextList, Preset::None, "SQL statements that each connection begins with.")
            .sample("\"SELECT 1\"")
            .collects(),
        Opt::new(
            "create-statement-append",
            Kind::Text,
            Preset::Text(""),
            "What stands at the end of the statement that makes a table: `\"WITH (fillfactor=100)\"`.",
        ),
        Opt::new("quote-char", Kind::Text, Preset::Text(""), "What stands on both sides of names of tables and columns in statements."),
        Opt::new(
            "exactly-once",
            Kind::Bool,
            Preset::Bool(false),
            "The position in the queue is kept in the table `penstock_cursor` of the database, in the transaction that puts the rows, so that \
             nothing comes twice after a kill. Needs disk-buffer(reliable(yes)) and one worker. Only in penstock.",
        )
        .sample("no"),
        Opt::new(
            "offsets",
            Kind::Any,
            Preset::None,
            "The sequence that a message comes from, and its number in it: `offsets(\"${.kafka.topic}/${.kafka.partition}\" \"${.kafka.offset}\")`. \
             How far each sequence is in the tables is kept in `penstock_offsets`, in the transaction that puts the rows; what comes again from \
             it counts as delivered and is passed over. Needs one worker. Only in penstock.",
        )
        .sample("\"$HOST\" \"$SEQNUM\""),
        Opt::new(
            "dbd-option",
            Kind::Any,
            Preset::None,
            "An option of libdbi's drivers, `dbd-option(\"name\" \"value\")`; docs/sql.md lists those that are known. Others are an error.",
        )
        .collects()
        .sample("\"encoding\" \"UTF-8\""),
        Opt::no_effect("ignore-tns-config", "Oracle has such a file, and there is no driver for it"),
        Opt::no_effect("dbi-driver-dir", "libdbi is not used"),
    ],
};

pub static SQL: Component = Component {
    context: Context::Destination,
    name: "sql",
    aliases: &[],
    positional: &[],
    groups: &[&DATABASE, &BATCHES, &TEMPLATE, &DESTINATION, &SECURE_DESTINATION],
    own: &[],
    presets: &[("batch-lines", Preset::Int(10_000))],
    not_yet: &[],
    summary: "Puts messages into tables of a database, each batch in one transaction. A message counts as delivered when the server has \
              committed it. A row that the server does not take is a dead letter with the server's words, and the others go on in their \
              order; a password or a right that is missing holds them, and the log says so. See docs/sql.md.",
    example: "sql(type(pgsql) host(\"db.example.com\") username(\"log\") password(\"secret\") database(\"logs\") table(\"messages\") \
              columns(\"time timestamptz\", \"host text\", \"program text\", \"message text\") values(\"$ISODATE\", \"$HOST\", \"$PROGRAM\", \"$MSG\") \
              indexes(\"time\", \"host\"))",
    cost: Some(Cost::elsewhere(
        "Each value rendered and copied into its row; the server's work is ten times as much. docs/bench.md has figures with real servers.",
    )),
};
