//! `redis()` with a real server, read back with `redis-cli`: where there is none, these are skipped.

use crate::answered::{
    self, Peer, assert_all, assert_in_order, collector_killed, feed, reloaded_under_load,
    server_killed_under_load, text,
};
use crate::tls::{Authority, prepared};
use testkit::redis::{MISSING, Redis};
use testkit::{Lab, Penstock, Sender, skip};

const LIST: &str = "command(RPUSH logs \"$MSG\")";

impl Peer for Redis {
    fn kill(&mut self) {
        Redis::kill(self);
    }

    fn run(&mut self) {
        Redis::run(self);
    }

    fn texts(&self) -> Vec<String> {
        self.list("logs")
    }
}

fn config(redis: &Redis, options: &str) -> String {
    answered::config(&format!("redis(port({}) time-reopen(1) {options})", redis.port()))
}

#[test]
fn what_is_sent_is_read_back_in_order() {
    let lab = Lab::new();
    let Some(redis) = Redis::start(&lab, &[], &[]) else { return skip(MISSING) };
    let mut penstock = Penstock::start(&lab, &config(&redis, LIST));
    feed(lab.port("in"), 0, 5000);
    penstock.wait_settled(5000).assert_nothing_lost();
    assert_in_order(&redis.list("logs"), 5000);
    // Arguments take any bytes; every word may be a template.
    let options = "command(HSET \"hash $HOST\" \"${PROGRAM}\" \"$MSG\")";
    penstock.reload_with(&lab, &config(&redis, options));
    let mut sender = Sender::tcp(lab.port("in"));
    sender.raw("<13>Nov 11 01:02:03 web a'\"b: \"quoted\" $1 \\r\\n é\n".as_bytes());
    sender.finish();
    penstock.wait_settled(5001);
    assert_eq!(redis.ask(&["HGETALL", "hash web"]), ["a'\"b", "\"quoted\" $1 \\r\\n é"]);
}

#[test]
fn one_bad_message_is_one_dead_letter() {
    let lab = Lab::new();
    let Some(redis) = Redis::start(&lab, &[], &[]) else { return skip(MISSING) };
    redis.ask(&["SET", "bad", "a text"]);
    let mut penstock = Penstock::start(&lab, &config(&redis, "command(RPUSH \"$PROGRAM\" \"$MSG\")"));
    let port = lab.port("in");
    feed(port, 0, 5000);
    let mut sender = Sender::tcp(port);
    sender.raw(b"<13>Nov 11 01:02:03 h bad: not a list\n");
    sender.finish();
    feed(port, 5000, 9_999);
    let ledger = penstock.wait_settled(10_000);
    assert_eq!((ledger.dropped(), ledger.dropped_for("refused")), (1, 1));
    ledger.assert_balanced();
    assert_eq!(assert_all(&redis.list("app"), 9_999), 0);
}

#[test]
fn a_wrong_password_holds_and_says_so() {
    let lab = Lab::new();
    let user = ["--user", "me", "on", ">secret", "~*", "+@all", "--user", "default", "off"];
    let client = ["--user", "me", "--pass", "secret", "--no-auth-warning"];
    let Some(redis) = Redis::start(&lab, &user, &client) else { return skip(MISSING) };
    let with = |auth: &str| config(&redis, &format!("auth({auth}) {LIST}"));
    let mut penstock = Penstock::start(&lab, &with("\"me\" \"wrong\""));
    feed(lab.port("in"), 0, 100);
    penstock.wait_log("WRONGPASS");
    let ledger = penstock.wait_ledger(|ledger| (ledger.waiting() < 100).then(|| "all to wait".to_owned()));
    assert_eq!(ledger.dropped(), 0);
    penstock.reload_with(&lab, &with("\"me\" \"secret\""));
    penstock.wait_settled(100).assert_nothing_lost();
    assert_in_order(&redis.list("logs"), 100);
}

#[test]
fn a_full_server_lets_messages_wait() {
    let lab = Lab::new();
    let full = ["--maxmemory", "1", "--maxmemory-policy", "noeviction"];
    let Some(redis) = Redis::start(&lab, &full, &[]) else { return skip(MISSING) };
    let mut penstock = Penstock::start(&lab, &config(&redis, LIST));
    feed(lab.port("in"), 0, 3000);
    penstock.wait_log("OOM");
    assert_eq!(penstock.ledger().dropped(), 0);
    redis.ask(&["CONFIG", "SET", "maxmemory", "0"]);
    penstock.wait_settled(3000).assert_nothing_lost();
    assert_eq!(assert_all(&redis.list("logs"), 3000), 0);
}

#[test]
fn a_server_that_is_killed_costs_nothing() {
    let lab = Lab::new();
    let Some(mut redis) = Redis::start(&lab, &[], &[]) else { return skip(MISSING) };
    let config = config(&redis, LIST);
    // Four batches of a thousand are on the way at most.
    server_killed_under_load(&lab, &config, &mut redis, 4000);
}

#[test]
fn a_collector_that_is_killed_loses_nothing_from_its_disk() {
    let lab = Lab::new();
    let Some(redis) = Redis::start(&lab, &[], &[]) else { return skip(MISSING) };
    let disk = "disk-buffer(reliable(yes) capacity-bytes(64MiB) dir(\"%dir%\"))";
    collector_killed(&lab, &config(&redis, &format!("{LIST} {disk}")), &redis);
}

#[test]
fn a_reload_under_load_keeps_what_is_on_the_way() {
    let lab = Lab::new();
    let Some(redis) = Redis::start(&lab, &[], &[]) else { return skip(MISSING) };
    reloaded_under_load(&lab, &config(&redis, LIST), &redis);
}

#[test]
fn encrypted_and_a_wrong_certificate_gets_nothing() {
    let lab = Lab::new();
    prepared(&lab);
    Authority::new(&lab, "other");
    let (certificate, key) = (lab.path("server.pem"), lab.path("server.key"));
    let (certificate, key) = (certificate.display().to_string(), key.display().to_string());
    let options =
        ["--tls-cert-file", &certificate, "--tls-key-file", &key, "--tls-ca-cert-file", &certificate];
    let Some(redis) = Redis::start(&lab, &options, &["--tls", "--insecure"]) else { return skip(MISSING) };
    let with = |ca: &str| config(&redis, &format!("{LIST} tls(ca-file(\"%dir%/{ca}.pem\"))"));
    let mut penstock = Penstock::start(&lab, &with("other"));
    feed(lab.port("in"), 0, 1000);
    penstock.wait_log("the certificate of the peer is refused");
    assert_eq!(penstock.ledger().destination("k").delivered, 0);
    penstock.reload_with(&lab, &with("ca"));
    penstock.wait_settled(1000).assert_nothing_lost();
    assert_in_order(&redis.list("logs"), 1000);
    assert!(redis.list("logs").contains(&text(999)));
}

/// As after a restart of the server.
#[test]
fn a_script_that_the_server_has_lost_is_waited_for() {
    let lab = Lab::new();
    let Some(redis) = Redis::start(&lab, &[], &[]) else { return skip(MISSING) };
    let load = || redis.ask(&["SCRIPT", "LOAD", "return redis.call('RPUSH', KEYS[1], ARGV[1])"]).concat();
    let options = format!("command(EVALSHA \"{}\" 1 logs \"$MSG\")", load());
    let mut penstock = Penstock::start(&lab, &config(&redis, &options));
    feed(lab.port("in"), 0, 100);
    penstock.wait_settled(100);
    redis.ask(&["SCRIPT", "FLUSH"]);
    feed(lab.port("in"), 100, 200);
    penstock.wait_log("NOSCRIPT");
    let ledger = penstock.wait_ledger(|ledger| (ledger.waiting() < 100).then(|| "all to wait".to_owned()));
    assert_eq!(ledger.dropped(), 0);
    load();
    penstock.wait_settled(200).assert_nothing_lost();
    assert_in_order(&redis.list("logs"), 200);
}
