//! Documents in search engines that are not ours: OpenSearch and Elasticsearch judge what is sent, and curl
//! reads what they have. One server serves all promises of a test: it takes half a minute to start.

use crate::messages::{HEAD, block};
use serde_json::Value;
use std::collections::HashSet;
use testkit::search::{Engine, MISSING, PASSWORD, REQUEST_BYTES_MAX, Search, USER};
use testkit::{Lab, Penstock, Sender, run_command, skip, wait_until};

const COUNT: usize = 10_000;

fn config(driver: &str) -> String {
    format!(
        "{HEAD}@include \"scl.conf\"\noptions {{ log-msg-size(200000); }};\n\
         source own {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination away {{ {driver}; }};\nlog {{ source(own); destination(away); flags(flow-control); }};\n"
    )
}

fn send(lab: &Lab, text: &str) {
    let mut sender = Sender::tcp(lab.port("in"));
    sender.raw(text.as_bytes());
    sender.finish();
}

/// Starts a collector with this destination, sends, and stops it when everything is dealt with.
#[track_caller]
fn delivers(driver: &str, text: &str) -> testkit::Ledger {
    let lab = Lab::new();
    let mut penstock = Penstock::start(&lab, &config(driver));
    send(&lab, text);
    let ledger = penstock.wait_settled(text.lines().count() as u64);
    penstock.stop();
    ledger
}

/// Each message of a block stands in the index once.
#[track_caller]
fn assert_each_once(search: &Search, index: &str, field: &str, count: usize) {
    assert_eq!(search.count(index), count as u64, "{index}");
    let documents = search.documents(index);
    let texts: HashSet<&str> =
        documents.iter().filter_map(|(_, document)| document[field].as_str()).collect();
    assert_eq!(texts.len(), count, "{index}");
    for number in 0..count {
        let text = format!("message number {number} of connection 1");
        assert!(texts.contains(text.as_str()), "{index}: {text}");
    }
}

#[test]
fn opensearch() {
    let lab = Lab::new();
    let Some(mut search) = Search::start(&lab, Engine::OpenSearch) else { return skip(MISSING) };
    let url = search.url();

    // What comes in is there, as it came, under an index of the message.
    let odd = "<13>Nov 11 01:02:03 host app[7]: \"quoted\" \\ back, tab\there, \u{1f600} and \u{7f}";
    delivers(&format!("opensearch(url(\"{url}/_bulk\") index(\"logs-${{PROGRAM}}\"))"), odd)
        .assert_nothing_lost();
    let documents = search.documents("logs-app");
    let expected = "\"quoted\" \\ back, tab\there, \u{1f600} and \u{7f}";
    assert_eq!((documents[0].1["MESSAGE"].as_str(), documents.len()), (Some(expected), 1), "{documents:?}");

    // An id for each, and compressed.
    let driver = format!(
        "opensearch(url(\"{url}/_bulk\") index(\"auto\") custom-id(auto) op-type(\"create\") batch-lines(1000) \
         content-compression(\"gzip\"))"
    );
    delivers(&driver, &block(1, COUNT)).assert_nothing_lost();
    assert_each_once(&search, "auto", "MESSAGE", COUNT);

    // A data stream takes only what is new.
    let template = r#"{"index_patterns": ["stream-*"], "data_stream": {}}"#;
    search.ask("PUT", "/_index_template/streams", Some(template));
    delivers(
        &format!("elasticsearch-datastream(url(\"{url}/stream-app/_bulk\") batch-lines(500))"),
        &block(1, 2000),
    )
    .assert_nothing_lost();
    assert_each_once(&search, "stream-app", "MESSAGE", 2000);

    // Batches larger than it takes are made smaller.
    let long: String = (0..40)
        .map(|number| format!("<13>Nov 11 01:02:03 h app: {number} {}\n", "x".repeat(100_000)))
        .collect();
    assert!(long.len() > 3 * REQUEST_BYTES_MAX);
    delivers(&format!("opensearch(url(\"{url}/_bulk\") index(\"long\") workers(1) batch-lines(40))"), &long)
        .assert_nothing_lost();
    assert_eq!(search.count("long"), 40);

    // One that it does not take costs no other, and is told with its words.
    let typed = r#"{"mappings": {"properties": {"number": {"type": "long"}}}}"#;
    search.ask("PUT", "/typed", Some(typed));
    let mut text = block(1, COUNT);
    text.insert_str(0, "<13>Nov 11 01:02:03 host app[none]: bad\n");
    let driver = format!(
        "opensearch(url(\"{url}/_bulk\") index(\"typed\") batch-lines(1000) \
         template(\"$(format-json text=\\\"$MSG\\\" number=$PID)\"))"
    );
    let ledger = delivers(&driver, &text);
    assert_eq!((ledger.dropped_for("refused"), ledger.dropped()), (1, 1), "{ledger}");
    assert_each_once(&search, "typed", "text", COUNT);

    // Killed under load: what it had taken and not answered comes again under its id.
    let lab = Lab::new();
    let driver = format!(
        "opensearch(url(\"{url}/_bulk\") index(\"killed\") custom-id(auto) op-type(\"create\") workers(2) \
         batch-lines(200))"
    );
    search.ask("PUT", "/killed", None);
    let mut penstock = Penstock::start(&lab, &config(&driver));
    let port = lab.port("in");
    let sending = std::thread::spawn(move || {
        let mut sender = Sender::tcp(port);
        sender.raw(block(1, COUNT).as_bytes());
        sender.finish();
    });
    wait_until("some to be there", || penstock.ledger().destination("away").delivered > 1000);
    search.kill();
    penstock.wait_log("Destination cannot be reached");
    search.run();
    sending.join().expect("sent");
    wait_until("all to be there", || penstock.ledger().destination("away").delivered >= COUNT as u64);
    penstock.ledger().assert_nothing_lost();
    assert_each_once(&search, "killed", "MESSAGE", COUNT);
    penstock.stop();
}

#[test]
fn elasticsearch_with_tls_and_users() {
    let lab = Lab::new();
    let Some(search) = Search::start(&lab, Engine::Elasticsearch) else { return skip(MISSING) };
    let (url, authority) = (search.url(), search.authority().display().to_string());
    let driver = |password: &str, more: &str| {
        format!(
            "elasticsearch-http(url(\"{url}/_bulk\") index(\"logs\") custom-id(auto) user(\"{USER}\") \
             password(\"{password}\") batch-lines(500) batch-timeout(100) time-reopen(1) {more})"
        )
    };
    let trusted = format!("tls(ca-file(\"{authority}\"))");

    // Neither without its authority nor with a wrong password does anything leave, and nothing is lost.
    let place = Lab::new();
    let mut penstock = Penstock::start(&place, &config(&driver(PASSWORD, "")));
    send(&place, &block(1, COUNT));
    penstock.wait_log("the certificate of the peer is refused");
    penstock.reload_with(&place, &config(&driver("wrong", &trusted)));
    penstock.wait_log("401 Unauthorized");
    let ledger = penstock.ledger();
    assert_eq!((ledger.destination("away").delivered, ledger.dropped()), (0, 0), "{ledger}");
    penstock.reload_with(&place, &config(&driver(PASSWORD, &trusted)));
    // In the sandbox it is another program now, which has received nothing itself.
    let ledger = penstock.wait_ledger(|ledger| {
        (ledger.destination("away").delivered < COUNT as u64).then(|| "all to be delivered".to_owned())
    });
    ledger.assert_nothing_lost();
    assert_each_once(&search, "logs", "MESSAGE", COUNT);
    penstock.stop();

    // It knows no types any more. That nothing is taken is said with its words, and costs little meanwhile.
    let place = Lab::new();
    let typed = driver(PASSWORD, &format!("type(\"doc\") {trusted}"));
    let mut penstock = Penstock::start(&place, &config(&typed));
    send(&place, &block(1, 1000));
    penstock.wait_log(
        "Destination refuses one message after the other; location='away#0', reason='400 Bad Request",
    );
    penstock.wait_log("[_type]");
    let state = penstock.state().display().to_string();
    let told = run_command(&["ledger", "--state-dir", &state]).stdout;
    let words = "refused: refused by the destination for good; the last with 400 Bad Request";
    assert!(told.contains(words) && told.contains("[_type]"), "{told}");
    let json = run_command(&["ledger", "--json", "--state-dir", &state]).stdout;
    let json: Value = serde_json::from_str(&json).expect("JSON");
    let said = json["destinations"][0]["refused_with"].as_str().unwrap_or_default();
    assert!(said.contains("[_type]"), "{json}");
    let ledger = penstock.ledger();
    assert!(ledger.dropped() < 500 && ledger.waiting() > 500, "{ledger}");
    penstock.stop();
}
