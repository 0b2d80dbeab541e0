//! Situations as they were seen, and what limits them.

use super::*;

fn summary() -> Summary {
    let destination = |id: &str, is_of_disk| DestinationSeen {
        id: id.into(),
        detail: "network tcp,h:601".into(),
        bytes_per_second: 12.3e6,
        stuck: 0.0,
        is_of_disk,
        queue: Queue::InMemory,
        error: None,
        starves: Vec::new(),
    };
    Summary {
        seconds: 10.0,
        busy: vec![Busy { ran: 0.1, queued: 0.0 }; 4],
        steps: vec![
            (Where { what: "step", label: "filter f_re".into(), location: "fw.conf:23:4".into() }, 0.3),
            (Where { what: "reads", label: "source s#0".into(), location: String::new() }, 0.1),
        ],
        stuck_step: None,
        names: Names::default(),
        others: BTreeMap::new(),
        causes: Causes { looks: 100, met: BTreeMap::new(), free: 100 },
        destinations: vec![destination("d#0", false), destination("d_file#0", true)],
        connections: vec![("s#0".into(), 8)],
        cost: 0.002,
    }
}

fn held(cause: Cause, count: u64) -> Summary {
    let causes = Causes { looks: 100, met: BTreeMap::from([(cause, count)]), free: 100 - count };
    Summary { causes, ..summary() }
}

#[track_caller]
fn check(summary: &Summary, kind: &str, name: &str, sentence: &str) {
    let verdict = summary.verdict();
    assert_eq!((verdict.kind, verdict.name.as_str()), (kind, name), "{}", verdict.sentence);
    assert!(verdict.sentence.contains(sentence), "{}", verdict.sentence);
}

#[test]
fn quiet_sources_limit_nothing() {
    check(&summary(), "nothing", "", "have nothing to do 90 % of the time");
}

#[test]
fn workers_that_are_busy_are_limited_by_cpu() {
    let busy = vec![Busy { ran: 0.5, queued: 0.45 }; 4];
    let full = Summary { busy, ..summary() };
    // Also where destinations hold the sources a little, as fast ones do.
    check(&full, "cpu", "filter f_re (fw.conf:23)", "limited by CPU, 15 % of it in filter f_re (fw.conf:23)");
}

#[test]
fn one_connection_has_one_worker() {
    let mut busy = vec![Busy { ran: 0.02, queued: 0.0 }; 4];
    busy[2] = Busy { ran: 0.97, queued: 0.0 };
    let one =
        Summary { busy: busy.clone(), connections: vec![("s#0".into(), 1), ("t#0".into(), 0)], ..summary() };
    check(&one, "connection", "s#0", "its worker is busy 97 % of the time and others are not");
    // With more of them, it is that worker's steps that take long.
    check(&Summary { busy, ..summary() }, "cpu", "filter f_re (fw.conf:23)", "limited by CPU");
}

#[test]
fn whoever_holds_a_source_limits_it() {
    let (source, id) = ("s#0".to_owned(), "d#0".to_owned());
    let slow = held(Cause::Destination { source: source.clone(), destination: id.clone() }, 90);
    check(&slow, "destination", "d#0", "its peer reads 12.3 MB/s, and s#0 is held back 90 % of the time");
    let mut refused = held(Cause::Destination { source: source.clone(), destination: id.clone() }, 100);
    refused.destinations[0].error = Some("h:601: refused".into());
    refused.destinations[0].bytes_per_second = 0.0;
    check(
        &refused,
        "destination",
        "d#0",
        "it takes nothing, and s#0 is held back 100 % of the time: h:601: refused",
    );
    let window = held(Cause::Window { source: source.clone(), destination: id.clone() }, 60);
    check(&window, "window", "s#0", "a larger log-iw-size()");
    let disk = held(Cause::Disk { source: source.clone(), destination: "d_file#0".into() }, 60);
    check(&disk, "disk", "d_file#0", "limited by the disk of d_file#0");
    check(&held(Cause::Memory { source: source.clone() }, 60), "memory", "s#0", "limited by memory");
    let seldom = held(Cause::Destination { source, destination: id }, 10);
    check(&seldom, "nothing", "", "quiet");
}

#[test]
fn workers_that_stand_in_a_write_wait_for_the_disk() {
    let mut slow = summary();
    slow.destinations[1].stuck = 0.4;
    check(&slow, "disk", "d_file#0", "workers stand in a write 40 % of their time");
}

#[test]
fn workers_that_wait_at_a_step_wait_for_somebody_else() {
    let at = Where { what: "step", label: "parser p_py".into(), location: "fw.conf:9:4".into() };
    let waits = Summary { stuck_step: Some((at, 0.9)), ..summary() };
    check(&waits, "step", "parser p_py (fw.conf:9)", "workers stand there 90 % of their time");
}

#[test]
fn senders_without_a_name_wait_for_dns() {
    let names = Names { part: 0.8, most: 1 };
    let waits = Summary { names, ..summary() };
    check(&waits, "dns", "", "limited by DNS: 1 connection is not read 80 % of the time");
    // What is busy is not limited by it.
    let busy = vec![Busy { ran: 0.95, queued: 0.0 }; 4];
    check(&Summary { names, busy, ..summary() }, "cpu", "filter f_re (fw.conf:23)", "limited by CPU");
}

#[test]
fn whoever_gets_nothing_meanwhile_is_named() {
    let mut slow = held(Cause::Destination { source: "s#0".into(), destination: "d#0".into() }, 90);
    slow.destinations[0].starves = vec!["d_fast#0".into()];
    check(&slow, "destination", "d#0", "90 % of the time; d_fast#0 gets nothing meanwhile");
}

#[test]
fn queues_and_rates_are_told_from_disks_and_peers() {
    let (source, destination) = ("s#0".to_owned(), "d#0".to_owned());
    let rate = held(Cause::Rate { source: source.clone(), destination: destination.clone() }, 90);
    check(&rate, "rate", "d#0", "limited by throttle() of d#0 (network tcp,h:601): it takes 12.3 MB/s");
    let mut slow = held(Cause::Disk { source: source.clone(), destination: destination.clone() }, 90);
    slow.destinations[0].queue = Queue::OnDisk { is_full: false };
    slow.destinations[0].error = Some("h:601: refused".into());
    check(
        &slow,
        "disk",
        "d#0",
        "limited by the disk on which the queue of d#0 (network tcp,h:601) is written",
    );
    assert!(!slow.verdict().sentence.contains("refused"));
    let mut full = held(Cause::Destination { source, destination }, 90);
    full.destinations[0].queue = Queue::OnDisk { is_full: true };
    check(&full, "destination", "d#0", "reads 12.3 MB/s, its queue on disk is full, and s#0");
}
