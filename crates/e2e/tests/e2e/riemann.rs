//! `riemann()` with a server whose protocol buffers are Google's: where they are not, these are skipped.

use crate::answered::{
    self, Cut, assert_all, assert_in_order, collector_killed, feed, reloaded_under_load, say,
    server_killed_under_load,
};
use crate::kept::queue;
use crate::tls::{Authority, prepared};
use serde_json::json;
use testkit::scripted::Scripted;
use testkit::{Lab, Penstock, Proxy, skip, wait_until};

const MISSING: &str = "no protobuf in Python, see `./x servers riemann`";

fn config(port: u16, options: &str) -> String {
    let own = "description(\"$MSG\") time-reopen(1)";
    let config = answered::config(&format!("riemann(port({port}) {own} {options})"));
    config.replace("options {", "options { dead-letters(yes);")
}

fn behind(server: Scripted, proxy: Proxy) -> Cut<impl Fn() -> Vec<String>> {
    Cut { proxy, texts: move || server.texts("description") }
}

#[test]
fn an_event_has_what_was_asked_for() {
    let lab = Lab::new();
    let Some(server) = Scripted::start(&lab, "riemann", &[]) else { return skip(MISSING) };
    let options = "state(\"$LEVEL\") ttl(\"2.5\") metric(int(\"$PID\")) tags(\"log\" \"of-$HOST\") \
                   attributes(pair(\"pid\" \"$PID\") pair(\"who\" \"é\")) event-time(\"1700000000250000\" microseconds)";
    let mut penstock = Penstock::start(&lab, &config(server.port(), options));
    say(&lab, "<11>Nov 11 01:02:03 web app[7]: grün\n");
    penstock.wait_settled(1).assert_nothing_lost();
    let expected = json!({
        "time": "1700000000", "time_micros": "1700000000250000", "state": "err", "service": "app", "host": "web",
        "description": "grün", "tags": ["log", "of-web"], "ttl": 2.5, "metric_sint64": "7",
        "attributes": [{"key": "pid", "value": "7"}, {"key": "who", "value": "é"}],
    });
    assert_eq!(server.taken(), [expected]);
    penstock.reload_with(&lab, &config(server.port(), "metric(\"-1.5\") event-time(\"1700000000\")"));
    say(&lab, "<11>Nov 11 01:02:03 web app[7]: more\n");
    penstock.wait_settled(2).assert_nothing_lost();
    let taken = server.taken();
    assert_eq!((&taken[1]["metric_d"], &taken[1]["time"]), (&json!(-1.5), &json!("1700000000")));
    assert_eq!(taken[1]["tags"], json!([".source.s"]), "those of the message");
}

#[test]
fn in_order_and_one_bad_event_is_one_dead_letter() {
    let lab = Lab::new();
    let Some(server) = Scripted::start(&lab, "riemann", &[]) else { return skip(MISSING) };
    let mut penstock = Penstock::start(&lab, &config(server.port(), "metric(\"$PID\") retries(1)"));
    feed(lab.port("in"), 0, 5000);
    penstock.wait_settled(5000).assert_nothing_lost();
    assert_in_order(&server.texts("description"), 5000);
    say(
        &lab,
        "<13>Nov 11 01:02:03 h bad[1]: refused by the server\n<13>Nov 11 01:02:03 h good[x]: no number\n",
    );
    feed(lab.port("in"), 5000, 9998);
    let ledger = penstock.wait_settled(10_000);
    assert_eq!((ledger.dropped(), ledger.dropped_for("refused")), (2, 2), "{ledger}");
    ledger.assert_balanced();
    assert_eq!(assert_all(&server.texts("description"), 9998), 0);
    let letters = queue(&lab, &["cat", "dead-letters", "--json"]);
    assert!(letters.contains("a bad event") && letters.contains("metric() is no number: `x`"), "{letters}");
}

#[test]
fn datagrams_arrive() {
    let lab = Lab::new();
    let Some(server) = Scripted::start(&lab, "riemann", &[]) else { return skip(MISSING) };
    let mut penstock = Penstock::start(&lab, &config(server.port(), "type(\"udp\") throttle(2000)"));
    feed(lab.port("in"), 0, 300);
    say(&lab, &format!("<13>Nov 11 01:02:03 h app: {}\n", "x".repeat(20_000)));
    let ledger = penstock.wait_settled(301);
    assert_eq!((ledger.dropped(), ledger.dropped_for("refused")), (1, 1), "{ledger}");
    wait_until("all of them", || server.taken().len() == 300);
    assert_in_order(&server.texts("description"), 300);
}

#[test]
fn encrypted_and_a_wrong_certificate_gets_nothing() {
    let lab = Lab::new();
    prepared(&lab);
    Authority::new(&lab, "other");
    let (certificate, key) = (lab.path("server.pem"), lab.path("server.key"));
    let options =
        ["--certificate", certificate.to_str().expect("a path"), "--key", key.to_str().expect("a path")];
    let Some(server) = Scripted::start(&lab, "riemann", &options) else { return skip(MISSING) };
    let with = |ca: &str| config(server.port(), &format!("type(\"tls\") tls(ca-file(\"%dir%/{ca}.pem\"))"));
    let mut penstock = Penstock::start(&lab, &with("other"));
    feed(lab.port("in"), 0, 1000);
    penstock.wait_log("the certificate of the peer is refused");
    assert_eq!((penstock.ledger().dropped(), server.taken().len()), (0, 0));
    penstock.reload_with(&lab, &with("ca"));
    penstock.wait_settled(1000).assert_nothing_lost();
    assert_in_order(&server.texts("description"), 1000);
}

#[test]
fn connections_that_break_lose_nothing() {
    let lab = Lab::new();
    let Some(server) = Scripted::start(&lab, "riemann", &[]) else { return skip(MISSING) };
    let proxy = Proxy::to(server.port());
    let config = config(proxy.port(), "");
    // One batch is on the way.
    server_killed_under_load(&lab, &config, &mut behind(server, proxy), 1000);
}

#[test]
fn a_server_that_is_restarted_gets_everything() {
    let lab = Lab::new();
    let Some(mut server) = Scripted::start(&lab, "riemann", &[]) else { return skip(MISSING) };
    let mut penstock = Penstock::start(&lab, &config(server.port(), ""));
    feed(lab.port("in"), 0, 1000);
    penstock.wait_settled(1000).assert_nothing_lost();
    server.kill();
    feed(lab.port("in"), 1000, 2000);
    penstock.wait_log("Destination cannot be reached");
    server.run();
    penstock.wait_settled(2000).assert_nothing_lost();
    assert_eq!(assert_all(&server.texts("description"), 2000), 0);
}

#[test]
fn a_collector_that_is_killed_loses_nothing_from_its_disk() {
    let lab = Lab::new();
    let Some(server) = Scripted::start(&lab, "riemann", &[]) else { return skip(MISSING) };
    let proxy = Proxy::to(server.port());
    let disk = "disk-buffer(reliable(yes) capacity-bytes(64MiB) dir(\"%dir%\"))";
    let config = config(proxy.port(), disk);
    collector_killed(&lab, &config, &behind(server, proxy));
}

#[test]
fn a_reload_under_load_keeps_what_is_on_the_way() {
    let lab = Lab::new();
    let Some(server) = Scripted::start(&lab, "riemann", &[]) else { return skip(MISSING) };
    let proxy = Proxy::to(server.port());
    let config = config(proxy.port(), "");
    reloaded_under_load(&lab, &config, &behind(server, proxy));
}
