//! `amqp()` with a real RabbitMQ, read back with a client of another hand: where there is none, these are
//! skipped.

use crate::answered::{
    self, Cut, assert_all, assert_in_order, collector_killed, feed, reloaded_under_load,
    server_killed_under_load,
};
use crate::tls::{Authority, prepared};
use testkit::rabbitmq::{MISSING, Rabbitmq};
use testkit::{Lab, Penstock, Proxy, Sender, skip};

fn behind(server: Rabbitmq, proxy: Proxy) -> Cut<impl Fn() -> Vec<String>> {
    Cut { proxy, texts: move || server.take("logs", "body.decode()") }
}

fn config(port: u16, options: &str) -> String {
    let own = "exchange(\"logs\") body(\"$MSG\") time-reopen(1) value-pairs(scope(none))";
    answered::config(&format!("amqp(port({port}) {own} {options})"))
}

#[test]
fn what_is_sent_is_read_back_in_order_with_its_headers() {
    let lab = Lab::new();
    let Some(server) = Rabbitmq::start(&lab, None) else { return skip(MISSING) };
    server.declare("logs", "topic", "app.*");
    let options = "exchange-type(\"topic\") routing-key(\"app.$PROGRAM\") frame-size(4096)";
    let mut penstock = Penstock::start(&lab, &config(server.amqp, options));
    feed(lab.port("in"), 0, 5000);
    penstock.wait_settled(5000).assert_nothing_lost();
    assert_in_order(&server.take("logs", "body.decode()"), 5000);
    let more = "value-pairs(pair(\"host\" \"$HOST\") pair(\"pid\" \"$PID\") pair(\"CC\" \"me@here\")) persistent(no) heartbeat(1)";
    penstock.reload_with(
        &lab,
        &config(server.amqp, &format!("{options} {more}")).replace("value-pairs(scope(none))", ""),
    );
    let mut sender = Sender::tcp(lab.port("in"));
    // More than a frame.
    let long = "é".repeat(10_000);
    sender.raw(format!("<13>Nov 11 01:02:03 web one[7]: {long}\n").as_bytes());
    sender.finish();
    penstock.wait_settled(5001).assert_nothing_lost();
    let shown = "sorted(properties.headers.items()), properties.delivery_mode, len(properties.message_id), len(body.decode()), \
                 method.routing_key";
    let expected = "[('host', 'web'), ('pid', '7')] 1 24 10000 app.one";
    assert_eq!(server.take("logs", shown), [expected]);
}

#[test]
fn an_exchange_is_made_when_asked_for_and_missed_when_not() {
    let lab = Lab::new();
    let Some(server) = Rabbitmq::start(&lab, None) else { return skip(MISSING) };
    let mut penstock = Penstock::start(&lab, &config(server.amqp, ""));
    feed(lab.port("in"), 0, 10);
    penstock.wait_log("404: NOT_FOUND");
    assert_eq!(penstock.ledger().dropped(), 0);
    // It is there now, and no queue gets what comes: dead letters, not silence.
    penstock.reload_with(&lab, &config(server.amqp, "exchange-declare(yes)"));
    let ledger = penstock.wait_settled(10);
    assert_eq!((ledger.dropped(), ledger.dropped_for("refused")), (10, 10));
    server.ask("channel.queue_declare('q', durable=True)\nchannel.queue_bind('q', 'logs', '')");
    feed(lab.port("in"), 0, 10);
    penstock.wait_settled(20);
    assert_in_order(&server.take("q", "body.decode()"), 10);
}

#[test]
fn one_bad_message_is_one_dead_letter() {
    let lab = Lab::new();
    let Some(server) = Rabbitmq::start(&lab, None) else { return skip(MISSING) };
    server.declare("logs", "topic", "app");
    let mut penstock = Penstock::start(&lab, &config(server.amqp, "routing-key(\"$PROGRAM\")"));
    let port = lab.port("in");
    feed(port, 0, 5000);
    let mut sender = Sender::tcp(port);
    sender.raw(b"<13>Nov 11 01:02:03 h bad: no queue is for this key\n");
    sender.finish();
    feed(port, 5000, 9_999);
    let ledger = penstock.wait_settled(10_000);
    assert_eq!((ledger.dropped(), ledger.dropped_for("refused")), (1, 1));
    ledger.assert_balanced();
    assert_eq!(assert_all(&server.take("logs", "body.decode()"), 9_999), 0);
}

#[test]
fn a_wrong_password_holds_and_says_so() {
    let lab = Lab::new();
    let Some(server) = Rabbitmq::start(&lab, None) else { return skip(MISSING) };
    server.declare("logs", "fanout", "");
    let mut penstock = Penstock::start(&lab, &config(server.amqp, "username(\"guest\") password(\"wrong\")"));
    feed(lab.port("in"), 0, 100);
    penstock.wait_log("403: ACCESS_REFUSED");
    let ledger = penstock.wait_ledger(|ledger| (ledger.waiting() < 100).then(|| "all to wait".to_owned()));
    assert_eq!(ledger.dropped(), 0);
    penstock.reload_with(&lab, &config(server.amqp, ""));
    penstock.wait_settled(100).assert_nothing_lost();
    assert_in_order(&server.take("logs", "body.decode()"), 100);
}

#[test]
fn connections_that_break_lose_nothing() {
    let lab = Lab::new();
    let Some(server) = Rabbitmq::start(&lab, None) else { return skip(MISSING) };
    server.declare("logs", "fanout", "");
    let proxy = Proxy::to(server.amqp);
    let config = config(proxy.port(), "");
    // Four batches of a thousand are on the way at most.
    server_killed_under_load(&lab, &config, &mut behind(server, proxy), 4000);
}

#[test]
fn a_server_that_is_restarted_gets_everything() {
    let lab = Lab::new();
    let Some(mut server) = Rabbitmq::start(&lab, None) else { return skip(MISSING) };
    server.declare("logs", "fanout", "");
    let mut penstock = Penstock::start(&lab, &config(server.amqp, ""));
    feed(lab.port("in"), 0, 1000);
    penstock.wait_settled(1000).assert_nothing_lost();
    server.kill();
    feed(lab.port("in"), 1000, 2000);
    penstock.wait_log("Destination cannot be reached");
    server.run();
    penstock.wait_settled(2000).assert_nothing_lost();
    assert_eq!(assert_all(&server.take("logs", "body.decode()"), 2000), 0);
}

#[test]
fn a_collector_that_is_killed_loses_nothing_from_its_disk() {
    let lab = Lab::new();
    let Some(server) = Rabbitmq::start(&lab, None) else { return skip(MISSING) };
    server.declare("logs", "fanout", "");
    let proxy = Proxy::to(server.amqp);
    let disk = "disk-buffer(reliable(yes) capacity-bytes(64MiB) dir(\"%dir%\"))";
    let config = config(proxy.port(), disk);
    collector_killed(&lab, &config, &behind(server, proxy));
}

#[test]
fn a_reload_under_load_keeps_what_is_on_the_way() {
    let lab = Lab::new();
    let Some(server) = Rabbitmq::start(&lab, None) else { return skip(MISSING) };
    server.declare("logs", "fanout", "");
    let proxy = Proxy::to(server.amqp);
    let config = config(proxy.port(), "");
    reloaded_under_load(&lab, &config, &behind(server, proxy));
}

#[test]
fn encrypted_and_a_wrong_certificate_gets_nothing() {
    let lab = Lab::new();
    prepared(&lab);
    Authority::new(&lab, "other");
    let (certificate, key) = (lab.path("server.pem"), lab.path("server.key"));
    let Some(server) = Rabbitmq::start(&lab, Some((&certificate, &key))) else { return skip(MISSING) };
    server.declare("logs", "fanout", "");
    let with = |ca: &str| config(server.amqps, &format!("tls(ca-file(\"%dir%/{ca}.pem\"))"));
    let mut penstock = Penstock::start(&lab, &with("other"));
    feed(lab.port("in"), 0, 1000);
    penstock.wait_log("the certificate of the peer is refused");
    assert_eq!(penstock.ledger().destination("k").delivered, 0);
    penstock.reload_with(&lab, &with("ca"));
    penstock.wait_settled(1000).assert_nothing_lost();
    assert_in_order(&server.take("logs", "body.decode()"), 1000);
}
