//! Kills, outages, reloads and take-overs under load; large objects in little memory.

use super::{WHOLE, assert_each_once, body, config, config_to, gzip};
use crate::kafka_source::assert_all;
use crate::take_over::take_over;
use std::collections::HashSet;
use testkit::s3::{MISSING, S3};
use testkit::{Collector, Lab, Penstock, Signal, skip, wait_until};

/// A destination that nobody listens at, until somebody does.
const OUT: &str = "network(\"127.0.0.1\" port(%port:out%) template(\"$MSG\\n\") time-reopen(1))";

fn size(lab: &Lab) -> u64 {
    lab.path("out").metadata().map_or(0, |of| of.len())
}

/// While objects come: 600 of 500 lines each, one behind the other in their names or not.
fn while_objects_come(server: &S3, act: impl FnOnce()) {
    std::thread::scope(|scope| {
        scope.spawn(|| server.put_many("%04d", 600, 500));
        act();
    });
}

#[test]
fn a_collector_that_is_killed_twenty_times_loses_nothing() {
    for options in ["", "when-read(delete)"] {
        let lab = Lab::new();
        let Some(server) = S3::start(&lab) else { return skip(MISSING) };
        let config = config(server.port(), &format!("{WHOLE} {options}"), "$MSG");
        let mut penstock = Penstock::start(&lab, &config);
        let mut kills = 0;
        while_objects_come(&server, || {
            for _ in 0..20 {
                let before = size(&lab);
                wait_until("some more", || size(&lab) > before || size(&lab) >= 300_000 * 10);
                penstock.signal(Signal::KILL);
                penstock.wait_end();
                kills += 1;
                penstock = Penstock::start(&lab, &config);
            }
        });
        // Some may be there twice while others are on their way, and a kill may have left the beginning of
        // a line.
        let number = |line: &String| line.strip_prefix("value ")?.parse::<u32>().ok();
        wait_until("all of it", || {
            let lines = lab.lines("out");
            lines.len() >= 300_000 && lines.iter().filter_map(number).collect::<HashSet<_>>().len() == 300_000
        });
        penstock.wait_settled_input().assert_nothing_lost();
        if !options.is_empty() {
            wait_until("all to be deleted", || server.names().is_empty());
        }
        let doubled = assert_all(&lab.lines("out"), 300_000);
        // What was on its way: a batch of each of four readers at most.
        assert!(doubled <= kills * 4 * 500, "{doubled} came twice");
        eprintln!("{kills} kills, {doubled} of 300000 twice {options}");
    }
}

#[test]
fn one_large_object_goes_on_where_it_was_after_kills() {
    for pack in [<[u8]>::to_vec as fn(&[u8]) -> Vec<u8>, gzip] {
        let lab = Lab::new();
        let Some(server) = S3::start(&lab) else { return skip(MISSING) };
        server.put(&[("a", &pack(&body(0, 1_000_000)))]);
        let config = config(server.port(), WHOLE, "$MSG");
        let mut kills = 0;
        let mut penstock = Penstock::start(&lab, &config);
        for _ in 0..5 {
            let before = size(&lab);
            if lab.lines("out").iter().any(|line| line == "value 999999") {
                break;
            }
            wait_until("some more", || size(&lab) > before);
            penstock.signal(Signal::KILL);
            penstock.wait_end();
            kills += 1;
            penstock = Penstock::start(&lab, &config);
        }
        wait_until("the last of it", || lab.lines("out").last().is_some_and(|line| line == "value 999999"));
        penstock.wait_settled_input().assert_nothing_lost();
        let doubled = assert_all(&lab.lines("out"), 1_000_000);
        // What was written and not noted: a few pieces.
        assert!(doubled <= kills * 50_000, "{doubled} came twice");
        eprintln!("{kills} kills, {doubled} of 1000000 twice");
    }
}

#[test]
fn a_server_that_is_killed_over_and_over_costs_time_only() {
    let lab = Lab::new();
    let Some(mut server) = S3::start(&lab) else { return skip(MISSING) };
    server.put_many("%04d", 200, 5000);
    let mut penstock = Penstock::start(&lab, &config(server.port(), WHOLE, "$MSG"));
    for _ in 0..5 {
        let before = size(&lab);
        wait_until("some more", || size(&lab) > before || before >= 12_888_890);
        server.kill();
        server.run();
    }
    penstock.wait_settled(1_000_000).assert_nothing_lost();
    assert_each_once(&lab.lines("out"), 1_000_000);
}

#[test]
fn reloads_and_take_overs_under_load_lose_and_double_nothing() {
    let lab = Lab::new();
    let Some(server) = S3::start(&lab) else { return skip(MISSING) };
    let with =
        |threads: usize| config(server.port(), &format!("{WHOLE} download-threads({threads})"), "$MSG");
    let mut penstock = Penstock::start(&lab, &with(4));
    let more = || {
        let before = size(&lab);
        wait_until("some more", || size(&lab) > before || before >= 300_000 * 10);
    };
    while_objects_come(&server, || {
        // The first changes nothing.
        for threads in [4, 3, 2, 4] {
            more();
            penstock.reload_with(&lab, &with(threads));
        }
    });
    let mut taken = Some(penstock);
    std::thread::scope(|scope| {
        scope.spawn(|| server.put_many("x%04d", 600, 500));
        for _ in 0..3 {
            more();
            taken = taken.take().map(|old| take_over(&lab, old, &with(4)));
        }
    });
    wait_until("all of it", || lab.lines("out").len() >= 600_000);
    taken.iter_mut().for_each(|penstock| penstock.wait_settled_input().assert_nothing_lost());
    let found = lab.lines("out");
    assert_eq!(found.len(), 600_000);
    // Each number is in two objects.
    assert_eq!(assert_all(&found, 300_000), 300_000);
}

/// Kilobytes that the process has.
fn memory(penstock: &Penstock) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", penstock.id())).expect("a status");
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).expect("a line");
    line.split_whitespace().nth(1).and_then(|n| n.parse().ok()).expect("a number")
}

#[test]
fn large_objects_take_little_memory_however_slow_the_destination() {
    let lab = Lab::new();
    let Some(server) = S3::start(&lab) else { return skip(MISSING) };
    // Much more than that when it is unpacked: a gigabyte each.
    let line = [b"value 1 ", &[b'x'; 1000][..], b"\n"].concat();
    let million: Vec<u8> = line.iter().copied().cycle().take(line.len() * 50_000).collect();
    let packed = gzip(&million);
    let large: Vec<u8> = packed.iter().copied().cycle().take(packed.len() * 20).collect();
    for name in ["1", "2", "3", "4", "5", "6"] {
        server.put(&[(name, &large)]);
    }
    server.put(&[("0", &million)]);
    let config = config_to(server.port(), WHOLE, OUT);
    let mut penstock = Penstock::start(&lab, &config);
    let before = memory(&penstock);
    penstock.wait_ledger(|ledger| (ledger.waiting() < 1000).then(|| "much under way".to_owned()));
    let mut last = 0;
    wait_until("nothing more to be read", || {
        let now = penstock.ledger().received();
        std::mem::replace(&mut last, now) == now
    });
    assert!(penstock.ledger().received() < 100_000, "{}", penstock.ledger());
    let grown = memory(&penstock) - before;
    assert!(grown < 100 << 10, "{grown} kB");
    eprintln!("{grown} kB more, {last} messages under way");
    let collector = Collector::tcp(lab.port("out"));
    wait_until("much of it", || penstock.ledger().destination("d").delivered > 60_000);
    drop(collector);
    let grown = memory(&penstock) - before;
    assert!(grown < 100 << 10, "{grown} kB");
}
