//! Messages that come in requests of HTTP: webhook(), hec(), elasticsearch-bulk(). Each is answered when it
//! is delivered, and never before.

use crate::messages::HEAD;
use serde_json::{Value, json};
use testkit::web::{self, Answered};
use testkit::{Collector, Lab, Penstock, wait_until};

const TOKEN: &str = "11111111-2222-3333-4444-555555555555";
const FILE: &str = "file(\"%dir%/out\" template(\"$HOST|$S_UNIXTIME|$MSG|$(format-json --key .splunk.* --key webhook.* \
                    --key .elasticsearch.index)\\n\"));";
/// Nobody listens there at first.
const AWAY: &str = "network(127.0.0.1 port(%port:out%) time-reopen(1) template(\"$MSG\\n\"));";

fn config(source: &str, destination: &str) -> String {
    format!(
        "{HEAD}@include \"scl.conf\"\nsource s {{ {source} }};\ndestination d {{ {destination} }};\n\
         log {{ source(s); destination(d); flags(flow-control); }};\n"
    )
}

fn start(lab: &Lab, source: &str, destination: &str) -> (Penstock, u16) {
    (Penstock::start(lab, &config(source, destination)), lab.port("in"))
}

fn hec(port: u16, path: &str, body: &str) -> Answered {
    web::post(
        port,
        &format!("/services/collector{path}"),
        &format!("Authorization: Splunk {TOKEN}\r\n"),
        body.as_bytes(),
    )
}

#[test]
fn a_webhook_brings_body_path_and_query() {
    let lab = Lab::new();
    let (mut penstock, port) = start(
        &lab,
        "webhook(ip(127.0.0.1) port(%tcp:in%) auth_token(\"secret\") paths([\"/events\", \"/events/(?P<HOST>.*)\"]) \
         include_request_headers(yes));",
        FILE,
    );
    let shown = "Authorization: Bearer secret\r\nX-From: Test\r\n";
    for (path, headers, status) in [
        ("/events", "", 403),
        ("/events", "Authorization: Bearer secre\r\n", 403),
        ("/other", shown, 404),
        ("/events/web1?a=b%20c&d", shown, 200),
        ("/events", "Authorization: Basic secret\r\n", 200),
    ] {
        assert_eq!(web::post(port, path, headers, b"hello\nworld").status, status, "{path} {headers}");
    }
    assert_eq!(web::get(port, "/events", shown).status, 405);
    // It was there before the answer.
    let text = lab.text("out");
    let (first, second) = text.split_once("world|").expect("two messages");
    assert!(first.starts_with("web1|") && first.ends_with("|hello\n"), "{text}");
    let (values, second) = second.split_once('\n').expect("a line");
    let values: Value = serde_json::from_str(values).expect("JSON");
    assert_eq!(values["webhook"]["query"], json!({ "a": "b c", "d": "" }), "{values}");
    assert_eq!(values["webhook"]["headers"]["x-from"], "Test", "{values}");
    assert!(values["webhook"]["headers"].get("authorization").is_none(), "{values}");
    assert!(second.starts_with("127.0.0.1|") || second.starts_with("localhost|"), "{second}");
    penstock.wait_ledger(|ledger| (ledger.source("s").received != 2).then(|| "2 received".to_owned()));
    penstock.ledger().assert_balanced();
    penstock.stop();
}

#[test]
fn webhook_json_takes_the_body_apart() {
    let lab = Lab::new();
    let (penstock, port) = start(
        &lab,
        "webhook-json(ip(127.0.0.1) port(%tcp:in%) prefix(\"webhook.\"));",
        "file(\"%dir%/out\" template(\"${webhook.a} ${webhook.b.c}\\n\"));",
    );
    assert_eq!(web::post(port, "/", "", b"{\"a\":1,\"b\":{\"c\":\"x\"}}").status, 200);
    assert_eq!(lab.text("out"), "1 x\n");
    penstock.stop();
}

#[test]
fn nothing_is_acknowledged_before_it_is_delivered() {
    let lab = Lab::new();
    let source = format!(
        "webhook(ip(127.0.0.1) port(%tcp:in%)); hec(ip(127.0.0.1) port(%tcp:hec%) tokens(\"{TOKEN}\") ack(yes));\n\
         elasticsearch-bulk(ip(127.0.0.1) port(%tcp:bulk%));\n\
         webhook(ip(127.0.0.1) port(%tcp:hasty%) answer-timeout(1));"
    );
    let (mut penstock, port) = start(&lab, &source, AWAY);
    let (hec_port, bulk) = (lab.port("hec"), lab.port("bulk"));
    let bulk_body = b"{\"index\":{\"_index\":\"i\"}}\n{\"bulk\":1}\n";
    std::thread::scope(|scope| {
        let hook = scope.spawn(move || web::post(port, "/", "", b"hook"));
        let bulk = scope.spawn(move || web::post(bulk, "/_bulk", "", bulk_body));
        // Its client hears that it took too long, and the message is delivered all the same.
        assert_eq!(web::post(lab.port("hasty"), "/", "", b"hasty").status, 503);
        let taken = hec(hec_port, "/event?channel=c", "{\"event\":\"event\"}");
        assert_eq!(taken.status, 200, "{taken:?}");
        let number = taken.json()["ackId"].as_u64().expect("a number").to_string();
        let asked = format!("{{\"acks\":[{number}]}}");
        let ask = || hec(hec_port, "/ack?channel=c", &asked).json()["acks"][&number].clone();
        penstock.wait_ledger(|ledger| (ledger.destination("d").waiting != 4).then(|| "4 waiting".to_owned()));
        assert_eq!(ask(), false);
        assert!(!hook.is_finished() && !bulk.is_finished());
        let collector = Collector::tcp(lab.port("out"));
        collector.wait_lines(4);
        let mut lines = collector.lines();
        lines.sort();
        assert_eq!(lines, ["event", "hasty", "hook", "{\"bulk\":1}"]);
        assert_eq!(hook.join().expect("an answer").status, 200);
        let answer = bulk.join().expect("an answer");
        assert_eq!((answer.status, &answer.json()["errors"]), (200, &false.into()));
        wait_until("the acknowledgement", || ask() == true);
        assert_eq!(ask(), false, "it is said once");
    });
    penstock.ledger().assert_balanced();
    drop(penstock);
}

#[test]
fn hec_takes_events_and_lines_and_names_what_is_wrong() {
    let lab = Lab::new();
    let source = format!("hec(ip(127.0.0.1) port(%tcp:in%) tokens(\"other\" \"{TOKEN}\"));");
    let (mut penstock, port) = start(&lab, &source, FILE);
    let body = "{\"event\":\"one\",\"host\":\"web1\",\"time\":1426279439.5,\"sourcetype\":\"t\",\"fields\":{\"role\":\"a\"}}{\"event\":{\"k\":2}}";
    let answer = hec(port, "/event", body);
    assert_eq!((answer.status, answer.json()), (200, json!({ "text": "Success", "code": 0 })));
    let lines = lab.lines("out");
    assert!(lines[0].starts_with("web1|1426279439|one|{"), "{lines:?}");
    assert!(lines[0].contains("\"role\":\"a\"") && lines[0].contains("\"sourcetype\":\"t\""), "{lines:?}");
    assert!(lines[1].contains("|{\"k\":2}|"), "{lines:?}");
    let answer = hec(port, "/raw?host=h&index=main", "first\r\n\nsecond");
    assert_eq!(answer.status, 200, "{answer:?}");
    let lines = lab.lines("out");
    assert!(
        lines[2].starts_with("h|") && lines[2].contains("|first|") && lines[2].contains("\"index\":\"main\"")
    );
    assert!(lines[3].contains("|second|") && lines.len() == 4, "{lines:?}");
    for (path, headers, body, status, code) in [
        ("/event", "", "{\"event\":1}", 401, 2),
        ("/event", "Authorization: Splunk wrong\r\n", "{\"event\":1}", 403, 4),
        ("/event", "Authorization: Digest x\r\n", "{\"event\":1}", 401, 3),
        ("/event?token=x", "", "{\"event\":1}", 400, 16),
        ("/event", "Authorization: Splunk other\r\n", "", 400, 5),
        ("/event", "Authorization: Splunk other\r\n", "{\"event\":", 400, 6),
        ("/event", "Authorization: Splunk other\r\n", "{}", 400, 12),
        ("/ack", "Authorization: Splunk other\r\n", "{\"acks\":[1]}", 400, 14),
    ] {
        let answer = web::post(port, &format!("/services/collector{path}"), headers, body.as_bytes());
        assert_eq!(
            (answer.status, &answer.json()["code"]),
            (status, &code.into()),
            "{path} {body}: {answer:?}"
        );
    }
    let answer = hec(port, "", "{\"event\":\"good\"}{\"event\":\"\"}{\"event\":\"after\"}");
    assert_eq!(
        answer.json(),
        json!({ "text": "Event field cannot be blank", "code": 13, "invalid-event-number": 1 })
    );
    let health = web::get(port, "/services/collector/health", "");
    assert_eq!((health.status, &health.json()["code"]), (200, &17.into()));
    // As Docker's splunk driver asks before it starts a container.
    let asked = web::raw(
        port,
        b"OPTIONS /services/collector/event/1.0 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    );
    assert!(asked.starts_with("HTTP/1.1 200"), "{asked}");
    assert_eq!(hec(port, "/", "{\"event\":\"half \\ud800\"}").status, 200);
    penstock.wait_ledger(|ledger| (ledger.destination("d").delivered != 6).then(|| "6 delivered".to_owned()));
    assert!(lab.text("out").contains("|half \u{fffd}|"));
    penstock.stop();
}

/// One penstock sends as to Splunk and to Elasticsearch, the other takes it.
#[test]
fn our_own_destinations_are_understood() {
    const COUNT: usize = 20_000;
    let receiving = Lab::new();
    let source = format!(
        "hec(ip(127.0.0.1) port(%tcp:in%) tokens(\"{TOKEN}\") ack(yes)); elasticsearch-bulk(ip(127.0.0.1) port(%tcp:bulk%) \
         user(\"u\") password(\"p\"));"
    );
    let destination = "file(\"%dir%/$(if ('${.splunk.index}' ne '') 'hec' 'bulk')\" template(\"$MSG\\n\"));";
    let (mut receiver, port) = start(&receiving, &source, destination);
    let bulk = receiving.port("bulk");
    let sending = Lab::new();
    let config = format!(
        "{HEAD}@include \"scl.conf\"\nsource s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination d_hec {{ splunk-hec-event(url(\"http://127.0.0.1:{port}\") token(\"{TOKEN}\") index(\"main\") ack(yes) \
         content-compression(\"gzip\") event(\"$MSG\")); }};\n\
         destination d_bulk {{ elasticsearch-http(url(\"http://127.0.0.1:{bulk}/_bulk\") index(\"logs\") type(\"\") user(\"u\") password(\"p\") \
         template(\"$(format-json m=$MSG)\")); }};\n\
         log {{ source(s); destination(d_hec); destination(d_bulk); flags(flow-control); }};\n"
    );
    let mut sender = Penstock::start(&sending, &config);
    crate::messages::send(&sending, 0, COUNT);
    sender.wait_ledger(|ledger| {
        let open =
            ["d_hec", "d_bulk"].into_iter().find(|name| ledger.destination(name).delivered != COUNT as u64);
        open.map(|name| format!("{COUNT} delivered to {name}"))
    });
    let texts = |name: &str| {
        let mut lines = receiving.lines(name);
        lines.sort();
        lines.dedup();
        lines.len()
    };
    // Delivered there means written here.
    assert_eq!((texts("hec"), texts("bulk")), (COUNT, COUNT));
    receiver.wait_ledger(|ledger| (ledger.source("s").waiting != 0).then(|| "nothing waiting".to_owned()));
    receiver.ledger().assert_balanced();
    sender.stop();
    receiver.stop();
}

/// As a configuration of Splunk Connect for Syslog says it: a batch is not dropped for what one of it is.
#[test]
fn where_400_is_dropped_a_bad_event_costs_itself() {
    const COUNT: usize = 2000;
    let receiving = Lab::new();
    let source = format!("hec(ip(127.0.0.1) port(%tcp:in%) tokens(\"{TOKEN}\"));");
    let (receiver, port) = start(&receiving, &source, "file(\"%dir%/out\" template(\"$MSG\\n\"));");
    let sending = Lab::new();
    let config = format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         rewrite r {{ set(\"\", value(\"MSG\"), condition(\"$MSG\" eq \"n77\" or \"$MSG\" eq \"n1500\")); }};\n\
         destination d {{ http(url(\"http://127.0.0.1:{port}/services/collector/event\") headers(\"Authorization: Splunk {TOKEN}\") \
         batch-lines(1000) batch-timeout(300) response-action(400 => drop) body(\"$(format-json event=$MSG)\")); }};\n\
         log {{ source(s); rewrite(r); destination(d); flags(flow-control); }};\n"
    );
    let mut sender = Penstock::start(&sending, &config);
    let mut connection = testkit::Sender::tcp(sending.port("in"));
    for n in 0..COUNT {
        connection.raw(format!("<13>Nov 29 00:00:00 h p: n{n}\n").as_bytes());
    }
    connection.finish();
    let ledger = sender.wait_ledger(|ledger| {
        let d = ledger.destination("d");
        (d.delivered + d.dropped != COUNT as u64).then(|| "all of them dealt with".to_owned())
    });
    let d = ledger.destination("d");
    assert_eq!((d.delivered, d.dropped), (COUNT as u64 - 2, 2));
    let mut lines = receiving.lines("out");
    lines.sort();
    lines.dedup();
    assert_eq!(lines.len(), COUNT - 2);
    sender.stop();
    receiver.stop();
}

#[test]
fn bulk_requests_are_answered_item_by_item() {
    let lab = Lab::new();
    let (penstock, port) =
        start(&lab, "elasticsearch-bulk(ip(127.0.0.1) port(%tcp:in%) api-keys(\"a2V5\"));", FILE);
    let key = "Authorization: ApiKey a2V5\r\n";
    assert_eq!(web::get(port, "/", "").status, 401);
    let greeting = web::get(port, "/", key);
    assert_eq!(greeting.header("x-elastic-product"), "Elasticsearch");
    assert_eq!(web::get(port, "/_license", key).json()["license"]["status"], "active");
    assert_eq!(web::get(port, "/_cat/indices", key).status, 404);
    let body = "{\"create\":{\"_id\":\"7\"}}\n{\"a\":1}\n{\"delete\":{\"_id\":\"7\"}}\n{\"index\":{\"_index\":\"other\"}}\n{\"b\"\n";
    let answer = web::post(port, "/general/_bulk", key, body.as_bytes());
    let items = answer.json();
    assert_eq!((answer.status, &items["errors"]), (200, &true.into()), "{answer:?}");
    assert_eq!(items["items"][0]["create"]["status"], 201);
    assert_eq!(
        (&items["items"][0]["create"]["_id"], &items["items"][0]["create"]["_index"]),
        (&"7".into(), &"general".into())
    );
    assert_eq!(items["items"][1]["delete"]["status"], 400);
    assert_eq!(items["items"][2]["index"]["error"]["type"], "document_parsing_exception");
    let terse = web::post(
        port,
        "/_bulk?filter_path=errors,items.*.status",
        key,
        b"{\"index\":{\"_index\":\"i\"}}\n{}\n",
    );
    assert_eq!(terse.json()["items"], json!([{ "index": { "status": 201 } }]));
    assert_eq!(web::post(port, "/_bulk", key, b"no action\n").status, 400);
    assert_eq!(lab.lines("out").len(), 2, "{}", lab.text("out"));
    assert!(lab.text("out").contains("|{\"a\":1}|"));
    penstock.stop();
}

/// A source that is closed answers what it cannot take any more, and a reload gives the address on.
#[test]
fn reloads_close_and_open_it() {
    let lab = Lab::new();
    let (mut penstock, port) = start(&lab, "webhook(ip(127.0.0.1) port(%tcp:in%));", FILE);
    assert_eq!(web::post(port, "/", "", b"one").status, 200);
    lab.write_config(
        "penstock.conf",
        &config("webhook(ip(127.0.0.1) port(%port:in%) auth-token(\"t\"));", FILE),
    );
    assert!(penstock.request("RELOAD").starts_with("OK"));
    assert_eq!(web::post(port, "/", "", b"two").status, 403);
    assert_eq!(web::post(port, "/", "Authorization: t\r\n", b"three").status, 200);
    assert_eq!(lab.lines("out").len(), 2);
    penstock.wait_ledger(|ledger| (ledger.destination("d").delivered != 2).then(|| "2".to_owned()));
    penstock.stop();
}
