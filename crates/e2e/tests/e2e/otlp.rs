//! `opentelemetry()` to a collector on others' libraries (grpcio, opentelemetry-proto), which writes down
//! what it takes: where these are not installed, the tests are skipped.

use crate::answered::{
    self, Peer, assert_all, assert_in_order, collector_killed, feed, reloaded_under_load,
    server_killed_under_load, text,
};
use crate::messages::HEAD;
use crate::tls::{Authority, prepared};
use testkit::otlp::{MISSING, Otlp};
use testkit::{Lab, Penstock, Sender, skip};

impl Peer for Otlp {
    fn kill(&mut self) {
        Otlp::kill(self);
    }

    fn run(&mut self) {
        Otlp::run(self);
    }

    fn texts(&self) -> Vec<String> {
        self.bodies()
    }
}

fn driver(otlp: &Otlp, options: &str) -> String {
    format!("opentelemetry(url(\"127.0.0.1:{}\") time-reopen(1) {options})", otlp.port())
}

fn config(otlp: &Otlp, options: &str) -> String {
    answered::config(&driver(otlp, options))
}

#[test]
fn a_message_is_a_record() {
    let lab = Lab::new();
    let Some(otlp) = Otlp::start(&lab, &[]) else { return skip(MISSING) };
    let options = "headers(\"X-Host\" => \"$HOST\" \"x-raw-bin\" => \"$PROGRAM\") compression(yes)";
    let config = format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%) flags(syslog-protocol)); }};\n\
         destination k {{ {}; }};\nlog {{ source(s); destination(k); flags(flow-control); }};\n",
        driver(&otlp, options)
    );
    let mut penstock = Penstock::start(&lab, &config);
    let mut sender = Sender::tcp(lab.port("in"));
    sender.raw("<11>1 2026-11-11T01:02:03.123456+01:00 web app 7 ID - é one\n".as_bytes());
    sender.raw(b"<12>1 2026-11-11T01:02:04Z db app 7 ID - \xff\n");
    sender.finish();
    penstock.wait_settled(2).assert_nothing_lost();
    let records = otlp.records();
    let [one, two] = records.as_slice() else { panic!("{records:?}") };
    assert_eq!(one["record"]["body"]["stringValue"], "é one");
    assert_eq!(one["record"]["timeUnixNano"], "1794355323123456000");
    assert_eq!(one["record"]["severityNumber"], "SEVERITY_NUMBER_ERROR");
    assert_eq!((&one["metadata"]["x-host"], &two["metadata"]["x-host"]), (&"web".into(), &"db".into()));
    assert_eq!(one["metadata"]["x-raw-bin"], "617070", "app");
    let observed = one["record"]["observedTimeUnixNano"].as_str().and_then(|text| text.parse::<u64>().ok());
    assert!(observed.is_some_and(|observed| observed > 1_790_000_000_000_000_000), "{observed:?}");
    // What is not UTF-8 no collector takes as a text.
    assert_eq!(two["record"]["body"]["bytesValue"], "/w==");
    assert_eq!(two["record"]["severityNumber"], "SEVERITY_NUMBER_WARN");
}

#[test]
fn messages_are_there_in_order() {
    let lab = Lab::new();
    let Some(otlp) = Otlp::start(&lab, &[]) else { return skip(MISSING) };
    let mut penstock = Penstock::start(&lab, &config(&otlp, "batch-lines(700)"));
    feed(lab.port("in"), 0, 5000);
    penstock.wait_settled(5000).assert_nothing_lost();
    assert_in_order(&otlp.bodies(), 5000);
}

#[test]
fn one_bad_message_is_one_dead_letter() {
    let lab = Lab::new();
    let Some(otlp) = Otlp::start(&lab, &["--refuse", "number 7777 of"]) else { return skip(MISSING) };
    let mut penstock = Penstock::start(&lab, &config(&otlp, ""));
    feed(lab.port("in"), 0, 10_000);
    let ledger = penstock.wait_settled(10_000);
    assert_eq!((ledger.dropped(), ledger.dropped_for("refused")), (1, 1));
    ledger.assert_balanced();
    let bodies = otlp.bodies();
    assert_eq!(bodies.len(), 9_999);
    assert!(!bodies.contains(&text(7777)));
}

#[test]
fn a_partial_success_is_not_asked_again() {
    let lab = Lab::new();
    let Some(otlp) = Otlp::start(&lab, &["--partial", "number 33"]) else { return skip(MISSING) };
    let mut penstock = Penstock::start(&lab, &config(&otlp, ""));
    feed(lab.port("in"), 0, 1000);
    let ledger = penstock.wait_settled(1000);
    ledger.assert_balanced();
    // 33 and 330 to 339.
    assert_eq!((ledger.dropped_for("refused"), otlp.bodies().len()), (11, 989));
    penstock.wait_log("The collector has refused messages");
}

#[test]
fn a_busy_collector_is_asked_when_it_says_so() {
    let lab = Lab::new();
    let busy = lab.path("busy").display().to_string();
    let Some(otlp) = Otlp::start(&lab, &["--busy", &busy]) else { return skip(MISSING) };
    std::fs::write(&busy, "").expect("a file");
    let mut penstock = Penstock::start(&lab, &config(&otlp, ""));
    feed(lab.port("in"), 0, 100);
    penstock.wait_log("RESOURCE_EXHAUSTED: too much");
    assert_eq!(penstock.ledger().dropped(), 0);
    std::fs::remove_file(&busy).expect("a file");
    penstock.wait_settled(100).assert_nothing_lost();
    assert_in_order(&otlp.bodies(), 100);
}

#[test]
fn a_wrong_token_holds_and_says_so() {
    let lab = Lab::new();
    let Some(otlp) = Otlp::start(&lab, &["--token", "Bearer good"]) else { return skip(MISSING) };
    let with = |token: &str| config(&otlp, &format!("headers(\"authorization\" => \"Bearer {token}\")"));
    let mut penstock = Penstock::start(&lab, &with("bad"));
    feed(lab.port("in"), 0, 100);
    penstock.wait_log("UNAUTHENTICATED: who are you?");
    let ledger = penstock.wait_ledger(|ledger| (ledger.waiting() < 100).then(|| "all to wait".to_owned()));
    assert_eq!(ledger.dropped(), 0);
    penstock.reload_with(&lab, &with("good"));
    penstock.wait_settled(100).assert_nothing_lost();
    assert_in_order(&otlp.bodies(), 100);
}

#[test]
fn a_collector_of_records_that_is_killed_costs_nothing() {
    let lab = Lab::new();
    let Some(mut otlp) = Otlp::start(&lab, &[]) else { return skip(MISSING) };
    let config = config(&otlp, "batch-lines(1000)");
    server_killed_under_load(&lab, &config, &mut otlp, 1000);
}

#[test]
fn what_is_acknowledged_outlives_kills() {
    let lab = Lab::new();
    let Some(otlp) = Otlp::start(&lab, &[]) else { return skip(MISSING) };
    let disk = "disk-buffer(reliable(yes) capacity-bytes(64MiB) dir(\"%dir%\"))";
    collector_killed(&lab, &config(&otlp, disk), &otlp);
}

#[test]
fn a_reload_under_load_keeps_what_is_on_the_way() {
    let lab = Lab::new();
    let Some(otlp) = Otlp::start(&lab, &[]) else { return skip(MISSING) };
    reloaded_under_load(&lab, &config(&otlp, ""), &otlp);
}

#[test]
fn encrypted_and_a_wrong_certificate_gets_nothing() {
    let lab = Lab::new();
    prepared(&lab);
    Authority::new(&lab, "other");
    let path = |name: &str| lab.path(name).display().to_string();
    let options =
        ["--cert", &path("server.pem"), "--key", &path("server.key"), "--client-ca", &path("ca.pem")];
    let Some(otlp) = Otlp::start(&lab, &options) else { return skip(MISSING) };
    let with = |ca: &str| {
        let files = format!(
            "ca-file(\"%dir%/{ca}.pem\") key-file(\"%dir%/client.key\") cert-file(\"%dir%/client.pem\")"
        );
        config(&otlp, &format!("auth(tls({files}))"))
    };
    let mut penstock = Penstock::start(&lab, &with("other"));
    feed(lab.port("in"), 0, 1000);
    penstock.wait_log("the certificate of the peer is refused");
    assert_eq!(penstock.ledger().destination("k").delivered, 0);
    penstock.reload_with(&lab, &with("ca"));
    penstock.wait_settled(1000).assert_nothing_lost();
    assert_eq!(assert_all(&otlp.bodies(), 1000), 0);
}

/// Google's own library looks at the tokens.
#[test]
fn calls_of_a_service_account_have_tokens_that_its_key_has_signed() {
    let lab = Lab::new();
    prepared(&lab);
    let path = |name: &str| lab.path(name).display().to_string();
    let account = path("account.json");
    let own = ["--cert", &path("server.pem"), "--key", &path("server.key"), "--account", &account];
    let audience = "https://logs.example.com/opentelemetry.proto.collector.logs.v1.LogsService";
    let Some(otlp) = Otlp::start(&lab, &[&own[..], &["--audience", audience]].concat()) else {
        return skip(MISSING);
    };
    let with = |authority: &str| {
        let auth = format!("auth(service-account(key(\"{account}\")) tls(ca-file(\"%dir%/ca.pem\")))");
        config(&otlp, &format!("{auth} channel-args(\"grpc.default_authority\" => \"{authority}\")"))
    };
    let mut penstock = Penstock::start(&lab, &with("other.example.com"));
    feed(lab.port("in"), 0, 100);
    penstock.wait_log("UNAUTHENTICATED: no good token");
    assert_eq!(penstock.ledger().dropped(), 0);
    penstock.reload_with(&lab, &with("logs.example.com"));
    penstock.wait_settled(100).assert_nothing_lost();
    assert_in_order(&otlp.bodies(), 100);
}
