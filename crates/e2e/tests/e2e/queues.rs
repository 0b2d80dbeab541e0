//! `penstock queue` and `dqtool`: queues on disk looked into and changed, dead letters, queue files of
//! syslog-ng.

use crate::messages::{HEAD, assert_complete, message, send, wait_waiting};
use serde_json::Value;
use std::path::PathBuf;
use testkit::penstock::{binary, root, run_as};
use testkit::{Collector, Lab, Outcome, Penstock, Sender, run_command, wait_until, wait_while_some};

const COUNT: usize = 3000;

fn config() -> String {
    format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination d {{ network(127.0.0.1 port(%port:out%) persist-name(\"central\") \
         disk-buffer(capacity-bytes(1GiB) reliable(yes))); }};\n\
         log {{ source(s); destination(d); flags(flow-control); }};\n"
    )
}

fn state(lab: &Lab) -> String {
    lab.path("state").display().to_string()
}

fn queue(lab: &Lab, args: &[&str]) -> Outcome {
    run_command(&[&["queue", "--state-dir", &state(lab)], args].concat())
}

#[track_caller]
fn done(lab: &Lab, args: &[&str]) -> String {
    let outcome = queue(lab, args);
    assert_eq!(outcome.code, Some(0), "{args:?}: {outcome:?}");
    outcome.stdout
}

fn json(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"))).collect()
}

/// What `ls` says that waits in a queue; nothing when it is not there yet.
fn waiting(lab: &Lab, name: &str) -> Option<u64> {
    let listed = queue(lab, &["ls", "--json"]);
    let rows = json(&listed.stdout);
    let row = rows.iter().find(|row| row["queue"].as_str().is_some_and(|queue| queue.contains(name)))?;
    row["waiting_messages"].as_u64()
}

#[track_caller]
fn wait_queue(lab: &Lab, name: &str, count: u64) {
    wait_while_some(|| {
        let there = waiting(lab, name);
        (there != Some(count)).then(|| format!("{count} messages in {name}, there are {there:?}"))
    });
}

fn start_with_messages(lab: &Lab) -> Penstock {
    let penstock = Penstock::start(lab, &config());
    send(lab, 0, COUNT);
    wait_queue(lab, "central", COUNT as u64);
    penstock
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}

#[test]
fn queues_are_looked_into_beside_the_program_and_after_its_end() {
    let lab = Lab::new();
    let penstock = start_with_messages(&lab);
    assert!(done(&lab, &["ls"]).contains("central"));
    let stat = done(&lab, &["stat"]);
    assert!(stat.contains(&format!("waiting: {COUNT} messages")) && stat.contains("oldest: 20"), "{stat}");
    assert_complete(&lines(&done(&lab, &["cat", "central"])), 1, COUNT);
    assert_eq!(done(&lab, &["cat", "0", "-n", "7"]).lines().count(), 7);
    assert_complete(&lines(&done(&lab, &["cat", "d"])), 1, COUNT);
    assert_eq!(json(&done(&lab, &["ls", "--json"]))[0]["destination"].as_str(), Some("d#0"));
    let objects = json(&done(&lab, &["cat", "central", "--json", "-n", "2"]));
    assert_eq!(objects[1]["message"].as_str(), Some(format!("{}\n", message(0, 1)).as_str()));
    assert_eq!(done(&lab, &["grep", "number 2\\d\\d of", "central"]).lines().count(), 100);
    assert_eq!(done(&lab, &["grep", "--count", "-F", "NUMBER 12", "-i"]).trim(), "111");
    assert_eq!(queue(&lab, &["grep", "nowhere"]).code, Some(1));
    assert_eq!(queue(&lab, &["grep", "(wrong"]).code, Some(1));
    let verified = done(&lab, &["verify"]);
    assert!(verified.contains("everything can be read"), "{verified}");
    let exported = lab.path("exported").display().to_string();
    done(&lab, &["export", "central", &exported]);
    assert_complete(&lab.lines("exported"), 1, COUNT);
    assert_eq!(queue(&lab, &["export", "central", &exported]).code, Some(1), "it is there already");
    assert!(queue(&lab, &["cat", "other"]).stderr.contains("no queue `other`"));
    // Nothing of this has disturbed it.
    penstock.ledger().assert_balanced();
    penstock.stop();

    assert_complete(&lines(&done(&lab, &["cat", "d#0"])), 1, COUNT);
    let collector = Collector::tcp(lab.port("out"));
    let _penstock = Penstock::start(&lab, &config());
    assert_complete(&collector.wait_lines(COUNT), 1, COUNT);
    wait_queue(&lab, "central", 0);
    assert!(done(&lab, &["cat", "central"]).is_empty());
}

#[test]
fn damage_is_found_and_told() {
    let lab = Lab::new();
    start_with_messages(&lab).stop();
    let folder = lab.path("state/penstock-store");
    let files = std::fs::read_dir(&folder).expect("the log").flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|e| e == "log")).collect();
    files.sort();
    let mut bytes = std::fs::read(&files[0]).expect("a segment");
    let needle = message(0, 1500).into_bytes();
    let at = bytes.windows(needle.len()).position(|window| window == needle).expect("it is there");
    bytes[at] ^= 1;
    std::fs::write(&files[0], bytes).expect("written");

    let outcome = queue(&lab, &["verify"]);
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert!(
        outcome.stdout.contains("1 message of") && outcome.stdout.contains("there is damage"),
        "{outcome:?}"
    );
    let found = json(&queue(&lab, &["verify", "--json"]).stdout);
    assert_eq!(found[0]["damaged"][0]["records_missing"].as_u64(), Some(1), "{found:?}");
    let outcome = queue(&lab, &["cat", "central"]);
    assert_eq!(outcome.stdout.lines().count(), COUNT - 1);
    assert!(outcome.stderr.contains("1 message is damaged"), "{outcome:?}");
}

#[test]
fn messages_are_dropped_from_a_queue_in_use() {
    let lab = Lab::new();
    let mut penstock = start_with_messages(&lab);
    assert!(done(&lab, &["drop", "central", "--older", "1d"]).contains("0 messages dropped"));
    // Nobody else may change it.
    let outcome = queue(&lab, &["drop", "central", "--all", "--control", "/nonexistent/ctl"]);
    assert!(outcome.code == Some(1) && outcome.stderr.contains("in use by another process"), "{outcome:?}");
    assert!(done(&lab, &["drop", "central", "--all"]).contains(&format!("{COUNT} messages dropped")));
    let ledger = penstock.ledger();
    ledger.assert_balanced();
    assert_eq!((ledger.dropped_for("discarded"), ledger.waiting()), (COUNT as u64, 0));
    wait_queue(&lab, "central", 0);

    // It goes on with what comes.
    send(&lab, 1, 100);
    let collector = Collector::tcp(lab.port("out"));
    assert_eq!(collector.wait_lines(100)[0].split(' ').nth(3), Some("host1"));
    wait_waiting(&mut penstock, 0).assert_balanced();
    penstock.stop();
}

/// Drops what is older than a second until so many are gone: they may not all be that old at the same moment.
#[track_caller]
fn drop_old_ones(lab: &Lab, count: usize) {
    let mut dropped = 0;
    wait_until("they are old enough", || {
        let text = done(lab, &["drop", "central", "--older", "1s"]);
        let number = text.split(' ').next().and_then(|number| number.parse::<usize>().ok());
        dropped += number.unwrap_or_else(|| panic!("{text}"));
        dropped >= count
    });
    assert_eq!(dropped, count);
}

#[test]
fn old_messages_are_dropped_while_the_program_runs_and_when_it_does_not() {
    let lab = Lab::new();
    let penstock = start_with_messages(&lab);
    drop_old_ones(&lab, COUNT);
    penstock.ledger().assert_balanced();
    assert_eq!(penstock.ledger().dropped_for("discarded"), COUNT as u64);
    send(&lab, 1, COUNT);
    wait_queue(&lab, "central", COUNT as u64);
    penstock.stop();
    assert!(done(&lab, &["drop", "central", "--older", "1d"]).starts_with("0 messages"));
    drop_old_ones(&lab, COUNT);
    assert_eq!(waiting(&lab, "central"), None, "all of it was dropped");

    // Nothing of it comes back.
    let penstock = Penstock::start(&lab, &config());
    assert_eq!(penstock.ledger().destination("d").received, 0);
    penstock.stop();
}

#[test]
fn dead_letters_are_kept_shown_and_tried_again() {
    let lab = Lab::new();
    let config = format!(
        "{HEAD}options {{ dead-letters(yes); log-msg-size(100KiB); }};\n\
         source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination d {{ udp(127.0.0.1 port(%port:out%)); }};\ndestination f {{ file(\"%dir%/letters\"); }};\n\
         log {{ source(s); destination(d); flags(flow-control); }};\nlog {{ destination(f); }};\n"
    );
    let collector = Collector::udp(lab.port("out"));
    let mut penstock = Penstock::start(&lab, &config);
    let long = format!("{} {}", message(0, 1), "x".repeat(70_000));
    let mut sender = Sender::tcp(lab.port("in"));
    for text in [&message(0, 0), &long, &message(0, 2)] {
        sender.line(text);
    }
    assert_eq!(collector.wait_lines(2).len(), 2);
    let ledger = penstock.wait_ledger(|l| (l.dropped_for("refused") != 1).then(|| "one refused".to_owned()));
    ledger.assert_balanced();
    wait_queue(&lab, "dead-letters", 1);
    let shown = done(&lab, &["cat", "dead-letters"]);
    assert!(shown.contains(" d#0 (too long for a datagram): <13>Nov 11"), "{}", &shown[..200]);
    let object = &json(&done(&lab, &["cat", "dead-letters", "--json"]))[0];
    assert_eq!(
        (object["destination"].as_str(), object["reason"].as_str()),
        (Some("d#0"), Some("too long for a datagram"))
    );

    // It is still too long: it dies again.
    assert!(done(&lab, &["replay", "dead-letters"]).starts_with("1 dead letter given"));
    penstock
        .wait_ledger(|l| (l.dropped_for("refused") != 2).then(|| "two refused".to_owned()))
        .assert_balanced();
    wait_queue(&lab, "dead-letters", 1);
    assert!(
        queue(&lab, &["replay", "dead-letters", "--to", "missing"])
            .stderr
            .contains("no destination `missing`")
    );
    assert!(done(&lab, &["replay", "dead-letters", "--to", "f"]).starts_with("1 dead letter given"));
    wait_queue(&lab, "dead-letters", 0);
    assert_eq!(lab.text("letters").trim_end(), long);
    penstock.ledger().assert_balanced();
    penstock.stop();
    assert!(queue(&lab, &["replay", "dead-letters"]).stderr.contains("no program runs"));
}

/// A letter cannot be read before it is written, and a replay that comes too early for it must not pass it
/// over.
#[test]
fn letters_kept_a_moment_ago_are_tried_again_too() {
    let lab = Lab::new();
    let config = format!(
        "{HEAD}options {{ dead-letters(yes); log-msg-size(100KiB); }};\n\
         source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination d {{ udp(127.0.0.1 port(%port:out%)); }};\n\
         log {{ source(s); destination(d); flags(flow-control); }};\n"
    );
    let mut penstock = Penstock::start(&lab, &config);
    let mut sender = Sender::tcp(lab.port("in"));
    let mut refused = 0;
    for round in 1..=10 {
        sender.line(&format!("{} {}", message(0, round), "x".repeat(70_000)));
        refused += 1;
        let seen = |count: u64| {
            move |l: &testkit::Ledger| (l.dropped_for("refused") != count).then(|| format!("{count} refused"))
        };
        penstock.wait_ledger(seen(refused)).assert_balanced();
        let said = done(&lab, &["replay", "dead-letters"]);
        assert!(said.starts_with(&format!("{round} dead letter")), "{said}");
        refused += round as u64;
        penstock.wait_ledger(seen(refused)).assert_balanced();
    }
    wait_queue(&lab, "dead-letters", 10);
    penstock.stop();
}

#[test]
fn only_the_message_that_is_refused_becomes_a_dead_letter() {
    let lab = Lab::new();
    let config = format!(
        "{HEAD}options {{ dead-letters(yes); }};\nsource s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination d {{ file(\"%dir%/by-${{PROGRAM}}\"); }};\n\
         log {{ source(s); destination(d); flags(flow-control); }};\n"
    );
    let mut penstock = Penstock::start(&lab, &config);
    let long = format!("<13>Nov 11 01:02:03 host {}: no such name", "n".repeat(300));
    let mut sender = Sender::tcp(lab.port("in"));
    for text in [&message(0, 0), &long, &message(0, 1)] {
        sender.line(text);
    }
    let ledger = penstock.wait_settled(3);
    ledger.assert_balanced();
    assert_eq!((ledger.dropped_for("refused"), lab.lines("by-app").len()), (1, 2));
    wait_queue(&lab, "dead-letters", 1);
    assert!(done(&lab, &["cat", "dead-letters"]).contains("no such name"));
    // Which of its files it was for is not known any more.
    assert!(done(&lab, &["replay", "dead-letters"]).contains("; 1 stays: "));
    wait_queue(&lab, "dead-letters", 1);
    // Letters stay when no more are kept, and over a restart.
    let without = config.replace("dead-letters(yes)", "dead-letters(no)");
    penstock.reload_with(&lab, &without);
    sender.line(&long);
    penstock.wait_settled(4).assert_balanced();
    penstock.stop();
    assert_eq!(waiting(&lab, "dead-letters"), Some(1));
    let penstock = Penstock::start(&lab, &without);
    assert!(!penstock.log().contains("does not have"), "letters are nobody's queue");
    assert!(done(&lab, &["drop", "dead-letters", "--all"]).contains("1 message dropped"));
    assert_eq!(waiting(&lab, "dead-letters"), None, "nobody has a queue of this name any more");
    penstock.stop();
}

#[test]
fn dead_letters_go_with_the_program_that_takes_over() {
    let lab = Lab::new();
    let config = format!(
        "{HEAD}options {{ dead-letters(yes); }};\nsource s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination d {{ file(\"%dir%/by-${{PROGRAM}}\"); }};\n\
         log {{ source(s); destination(d); flags(flow-control); }};\n"
    );
    let long = format!("<13>Nov 11 01:02:03 host {}: no such name", "n".repeat(300));
    let mut old = Penstock::start(&lab, &config);
    let mut sender = Sender::tcp(lab.port("in"));
    sender.line(&long);
    wait_queue(&lab, "dead-letters", 1);
    let mut new = Penstock::configure(&lab, &config).arg("--take-over").spawned();
    assert!(old.wait_end().success(), "{}", old.log());
    sender.line(&long);
    wait_queue(&lab, "dead-letters", 2);
    new.wait_ledger(|l| (l.dropped_for("refused") != 1).then(|| "one refused".to_owned())).assert_balanced();
    new.stop();
}

fn sample(name: &str) -> String {
    root().join("fuzz/seeds/queue_file").join(name).display().to_string()
}

#[test]
fn queue_files_of_syslog_ng_are_imported() {
    let lab = Lab::new();
    let shown = done(&lab, &["import", &sample("normal.qf")]);
    assert_eq!(shown.lines().count(), 68);
    assert_eq!(shown.lines().next(), Some("<34>2026-11-22T06:40:01.000000+00:00 h a[1]: number 1"));
    let objects = json(&done(&lab, &["import", &sample("values.rqf"), "--json"]));
    assert_eq!((objects[0]["j.i"].as_i64(), objects[0]["j.b"].as_bool()), (Some(5), Some(true)));
    assert!(objects[0]["j.n"].is_null() && objects[0]["TAGS"][0] == ".source.s", "{objects:?}");
    let outcome = queue(&lab, &["import", &sample("normal.qf"), "--to", "d"]);
    assert!(outcome.stderr.contains("no program runs"), "{outcome:?}");

    let config = format!(
        "{HEAD}options {{ sandbox-read(\"{}\"); }};\ndestination d {{ file(\"%dir%/out\" template(\"$ISODATE|$HOST|$PROGRAM|$MSGID|$SOURCEIP|$TAGS|\
         ${{.my.value}}|$SDATA|$MSG\\n\")); }};\nlog {{ destination(d); }};\n",
        root().join("fuzz/seeds").display()
    );
    let mut penstock = Penstock::start(&lab, &config);
    let said = done(&lab, &["import", &sample("reliable.rqf"), "--to", "d"]);
    assert!(said.starts_with("4 messages read"), "{said}");
    penstock
        .wait_ledger(|l| (l.destination("d").delivered != 4).then(|| "4 delivered".to_owned()))
        .assert_balanced();
    assert_eq!(
        lab.lines("out")[1..3],
        [
            "2026-11-22T06:40:01+00:00|h|a||127.0.0.1|one-tag,.source.s|värde||number 66",
            "2003-08-24T05:14:15-07:00|ietf.host|prog|ID0|127.0.0.1|one-tag,.source.s|värde|\
             [ex@32473 iut=\"3\" eventID=\"100\"]|structured 0"
        ]
    );
    assert!(
        queue(&lab, &["import", &sample("reliable.rqf"), "--to", "x"]).stderr.contains("no destination `x`")
    );
    penstock.stop();
}

#[test]
fn damaged_records_of_queue_files_are_said() {
    let lab = Lab::new();
    let mut bytes = std::fs::read(sample("reliable.rqf")).expect("a sample");
    bytes[4100] = 99;
    let path = lab.path("damaged.rqf");
    std::fs::write(&path, bytes).expect("written");
    let outcome = queue(&lab, &["import", path.to_str().expect("a path")]);
    assert_eq!((outcome.code, outcome.stdout.lines().count()), (Some(1), 3));
    assert!(outcome.stderr.contains("3 messages read, 1 damaged ones left out"), "{outcome:?}");
}

#[test]
fn called_as_dqtool() {
    let lab = Lab::new();
    let dqtool = lab.path("dqtool");
    std::os::unix::fs::symlink(binary(), &dqtool).expect("a link");
    let info = run_as(&dqtool, &["info", &sample("normal.qf"), &sample("reliable.rqf")]);
    assert_eq!(info.code, Some(0), "{info:?}");
    assert!(
        info.stdout.contains("type='non-reliable'") && info.stdout.contains("front_cache='64'"),
        "{info:?}"
    );
    assert!(info.stdout.contains("type='reliable'") && info.stdout.contains("length='4'"), "{info:?}");
    let cat = run_as(&dqtool, &["cat", &sample("reliable.rqf")]);
    assert_eq!(cat.stdout.lines().count(), 4, "{cat:?}");
    for (args, instead) in [
        (&["relocate", "-n", "/new", "-p", "persist"][..], "set dir()"),
        (&["assign", "-p", "persist", "-n", "name", "x.rqf"], "penstock queue import"),
        (&["truncate", "x.rqf"], "by themselves"),
    ] {
        let outcome = run_command(&[&["dqtool"], args].concat());
        assert!(outcome.code == Some(1) && outcome.stderr.contains(instead), "{args:?}: {outcome:?}");
    }
    start_with_messages(&lab).stop();
    let info = run_as(&dqtool, &["info", &state(&lab)]);
    assert!(info.stdout.contains(&format!("length='{COUNT}'")), "{info:?}");
}
