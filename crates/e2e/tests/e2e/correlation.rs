//! grouping-by() and group-lines() through the whole program: timeouts without messages, reloads under load,
//! the end.

use crate::messages::HEAD;
use testkit::{Lab, Penstock, Sender, wait_until};

const INPUT: &str = "source s { network(ip(127.0.0.1) port(%tcp:in%)); };\n";

fn config(parser: &str, rest: &str) -> String {
    format!(
        "{HEAD}{INPUT}parser p {{ {parser}; }};\n\
         destination d {{ file(\"%dir%/out\" template(\"${{PROGRAM}} ${{MSG}}\\n\")); }};\n\
         log {{ source(s); parser(p); destination(d); }};\n{rest}"
    )
}

fn message(program: usize, number: usize) -> String {
    format!("<13>Nov 11 01:02:03 host p{program}: {number}")
}

/// The messages that the made messages of a program say they hold, in the order of the file.
fn grouped(lines: &[String], program: usize) -> Vec<usize> {
    let of = lines.iter().filter_map(|line| line.strip_prefix(&format!("p{program} made ")));
    of.flat_map(|list| list.split(',').map(move |n| n.parse().unwrap_or_else(|_| panic!("{list}")))).collect()
}

/// Groups by program, ten messages or what there is when the time is over.
fn tens(timeout: u32) -> String {
    format!(
        "grouping-by(key(\"$PROGRAM\") timeout({timeout}) trigger(\"$(context-length)\" eq \"10\") inject-mode(aggregate-only) \
         aggregate(inherit-mode(none) value(\"PROGRAM\" \"${{PROGRAM}}@1\") \
         value(\"MESSAGE\" \"made $(grep 'not message(\\\"^made\\\") and not message(\\\"^$\\\")' $MSG)\")))"
    )
}

#[test]
fn the_clock_closes_groups() {
    let lab = Lab::new();
    let mut penstock = Penstock::start(&lab, &config(&tens(1), ""));
    let mut sender = Sender::tcp(lab.port("in"));
    (0..3).for_each(|n| sender.line(&message(0, n)));
    wait_until("the group", || !lab.lines("out").is_empty());
    assert_eq!(lab.lines("out"), ["p0 made 0,1,2"]);
    sender.line(&message(0, 3));
    wait_until("the next group", || lab.lines("out").len() == 2);
    let ledger = penstock.wait_settled(4);
    ledger.assert_nothing_lost();
    assert_eq!((ledger.source("s").filtered, ledger.destination("d").delivered), (4, 2));
    let made = ledger.sources.iter().find(|row| row.detail == "generated").expect("a row of what was made");
    assert_eq!(made.delivered, 2);
    penstock.stop();
    assert_eq!(lab.lines("out").len(), 2);
}

#[test]
fn open_groups_come_out_at_the_end() {
    let lab = Lab::new();
    let mut penstock = Penstock::start(&lab, &config(&tens(1000), ""));
    let mut sender = Sender::tcp(lab.port("in"));
    (0..12).for_each(|n| sender.line(&message(0, n)));
    (0..3).for_each(|n| sender.line(&message(1, n)));
    penstock.wait_settled(15);
    assert_eq!(lab.lines("out"), ["p0 made 0,1,2,3,4,5,6,7,8,9"]);
    penstock.stop();
    let lines = lab.lines("out");
    assert_eq!(
        (lines.len(), grouped(&lines, 0), grouped(&lines, 1)),
        (3, (0..12).collect(), (0..3).collect())
    );
}

#[test]
fn one_hot_connection_on_all_cores_keeps_the_order_of_its_groups() {
    const PROGRAMS: usize = 7;
    const COUNT: usize = 150_000;
    let lab = Lab::new();
    let costly = "rewrite { subst('([0-9]+)$', '$1', value('MESSAGE')); subst('^([0-9]+)', '$1', value('MESSAGE')); };\n\
                  filter { message('[0-9]+$') and not message('^(a|b|c)+$') and not message('x[0-9]+.*y'); };";
    let config = config(&tens(1000), "").replace("parser(p);", &format!("{costly} parser(p);"));
    let mut penstock = Penstock::configure(&lab, &config).arg("--worker-threads").arg("4").ready();
    let mut sender = Sender::tcp(lab.port("in"));
    let text: String = (0..COUNT).map(|n| message(n % PROGRAMS, n) + "\n").collect();
    sender.raw(text.as_bytes());
    penstock.wait_settled(COUNT as u64);
    let shared = penstock.request("STATS");
    let shared = shared.lines().find_map(|line| line.strip_prefix("global;shared_batches;;a;processed;"));
    assert!(shared.is_some_and(|n| n != "0"), "no batch went to another core: {shared:?}");
    penstock.stop();
    let lines = lab.lines("out");
    for program in 0..PROGRAMS {
        assert_eq!(grouped(&lines, program), (program..COUNT).step_by(PROGRAMS).collect::<Vec<_>>());
    }
}

#[test]
fn nothing_is_lost_over_reloads() {
    const PROGRAMS: usize = 7;
    const COUNT: usize = 10_000;
    let lab = Lab::new();
    let mut penstock = Penstock::start(&lab, &config(&tens(1000), ""));
    let port = lab.port("in");
    // Two connections, so that both workers are at it.
    let sending: Vec<_> = (0..2)
        .map(|half| {
            std::thread::spawn(move || {
                let mut sender = Sender::tcp(port);
                for from in (0..COUNT).step_by(500) {
                    let programs = (0..PROGRAMS).filter(|p| p % 2 == half);
                    let lines = programs.flat_map(|p| (from..from + 500).map(move |n| message(p, n) + "\n"));
                    sender.raw(lines.collect::<String>().as_bytes());
                }
                sender.finish();
            })
        })
        .collect();
    let mut rounds = 0;
    while sending.iter().any(|s| !s.is_finished()) || rounds < 3 {
        // Another destination, so that it is another program each time.
        penstock.reload_with(&lab, &config(&tens(1000), if rounds % 2 == 0 { "# changed\n" } else { "" }));
        rounds += 1;
    }
    sending.into_iter().for_each(|s| s.join().unwrap());
    penstock.wait_settled((PROGRAMS * COUNT) as u64).assert_nothing_lost();
    wait_until("all groups", || lab.lines("out").len() >= PROGRAMS * COUNT / 10);
    penstock.stop();
    let lines = lab.lines("out");
    assert_eq!(lines.len(), PROGRAMS * COUNT / 10);
    for program in 0..PROGRAMS {
        assert_eq!(
            grouped(&lines, program),
            (0..COUNT).collect::<Vec<_>>(),
            "in order, nothing twice: p{program}"
        );
    }
}

#[test]
fn a_parser_that_is_removed_closes_its_groups() {
    let lab = Lab::new();
    let mut penstock = Penstock::start(&lab, &config(&tens(1000), ""));
    let mut sender = Sender::tcp(lab.port("in"));
    (0..3).for_each(|n| sender.line(&message(0, n)));
    penstock.wait_settled(3);
    let other = tens(1000).replace("key(\"$PROGRAM\")", "key(\"$HOST\")");
    penstock.reload_with(&lab, &config(&other, ""));
    wait_until("the group", || lab.lines("out") == ["p0 made 0,1,2"]);
    penstock.ledger().assert_nothing_lost();
    penstock.stop();
}

#[test]
fn made_messages_come_out_of_internal() {
    let lab = Lab::new();
    let parser = "grouping-by(key(\"$PROGRAM\") timeout(1000) trigger(message(\"2\")) inject-mode(internal) \
                  aggregate(value(\"MESSAGE\" \"made of $(context-length)\")))";
    let internal = "source i { internal(); }; destination own { file(\"%dir%/own\" template(\"${SOURCE} ${PROGRAM} ${MSG}\\n\")); };\n\
                    log { source(i); destination(own); };\n";
    let mut penstock = Penstock::start(&lab, &config(parser, internal));
    let mut sender = Sender::tcp(lab.port("in"));
    (0..3).for_each(|n| sender.line(&message(0, n)));
    wait_until("the made message", || lab.lines("own").iter().any(|line| line == "i p0 made of 4"));
    penstock.wait_settled(3).assert_nothing_lost();
    assert_eq!(lab.lines("out").len(), 3);
    penstock.stop();
}

#[test]
fn lines_become_one_message() {
    let lab = Lab::new();
    let parser =
        "group-lines(key(\"$PROGRAM\") timeout(1000) multi-line-mode(indented) line-separator(\"|\"))";
    let mut penstock = Penstock::start(&lab, &config(parser, ""));
    let mut sender = Sender::tcp(lab.port("in"));
    for line in ["Exception", "  at a", "  at b", "next"] {
        sender.line(&format!("<13>Nov 11 01:02:03 host java: {line}"));
    }
    wait_until("the first", || lab.lines("out") == ["java Exception|  at a|  at b"]);
    penstock.wait_settled(4).assert_nothing_lost();
    penstock.stop();
    assert_eq!(lab.lines("out"), ["java Exception|  at a|  at b", "java next"]);
}
