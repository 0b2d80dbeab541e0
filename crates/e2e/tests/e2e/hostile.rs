//! Bad peers: each costs itself its connection, never the process, never other peers' messages.

use crate::messages::{HEAD, line, message};
use std::net::TcpStream;
use testkit::{Lab, Penstock, Sender, wait_until};

/// One port for lines, one for octet counts, small limits.
fn start(lab: &Lab) -> Penstock {
    let config = format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:lines%) max-connections(10100));\n\
         network(ip(127.0.0.1) port(%tcp:nuls%) transport(text-with-nuls));\n\
         syslog(ip(127.0.0.1) port(%tcp:octets%) max-connections(100)); network(ip(127.0.0.1) port(%udp:udp%) transport(udp)); }};\n\
         destination d {{ file(\"%dir%/out\"); }};\nlog {{ source(s); destination(d); flags(flow-control); }};\n"
    );
    Penstock::start(lab, &config)
}

/// A well-behaved peer is served at once and completely.
#[track_caller]
fn assert_others_are_served(lab: &Lab) {
    let mut sender = Sender::tcp(lab.port("lines"));
    sender.line(&message(99, 0));
    sender.finish();
    wait_until("the message of a good peer", || lab.lines("out").contains(&line(99, 0)));
}

/// Megabytes the process has in memory.
fn resident_mib(penstock: &Penstock) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", penstock.id())).unwrap();
    let line = status.lines().find(|l| l.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
}

#[test]
fn a_gibibyte_without_a_newline() {
    let lab = Lab::new();
    let penstock = start(&lab);
    let port = lab.port("lines");
    let sending = std::thread::spawn(move || {
        let mut sender = Sender::tcp(port);
        let piece = vec![b'x'; 1 << 20];
        for _ in 0..1024 {
            if sender.try_raw(&piece).is_err() {
                return;
            }
        }
        sender.finish();
    });
    assert_others_are_served(&lab);
    sending.join().unwrap();
    assert!(resident_mib(&penstock) < 400, "{} MiB", resident_mib(&penstock));
    assert_others_are_served(&lab);
    penstock.ledger().assert_balanced();
    penstock.stop();
}

#[test]
fn octet_counts_that_are_none() {
    let lab = Lab::new();
    let mut penstock = start(&lab);
    for text in [
        "99999999999999999999 <13>x",
        "4294967296 <13>x",
        "1000000000 <13>x",
        "abc <13>x",
        "-5 <13>x",
        " 5 <13>x",
        "12",
    ] {
        let mut sender = Sender::tcp(lab.port("octets"));
        sender.octets(b"<13>1 2025-01-01T00:00:00Z h a - - - before");
        // The peer may already have been thrown out.
        let _ = sender.try_raw(text.as_bytes());
        if text != "12" {
            sender.wait_closed();
        }
    }
    penstock
        .wait_ledger(|ledger| (ledger.destination("d").delivered < 7).then(|| "what came before".to_owned()));
    assert_others_are_served(&lab);
    penstock.ledger().assert_balanced();
    assert_eq!(lab.text("out").matches("before").count(), 7);
    penstock.stop();
}

#[test]
fn half_a_frame_and_silence() {
    let lab = Lab::new();
    let penstock = start(&lab);
    let mut half: Vec<Sender> = (0..20).map(|_| Sender::tcp(lab.port("octets"))).collect();
    half.iter_mut().for_each(|sender| sender.raw(b"1000 <13>1 2025-01-01T00:00:00Z h a - - - half"));
    let mut begun: Vec<Sender> = (0..20).map(|_| Sender::tcp(lab.port("lines"))).collect();
    begun.iter_mut().for_each(|sender| sender.raw(b"<13>Nov 11 01:02:03 h a: begun"));
    assert_others_are_served(&lab);
    begun.into_iter().for_each(Sender::finish);
    wait_until("the begun lines", || lab.text("out").matches("begun").count() == 20);
    half.into_iter().for_each(Sender::finish);
    penstock.ledger().assert_balanced();
    penstock.stop();
}

#[test]
fn bytes_of_every_value() {
    let lab = Lab::new();
    let mut penstock = start(&lab);
    let all: Vec<u8> = (0..=255).filter(|b| *b != b'\n').collect();
    let mut sender = Sender::tcp(lab.port("lines"));
    for _ in 0..100 {
        sender.raw(&[b"<13>Nov 11 01:02:03 h a: ", all.as_slice(), b"\n"].concat());
        sender.raw(&[all.as_slice(), b"\n"].concat());
    }
    sender.finish();
    let mut sender = Sender::tcp(lab.port("nuls"));
    sender.raw(&[b"<13>Nov 11 01:02:03 h a: ", all.as_slice(), b"\n"].concat());
    sender.finish();
    let mut sender = Sender::tcp(lab.port("octets"));
    sender.octets(&all);
    sender.octets(&[0; 100]);
    sender.octets(b"");
    sender.finish();
    let mut sender = Sender::udp(lab.port("udp"));
    [all.as_slice(), &[0; 10], b"", b"<", b"<13>", b"<13>1", b"<13>1 - - - - - ["]
        .iter()
        .for_each(|d| sender.raw(d));
    sender.finish();
    assert_others_are_served(&lab);
    penstock.wait_settled_input().assert_balanced();
    penstock.stop();
    let bytes = std::fs::read(lab.path("out")).unwrap();
    let text = [b"a: ".as_slice(), &all].concat();
    assert!(bytes.windows(text.len()).any(|window| window == text), "the bytes are not what was sent");
}

#[test]
fn random_bytes_on_every_port() {
    let lab = Lab::new();
    let mut penstock = start(&lab);
    for seed in 1..=40u64 {
        let mut state = seed;
        let bytes: Vec<u8> = (0..20_000).map(|_| next_byte(&mut state)).collect();
        for port in ["lines", "octets"] {
            let mut sender = Sender::tcp(lab.port(port));
            let _ = sender.try_raw(&bytes);
        }
        let mut sender = Sender::udp(lab.port("udp"));
        bytes.chunks(1000).for_each(|piece| sender.raw(piece));
    }
    assert_others_are_served(&lab);
    let ledger = penstock.wait_settled_input();
    ledger.assert_balanced();
    assert_eq!(ledger.dropped_for("contained"), 0, "{ledger}");
    penstock.stop();
}

/// xorshift: the same bytes for the same seed.
fn next_byte(state: &mut u64) -> u8 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    (*state >> 32) as u8
}

#[test]
fn connections_that_send_nothing() {
    let lab = Lab::new();
    let count = match rustix::process::getrlimit(rustix::process::Resource::Nofile).current {
        // The rest is for the tests that run beside this one.
        Some(limit) => (limit - limit / 4).min(10_000) as usize,
        None => 10_000,
    };
    let penstock = start(&lab);
    let port = lab.port("lines");
    let silent: Vec<TcpStream> =
        (0..count).map(|_| TcpStream::connect(("127.0.0.1", port)).unwrap()).collect();
    assert_others_are_served(&lab);
    let before = resident_mib(&penstock);
    assert!(before < 64 + count as u64 / 10, "{before} MiB for {count} silent connections");
    drop(silent);
    assert_others_are_served(&lab);
    penstock.stop();
}

#[test]
fn a_peer_that_resets_in_the_middle() {
    let lab = Lab::new();
    let mut penstock = start(&lab);
    for n in 0..50 {
        let mut sender = Sender::tcp(lab.port("lines"));
        sender.raw(format!("{}\n<13>Nov 11 01:02:03 h a: cut", message(n, 0)).as_bytes());
        drop(sender);
    }
    wait_until("the whole lines", || (0..50).all(|n| lab.lines("out").contains(&line(n, 0))));
    assert_others_are_served(&lab);
    penstock.wait_settled_input().assert_balanced();
    penstock.stop();
}

#[test]
fn names_that_climb_out_of_the_folder() {
    let lab = Lab::new();
    std::fs::create_dir(lab.path("logs")).unwrap();
    let config = format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:lines%)); }};\n\
         destination d {{ file(\"%dir%/logs/${{HOST}}/${{PROGRAM}}.log\" create-dirs(yes)); }};\n\
         destination all {{ file(\"%dir%/out\"); }};\n\
         log {{ source(s); destination(all); destination(d); flags(flow-control); }};\n"
    );
    let mut penstock = Penstock::start(&lab, &config);
    let mut sender = Sender::tcp(lab.port("lines"));
    for host in ["..", "../..", "../../escaped", "a/../../escaped", "/etc", ".", "..\\..", "\u{2024}./x"] {
        sender.line(&format!("<13>Nov 11 01:02:03 {host} app: climbs"));
        sender.line(&format!("<13>Nov 11 01:02:03 good {host}: climbs"));
    }
    sender.line("<13>Nov 11 01:02:03 good app: stays");
    sender.finish();
    penstock.wait_settled(17).assert_balanced();
    penstock.stop();
    assert!(lab.path("logs/good/app.log").exists());
    // All files are below the literal prefix, but for those this test knows.
    let mut names: Vec<String> = std::fs::read_dir(lab.dir())
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["logs", "out", "penstock.conf", "penstock.log", "state"]);
    assert!(!lab.dir().parent().unwrap().join("escaped").exists());
    assert!(!lab.dir().parent().unwrap().join("app.log").exists());
}

/// Connections that say nothing take all places; the next one that has something to say is served all the
/// same.
#[test]
fn silent_connections_make_room() {
    let relp_open = b"1 open 30 relp_version=0\ncommands=syslog\n".as_slice();
    for (source, begin, end) in [
        ("network(ip(127.0.0.1) port(%tcp:in%) max-connections(10));", b"".as_slice(), false),
        ("network(ip(127.0.0.1) port(%tcp:in%) max-connections(10));", b"<13>a line without an end", false),
        ("syslog(ip(127.0.0.1) port(%tcp:in%) max-connections(10));", b"1", false),
        ("relp(ip(127.0.0.1) port(%tcp:in%) max-connections(10));", b"", true),
        ("relp(ip(127.0.0.1) port(%tcp:in%) max-connections(10));", relp_open, true),
    ] {
        let lab = Lab::new();
        let config = format!(
            "{HEAD}source s {{ {source} network(ip(127.0.0.1) port(%tcp:other%)); }};\n\
             destination d {{ file(\"%dir%/out\" template(\"$MSG\\n\")); }};\n\
             log {{ source(s); destination(d); flags(flow-control); }};\n"
        );
        let penstock = Penstock::start(&lab, &config);
        let speak = |number: usize| {
            let mut sender = Sender::tcp(lab.port("in"));
            let message = format!("<13>Oct 11 22:14:15 h app: m{number}");
            if end {
                sender.raw(relp_open);
                sender.raw(format!("2 syslog {} {message}\n", message.len()).as_bytes());
            } else if source.starts_with("syslog") {
                sender.octets(format!("<13>1 2025-01-01T00:00:00Z h app - - - m{number}").as_bytes());
            } else {
                sender.line(&message);
            }
            sender
        };
        // One has spoken: it stays, whatever comes.
        let mut first = speak(0);
        // A line without an end is a message too, once its connection is closed.
        let said = || lab.lines("out").into_iter().filter(|line| line.len() == 2).collect::<Vec<_>>();
        wait_until("the first message", || said() == ["m0"]);
        let silent: Vec<Sender> = (0..20)
            .map(|_| {
                let mut sender = Sender::tcp(lab.port("in"));
                sender.raw(begin);
                sender
            })
            .collect();
        let _second = speak(1);
        wait_until("the message of the next one", || said() == ["m0", "m1"]);
        // Of relp(), answers lie there.
        assert!(end || !first.is_closed(), "{source}");
        drop(silent);
        penstock.stop();
    }
}

/// A client of relp() that never opens its session does not stay, even where there is room.
#[test]
fn a_relp_client_that_never_opens_is_closed() {
    let lab = Lab::new();
    let config = format!(
        "{HEAD}source s {{ relp(ip(127.0.0.1) port(%tcp:in%) idle-timeout(1)); relp(ip(127.0.0.1) port(%tcp:ten%)); }};\n\
         destination d {{ file(\"%dir%/out\"); }};\nlog {{ source(s); destination(d); }};\n"
    );
    let mut penstock = Penstock::start(&lab, &config);
    let mut senders = ["in", "ten"].map(|port| Sender::tcp(lab.port(port)));
    senders.iter_mut().for_each(Sender::wait_closed);
    penstock.wait_log("it did not open a session in time");
    penstock.stop();
}
