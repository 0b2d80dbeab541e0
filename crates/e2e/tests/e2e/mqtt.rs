//! `mqtt()` with a real Mosquitto, heard by its own client: where there is none, these are skipped.

use crate::answered::{self, assert_all, assert_in_order, feed};
use crate::tls::{Authority, prepared};
use testkit::mosquitto::{MISSING, Mosquitto};
use testkit::{Lab, Penstock, Proxy, Sender, Tunnels, skip, wait_until};

const OPEN: &str = "listener PORT 127.0.0.1\nallow_anonymous true";

fn config(port: u16, options: &str) -> String {
    let own = format!("address(\"tcp://127.0.0.1:{port}\") template(\"$MSG\") time-reopen(1)");
    answered::config(&format!("mqtt({own} {options})"))
}

/// Waits until the listener has heard so many of a topic, and returns them.
#[track_caller]
fn heard(server: &Mosquitto, topic: &str, count: usize) -> Vec<String> {
    wait_until("the listener to hear all", || server.heard(topic).len() >= count);
    server.heard(topic)
}

#[test]
fn what_is_sent_is_heard_in_order_with_every_quality_and_version() {
    for version in ["3.1.1", "5"] {
        let lab = Lab::new();
        let Some(mut server) = Mosquitto::start(&lab, OPEN, &[]) else { return skip(MISSING) };
        server.listen();
        let with = |qos: usize| {
            config(server.port(), &format!("topic(\"q{qos}\") qos({qos}) protocol-version(\"{version}\")"))
        };
        let mut penstock = Penstock::start(&lab, &with(0));
        for qos in 0..3 {
            if qos > 0 {
                penstock.reload_with(&lab, &with(qos));
            }
            feed(lab.port("in"), 0, 3000);
            penstock.wait_settled(3000 * (qos as u64 + 1)).assert_nothing_lost();
            assert_in_order(&heard(&server, &format!("q{qos}"), 3000), 3000);
        }
    }
}

#[test]
fn topics_are_templates_and_one_that_is_none_falls_back() {
    let lab = Lab::new();
    let Some(mut server) = Mosquitto::start(&lab, OPEN, &[]) else { return skip(MISSING) };
    server.listen();
    let options = "topic(\"of/$PROGRAM\") fallback-topic(\"other\") qos(1)";
    let mut penstock = Penstock::start(&lab, &config(server.port(), options));
    let mut sender = Sender::tcp(lab.port("in"));
    sender.raw(
        "<13>Nov 11 01:02:03 h one: é\n<13>Nov 11 01:02:03 h a+b: b\n<13>Nov 11 01:02:03 h a\u{1}b: d\n\
         <13>Nov 11 01:02:03 h two: c\n"
            .as_bytes(),
    );
    sender.finish();
    penstock.wait_settled(4).assert_nothing_lost();
    assert_eq!(heard(&server, "of/one", 1), ["é"]);
    assert_eq!(heard(&server, "other", 2), ["b", "d"]);
    assert_eq!(heard(&server, "of/two", 1), ["c"]);
}

#[test]
fn one_bad_message_is_one_dead_letter() {
    let lab = Lab::new();
    std::fs::write(lab.path("rights"), "topic readwrite of/app\n").expect("a file");
    let more = format!("{OPEN}\nacl_file {}", lab.path("rights").display());
    let Some(mut server) = Mosquitto::start(&lab, &more, &[]) else { return skip(MISSING) };
    server.listen();
    let options = "topic(\"of/$PROGRAM\") qos(1) protocol-version(\"5\")";
    let mut penstock = Penstock::start(&lab, &config(server.port(), options));
    let port = lab.port("in");
    feed(port, 0, 5000);
    let mut sender = Sender::tcp(port);
    sender.raw(b"<13>Nov 11 01:02:03 h bad: nobody may write there\n");
    sender.finish();
    feed(port, 5000, 9_999);
    let ledger = penstock.wait_settled(10_000);
    assert_eq!((ledger.dropped(), ledger.dropped_for("refused")), (1, 1));
    ledger.assert_balanced();
    assert_eq!(assert_all(&heard(&server, "of/app", 9_999), 9_999), 0);
}

#[test]
fn a_wrong_password_holds_and_says_so() {
    let lab = Lab::new();
    let users = lab.path("users");
    let made = std::process::Command::new("mosquitto_passwd")
        .args(["-b", "-c"])
        .arg(&users)
        .args(["me", "secret"])
        .status();
    if !made.is_ok_and(|status| status.success()) {
        return skip(MISSING);
    }
    let more = format!("listener PORT 127.0.0.1\npassword_file {}", users.display());
    let Some(mut server) = Mosquitto::start(&lab, &more, &["-u", "me", "-P", "secret"]) else {
        return skip(MISSING);
    };
    server.listen();
    let with = |word: &str| {
        config(server.port(), &format!("topic(\"t\") qos(1) username(\"me\") password(\"{word}\")"))
    };
    let mut penstock = Penstock::start(&lab, &with("wrong"));
    feed(lab.port("in"), 0, 100);
    penstock.wait_log("does not authorize this client");
    let ledger = penstock.wait_ledger(|ledger| (ledger.waiting() < 100).then(|| "all to wait".to_owned()));
    assert_eq!(ledger.dropped(), 0);
    penstock.reload_with(&lab, &with("secret"));
    penstock.wait_settled(100).assert_nothing_lost();
    assert_in_order(&heard(&server, "t", 100), 100);
}

#[test]
fn connections_that_break_and_a_server_that_is_restarted_lose_nothing() {
    let lab = Lab::new();
    let Some(mut server) = Mosquitto::start(&lab, OPEN, &[]) else { return skip(MISSING) };
    server.listen();
    let proxy = Proxy::to(server.port());
    let mut penstock = Penstock::start(&lab, &config(proxy.port(), "topic(\"t\") qos(2)"));
    let port = lab.port("in");
    for round in 0..3 {
        let feeding = std::thread::spawn(move || feed(port, round * 3000, (round + 1) * 3000));
        let before = penstock.ledger().destination("k").delivered;
        wait_until("some of it", || penstock.ledger().destination("k").delivered > before);
        proxy.cut();
        feeding.join().expect("sent");
    }
    penstock.wait_settled(9000).assert_nothing_lost();
    // What was on the way may come twice: twenty at most are, for each cut.
    wait_until("the listener to hear all", || {
        let heard = server.heard("t");
        heard.iter().collect::<std::collections::HashSet<_>>().len() == 9000
    });
    let doubles = assert_all(&server.heard("t"), 9000);
    assert!(doubles <= 3 * 20, "{doubles} came twice");
    server.kill();
    feed(port, 0, 100);
    penstock.wait_log("Destination cannot be reached");
    server.run();
    penstock.wait_settled(9100).assert_nothing_lost();
}

/// A second port with TLS, and what the server is told of both.
fn encrypted_too(lab: &Lab) -> (u16, String) {
    let (certificate, key) = (lab.path("server.pem"), lab.path("server.key"));
    let secure = testkit::free_port();
    let more = format!(
        "{OPEN}\nlistener {secure} 127.0.0.1\nallow_anonymous true\ncertfile {}\nkeyfile {}",
        certificate.display(),
        key.display()
    );
    (secure, more)
}

#[test]
fn encrypted_and_a_wrong_certificate_gets_nothing() {
    let lab = Lab::new();
    prepared(&lab);
    Authority::new(&lab, "other");
    let (secure, more) = encrypted_too(&lab);
    let Some(mut server) = Mosquitto::start(&lab, &more, &[]) else { return skip(MISSING) };
    server.listen();
    let with = |ca: &str| {
        let own = format!(
            "address(\"ssl://127.0.0.1:{secure}\") topic(\"t\") qos(1) template(\"$MSG\") time-reopen(1)"
        );
        answered::config(&format!("mqtt({own} tls(ca-file(\"%dir%/{ca}.pem\")))"))
    };
    let mut penstock = Penstock::start(&lab, &with("other"));
    feed(lab.port("in"), 0, 1000);
    penstock.wait_log("the certificate of the peer is refused");
    assert_eq!(penstock.ledger().destination("k").delivered, 0);
    penstock.reload_with(&lab, &with("ca"));
    penstock.wait_settled(1000).assert_nothing_lost();
    assert_in_order(&heard(&server, "t", 1000), 1000);
}

#[test]
fn through_a_proxy_that_wants_a_password_in_the_clear_and_encrypted() {
    let lab = Lab::new();
    prepared(&lab);
    let (secure, more) = encrypted_too(&lab);
    let Some(mut server) = Mosquitto::start(&lab, &more, &[]) else { return skip(MISSING) };
    server.listen();
    // me:secret
    let proxy = Tunnels::start("Basic bWU6c2VjcmV0");
    let with = |scheme: &str, port: u16, login: &str| {
        let tls = if scheme == "ssl" { "tls(ca-file(\"%dir%/ca.pem\"))" } else { "" };
        answered::config(&format!(
            "mqtt(address(\"{scheme}://127.0.0.1:{port}\") topic(\"{scheme}\") qos(1) template(\"$MSG\") time-reopen(1) {tls} \
             http-proxy(\"http://{login}127.0.0.1:{}\"))",
            proxy.port()
        ))
    };
    let mut penstock = Penstock::start(&lab, &with("tcp", server.port(), ""));
    feed(lab.port("in"), 0, 1000);
    penstock.wait_log("407 Proxy Authentication Required");
    assert_eq!((penstock.ledger().destination("k").delivered, penstock.ledger().dropped()), (0, 0));
    penstock.reload_with(&lab, &with("tcp", server.port(), "me:secret@"));
    penstock.wait_settled(1000).assert_nothing_lost();
    assert_in_order(&heard(&server, "tcp", 1000), 1000);
    penstock.reload_with(&lab, &with("ssl", secure, "me:secret@"));
    feed(lab.port("in"), 0, 1000);
    penstock.wait_settled(2000).assert_nothing_lost();
    assert_in_order(&heard(&server, "ssl", 1000), 1000);
    let granted = proxy.granted();
    assert!(granted.contains(&format!("CONNECT 127.0.0.1:{} HTTP/1.1", server.port())), "{granted:?}");
    assert!(granted.contains(&format!("CONNECT 127.0.0.1:{secure} HTTP/1.1")), "{granted:?}");
}
