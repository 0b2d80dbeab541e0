//! Many TLS connections: thousands at once, storms of handshakes, peers that stop in the middle of theirs.

use crate::messages::HEAD;
use crate::tls::prepared;
use testkit::{Lab, Penstock, Sender, run_command, wait_until};

fn config(max_connections: usize, more: &str) -> String {
    format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%) transport(\"tls\") max-connections({max_connections}) {more}\n\
         tls(key-file(\"%dir%/server.key\") cert-file(\"%dir%/server.pem\") peer-verify(no))); }};\n\
         destination d {{ file(\"%dir%/out\"); }};\nlog {{ source(s); destination(d); flags(flow-control); }};\n"
    )
}

/// Sends through so many connections at once and says what went wrong.
#[track_caller]
fn load(port: u16, connections: usize, total: usize) {
    let (connections, total) = (format!("--active-connections={connections}"), format!("--total={total}"));
    let port = port.to_string();
    let outcome = run_command(&[
        "loggen",
        "-i",
        "-S",
        "-U",
        "-Q",
        "--perf",
        "--stamp",
        &connections,
        &total,
        "127.0.0.1",
        &port,
    ]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
}

#[test]
fn two_thousand_at_once() {
    const CONNECTIONS: usize = 2000;
    const COUNT: usize = 20_000;
    let lab = Lab::new();
    prepared(&lab);
    let mut penstock = Penstock::start(&lab, &config(CONNECTIONS + 10, ""));
    load(lab.port("in"), CONNECTIONS, COUNT);
    penstock.wait_settled(COUNT as u64).assert_nothing_lost();
    wait_until("all lines", || lab.lines("out").len() == COUNT);
    let out = lab.path("out").display().to_string();
    let (connections, number) =
        (format!("--expect-connections={CONNECTIONS}"), format!("--expect-number={COUNT}"));
    let verified = run_command(&["loggen", "verify", &out, &connections, &number]);
    assert_eq!(verified.code, Some(0), "{verified:?}");
    let log = penstock.stop();
    assert!(
        !log.contains("TLS handshake failed") && !log.contains("rejecting connection"),
        "somebody was refused"
    );
}

/// Several hundred handshakes from several sides while one connection sends: none is refused, and nothing is
/// lost on either.
#[test]
fn a_storm_of_handshakes_beside_a_busy_connection() {
    const SIDES: usize = 4;
    const STORM: usize = 125;
    const COUNT: usize = 50_000;
    let lab = Lab::new();
    prepared(&lab);
    let mut penstock = Penstock::start(&lab, &config(SIDES * STORM + 10, ""));
    let port = lab.port("in");
    std::thread::scope(|scope| {
        let busy = scope.spawn(|| load(port, 1, COUNT));
        let storm: Vec<_> = (0..SIDES).map(|_| scope.spawn(|| load(port, STORM, STORM))).collect();
        storm.into_iter().for_each(|side| side.join().expect("the storm"));
        busy.join().expect("the busy one");
    });
    let all = COUNT + SIDES * STORM;
    penstock.wait_settled(all as u64).assert_nothing_lost();
    wait_until("all lines", || lab.lines("out").len() == all);
    let log = penstock.stop();
    assert!(!log.contains("TLS handshake failed"), "none is refused");
    assert_eq!(times_said(&log, "TLS session established"), SIDES * STORM + 1);
}

/// How often the program had something to say: the lines, and those it counted instead.
fn times_said(log: &str, text: &str) -> usize {
    let withheld = format!("Messages suppressed; message='{text}', count='");
    let counts = log
        .lines()
        .filter_map(|line| line.split_once(&withheld)?.1.split('\'').next()?.parse::<usize>().ok());
    log.matches(&format!("{text};")).count() + counts.sum::<usize>()
}

/// Peers that come and go, with good handshakes and bad ones, cost some lines and one with the number of the
/// others.
#[test]
fn lines_of_sessions_are_limited_and_counted() {
    const GOOD: usize = 300;
    const BAD: usize = 300;
    let lab = Lab::new();
    prepared(&lab);
    let mut penstock = Penstock::start(&lab, &config(GOOD + 10, ""));
    let port = lab.port("in");
    load(port, GOOD, GOOD);
    penstock.wait_settled(GOOD as u64).assert_nothing_lost();
    for _ in 0..BAD {
        let mut sender = Sender::tcp(port);
        sender.raw(b"220 log.example.com ready\r\n");
        sender.wait_closed();
    }
    let log = penstock.stop();
    for (text, times) in [("TLS session established", GOOD), ("TLS handshake failed", BAD)] {
        assert_eq!(times_said(&log, text), times, "{text}");
        // They may take more than one window of ten seconds on a slow machine.
        assert!(log.matches(&format!("{text};")).count() < times, "{text}");
    }
}

/// Peers that connect and stop at each step of the handshake: others are served meanwhile, and they are
/// closed in time.
#[test]
fn stalled_handshakes_hold_nobody_up() {
    const STALLED: usize = 60;
    let lab = Lab::new();
    prepared(&lab);
    let mut penstock = Penstock::start(&lab, &config(200, ""));
    let port = lab.port("in");
    // Nothing; the head of a record; half a hello.
    let steps: [&[u8]; 3] = [b"", &[22, 3, 1], &[22, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3, 1, 2, 3]];
    let mut stalled: Vec<Sender> = (0..STALLED)
        .map(|n| {
            let mut sender = Sender::tcp(port);
            sender.raw(steps[n % steps.len()]);
            sender
        })
        .collect();
    wait_until("all of them to be there", || {
        penstock.log().matches("Syslog connection accepted").count() == STALLED
    });
    load(port, 3, 300);
    penstock.wait_settled(300);
    assert!(!penstock.log().contains("it was not over in time"), "they are all still there");
    stalled.iter_mut().for_each(Sender::wait_closed);
    wait_until("their reasons", || penstock.log().matches("it was not over in time").count() == STALLED);
    penstock.stop();
}
