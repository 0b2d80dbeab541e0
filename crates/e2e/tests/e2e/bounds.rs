//! Messages made to use up memory, time or tables: each costs itself at most, never its neighbours or those
//! who come later.

use crate::messages::HEAD;
use testkit::{Collector, Lab, Ledger, Penstock, Sender, wait_until};

/// Megabytes the process has in memory.
fn resident_mib(penstock: &Penstock) -> u64 {
    status_mib(penstock, "VmRSS:")
}

/// A row of the process's status, in megabytes.
fn status_mib(penstock: &Penstock, row: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", penstock.id())).unwrap();
    let line = status.lines().find(|l| l.starts_with(row)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
}

/// A million keys that no configuration knows leave no trace: later values have names, and new configurations
/// too.
#[test]
fn a_million_invented_keys() {
    let lab = Lab::new();
    let config = |more: &str| {
        format!(
            "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%) flags(no-parse)); }};\n\
             parser p {{ json-parser(prefix(\".j.\")); }};\n\
             destination d {{ file(\"%dir%/out\" template(\"$(format-json --subkeys .j.)\\n\")); }};\n\
             log {{ source(s); parser(p); destination(d); flags(flow-control); }};\n{more}"
        )
    };
    let mut penstock = Penstock::start(&lab, &config(""));
    let keys = |message: usize| -> String {
        let pairs: Vec<String> = (0..2000).map(|n| format!("\"key{message}x{n}\":{n}")).collect();
        format!("{{{}}}", pairs.join(","))
    };
    let mut sender = Sender::tcp(lab.port("in"));
    (0..50).for_each(|message| sender.line(&keys(message)));
    wait_until("the first keys", || lab.lines("out").len() == 50);
    let before = resident_mib(&penstock);
    (50..500).for_each(|message| sender.line(&keys(message)));
    sender.line("{\"later\":\"value\"}");
    sender.finish();
    wait_until("the last message", || lab.lines("out").len() == 501);
    let lines = lab.lines("out");
    assert!(lines[..500].iter().all(|line| line.matches("key").count() == 2000), "a key is missing");
    assert_eq!(lines[500], "{\"later\":\"value\"}");
    let after = resident_mib(&penstock);
    assert!(after < before + 64, "{before} MiB before, {after} MiB after");
    let names: String = (0..3000).map(|n| format!("set(\"{n}\" value(\"new{n}\"));")).collect();
    penstock.reload_with(&lab, &config(&format!("rewrite r {{ {names} }};\n")));
    penstock.ledger().assert_balanced();
    penstock.stop();
}

/// The same of tags that messages bring: a million of them, and later ones are still right.
#[test]
fn a_million_invented_tags() {
    let lab = Lab::new();
    let config = |more: &str| {
        format!(
            "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%) flags(no-parse)); }};\n\
             parser p {{ tags-parser(template(\"$MSG\")); }};\n\
             rewrite r {{ set-tag(\"made-$(length $MSG)\"); }};\n\
             destination d {{ file(\"%dir%/out\" template(\"$TAGS\\n\")); }};\n\
             log {{ source(s); parser(p); rewrite(r); destination(d); flags(flow-control); }};\n{more}"
        )
    };
    let mut penstock = Penstock::start(&lab, &config(""));
    let tags = |message: usize| -> String {
        (0..2000).map(|n| format!("tag{message}x{n}")).collect::<Vec<_>>().join(",")
    };
    let mut sender = Sender::tcp(lab.port("in"));
    (0..50).for_each(|message| sender.line(&tags(message)));
    wait_until("the first tags", || lab.lines("out").len() == 50);
    let before = resident_mib(&penstock);
    (50..500).for_each(|message| sender.line(&tags(message)));
    sender.line("later,web");
    sender.line(&"x".repeat(300));
    sender.finish();
    wait_until("the last message", || lab.lines("out").len() == 502);
    let lines = lab.lines("out");
    for (message, line) in lines[..500].iter().enumerate() {
        let (sent, made) = (tags(message), format!("made-{}", tags(message).len()));
        let mut got: Vec<&str> = line.split(',').collect();
        // It stands where it came first.
        got.retain(|tag| *tag != made);
        assert_eq!(got.join(","), format!(".source.s,{sent}"));
        assert!(line.contains(&made), "{made}");
    }
    assert_eq!(lines[500..], [".source.s,later,web,made-9", ".source.s,made-300"]);
    let after = resident_mib(&penstock);
    assert!(after < before + 64, "{before} MiB before, {after} MiB after");
    // The long one is the only one that was left out.
    penstock.wait_log("values or tags left out; values='1'");
    assert!(penstock.request("STATS PROMETHEUS").contains("names_left_out_total 1\n"));
    let tags: String = (0..3000).map(|n| format!("set-tag(\"new{n}\");")).collect();
    penstock.reload_with(&lab, &config(&format!("rewrite more {{ {tags} }};\n")));
    penstock.ledger().assert_balanced();
    penstock.stop();
}

/// Broken quotes made 362 MB of 64 kB, and templates multiply what they are given.
#[test]
fn one_message_does_not_become_gigabytes() {
    let lab = Lab::new();
    let config = format!(
        "{HEAD}options {{ log-msg-size(1048576); }};\n\
         source s {{ network(ip(127.0.0.1) port(%tcp:in%) flags(no-parse)); }};\n\
         parser kv {{ kv-parser(prefix(\"kv.\")); }};\n\
         destination d_json {{ file(\"%dir%/json\" template(\"$(format-json --subkeys kv.)\\n\")); }};\n\
         destination d_map {{ file(\"%dir%/map\" template(\"$(map '$MSG' $MSG)\\n\")); }};\n\
         log {{ source(s); parser(kv); destination(d_json); destination(d_map); flags(flow-control); }};\n"
    );
    let mut penstock = Penstock::start(&lab, &config);
    let mut sender = Sender::tcp(lab.port("in"));
    for text in ["a=1", &"a=\"".repeat(130_000), &"a=1,".repeat(100_000), "a=2"] {
        sender.line(text);
    }
    sender.finish();
    wait_until("its neighbours", || lab.lines("json").len() == 4 && lab.lines("map").len() == 3);
    let (json, map) = (lab.lines("json"), lab.lines("map"));
    assert_eq!((json[0].as_str(), json[3].as_str()), ("{\"a\":\"1\"}", "{\"a\":\"2\"}"));
    assert!(json[1].len() < 10 * 390_000, "{} bytes", json[1].len());
    assert_eq!((map[0].as_str(), map[2].as_str()), ("a=1", "a=2"));
    assert!(resident_mib(&penstock) < 500, "{} MiB", resident_mib(&penstock));
    let ledger = penstock.wait_ledger(|ledger| {
        let reasons = &ledger.destination("d_map").reasons;
        (*reasons != [("oversized".to_owned(), 1)]).then(|| format!("{reasons:?}"))
    });
    ledger.assert_balanced();
    assert!(penstock.stats().contains("d_map"), "it runs on");
    penstock.stop();
}

/// Groups of one message each, of so many bytes, by the program of the message.
fn send_groups(lab: &Lab, count: usize, text: &str) {
    let mut sender = Sender::tcp(lab.port("in"));
    (0..count).for_each(|n| sender.line(&format!("<13>Nov 11 01:02:03 host p{n}: {text}")));
    sender.finish();
}

fn grouping(timeout: u32, destination: &str) -> String {
    format!(
        "{HEAD}options {{ log-msg-size(64KiB); }};\n\
         source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         parser p {{ grouping-by(key(\"$PROGRAM\") timeout({timeout}) inject-mode(aggregate-only) \
         aggregate(value(\"MESSAGE\" \"made of $MSG\"))); }};\n\
         destination d {{ {destination}; }};\n\
         log {{ source(s); parser(p); destination(d); flags(flow-control); }};\n"
    )
}

/// Twenty thousand groups of 12 kB end in one tick, or because a reload takes their parser away: each comes
/// out, and the memory that they had is not taken once more for what is made of them. Afterwards the system
/// has it again.
#[test]
fn groups_that_end_together_do_not_double_their_memory() {
    const COUNT: usize = 20_000;
    let text = "x".repeat(12_000);
    for timeout in [3, 1000] {
        let lab = Lab::new();
        let config = grouping(timeout, "file(\"%dir%/out\" template(\"$PROGRAM $MSG\\n\"))");
        let mut penstock = Penstock::start(&lab, &config);
        send_groups(&lab, COUNT, &text);
        // Received and through the path: what a reload finds on the way to its group would not be grouped.
        penstock.wait_ledger(|ledger| {
            let row = ledger.source("s");
            let there = row.received == COUNT as u64 && row.waiting == 0;
            (!there).then(|| format!("{} received, {} on the way", row.received, row.waiting))
        });
        if timeout == 1000 {
            penstock.reload_with(&lab, &config.replace("parser(p); ", ""));
        }
        penstock.wait_ledger(|ledger| {
            let delivered = ledger.destination("d").delivered;
            (delivered != COUNT as u64).then(|| format!("{delivered} delivered"))
        });
        let peak = status_mib(&penstock, "VmHWM:");
        assert!(peak < 340, "{peak} MiB with timeout({timeout})");
        wait_until("the memory to be given back", || resident_mib(&penstock) < 150);
        penstock.ledger().assert_balanced();
        penstock.stop();
        let lines = lab.lines("out");
        let mut programs: Vec<&str> = lines.iter().filter_map(|line| line.split(' ').next()).collect();
        programs.sort_unstable();
        programs.dedup();
        assert_eq!((lines.len(), programs.len()), (COUNT, COUNT));
        assert!(lines.iter().all(|line| line.ends_with(&text) && line.contains(" made of x")));
    }
}

/// A destination that stands still holds the contexts of its path with flow-control, as it holds a source.
#[test]
fn a_slow_destination_holds_groups_that_end_together() {
    const COUNT: usize = 4_000;
    let lab = Lab::new();
    let receiver = Collector::tcp(lab.port("out"));
    receiver.pause();
    let to_peer = "network(\"127.0.0.1\" port(%tcp:out%) so-sndbuf(4096) template(\"$PROGRAM $MSG\\n\"))";
    let mut penstock = Penstock::start(&lab, &grouping(2, to_peer));
    send_groups(&lab, COUNT, &"x".repeat(12_000));
    let made = |ledger: &Ledger| ledger.destination("d").received;
    // It waits until nothing more comes: two looks that are a tick apart see the same.
    let mut last = (0, 0);
    let held = penstock.wait_ledger(|ledger| {
        let now = made(ledger);
        last = if now == last.0 { (now, last.1 + 1) } else { (now, 0) };
        (now == 0 || last.1 < 100).then(|| format!("{now} made, the same for {} looks", last.1))
    });
    // A portion is 8 MiB, and one more where the last one was all but under way.
    assert!(made(&held) * 12_000 < (18 << 20), "{} groups were made", made(&held));
    held.assert_balanced();
    receiver.resume();
    let ledger = penstock.wait_ledger(|ledger| {
        let delivered = ledger.destination("d").delivered;
        (delivered != COUNT as u64).then(|| format!("{delivered} delivered"))
    });
    ledger.assert_nothing_lost();
    assert_eq!(receiver.wait_lines(COUNT).len(), COUNT);
    penstock.stop();
}
