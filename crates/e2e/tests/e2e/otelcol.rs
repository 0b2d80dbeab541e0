//! `opentelemetry()` both ways with a collector of OpenTelemetry that others have written; where it is not
//! installed, the tests are skipped.

use crate::answered::{
    self, Peer, assert_all, assert_in_order, collector_killed, feed, reloaded_under_load,
    server_killed_under_load, text,
};
use crate::messages::HEAD;
use crate::tls::{Authority, block_of, prepared};
use serde_json::{Value, json};
use std::collections::HashSet;
use testkit::otelcol::{MISSING, Otelcol};
use testkit::otlp::{self, Client, python};
use testkit::{Collector, Lab, Penstock, Sender, Signal, skip, wait_until};

impl Peer for Otelcol {
    fn kill(&mut self) {
        Otelcol::kill(self);
    }

    fn run(&mut self) {
        Otelcol::run(self);
    }

    fn texts(&self) -> Vec<String> {
        self.bodies()
    }
}

fn driver(collector: &Otelcol, options: &str) -> String {
    format!("opentelemetry(url(\"127.0.0.1:{}\") time-reopen(1) {options})", collector.port())
}

fn config(collector: &Otelcol, options: &str) -> String {
    answered::config(&driver(collector, options))
}

/// What the source `opentelemetry()` takes goes into a file.
fn receiving(options: &str) -> String {
    format!(
        "{HEAD}source s {{ opentelemetry(ip(127.0.0.1) port(%tcp:in%) {options}); }};\n\
         destination k {{ file(\"%dir%/out\" template(\"$MSG\\n\")); }};\n\
         log {{ source(s); parser {{ opentelemetry(); }}; destination(k); flags(flow-control); }};\n"
    )
}

#[test]
fn a_message_becomes_a_record() {
    let lab = Lab::new();
    let Some(collector) = Otelcol::writing(&lab, "") else { return skip(MISSING) };
    let config = format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%) flags(syslog-protocol)); }};\n\
         destination k {{ {}; }};\nlog {{ source(s); destination(k); flags(flow-control); }};\n",
        driver(&collector, "compression(yes)")
    );
    let mut penstock = Penstock::start(&lab, &config);
    let mut sender = Sender::tcp(lab.port("in"));
    sender.raw("<11>1 2026-11-11T01:02:03.123456+01:00 web app 7 ID - é one\n".as_bytes());
    sender.raw(b"<12>1 2026-11-11T01:02:04Z db app 7 ID - \xff\n");
    sender.finish();
    penstock.wait_settled(2).assert_nothing_lost();
    let records = collector.records();
    let [(resource, scope, one), (_, _, two)] = records.as_slice() else { panic!("{records:?}") };
    assert_eq!((resource, scope), (&json!({}), &json!({})));
    assert_eq!(one["body"], json!({"stringValue": "é one"}));
    assert_eq!((&one["timeUnixNano"], &one["severityNumber"]), (&json!("1794355323123456000"), &json!(17)));
    assert!(one["observedTimeUnixNano"].as_str() > Some("1790000000000000000"), "{one}");
    assert_eq!((&two["body"], &two["severityNumber"]), (&json!({"bytesValue": "/w=="}), &json!(13)));
}

#[test]
fn values_of_all_types_are_in_the_record() {
    let lab = Lab::new();
    let Some(collector) = Otelcol::writing(&lab, "") else { return skip(MISSING) };
    let config = format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         rewrite r {{\n\
           set(\"log\" value(\".otel.type\"));\n\
           set(\"$HOST\" value(\".otel.resource.attributes.host.name\"));\n\
           set(int(\"5\") value(\".otel.resource.attributes.n\"));\n\
           set(\"https://resource.example\" value(\".otel.resource.schema_url\"));\n\
           set(\"tests\" value(\".otel.scope.name\"));\n\
           set(\"1\" value(\".otel.scope.version\"));\n\
           set(boolean(\"false\") value(\".otel.scope.attributes.real\"));\n\
           set(json('{{\"b\": [1, 2.5, \"x\"]}}') value(\".otel.log.body\"));\n\
           set(int(\"1794355323123456789\") value(\".otel.log.time_unix_nano\"));\n\
           set(int(\"9\") value(\".otel.log.severity_number\"));\n\
           set(\"Info\" value(\".otel.log.severity_text\"));\n\
           set(bytes(\"0123456789abcdef\") value(\".otel.log.trace_id\"));\n\
           set(bytes(\"01234567\") value(\".otel.log.span_id\"));\n\
           set(int(\"1\") value(\".otel.log.flags\"));\n\
           set(\"thing.done\" value(\".otel.log.event_name\"));\n\
           set(int(\"-3\") value(\".otel.log.attributes.whole\"));\n\
           set(double(\"0.25\") value(\".otel.log.attributes.part\"));\n\
           set(boolean(\"true\") value(\".otel.log.attributes.truth\"));\n\
           set(list(\"a,b\") value(\".otel.log.attributes.items\"));\n\
           set(bytes(\"z\") value(\".otel.log.attributes.raw\"));\n\
           set(\"\" value(\".otel.log.attributes.nothing\"));\n\
         }};\n\
         destination k {{ {}; }};\nlog {{ source(s); rewrite(r); destination(k); flags(flow-control); }};\n",
        driver(&collector, "")
    );
    let mut penstock = Penstock::start(&lab, &config);
    feed(lab.port("in"), 0, 1);
    penstock.wait_settled(1).assert_nothing_lost();
    let requests = collector.requests();
    let around = &requests[0]["resourceLogs"][0];
    assert_eq!(around["schemaUrl"], "https://resource.example");
    let records = collector.records();
    let (mut resource, scope, mut record) = records[0].clone();
    let strip = |value: &mut Value| {
        let mut pairs: Vec<(String, Value)> = value["attributes"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|pair| (pair["key"].as_str().unwrap_or_default().to_owned(), pair["value"].clone()))
            .collect();
        pairs.sort_by(|one, other| one.0.cmp(&other.0));
        value["attributes"] = json!(pairs);
    };
    strip(&mut resource);
    strip(&mut record);
    assert_eq!(
        resource,
        json!({"attributes": [["host.name", {"stringValue": "host0"}], ["n", {"intValue": "5"}]]})
    );
    assert_eq!(
        scope,
        json!({"name": "tests", "version": "1", "attributes": [{"key": "real", "value": {"boolValue": false}}]})
    );
    record.as_object_mut().expect("a record").remove("observedTimeUnixNano");
    let expected = json!({
        "timeUnixNano": "1794355323123456789",
        "severityNumber": 9,
        "severityText": "Info",
        "body": {"stringValue": "{\"b\": [1, 2.5, \"x\"]}"},
        "traceId": "30313233343536373839616263646566",
        "spanId": "3031323334353637",
        "flags": 1,
        "eventName": "thing.done",
        "attributes": [
            ["items", {"arrayValue": {"values": [{"stringValue": "a"}, {"stringValue": "b"}]}}],
            ["nothing", {"stringValue": ""}],
            ["part", {"doubleValue": 0.25}],
            ["raw", {"bytesValue": "eg=="}],
            ["truth", {"boolValue": true}],
            ["whole", {"intValue": "-3"}],
        ],
    });
    assert_eq!(record, expected);
}

#[test]
fn messages_are_there_in_order_compressed() {
    let lab = Lab::new();
    let Some(collector) = Otelcol::writing(&lab, "") else { return skip(MISSING) };
    let mut penstock = Penstock::start(&lab, &config(&collector, "batch-lines(700) compression(yes)"));
    feed(lab.port("in"), 0, 20_000);
    penstock.wait_settled(20_000).assert_nothing_lost();
    assert_in_order(&collector.bodies(), 20_000);
}

/// The collector takes one megabyte at a time.
#[test]
fn what_is_too_large_for_it_is_halved_and_one_that_is_alone_is_a_dead_letter() {
    let lab = Lab::new();
    let Some(collector) = Otelcol::writing(&lab, "max_recv_msg_size_mib: 1") else { return skip(MISSING) };
    let config =
        config(&collector, "batch-timeout(3000)").replace("options {", "options { log-msg-size(4MiB);");
    let mut penstock = Penstock::start(&lab, &config);
    feed(lab.port("in"), 0, 20_000);
    let mut sender = Sender::tcp(lab.port("in"));
    sender.raw(format!("<13>Nov 11 01:02:03 host app: {}\n", "x".repeat(2 << 20)).as_bytes());
    sender.finish();
    let ledger = penstock.wait_settled(20_001);
    ledger.assert_balanced();
    assert_eq!((ledger.dropped(), ledger.dropped_for("refused")), (1, 1));
    penstock.wait_log("larger than max");
    assert_in_order(&collector.bodies(), 20_000);
}

#[test]
fn a_wrong_token_is_held_and_a_good_one_is_taken() {
    let lab = Lab::new();
    let receiver = "auth: {authenticator: bearertokenauth}";
    let Some(collector) = Otelcol::writing(&lab, receiver) else { return skip(MISSING) };
    let with = |token: &str| config(&collector, &format!("headers(\"authorization\" => \"Bearer {token}\")"));
    let mut penstock = Penstock::start(&lab, &with("bad"));
    feed(lab.port("in"), 0, 100);
    penstock.wait_log("UNAUTHENTICATED");
    let ledger = penstock.wait_ledger(|ledger| (ledger.waiting() < 100).then(|| "all to wait".to_owned()));
    assert_eq!(ledger.dropped(), 0);
    penstock.reload_with(&lab, &with("good"));
    penstock.wait_settled(100).assert_nothing_lost();
    assert_in_order(&collector.bodies(), 100);
}

#[test]
fn encrypted_and_a_wrong_certificate_gets_nothing() {
    let lab = Lab::new();
    prepared(&lab);
    Authority::new(&lab, "other").identity(&lab, "stranger", "client.example.com", |_| {});
    let path = |name: &str| lab.path(name).display().to_string();
    let receiver = format!(
        "tls: {{cert_file: \"{}\", key_file: \"{}\", client_ca_file: \"{}\"}}",
        path("server.pem"),
        path("server.key"),
        path("ca.pem")
    );
    let Some(collector) = Otelcol::writing(&lab, &receiver) else { return skip(MISSING) };
    let with = |ca: &str, client: &str| {
        let files = format!(
            "ca-file(\"%dir%/{ca}.pem\") key-file(\"%dir%/{client}.key\") cert-file(\"%dir%/{client}.pem\")"
        );
        config(&collector, &format!("auth(tls({files}))"))
    };
    let mut penstock = Penstock::start(&lab, &with("other", "client"));
    feed(lab.port("in"), 0, 1000);
    penstock.wait_log("the certificate of the peer is refused");
    penstock.reload_with(&lab, &with("ca", "stranger"));
    penstock.wait_log("alert");
    let ledger = penstock.ledger();
    assert_eq!((ledger.destination("k").delivered, ledger.dropped()), (0, 0));
    penstock.reload_with(&lab, &with("ca", "client"));
    penstock.wait_settled(1000).assert_nothing_lost();
    assert_in_order(&collector.bodies(), 1000);
}

#[test]
fn a_collector_that_is_killed_costs_nothing() {
    let lab = Lab::new();
    let Some(mut collector) = Otelcol::writing(&lab, "") else { return skip(MISSING) };
    let config = config(&collector, "batch-lines(1000)");
    server_killed_under_load(&lab, &config, &mut collector, 1000);
}

#[test]
fn what_is_acknowledged_outlives_kills() {
    let lab = Lab::new();
    let Some(collector) = Otelcol::writing(&lab, "") else { return skip(MISSING) };
    let disk = "disk-buffer(reliable(yes) capacity-bytes(64MiB) dir(\"%dir%\"))";
    collector_killed(&lab, &config(&collector, disk), &collector);
}

#[test]
fn a_reload_under_load_keeps_what_is_on_the_way() {
    let lab = Lab::new();
    let Some(collector) = Otelcol::writing(&lab, "") else { return skip(MISSING) };
    reloaded_under_load(&lab, &config(&collector, ""), &collector);
}

/// From a client to a collector, which answers when this program has: what is answered is in the file,
/// however often either is killed.
#[test]
fn what_a_collector_hands_on_is_there_when_it_is_answered() {
    if python().is_none() {
        return skip(otlp::MISSING);
    }
    let lab = Lab::new();
    let Some(mut collector) = Otelcol::handing_on(&lab, lab.port("in"), "tls: {insecure: true}") else {
        return skip(MISSING);
    };
    let config = receiving("");
    let mut penstock = Penstock::start(&lab, &config);
    let count = 40_000;
    let options = ["--count", &count.to_string(), "--batch", "100", "--retry"];
    let sent = Client::new(collector.port(), &options).expect("there").spawn();
    for round in 1..=6 {
        wait_until("some to be there", || lab.lines("out").len() > 3000 * round);
        if round % 2 == 0 {
            collector.kill();
            collector.run();
        } else {
            penstock.signal(Signal::KILL);
            penstock.wait_end();
            penstock = Penstock::start(&lab, &config);
        }
    }
    let said = sent.join().expect("a client");
    assert!(said.iter().all(|line| line.starts_with("OK ")), "{said:?}");
    let doubles = assert_all(&lab.lines("out"), count);
    // What was written and not yet answered when one of both ended.
    assert!(doubles <= 600, "{doubles} came twice");
    penstock.ledger().assert_balanced();
}

#[test]
fn a_collector_comes_encrypted_and_one_that_nobody_has_signed_does_not() {
    if python().is_none() {
        return skip(otlp::MISSING);
    }
    let lab = Lab::new();
    prepared(&lab);
    Authority::new(&lab, "other").identity(&lab, "stranger", "client.example.com", |_| {});
    let with = |client: &str| {
        let path = |name: &str| lab.path(name).display().to_string();
        let (cert, key) = (path(&format!("{client}.pem")), path(&format!("{client}.key")));
        format!("tls: {{ca_file: \"{}\", cert_file: \"{cert}\", key_file: \"{key}\"}}", path("ca.pem"))
    };
    let Some(stranger) = Otelcol::handing_on(&lab, lab.port("in"), &with("stranger")) else {
        return skip(MISSING);
    };
    let mut penstock = Penstock::start(&lab, &receiving(&format!("auth({})", block_of("server"))));
    let said = Client::new(stranger.port(), &["--timeout", "2"]).expect("there").run();
    // Either of both had no patience any more.
    assert!(said == ["DEADLINE_EXCEEDED 0 1"] || said == ["UNAVAILABLE 0 1"], "{said:?}");
    penstock.wait_log("the certificate of the peer is refused");
    drop(stranger);
    let collector = Otelcol::handing_on(&lab, lab.port("in"), &with("client")).expect("there");
    assert_eq!(Client::new(collector.port(), &["--count", "500"]).expect("there").run(), ["OK 0 500"]);
    penstock.wait_settled(500).assert_nothing_lost();
    assert_in_order(&lab.lines("out"), 500);
}

/// What a collector can compress with. It throws away what it is told that nobody reads.
#[test]
fn whatever_a_collector_compresses_with_is_read() {
    if python().is_none() {
        return skip(otlp::MISSING);
    }
    for compression in ["none", "gzip", "zstd", "snappy"] {
        let lab = Lab::new();
        let exporter = format!("tls: {{insecure: true}}, compression: {compression}");
        let Some(collector) = Otelcol::handing_on(&lab, lab.port("in"), &exporter) else {
            return skip(MISSING);
        };
        let mut penstock = Penstock::start(&lab, &receiving(""));
        let said = Client::new(collector.port(), &["--count", "5000"]).expect("there").run();
        assert!(said.iter().all(|line| line.starts_with("OK ")), "{compression}: {said:?}");
        penstock.wait_settled(5000).assert_nothing_lost();
        assert_in_order(&lab.lines("out"), 5000);
    }
}

/// Logs, metrics and traces, from one collector through this program to another: what the second writes down
/// is what it writes when the client asks it itself.
#[test]
fn between_two_collectors_nothing_changes() {
    if python().is_none() {
        return skip(otlp::MISSING);
    }
    let lab = Lab::new();
    let Some(last) = Otelcol::writing(&lab, "") else { return skip(MISSING) };
    let first = Otelcol::handing_on(&lab, lab.port("in"), "tls: {insecure: true}").expect("there");
    let config = format!(
        "{HEAD}source s {{ opentelemetry(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination k {{ {}; }};\nlog {{ source(s); destination(k); flags(flow-control); }};\n",
        driver(&last, "compression(yes)")
    );
    let direct = Lab::new();
    let judge = Otelcol::writing(&direct, "").expect("there");
    let mut penstock = Penstock::start(&lab, &config);
    for signal in ["log", "metric", "span"] {
        let options = ["--signal", signal, "--count", "3"];
        assert_eq!(Client::new(first.port(), &options).expect("there").run(), ["OK 0 3"]);
        assert_eq!(Client::new(judge.port(), &options).expect("there").run(), ["OK 0 3"]);
    }
    penstock.wait_settled(9).assert_nothing_lost();
    assert_eq!(last.requests(), judge.requests());
}

/// `syslog-ng-otlp()` through a collector, which knows nothing of it.
#[test]
fn a_pair_may_have_a_collector_between_them() {
    let lab = Lab::new();
    let Some(between) = Otelcol::handing_on(&lab, lab.port("over"), "tls: {insecure: true}") else {
        return skip(MISSING);
    };
    let template =
        "$(format-json --scope rfc5424,nv-pairs,dot-nv-pairs,sdata --key SOURCEIP --exclude SOURCE)";
    let config = format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%) flags(syslog-protocol)); }};\n\
         source o {{ syslog-ng-otlp(ip(127.0.0.1) port(%tcp:over%)); }};\n\
         destination k {{ syslog-ng-otlp(url(\"127.0.0.1:{}\")); }};\n\
         template t {{ template(\"{template}\\n\"); }};\n\
         destination here {{ file(\"%dir%/here\" template(t)); }};\n\
         destination there {{ file(\"%dir%/there\" template(t)); }};\n\
         rewrite r {{ set(int(\"7\") value(\"number\")); set(double(\"0.5\") value(\".share\")); set(list(\"a,b\") value(\"items\")); }};\n\
         log {{ source(s); rewrite(r); destination(here); destination(k); flags(flow-control); }};\n\
         log {{ source(o); destination(there); flags(flow-control); }};\n",
        between.port()
    );
    let mut penstock = Penstock::start(&lab, &config);
    let mut sender = Sender::tcp(lab.port("in"));
    sender.raw(
        "<165>1 2026-11-11T01:02:03.000004+05:30 web app 7 ID47 [a@1 x=\"1\" y=\"\\\"]\"] é one\n".as_bytes(),
    );
    sender.raw(b"<14>1 - - - - - - two\n");
    sender.finish();
    wait_until("both on the other side", || lab.lines("there").len() == 2);
    assert_eq!(lab.lines("here"), lab.lines("there"));
    penstock.wait_settled(4);
    penstock.stop();
}

/// What a collector is told is what any client is told: it waits, and says nothing was lost.
#[test]
fn messages_that_wait_make_a_collector_wait() {
    if python().is_none() {
        return skip(otlp::MISSING);
    }
    let lab = Lab::new();
    let Some(collector) = Otelcol::handing_on(&lab, lab.port("in"), "tls: {insecure: true}") else {
        return skip(MISSING);
    };
    let away = receiving("log-iw-size(100)")
        .replace("file(\"%dir%/out\"", "network(127.0.0.1 port(%port:later%) time-reopen(1)");
    let mut penstock = Penstock::start(&lab, &away);
    let sent =
        Client::new(collector.port(), &["--count", "500", "--batch", "100", "--retry", "--timeout", "60"])
            .expect("there")
            .spawn();
    penstock.wait_ledger(|ledger| (ledger.waiting() < 100).then(|| "a request to wait".to_owned()));
    let later = Collector::tcp(lab.port("later"));
    let said = sent.join().expect("a client");
    assert!(said.iter().all(|line| line.starts_with("OK ")), "{said:?}");
    let there: HashSet<String> = later.wait_lines(500).into_iter().collect();
    assert!((0..500).all(|n| there.contains(&text(n))), "{}", there.len());
}
