//! `mongodb()` with a server of another hand, read back with MongoDB's client for Python: where there is
//! none, these are skipped.

use crate::answered::{
    self, Cut, Peer, assert_all, assert_in_order, collector_killed, feed, reloaded_under_load,
    server_killed_under_load, text,
};
use crate::tls::{Authority, prepared};
use testkit::mongodb::{MISSING, Mongodb};
use testkit::{Lab, Penstock, Proxy, Sender, skip};

impl Peer for Mongodb {
    fn kill(&mut self) {
        Mongodb::kill(self);
    }

    fn run(&mut self) {
        Mongodb::run(self);
    }

    fn texts(&self) -> Vec<String> {
        self.values("messages", "MESSAGE")
    }
}

fn behind(server: Mongodb, proxy: Proxy) -> Cut<impl Fn() -> Vec<String>> {
    Cut { proxy, texts: move || server.texts() }
}

fn config(port: u16, options: &str) -> String {
    answered::config(&format!("mongodb(uri(\"mongodb://127.0.0.1:{port}/logs\") time-reopen(1) {options})"))
}

#[test]
fn what_is_sent_is_read_back_in_order_with_its_types() {
    let lab = Lab::new();
    let Some(server) = Mongodb::start(&lab, None) else { return skip(MISSING) };
    let mut penstock = Penstock::start(&lab, &config(server.port(), ""));
    feed(lab.port("in"), 0, 5000);
    penstock.wait_settled(5000).assert_nothing_lost();
    assert_in_order(&server.values("messages", "MESSAGE"), 5000);
    let options = "collection(\"of_$PROGRAM\") value-pairs(pair(\"n\" int(\"$PID\")) pair(\"at\" datetime(\"$UNIXTIME\")) \
                   pair(\"a.list\" list(\"x,'y,z'\")) pair(\"a.b.yes\" boolean(\"true\")) pair(\".dot.half\" double(\"0.5\")) \
                   pair(\"no_int\" int(\"$HOST\")) pair(\"text\" \"$MSG\"))";
    penstock.reload_with(&lab, &config(server.port(), options));
    let mut sender = Sender::tcp(lab.port("in"));
    sender.raw("<13>Nov 11 01:02:03 web one[7]: \"é\"\n<13>Nov 11 01:02:03 web two[8]: b\n".as_bytes());
    sender.finish();
    penstock.wait_settled(5002).assert_nothing_lost();
    let script = "for d in db.of_one.find():\n  at = d.pop('at'); d.pop('_id'); print(type(at).__name__, at.month, sorted(d.items()))";
    let expected = "datetime 11 [('_dot', {'half': 0.5}), ('a', {'b': {'yes': True}, 'list': ['x', 'y,z']}), ('n', 7), \
                    ('no_int', 'web'), ('text', '\"é\"')]";
    assert_eq!(server.ask(script), [expected]);
    assert_eq!(server.values("of_two", "n"), ["8"]);
}

#[test]
fn one_bad_message_is_one_dead_letter() {
    for order in ["bulk-unordered(no)", "bulk-unordered(yes)"] {
        let lab = Lab::new();
        let Some(server) = Mongodb::start(&lab, None) else { return skip(MISSING) };
        server.ask("db.messages.create_index('MESSAGE', unique=True)");
        let mut penstock = Penstock::start(&lab, &config(server.port(), order));
        let port = lab.port("in");
        feed(port, 0, 5000);
        // It is there already.
        feed(port, 77, 78);
        feed(port, 5000, 9_999);
        let ledger = penstock.wait_settled(10_000);
        assert_eq!((ledger.dropped(), ledger.dropped_for("refused")), (1, 1));
        ledger.assert_balanced();
        assert_eq!(assert_all(&server.values("messages", "MESSAGE"), 9_999), 0);
    }
}

#[test]
fn an_id_of_the_message_that_is_there_counts_as_delivered() {
    let lab = Lab::new();
    let Some(server) = Mongodb::start(&lab, None) else { return skip(MISSING) };
    let mut penstock = Penstock::start(&lab, &config(server.port(), "value-pairs(pair(\"_id\" \"$MSG\"))"));
    feed(lab.port("in"), 0, 100);
    penstock.wait_settled(100).assert_nothing_lost();
    feed(lab.port("in"), 50, 60);
    penstock.wait_settled(110).assert_nothing_lost();
    assert_in_order(&server.values("messages", "_id"), 100);
}

#[test]
fn a_login_that_the_server_refuses_holds_and_says_so() {
    let lab = Lab::new();
    let Some(server) = Mongodb::start(&lab, None) else { return skip(MISSING) };
    let with = |login: &str| {
        let uri = format!("mongodb://{login}127.0.0.1:{}/logs", server.port());
        answered::config(&format!("mongodb(uri(\"{uri}\") time-reopen(1))"))
    };
    // It knows no users.
    let mut penstock = Penstock::start(&lab, &with("me:wrong@"));
    feed(lab.port("in"), 0, 100);
    penstock.wait_log("SCRAM failure");
    let ledger = penstock.wait_ledger(|ledger| (ledger.waiting() < 100).then(|| "all to wait".to_owned()));
    assert_eq!(ledger.dropped(), 0);
    penstock.reload_with(&lab, &with(""));
    penstock.wait_settled(100).assert_nothing_lost();
    assert_in_order(&server.texts(), 100);
}

#[test]
fn a_server_that_comes_late_and_comes_back_gets_everything() {
    let lab = Lab::new();
    let Some(mut server) = Mongodb::start(&lab, None) else { return skip(MISSING) };
    server.kill();
    let mut penstock = Penstock::start(&lab, &config(server.port(), ""));
    feed(lab.port("in"), 0, 1000);
    penstock.wait_log("No available servers");
    assert_eq!(penstock.ledger().dropped(), 0);
    server.run();
    penstock.wait_settled(1000).assert_nothing_lost();
    assert_in_order(&server.texts(), 1000);
    server.kill();
    server.run();
    feed(lab.port("in"), 0, 1000);
    penstock.wait_settled(2000).assert_nothing_lost();
    assert_in_order(&server.texts(), 1000);
}

#[test]
fn connections_that_break_cost_nothing_and_double_nothing() {
    let lab = Lab::new();
    let Some(server) = Mongodb::start(&lab, None) else { return skip(MISSING) };
    let proxy = Proxy::to(server.port());
    let config = config(proxy.port(), "");
    server_killed_under_load(&lab, &config, &mut behind(server, proxy), 0);
}

#[test]
fn a_collector_that_is_killed_loses_nothing_from_its_disk() {
    let lab = Lab::new();
    let Some(server) = Mongodb::start(&lab, None) else { return skip(MISSING) };
    let disk = "disk-buffer(reliable(yes) capacity-bytes(64MiB) dir(\"%dir%\"))";
    collector_killed(&lab, &config(server.port(), disk), &server);
    // What was sent again had its id.
    let texts = server.texts();
    let distinct: std::collections::HashSet<_> = texts.iter().collect();
    assert_eq!(texts.len(), distinct.len());
}

#[test]
fn a_reload_under_load_keeps_what_is_on_the_way() {
    let lab = Lab::new();
    let Some(server) = Mongodb::start(&lab, None) else { return skip(MISSING) };
    reloaded_under_load(&lab, &config(server.port(), ""), &server);
}

#[test]
fn encrypted_and_a_wrong_certificate_gets_nothing() {
    let lab = Lab::new();
    prepared(&lab);
    Authority::new(&lab, "other");
    let (key, certificate) = (lab.path("server.key"), lab.path("server.pem"));
    let Some(server) = Mongodb::start(&lab, Some((&key, &certificate))) else { return skip(MISSING) };
    let with = |ca: &str| {
        let uri = format!("mongodb://127.0.0.1:{}/logs?tls=true&tlsCAFile=%dir%/{ca}.pem", server.port());
        answered::config(&format!("mongodb(uri(\"{uri}\") time-reopen(1))"))
    };
    let mut penstock = Penstock::start(&lab, &with("other"));
    feed(lab.port("in"), 0, 1000);
    penstock.wait_log("invalid peer certificate");
    assert_eq!(penstock.ledger().destination("k").delivered, 0);
    penstock.reload_with(&lab, &with("ca"));
    penstock.wait_settled(1000).assert_nothing_lost();
    assert_in_order(&server.texts(), 1000);
    assert!(server.texts().contains(&text(999)));
}
