//! `smtp()` with a mail server in Python that is not ours: where its library is not, these are skipped.

use crate::answered::{self, Cut, Peer, assert_all, assert_in_order, feed, say, text};
use crate::kept::queue;
use crate::tls::{Authority, prepared};
use serde_json::json;
use testkit::scripted::Scripted;
use testkit::{Lab, Penstock, Proxy, skip, wait_until};

const MISSING: &str = "no library of mail servers in Python, see `./x servers smtp`";

fn config(port: u16, options: &str) -> String {
    let own = "from(\"The Log\" \"log@a.example\") subject(\"$PROGRAM\") body(\"$MSG\\n\") time-reopen(1)";
    let config = answered::config(&format!("smtp(port({port}) {own} {options})"));
    config.replace("options {", "options { dead-letters(yes);")
}

const TO: &str = "to(\"one@a.example\")";

fn behind(server: Scripted, proxy: Proxy) -> Cut<impl Fn() -> Vec<String>> {
    Cut { proxy, texts: move || server.texts("body") }
}

#[test]
fn a_mail_has_what_was_asked_for() {
    let lab = Lab::new();
    let Some(server) = Scripted::start(&lab, "smtp", &[]) else { return skip(MISSING) };
    let options = "to(\"One\" \"one@a.example\") to(\"two@a.example\") cc(\"Ümläut\" \"cc@a.example\") bcc(\"bcc@a.example\") \
                   reply-to(\"re@a.example\") sender(\"sender@a.example\") header(\"X-Host\" \"$HOST\") header(\"X-Pid\" \"$PID\")";
    let own =
        config(server.port(), options).replace("subject(\"$PROGRAM\")", "subject(\"Grüße von $HOST: $MSG\")");
    let mut penstock = Penstock::start(&lab, &own);
    say(&lab, "<13>Nov 11 01:02:03 web app[7]: größer\n<13>Nov 11 01:02:03 web app[7]: .\n");
    penstock.wait_settled(2).assert_nothing_lost();
    let mails = server.taken();
    let header = |at: usize, name: &str| {
        let headers = mails[at]["headers"].as_array().expect("headers").clone();
        let found = headers.into_iter().find(|pair| pair[0] == name);
        found.map(|pair| pair[1].as_str().expect("a text").to_owned()).unwrap_or_default()
    };
    assert_eq!(mails[0]["from"], "sender@a.example");
    assert_eq!(mails[0]["to"], json!(["one@a.example", "two@a.example", "cc@a.example", "bcc@a.example"]));
    assert_eq!(header(0, "From"), "The Log <log@a.example>");
    assert_eq!(header(0, "To"), "One <one@a.example>, two@a.example");
    assert_eq!(header(0, "Cc"), "Ümläut <cc@a.example>");
    assert_eq!((header(0, "Bcc"), header(0, "Reply-To")), (String::new(), "re@a.example".to_owned()));
    assert_eq!(header(0, "Subject"), "Grüße von web: größer");
    assert_eq!((header(0, "X-Host"), header(0, "X-Pid")), ("web".to_owned(), "7".to_owned()));
    assert_eq!(server.texts("body"), ["größer", "."]);
    assert_ne!(header(0, "Message-ID"), header(1, "Message-ID"));
    assert!(header(0, "Date").ends_with("+0000"), "{}", header(0, "Date"));
}

#[test]
fn many_mails_come_in_order_and_a_bad_one_is_one_dead_letter() {
    let lab = Lab::new();
    let Some(server) = Scripted::start(&lab, "smtp", &[]) else { return skip(MISSING) };
    let mut penstock = Penstock::start(&lab, &config(server.port(), TO));
    feed(lab.port("in"), 0, 500);
    say(&lab, "<13>Nov 11 01:02:03 h bad: nobody takes this\n");
    feed(lab.port("in"), 500, 1000);
    let ledger = penstock.wait_settled(1001);
    assert_eq!((ledger.dropped(), ledger.dropped_for("refused")), (1, 1), "{ledger}");
    ledger.assert_balanced();
    assert_in_order(&server.texts("body"), 1000);
    let letters = queue(&lab, &["cat", "dead-letters", "--json"]);
    assert_eq!(letters.lines().count(), 1, "{letters}");
    assert!(letters.contains("554 5.6.0 this is spam"), "{letters}");
}

#[test]
fn a_recipient_that_is_refused_is_a_dead_letter_and_the_others_have_the_mail() {
    let lab = Lab::new();
    let Some(server) = Scripted::start(&lab, "smtp", &[]) else { return skip(MISSING) };
    let mut penstock =
        Penstock::start(&lab, &config(server.port(), "to(\"nobody@a.example\") cc(\"two@a.example\")"));
    feed(lab.port("in"), 0, 3);
    let ledger = penstock.wait_settled(3);
    assert_eq!((ledger.dropped(), ledger.dropped_for("refused")), (3, 3), "{ledger}");
    assert_eq!(server.taken().len(), 3);
    // Nobody at all.
    penstock.reload_with(&lab, &config(server.port(), "to(\"nobody@a.example\")"));
    feed(lab.port("in"), 0, 3);
    let ledger = penstock.wait_settled(6);
    assert_eq!((ledger.dropped(), server.taken().len()), (6, 3), "{ledger}");
    let letters = queue(&lab, &["cat", "dead-letters", "--json"]);
    assert!(letters.contains("nobody@a.example: 550 5.1.1 no such user"), "{letters}");
}

#[test]
fn who_can_have_nothing_now_is_tried_again() {
    let lab = Lab::new();
    let Some(server) = Scripted::start(&lab, "smtp", &[]) else { return skip(MISSING) };
    std::fs::write(server.file(".busy"), "").expect("a file");
    let mut penstock =
        Penstock::start(&lab, &config(server.port(), "to(\"two@a.example\") cc(\"later@a.example\")"));
    feed(lab.port("in"), 0, 10);
    penstock.wait_log("450 4.2.0 come again");
    assert_eq!((penstock.ledger().dropped(), server.taken().len()), (0, 0));
    std::fs::remove_file(server.file(".busy")).expect("gone");
    penstock.wait_settled(10).assert_nothing_lost();
    assert_in_order(&server.texts("body"), 10);
}

#[test]
fn a_wrong_password_holds_and_says_so() {
    let lab = Lab::new();
    let Some(server) = Scripted::start(&lab, "smtp", &["--login", "log", "secret"]) else {
        return skip(MISSING);
    };
    let with =
        |password: &str| config(server.port(), &format!("{TO} username(\"log\") password(\"{password}\")"));
    let mut penstock = Penstock::start(&lab, &with("wrong"));
    feed(lab.port("in"), 0, 100);
    penstock.wait_log("535 5.7.8");
    wait_until("them to wait", || penstock.ledger().destination("k").waiting == 100);
    assert_eq!(penstock.ledger().dropped(), 0);
    penstock.reload_with(&lab, &with("secret"));
    penstock.wait_settled(100).assert_nothing_lost();
    assert_in_order(&server.texts("body"), 100);
}

#[test]
fn encrypted_either_way_and_a_wrong_certificate_gets_nothing() {
    for way in ["", "--whole"] {
        let lab = Lab::new();
        prepared(&lab);
        Authority::new(&lab, "other");
        let (certificate, key) = (lab.path("server.pem"), lab.path("server.key"));
        let mut options = vec![
            "--certificate",
            certificate.to_str().expect("a path"),
            "--key",
            key.to_str().expect("a path"),
        ];
        options.extend(Some(way).filter(|way| !way.is_empty()));
        let Some(server) = Scripted::start(&lab, "smtp", &options) else { return skip(MISSING) };
        let starts = if way.is_empty() { "" } else { "starttls(no)" };
        let with =
            |ca: &str| config(server.port(), &format!("{TO} {starts} tls(ca-file(\"%dir%/{ca}.pem\"))"));
        let mut penstock = Penstock::start(&lab, &with("other"));
        feed(lab.port("in"), 0, 50);
        penstock.wait_log("the certificate of the peer is refused");
        assert_eq!((penstock.ledger().destination("k").delivered, server.taken().len()), (0, 0));
        penstock.reload_with(&lab, &with("ca"));
        penstock.wait_settled(50).assert_nothing_lost();
        assert_in_order(&server.texts("body"), 50);
        assert!(server.taken().iter().all(|mail| mail["tls"] == true));
    }
}

#[test]
fn a_server_without_starttls_gets_nothing_that_was_to_be_encrypted() {
    let lab = Lab::new();
    let Some(server) = Scripted::start(&lab, "smtp", &[]) else { return skip(MISSING) };
    let mut penstock = Penstock::start(&lab, &config(server.port(), &format!("{TO} tls()")));
    feed(lab.port("in"), 0, 5);
    penstock.wait_log("the server offers no STARTTLS");
    assert_eq!((penstock.ledger().dropped(), server.taken().len()), (0, 0));
}

#[test]
fn connections_that_break_lose_nothing() {
    let lab = Lab::new();
    let Some(server) = Scripted::start(&lab, "smtp", &[]) else { return skip(MISSING) };
    let proxy = Proxy::to(server.port());
    let config = config(proxy.port(), TO);
    let mut peer = behind(server, proxy);
    let mut penstock = Penstock::start(&lab, &config);
    for round in 0..3usize {
        feed(lab.port("in"), round * 300, round * 300 + 300);
        let before = round as u64 * 300;
        wait_until("some of it", || penstock.ledger().destination("k").delivered > before);
        peer.kill();
    }
    penstock.wait_settled(900).assert_nothing_lost();
    // One mail at a time is on the way.
    let doubles = assert_all(&peer.texts(), 900);
    assert!(doubles <= 3, "{doubles} came twice");
}

#[test]
fn a_server_that_is_restarted_gets_everything() {
    let lab = Lab::new();
    let Some(mut server) = Scripted::start(&lab, "smtp", &[]) else { return skip(MISSING) };
    let mut penstock = Penstock::start(&lab, &config(server.port(), TO));
    feed(lab.port("in"), 0, 100);
    penstock.wait_settled(100).assert_nothing_lost();
    server.kill();
    feed(lab.port("in"), 100, 200);
    penstock.wait_log("Destination cannot be reached");
    server.run();
    penstock.wait_settled(200).assert_nothing_lost();
    assert_eq!(server.texts("body").last(), Some(&text(199)));
    assert_eq!(assert_all(&server.texts("body"), 200), 0);
}
