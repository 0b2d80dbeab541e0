mod contained;

use crate::testing::{HEAD, Running, errors, free_port, wait_until};
use engine::ledger::Reason;
use std::io::{Read, Write};
use std::net::{TcpStream, UdpSocket};

const LAYOUT: &str = "${HOST}|${PROGRAM}|${SOURCEIP}|${IP_PROTO}|${PROTO}|${TRANSPORT}|${TAGS}|${MSG}";

fn config(source: &str) -> String {
    format!(
        "{HEAD}source s {{ {source} }};\ndestination d {{ file(\"%dir%/out\" template(\"{LAYOUT}\\n\")); }};\n\
         log {{ source(s); destination(d); flags(flow-control); }};\n"
    )
}

fn line(message: &str) -> String {
    format!("<13>Nov 11 01:02:03 h app: {message}\n")
}

fn tcp(port: u16, text: &str) -> TcpStream {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("connect");
    stream.write_all(text.as_bytes()).expect("write");
    stream
}

fn udp(port: u16, text: &str) {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("bind");
    socket.send_to(text.as_bytes(), ("127.0.0.1", port)).expect("send");
}

#[test]
fn tcp_and_udp_on_one_port() {
    let port = free_port();
    let running = Running::start(&config(&format!(
        "network(ip(127.0.0.1) port({port})); udp(ip(127.0.0.1) port({port}) tags(u));"
    )));
    tcp(port, &line("one"));
    assert_eq!(running.wait_lines("out", 1), ["h|app|127.0.0.1|4|6|rfc3164+tcp|.source.s|one"]);
    udp(port, &line("two"));
    assert_eq!(running.wait_lines("out", 2)[1], "h|app|127.0.0.1|4|17|rfc3164+udp|.source.s,u|two");
}

#[test]
fn ipv4_in_ipv6_is_ipv4() {
    if UdpSocket::bind("[::1]:0").is_err() {
        return;
    }
    let port = free_port();
    let running = Running::start(&config(&format!(
        "network(ip-protocol(6) port({port})); network(ip-protocol(6) transport(udp) port({port}));"
    )));
    tcp(port, &line("t4"));
    running.wait_lines("out", 1);
    udp(port, &line("u4"));
    running.wait_lines("out", 2);
    let mut stream = TcpStream::connect(("::1", port)).expect("connect");
    stream.write_all(line("t6").as_bytes()).expect("write");
    let lines = running.wait_lines("out", 3);
    assert!(lines[0].starts_with("h|app|127.0.0.1|4|6|"), "{lines:?}");
    assert!(lines[1].starts_with("h|app|127.0.0.1|4|17|"), "{lines:?}");
    assert!(lines[2].starts_with("h|app|::1|6|6|"), "{lines:?}");
}

#[test]
fn without_dns_and_keep_hostname_the_sender_is_its_number() {
    let port = free_port();
    let running = Running::start(&config(&format!(
        "network(ip(127.0.0.1) port({port}) keep-hostname(no)); udp(ip(127.0.0.1) port({port}) keep-hostname(no));"
    )));
    tcp(port, &line("one"));
    running.wait_lines("out", 1);
    udp(port, &line("two"));
    assert!(running.wait_lines("out", 2).iter().all(|l| l.starts_with("127.0.0.1|app|")));
}

/// The name comes from the system's resolver, whatever it says; the message must come through all the same,
/// and soon.
#[test]
fn a_connection_waits_for_its_name_only_so_long() {
    let port = free_port();
    let source = format!("network(ip(127.0.0.1) port({port}) keep-hostname(no) use-dns(yes));");
    let running = Running::start(&config(&source));
    tcp(port, &line("one"));
    assert!(running.wait_lines("out", 1)[0].ends_with("|one"));
}

#[test]
fn octet_counting_and_a_frame_that_is_none() {
    let port = free_port();
    let running = Running::start(&config(&format!("syslog(ip(127.0.0.1) port({port}));")));
    let good = "<13>1 2025-11-11T01:02:03Z h app - - - one";
    let mut stream = tcp(port, &format!("{} {good}garbage", good.len()));
    assert!(matches!(stream.read(&mut [0]), Ok(0) | Err(_)), "the connection is closed");
    let lines = running.wait_lines("out", 1);
    assert_eq!(lines, ["h|app|127.0.0.1|4|6|rfc6587|.source.s|one"]);
    let counters = &running.source("s#0").counters;
    wait_until("the account", || counters.dropped.value(Reason::Framing) == 1);
    assert_eq!((counters.received.value(), counters.routed.value()), (2, 1));
}

#[test]
fn a_reload_keeps_connections_and_changes_what_is_done_with_them() {
    let port = free_port();
    let source = |options: &str| config(&format!("network(ip(127.0.0.1) port({port}) {options});"));
    let mut running = Running::start(&source(""));
    let mut stream = tcp(port, &line("one"));
    running.wait_lines("out", 1);
    stream.write_all(b"<13>Nov 11 01:02:03 h app: tw").expect("write");
    running.reload(&source("program-override(new)")).expect("reload");
    stream.write_all(b"o\n").expect("the same connection");
    assert!(running.wait_lines("out", 2)[1].starts_with("h|new|"));
    running.reload(&source("log-msg-size(1000)")).expect("reload");
    wait_until("the connection to be closed", || stream.write_all(b"\n").is_err());
    tcp(port, &line("three"));
    running.wait_lines("out", 3);
}

#[test]
fn a_port_in_use_leaves_what_ran_running() {
    let (port, taken) = (free_port(), std::net::TcpListener::bind("127.0.0.1:0").expect("bind"));
    let mut running = Running::start(&config(&format!("network(ip(127.0.0.1) port({port}));")));
    let mut stream = tcp(port, &line("one"));
    running.wait_lines("out", 1);
    let other = taken.local_addr().expect("address").port();
    let text = config(&format!("network(ip(127.0.0.1) port({other}));"));
    let error = running.reload(&text).expect_err("somebody has the port");
    assert!(error.contains("another program has it"), "{error}");
    // The old listener was closed to try; its address is open again.
    wait_until("the old address", || {
        // The first connection may have been closed with it.
        let _ = stream.write_all(line("two").as_bytes());
        TcpStream::connect(("127.0.0.1", port)).is_ok()
    });
}

#[test]
fn several_sockets_on_one_port() {
    let port = free_port();
    let one = |name: &str| format!("udp(ip(127.0.0.1) port({port}) so-reuseport(yes) persist-name({name}));");
    let running = Running::start(&config(&format!("{}{}{}", one("a"), one("b"), one("c"))));
    (0..60).for_each(|n| udp(port, &line(&n.to_string())));
    assert_eq!(running.wait_lines("out", 60).len(), 60);
    let used = (0..3).filter(|n| running.source(&format!("s#{n}")).counters.received.value() > 0).count();
    assert!(used > 1, "sixty senders all went to one of three sockets");
    let same = config(&format!("udp(ip(127.0.0.1) port({port}));").repeat(2));
    assert!(errors(&same).contains("persist-name"));
}

#[test]
fn a_multicast_group_is_joined_where_interface_says() {
    let port = free_port();
    let source = format!("network(transport(udp) ip(239.255.77.88) port({port}) interface(lo));");
    let mut running = Running::idle();
    match running.reload(&config(&source)) {
        // Binding to an interface may need a privilege.
        Err(error) if error.contains("not permitted") => return,
        outcome => outcome.expect("multicast"),
    }
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::DGRAM, None).expect("socket");
    socket.set_multicast_if_v4(&std::net::Ipv4Addr::LOCALHOST).expect("interface");
    let to: std::net::SocketAddr = ([239, 255, 77, 88], port).into();
    wait_until("a datagram to the group", || {
        socket.send_to(line("all").as_bytes(), &to.into()).expect("send");
        running.text("out").contains("|all")
    });
}

/// What a hostile sender of datagrams can try: nothing, everything, much.
#[test]
fn datagrams_of_every_kind() {
    let port = free_port();
    let running = Running::start(&config(&format!("udp(ip(127.0.0.1) port({port}) log-msg-size(2000));")));
    let socket = UdpSocket::bind("127.0.0.1:0").expect("bind");
    socket.connect(("127.0.0.1", port)).expect("connect");
    let all: Vec<u8> = (0..=255).collect();
    for datagram in
        [b"".as_slice(), b"\n", b"\0\0\0", &all, b"<", b"<13>", b"<99999999999>x", b"<13>1 - - - - - ["]
    {
        socket.send(datagram).expect("send");
    }
    for _ in 0..200 {
        socket.send(b"").expect("send");
    }
    socket.send(&[b'y'; 60_000]).expect("send");
    socket.send(line("last").as_bytes()).expect("send");
    wait_until("the last one", || running.text("out").contains("|last"));
    let counters = &running.source("s#0").counters;
    assert_eq!(counters.truncated.value(), 1);
    assert!(!running.text("out").contains(&"y".repeat(2001)));
    assert_eq!(counters.received.value(), counters.routed.value());
}

#[test]
fn what_the_kernel_drops_is_in_the_ledger() {
    let port = free_port();
    // A window of one message and flow-control: most of a burst finds the receive buffer full, also while the
    // source may not read.
    let text = format!(
        "{HEAD}source s {{ udp(ip(127.0.0.1) port({port}) so-rcvbuf(4096) log-iw-size(1)); }};\n\
         destination d {{ file(\"%dir%/out\"); }};\nlog {{ source(s); destination(d); flags(flow-control); }};\n"
    );
    let running = Running::start(&text);
    let socket = UdpSocket::bind("127.0.0.1:0").expect("bind");
    socket.connect(("127.0.0.1", port)).expect("connect");
    const SENT: u64 = 20_000;
    for n in 0..SENT {
        socket.send(line(&n.to_string()).as_bytes()).expect("send");
    }
    let counters = &running.source("s#0").counters;
    let lost = || counters.dropped.value(Reason::Kernel) + counters.dropped.value(Reason::NoCredit);
    let settled = || counters.routed.value() + lost();
    wait_until("every datagram in the books", || settled() == SENT);
    assert_eq!(counters.received.value(), SENT);
}

#[test]
fn characters_of_another_encoding_in_large_pieces() {
    let port = free_port();
    let source = format!("network(ip(127.0.0.1) port({port}) encoding(\"iso-8859-2\"));");
    let running = Running::start(&config(&source));
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("connect");
    let mut text = Vec::new();
    for n in 0..20_000 {
        text.extend_from_slice(b"<13>Nov 11 01:02:03 h app: \xe1rv\xedz ");
        text.extend_from_slice(n.to_string().as_bytes());
        text.push(b'\n');
    }
    stream.write_all(&text).expect("write");
    let lines = running.wait_lines("out", 20_000);
    assert!(lines.iter().enumerate().all(|(n, l)| l.ends_with(&format!("|árvíz {n}"))));
}

#[test]
fn wrong_addresses_are_errors_with_a_remedy() {
    for (source, expected) in [
        ("network(ip(\"::1\"))", "add ip-protocol(6)"),
        ("tcp6(ip(127.0.0.1))", "write an IPv6 address"),
        ("udp(port(no-such-service))", "write the port as a number"),
        ("network(transport(tls))", "add `tls(key-file"),
        ("network(tls(key-file(\"x\")))", "write transport(\"tls\")"),
    ] {
        let found = errors(&config(&format!("{source};")));
        assert!(found.contains(expected), "{source}: {found}");
    }
}
