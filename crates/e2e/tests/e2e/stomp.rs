//! `stomp()` with a real RabbitMQ, read back over AMQP with a client of another hand: where there is
//! none, these are skipped.

use crate::answered::{
    self, Cut, assert_all, assert_in_order, feed, reloaded_under_load, server_killed_under_load,
};
use testkit::rabbitmq::{MISSING, Rabbitmq};
use testkit::{Lab, Penstock, Proxy, Sender, skip};

fn behind(server: Rabbitmq, proxy: Proxy) -> Cut<impl Fn() -> Vec<String>> {
    Cut { proxy, texts: move || server.take("logs", "body.decode()") }
}

fn config(port: u16, options: &str) -> String {
    let own = "body(\"$MSG\") ack(yes) username(\"guest\") time-reopen(1)";
    answered::config(&format!("stomp(port({port}) {own} {options})"))
}

#[test]
fn what_is_sent_is_read_back_in_order_with_its_headers() {
    let lab = Lab::new();
    let Some(server) = Rabbitmq::start(&lab, None) else { return skip(MISSING) };
    let options = "password(\"guest\") destination(\"/queue/logs\")";
    let mut penstock = Penstock::start(&lab, &config(server.stomp, options));
    feed(lab.port("in"), 0, 5000);
    penstock.wait_settled(5000).assert_nothing_lost();
    assert_in_order(&server.take("logs", "body.decode()"), 5000);
    let more = "value-pairs(pair(\"host\" \"$HOST\") pair(\"a:b\" \"x:y\")) ack(no)";
    penstock.reload_with(&lab, &config(server.stomp, &format!("{options} {more}")).replace("ack(yes)", ""));
    let mut sender = Sender::tcp(lab.port("in"));
    sender.raw("<13>Nov 11 01:02:03 web one: é\n".as_bytes());
    sender.finish();
    penstock.wait_settled(5001).assert_nothing_lost();
    testkit::wait_until("the message", || {
        server.ask("print(channel.queue_declare('logs', passive=True).method.message_count)") == ["1"]
    });
    let shown = "sorted((k, v) for k, v in properties.headers.items() if k in ('host', 'a:b')), properties.delivery_mode, body.decode()";
    assert_eq!(server.take("logs", shown), ["[('a:b', 'x:y'), ('host', 'web')] 2 é"]);
}

#[test]
fn a_wrong_password_and_an_unknown_destination_hold_and_say_so() {
    let lab = Lab::new();
    let Some(server) = Rabbitmq::start(&lab, None) else { return skip(MISSING) };
    let with = |options: &str| config(server.stomp, options);
    let mut penstock = Penstock::start(&lab, &with("password(\"wrong\") destination(\"/queue/logs\")"));
    feed(lab.port("in"), 0, 100);
    penstock.wait_log("Bad CONNECT");
    penstock.reload_with(&lab, &with("password(\"guest\") destination(\"/nowhere/logs\")"));
    penstock.wait_log("Unknown destination");
    let ledger = penstock.wait_ledger(|ledger| (ledger.waiting() < 100).then(|| "all to wait".to_owned()));
    assert_eq!(ledger.dropped(), 0);
    penstock.reload_with(&lab, &with("password(\"guest\") destination(\"/queue/logs\")"));
    penstock.wait_settled(100).assert_nothing_lost();
    assert_in_order(&server.take("logs", "body.decode()"), 100);
}

#[test]
fn connections_that_break_lose_nothing() {
    let lab = Lab::new();
    let Some(server) = Rabbitmq::start(&lab, None) else { return skip(MISSING) };
    let proxy = Proxy::to(server.stomp);
    let config = config(proxy.port(), "password(\"guest\") destination(\"/queue/logs\")");
    // Four batches of a thousand are on the way at most.
    server_killed_under_load(&lab, &config, &mut behind(server, proxy), 4000);
}

#[test]
fn a_reload_under_load_keeps_what_is_on_the_way() {
    let lab = Lab::new();
    let Some(server) = Rabbitmq::start(&lab, None) else { return skip(MISSING) };
    let proxy = Proxy::to(server.stomp);
    let config = config(proxy.port(), "password(\"guest\") destination(\"/queue/logs\")");
    reloaded_under_load(&lab, &config, &behind(server, proxy));
}

/// What a value says to the server, it refuses.
#[test]
fn one_bad_message_is_one_dead_letter() {
    let lab = Lab::new();
    let Some(server) = Rabbitmq::start(&lab, None) else { return skip(MISSING) };
    let options = "password(\"guest\") destination(\"/queue/logs\") value-pairs(pair(\"priority\" \"$PID\"))";
    let mut penstock = Penstock::start(&lab, &config(server.stomp, options));
    let port = lab.port("in");
    feed(port, 0, 500);
    let mut sender = Sender::tcp(port);
    sender.raw(b"<13>Nov 11 01:02:03 h app[x]: no number\n");
    sender.finish();
    feed(port, 500, 999);
    let ledger = penstock.wait_settled(1000);
    assert_eq!((ledger.dropped(), ledger.dropped_for("refused")), (1, 1));
    ledger.assert_balanced();
    assert_all(&server.take("logs", "body.decode()"), 999);
}
