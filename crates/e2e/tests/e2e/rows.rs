//! `bigquery()` to a server made of Google's documents on Google's own types, and `arrow-flight()` to
//! pyarrow's server: both write down the rows that they take. Where one is not there, its tests are skipped.

use crate::answered::{
    self, Peer, assert_all, assert_in_order, collector_killed, feed, reloaded_under_load,
    server_killed_under_load, text,
};
use crate::tls::{Authority, prepared};
use serde_json::{Value, json};
use testkit::otlp::{NO_BIGQUERY, NO_FLIGHT, Otlp};
use testkit::{Lab, Penstock, Sender, skip, wait_until};

const DISK: &str = "disk-buffer(reliable(yes) capacity-bytes(64MiB) dir(\"%dir%\"))";

struct Rows(Otlp);

impl Peer for Rows {
    fn kill(&mut self) {
        self.0.kill();
    }

    fn run(&mut self) {
        self.0.run();
    }

    fn texts(&self) -> Vec<String> {
        self.0.records().iter().filter_map(|row| row["row"]["message"].as_str().map(str::to_owned)).collect()
    }
}

fn bigquery(server: &Otlp, options: &str) -> String {
    let port = server.port();
    answered::config(&format!(
        "bigquery(url(\"127.0.0.1:{port}\") project(\"p\") dataset(\"d\") table(\"t\") time-reopen(1) \
         schema(\"host\" STRING => \"$HOST\" \"message\" => \"$MSG\") {options})"
    ))
}

fn arrow(server: &Otlp, options: &str) -> String {
    let port = server.port();
    answered::config(&format!(
        "arrow-flight(url(\"grpc://127.0.0.1:{port}\") path(\"logs/$PROGRAM\") time-reopen(1) \
         schema(\"host\" STRING => \"$HOST\" \"message\" => \"$MSG\") {options})"
    ))
}

const TYPED: &str = "<13>1 2026-11-24T10:00:00.25+01:00 h app - - [v n=\"-7\" f=\"1.5\" b=\"yes\" d=\"2026-11-24\" m=\"{\\\"a\\\":1}\"] text\n\
                     <13>1 2026-11-24T10:00:00Z h app - - [v n=\"\"] nothing\n\
                     <13>1 2026-11-24T10:00:00Z h app - - [v n=\"seven\"] wrong\n";

/// Feeds [`TYPED`] to a destination whose source takes RFC 5424; the wrong one is a dead letter.
#[track_caller]
fn feed_typed(lab: &Lab, config: &str) {
    let config = config.replace("network(ip", "network(flags(syslog-protocol) ip");
    let mut penstock = Penstock::start(lab, &config);
    let mut sender = Sender::tcp(lab.port("in"));
    sender.raw(TYPED.as_bytes());
    sender.finish();
    let ledger = penstock.wait_ledger(|ledger| {
        (ledger.received() < 3 || ledger.waiting() > 0).then(|| "3 messages dealt with".to_owned())
    });
    assert_eq!((ledger.dropped(), ledger.dropped_for("refused")), (1, 1), "{ledger}");
    ledger.assert_balanced();
}

#[test]
fn rows_of_bigquery_have_types() {
    let lab = Lab::new();
    let Some(server) = Otlp::bigquery(&lab, &[]) else { return skip(NO_BIGQUERY) };
    let config = bigquery(&server, "frac-digits(3)").replace(
        "\"host\" STRING => \"$HOST\"",
        "\"at\" TIMESTAMP => \"$ISODATE\" \"n\" INT64 => \"${.SDATA.v.n}\" \"f\" FLOAT64 => \"${.SDATA.v.f}\" \
         \"b\" BOOL => \"${.SDATA.v.b}\" \"d\" DATE => \"${.SDATA.v.d}\"",
    );
    feed_typed(&lab, &config);
    let rows = server.records();
    // Numbers of 64 bits are texts in protobuf's JSON.
    let first =
        json!({"at": "1795510800250000", "n": "-7", "f": 1.5, "b": true, "d": 20781, "message": "text"});
    assert_eq!(rows[0]["row"], first);
    assert_eq!(rows[1]["row"], json!({"at": "1795514400000000", "message": "nothing"}));
    assert_eq!(rows.len(), 2);
}

#[test]
fn rows_of_bigquery_by_a_file_of_protobuf() {
    let lab = Lab::new();
    let Some(server) = Otlp::bigquery(&lab, &[]) else { return skip(NO_BIGQUERY) };
    let file = "syntax = \"proto2\";\nmessage Row {\n  optional int32 number = 1;\n  required string message = 2; // text\n}\n";
    std::fs::write(lab.path("row.proto"), file).expect("a file");
    let schema = "schema(\"host\" STRING => \"$HOST\" \"message\" => \"$MSG\")";
    let config =
        bigquery(&server, "").replace(schema, "protobuf-schema(\"%dir%/row.proto\" => \"42\", \"$MSG\")");
    let mut penstock = Penstock::start(&lab, &config);
    feed(lab.port("in"), 0, 1);
    penstock.wait_settled(1).assert_nothing_lost();
    assert_eq!(server.records()[0]["row"], json!({"number": 42, "message": text(0)}));
}

#[test]
fn each_row_has_its_place_and_lost_answers_double_nothing() {
    let lab = Lab::new();
    let Some(server) = Otlp::bigquery(&lab, &["--lose", "3"]) else { return skip(NO_BIGQUERY) };
    let mut penstock = Penstock::start(&lab, &bigquery(&server, "batch-lines(500)"));
    feed(lab.port("in"), 0, 10_000);
    penstock.wait_settled(10_000).assert_nothing_lost();
    let rows = server.records();
    for (at, row) in rows.iter().enumerate() {
        assert_eq!(row["offset"], at, "{row}");
        assert_eq!(row["stream"], rows[0]["stream"]);
    }
    assert_in_order(&Rows(server).texts(), 10_000);
}

#[test]
fn a_stream_that_ends_is_followed_by_another() {
    let lab = Lab::new();
    let Some(server) = Otlp::bigquery(&lab, &["--forget", "1000"]) else { return skip(NO_BIGQUERY) };
    let mut penstock = Penstock::start(&lab, &bigquery(&server, "batch-lines(500)"));
    feed(lab.port("in"), 0, 3000);
    penstock.wait_settled(3000).assert_nothing_lost();
    let streams: std::collections::BTreeSet<String> =
        server.records().iter().map(|row| row["stream"].to_string()).collect();
    assert!(streams.len() >= 3, "{streams:?}");
    assert_in_order(&Rows(server).texts(), 3000);
}

/// One in 10,000 that the server does not take is one dead letter.
#[track_caller]
fn one_bad(lab: &Lab, config: &str, server: Otlp) {
    let mut penstock = Penstock::start(lab, config);
    feed(lab.port("in"), 0, 10_000);
    let ledger = penstock.wait_ledger(|ledger| {
        (ledger.received() < 10_000 || ledger.waiting() > 0).then(|| "10000 messages dealt with".to_owned())
    });
    assert_eq!((ledger.dropped(), ledger.dropped_for("refused")), (1, 1), "{ledger}");
    ledger.assert_balanced();
    let mut texts = Rows(server).texts();
    assert!(!texts.contains(&text(4711)));
    texts.insert(4711, text(4711));
    assert_in_order(&texts, 10_000);
}

#[test]
fn a_row_that_bigquery_names_is_one_dead_letter() {
    let lab = Lab::new();
    let Some(server) = Otlp::bigquery(&lab, &["--refuse", "number 4711 "]) else { return skip(NO_BIGQUERY) };
    let config = bigquery(&server, "");
    one_bad(&lab, &config, server);
}

#[test]
fn a_table_of_bigquery_that_is_missing_or_another_holds_everything() {
    let lab = Lab::new();
    let missing = lab.path("missing");
    std::fs::write(&missing, "").expect("a file");
    let columns = lab.path("columns");
    std::fs::write(&columns, "message").expect("a file");
    let [missing_at, columns_at] = [&missing, &columns].map(|path| path.to_str().expect("a path"));
    let options = ["--missing", missing_at, "--columns", columns_at];
    let Some(server) = Otlp::bigquery(&lab, &options) else { return skip(NO_BIGQUERY) };
    let mut penstock = Penstock::start(&lab, &bigquery(&server, ""));
    feed(lab.port("in"), 0, 100);
    penstock.wait_log("Not found: Table projects/p/datasets/d/tables/t");
    std::fs::remove_file(&missing).expect("removed");
    penstock.wait_log("Input schema has more fields than BigQuery schema");
    wait_until("them to wait", || penstock.ledger().destination("k").waiting == 100);
    assert_eq!(penstock.ledger().dropped(), 0);
    std::fs::write(&columns, "message,host").expect("a file");
    penstock.wait_settled(100).assert_nothing_lost();
    assert_in_order(&Rows(server).texts(), 100);
}

#[test]
fn a_bigquery_that_is_killed_costs_nothing() {
    let lab = Lab::new();
    let Some(server) = Otlp::bigquery(&lab, &[]) else { return skip(NO_BIGQUERY) };
    // A stream is gone with the server: what was on the way may come twice.
    let config = bigquery(&server, "batch-lines(1000)");
    server_killed_under_load(&lab, &config, &mut Rows(server), 1000);
}

#[test]
fn what_is_acknowledged_reaches_bigquery_over_kills() {
    let lab = Lab::new();
    let Some(server) = Otlp::bigquery(&lab, &[]) else { return skip(NO_BIGQUERY) };
    let config = bigquery(&server, &format!("batch-lines(1000) {DISK}"));
    collector_killed(&lab, &config, &Rows(server));
}

#[test]
fn a_reload_under_load_to_bigquery() {
    let lab = Lab::new();
    let Some(server) = Otlp::bigquery(&lab, &[]) else { return skip(NO_BIGQUERY) };
    let config = bigquery(&server, "batch-lines(100)");
    reloaded_under_load(&lab, &config, &Rows(server));
}

#[test]
fn rows_of_arrow_flight_have_types_and_paths() {
    let lab = Lab::new();
    let Some(server) = Otlp::flight(&lab, &[]) else { return skip(NO_FLIGHT) };
    let config = arrow(&server, "compression(yes) frac-digits(3)").replace(
        "\"host\" STRING => \"$HOST\"",
        "\"at\" TIMESTAMP => \"$ISODATE\" \"n\" INTEGER => \"${.SDATA.v.n}\" \"f\" DOUBLE => \"${.SDATA.v.f}\" \
         \"b\" BOOLEAN => \"${.SDATA.v.b}\" \"m\" MAP => \"${.SDATA.v.m}\"",
    );
    feed_typed(&lab, &config);
    let rows = server.records();
    let first = json!({"at": "2026-11-24T09:00:00.250000+00:00", "n": -7, "f": 1.5, "b": true, "m": [["a", "1"]], "message": "text"});
    assert_eq!(rows[0]["row"], first);
    let types = json!({"at": "timestamp[us, tz=UTC]", "n": "int64", "f": "double", "b": "bool",
                       "m": rows[0]["types"]["m"], "message": "string"});
    assert_eq!(rows[0]["types"], types);
    assert!(rows[0]["types"]["m"].as_str().is_some_and(|kind| kind.starts_with("map<string, string")));
    assert_eq!((&rows[1]["row"]["n"], &rows[1]["row"]["m"], rows.len()), (&Value::Null, &Value::Null, 2));
    assert_eq!(rows[0]["path"], "logs/app");
}

#[test]
fn messages_for_arrow_flight_are_there_in_order() {
    let lab = Lab::new();
    let Some(server) = Otlp::flight(&lab, &[]) else { return skip(NO_FLIGHT) };
    let mut penstock = Penstock::start(&lab, &arrow(&server, ""));
    feed(lab.port("in"), 0, 10_000);
    penstock.wait_settled(10_000).assert_nothing_lost();
    assert_in_order(&Rows(server).texts(), 10_000);
}

#[test]
fn a_row_that_arrow_flight_refuses_is_one_dead_letter() {
    let lab = Lab::new();
    let Some(server) = Otlp::flight(&lab, &["--refuse", "number 4711 "]) else { return skip(NO_FLIGHT) };
    let config = arrow(&server, "");
    one_bad(&lab, &config, server);
}

#[test]
fn a_busy_arrow_flight_is_waited_for() {
    let lab = Lab::new();
    let busy = lab.path("busy");
    std::fs::write(&busy, "").expect("a file");
    let options = ["--busy", busy.to_str().expect("a path")];
    let Some(server) = Otlp::flight(&lab, &options) else { return skip(NO_FLIGHT) };
    let mut penstock = Penstock::start(&lab, &arrow(&server, ""));
    feed(lab.port("in"), 0, 100);
    penstock.wait_log("UNAVAILABLE");
    std::fs::remove_file(&busy).expect("removed");
    penstock.wait_settled(100).assert_nothing_lost();
    assert_in_order(&Rows(server).texts(), 100);
}

#[test]
fn an_arrow_flight_that_is_killed_costs_nothing() {
    let lab = Lab::new();
    let Some(server) = Otlp::flight(&lab, &[]) else { return skip(NO_FLIGHT) };
    let config = arrow(&server, "batch-lines(1000)");
    server_killed_under_load(&lab, &config, &mut Rows(server), 1000);
}

#[test]
fn what_is_acknowledged_reaches_arrow_flight_over_kills() {
    let lab = Lab::new();
    let Some(server) = Otlp::flight(&lab, &[]) else { return skip(NO_FLIGHT) };
    let config = arrow(&server, &format!("batch-lines(1000) {DISK}"));
    collector_killed(&lab, &config, &Rows(server));
}

#[test]
fn a_reload_under_load_to_arrow_flight() {
    let lab = Lab::new();
    let Some(server) = Otlp::flight(&lab, &[]) else { return skip(NO_FLIGHT) };
    let config = arrow(&server, "batch-lines(100)");
    reloaded_under_load(&lab, &config, &Rows(server));
}

#[test]
fn encrypted_to_arrow_flight_and_a_wrong_certificate_gets_nothing() {
    let lab = Lab::new();
    prepared(&lab);
    Authority::new(&lab, "other");
    let path = |name: &str| lab.path(name).to_str().expect("a path").to_owned();
    let options = ["--cert", &path("server.pem"), "--key", &path("server.key")];
    let Some(server) = Otlp::flight(&lab, &options) else { return skip(NO_FLIGHT) };
    let with = |ca: &str| {
        arrow(&server, &format!("auth(tls(ca-file(\"%dir%/{ca}.pem\")))")).replace("grpc://", "grpc+tls://")
    };
    let mut penstock = Penstock::start(&lab, &with("other"));
    feed(lab.port("in"), 0, 100);
    penstock.wait_log("the certificate of the peer is refused");
    assert!(server.records().is_empty());
    penstock.reload_with(&lab, &with("ca"));
    penstock.wait_settled(100).assert_nothing_lost();
    let texts = Rows(server).texts();
    assert_eq!(assert_all(&texts, 100), 0);
}
