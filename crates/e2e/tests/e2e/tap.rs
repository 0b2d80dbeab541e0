//! Dropped messages themselves: afterwards, while it goes on, of a full queue, of one on disk, of a refusal.

use crate::messages::{HEAD, message, send};
use serde_json::Value;
use testkit::{Lab, Outcome, Penstock, Sender, run_command, wait_until};

fn tap(lab: &Lab, args: &[&str]) -> Outcome {
    tap_in(&lab.path("state").display().to_string(), args)
}

fn tap_in(state: &str, args: &[&str]) -> Outcome {
    run_command(&[&["tap", "--state-dir", state], args].concat())
}

fn json(outcome: &Outcome) -> Vec<Value> {
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    outcome.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn config(destination: &str) -> String {
    format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination d {{ {destination} }};\nlog {{ source(s); destination(d); }};\n"
    )
}

fn wait_dropped(penstock: &mut Penstock, count: u64) {
    penstock
        .wait_ledger(|ledger| (ledger.destination("d").dropped != count).then(|| format!("{count} dropped")));
}

#[test]
fn what_a_full_queue_has_dropped_is_shown_afterwards() {
    let lab = Lab::new();
    let config = config("network(127.0.0.1 port(%port:out%) log-fifo-size(10) template(\"$MSG\\n\"));");
    let mut penstock = Penstock::start(&lab, &config);
    assert_eq!(tap(&lab, &["--dropped", "--past"]).code, Some(1));
    send(&lab, 0, 250);
    wait_dropped(&mut penstock, 240);
    let kept = json(&tap(&lab, &["--dropped", "queue-full", "--past", "--json"]));
    assert_eq!(kept.len(), 100);
    for (kept, number) in kept.iter().zip(150..) {
        let text = message(0, number).split_once("]: ").expect("a text").1.to_owned() + "\n";
        assert_eq!(kept["text"], text.as_str(), "{kept}");
        assert_eq!((&kept["destination"], &kept["reason"]), (&"d#0".into(), &"queue-full".into()));
        assert_eq!((&kept["bytes"], &kept["version"]), (&text.len().into(), &1.into()));
    }
    let text = tap(&lab, &["--dropped", "--past", "--limit", "2", "--destination", "d"]).stdout;
    assert_eq!(
        text,
        "d#0 queue-full: message number 248 of connection 0\nd#0 queue-full: message number 249 of connection 0\n"
    );
    // Nothing was refused; of some reasons nothing can be kept; wrong words are wrong usage.
    assert_eq!(tap(&lab, &["--dropped", "refused", "--past"]).code, Some(1));
    let outcome = tap(&lab, &["--dropped", "kernel", "--past"]);
    assert!(outcome.code == Some(1) && outcome.stderr.contains("before they are read"), "{outcome:?}");
    let outcome = tap(&lab, &["--dropped", "--past", "--destination", "d_none"]);
    assert!(outcome.code == Some(1) && outcome.stderr.contains("there are d#0"), "{outcome:?}");
    let outcome = tap(&lab, &["--dropped", "rain"]);
    assert!(outcome.code == Some(2) && outcome.stderr.contains("queue-full"), "{outcome:?}");
    penstock.ledger().assert_balanced();
}

#[test]
fn what_is_dropped_meanwhile_is_shown_and_what_is_missed_is_said() {
    let lab = Lab::new();
    let mut penstock =
        Penstock::start(&lab, &config("network(127.0.0.1 port(%port:out%) log-fifo-size(10));"));
    send(&lab, 0, 20);
    wait_dropped(&mut penstock, 10);
    let mut sender = Sender::tcp(lab.port("in"));
    let state = lab.path("state").display().to_string();
    let outcome = std::thread::scope(|scope| {
        let tapping =
            scope.spawn(|| tap_in(&state, &["--dropped", "--json", "--limit", "300", "--timeout", "60"]));
        let mut number = 20;
        while !tapping.is_finished() {
            for _ in 0..500 {
                sender.line(&message(0, number));
                number += 1;
            }
            std::thread::park_timeout(std::time::Duration::from_millis(20));
        }
        tapping.join().expect("the tap")
    });
    let lines = json(&outcome);
    let shown: Vec<&Value> = lines.iter().filter(|line| line["missed"].is_null()).collect();
    assert_eq!(shown.len(), 300);
    assert!(shown.is_sorted_by_key(|line| line["number"].as_u64()));
    // Numbers and gaps add up to the last one.
    let first = shown[0]["number"].as_u64().expect("a number");
    let at_first = lines.iter().position(|line| line["missed"].is_null()).expect("a message");
    let missed: u64 = lines[at_first..].iter().filter_map(|line| line["missed"].as_u64()).sum();
    assert!(missed > 0, "{} lines", lines.len());
    assert_eq!(shown[299]["number"].as_u64(), Some(first + 299 + missed));
}

#[test]
fn what_a_full_disk_part_has_dropped() {
    let lab = Lab::new();
    let mut penstock = Penstock::start(
        &lab,
        &config("network(127.0.0.1 port(%port:out%) disk-buffer(capacity-bytes(1048576) reliable(yes)));"),
    );
    let mut sender = Sender::tcp(lab.port("in"));
    let body = "x".repeat(10_000);
    for number in 0..300 {
        sender.line(&format!("{} {body}", message(0, number)));
    }
    sender.finish();
    penstock.wait_ledger(|ledger| {
        let row = ledger.destination("d");
        (row.waiting + row.dropped != 300 || row.dropped == 0).then(|| "some dropped".to_owned())
    });
    let kept = json(&tap(&lab, &["--dropped", "--past", "--json"]));
    let last = kept.last().expect("a message");
    assert!(last["text"].as_str().is_some_and(|text| text.contains("message number 299 ")), "{last}");
    assert_eq!(last["text"].as_str().map(str::len), Some(1024));
    assert!(last["bytes"].as_u64() > Some(10_000));
}

#[test]
fn what_was_refused() {
    let lab = Lab::new();
    std::fs::create_dir_all(lab.path("taken/app")).expect("a folder");
    let _penstock = Penstock::start(&lab, &config("file(\"%dir%/taken/$PROGRAM\" template(\"$MSG\\n\"));"));
    let mut sender = Sender::tcp(lab.port("in"));
    sender.line("<13>Nov 11 01:02:03 h app: red \u{1b}[31m alert");
    sender.finish();
    let mut outcome = None;
    wait_until("the refusal", || {
        outcome = Some(tap(&lab, &["--dropped", "refused", "--past"])).filter(|o| o.code == Some(0));
        outcome.is_some()
    });
    assert_eq!(outcome.expect("an answer").stdout, "d#0 refused: red \\u{1b}[31m alert\n");
}

/// Taps in a thread of its own and sends until it ends.
fn tap_and_send(lab: &Lab, args: &[&str], lines: &[&str]) -> Outcome {
    let mut sender = Sender::tcp(lab.port("in"));
    let state = lab.path("state").display().to_string();
    std::thread::scope(|scope| {
        let tapping = scope.spawn(|| tap_in(&state, args));
        while !tapping.is_finished() {
            lines.iter().for_each(|line| sender.line(line));
            std::thread::park_timeout(std::time::Duration::from_millis(5));
        }
        tapping.join().expect("the tap")
    })
}

#[test]
fn messages_are_seen_where_they_come_by() {
    let lab = Lab::new();
    let config = format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         filter f_app {{ program(\"app\"); }};\nparser p_kv {{ kv-parser(prefix(\".kv.\")); }};\n\
         rewrite r_host {{ set(\"renamed\" value(\"HOST\")); }};\n\
         destination d {{ file(\"%dir%/d\" template(\"$HOST says $MSG\\n\")); }};\n\
         destination d_rest {{ file(\"%dir%/rest\"); }};\n\
         log {{ source(s); filter(f_app); parser(p_kv); rewrite(r_host); destination(d); }};\n\
         log {{ source(s); filter {{ not filter(f_app); }}; destination(d_rest); }};\n"
    );
    let penstock = Penstock::start(&lab, &config);
    let lines = ["<13>Nov 11 01:02:03 web app: user=bob", "<13>Nov 11 01:02:03 web other: user=eve"];
    let two = |place: &str, more: &[&str]| {
        let outcome =
            tap_and_send(&lab, &[&[place, "--limit", "2", "--timeout", "60"], more].concat(), &lines);
        assert_eq!(outcome.code, Some(0), "{place}: {outcome:?}");
        assert_eq!(outcome.stdout.lines().count(), 2, "{place}: {outcome:?}");
        outcome.stdout
    };
    // A destination shows what it writes; a source both messages, and which ones is for a filter to say.
    assert_eq!(two("d", &[]), "renamed says user=bob\n".repeat(2));
    assert_eq!(
        two("s", &["--where", "program(other)", "--format", "$HOST $PROGRAM"]),
        "web other\n".repeat(2)
    );
    // Behind a step the message is what it is there; the filter is asked there, too.
    assert_eq!(two("parser p_kv", &["--format", "$HOST ${.kv.user}"]), "web bob\n".repeat(2));
    assert_eq!(two("r_host", &["--where", "host(renamed)", "--format", "$HOST"]), "renamed\n".repeat(2));
    let files =
        std::fs::read_dir(lab.dir()).unwrap().filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let name = files.into_iter().find(|name| name.ends_with(".conf")).expect("a configuration");
    assert_eq!(
        two(&format!("{name}:10"), &["--where", "program(other)", "--format", "$PROGRAM"]),
        "other\n".repeat(2)
    );
    // All values, and what is known of the message beside them.
    let outcome = tap_and_send(
        &lab,
        &["filter f_app", "--limit", "1", "--format", "json", "--json", "--timeout", "60"],
        &lines,
    );
    let told = &json(&outcome)[0];
    assert_eq!((&told["source"], &told["version"]), (&"s#0".into(), &1.into()));
    let values: Value = serde_json::from_str(told["text"].as_str().unwrap()).expect("values");
    assert_eq!(values["PROGRAM"], "app");
    // What does not come by, is not there, or is wrongly asked.
    let outcome = tap(&lab, &["d", "--timeout", "1"]);
    assert!(outcome.code == Some(1) && outcome.stderr.contains("no message came by"), "{outcome:?}");
    let outcome = tap(&lab, &["d_none", "--timeout", "1"]);
    assert!(outcome.code == Some(1) && outcome.stderr.contains("destination d#0"), "{outcome:?}");
    let outcome = tap(&lab, &["d", "--where", "progam(x)", "--timeout", "1"]);
    assert!(outcome.code == Some(1) && outcome.stderr.contains("program"), "{outcome:?}");
    assert_eq!(tap(&lab, &["d", "--rate", "often"]).code, Some(2));
    assert_eq!(tap(&lab, &[]).code, Some(2));
    penstock.ledger().assert_balanced();
    penstock.stop();
}
