//! The source `mqtt()` with a real Mosquitto, published to by its own client: where there is none, these are
//! skipped.

use crate::messages::HEAD;
use std::collections::HashSet;
use testkit::mosquitto::{MISSING, Mosquitto};
use testkit::{Lab, Penstock, Proxy, Signal, run_command, skip, wait_until};

const OPEN: &str = "listener PORT 127.0.0.1\nallow_anonymous true\nmax_inflight_messages 200";

fn config(port: u16, options: &str, template: &str) -> String {
    format!(
        "{HEAD}source m {{ mqtt(address(\"tcp://127.0.0.1:{port}\") time-reopen(1) {options}); }};\n\
         destination f {{ file(\"%dir%/out\" template(\"{template}\\n\")); }};\n\
         log {{ source(m); destination(f); flags(flow-control); }};\n"
    )
}

fn lines(from: usize, to: usize) -> String {
    (from..to).map(|n| format!("value {n}\n")).collect()
}

fn expected(count: usize) -> Vec<String> {
    (0..count).map(|n| format!("value {n}")).collect()
}

#[track_caller]
fn wait_lines(lab: &Lab, count: usize) -> Vec<String> {
    wait_until("the lines", || lab.lines("out").len() >= count);
    lab.lines("out")
}

#[test]
fn what_is_published_is_read_in_order_with_every_quality_and_version() {
    for version in ["3.1.1", "5"] {
        for quality in 0..3 {
            let lab = Lab::new();
            let Some(server) = Mosquitto::start(&lab, OPEN, &[]) else { return skip(MISSING) };
            let options =
                format!("topic(\"logs/#\") qos({quality}) flags(no-parse) protocol-version(\"{version}\")");
            let mut penstock = Penstock::start(&lab, &config(server.port(), &options, "$MSG"));
            penstock.wait_log("MQTT server connected");
            server.publish("logs/a", quality, &lines(0, 1500));
            penstock.wait_settled(1500).assert_nothing_lost();
            assert_eq!(wait_lines(&lab, 1500), expected(1500), "{version} {quality}");
            penstock.stop();
        }
    }
}

#[test]
fn a_message_that_is_too_large_does_not_keep_others_from_coming() {
    let lab = Lab::new();
    let Some(server) = Mosquitto::start(&lab, OPEN, &[]) else { return skip(MISSING) };
    let options = "topic(\"logs/#\") qos(1) flags(no-parse)";
    let mut penstock = Penstock::start(&lab, &config(server.port(), options, "$MSG"));
    penstock.wait_log("MQTT server connected");
    let large = "x".repeat((16 << 20) + 1);
    server.publish("logs/a", 1, &format!("value 0\n{large}\nvalue 1\n"));
    assert_eq!(wait_lines(&lab, 2), expected(2));
    let ledger = penstock.wait_settled_input();
    assert_eq!((ledger.dropped(), ledger.dropped_for("framing")), (1, 1));
    ledger.assert_balanced();
}

#[test]
fn topics_are_filters_and_messages_are_syslog() {
    let lab = Lab::new();
    let Some(server) = Mosquitto::start(&lab, OPEN, &[]) else { return skip(MISSING) };
    let options = "topic(\"a/+/c\", \"b/#\") qos(1) keep-hostname(yes)";
    let template = "${.mqtt.topic}|$HOST|$PROGRAM|$MSG|$TRANSPORT";
    let mut penstock = Penstock::start(&lab, &config(server.port(), options, template));
    penstock.wait_log("MQTT server connected");
    server.publish("a/x/c", 1, "<13>Nov 11 01:02:03 web app[7]: one\n");
    server.publish("a/x/d", 1, "<13>Nov 11 01:02:03 web app[7]: nobody asked\n");
    server.publish("b", 1, "<13>Nov 11 01:02:03 db app[7]: two\n");
    penstock.wait_settled(2);
    assert_eq!(wait_lines(&lab, 2), ["a/x/c|web|app|one|local+mqtt", "b|db|app|two|local+mqtt"]);
}

#[test]
fn what_comes_while_the_collector_is_away_is_kept_by_the_server() {
    let lab = Lab::new();
    let Some(mut server) = Mosquitto::start(&lab, OPEN, &[]) else { return skip(MISSING) };
    let config = config(server.port(), "topic(\"logs\") qos(1) flags(no-parse)", "$MSG");
    let mut penstock = Penstock::start(&lab, &config);
    penstock.wait_log("MQTT server connected");
    server.publish("logs", 1, &lines(0, 500));
    penstock.wait_settled(500);
    penstock.stop();
    server.publish("logs", 1, &lines(500, 1000));
    let mut penstock = Penstock::start(&lab, &config);
    penstock.wait_settled(500);
    assert_eq!(wait_lines(&lab, 1000), expected(1000), "none came twice");
    // The server goes and comes back: it is found again. The log is that of both runs.
    server.kill();
    penstock.wait_log("Connection to an MQTT server failed");
    server.run();
    wait_until("the subscription", || penstock.log().matches("MQTT server connected").count() >= 3);
    server.publish("logs", 1, &lines(1000, 1100));
    penstock.wait_settled(600);
    assert_eq!(wait_lines(&lab, 1100), expected(1100));
}

#[test]
fn cuts_and_kills_lose_nothing() {
    for quality in [1, 2] {
        let lab = Lab::new();
        let Some(server) = Mosquitto::start(&lab, OPEN, &[]) else { return skip(MISSING) };
        let proxy = Proxy::to(server.port());
        let options = format!("topic(\"logs\") qos({quality}) flags(no-parse)");
        let config = config(proxy.port(), &options, "$MSG");
        let mut penstock = Penstock::start(&lab, &config);
        penstock.wait_log("MQTT server connected");
        let port = server.port();
        let log = lab.path("mosquitto").join("log");
        let sent_again = || std::fs::read_to_string(&log).expect("a log").matches("(d1, q").count();
        let publishing = std::thread::spawn(move || {
            server.publish("logs", quality, &lines(0, 6000));
            server
        });
        for round in 1..4 {
            wait_until("some of it", || lab.lines("out").len() >= round * 1000);
            proxy.cut();
        }
        wait_until("some more of it", || lab.lines("out").len() >= 4500);
        penstock.signal(Signal::KILL);
        penstock.wait_end();
        // A cut doubles what was not answered. Of quality 2 it doubles nothing, the kill does.
        let no_doubles = if quality == 1 { 0 } else { sent_again() };
        let penstock = Penstock::start(&lab, &config);
        let _server = publishing.join().expect("published");
        let distinct = || lab.lines("out").into_iter().collect::<HashSet<String>>().len();
        wait_until("all of it", || distinct() >= 6000);
        assert_eq!(distinct(), 6000, "{port}");
        let doubled = lab.lines("out").len() - 6000;
        // To a client that comes back Mosquitto sends all at once, whatever max_inflight_messages says.
        let most = sent_again() - no_doubles;
        assert!(doubled <= most, "quality {quality}: {doubled} came twice");
        drop(penstock);
    }
}

#[test]
fn what_is_wrong_is_said() {
    let check = |options: &str, words: &[&str]| {
        let lab = Lab::new();
        let (path, _) = lab.write_config("wrong.conf", &config(1883, options, "$MSG"));
        let outcome = run_command(&["check", path.to_str().expect("text")]);
        assert_ne!(outcome.code, Some(0), "{options}");
        let said = outcome.stdout + &outcome.stderr;
        words.iter().for_each(|word| assert!(said.contains(word), "{options}: {word}\n{said}"));
    };
    check("", &["D0302", "which topics"]);
    check("topic(\"a/#/b\")", &["D0302", "subscribed to"]);
    check("topic(\"a\") tls(ca-file(\"/x\"))", &["D0302", "without"]);
    check("topic(\"a\") http-proxy(\"socks5://p\")", &["D0302", "but over http://"]);
}
