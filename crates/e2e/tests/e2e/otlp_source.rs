//! `opentelemetry()` and `syslog-ng-otlp()` as sources, with clients on others' libraries (grpcio,
//! opentelemetry-proto): where these are not installed, the tests are skipped.

use crate::answered::{assert_all, assert_in_order, feed, text};
use crate::messages::HEAD;
use crate::tls::{block_of, prepared};
use serde_json::Value;
use std::collections::HashSet;
use testkit::otlp::{Client, MISSING, Otlp, python};
use testkit::{Lab, Penstock, Sender, Signal, skip, wait_until};

/// A source, its parser, and a destination `k`.
fn config(source: &str, destination: &str) -> String {
    format!(
        "{HEAD}source s {{ opentelemetry(ip(127.0.0.1) port(%tcp:in%) {source}); }};\n\
         destination k {{ {destination}; }};\n\
         log {{ source(s); parser {{ opentelemetry(); }}; destination(k); flags(flow-control); }};\n"
    )
}

fn file(template: &str) -> String {
    format!("file(\"%dir%/out\" template(\"{template}\\n\"))")
}

#[track_caller]
fn client(lab: &Lab, options: &[&str]) -> Client {
    Client::new(lab.port("in"), options).expect("the libraries are there")
}

#[test]
fn records_become_messages() {
    if python().is_none() {
        return skip(MISSING);
    }
    let lab = Lab::new();
    let template = "$HOST|$LEVEL|$S_UNIXTIME|${.otel.log.attributes.number}|${.otel.resource.attributes.n}|\
                    ${.otel.scope.name}|${.otel.log.severity_text}|$TRANSPORT|$MSG";
    let mut penstock = Penstock::start(&lab, &config("", &file(template)));
    assert_eq!(client(&lab, &["--count", "2", "--gzip"]).run(), ["OK 0 2"]);
    // It was answered when they were delivered.
    let expected = |n: usize| format!("sender|err|1794355323|{n}|5|tests|bad|otlp|{}", text(n));
    assert_eq!(lab.lines("out"), [expected(0), expected(1)]);
    penstock.wait_settled(2).assert_nothing_lost();
    penstock.stop();
}

#[test]
fn many_requests_in_order() {
    if python().is_none() {
        return skip(MISSING);
    }
    let lab = Lab::new();
    let mut penstock = Penstock::start(&lab, &config("", &file("$MSG")));
    let said = client(&lab, &["--count", "20000", "--batch", "700"]).run();
    assert!(said.iter().all(|line| line.starts_with("OK ")), "{said:?}");
    assert_in_order(&lab.lines("out"), 20_000);
    penstock.wait_settled(20_000).assert_nothing_lost();
}

/// An answer comes when everything is delivered, and not before: here that is never.
#[test]
fn what_waits_is_not_answered_and_a_full_source_says_when_to_come_again() {
    if python().is_none() {
        return skip(MISSING);
    }
    let lab = Lab::new();
    let away = "network(127.0.0.1 port(%port:nobody%) time-reopen(1))";
    let penstock = Penstock::start(&lab, &config("log-iw-size(100)", away));
    let said = client(&lab, &["--count", "500", "--batch", "100", "--timeout", "5"]).run();
    assert!(said.iter().all(|line| !line.starts_with("OK ")), "{said:?}");
    // The first fills the window, and waits until its client does not wait any more; later ones are refused.
    assert_eq!(said[0], "DEADLINE_EXCEEDED 0 100");
    for (n, line) in said[1..].iter().enumerate() {
        assert_eq!(*line, format!("UNAVAILABLE, again after 1.0 s: {} 100", (n + 1) * 100));
    }
    let ledger = penstock.ledger();
    ledger.assert_balanced();
    assert_eq!(ledger.waiting(), 100);
}

#[test]
fn what_was_answered_outlives_kills() {
    if python().is_none() {
        return skip(MISSING);
    }
    let lab = Lab::new();
    let config = config("", &file("$MSG"));
    let mut acknowledged = Vec::new();
    for round in 0..3 {
        let mut penstock = Penstock::start(&lab, &config);
        let first = (round * 100_000).to_string();
        let sent =
            client(&lab, &["--first", &first, "--count", "100000", "--batch", "100", "--stop"]).spawn();
        wait_until("some to be there", || lab.lines("out").len() > 2000 * (round + 1));
        penstock.signal(Signal::KILL);
        penstock.wait_end();
        acknowledged
            .extend(sent.join().expect("a client").into_iter().filter(|line| line.starts_with("OK ")));
    }
    let lines: HashSet<String> = lab.lines("out").into_iter().collect();
    let mut count = 0;
    for line in acknowledged {
        let numbers: Vec<usize> = line.split(' ').skip(1).filter_map(|word| word.parse().ok()).collect();
        for n in numbers[0]..numbers[0] + numbers[1] {
            assert!(lines.contains(&text(n)), "{n} was acknowledged");
            count += 1;
        }
    }
    assert!(count > 3000, "{count}");
}

#[test]
fn a_reload_under_load_is_not_noticed() {
    if python().is_none() {
        return skip(MISSING);
    }
    let lab = Lab::new();
    let config = |options: &str| config(options, &file("$MSG"));
    let mut penstock = Penstock::start(&lab, &config(""));
    let sent = client(&lab, &["--count", "20000", "--batch", "100", "--retry"]).spawn();
    for options in ["", "tags(\"x\")", "concurrent-requests(5)", "", "keep-alive(no)"] {
        let before = lab.lines("out").len();
        wait_until("some to come", || {
            let now = lab.lines("out").len();
            now > before || now >= 20_000
        });
        penstock.reload_with(&lab, &config(options));
    }
    let said = sent.join().expect("a client");
    assert!(said.iter().all(|line| line.starts_with("OK ")), "{said:?}");
    // What was in the middle of being answered may have come twice.
    assert_all(&lab.lines("out"), 20_000);
    penstock.ledger().assert_balanced();
}

#[test]
fn foreign_bytes_and_large_messages_cost_their_sender_the_call() {
    if python().is_none() {
        return skip(MISSING);
    }
    let lab = Lab::new();
    let options = "channel-args(\"grpc.max_receive_message_length\" => 100000)";
    let mut penstock = Penstock::start(&lab, &config(options, &file("$MSG")));
    assert_eq!(client(&lab, &["--signal", "broken"]).run(), ["INVALID_ARGUMENT 0 1"]);
    assert_eq!(client(&lab, &["--size", "200000"]).run(), ["RESOURCE_EXHAUSTED 0 1"]);
    assert_eq!(client(&lab, &["--size", "200000", "--gzip"]).run(), ["RESOURCE_EXHAUSTED 0 1"]);
    // Something that is no HTTP/2.
    let mut sender = Sender::tcp(lab.port("in"));
    sender.raw(b"GET / HTTP/1.1\r\n\r\n");
    sender.wait_closed();
    assert_eq!(client(&lab, &[]).run(), ["OK 0 1"]);
    penstock.wait_settled(1).assert_nothing_lost();
    assert_eq!(lab.lines("out"), [text(0)]);
}

#[test]
fn encrypted_with_certificates_on_both_sides() {
    if python().is_none() {
        return skip(MISSING);
    }
    let lab = Lab::new();
    prepared(&lab);
    let source = format!("auth({})", block_of("server"));
    let mut penstock = Penstock::start(&lab, &config(&source, &file("$MSG")));
    let path = |name: &str| lab.path(name).display().to_string();
    let (ca, cert, key) = (path("ca.pem"), path("client.pem"), path("client.key"));
    assert_eq!(client(&lab, &["--ca", &ca, "--timeout", "3"]).run(), ["UNAVAILABLE 0 1"]);
    let own = ["--ca", &ca, "--cert", &cert, "--key", &key];
    assert_eq!(client(&lab, &own).run(), ["OK 0 1"]);
    penstock.wait_log("the peer has shown no certificate");
    penstock.wait_settled(1).assert_nothing_lost();
}

/// From a client through this program to a collector: what comes out is what went in.
#[test]
fn logs_metrics_and_traces_go_through_as_they_are() {
    let lab = Lab::new();
    let Some(otlp) = Otlp::start(&lab, &[]) else { return skip(MISSING) };
    let config = format!(
        "{HEAD}source s {{ opentelemetry(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination k {{ opentelemetry(url(\"127.0.0.1:{}\")); }};\n\
         log {{ source(s); destination(k); flags(flow-control); }};\n",
        otlp.port()
    );
    let direct = Lab::new();
    let Some(judge) = Otlp::start(&direct, &[]) else { return skip(MISSING) };
    let mut penstock = Penstock::start(&lab, &config);
    for signal in ["log", "metric", "span"] {
        let options = ["--signal", signal, "--count", "3"];
        assert_eq!(client(&lab, &options).run(), ["OK 0 3"]);
        assert_eq!(Client::new(judge.port(), &options).expect("there").run(), ["OK 0 3"]);
    }
    penstock.wait_settled(9).assert_nothing_lost();
    let content = |records: Vec<Value>| -> Vec<Value> {
        records
            .into_iter()
            .map(|record| serde_json::json!([record["resource"], record["scope"], record["record"]]))
            .collect()
    };
    assert_eq!(content(otlp.records()), content(judge.records()));
}

/// What a parser has taken apart is put together again, with what was changed.
#[test]
fn a_record_that_was_changed() {
    let lab = Lab::new();
    let Some(otlp) = Otlp::start(&lab, &[]) else { return skip(MISSING) };
    let config = format!(
        "{HEAD}source s {{ opentelemetry(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination k {{ opentelemetry(url(\"127.0.0.1:{}\")); }};\n\
         rewrite r {{ set(\"new\" value(\".otel.log.attributes.mine\")); unset(value(\".otel.log.attributes.share\")); \
                      set(\"other\" value(\".otel.log.body\")); }};\n\
         log {{ source(s); parser {{ opentelemetry(); }}; rewrite(r); destination(k); flags(flow-control); }};\n",
        otlp.port()
    );
    let mut penstock = Penstock::start(&lab, &config);
    assert_eq!(client(&lab, &[]).run(), ["OK 0 1"]);
    penstock.wait_settled(1).assert_nothing_lost();
    let records = otlp.records();
    let record = &records[0]["record"];
    assert_eq!(record["body"]["stringValue"], "other");
    assert_eq!(record["severityNumber"], "SEVERITY_NUMBER_ERROR");
    assert_eq!(record["traceId"], "AAECAwQFBgcICQoLDA0ODw==");
    let mut attributes: Vec<String> = record["attributes"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|pair| format!("{} {}", pair["key"], pair["value"]))
        .collect();
    attributes.sort();
    assert_eq!(attributes, ["\"mine\" {\"stringValue\":\"new\"}", "\"number\" {\"intValue\":\"0\"}"]);
    assert_eq!(records[0]["resource"]["attributes"].as_array().map(Vec::len), Some(2));
    assert_eq!(records[0]["scope"]["name"], "tests");
}

/// Between two of this program: everything that is known of a message is known on the other side.
#[test]
fn pairs_types_and_tags_go_over_to_another_one() {
    let lab = Lab::new();
    let config = format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%) flags(syslog-protocol, store-raw-message) tags(\"mine\")); }};\n\
         source o {{ syslog-ng-otlp(ip(127.0.0.1) port(%tcp:over%)); }};\n\
         destination k {{ syslog-ng-otlp(url(\"127.0.0.1:%port:over%\")); }};\n\
         template t {{ template(\"$(format-json --scope rfc5424,nv-pairs,dot-nv-pairs,sdata --key TAGS --key SOURCEIP --key DESTPORT raw=$RAWMSG)\\n\"); }};\n\
         destination here {{ file(\"%dir%/here\" template(t)); }};\n\
         destination there {{ file(\"%dir%/there\" template(t)); }};\n\
         rewrite r {{ set(int(\"7\") value(\"number\")); set(\"text, \\\"x\\\"\" value(\".dotted\")); set(boolean(\"true\") value(\"truth\")); \
                      set(list(\"a,b\") value(\"items\")); set-tag(\"a tag, with a comma\"); }};\n\
         log {{ source(s); rewrite(r); destination(here); destination(k); flags(flow-control); }};\n\
         log {{ source(o); destination(there); flags(flow-control); }};\n"
    );
    let mut penstock = Penstock::start(&lab, &config);
    let mut sender = Sender::tcp(lab.port("in"));
    sender.raw(
        "<165>1 2026-11-11T01:02:03.000004+05:30 web app 7 ID47 [a@1 x=\"1\" y=\"\\\"]\"][b@2] é one\n"
            .as_bytes(),
    );
    sender.raw(b"<14>1 - - - - - - two\n");
    sender.finish();
    wait_until("both on the other side", || lab.lines("there").len() == 2);
    let read = |name: &str| -> Vec<Value> {
        let lines = lab.lines(name);
        lines.iter().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    };
    let strip = |mut values: Vec<Value>| {
        for value in &mut values {
            let tags = value["TAGS"].as_str().unwrap_or_default().to_owned();
            value["TAGS"] = tags.replace(",.source.o", "").into();
            value.as_object_mut().expect("a message").remove("SOURCE");
        }
        values
    };
    let (here, there) = (strip(read("here")), strip(read("there")));
    assert_eq!(here, there);
    assert!(here[0]["number"] == 7 && here[0]["truth"] == true, "{here:?}");
    assert_eq!(there[1]["raw"], "<14>1 - - - - - - two");
    penstock.wait_settled(4);
    penstock.stop();
}

/// And under load, in order.
#[test]
fn many_messages_go_over_to_another_one() {
    let lab = Lab::new();
    let config = format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         source o {{ axosyslog-otlp(ip(127.0.0.1) port(%tcp:over%)); }};\n\
         destination k {{ axosyslog-otlp(url(\"127.0.0.1:%port:over%\") compression(yes)); }};\n\
         log {{ source(s); destination(k); flags(flow-control); }};\n\
         log {{ source(o); destination {{ {}; }}; flags(flow-control); }};\n",
        file("$MSG")
    );
    let penstock = Penstock::start(&lab, &config);
    feed(lab.port("in"), 0, 20_000);
    wait_until("all of them", || lab.lines("out").len() >= 20_000);
    assert_in_order(&lab.lines("out"), 20_000);
    penstock.stop();
}
