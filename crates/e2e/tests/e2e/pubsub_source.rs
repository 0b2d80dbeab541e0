//! The source `google-pubsub()` with Pub/Sub's own fake, which says how often each message was sent and
//! acknowledged: where there is none, these are skipped. It sends some hundred messages a second, in no
//! order.

use crate::messages::HEAD;
use crate::take_over::take_over;
use crate::tls::{Authority, prepared};
use serde_json::json;
use std::time::Instant;
use testkit::pubsub::{MISSING, PubSub};
use testkit::{Collector, Lab, Penstock, Proxy, Signal, run_command, skip, wait_until};

/// A source of the subscription, and `to`, a destination.
fn config_to(port: u16, options: &str, to: &str) -> String {
    format!(
        "{HEAD}source p {{ google-pubsub(service-endpoint(\"127.0.0.1:{port}\") project(\"p\") subscription(\"s\") time-reopen(1) {options}); }};\n\
         destination d {{ {to}; }};\n\
         log {{ source(p); destination(d); flags(flow-control); }};\n"
    )
}

/// Writes what comes to a file, in the words of a template.
fn config(port: u16, options: &str, template: &str) -> String {
    config_to(port, options, &format!("file(\"%dir%/out\" template(\"{template}\\n\"))"))
}

const WHOLE: &str = "flags(no-parse)";
/// A destination that nobody listens at, until somebody does.
const OUT: &str = "network(\"127.0.0.1\" port(%port:out%) template(\"$MSG\\n\") time-reopen(1))";

fn texts(from: usize, to: usize) -> Vec<String> {
    (from..to).map(|n| format!("value {n}")).collect()
}

/// None of those below `count` is missing, and nothing else is there. How many there are more.
#[track_caller]
fn assert_all(found: &[String], count: usize) -> usize {
    let more = crate::kafka_source::assert_all(found, count);
    assert_eq!(found.len() - more, count, "something nobody has published");
    more
}

#[track_caller]
fn assert_each_once(found: &[String], count: usize) {
    assert_eq!(assert_all(found, count), 0, "some came twice");
}

/// Each was sent once and acknowledged once.
#[track_caller]
fn assert_acknowledged_once(server: &PubSub, count: usize) {
    server.wait_acknowledged(count);
    let fates = server.fates();
    let odd: Vec<_> = fates.iter().filter(|fate| (fate.deliveries, fate.acks) != (1, 1)).collect();
    assert!(odd.is_empty() && fates.len() == count, "{} of {}: {odd:?}", odd.len(), fates.len());
}

#[test]
fn what_is_published_is_read_and_acknowledged_once_it_is_delivered() {
    let lab = Lab::new();
    let Some(server) = PubSub::subscribed(&lab) else { return skip(MISSING) };
    server.publish_texts(&texts(0, 300));
    let mut penstock = Penstock::start(&lab, &config(server.port(), WHOLE, "$MSG"));
    penstock.wait_settled(300).assert_nothing_lost();
    assert_each_once(&lab.lines("out"), 300);
    assert_acknowledged_once(&server, 300);
    assert!(penstock.log().contains("Pub/Sub subscription is read"));
    // What comes later comes as well, after a restart too.
    server.publish_texts(&texts(300, 400));
    penstock.wait_settled(400);
    penstock.stop();
    server.publish_texts(&texts(400, 450));
    let mut penstock = Penstock::start(&lab, &config(server.port(), WHOLE, "$MSG"));
    penstock.wait_settled(50);
    assert_each_once(&lab.lines("out"), 450);
    assert_acknowledged_once(&server, 450);
}

#[test]
fn messages_are_syslog_and_have_what_is_known_of_them_as_values() {
    let lab = Lab::new();
    let Some(server) = PubSub::subscribed(&lab) else { return skip(MISSING) };
    server.publish(&[
        json!({"data": "<13>Nov 11 01:02:03 web app[7]: one", "attributes": {"site": "north", "other": "x"}, "key": "k1"}),
        json!({"data": "<13>Nov 11 01:02:03 db app[7]: two"}),
    ]);
    let template = "$HOST|$PROGRAM|$MSG|${.pubsub.attributes.site}|${.pubsub.ordering_key}|${.pubsub.id}|${.pubsub.timestamp}|$TRANSPORT";
    let mut penstock = Penstock::start(&lab, &config(server.port(), "", template));
    penstock.wait_settled(2);
    let mut lines = lab.lines("out");
    lines.sort();
    let fields: Vec<Vec<&str>> = lines.iter().map(|line| line.split('|').collect()).collect();
    assert_eq!(fields[1][..5], ["web", "app", "one", "north", "k1"]);
    assert_eq!(fields[0][..5], ["db", "app", "two", "", ""]);
    for line in &fields {
        assert!(
            !line[5].is_empty() && line[6].parse::<u64>().is_ok_and(|ms| ms > 1_700_000_000_000),
            "{line:?}"
        );
        assert_eq!(line[7], "local+pubsub");
    }
    penstock.stop();
    // Other names; all of them where everything is asked for; none.
    let all = "$(format-json --key in.* --key .pubsub.*)";
    for (options, expected) in [
        (
            "flags(no-parse) prefix(\"in.\")",
            "{\"in\":{\"ordering_key\":\"k\",\"attributes\":{\"made.up\":\"1\"}}}",
        ),
        ("flags(no-parse) store-metadata(no)", "{}"),
    ] {
        let lab = Lab::new();
        let server = PubSub::subscribed(&lab).expect("it was there");
        server.publish(&[json!({"data": "x", "attributes": {"made.up": "1"}, "key": "k"})]);
        let mut penstock = Penstock::start(&lab, &config(server.port(), options, all));
        penstock.wait_settled(1);
        let line: serde_json::Value = serde_json::from_str(&lab.lines("out")[0]).expect("JSON");
        let mut expected: serde_json::Value = serde_json::from_str(expected).expect("JSON");
        if let (Some(known), Some(inside)) = (line.get("in"), expected.get_mut("in")) {
            inside["id"] = known["id"].clone();
            inside["timestamp"] = known["timestamp"].clone();
            inside["attributes"] = known["attributes"].clone();
            assert!(known["attributes"].to_string().contains("\"1\""), "{line}");
        }
        assert_eq!(line, expected, "{options}");
    }
}

#[test]
fn a_slow_destination_holds_acknowledgements_and_deadlines_are_moved() {
    let lab = Lab::new();
    let Some(server) = PubSub::subscribed(&lab) else { return skip(MISSING) };
    let config = config_to(server.port(), &format!("{WHOLE} ack-deadline(10)"), OUT);
    let mut penstock = Penstock::start(&lab, &config);
    server.publish_texts(&texts(0, 60));
    penstock.wait_ledger(|ledger| (ledger.waiting() < 60).then(|| "60 waiting".to_owned()));
    // Three times the deadline of ten seconds would pass.
    wait_until("deadlines that were moved", || server.fates().iter().all(|fate| fate.modified.len() >= 3));
    let fates = server.fates();
    assert!(fates.iter().all(|fate| fate.acks == 0 && fate.deliveries == 1), "{fates:?}");
    assert!(fates.iter().all(|fate| fate.modified.iter().all(|seconds| *seconds == 10)), "{fates:?}");
    let collector = Collector::tcp(lab.port("out"));
    assert_each_once(&collector.wait_lines(60), 60);
    assert_acknowledged_once(&server, 60);
    penstock.wait_settled(60).assert_nothing_lost();
}

#[test]
fn a_killed_collector_gets_again_what_was_not_delivered() {
    let lab = Lab::new();
    let Some(server) = PubSub::subscribed(&lab) else { return skip(MISSING) };
    let config = config_to(server.port(), &format!("{WHOLE} ack-deadline(10)"), OUT);
    let collector = Collector::tcp(lab.port("out"));
    let mut penstock = Penstock::start(&lab, &config);
    for round in 1..4 {
        server.publish_texts(&texts((round - 1) * 100, round * 100));
        wait_until("some of it", || collector.lines().len() >= round * 100 - 80);
        penstock.signal(Signal::KILL);
        penstock.wait_end();
        penstock = Penstock::start(&lab, &config);
    }
    // What was under way comes when its deadline is over.
    server.wait_acknowledged(300);
    let doubled = assert_all(&collector.lines(), 300);
    let sent_again: u64 = server.fates().iter().map(|fate| fate.deliveries - 1).sum();
    assert!(doubled as u64 <= sent_again, "{doubled} came twice, {sent_again} were sent again");
    penstock.wait_settled_input().assert_nothing_lost();
}

#[test]
fn an_orderly_end_gives_back_what_was_not_delivered_at_once() {
    let lab = Lab::new();
    let Some(server) = PubSub::subscribed(&lab) else { return skip(MISSING) };
    // Nobody has to wait ten minutes for it.
    let config = config_to(server.port(), &format!("{WHOLE} ack-deadline(600) log-iw-size(50)"), OUT);
    let mut penstock = Penstock::start(&lab, &config);
    server.publish_texts(&texts(0, 120));
    penstock.wait_ledger(|ledger| (ledger.waiting() < 50).then(|| "a full window".to_owned()));
    let began = Instant::now();
    penstock.signal(Signal::TERM);
    penstock.wait_end();
    let collector = Collector::tcp(lab.port("out"));
    let _penstock = Penstock::start(&lab, &config);
    assert_each_once(&collector.wait_lines(120), 120);
    server.wait_acknowledged(120);
    assert!(began.elapsed().as_secs() < 300);
}

#[test]
fn reloads_and_take_overs_under_load_lose_and_double_nothing() {
    let lab = Lab::new();
    let Some(server) = PubSub::subscribed(&lab) else { return skip(MISSING) };
    let with = |deadline: u32| config(server.port(), &format!("{WHOLE} ack-deadline({deadline})"), "$MSG");
    let mut penstock = Penstock::start(&lab, &with(600));
    server.publish_texts(&texts(0, 900));
    let opened = |penstock: &Penstock| penstock.log().matches("Pub/Sub subscription is read").count();
    for (round, deadline) in [(1, 600), (2, 599), (3, 598)] {
        wait_until("some of it", || lab.lines("out").len() >= round * 100);
        // The first has changed nothing: what was open stays open.
        assert!(round > 2 || opened(&penstock) == 1, "{}", penstock.log());
        penstock.reload_with(&lab, &with(deadline));
        wait_until("a stream", || opened(&penstock) >= round);
    }
    for round in 4..6 {
        wait_until("some more of it", || lab.lines("out").len() >= round * 100);
        penstock = take_over(&lab, penstock, &with(598));
    }
    server.wait_acknowledged(900);
    assert_each_once(&lab.lines("out"), 900);
    penstock.wait_settled_input().assert_nothing_lost();
}

#[test]
fn cuts_and_a_server_that_is_begun_anew() {
    let lab = Lab::new();
    let Some(mut server) = PubSub::subscribed(&lab) else { return skip(MISSING) };
    let proxy = Proxy::to(server.port());
    let config = config(proxy.port(), &format!("{WHOLE} ack-deadline(10)"), "$MSG");
    let mut penstock = Penstock::start(&lab, &config);
    server.publish_texts(&texts(0, 400));
    for round in 1..4 {
        wait_until("some of it", || lab.lines("out").len() >= round * 100);
        proxy.cut();
    }
    server.wait_acknowledged(400);
    let doubled = assert_all(&lab.lines("out"), 400);
    let sent_again: u64 = server.fates().iter().map(|fate| fate.deliveries - 1).sum();
    assert!(doubled as u64 <= sent_again, "{doubled} came twice, {sent_again} were sent again");
    penstock.wait_settled_input().assert_nothing_lost();
    // It comes back without what it had.
    server.kill();
    penstock.wait_log("Pub/Sub does not give messages now");
    server.run();
    let before = lab.lines("out").len();
    server.publish_texts(&texts(400, 500));
    server.wait_acknowledged(100);
    wait_until("the lines", || lab.lines("out").len() >= before + 100);
    assert_all(&lab.lines("out"), 500);
}

#[test]
fn acknowledgements_that_are_refused_and_streams_that_are_ended_are_no_trouble() {
    let lab = Lab::new();
    let Some(server) = PubSub::subscribed(&lab) else { return skip(MISSING) };
    server.end_streams_after(400);
    server.refuse(5);
    let mut penstock = Penstock::start(&lab, &config(server.port(), WHOLE, "$MSG"));
    for round in 0..4 {
        server.publish_texts(&texts(round * 100, (round + 1) * 100));
        penstock.wait_settled((round as u64 + 1) * 100);
    }
    assert_each_once(&lab.lines("out"), 400);
    assert_acknowledged_once(&server, 400);
    let log = penstock.log();
    assert!(!log.contains("does not give messages"), "{log}");
    assert!(log.contains("takes no acknowledgements now"), "{log}");
    // Unless nothing comes on any of them.
    penstock.wait_log("it ends each stream at once");
    server.publish_texts(&texts(400, 410));
    penstock.wait_settled(410);
    penstock.stop();
}

#[test]
fn a_subscription_that_is_not_there_is_said_with_what_to_do() {
    let lab = Lab::new();
    let Some(server) = PubSub::subscribed(&lab) else { return skip(MISSING) };
    let right = config(server.port(), WHOLE, "$MSG");
    let wrong = right.replace("subscription(\"s\")", "subscription(\"other\")");
    server.publish_texts(&texts(0, 10));
    let mut penstock = Penstock::start(&lab, &wrong);
    penstock.wait_log("create the subscription, or correct project() and subscription()");
    penstock.wait_log("NOT_FOUND");
    penstock.reload_with(&lab, &right);
    penstock.wait_settled(10);
    assert_each_once(&lab.lines("out"), 10);
    assert_eq!(penstock.log().matches("Pub/Sub does not give messages now").count(), 1, "once a minute");
}

#[test]
fn over_tls_only_a_server_with_the_right_certificate_is_heard() {
    let lab = Lab::new();
    prepared(&lab);
    Authority::new(&lab, "other");
    let Some((server, port)) = PubSub::encrypted(&lab) else { return skip(MISSING) };
    let with = |ca: &str| config(port, &format!("{WHOLE} auth(tls(ca-file(\"%dir%/{ca}.pem\")))"), "$MSG");
    server.publish_texts(&texts(0, 50));
    let mut penstock = Penstock::start(&lab, &with("other"));
    penstock.wait_log("the certificate of the peer is refused");
    assert!(server.fates().iter().all(|fate| fate.deliveries == 0));
    penstock.reload_with(&lab, &with("ca"));
    penstock.wait_settled(50).assert_nothing_lost();
    assert_each_once(&lab.lines("out"), 50);
    assert_acknowledged_once(&server, 50);
}

#[test]
fn a_window_bounds_what_is_under_way() {
    let lab = Lab::new();
    let Some(server) = PubSub::subscribed(&lab) else { return skip(MISSING) };
    let config = config_to(server.port(), &format!("{WHOLE} log-iw-size(20)"), OUT);
    let mut penstock = Penstock::start(&lab, &config);
    server.publish_texts(&texts(0, 400));
    penstock.wait_ledger(|ledger| (ledger.waiting() < 20).then(|| "a full window".to_owned()));
    assert!(penstock.ledger().received() <= 20);
    let collector = Collector::tcp(lab.port("out"));
    let lines = collector.wait_lines(400);
    assert_all(&lines, 400);
    server.wait_acknowledged(400);
    penstock.wait_settled_input().assert_nothing_lost();
}

#[test]
fn what_is_wrong_is_said() {
    let check = |options: &str, words: &[&str]| {
        let lab = Lab::new();
        let text = format!(
            "{HEAD}source p {{ google-pubsub({options}); }};\ndestination d {{ file(\"%dir%/out\"); }};\nlog {{ source(p); destination(d); }};\n"
        );
        let (path, _) = lab.write_config("wrong.conf", &text);
        let outcome = run_command(&["check", path.to_str().expect("text")]);
        assert_ne!(outcome.code, Some(0), "{options}");
        let said = outcome.stdout + &outcome.stderr;
        words.iter().for_each(|word| assert!(said.contains(word), "{options}: {word}\n{said}"));
    };
    let at = "service-endpoint(\"127.0.0.1:9\")";
    check(at, &["D0251", "which subscription"]);
    check(&format!("{at} subscription(\"s\")"), &["D0251", "of which project", "project(\"PROJECT\")"]);
    check(&format!("{at} project(\"p\") subscription(\"a/b\")"), &["D0251", "no name of a subscription"]);
    check(
        &format!("{at} project(\"p\") subscription(\"projects/q/subscriptions/s\")"),
        &["D0251", "another project"],
    );
    check("project(\"p\") subscription(\"s\")", &["D0251", "who asks", "service-account"]);
    check(&format!("{at} project(\"p\") subscription(\"s\") auth(alts())"), &["D0251", "alts()"]);
    check(&format!("{at} project(\"p\") subscription(\"s\") ack-deadline(5)"), &["ack-deadline", "10"]);
}
