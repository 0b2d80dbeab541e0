//! What comes, recorded as it comes and sent again. Judged by what receivers have in their files.

use crate::messages::{HEAD, line, message, send};
use std::path::Path;
use testkit::{Lab, Outcome, Penstock, Sender, run_command, wait_until};

fn command(lab: &Lab, name: &str, args: &[&str]) -> Outcome {
    let state = lab.path("state").display().to_string();
    run_command(&[&[name, "--state-dir", &state], args].concat())
}

fn config(more: &str) -> String {
    format!(
        "{HEAD}{more}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         source s_other {{ network(ip(127.0.0.1) port(%tcp:other%)); }};\n\
         filter f_odd {{ message(\"number [0-9]*[13579] \"); }};\n\
         destination d {{ file(\"%dir%/out\"); }};\n\
         destination d_odd {{ file(\"%dir%/odd\" template(\"$MSG $SOURCEIP ${{TAGS}} ${{R_UNIXTIME}}\\n\")); }};\n\
         destination d_other {{ file(\"%dir%/other\"); }};\n\
         log {{ source(s); destination(d); }};\nlog {{ source(s); filter(f_odd); destination(d_odd); }};\n\
         log {{ source(s_other); destination(d_other); }};\n"
    )
}

/// Records messages that are sent all the while, until the recording has `count`.
fn recorded(lab: &Lab, count: usize) -> String {
    let path = lab.path("in.recording").display().to_string();
    let (state, output) = (lab.path("state").display().to_string(), path.clone());
    let limit = count.to_string();
    let capturing = std::thread::spawn(move || {
        let args = ["capture", "s", "--state-dir", &state, "--output", &output, "--limit", &limit];
        run_command(&[&args[..], &["--timeout", "60"]].concat())
    });
    let (mut sender, mut other) = (Sender::tcp(lab.port("in")), Sender::tcp(lab.port("other")));
    let mut number = 0;
    wait_until("the recording", || {
        other.line(&message(9, number));
        sender.line(&message(0, number));
        number += 1;
        capturing.is_finished()
    });
    let outcome = capturing.join().expect("the command");
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let said = if count == 1 { "1 message in ".to_owned() } else { format!("{count} messages in ") };
    assert!(outcome.stderr.contains(&said), "{outcome:?}");
    path
}

/// An entry of a recording as docs/recording-format.md has it, of IPv4.
struct Entry<'a> {
    time: i64,
    address: [u8; 4],
    source: &'a str,
    text: &'a [u8],
}

fn entries(mut bytes: &[u8]) -> Vec<Entry<'_>> {
    bytes = bytes.strip_prefix(b"PENSTOCK-RECORDING\0\0\x01\0\0\0").expect("a head");
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let length = u32::from_le_bytes(bytes[..4].try_into().expect("four bytes")) as usize;
        let (body, rest) = bytes[8..].split_at(length);
        assert_eq!(body[8], 4, "the version of the address");
        let (name, text) = body[16..].split_at(usize::from(body[15]));
        found.push(Entry {
            time: i64::from_le_bytes(body[..8].try_into().expect("eight bytes")),
            address: body[9..13].try_into().expect("four bytes"),
            source: std::str::from_utf8(name).expect("a name"),
            text,
        });
        bytes = rest;
    }
    found
}

fn lines(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

fn wait_lines(path: &Path, count: usize) -> Vec<String> {
    wait_until("the lines", || lines(path).len() >= count);
    lines(path)
}

#[test]
fn what_was_recorded_comes_again_as_it_came() {
    let lab = Lab::new();
    let mut penstock = Penstock::start(&lab, &config(""));
    let path = recorded(&lab, 20);
    use std::os::unix::fs::PermissionsExt;
    assert_eq!(std::fs::metadata(&path).expect("a file").permissions().mode() & 0o777, 0o600);
    // What stands in it is what came, in its order; the other source is not in it.
    let kept = std::fs::read(&path).expect("a recording");
    let entries = entries(&kept);
    assert_eq!(entries.len(), 20);
    let first: usize = (0..).find(|n| message(0, *n).as_bytes() == entries[0].text).expect("one of them");
    for (number, entry) in (first..).zip(&entries) {
        assert_eq!((entry.text, entry.source), (message(0, number).as_bytes(), "s#0"));
        assert_eq!(entry.address, [127, 0, 0, 1]);
    }
    penstock.wait_settled_input();
    let before = lines(&lab.path("out")).len();
    let others = lines(&lab.path("other")).len();
    let outcome = command(&lab, "replay", &[&path, "--dry-run"]);
    assert!(
        outcome.code == Some(0) && outcome.stdout.starts_with("20 messages would be sent\ns#0: 20\n"),
        "{outcome:?}"
    );
    // What it promises would be kept.
    for (option, what) in [("--to", "destination"), ("--source", "source")] {
        let outcome = command(&lab, "replay", &[&path, "--dry-run", option, "none"]);
        let why = format!("there is no {what} `none`; there are: ");
        assert!(outcome.code == Some(1) && outcome.stderr.contains(&why), "{outcome:?}");
    }
    let outcome = command(&lab, "replay", &[&path, "--until", "@1"]);
    assert!(outcome.code == Some(1) && outcome.stdout.contains("nothing to send"), "{outcome:?}");
    let outcome = command(&lab, "replay", &[&path, "--speed", "max"]);
    assert!(
        outcome.code == Some(0) && outcome.stdout.starts_with("20 of 20 messages were taken\n"),
        "{outcome:?}"
    );
    let out = wait_lines(&lab.path("out"), before + 20);
    assert_eq!(out.len(), before + 20, "the dry run sent nothing");
    let again: Vec<String> = (first..first + 20).map(|number| line(0, number)).collect();
    assert_eq!(out[before..], again[..]);
    // They have the address and the time of then, and the tag.
    let odd = wait_lines(&lab.path("odd"), 1);
    let marked: Vec<&String> = odd.iter().filter(|line| line.contains("replayed")).collect();
    assert_eq!(marked.len(), 10, "{odd:?}");
    for line in marked {
        assert!(line.contains(" 127.0.0.1 "), "{line}");
        let time: f64 = line.rsplit(' ').next().and_then(|time| time.parse().ok()).expect("a time");
        assert!(entries.iter().any(|entry| (entry.time as f64 / 1e6 - time).abs() < 1.1), "{line}");
    }
    assert_eq!(lines(&lab.path("other")).len(), others);
    penstock.wait_settled_input().assert_balanced();
    // To one destination alone, and to another source.
    let outcome = command(&lab, "replay", &[&path, "--speed", "max", "--to", "d_odd", "--json"]);
    let said: serde_json::Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    assert_eq!((outcome.code, &said["version"], &said["taken"]), (Some(0), &1.into(), &20.into()), "{said}");
    wait_lines(&lab.path("odd"), odd.len() + 10);
    let outcome = command(&lab, "replay", &[&path, "--speed", "max", "--source", "s_other"]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    wait_lines(&lab.path("other"), others + 20);
    assert_eq!(lines(&lab.path("out")).len(), before + 20, "d is not d_odd");
    penstock.wait_settled_input().assert_balanced();
}

#[test]
fn a_recording_is_explained_without_the_program() {
    let lab = Lab::new();
    let penstock = Penstock::start(&lab, &config(""));
    let path = recorded(&lab, 3);
    penstock.stop();
    let config = lab.path("penstock.conf").display().to_string();
    let outcome = run_command(&["explain", "--config", &config, "--input", &path]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert!(outcome.stdout.matches("f_odd").count() >= 3, "{}", outcome.stdout);
    assert!(outcome.stdout.contains("127.0.0.1"), "{}", outcome.stdout);
}

#[test]
fn what_cannot_be_recorded_or_sent_is_said() {
    let lab = Lab::new();
    let penstock = Penstock::start(&lab, &config(""));
    let path = lab.path("x.recording").display().to_string();
    let outcome = command(&lab, "capture", &["s_none", "--output", &path]);
    assert!(outcome.code == Some(1) && outcome.stderr.contains("there are: s#0, s_other#0"), "{outcome:?}");
    assert!(!Path::new(&path).exists());
    let outcome = command(&lab, "capture", &["s", "--output", &path, "--timeout", "1", "--json"]);
    let said: serde_json::Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert_eq!(said, serde_json::json!({ "version": 1, "messages": 0, "missed": 0, "file": null }));
    assert!(!Path::new(&path).exists());
    std::fs::write(&path, "something").expect("a file");
    let outcome = command(&lab, "capture", &["s", "--output", &path]);
    assert!(outcome.code == Some(1) && outcome.stderr.contains("exists"), "{outcome:?}");
    let outcome = command(&lab, "replay", &[&path]);
    assert!(outcome.code == Some(1) && outcome.stderr.contains("not a recording"), "{outcome:?}");
    let outcome = command(&lab, "replay", &[]);
    assert!(outcome.code == Some(1) && outcome.stderr.contains("keep-input"), "{outcome:?}");
    for wrong in [["--speed", "0"], ["--since", "soon"]] {
        assert_eq!(
            command(&lab, "replay", &[&[path.as_str()], &wrong[..]].concat()).code,
            Some(2),
            "{wrong:?}"
        );
    }
    let recorded = recorded(&lab, 1);
    let outcome = command(&lab, "replay", &[&recorded, "--to", "d_none"]);
    assert!(outcome.code == Some(1) && outcome.stderr.contains("no destination `d_none`"), "{outcome:?}");
    // One that was cut off on its way here.
    let whole = std::fs::read(&recorded).expect("the recording");
    std::fs::write(&path, [&whole[..], &whole[24..whole.len() - 1]].concat()).expect("written");
    let outcome = command(&lab, "replay", &[&path, "--dry-run"]);
    let cut =
        format!("ends in the middle of the entry at byte {}; what stands before it is taken", whole.len());
    assert!(outcome.code == Some(0) && outcome.stderr.contains(&cut), "{outcome:?}");
    drop(penstock);
}

#[test]
fn what_is_kept_is_sent_to_the_destination_that_has_lost_it() {
    let lab = Lab::new();
    let mut penstock = Penstock::start(&lab, &config("options { keep-input(8MiB); };\n"));
    send(&lab, 0, 100);
    penstock.wait_ledger(|ledger| (ledger.destination("d").delivered < 100).then(|| "delivered".to_owned()));
    let kept = || command(&lab, "replay", &["--to", "d", "--since", "1h", "--dry-run"]);
    wait_until("what is kept", || kept().stdout.starts_with("100 messages would be sent to d\n"));
    std::fs::remove_file(lab.path("out")).expect("a file");
    let odd = lines(&lab.path("odd"));
    penstock.request("REOPEN");
    let outcome = command(&lab, "replay", &["--to", "d", "--since", "1h"]);
    assert!(outcome.code == Some(0) && outcome.stdout.starts_with("100 of 100"), "{outcome:?}");
    let again = wait_lines(&lab.path("out"), 100);
    assert_eq!(again, (0..100).map(|number| line(0, number)).collect::<Vec<_>>());
    assert_eq!(lines(&lab.path("odd")), odd);
    // What came again is not kept again; before yesterday nothing came.
    assert!(kept().stdout.starts_with("100 messages"), "{:?}", kept());
    let outcome = command(&lab, "replay", &["--until", "1d", "--dry-run"]);
    assert!(outcome.code == Some(1) && outcome.stdout.contains("nothing to send"), "{outcome:?}");
}

#[test]
fn where_nothing_comes_no_file_is_left() {
    let lab = Lab::new();
    let penstock = Penstock::start(&lab, &config(""));
    let path = lab.path("empty.recording");
    let output = path.display().to_string();
    let outcome = command(&lab, "capture", &["s", "--output", &output, "--timeout", "1"]);
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert!(outcome.stderr.starts_with("nothing came in 1 s, and no file is left"), "{outcome:?}");
    assert!(!path.exists());
    penstock.stop();
    // Nor where nobody runs.
    let outcome = command(&lab, "capture", &["s", "--output", &output]);
    assert!(outcome.code == Some(1) && !path.exists(), "{outcome:?}");
}
