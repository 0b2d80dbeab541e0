//! `loki()` and `clickhouse()` to servers made of the protocols' documents on others' libraries (grpcio),
//! which write down what they take, and `google-pubsub-grpc()` to Pub/Sub's own fake: where these are not
//! installed, the tests are skipped.

use crate::answered::{
    self, Peer, assert_all, assert_in_order, collector_killed, feed, reloaded_under_load,
    server_killed_under_load, text,
};
use crate::tls::{Authority, prepared};
use serde_json::Value;
use std::collections::BTreeSet;
use testkit::otlp::{MISSING, Otlp};
use testkit::pubsub::{self, PubSub};
use testkit::{Lab, Penstock, Sender, run_command, skip};

const DISK: &str = "disk-buffer(reliable(yes) capacity-bytes(64MiB) dir(\"%dir%\"))";

struct Loki(Otlp);

impl Peer for Loki {
    fn kill(&mut self) {
        self.0.kill();
    }

    fn run(&mut self) {
        self.0.run();
    }

    fn texts(&self) -> Vec<String> {
        self.0.records().iter().filter_map(|entry| entry["line"].as_str().map(str::to_owned)).collect()
    }
}

struct ClickHouse(Otlp);

impl Peer for ClickHouse {
    fn kill(&mut self) {
        self.0.kill();
    }

    fn run(&mut self) {
        self.0.run();
    }

    fn texts(&self) -> Vec<String> {
        let row =
            |row: &Value| row["row"].as_str().and_then(|row| row.split('\t').next_back()).map(str::to_owned);
        self.0.records().iter().filter_map(row).collect()
    }
}

fn loki(server: &Otlp, options: &str) -> String {
    let port = server.port();
    answered::config(&format!("loki(url(\"127.0.0.1:{port}\") template(\"$MSG\") time-reopen(1) {options})"))
}

fn clickhouse(server: &Otlp, options: &str) -> String {
    let port = server.port();
    answered::config(&format!(
        "clickhouse(url(\"127.0.0.1:{port}\") database(\"logs\") table(\"messages\") user(\"writer\") time-reopen(1) \
         schema(\"host\" STRING => \"$HOST\" \"message\" => \"$MSG\") {options})"
    ))
}

#[test]
fn entries_of_loki_have_labels_and_times() {
    let lab = Lab::new();
    let Some(server) = Otlp::pushed(&lab, &[]) else { return skip(MISSING) };
    let options =
        "timestamp(msg) tenant-id(\"t-$HOST\") labels(\"app\" => \"$PROGRAM\" \"level\" => \"$LEVEL\")";
    let mut penstock = Penstock::start(&lab, &loki(&server, options));
    let mut sender = Sender::tcp(lab.port("in"));
    sender.raw("<11>2026-11-11T01:02:03.123456+01:00 web a\"b[7]: é one\n".as_bytes());
    sender.raw(b"<12>2026-11-11T01:02:04Z db app: \xff two\n");
    sender.finish();
    penstock.wait_settled(2).assert_nothing_lost();
    let entries = server.records();
    let expected = serde_json::json!([
        {"labels": "{app=\"a\\\"b\", level=\"err\"}", "time": 1794355323123456000i64, "line": "é one", "tenant": "t-web"},
        {"labels": "{app=\"app\", level=\"warning\"}", "time": 1794358924000000000i64, "line": "\u{fffd} two", "tenant": "t-db"},
    ]);
    assert_eq!(Value::from(entries), expected);
}

#[test]
fn messages_for_loki_are_there_in_order() {
    let lab = Lab::new();
    let Some(server) = Otlp::pushed(&lab, &[]) else { return skip(MISSING) };
    let mut penstock = Penstock::start(&lab, &loki(&server, "compression(yes)"));
    feed(lab.port("in"), 0, 5000);
    penstock.wait_settled(5000).assert_nothing_lost();
    assert_in_order(&Loki(server).texts(), 5000);
}

#[test]
fn an_entry_that_loki_refuses_is_one_dead_letter_and_none_is_there_twice() {
    let lab = Lab::new();
    let Some(server) = Otlp::pushed(&lab, &["--refuse", "number 7777 of"]) else { return skip(MISSING) };
    let mut penstock = Penstock::start(&lab, &loki(&server, ""));
    feed(lab.port("in"), 0, 10_000);
    let ledger = penstock.wait_settled(10_000);
    assert_eq!((ledger.dropped(), ledger.dropped_for("refused")), (1, 1));
    ledger.assert_balanced();
    let texts = Loki(server).texts();
    assert_eq!((texts.len(), texts.contains(&text(7777))), (9_999, false));
}

#[test]
fn a_loki_that_is_killed_costs_nothing() {
    let lab = Lab::new();
    let Some(server) = Otlp::pushed(&lab, &[]) else { return skip(MISSING) };
    let config = loki(&server, "batch-lines(1000)");
    server_killed_under_load(&lab, &config, &mut Loki(server), 1000);
}

#[test]
fn what_is_acknowledged_reaches_loki_over_kills() {
    let lab = Lab::new();
    let Some(server) = Otlp::pushed(&lab, &[]) else { return skip(MISSING) };
    let config = loki(&server, DISK);
    collector_killed(&lab, &config, &Loki(server));
}

#[test]
fn a_reload_under_load_to_loki() {
    let lab = Lab::new();
    let Some(server) = Otlp::pushed(&lab, &[]) else { return skip(MISSING) };
    let config = loki(&server, "");
    reloaded_under_load(&lab, &config, &Loki(server));
}

#[test]
fn encrypted_to_loki_and_a_wrong_certificate_gets_nothing() {
    let lab = Lab::new();
    prepared(&lab);
    Authority::new(&lab, "other");
    let path = |name: &str| lab.path(name).display().to_string();
    let options = ["--cert", &path("server.pem"), "--key", &path("server.key")];
    let Some(server) = Otlp::pushed(&lab, &options) else { return skip(MISSING) };
    let with = |ca: &str| loki(&server, &format!("auth(tls(ca-file(\"%dir%/{ca}.pem\")))"));
    let mut penstock = Penstock::start(&lab, &with("other"));
    feed(lab.port("in"), 0, 1000);
    penstock.wait_log("the certificate of the peer is refused");
    assert_eq!(penstock.ledger().destination("k").delivered, 0);
    penstock.reload_with(&lab, &with("ca"));
    penstock.wait_settled(1000).assert_nothing_lost();
    assert_eq!(assert_all(&Loki(server).texts(), 1000), 0);
}

#[test]
fn rows_of_clickhouse() {
    let lab = Lab::new();
    let Some(server) = Otlp::pushed(&lab, &[]) else { return skip(MISSING) };
    let mut penstock = Penstock::start(&lab, &clickhouse(&server, ""));
    let mut sender = Sender::tcp(lab.port("in"));
    sender.raw(b"<13>Nov 11 01:02:03 web app: a\tb\\c\n");
    sender.finish();
    penstock.wait_settled(1).assert_nothing_lost();
    feed(lab.port("in"), 1, 1000);
    penstock.wait_settled(1000).assert_nothing_lost();
    let rows = server.records();
    assert_eq!(rows[0]["row"], "web\ta\\tb\\\\c");
    assert_eq!(rows[0]["query"], "INSERT INTO `messages` (`host`, `message`) FORMAT TabSeparated");
    assert_eq!((&rows[0]["database"], &rows[0]["user"]), (&"logs".into(), &"writer".into()));
    assert_eq!(rows.len(), 1000);
    // Objects in the place of columns.
    let port = server.port();
    let options =
        "database(\"logs\") table(\"other\") user(\"writer\") json-var(\"$(format-json message=$MSG)\")";
    let other = answered::config(&format!("clickhouse(url(\"127.0.0.1:{port}\") {options})"));
    penstock.reload_with(&lab, &other);
    feed(lab.port("in"), 5, 6);
    penstock.wait_settled(1001).assert_nothing_lost();
    let last = &server.records()[1000];
    assert_eq!(last["query"], "INSERT INTO `other` FORMAT JSONEachRow");
    assert_eq!(last["row"], format!("{{\"message\":\"{}\"}}", text(5)));
}

/// Rows that are messages of protobuf: made of columns, of the fields of a file, and by filterx.
#[test]
fn rows_of_clickhouse_in_protobuf() {
    let lab = Lab::new();
    let Some(server) = Otlp::pushed(&lab, &[]) else { return skip(MISSING) };
    let port = server.port();
    let with = |options: &str| {
        answered::config(&format!(
            "clickhouse(url(\"127.0.0.1:{port}\") database(\"logs\") table(\"messages\") user(\"writer\") time-reopen(1) {options})"
        ))
    };
    let columns = "schema(\"host\" \"LowCardinality(String)\" => \"$HOST\" \"n\" INT64 => \"$PID\" \"share\" FLOAT64 => \"0.5\" \
                   \"message\" => \"$MSG\") server-side-schema(\"rows:Row\")";
    let mut penstock = Penstock::start(&lab, &with(columns));
    let mut sender = Sender::tcp(lab.port("in"));
    sender.raw(b"<13>Nov 11 01:02:03 web app[7]: a\tb\n<13>Nov 11 01:02:03 web app[x]: no number\n");
    sender.raw(b"<13>Nov 11 01:02:03 web app[8]: behind it\n");
    sender.finish();
    // What is no number costs its own message.
    let ledger = penstock.wait_settled(3);
    assert_eq!((ledger.dropped(), ledger.dropped_for("refused")), (1, 1));
    let rows = server.records();
    let query = "INSERT INTO `messages` (`host`, `n`, `share`, `message`) FORMAT Protobuf";
    assert_eq!((&rows[0]["query"], &rows[0]["schema"]), (&query.into(), &"rows:Row".into()));
    let texts: Vec<&str> = rows.iter().filter_map(|row| row["row"].as_str()).collect();
    let row = |n: usize, text: &str| format!("{{\"1\": \"web\", \"2\": {n}, \"3\": 0.5, \"4\": \"{text}\"}}");
    assert_eq!(texts, [row(7, "a\\tb"), row(8, "behind it")]);

    let path = lab.path("row.proto");
    let fields = "syntax = \"proto3\";\nmessage Row { string text = 1; uint32 number = 2; }\n";
    std::fs::write(&path, fields).expect("a file");
    let file = format!("protobuf-schema(\"{}\" => \"$MSG\", \"$PID\")", path.display());
    penstock.reload_with(&lab, &with(&file));
    let mut sender = Sender::tcp(lab.port("in"));
    sender.raw(b"<13>Nov 11 01:02:03 web app[9]: of a file\n");
    sender.finish();
    penstock.wait_settled(4);
    let last = &server.records()[2];
    assert_eq!(last["query"], "INSERT INTO `messages` (`text`, `number`) FORMAT Protobuf");
    assert_eq!((&last["row"], last["schema"].is_null()), (&"{\"1\": \"of a file\", \"2\": 9}".into(), true));

    let made = with("proto-var(\"${row}\") server-side-schema(\"rows:Row\")").replace(
        "log { source(s);",
        &format!(
            "log {{ source(s); filterx {{ ${{row}} = protobuf_message({{\"text\": $MSG}}, schema_file=\"{}\"); }};",
            path.display()
        ),
    );
    assert!(made.contains("protobuf_message"), "{made}");
    penstock.reload_with(&lab, &made);
    feed(lab.port("in"), 1, 2);
    penstock.wait_settled(5);
    let last = &server.records()[3];
    assert_eq!(last["query"], "INSERT INTO `messages` FORMAT Protobuf");
    assert_eq!(last["row"], format!("{{\"1\": \"{}\"}}", text(1)));

    let list = "json-var(\"[\\\"$HOST\\\"]\") format(JSONCompactEachRow)";
    penstock.reload_with(&lab, &with(list));
    feed(lab.port("in"), 1, 2);
    penstock.wait_settled(6);
    let last = &server.records()[4];
    assert_eq!(last["query"], "INSERT INTO `messages` FORMAT JSONCompactEachRow");
    assert_eq!(last["row"], "[\"host0\"]");
}

#[test]
fn what_does_not_fit_clickhouse_is_said_by_name() {
    let check = |options: &str, word: &str| {
        let lab = Lab::new();
        let text = answered::config(&format!(
            "clickhouse(database(\"logs\") table(\"messages\") user(\"writer\") {options})"
        ));
        let (path, _) = lab.write_config("wrong.conf", &text);
        let outcome = run_command(&["check", path.to_str().expect("text")]);
        assert_ne!(outcome.code, Some(0), "{options}");
        let said = outcome.stdout + &outcome.stderr;
        assert!(said.contains("D0250") && said.contains(word), "{options}: {word}\n{said}");
    };
    check("", "which columns there are");
    check("json-var(\"{}\") proto-var(\"${x}\")", "json-var() and proto-var() exclude each other");
    check("schema(\"a\" => \"x\") format(JSONEachRow)", "no format for schema()");
    check("proto-var(\"${x}\") format(JSONEachRow)", "it is Protobuf");
    check("proto-var(\"a ${x}\")", "one value");
    check("json-var(\"{}\") server-side-schema(\"a:B\")", "rows of protobuf");
    check("proto-var(\"${x}\") server-side-schema(\"a\")", "FILE:MESSAGE");
    check("protobuf-schema(\"/nowhere/a.proto\" => \"x\")", "/nowhere/a.proto");
}

#[track_caller]
fn one_bad_row(options: &[&str]) {
    let lab = Lab::new();
    let Some(server) = Otlp::pushed(&lab, options) else { return skip(MISSING) };
    let mut penstock = Penstock::start(&lab, &clickhouse(&server, ""));
    feed(lab.port("in"), 0, 10_000);
    let ledger = penstock.wait_settled(10_000);
    assert_eq!((ledger.dropped(), ledger.dropped_for("refused")), (1, 1));
    ledger.assert_balanced();
    let texts = ClickHouse(server).texts();
    assert_eq!((texts.len(), texts.contains(&text(7777))), (9_999, false));
}

#[test]
fn a_row_that_is_named_is_one_dead_letter() {
    one_bad_row(&["--refuse", "number 7777 of"]);
}

#[test]
fn a_row_that_is_not_named_is_one_dead_letter() {
    one_bad_row(&["--refuse", "number 7777 of", "--unnamed"]);
}

#[test]
fn a_wrong_password_of_clickhouse_holds_and_says_so() {
    let lab = Lab::new();
    let Some(server) = Otlp::pushed(&lab, &["--password", "good"]) else { return skip(MISSING) };
    let with = |password: &str| clickhouse(&server, &format!("password(\"{password}\")"));
    let mut penstock = Penstock::start(&lab, &with("bad"));
    feed(lab.port("in"), 0, 100);
    penstock.wait_log("Authentication failed");
    let ledger = penstock.wait_ledger(|ledger| (ledger.waiting() < 100).then(|| "all to wait".to_owned()));
    assert_eq!(ledger.dropped(), 0);
    penstock.reload_with(&lab, &with("good"));
    penstock.wait_settled(100).assert_nothing_lost();
    assert_in_order(&ClickHouse(server).texts(), 100);
}

#[test]
fn a_clickhouse_that_is_killed_costs_nothing() {
    let lab = Lab::new();
    let Some(server) = Otlp::pushed(&lab, &[]) else { return skip(MISSING) };
    let config = clickhouse(&server, "batch-lines(1000)");
    server_killed_under_load(&lab, &config, &mut ClickHouse(server), 1000);
}

/// Inserts from a queue on disk have tokens, by which a server that has one already passes it over.
#[test]
fn what_is_acknowledged_reaches_clickhouse_once_over_kills() {
    let lab = Lab::new();
    let Some(server) = Otlp::pushed(&lab, &[]) else { return skip(MISSING) };
    let config = clickhouse(&server, &format!("batch-lines(500) {DISK}"));
    let server = ClickHouse(server);
    collector_killed(&lab, &config, &server);
    let rows = server.0.records();
    assert!(rows.iter().all(|row| row["token"].is_string()));
    let tokens: BTreeSet<String> = rows.iter().map(|row| row["token"].to_string()).collect();
    assert!(tokens.len() > 3, "{tokens:?}");
}

#[test]
fn messages_for_pubsub_have_data_and_attributes() {
    let lab = Lab::new();
    let Some(server) = PubSub::start(&lab, "projects/p/topics/t") else { return skip(pubsub::MISSING) };
    let with = |topic: &str| {
        let port = server.port();
        answered::config(&format!(
            "google-pubsub-grpc(service-endpoint(\"127.0.0.1:{port}\") project(\"p\") topic(\"{topic}\") time-reopen(1) \
             data(\"$MSG\") attributes(\"host\" => \"$HOST\" \"program\" => \"$PROGRAM\"))"
        ))
    };
    let mut penstock = Penstock::start(&lab, &with("missing"));
    feed(lab.port("in"), 0, 3000);
    // A topic that is not there is somebody's to make.
    penstock.wait_log("NOT_FOUND");
    assert_eq!(penstock.ledger().dropped(), 0);
    penstock.stop();
    let mut penstock = Penstock::start(&lab, &with("t"));
    feed(lab.port("in"), 0, 3000);
    penstock.wait_settled(3000).assert_nothing_lost();
    let messages = server.wait_messages(3000);
    let texts: Vec<String> =
        messages.iter().filter_map(|message| message["data"].as_str().map(str::to_owned)).collect();
    assert_in_order(&texts, 3000);
    assert_eq!(messages[0]["attributes"]["program"], "app");
    assert!(messages[0]["attributes"]["host"].is_string());
}
