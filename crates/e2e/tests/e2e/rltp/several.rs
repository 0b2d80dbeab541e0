//! Several connections of one destination: each sender keeps its order, over cuts, over reloads, and with
//! several servers.

use super::pair::{HEAD, Pair, receiver, send_all, sender_of_many};
use super::random;
use crate::messages::{assert_complete, block, message};
use std::collections::BTreeMap;
use testkit::{Lab, Penstock, Signal, wait_until};

const SENDERS: usize = 6;

/// Messages `from..to` of each sender, each to its own source.
fn feed(lab: &Lab, from: usize, to: usize) {
    let text = |sender| (from..to).map(|n| message(sender, n) + "\n").collect();
    send_all((0..SENDERS).map(|sender| (lab.port(&format!("in{sender}")), text(sender))));
}

#[test]
fn the_order_of_each_sender_is_kept_over_cuts() {
    let (pair, proxy) =
        Pair::cut(&random(7, 30, 400_000), |port| sender_of_many(SENDERS, port, "rltp(connections(4))"));
    const COUNT: usize = 10_000;
    feed(&pair.here, 0, COUNT);
    let mut pair = pair;
    pair.assert_settled(SENDERS * COUNT);
    let lanes = pair.to.log().matches("Syslog connection accepted;").count();
    pair.assert_complete(SENDERS, COUNT);
    assert!(lanes >= 4 && proxy.cuts() > 0, "{lanes} connections, {} cuts", proxy.cuts());
}

/// Messages that wait when the options change come before those that come after.
#[track_caller]
fn reloaded(before: &str, after: &str) {
    let (here, there) = (Lab::new(), Lab::new());
    let port = there.port("rltp");
    let config = |options: &str| sender_of_many(SENDERS, port, options);
    let mut from = Penstock::start(&here, &config(before));
    const COUNT: usize = 400;
    feed(&here, 0, COUNT / 2);
    let waiting = |penstock: &mut Penstock, count: usize| {
        penstock.wait_ledger(|ledger| {
            let waiting = ledger.destination("d").waiting;
            (waiting != count as u64).then(|| format!("{count} waiting"))
        });
    };
    waiting(&mut from, SENDERS * COUNT / 2);
    from.reload_with(&here, &config(after));
    feed(&here, COUNT / 2, COUNT);
    waiting(&mut from, SENDERS * COUNT);
    // Once more, with what was inherited still here.
    from.reload_with(&here, &config(&format!("{after} log-fifo-size(900000)")));
    let mut to = Penstock::start(&there, &receiver(""));
    from.wait_settled((SENDERS * COUNT) as u64).assert_nothing_lost();
    to.wait_settled((SENDERS * COUNT) as u64).assert_nothing_lost();
    from.stop();
    to.stop();
    assert_complete(&there.lines("out"), SENDERS, COUNT);
}

#[test]
fn what_waits_goes_to_as_many_connections_of_a_reload() {
    reloaded("rltp(connections(4))", "rltp(connections(4) window(1MiB))");
}

#[test]
fn what_waits_goes_to_more_connections_of_a_reload() {
    reloaded("rltp(connections(1))", "rltp(connections(4))");
}

#[test]
fn what_waits_goes_to_fewer_connections_of_a_reload() {
    reloaded("rltp(connections(4))", "rltp(connections(3))");
}

#[test]
fn what_waits_goes_to_several_servers_of_a_reload() {
    // The second one is this one as well. As many connections as before, and other ways to choose one.
    reloaded("rltp(connections(2))", "load-balance(servers(\"localhost\") key(\"${HOST}\"))");
}

/// Two receivers on one port of two addresses.
struct Servers {
    labs: [Lab; 2],
    running: Vec<Penstock>,
}

impl Servers {
    fn start() -> Servers {
        let labs = [Lab::new(), Lab::new()];
        let second = Servers::second(labs[0].port("rltp"));
        let running = vec![Penstock::start(&labs[0], &receiver("")), Penstock::start(&labs[1], &second)];
        Servers { labs, running }
    }

    fn second(port: u16) -> String {
        receiver("").replace("127.0.0.1", "127.0.0.2").replace("%tcp:rltp%", &port.to_string())
    }

    fn sender(&self, balance: &str) -> String {
        format!(
            "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%) max-connections(100)); }};\n\
             destination d {{ network(127.0.0.1 port({}) transport(\"rltp\") rltp(connections(2))\n\
             load-balance(servers(\"127.0.0.2\") {balance})); }};\n\
             log {{ source(s); destination(d); flags(flow-control); }};\n",
            self.labs[0].port("rltp")
        )
    }

    fn feed(&self, lab: &Lab, count: usize) {
        send_all((0..8).map(|sender| (lab.port("in"), block(sender, count))));
    }

    fn lines(&self) -> [Vec<String>; 2] {
        [0, 1].map(|at: usize| self.labs[at].lines("out"))
    }
}

#[test]
fn what_has_the_same_key_goes_to_one_server_in_order() {
    let mut servers = Servers::start();
    let lab = Lab::new();
    let mut from = Penstock::start(&lab, &servers.sender("key(\"${HOST}\")"));
    const COUNT: usize = 1000;
    servers.feed(&lab, COUNT);
    from.wait_settled(8 * COUNT as u64).assert_nothing_lost();
    for server in &mut servers.running {
        server.wait_settled_input().assert_nothing_lost();
    }
    let lines = servers.lines();
    let of_host = |lines: &[String]| {
        let mut hosts: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for line in lines {
            hosts
                .entry(line.split(' ').nth(3).unwrap_or_default().to_owned())
                .or_default()
                .push(line.clone());
        }
        hosts
    };
    let [one, two] = [of_host(&lines[0]), of_host(&lines[1])];
    assert!(!one.is_empty() && !two.is_empty(), "{} and {} hosts", one.len(), two.len());
    assert!(one.keys().all(|host| !two.contains_key(host)), "a host is at both");
    assert_complete(&lines.concat(), 8, COUNT);
}

#[test]
fn messages_take_turns_and_a_server_that_is_killed_is_stood_in_for() {
    let mut servers = Servers::start();
    let lab = Lab::new();
    let mut from = Penstock::start(&lab, &servers.sender(""));
    servers.feed(&lab, 100);
    from.wait_settled(800).assert_nothing_lost();
    wait_until("both halves", || servers.lines().iter().all(|lines| lines.len() == 400));
    let mut second = servers.running.pop().expect("two servers");
    second.signal(Signal::KILL);
    second.wait_end();
    servers.feed(&lab, 100);
    from.wait_settled(1600).assert_nothing_lost();
    wait_until("all at the first", || servers.lines()[0].len() == 1200);
}
