//! Dropped messages themselves, one reason after the other: what broke a frame, what was too large, given up,
//! discarded, damaged, kept as a letter, refused for its file's name.

use crate::messages::{HEAD, send};
use serde_json::Value;
use std::path::PathBuf;
use testkit::{Collector, Lab, Outcome, Penstock, Sender, run_command, wait_until};

fn state(lab: &Lab) -> String {
    lab.path("state").display().to_string()
}

fn tap(lab: &Lab, args: &[&str]) -> Outcome {
    run_command(&[&["tap", "--state-dir", &state(lab), "--dropped"], args, &["--past"]].concat())
}

/// What is kept of a reason, once there is as much.
#[track_caller]
fn kept(lab: &Lab, reason: &str, count: usize) -> Vec<Value> {
    let mut kept: Vec<Value> = Vec::new();
    wait_until(&format!("{count} messages dropped for {reason}"), || {
        let outcome = tap(lab, &[reason, "--json", "--limit", "1000"]);
        kept = outcome.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        kept.len() == count
    });
    kept
}

fn text(message: &Value) -> &str {
    message["text"].as_str().expect("a text")
}

/// Where a connection cannot be made: the port of the peer is free.
const PEER: &str = "network(127.0.0.1 port(%port:out%) template(\"$MSG\\n\") OPTIONS);";

fn config(destination: &str, flags: &str) -> String {
    format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination d {{ {destination} }};\nlog {{ source(s); destination(d); {flags} }};\n"
    )
}

#[test]
fn the_bytes_that_broke_a_connection() {
    let lab = Lab::new();
    let config = format!(
        "{HEAD}source s {{ syslog(ip(127.0.0.1) port(%tcp:in%)); }};\nsource other {{ network(ip(127.0.0.1) port(%tcp:other%)); }};\n\
         destination d {{ file(\"%dir%/out\"); }};\nlog {{ source(s); source(other); destination(d); }};\n"
    );
    let penstock = Penstock::start(&lab, &config);
    for bytes in [
        &b"23 <13>1 - h app - - - one<13>no count at all\nand more"[..],
        b"90 <13>1 - h app - - - not all of it",
        b"23 <13>1 - h app - - - two\x16\x03\x01\x02\x00\x01\x00\xfa\xff",
    ] {
        let mut sender = Sender::tcp(lab.port("in"));
        sender.raw(bytes);
        sender.finish();
    }
    let broken = kept(&lab, "framing", 3);
    let mut texts: Vec<&str> = broken.iter().map(text).collect();
    texts.sort_unstable();
    assert_eq!(texts[1], "90 <13>1 - h app - - - not all of it");
    assert_eq!(texts[2], "<13>no count at all\nand more");
    let hello = broken.iter().find(|message| message["hex"].is_string()).expect("what is no text");
    assert_eq!((&hello["hex"], &hello["bytes"]), (&"16030102000100faff".into(), &9.into()));
    for message in &broken {
        assert_eq!((&message["source"], &message["destination"]), (&"s#0".into(), &Value::Null), "{message}");
    }
    let outcome = tap(&lab, &["--source", "s", "--limit", "1"]);
    assert!(outcome.stdout.starts_with("s#0 framing: "), "{outcome:?}");
    assert_eq!(tap(&lab, &["--source", "other"]).code, Some(1));
    let outcome = tap(&lab, &["--source", "none"]);
    assert!(outcome.stderr.contains("there are other#0, s#0"), "{outcome:?}");
    penstock.ledger().assert_balanced();
    penstock.stop();
}

#[test]
fn what_was_too_large_to_be_written_and_its_way() {
    let lab = Lab::new();
    let config = config("file(\"%dir%/map\" template(\"$(map '$MSG' $MSG)\\n\"));", "flags(flow-control);")
        .replace("port(%tcp:in%)", "port(%tcp:in%) flags(no-parse) log-msg-size(1MiB)");
    let mut penstock = Penstock::start(&lab, &config);
    let large = "a=1,".repeat(100_000);
    let mut sender = Sender::tcp(lab.port("in"));
    for text in ["small", &large, "small"] {
        sender.line(text);
    }
    let one = kept(&lab, "oversized", 1).remove(0);
    assert_eq!((text(&one), &one["bytes"]), (&large[..1024], &400_000.into()));
    assert_eq!((&one["destination"], &one["removed"]), (&"d#0".into(), &false.into()));
    let state = state(&lab);
    let outcome = std::thread::scope(|scope| {
        let asking = scope.spawn(|| {
            run_command(&["explain", "--state-dir", &state, "--dropped", "oversized", "--timeout", "60"])
        });
        while !asking.is_finished() {
            ["small", &large].iter().for_each(|text| sender.line(text));
            // It takes a while to find out that they are too large.
            (0..100).filter(|_| !asking.is_finished()).for_each(|_| {
                std::thread::park_timeout(std::time::Duration::from_millis(10));
            });
        }
        asking.join().expect("the answer")
    });
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    for part in ["file has nothing to write for it", "dropped: oversized", "400000 bytes: a=1,a=1"] {
        assert!(outcome.stdout.contains(part), "{part}: {}", outcome.stdout);
    }
    penstock.wait_settled_input().assert_balanced();
    penstock.stop();
}

/// Of its batch nothing is written: what became of it is said all the same.
#[test]
fn what_was_too_large_and_came_alone() {
    let lab = Lab::new();
    let config = config("file(\"%dir%/map\" template(\"$(map '$MSG' $MSG)\\n\"));", "flags(flow-control);")
        .replace("port(%tcp:in%)", "port(%tcp:in%) flags(no-parse) log-msg-size(1MiB)");
    let mut penstock = Penstock::start(&lab, &config);
    let mut sender = Sender::tcp(lab.port("in"));
    for count in 1..3 {
        sender.line(&"a=1,".repeat(100_000));
        kept(&lab, "oversized", count);
    }
    sender.finish();
    penstock.wait_settled(2).assert_balanced();
    penstock.stop();
}

#[test]
fn what_was_refused_for_the_name_of_its_file() {
    let lab = Lab::new();
    let _penstock =
        Penstock::start(&lab, &config("file(\"%dir%/logs/$PROGRAM\" template(\"$MSG\\n\"));", ""));
    let mut sender = Sender::tcp(lab.port("in"));
    sender.line("<13>Nov 11 01:02:03 h ../../etc/passwd: sly");
    sender.finish();
    assert_eq!(text(&kept(&lab, "refused", 1)[0]), "sly\n");
    let ledger = run_command(&["ledger", "--state-dir", &state(&lab)]).stdout;
    assert!(ledger.contains("no such file may be written"), "{ledger}");
}

/// The destination that they waited for is gone, and what is kept of them is not.
#[test]
fn what_waited_for_a_destination_that_is_removed() {
    let gone = |flags: &str, drops: &[&str], reason: &str| {
        let lab = Lab::new();
        // In the sandbox, too, it may go there afterwards.
        let before =
            config(&PEER.replace("OPTIONS", ""), flags) + "options { sandbox-connect(%port:other%); };\n";
        let mut penstock = Penstock::start(&lab, &before);
        send(&lab, 0, 120);
        penstock.wait_ledger(|ledger| (ledger.destination("d").waiting != 120).then(|| "all".to_owned()));
        let after = before.replace("destination d {", "destination e {").replace("tion(d)", "tion(e)");
        penstock.rewrite(&lab, &after.replace("%port:out%", "%port:other%"));
        let reload = ["ctl", "reload", "--state-dir", &state(&lab)];
        let outcome = run_command(&[&reload[..], drops].concat());
        assert_eq!(outcome.code, Some(0), "{outcome:?}");
        let kept = kept(&lab, reason, 100);
        assert_eq!(text(&kept[99]), "message number 119 of connection 0\n", "{reason}");
        assert_eq!((&kept[0]["destination"], &kept[0]["removed"]), (&"d#0".into(), &true.into()), "{reason}");
        let outcome = tap(&lab, &["--destination", "d", "--limit", "1"]);
        assert_eq!(
            outcome.stdout,
            format!("d#0 (removed) {reason}: message number 119 of connection 0\n"),
            "{outcome:?}"
        );
        penstock.stop();
    };
    gone("flags(flow-control);", &[], "dead-letter");
    gone("", &[], "abandoned");
    gone("flags(flow-control);", &["--drop", "d"], "discarded");
}

#[test]
fn what_was_dropped_from_a_queue_and_what_is_damaged_there() {
    let lab = Lab::new();
    let config = config(
        &PEER.replace("OPTIONS", "persist-name(\"central\") disk-buffer(capacity-bytes(1GiB) reliable(yes))"),
        "flags(flow-control);",
    );
    let mut penstock = Penstock::start(&lab, &config);
    send(&lab, 0, 1000);
    penstock.wait_ledger(|ledger| (ledger.destination("d").waiting != 1000).then(|| "all of it".to_owned()));
    let outcome = run_command(&["queue", "--state-dir", &state(&lab), "drop", "central", "--all"]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let last = kept(&lab, "discarded", 100);
    assert_eq!(text(&last[0]), "message number 900 of connection 0\n");
    // Now what waits is damaged while nobody looks: one in its text, one in what stands before the next.
    send(&lab, 1, 1000);
    penstock.wait_ledger(|ledger| (ledger.destination("d").waiting != 1000).then(|| "all of it".to_owned()));
    penstock.stop();
    let folder = lab.path("state/penstock-store");
    let files = std::fs::read_dir(&folder).expect("the log").flatten().map(|entry| entry.path());
    let mut changed = 0;
    for path in files.filter(|path: &PathBuf| path.extension().is_some_and(|e| e == "log")) {
        let mut bytes = std::fs::read(&path).expect("a segment");
        for number in [200, 201, 700] {
            let needle = format!("message number {number} of connection 1");
            let at = bytes.windows(needle.len()).position(|window| window == needle.as_bytes());
            let Some(at) = at else { continue };
            bytes[at + 8] = b'N';
            changed += 1;
        }
        std::fs::write(&path, bytes).expect("written");
    }
    assert_eq!(changed, 3);
    let mut penstock = Penstock::start(&lab, &config);
    let collector = Collector::tcp(lab.port("out"));
    collector.wait_lines(997);
    let texts: Vec<String> = kept(&lab, "damaged", 3).iter().map(|one| text(one).to_owned()).collect();
    assert_eq!(
        texts,
        [200, 201, 700].map(|number| format!("message Number {number} of connection 1\n")),
        "what is left of them"
    );
    let ledger = penstock.wait_ledger(|ledger| (ledger.waiting() > 0).then(|| "nothing waits".to_owned()));
    assert_eq!(ledger.dropped_for("damaged"), 3);
    ledger.assert_balanced();
    penstock.stop();
}

/// The program says several things at once when it takes a new configuration.
#[test]
fn what_internal_had_no_room_for() {
    let lab = Lab::new();
    let config = |n: usize| {
        format!(
            "{HEAD}source own {{ internal(log-fifo-size(1)); }};\ndestination d {{ file(\"%dir%/out{n}\"); }};\n\
             log {{ source(own); destination(d); }};\n"
        )
    };
    let mut penstock = Penstock::start(&lab, &config(0));
    let mut numbers = 1..100;
    wait_until("a line that was lost", || {
        penstock.reload_with(&lab, &config(numbers.next().expect("one of many")));
        tap(&lab, &["queue-full", "--source", "own"]).stdout.starts_with("own#0 queue-full: ")
    });
    penstock.stop();
}

/// Explaining is about what comes; for what came there is the tap.
#[test]
fn explain_says_where_those_of_before_are() {
    let lab = Lab::new();
    let mut penstock = Penstock::start(&lab, &config(&PEER.replace("OPTIONS", "log-fifo-size(10)"), ""));
    send(&lab, 0, 20);
    penstock.wait_ledger(|ledger| (ledger.destination("d").dropped != 10).then(|| "10 dropped".to_owned()));
    let explain = |reason: &str| {
        run_command(&["explain", "--state-dir", &state(&lab), "--dropped", reason, "--timeout", "1"])
    };
    let outcome = explain("queue-full");
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert!(
        outcome.stderr.contains("`penstock tap --dropped queue-full --past` shows those of before"),
        "{outcome:?}"
    );
    assert!(!explain("damaged").stderr.contains("shows those of before"));
    for (reason, part) in
        [("kernel", "lost before it is read"), ("framing", "penstock tap --dropped framing")]
    {
        let outcome = explain(reason);
        assert!(outcome.code == Some(2) && outcome.stderr.contains(part), "{outcome:?}");
    }
}
