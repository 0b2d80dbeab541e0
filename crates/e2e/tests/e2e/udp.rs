//! Datagrams: several sockets on one port, what the kernel drops, other senders' names, groups, and other
//! programs both ways.

use crate::messages::{HEAD, assert_complete, line, message, send};
use std::collections::HashSet;
use std::net::{SocketAddr, UdpSocket};
use std::process::Command;
use std::time::Duration;
use testkit::{Lab, Ledger, Penstock, Sender, Signal, peers, run_command, skip, wait_until};

fn config(source: &str, destination: &str) -> String {
    format!(
        "{HEAD}source s {{ {source} }};\ndestination d {{ {destination} }};\n\
         log {{ source(s); destination(d); flags(flow-control); }};\n"
    )
}

const TO_FILE: &str = "file(\"%dir%/out\");";

/// What each driver of the source received.
fn shares(ledger: &Ledger) -> Vec<u64> {
    ledger.sources.iter().filter(|row| row.name.starts_with("s#")).map(|row| row.received).collect()
}

/// `count` sources on one port, the first with `more` options.
fn shared_port(count: usize, more: &str) -> String {
    let one = |n: usize| {
        let more = if n == 0 { more } else { "" };
        format!("udp(ip(127.0.0.1) port(%udp:in%) so-reuseport(yes) persist-name(\"udp-{n}\") {more});")
    };
    (0..count).map(one).collect()
}

#[test]
fn sources_share_a_port_and_keep_the_order_of_each_sender() {
    let lab = Lab::new();
    let mut penstock = Penstock::start(&lab, &config(&shared_port(2, ""), TO_FILE));
    let mut senders: Vec<Sender> = (0..64).map(|_| Sender::udp(lab.port("in"))).collect();
    for number in 0..10 {
        for (n, sender) in senders.iter_mut().enumerate() {
            sender.line(&message(n, number));
        }
    }
    let ledger = penstock.wait_settled(640);
    ledger.assert_nothing_lost();
    assert!(shares(&ledger).iter().all(|n| *n > 0), "one of two sockets got everything: {ledger}");
    penstock.stop();
    assert_complete(&lab.lines("out"), 64, 10);
}

#[test]
fn a_port_that_is_shared_stays_open_over_a_reload() {
    let lab = Lab::new();
    let text = config(&shared_port(2, ""), TO_FILE);
    let mut penstock = Penstock::start(&lab, &text);
    let mut sender = Sender::udp(lab.port("in"));
    sender.line(&message(0, 0));
    penstock.wait_settled(1);
    penstock.reload_with(&lab, &text.replace("%dir%/out", "%dir%/new"));
    sender.line(&message(0, 1));
    wait_until("the second message", || lab.lines("new").len() == 1);
    penstock.stop();
    assert_eq!((lab.lines("out"), lab.lines("new")), (vec![line(0, 0)], vec![line(0, 1)]));
}

/// Sends from one sender and expects every message once, from several sockets.
#[track_caller]
fn spread(source: &str) -> Ledger {
    const COUNT: usize = 400;
    let lab = Lab::new();
    let mut penstock = Penstock::start(&lab, &config(source, TO_FILE));
    let mut sender = Sender::udp(lab.port("in"));
    (0..COUNT).for_each(|n| sender.line(&message(0, n)));
    let ledger = penstock.wait_settled(COUNT as u64);
    ledger.assert_nothing_lost();
    penstock.stop();
    let found: HashSet<String> = lab.lines("out").into_iter().collect();
    assert_eq!(found, (0..COUNT).map(|n| line(0, n)).collect());
    ledger
}

#[test]
fn one_sender_is_spread_over_the_sockets_of_a_port() {
    let ledger = spread(&shared_port(4, "ebpf(reuseport(sockets(4)))"));
    let shares = shares(&ledger);
    assert!(shares.len() == 4 && shares.iter().all(|n| *n > 0), "{ledger}");
}

#[test]
fn udp_balancer_is_one_source_with_several_sockets() {
    let ledger = spread("udp-balancer(ip(127.0.0.1) port(%udp:in%) listeners(4));");
    assert_eq!(shares(&ledger), [400]);
}

#[test]
fn what_the_kernel_drops_is_counted_and_said_with_the_remedy() {
    let lab = Lab::new();
    let source = "udp(ip(127.0.0.1) port(%udp:in%) so-rcvbuf(8192));";
    let mut penstock = Penstock::start(&lab, &config(source, TO_FILE));
    let port = lab.port("in");
    penstock.signal(Signal::STOP);
    let mut sender = Sender::udp(port);
    (0..1000).for_each(|n| sender.line(&message(0, n)));
    let lost = testkit::sockets::udp_drops(port);
    assert!(lost > 0, "the kernel dropped nothing");
    penstock.signal(Signal::CONT);
    // Without another datagram: the counter is asked for now and then.
    penstock.wait_settled(1000).assert_balanced();
    assert_eq!(penstock.ledger().dropped_for("kernel"), lost);
    penstock.wait_log("The kernel dropped datagrams because the receive buffer was full");
    let said = penstock.log();
    assert!(said.contains("receive_buffer='8192'") && said.contains("net.core.rmem_max="), "{said}");
    let metrics = penstock.request("STATS PROMETHEUS");
    let metric = metrics.lines().find(|l| l.starts_with("syslogng_socket_receive_dropped_packets_total"));
    assert!(metric.is_some_and(|l| l.ends_with(&format!(" {lost}"))), "{metrics}");
    penstock.stop();
    assert_eq!(lab.lines("out").len() as u64, 1000 - lost);
}

/// A destination that has no room holds back a UDP source without losing what the receive buffer can hold.
#[test]
fn a_slow_destination_is_waited_for() {
    const COUNT: usize = 3000;
    let lab = Lab::new();
    let source = "udp(ip(127.0.0.1) port(%udp:in%) log-iw-size(100));";
    let text = config(source, "network(127.0.0.1 port(%port:out%));");
    let mut penstock = Penstock::start(&lab, &text);
    let mut sender = Sender::udp(lab.port("in"));
    (0..COUNT).for_each(|n| sender.line(&message(0, n)));
    // Nobody listens yet: the first messages wait for the connection, the others in the kernel.
    penstock.wait_ledger(|ledger| (ledger.waiting() == 0).then(|| "messages waiting".to_owned()));
    let (port, other) = (lab.port("out"), Lab::new());
    let taker = config(&format!("network(ip(127.0.0.1) port({port}));"), TO_FILE);
    let mut sink = Penstock::start(&other, &taker);
    sink.wait_settled(COUNT as u64).assert_nothing_lost();
    penstock.wait_settled(COUNT as u64).assert_nothing_lost();
    penstock.stop();
}

fn may_spoof() -> bool {
    rustix::net::socket(
        rustix::net::AddressFamily::INET,
        rustix::net::SocketType::RAW,
        Some(rustix::net::ipproto::RAW),
    )
    .is_ok()
}

fn receiver(address: &str) -> (UdpSocket, u16) {
    let socket = UdpSocket::bind(address).expect("a UDP socket");
    socket.set_read_timeout(Some(Duration::from_secs(60))).expect("a time-out");
    let port = socket.local_addr().expect("an address").port();
    (socket, port)
}

fn next(socket: &UdpSocket) -> (String, SocketAddr) {
    let mut buffer = vec![0; 65_536];
    let (size, from) = socket.recv_from(&mut buffer).expect("a datagram");
    (String::from_utf8_lossy(&buffer[..size]).into_owned(), from)
}

#[test]
fn datagrams_go_out_under_the_names_of_their_senders() {
    if !may_spoof() {
        return skip("spoof-source() needs CAP_NET_RAW");
    }
    let (socket, port) = receiver("127.0.0.1:0");
    let lab = Lab::new();
    let mut penstock = Penstock::start(
        &lab,
        &config(
            "udp(ip(127.0.0.1) port(%udp:in%)); network(ip(127.0.0.1) port(%tcp:in%)); unix-dgram(\"%unix:local%\");",
            &format!(
                "udp(127.0.0.1 port({port}) spoof-source(yes) spoof-source-max-msglen(60) template(\"$MSG\"));"
            ),
        ),
    );
    let mut udp = Sender::udp_from("127.0.1.7", lab.port("in"));
    udp.line("<13>Nov 11 01:02:03 h a: by udp");
    let own = SocketAddr::from(([127, 0, 1, 7], udp.local_port()));
    assert_eq!(next(&socket), ("by udp".to_owned(), own));
    udp.line(&format!("<13>Nov 11 01:02:03 h a: {}", "x".repeat(100)));
    assert_eq!(next(&socket), ("x".repeat(60), own));
    let mut tcp = Sender::tcp(lab.port("in"));
    tcp.line("<13>Nov 11 01:02:03 h a: by tcp");
    assert_eq!(next(&socket), ("by tcp".to_owned(), ([127, 0, 0, 1], tcp.local_port()).into()));
    let mut unix = Sender::unix_dgram(&lab.path("local"));
    let long = "y".repeat(100);
    unix.line(&format!("<13>a: {long}"));
    let (text, from) = next(&socket);
    assert_eq!((text, from.ip()), (long, [127, 0, 0, 1].into()));
    penstock.wait_settled(4).assert_nothing_lost();
    penstock.stop();
}

#[test]
fn ipv6_datagrams_go_out_under_the_names_of_their_senders() {
    if !may_spoof() {
        return skip("spoof-source() needs CAP_NET_RAW");
    }
    if UdpSocket::bind("[::1]:0").is_err() {
        return skip("no IPv6 here");
    }
    let (socket, port) = receiver("[::1]:0");
    let lab = Lab::new();
    let source = "udp6(ip(\"::1\") port(%udp:six%)); udp(ip(127.0.0.1) port(%udp:four%));";
    let destination = format!("udp6(\"::1\" port({port}) spoof-source(yes) template(\"$MSG\"));");
    let mut penstock = Penstock::start(&lab, &config(source, &destination));
    let sender = UdpSocket::bind("[::1]:0").expect("a UDP socket");
    sender.send_to(b"<13>Nov 11 01:02:03 h a: six", ("::1", lab.port("six"))).expect("send");
    assert_eq!(next(&socket), ("six".to_owned(), sender.local_addr().expect("an address")));
    // A sender of the other family cannot be named.
    Sender::udp(lab.port("four")).line("<13>Nov 11 01:02:03 h a: four");
    let (text, from) = next(&socket);
    assert_eq!((text.as_str(), from.ip()), ("four", std::net::Ipv6Addr::LOCALHOST.into()));
    penstock.wait_settled(2).assert_nothing_lost();
    penstock.stop();
}

#[test]
fn without_the_privilege_spoof_source_is_refused_at_the_start() {
    let lab = Lab::new();
    let text = config("udp(ip(127.0.0.1) port(%port:in%));", "udp(127.0.0.1 port(9) spoof-source(yes));");
    let (path, _) = lab.write_config("penstock.conf", &text);
    let path = path.display().to_string();
    assert_eq!(run_command(&["check", &path]).code, Some(0), "it is a good configuration");
    let output = Command::new("setpriv")
        .args(["--inh-caps=-net_raw", "--bounding-set=-net_raw", "--no-new-privs"])
        .arg(testkit::penstock::binary())
        .args(["run", "--config", &path, "--state-dir"])
        .arg(lab.dir())
        .output();
    let Ok(output) = output else { return skip("no setpriv here") };
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("CAP_NET_RAW"), "{said}");
}

#[test]
fn broadcast_and_groups() {
    let lab = Lab::new();
    let source =
        "udp(ip(0.0.0.0) port(%udp:broad%)); udp(ip(239.7.7.7) port(%udp:group%) interface(\"lo\"));";
    let destination = "udp(127.255.255.255 port(%port:broad%) so-broadcast(yes));\n\
                       udp(239.7.7.7 port(%port:group%) interface(\"lo\") ip-ttl(1) ip-tos(16));";
    let config = format!(
        "{HEAD}source in {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\nsource s {{ {source} }};\n\
         destination away {{ {destination} }};\ndestination d {{ {TO_FILE} }};\n\
         log {{ source(in); destination(away); }};\nlog {{ source(s); destination(d); }};\n"
    );
    let mut penstock = Penstock::start(&lab, &config);
    send(&lab, 0, 3);
    let ledger = penstock.wait_settled(9);
    ledger.assert_nothing_lost();
    assert_eq!(shares(&ledger), [3, 3], "{ledger}");
    penstock.stop();
}

#[test]
fn a_broadcast_address_without_the_option_is_explained() {
    let lab = Lab::new();
    let text = config("network(ip(127.0.0.1) port(%tcp:in%));", "udp(127.255.255.255 port(9));");
    let mut penstock = Penstock::start(&lab, &text);
    penstock.wait_log("if this is a broadcast address, add so-broadcast(yes)");
    penstock.stop();
}

/// penstock to the peer over UDP and back again into a file; a few at a time, since nobody holds datagrams
/// back.
#[track_caller]
fn there_and_back(lab: &Lab, mut penstock: Penstock) {
    const ROUNDS: usize = 10;
    const ROUND: usize = 20;
    let mut sender = Sender::tcp(lab.port("in"));
    for round in 0..ROUNDS {
        (round * ROUND..(round + 1) * ROUND).for_each(|n| sender.line(&message(0, n)));
        wait_until("a round to come back", || lab.lines("out").len() >= (round + 1) * ROUND);
    }
    sender.finish();
    penstock.wait_settled((2 * ROUNDS * ROUND) as u64).assert_nothing_lost();
    penstock.stop();
    assert_complete(&lab.lines("out"), 1, ROUNDS * ROUND);
}

fn both_ways(destination: &str, source: &str) -> String {
    format!(
        "{HEAD}source own {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\nsource peer {{ {source} }};\n\
         destination away {{ {destination} }};\ndestination d {{ {TO_FILE} }};\n\
         log {{ source(own); destination(away); }};\nlog {{ source(peer); destination(d); }};\n"
    )
}

fn with_syslog_ng(destination: &str, source: &str, theirs: &str) {
    let Some(program) = peers::syslog_ng() else { return skip(peers::MISSING) };
    let lab = Lab::new();
    let penstock = Penstock::start(&lab, &both_ways(destination, source));
    let theirs = format!(
        "@version: 3.38\noptions {{ keep-hostname(yes); use-dns(no); time-reopen(1); }};\n{theirs}\n\
         log {{ source(s); destination(d); }};\n"
    );
    let _peer = peers::start_syslog_ng(&lab, &program, &theirs, &[]);
    there_and_back(&lab, penstock);
}

#[test]
fn syslog_ng_over_udp() {
    with_syslog_ng(
        "udp(127.0.0.1 port(%port:peer%));",
        "udp(ip(127.0.0.1) port(%udp:back%));",
        "source s { network(ip(127.0.0.1) port(%udp:peer%) transport(udp)); };\n\
         destination d { network(\"127.0.0.1\" port(%port:back%) transport(udp)); };",
    );
}

#[test]
fn syslog_ng_over_udp_in_the_new_format() {
    with_syslog_ng(
        "syslog(127.0.0.1 port(%port:peer%) transport(udp));",
        "syslog(ip(127.0.0.1) port(%udp:back%) transport(udp));",
        "source s { syslog(ip(127.0.0.1) port(%udp:peer%) transport(udp)); };\n\
         destination d { syslog(\"127.0.0.1\" port(%port:back%) transport(udp)); };",
    );
}

#[test]
fn rsyslog_over_udp() {
    let Some(program) = peers::rsyslog() else { return skip(peers::MISSING) };
    let lab = Lab::new();
    let penstock = Penstock::start(
        &lab,
        &both_ways("udp(127.0.0.1 port(%port:peer%));", "udp(ip(127.0.0.1) port(%udp:back%));"),
    );
    let theirs = "global(workDirectory=\"%dir%\")\nmodule(load=\"imudp\")\n\
                  input(type=\"imudp\" port=\"%udp:peer%\" address=\"127.0.0.1\")\n\
                  action(type=\"omfwd\" target=\"127.0.0.1\" port=\"%port:back%\" protocol=\"udp\" template=\"RSYSLOG_TraditionalForwardFormat\")\n";
    let _peer = peers::start_rsyslog(&lab, &program, theirs);
    there_and_back(&lab, penstock);
}
