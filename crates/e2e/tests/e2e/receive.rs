//! Every kind of source, into a file.

use crate::messages::{HEAD, assert_complete, block, line, message};
use std::io::Write;
use std::process::Stdio;
use testkit::{Lab, Penstock, Sender, Signal, wait_until};

const TO_FILE: &str =
    "destination d { file(\"%dir%/out\"); };\nlog { source(s); destination(d); flags(flow-control); };\n";

fn config(source: &str) -> String {
    format!("{HEAD}source s {{ {source} }};\n{TO_FILE}")
}

/// Runs `send` against a configuration with this source; the lines of the file afterwards.
#[track_caller]
fn receive(source: &str, messages: u64, send: impl FnOnce(&Lab)) -> Vec<String> {
    let lab = Lab::new();
    let mut penstock = Penstock::start(&lab, &config(source));
    send(&lab);
    penstock.wait_settled(messages).assert_nothing_lost();
    penstock.stop();
    lab.lines("out")
}

fn send_lines(mut sender: Sender) {
    (0..3).for_each(|n| sender.line(&message(0, n)));
    sender.finish();
}

fn three_lines() -> Vec<String> {
    (0..3).map(|n| line(0, n)).collect()
}

#[test]
fn network_tcp() {
    let lines =
        receive("network(ip(127.0.0.1) port(%tcp:in%));", 3, |lab| send_lines(Sender::tcp(lab.port("in"))));
    assert_eq!(lines, three_lines());
}

#[test]
fn network_udp() {
    let lines = receive("network(ip(127.0.0.1) port(%udp:in%) transport(udp));", 3, |lab| {
        send_lines(Sender::udp(lab.port("in")));
    });
    assert_eq!(lines, three_lines());
}

#[test]
fn tcp_and_udp_by_their_old_names() {
    let lines = receive("tcp(ip(127.0.0.1) port(%tcp:in%)); udp(ip(127.0.0.1) port(%udp:in%));", 6, |lab| {
        send_lines(Sender::tcp(lab.port("in")));
        let mut sender = Sender::udp(lab.port("in"));
        (0..3).for_each(|n| sender.line(&message(1, n)));
        sender.finish();
    });
    assert_complete(&lines, 2, 3);
}

#[test]
fn ipv6_and_mapped_addresses() {
    if std::net::TcpListener::bind("[::1]:0").is_err() {
        return testkit::skip("no IPv6 here");
    }
    let lines = receive("tcp6(port(%tcp:in%));", 6, |lab| {
        let port = lab.port("in");
        send_lines(Sender::tcp_to(([0, 0, 0, 0, 0, 0, 0, 1], port).into()));
        let mut sender = Sender::tcp(port);
        (0..3).for_each(|n| sender.line(&message(1, n)));
        sender.finish();
    });
    assert_complete(&lines, 2, 3);
}

#[test]
fn syslog_with_octet_counts() {
    let lines = receive("syslog(ip(127.0.0.1) port(%tcp:in%));", 3, |lab| {
        let mut sender = Sender::tcp(lab.port("in"));
        for n in 0..3 {
            sender.octets(
                format!("<13>1 2025-11-11T01:02:03Z host0 app 0 - - message number {n} of connection 0")
                    .as_bytes(),
            );
        }
        sender.finish();
    });
    assert_eq!(lines, three_lines());
}

#[test]
fn syslog_over_udp() {
    let lines = receive("syslog(ip(127.0.0.1) port(%udp:in%) transport(udp));", 1, |lab| {
        let mut sender = Sender::udp(lab.port("in"));
        sender.line("<13>1 2025-11-11T01:02:03Z host0 app 0 - - message number 0 of connection 0");
        sender.finish();
    });
    assert_eq!(lines, [line(0, 0)]);
}

#[test]
fn framing_is_found_per_connection() {
    let lines = receive("network(ip(127.0.0.1) port(%tcp:in%) transport(auto));", 6, |lab| {
        send_lines(Sender::tcp(lab.port("in")));
        let mut sender = Sender::tcp(lab.port("in"));
        (0..3).for_each(|n| sender.octets(message(1, n).as_bytes()));
        sender.finish();
    });
    assert_complete(&lines, 2, 3);
}

#[test]
fn bytes_one_at_a_time() {
    let lines = receive("network(ip(127.0.0.1) port(%tcp:in%));", 3, |lab| {
        let mut sender = Sender::tcp(lab.port("in"));
        block(0, 3).bytes().for_each(|byte| sender.raw(&[byte]));
        sender.finish();
    });
    assert_eq!(lines, three_lines());
}

#[test]
fn the_last_line_needs_no_newline() {
    let lines = receive("network(ip(127.0.0.1) port(%tcp:in%));", 1, |lab| {
        let mut sender = Sender::tcp(lab.port("in"));
        sender.raw(message(0, 0).as_bytes());
        sender.finish();
    });
    assert_eq!(lines, [line(0, 0)]);
}

#[test]
fn unix_stream() {
    let lines = receive("unix-stream(\"%unix:in%\" flags(expect-hostname));", 3, |lab| {
        send_lines(Sender::unix_stream(&lab.path("in")));
    });
    assert_eq!(lines, three_lines());
}

#[test]
fn unix_dgram() {
    let lines = receive("unix-dgram(\"%unix:in%\" flags(expect-hostname));", 3, |lab| {
        send_lines(Sender::unix_dgram(&lab.path("in")));
    });
    assert_eq!(lines, three_lines());
}

#[test]
fn unix_sockets_have_the_permissions_asked_for() {
    use std::os::unix::fs::PermissionsExt;
    let lab = Lab::new();
    let config = config("unix-stream(\"%unix:default%\"); unix-dgram(\"%unix:own%\" perm(0600));");
    let _penstock = Penstock::start(&lab, &config);
    let mode = |name: &str| std::fs::metadata(lab.path(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("default"), mode("own")), (0o666, 0o600));
}

#[test]
fn standard_input_to_its_end() {
    let lab = Lab::new();
    let config = config("stdin(flags(exit-on-eof));");
    let mut penstock = Penstock::configure(&lab, &config).stdin(Stdio::piped()).spawned();
    let mut stdin = penstock.process().child().stdin.take().unwrap();
    stdin.write_all(block(0, 3).as_bytes()).unwrap();
    drop(stdin);
    assert!(penstock.wait_end().success());
    assert_eq!(lab.lines("out"), three_lines());
}

#[test]
fn named_pipe() {
    let lab = Lab::new();
    let mut penstock = Penstock::start(&lab, &config("pipe(\"%path:in%\" flags(expect-hostname));"));
    wait_until("the pipe", || lab.path("in").exists());
    let mut pipe = std::fs::OpenOptions::new().write(true).open(lab.path("in")).unwrap();
    pipe.write_all(block(0, 3).as_bytes()).unwrap();
    penstock.wait_settled(3).assert_nothing_lost();
    penstock.stop();
    assert_eq!(lab.lines("out"), three_lines());
}

#[test]
fn internal_messages() {
    let lab = Lab::new();
    let config = format!(
        "{HEAD}source s {{ internal(); }};\nsource n {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination d {{ file(\"%dir%/out\" template(\"${{FACILITY}} ${{PROGRAM}} ${{MSG}}\\n\")); }};\n\
         log {{ source(s); destination(d); }};\nlog {{ source(n); }};\n"
    );
    let penstock = Penstock::start(&lab, &config);
    Sender::tcp(lab.port("in")).finish();
    wait_until("the connection in the log", || {
        let text = lab.text("out");
        text.contains("syslog syslog-ng Syslog connection accepted; fd='")
            && text.contains("Syslog connection closed; fd='")
    });
    penstock.stop();
    assert!(lab.text("out").contains("syslog-ng starting up; version='"), "{}", lab.text("out"));
}

#[test]
fn generated_messages() {
    let lab = Lab::new();
    let mut penstock = Penstock::start(
        &lab,
        &config("example-msg-generator(num(5) freq(0.01) template(\"generated text\"));"),
    );
    penstock.wait_settled(5).assert_nothing_lost();
    penstock.stop();
    let lines = lab.lines("out");
    assert_eq!(lines.len(), 5);
    assert!(lines.iter().all(|l| l.ends_with("generated text")), "{lines:?}");
}

#[test]
fn connections_above_the_limit_are_closed() {
    let lab = Lab::new();
    let mut penstock =
        Penstock::start(&lab, &config("network(ip(127.0.0.1) port(%tcp:in%) max-connections(2));"));
    let port = lab.port("in");
    let mut kept: Vec<Sender> = (0..2).map(|_| Sender::tcp(port)).collect();
    for (n, sender) in kept.iter_mut().enumerate() {
        sender.line(&message(n, 0));
    }
    penstock.wait_settled(2);
    let mut third = Sender::tcp(port);
    third.wait_closed();
    penstock.wait_log("Number of allowed concurrent connections reached, rejecting connection;");
    kept.pop().unwrap().finish();
    wait_until("a place to be free", || {
        let mut sender = Sender::tcp(port);
        let sent = sender.try_raw(format!("{}\n", message(2, 0)).as_bytes()).is_ok();
        sent && lab.lines("out").iter().any(|l| *l == line(2, 0))
    });
    penstock.stop();
}

#[test]
fn idle_connections_are_closed_when_asked() {
    let lab = Lab::new();
    let mut penstock =
        Penstock::start(&lab, &config("network(ip(127.0.0.1) port(%tcp:in%) idle-timeout(1));"));
    let mut sender = Sender::tcp(lab.port("in"));
    sender.line(&message(0, 0));
    sender.wait_closed();
    penstock.wait_settled(1).assert_nothing_lost();
}

#[test]
fn text_in_another_encoding() {
    let lines = receive("network(ip(127.0.0.1) port(%tcp:in%) encoding(\"iso-8859-2\"));", 1, |lab| {
        let mut sender = Sender::tcp(lab.port("in"));
        sender.raw(b"<13>Nov 11 01:02:03 h a: \xe1rv\xedzt\xfbr\xf5\n");
        sender.finish();
    });
    assert_eq!(lines, ["Nov 11 01:02:03 h a: árvíztűrő"]);
}

/// Octet counts are of the bytes as they come, whatever becomes of them.
#[test]
fn counted_messages_in_another_encoding() {
    for (source, encoding) in [
        ("syslog(ip(127.0.0.1) port(%tcp:in%)", "iso-8859-2"),
        ("network(ip(127.0.0.1) port(%tcp:in%) transport(auto)", "iso-8859-2"),
        ("network(ip(127.0.0.1) port(%tcp:in%) transport(framed)", "CP852"),
    ] {
        let lines = receive(&format!("{source} encoding(\"{encoding}\"));"), 3, |lab| {
            let mut sender = Sender::tcp(lab.port("in"));
            let text: &[u8] = if encoding == "CP852" { b"\xfb\x8b" } else { b"\xfb\xf5" };
            for _ in 0..3 {
                sender.octets(&[b"<13>Nov 11 01:02:03 h a: ", text].concat());
            }
            sender.finish();
        });
        assert_eq!(lines, ["Nov 11 01:02:03 h a: űő"; 3], "{source} {encoding}");
    }
}

/// A byte order mark says what UTF-16 it is, also of what comes after a restart.
#[test]
fn a_file_of_big_endian_utf_16() {
    let lab = Lab::new();
    let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<u8>>();
    std::fs::write(lab.path("in"), utf16("\u{feff}első\nmáso")).unwrap();
    let config = config("file(\"%dir%/in\" flags(no-parse) encoding(\"UTF-16\"));")
        .replace("/out\")", "/out\" template(\"$MSG\\n\"))");
    let penstock = Penstock::start(&lab, &config);
    wait_until("the first line", || lab.lines("out") == ["első"]);
    penstock.stop();
    let mut file = std::fs::OpenOptions::new().append(true).open(lab.path("in")).unwrap();
    file.write_all(&utf16("dik\nharmadik\n")).unwrap();
    let penstock = Penstock::start(&lab, &config);
    wait_until("all lines", || lab.lines("out") == ["első", "második", "harmadik"]);
    penstock.stop();
}

/// The domain is this machine's, and no peer's.
#[test]
fn the_domain_of_this_machine() {
    let lab = Lab::new();
    let config = "@version: 4.11\noptions { use-fqdn(yes); custom-domain(\"example.com\"); use-dns(persist-only); \
                  dns-cache-hosts(\"%dir%/hosts\"); };\n\
                  source s { network(ip(127.0.0.1) port(%tcp:in%)); };\n\
                  destination d { file(\"%dir%/out\" template(\"$HOST $LOGHOST\\n\")); };\n\
                  log { source(s); destination(d); };\n";
    std::fs::write(lab.path("hosts"), "127.0.0.1 peer.example.org peer\n").unwrap();
    let mut penstock = Penstock::start(&lab, config);
    send_lines(Sender::tcp(lab.port("in")));
    penstock.wait_settled(3).assert_nothing_lost();
    penstock.reload_with(
        &lab,
        &config.replace("custom-domain(\"example.com\")", "custom-domain(\"example.net\")"),
    );
    send_lines(Sender::tcp(lab.port("in")));
    penstock.wait_settled(6).assert_nothing_lost();
    penstock.reload_with(&lab, &config.replace("use-fqdn(yes)", "use-fqdn(no)"));
    send_lines(Sender::tcp(lab.port("in")));
    penstock.wait_settled(9).assert_nothing_lost();
    penstock.stop();
    let lines = lab.lines("out");
    let name = lines[0].split([' ', '.']).nth(3).unwrap().to_owned();
    for (number, line) in lines.iter().enumerate() {
        let (host, loghost) = line.split_once(' ').unwrap();
        let (peer, domain) = match number / 3 {
            0 => ("peer.example.org", ".example.com"),
            1 => ("peer.example.org", ".example.net"),
            _ => ("peer", ""),
        };
        assert_eq!((host, loghost), (peer, format!("{name}{domain}").as_str()), "{lines:?}");
    }
}

#[test]
fn many_udp_senders() {
    let lines = receive("udp(ip(127.0.0.1) port(%udp:in%));", 20 * 20, |lab| {
        let port = lab.port("in");
        let mut senders: Vec<Sender> =
            (1..=20).map(|n| Sender::udp_from(&format!("127.0.1.{n}"), port)).collect();
        for number in 0..20 {
            for (n, sender) in senders.iter_mut().enumerate() {
                sender.line(&message(n, number));
            }
        }
    });
    assert_complete(&lines, 20, 20);
}

#[test]
fn what_the_kernel_dropped_is_in_the_ledger() {
    let lab = Lab::new();
    let config =
        config("network(ip(127.0.0.1) port(%udp:in%) transport(udp) so-rcvbuf(8192) so-reuseport(no));");
    let mut penstock = Penstock::start(&lab, &config);
    let port = lab.port("in");
    penstock.signal(Signal::STOP);
    let mut sender = Sender::udp(port);
    (0..2000).for_each(|n| sender.line(&message(0, n)));
    let mut lost = testkit::sockets::udp_drops(port);
    assert!(lost > 0, "the kernel dropped nothing");
    penstock.signal(Signal::CONT);
    // The kernel tells how many it dropped with the next datagram, which on a busy machine may be dropped
    // too.
    let mut sent = 2000;
    penstock.wait_ledger(|ledger| {
        lost = testkit::sockets::udp_drops(port);
        let missing = ledger.dropped_for("kernel") != lost;
        if missing {
            sender.line(&message(0, sent));
            sent += 1;
        }
        missing.then(|| format!("{lost} dropped by the kernel"))
    });
    penstock.wait_settled(sent as u64).assert_balanced();
    penstock.stop();
    assert_eq!(lab.lines("out").len() as u64, sent as u64 - lost);
}
