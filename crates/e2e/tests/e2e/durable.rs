//! disk-buffer(): what waits on disk survives the end of the program and comes once, in order; the ledger
//! balances all the time.

use crate::messages::{HEAD, assert_complete, block, line, message, send, wait_waiting};
use testkit::{Collector, Lab, Penstock, Sender, wait_until, wait_while_some};

const RELIABLE: &str = "disk-buffer(capacity-bytes(1GiB) reliable(yes))";
const NORMAL: &str = "disk-buffer(capacity-bytes(1GiB))";
const FLOW_CONTROL: &str = "flags(flow-control);";

fn config(destination: &str, flags: &str) -> String {
    format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination d {{ {destination} }};\nlog {{ source(s); destination(d); {flags} }};\n"
    )
}

fn to_network(disk_buffer: &str) -> String {
    format!("network(127.0.0.1 port(%port:out%) {disk_buffer});")
}

/// The sum of a metric over all its labels.
fn metric(penstock: &Penstock, name: &str) -> u64 {
    let text = penstock.request("STATS PROMETHEUS");
    let begin = format!("syslogng_{name}{{");
    let values =
        text.lines().filter(|line| line.starts_with(&begin)).filter_map(|line| line.rsplit(' ').next());
    values.map(|value| value.parse::<f64>().unwrap_or_else(|e| panic!("{name}: {value}: {e}")) as u64).sum()
}

/// Waits until so many messages are on disk, and everything given to the disk is written.
#[track_caller]
pub fn wait_on_disk(penstock: &Penstock, count: u64) {
    wait_while_some(|| {
        let (there, pending) =
            (metric(penstock, "disk_queue_events"), metric(penstock, "disk_log_pending_bytes"));
        (there != count || pending != 0)
            .then(|| format!("{count} messages on disk, there are {there}, {pending} bytes pending"))
    });
}

pub fn kill(mut penstock: Penstock) {
    penstock.process().child().kill().expect("it runs");
    penstock.wait_end();
}

#[test]
fn a_kill_costs_nothing_of_what_is_on_disk() {
    const COUNT: usize = 200_000;
    let lab = Lab::new();
    let config = config(&to_network(RELIABLE), FLOW_CONTROL);
    let penstock = Penstock::start(&lab, &config);
    send(&lab, 0, COUNT);
    wait_on_disk(&penstock, COUNT as u64);
    penstock.ledger().assert_balanced();
    kill(penstock);

    let mut penstock = Penstock::start(&lab, &config);
    let ledger = penstock.ledger();
    ledger.assert_balanced();
    assert_eq!((ledger.destination("d").received, ledger.waiting()), (COUNT as u64, COUNT as u64));
    assert!(penstock.request("LEDGER JSON").contains(&format!("\"recovered\":{COUNT}")));
    let collector = Collector::tcp(lab.port("out"));
    assert_complete(&collector.wait_lines(COUNT), 1, COUNT);
    let ledger = wait_waiting(&mut penstock, 0);
    ledger.assert_nothing_lost();
    penstock.stop();

    // Nothing is left of it.
    let penstock = Penstock::start(&lab, &config);
    assert_eq!(penstock.ledger().destination("d").received, 0);
}

#[test]
fn a_clean_end_keeps_what_is_in_memory_only() {
    const COUNT: usize = 3000;
    let lab = Lab::new();
    let config = config(&to_network(NORMAL), "");
    let collector = Collector::tcp(lab.port("out"));
    collector.pause();
    let penstock = Penstock::start(&lab, &config);
    // More than the sockets take: some of it is with the peer, one message in half, the rest in memory.
    let mut sender = Sender::tcp(lab.port("in"));
    let long = "x".repeat(4000);
    for n in 0..COUNT {
        sender.line(&format!("{} {long}", message(0, n)));
    }
    wait_until("everything received", || penstock.ledger().received() == COUNT as u64);
    let waiting = penstock.ledger().waiting();
    assert!(waiting > 0, "the sockets have taken it all");
    collector.resume();
    drop(sender);
    penstock.stop();
    let got = collector.lines().len();

    let penstock = Penstock::start(&lab, &config);
    let lines = collector.wait_lines(COUNT);
    assert!(got <= COUNT);
    let numbers: Vec<String> =
        lines.iter().map(|l| l.trim_end_matches(&long).trim_end().to_owned()).collect();
    assert_complete(&numbers, 1, COUNT);
    penstock.stop();
}

#[test]
fn a_dead_destination_and_a_clean_end_without_reliable() {
    const COUNT: usize = 5000;
    let lab = Lab::new();
    let config = config(&to_network(NORMAL), "");
    let mut penstock = Penstock::start(&lab, &config);
    send(&lab, 0, COUNT);
    wait_waiting(&mut penstock, COUNT).assert_balanced();
    penstock.stop();
    let mut penstock = Penstock::start(&lab, &config);
    let collector = Collector::tcp(lab.port("out"));
    assert_complete(&collector.wait_lines(COUNT), 1, COUNT);
    wait_waiting(&mut penstock, 0).assert_nothing_lost();
}

/// About 20,000 messages of 60 bytes are more than this.
const SMALL: &str = "capacity-bytes(1MiB)";

#[test]
fn beyond_the_capacity_messages_without_flow_control_are_dropped_and_counted() {
    const COUNT: u64 = 40_000;
    for mode in ["reliable(yes)", "flow-control-window-size(100)"] {
        let lab = Lab::new();
        let config = config(&to_network(&format!("disk-buffer({SMALL} {mode})")), "");
        let mut penstock = Penstock::start(&lab, &config);
        // The first message finds that nobody is there.
        send(&lab, 0, 1);
        penstock.wait_log("Syslog connection failed");
        penstock
            .wait_ledger(|l| (l.destination("d").received == 0).then(|| "the first has not come".to_owned()));
        send(&lab, 1, COUNT as usize);
        let ledger = penstock.wait_ledger(|l| {
            let row = l.destination("d");
            (row.received != COUNT + 1 || row.dropped == 0).then(|| "all received, some dropped".to_owned())
        });
        ledger.assert_balanced();
        let kept = ledger.destination("d").waiting;
        assert_eq!(ledger.dropped_for("queue-full"), COUNT + 1 - kept, "{mode}");
        assert!((10_000..25_000).contains(&kept), "{mode}: {kept} of 1 MiB");
        let collector = Collector::tcp(lab.port("out"));
        let lines = collector.wait_lines(kept as usize);
        let expected: Vec<String> = (0..kept as usize - 1).map(|n| message(1, n)).collect();
        assert_eq!(lines[0], message(0, 0), "{mode}");
        let wrong = lines[1..].iter().zip(&expected).find(|(line, expected)| line != expected);
        assert_eq!(wrong, None, "{mode}: the oldest are kept, in order");
        wait_waiting(&mut penstock, 0).assert_balanced();
    }
}

#[test]
fn beyond_the_capacity_flow_control_holds_the_source_and_nothing_is_lost() {
    const COUNT: usize = 150_000;
    for mode in ["reliable(yes)", "", "reliable(yes) flow-control-window-bytes(500KiB)"] {
        let lab = Lab::new();
        let config = config(&to_network(&format!("disk-buffer({SMALL} {mode})")), FLOW_CONTROL);
        let mut penstock = Penstock::start(&lab, &config);
        let mut sender = Sender::tcp(lab.port("in"));
        let sending = std::thread::spawn(move || {
            // More than the disk part, the windows and the sockets take.
            sender.raw(block(0, COUNT).as_bytes());
            sender.finish();
        });
        penstock
            .wait_ledger(|l| (l.waiting() < 15_000).then(|| "a full buffer".to_owned()))
            .assert_balanced();
        let collector = Collector::tcp(lab.port("out"));
        assert_complete(&collector.wait_lines(COUNT), 1, COUNT);
        sending.join().expect("the sender");
        penstock.wait_settled(COUNT as u64).assert_nothing_lost();
    }
}

/// Sends `count` messages of a kilobyte over UDP, a few hundred ahead of what is received.
fn send_datagrams(lab: &Lab, penstock: &Penstock, count: usize) {
    let mut sender = Sender::udp(lab.port("datagrams"));
    let long = "x".repeat(1000);
    for n in 0..count {
        sender.line(&format!("{} {long}", message(0, n)));
        if n % 100 == 99 {
            wait_until("datagrams to be received", || penstock.ledger().received() + 200 > n as u64);
        }
    }
}

/// It takes something all the time, and so would hold its sources back for ever if that were all that counts.
#[test]
fn a_slow_destination_holds_nobody_back_with_room_on_disk() {
    const COUNT: usize = 12_000;
    for buffer in [NORMAL, RELIABLE] {
        let lab = Lab::new();
        let config = format!(
            "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
             source u {{ network(ip(127.0.0.1) transport(udp) port(%udp:datagrams%)); }};\n\
             destination d {{ {} }};\nlog {{ source(s); source(u); destination(d); }};\n",
            to_network(buffer),
        );
        let collector = Collector::tcp(lab.port("out"));
        collector.read_slowly(20_000);
        let mut penstock = Penstock::start(&lab, &config);
        send_datagrams(&lab, &penstock, COUNT);
        send(&lab, 1, 100_000);
        let all = COUNT + 100_000;
        wait_until("everything received", || penstock.ledger().received() == all as u64);
        let ledger = penstock.ledger();
        ledger.assert_balanced();
        assert!(ledger.waiting() > all as u64 / 4, "{} wait: it was not slow", ledger.waiting());
        collector.resume();
        collector.wait_lines(all);
        wait_waiting(&mut penstock, 0).assert_nothing_lost();
        let lines = collector.lines();
        let (long, short): (Vec<_>, Vec<_>) = lines.into_iter().partition(|line| line.ends_with("xxx"));
        let long: Vec<String> = long.iter().map(|l| l.trim_end_matches('x').trim_end().to_owned()).collect();
        assert_complete(&long, 1, COUNT);
        assert_complete(&short, 1, 100_000);
        penstock.stop();
    }
}

#[test]
fn a_reload_keeps_what_waits_and_its_layout() {
    const COUNT: usize = 10_000;
    for disk_buffer in [RELIABLE, NORMAL] {
        let lab = Lab::new();
        let with = |template: &str| {
            config(&to_network(&format!("{disk_buffer} template(\"{template} $MSG\\n\")")), "")
        };
        let mut penstock = Penstock::start(&lab, &with("old"));
        send(&lab, 0, COUNT);
        wait_waiting(&mut penstock, COUNT);
        penstock.reload_with(&lab, &with("new"));
        let ledger = penstock.ledger();
        ledger.assert_balanced();
        assert_eq!(ledger.destination("d").waiting, COUNT as u64);
        send(&lab, 0, COUNT);
        let collector = Collector::tcp(lab.port("out"));
        let lines = collector.wait_lines(2 * COUNT);
        let (old, new) = lines.split_at(COUNT);
        assert!(old.iter().all(|l| l.starts_with("old ")) && new.iter().all(|l| l.starts_with("new ")));
        assert_complete(old, 1, COUNT);
        assert_complete(new, 1, COUNT);
        wait_waiting(&mut penstock, 0).assert_nothing_lost();
    }
}

#[test]
fn what_waits_goes_along_when_it_is_kept_elsewhere() {
    const COUNT: usize = 3000;
    let lab = Lab::new();
    let with = |dir: &str, more: &str| {
        let disk_buffer = format!("disk-buffer(capacity-bytes(1GiB) reliable(yes) {dir}) {more}");
        config(&to_network(&disk_buffer), FLOW_CONTROL)
    };
    let mut penstock = Penstock::start(&lab, &with("", ""));
    send(&lab, 0, COUNT);
    wait_on_disk(&penstock, COUNT as u64);
    for (dir, more) in
        [("dir(\"%dir%/a\")", ""), ("dir(\"%dir%/a\")", "persist-name(p)"), ("", "persist-name(q)")]
    {
        penstock.reload_with(&lab, &with(dir, more));
        wait_on_disk(&penstock, COUNT as u64);
    }
    kill(penstock);
    // The next start knows as well where it was.
    let mut penstock = Penstock::start(&lab, &with("dir(\"%dir%/b\")", "persist-name(p)"));
    assert_eq!(penstock.ledger().waiting(), COUNT as u64);
    let collector = Collector::tcp(lab.port("out"));
    assert_complete(&collector.wait_lines(COUNT), 1, COUNT);
    wait_waiting(&mut penstock, 0).assert_nothing_lost();
    penstock.stop();
}

#[test]
fn the_rest_of_a_queue_without_disk_buffer_goes_along_too() {
    const COUNT: usize = 3000;
    let lab = Lab::new();
    let with = |options: &str| config(&to_network(options), FLOW_CONTROL);
    let elsewhere = with(&format!("{RELIABLE} persist-name(q)"));
    let mut penstock = Penstock::start(&lab, &with(RELIABLE));
    send(&lab, 0, COUNT);
    wait_on_disk(&penstock, COUNT as u64);
    // What waits on disk is sent first, from where it is; what comes now waits in memory behind it.
    penstock.reload_with(&lab, &with(""));
    send(&lab, 1, COUNT);
    wait_waiting(&mut penstock, 2 * COUNT).assert_balanced();
    penstock.reload_with(&lab, &elsewhere);
    wait_on_disk(&penstock, 2 * COUNT as u64);
    kill(penstock);
    let mut penstock = Penstock::start(&lab, &elsewhere);
    assert_eq!(penstock.ledger().waiting(), 2 * COUNT as u64);
    let collector = Collector::tcp(lab.port("out"));
    assert_complete(&collector.wait_lines(2 * COUNT), 2, COUNT);
    wait_waiting(&mut penstock, 0).assert_nothing_lost();
    penstock.stop();
}

#[test]
fn reloads_while_messages_come_and_go_lose_and_double_nothing() {
    const COUNT: usize = 60_000;
    for disk_buffer in [RELIABLE, NORMAL] {
        let lab = Lab::new();
        let with = |n: usize| {
            config(&to_network(&format!("{disk_buffer} log-fifo-size({})", 10_000 + n)), FLOW_CONTROL)
        };
        let collector = Collector::tcp(lab.port("out"));
        let mut penstock = Penstock::start(&lab, &with(0));
        let mut sender = Sender::tcp(lab.port("in"));
        let sending = std::thread::spawn(move || {
            for n in 0..COUNT {
                sender.line(&message(0, n));
            }
            sender.finish();
        });
        let mut reloads = 0;
        while !sending.is_finished() {
            reloads += 1;
            penstock.reload_with(&lab, &with(reloads));
            penstock.ledger().assert_balanced();
        }
        sending.join().expect("the sender");
        assert!(reloads > 0);
        let lines = collector.wait_lines(COUNT);
        // A connection per configuration: each in order, and they follow one another.
        assert_complete(&lines, 1, COUNT);
        penstock.stop();
    }
}

#[test]
fn destinations_that_write_the_same_share_it_on_disk() {
    const COUNT: usize = 50_000;
    let lab = Lab::new();
    let five: String = (0..5)
        .map(|n| format!("network(127.0.0.1 port(%port:out{n}%) persist-name(\"d{n}\") {RELIABLE});"))
        .collect();
    let config = config(&five, FLOW_CONTROL);
    let penstock = Penstock::start(&lab, &config);
    send(&lab, 0, COUNT);
    wait_on_disk(&penstock, 5 * COUNT as u64);
    let bytes = block(0, COUNT).len() as u64;
    let written = metric(&penstock, "disk_log_written_bytes_total");
    // Besides the messages, 24 bytes each and what is written for itself.
    assert!(written < 2 * bytes + (8 << 20), "{written} bytes were written for {bytes}");
    kill(penstock);
    let mut penstock = Penstock::start(&lab, &config);
    let collectors: Vec<Collector> = (0..5).map(|n| Collector::tcp(lab.port(&format!("out{n}")))).collect();
    for collector in &collectors {
        assert_complete(&collector.wait_lines(COUNT), 1, COUNT);
    }
    wait_waiting(&mut penstock, 0).assert_nothing_lost();
}

#[test]
fn files_wait_on_disk_too() {
    const COUNT: usize = 2000;
    for disk_buffer in [RELIABLE, NORMAL] {
        let lab = Lab::new();
        let one = config(&format!("file(\"%dir%/gone/out\" {disk_buffer});"), "");
        let mut penstock = Penstock::start(&lab, &one);
        send(&lab, 0, COUNT);
        wait_waiting(&mut penstock, COUNT);
        penstock.stop();
        let mut penstock = Penstock::start(&lab, &one);
        assert_eq!(penstock.ledger().waiting(), COUNT as u64);
        std::fs::create_dir(lab.path("gone")).expect("a folder");
        wait_waiting(&mut penstock, 0).assert_nothing_lost();
        let lines: Vec<String> = lab.text("gone/out").lines().map(str::to_owned).collect();
        assert_eq!(lines, (0..COUNT).map(|n| line(0, n)).collect::<Vec<_>>());
    }
}

#[test]
fn files_by_host_go_on_without_another_message_for_them() {
    let lab = Lab::new();
    let config = config(&format!("file(\"%dir%/gone/$HOST\" {RELIABLE});"), "");
    let mut penstock = Penstock::start(&lab, &config);
    for connection in 0..3 {
        send(&lab, connection, 500);
    }
    wait_waiting(&mut penstock, 1500);
    wait_on_disk(&penstock, 1500);
    kill(penstock);
    std::fs::create_dir(lab.path("gone")).expect("a folder");
    let mut penstock = Penstock::start(&lab, &config);
    wait_waiting(&mut penstock, 0).assert_nothing_lost();
    for connection in 0..3 {
        let text = lab.text(&format!("gone/host{connection}"));
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        assert_eq!(lines, (0..500).map(|n| line(connection, n)).collect::<Vec<_>>());
    }
}

#[test]
fn a_destination_that_is_gone_leaves_its_messages_on_disk_and_finds_them_again() {
    const COUNT: usize = 1000;
    let lab = Lab::new();
    let with = config(&to_network(RELIABLE), "");
    let without = config("file(\"%dir%/other\");", "");
    let mut penstock = Penstock::start(&lab, &with);
    send(&lab, 0, COUNT);
    wait_waiting(&mut penstock, COUNT);
    penstock.reload_with(&lab, &without);
    penstock.wait_log("Messages wait on disk for a destination that the configuration does not have");
    assert_eq!(penstock.ledger().waiting(), 0);
    penstock.reload_with(&lab, &with);
    let collector = Collector::tcp(lab.port("out"));
    assert_complete(&collector.wait_lines(COUNT), 1, COUNT);
    wait_waiting(&mut penstock, 0).assert_nothing_lost();
}

#[test]
fn what_was_acknowledged_is_never_lost_however_often_it_is_killed() {
    const COUNT: usize = 300_000;
    let lab = Lab::new();
    let sender_lab = Lab::new();
    let out = Collector::tcp(lab.port("out"));
    let receiver = format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) transport(rltp) port(%tcp:rltp%)); }};\n\
         destination d {{ {} }};\nlog {{ source(s); destination(d); {FLOW_CONTROL} }};\n",
        to_network(RELIABLE)
    );
    let mut penstock = Penstock::start(&lab, &receiver);
    let sender = Penstock::start(
        &sender_lab,
        &config(
            &format!("network(127.0.0.1 transport(rltp) port({}) time-reopen(0.1));", lab.port("rltp")),
            FLOW_CONTROL,
        ),
    );
    let port = sender_lab.port("in");
    let sending = std::thread::spawn(move || {
        let mut sender = Sender::tcp(port);
        sender.raw(block(0, COUNT).as_bytes());
        sender.finish();
    });
    for part in 1..=3 {
        let enough = COUNT / 5 * part;
        wait_until("some of it to come", || out.lines().len() >= enough);
        kill(penstock);
        penstock = Penstock::start(&lab, &receiver);
    }
    sending.join().expect("the sender");
    let seen = || {
        let mut seen = vec![false; COUNT];
        for line in out.lines() {
            let number = line.split(' ').nth(7).and_then(|n| n.parse::<usize>().ok());
            if let Some(place) = number.and_then(|n| seen.get_mut(n)) {
                *place = true;
            }
        }
        seen
    };
    wait_while_some(|| {
        let missing = seen().iter().filter(|seen| !**seen).count();
        (missing > 0).then(|| format!("the last {missing} messages"))
    });
    penstock.ledger().assert_balanced();
    drop(sender);
}
