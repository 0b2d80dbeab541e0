//! Every kind of destination that is not a file, and what happens when it goes away.

use crate::messages::{HEAD, assert_complete, block, line, message, send, send_until_stuck};
use testkit::{Collector, Lab, Penstock, Sender, wait_until};

fn config(destination: &str, flags: &str) -> String {
    format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination d {{ {destination} }};\nlog {{ source(s); destination(d); {flags} }};\n"
    )
}

const FLOW_CONTROL: &str = "flags(flow-control);";

fn messages(count: usize) -> Vec<String> {
    (0..count).map(|n| message(0, n)).collect()
}

#[test]
fn tcp() {
    let lab = Lab::new();
    let collector = Collector::tcp(lab.port("out"));
    let mut penstock = Penstock::start(&lab, &config("network(127.0.0.1 port(%port:out%));", FLOW_CONTROL));
    send(&lab, 0, 3);
    assert_eq!(collector.wait_lines(3), messages(3));
    penstock.wait_settled(3).assert_nothing_lost();
}

/// How many messages a write takes depends on no version: a stream has the same bytes at each, and with every
/// bound.
#[test]
fn tcp_at_every_version() {
    for (version, bound) in
        [("3.38", ""), ("4.11", ""), ("4.25", "flush-lines(1)"), ("4.26", ""), ("4.26", "flush-lines(1)")]
    {
        let lab = Lab::new();
        let collector = Collector::tcp(lab.port("out"));
        let destination = format!("network(127.0.0.1 port(%port:out%) {bound});");
        let config =
            config(&destination, FLOW_CONTROL).replace("@version: 4.11", &format!("@version: {version}"));
        let mut penstock = Penstock::start(&lab, &config);
        send(&lab, 0, 300);
        assert_eq!(collector.wait_lines(300), messages(300), "{version} {bound}");
        penstock.wait_settled(300).assert_nothing_lost();
    }
}

#[test]
fn udp() {
    let lab = Lab::new();
    let collector = Collector::udp(lab.port("out"));
    let mut penstock = Penstock::start(&lab, &config("udp(127.0.0.1 port(%port:out%));", FLOW_CONTROL));
    send(&lab, 0, 3);
    let lines: Vec<String> = collector.wait_lines(3).iter().map(|l| l.trim_end().to_owned()).collect();
    assert_eq!(lines, messages(3));
    penstock.wait_settled(3).assert_nothing_lost();
}

#[test]
fn syslog_over_tcp() {
    let lab = Lab::new();
    let collector = Collector::tcp(lab.port("out"));
    let mut penstock = Penstock::start(
        &lab,
        &config("syslog(127.0.0.1 port(%port:out%) transport(tcp) template(\"$MSG\"));", FLOW_CONTROL),
    );
    send(&lab, 0, 2);
    let frames = collector.wait_frames(2);
    assert!(frames[1].starts_with("<13>1 "), "{frames:?}");
    assert!(
        frames[1].trim_end().ends_with(" host0 app 0 - - message number 1 of connection 0"),
        "{frames:?}"
    );
    penstock.wait_settled(2).assert_nothing_lost();
}

#[test]
fn syslog_over_udp() {
    let lab = Lab::new();
    let collector = Collector::udp(lab.port("out"));
    let _penstock =
        Penstock::start(&lab, &config("syslog(127.0.0.1 port(%port:out%) transport(udp));", FLOW_CONTROL));
    send(&lab, 0, 1);
    let lines = collector.wait_lines(1);
    assert!(
        lines[0].starts_with("<13>1 ") && lines[0].contains(" host0 app 0 - - message number 0"),
        "{lines:?}"
    );
}

#[test]
fn local_sockets() {
    let lab = Lab::new();
    let stream = Collector::unix_stream(&lab.path("stream"));
    let dgram = Collector::unix_dgram(&lab.path("dgram"));
    let both = "unix-stream(\"%path:stream%\"); unix-dgram(\"%path:dgram%\");";
    let mut penstock = Penstock::start(&lab, &config(both, FLOW_CONTROL));
    send(&lab, 0, 3);
    assert_eq!(stream.wait_lines(3), messages(3));
    let lines: Vec<String> = dgram.wait_lines(3).iter().map(|l| l.trim_end().to_owned()).collect();
    assert_eq!(lines, messages(3));
    penstock.wait_settled(3).assert_nothing_lost();
}

#[test]
fn a_program() {
    let lab = Lab::new();
    let mut penstock = Penstock::start(&lab, &config("program(\"cat >> %dir%/out\");", FLOW_CONTROL));
    send(&lab, 0, 3);
    penstock.wait_settled(3).assert_nothing_lost();
    wait_until("the program's output", || lab.lines("out").len() == 3);
    assert_eq!(lab.lines("out"), (0..3).map(|n| line(0, n)).collect::<Vec<_>>());
    penstock.stop();
}

#[test]
fn a_named_pipe() {
    let lab = Lab::new();
    let mut penstock =
        Penstock::start(&lab, &config("pipe(\"%path:fifo%\" template(\"$MSG\\n\"));", FLOW_CONTROL));
    send(&lab, 0, 2);
    penstock.wait_settled(2).assert_nothing_lost();
    let reader = std::fs::OpenOptions::new().read(true).write(true).open(lab.path("fifo")).unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(reader));
    assert_eq!(lines.next().unwrap().unwrap(), "message number 0 of connection 0");
    assert_eq!(lines.next().unwrap().unwrap(), "message number 1 of connection 0");
}

#[test]
fn standard_output() {
    let lab = Lab::new();
    let mut penstock = Penstock::start(&lab, &config("stdout(template(\"out: $MSG\\n\"));", FLOW_CONTROL));
    send(&lab, 0, 2);
    penstock.wait_log("out: message number 1 of connection 0");
}

#[test]
fn the_stamp_of_a_relay_is_bsd_whatever_the_options_say() {
    let lab = Lab::new();
    let collector = Collector::tcp(lab.port("out"));
    let _penstock =
        Penstock::start(&lab, &config("network(127.0.0.1 port(%port:out%) ts-format(iso));", FLOW_CONTROL));
    send(&lab, 0, 1);
    assert_eq!(collector.wait_lines(1), messages(1));
}

#[test]
fn a_target_that_comes_later_gets_everything() {
    let lab = Lab::new();
    let mut penstock = Penstock::start(&lab, &config("network(127.0.0.1 port(%port:out%));", FLOW_CONTROL));
    let mut sender = Sender::tcp(lab.port("in"));
    sender.raw(block(0, 50).as_bytes());
    penstock.wait_log("Syslog connection failed;");
    penstock.wait_ledger(|ledger| (ledger.destination("d").waiting != 50).then(|| "50 waiting".to_owned()));
    let collector = Collector::tcp(lab.port("out"));
    assert_eq!(collector.wait_lines(50), messages(50));
    penstock.wait_settled(50).assert_nothing_lost();
}

#[test]
fn a_target_that_hangs_up_is_connected_again() {
    let lab = Lab::new();
    let collector = Collector::tcp(lab.port("out"));
    let mut penstock = Penstock::start(&lab, &config("network(127.0.0.1 port(%port:out%));", FLOW_CONTROL));
    let mut sender = Sender::tcp(lab.port("in"));
    sender.line(&message(0, 0));
    collector.wait_lines(1);
    collector.hang_up();
    // The program notices that the peer closed: nothing is written into a dead connection.
    wait_until("a second connection", || {
        sender.try_raw(b"").is_ok() && penstock.log().matches("Syslog connection established;").count() >= 2
    });
    sender.line(&message(0, 1));
    assert_eq!(collector.wait_lines(2), messages(2));
    penstock.wait_settled(2).assert_nothing_lost();
}

#[test]
fn failover_to_the_next_server() {
    for others in ["failover(servers(127.0.0.1))", "failover-servers(127.0.0.1)"] {
        let lab = Lab::new();
        let second = Collector::tcp(lab.port("out"));
        let destination = format!("network(127.0.0.9 port(%port:out%) {others});");
        let mut penstock = Penstock::start(&lab, &config(&destination, FLOW_CONTROL));
        send(&lab, 0, 3);
        assert_eq!(second.wait_lines(3), messages(3), "{others}");
        penstock.wait_settled(3).assert_nothing_lost();
    }
}

#[test]
fn a_slow_target_holds_the_sender_back_and_loses_nothing() {
    let lab = Lab::new();
    let collector = Collector::tcp(lab.port("out"));
    collector.pause();
    let mut penstock =
        Penstock::start(&lab, &config("network(127.0.0.1 port(%port:out%) so-sndbuf(8192));", FLOW_CONTROL));
    const COUNT: usize = 60_000;
    // The window is full: what has been read stands still although the sender has more.
    let (sending, received) = send_until_stuck(&lab, &penstock, COUNT);
    assert!((received as usize) < COUNT, "the source took all {COUNT} messages");
    penstock.ledger().assert_balanced();
    collector.resume();
    sending.join().unwrap();
    penstock.wait_settled(COUNT as u64).assert_nothing_lost();
    assert_complete(&collector.wait_lines(COUNT), 1, COUNT);
}

#[test]
fn without_flow_control_a_dead_target_costs_what_exceeds_the_queue() {
    let lab = Lab::new();
    let mut penstock = Penstock::start(
        &lab,
        &format!(
            "{}destination f {{ file(\"%dir%/out\"); }};\nlog {{ source(s); destination(f); }};\n",
            config("network(127.0.0.1 port(%port:out%) log-fifo-size(100));", "")
        ),
    );
    send(&lab, 0, 1000);
    let ledger = penstock.wait_ledger(|ledger| {
        let dead = ledger.destination("d");
        (dead.waiting + dead.dropped != 1000 || dead.waiting > 100)
            .then(|| "100 waiting, 900 dropped".to_owned())
    });
    ledger.assert_balanced();
    assert_eq!(ledger.destination("d").dropped, 900);
    assert_eq!(ledger.dropped_for("queue-full"), 900, "{ledger}");
    wait_until("the file, which has nothing to do with it", || lab.lines("out").len() == 1000);
    penstock.wait_log("dropping messages");
    // Whoever asks is told, and sees what waits in bytes.
    let health = penstock.request("HEALTHCHECK");
    assert!(health.contains("destination d#0 drops messages"), "{health}");
    let memory = |stats: &str| {
        let line =
            stats.lines().find(|line| line.starts_with("dst.network;") && line.contains(";memory_usage;"));
        line.and_then(|line| line.rsplit(';').next()?.parse::<usize>().ok())
            .expect("memory_usage of the destination")
    };
    let waiting = memory(&penstock.stats());
    let collector = Collector::tcp(lab.port("out"));
    let lines = collector.wait_lines(100);
    assert_eq!((lines.len(), waiting), (100, lines.iter().map(|line| line.len() + 1).sum()));
    penstock
        .wait_ledger(|ledger| (ledger.destination("d").waiting > 0).then(|| "nothing waiting".to_owned()));
    assert_eq!(memory(&penstock.stats()), 0);
}
