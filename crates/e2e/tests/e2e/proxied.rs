//! Connections through a load balancer that says whom they come from: in the clear, inside TLS, before TLS.

use crate::messages::{HEAD, message};
use crate::tls::{block_of, prepared};
use testkit::{Lab, Penstock, Sender, run_command, wait_until};

const COUNT: usize = 200;

/// A source with this transport, and who sent each message.
fn config(transport: &str, more: &str) -> String {
    format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%) transport(\"{transport}\") {more}); }};\n\
         destination d {{ file(\"%dir%/out\" template(\"${{TRANSPORT}} ${{SOURCEIP}} ${{SOURCEPORT}} ${{DESTIP}} ${{DESTPORT}} ${{PEERIP}} ${{MESSAGE}}\\n\")); }};\n\
         log {{ source(s); destination(d); flags(flow-control); }};\n"
    )
}

const HEADER: &[u8] = b"PROXY TCP4 192.0.2.7 192.0.2.8 4321 514\r\n";

#[test]
fn the_client_is_the_sender() {
    let lab = Lab::new();
    let mut penstock = Penstock::start(&lab, &config("proxied-tcp", ""));
    // In single bytes, and the last of them together with messages.
    let mut sender = Sender::tcp(lab.port("in"));
    let (first, last) = HEADER.split_at(HEADER.len() - 1);
    first.iter().for_each(|byte| sender.raw(&[*byte]));
    sender.raw(&[last, message(0, 0).as_bytes(), b"\n", message(0, 1).as_bytes(), b"\n"].concat());
    sender.finish();
    // Version 2: a client, and the balancer itself.
    let mut two = b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c".to_vec();
    two.extend([192, 0, 2, 9, 192, 0, 2, 8, 0x10, 0xe1, 2, 2]);
    two.extend(format!("{}\n", message(1, 0)).bytes());
    let mut sender = Sender::tcp(lab.port("in"));
    sender.raw(&two);
    sender.finish();
    let mut sender = Sender::tcp(lab.port("in"));
    sender.raw(b"\r\n\r\n\0\r\nQUIT\n\x20\0\0\0");
    sender.line(&message(2, 0));
    sender.finish();
    // A balancer that looks whether somebody listens.
    Sender::tcp(lab.port("in")).finish();
    wait_until("all messages", || lab.lines("out").len() == 4);
    let lines = lab.lines("out");
    let from = |start: &str| {
        lines.iter().filter(|line| line.starts_with(&format!("rfc3164+proxied-tcp {start}"))).count()
    };
    assert_eq!(from("192.0.2.7 4321 192.0.2.8 514 127.0.0.1 "), 2, "{lines:?}");
    assert_eq!(from("192.0.2.9 4321 192.0.2.8 514 127.0.0.1 "), 1, "{lines:?}");
    assert_eq!(from("127.0.0.1 "), 1, "{lines:?}");
    penstock.wait_settled(4).assert_nothing_lost();
    assert!(!penstock.stop().contains("Cannot tell whom a proxy connects for"));
}

#[test]
fn what_is_no_header_is_refused_with_the_reason() {
    let lab = Lab::new();
    let mut penstock = Penstock::start(&lab, &config("proxied-tcp", "idle-timeout(1)"));
    for bytes in [message(0, 0).as_bytes(), b"PROXY TCP4 here there\r\n", b"\r\n\r\n\0\r\nQUIT\n\x99\0\0\0"] {
        let mut sender = Sender::tcp(lab.port("in"));
        sender.raw(bytes);
        sender.raw(b"\n");
        sender.wait_closed();
    }
    let mut cut = Sender::tcp(lab.port("in"));
    cut.raw(b"PROXY ");
    cut.finish();
    Sender::tcp(lab.port("in")).wait_closed();
    for reason in [
        "expected a PROXY header, found",
        "invalid PROXY header",
        "unknown PROXY version or command",
        "the connection ended within the PROXY header",
        "no PROXY header came in time",
    ] {
        penstock.wait_log(reason);
    }
    let mut good = Sender::tcp(lab.port("in"));
    good.raw(HEADER);
    good.line(&message(1, 0));
    good.finish();
    wait_until("the good one's message", || lab.lines("out").len() == 1);
    penstock.stop();
}

#[track_caller]
fn through_tls(transport: &str, more: &[&str]) {
    let lab = Lab::new();
    prepared(&lab);
    let mut penstock = Penstock::start(&lab, &config(transport, &block_of("server")));
    let (cert, key) = (lab.path("client.pem"), lab.path("client.key"));
    let (cert, key) = (format!("--cert-file={}", cert.display()), format!("--key-file={}", key.display()));
    let (port, total) = (lab.port("in").to_string(), format!("--total={COUNT}"));
    let mut args = vec!["loggen", "-i", "-S", "-U", "-Q", "--perf", "--stamp", &cert, &key, &total];
    args.extend(["-H2", "--proxy-src-ip=192.0.2.7", "--active-connections=3"]);
    args.extend(more);
    args.extend(["127.0.0.1", &port]);
    let outcome = run_command(&args);
    assert_eq!(outcome.code, Some(0), "{outcome:?}\n{}", penstock.log());
    wait_until("all messages", || lab.lines("out").len() == COUNT);
    let start = format!("rfc3164+{transport} 192.0.2.7 ");
    assert!(lab.lines("out").iter().all(|line| line.starts_with(&start)), "{}", lab.lines("out")[0]);
    penstock.wait_settled(COUNT as u64).assert_nothing_lost();
    penstock.stop();
}

#[test]
fn a_header_inside_the_session() {
    through_tls("proxied-tls", &[]);
}

#[test]
fn a_header_before_the_session() {
    through_tls("proxied-tls-passthrough", &["--proxied-tls-passthrough"]);
}

/// Each datagram says for itself whom it comes from.
#[test]
fn datagrams_of_a_balancer_are_those_of_its_clients() {
    let lab = Lab::new();
    let text = config("proxied-udp", "").replace("%tcp:in%", "%udp:in%");
    let mut penstock = Penstock::start(&lab, &text);
    let balancer = std::net::UdpSocket::bind("127.0.0.1:0").expect("a socket");
    balancer.connect(("127.0.0.1", lab.port("in"))).expect("an address");
    let mut two = b"\r\n\r\n\0\r\nQUIT\n\x21\x12\0\x0c".to_vec();
    two.extend([192, 0, 2, 9, 192, 0, 2, 8, 0x10, 0xe1, 2, 2]);
    two.extend(message(1, 0).bytes());
    let local = [b"\r\n\r\n\0\r\nQUIT\n\x20\0\0\0", message(2, 0).as_bytes()].concat();
    let datagrams = [
        [HEADER, message(0, 0).as_bytes()].concat(),
        two,
        // For itself, and to see whether somebody listens.
        local,
        b"\r\n\r\n\0\r\nQUIT\n\x20\0\0\0".to_vec(),
        // Nobody knows whose these are.
        message(3, 0).into_bytes(),
        b"PROXY TCP4 192.0.2.7".to_vec(),
        [HEADER, message(0, 1).as_bytes()].concat(),
    ];
    for datagram in &datagrams {
        balancer.send(datagram).expect("a datagram");
    }
    wait_until("all messages", || lab.lines("out").len() == 4);
    let lines = lab.lines("out");
    let from = |start: &str| {
        lines.iter().filter(|line| line.starts_with(&format!("rfc3164+proxied-udp {start}"))).count()
    };
    assert_eq!(from("192.0.2.7 4321 192.0.2.8 514 127.0.0.1 "), 2, "{lines:?}");
    assert_eq!(from("192.0.2.9 4321 192.0.2.8 514 127.0.0.1 "), 1, "{lines:?}");
    assert_eq!(from("127.0.0.1 "), 1, "{lines:?}");
    let ledger = penstock.wait_settled(6);
    ledger.assert_balanced();
    assert_eq!(ledger.dropped_for("framing"), 2);
    // What came without a header can be looked at.
    let state = lab.path("state").display().to_string();
    let outcome = testkit::run_command(&["tap", "--dropped", "framing", "--past", "--state-dir", &state]);
    let lost = format!("s#0 framing: {}\ns#0 framing: PROXY TCP4 192.0.2.7\n", message(3, 0));
    assert_eq!(outcome.stdout, lost, "{outcome:?}");
    assert!(penstock.stop().contains("Cannot tell whom a proxy sends for, the datagram is dropped"));
}
