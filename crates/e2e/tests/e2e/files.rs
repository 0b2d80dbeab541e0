//! Files: followed, rotated in all ways, over restarts and kills, by the thousand.

use crate::messages::{HEAD, assert_complete, block, line, message};
use std::collections::HashMap;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use testkit::{Lab, Penstock, Signal, run_command, wait_until};

fn config(source: &str) -> String {
    format!(
        "{HEAD}source s {{ {source} }};\n\
         destination d {{ file(\"%dir%/out\"); }};\n\
         log {{ source(s); destination(d); flags(flow-control); }};\n"
    )
}

fn append(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
    let mut file = OpenOptions::new().append(true).create(true).open(path).expect("open");
    file.write_all(text.as_bytes()).expect("write");
}

/// So many messages, beginning with this one.
fn from(connection: usize, first: usize, count: usize) -> String {
    (first..first + count).map(|n| message(connection, n) + "\n").collect()
}

/// The numbers of the messages in the output. A killed program may leave half a line, to which the next one
/// adds a whole one.
fn numbers(lab: &Lab) -> Vec<usize> {
    let number = |line: &String| {
        let (_, text) = line.rsplit_once("message number ")?;
        text.strip_suffix(" of connection 0")?.parse().ok()
    };
    lab.lines("out").iter().filter_map(number).collect()
}

#[test]
fn followed_and_rotated_in_all_ways() {
    let lab = Lab::new();
    let path = lab.path("in");
    append(&path, &from(0, 0, 10));
    let mut penstock = Penstock::start(&lab, &config("file(\"%dir%/in\");"));
    penstock.wait_settled(10);
    append(&path, &from(0, 10, 10));
    std::fs::rename(&path, lab.path("in.1")).expect("rename");
    append(&path, &from(0, 20, 10));
    penstock.wait_settled(30);
    std::fs::copy(&path, lab.path("in.2")).expect("copy");
    OpenOptions::new().write(true).truncate(true).open(&path).expect("truncate");
    append(&path, &from(0, 30, 10));
    penstock.wait_settled(40);
    append(&path, &from(0, 40, 10));
    std::fs::remove_file(&path).expect("remove");
    append(&path, &from(0, 50, 10));
    penstock.wait_settled(60).assert_nothing_lost();
    penstock.stop();
    assert_complete(&lab.lines("out"), 1, 60);
}

#[test]
fn without_old_records_what_came_between_two_runs_is_read() {
    let lab = Lab::new();
    let (path, text) = (lab.path("in"), config("file(\"%dir%/in\" read-old-records(no));"));
    append(&path, &from(0, 500, 10));
    let mut penstock = Penstock::start(&lab, &text);
    penstock.wait_log("starting up");
    // Its end has been noted.
    wait_until("a position", || {
        run_command(&["state", "dump", "--state-dir", &lab.path("state").to_string_lossy()])
            .stdout
            .contains("affile_sd_curpos")
    });
    append(&path, &from(0, 0, 10));
    penstock.wait_settled(10);
    penstock.stop();
    append(&path, &from(0, 10, 10));
    std::fs::rename(&path, lab.path("in.1")).expect("rename");
    append(&path, &from(0, 20, 10));
    let mut penstock = Penstock::start(&lab, &text);
    penstock.wait_settled(20).assert_nothing_lost();
    penstock.stop();
    assert_complete(&lab.lines("out"), 1, 30);
}

#[test]
fn rotated_between_two_runs() {
    let lab = Lab::new();
    let path = lab.path("in");
    let text = config("file(\"%dir%/in\");");
    append(&path, &from(0, 0, 10));
    let mut penstock = Penstock::start(&lab, &text);
    penstock.wait_settled(10);
    penstock.stop();
    append(&path, &from(0, 10, 10));
    std::fs::rename(&path, lab.path("in.1")).expect("rename");
    append(&path, &from(0, 20, 10));
    let mut penstock = Penstock::start(&lab, &text);
    penstock.wait_settled(20);
    penstock.stop();
    // The same inode or another: it is another file.
    std::fs::remove_file(&path).expect("remove");
    append(&path, &from(0, 30, 10));
    let mut penstock = Penstock::start(&lab, &text);
    penstock.wait_settled(10).assert_nothing_lost();
    penstock.stop();
    assert_complete(&lab.lines("out"), 1, 40);
}

#[test]
fn a_thousand_files_in_order_each() {
    let lab = Lab::new();
    let path = |n: usize| lab.path(&format!("logs/{}/{n}.log", n % 10));
    (0..1000).for_each(|n| append(&path(n), &from(n, 0, 5)));
    let source =
        "wildcard-file(base-dir(\"%dir%/logs\") filename-pattern(\"*.log\") recursive(yes) max-files(2000));";
    let mut penstock = Penstock::configure(&lab, &config(source)).ulimit("-n 4096").ready();
    penstock.wait_settled(5_000);
    (0..1000).for_each(|n| append(&path(n), &from(n, 5, 5)));
    penstock.wait_settled(10_000).assert_nothing_lost();
    penstock.stop();
    assert_complete(&lab.lines("out"), 1000, 10);
}

#[test]
fn more_files_than_may_be_open_wait_for_room() {
    let lab = Lab::new();
    let path = |n: usize| lab.path(&format!("logs/{n}.log"));
    let source = "wildcard-file(base-dir(\"%dir%/logs\") filename-pattern(\"*.log\") max-files(2));";
    (0..3).for_each(|n| append(&path(n), &from(n, 0, 5)));
    let mut penstock = Penstock::start(&lab, &config(source));
    penstock.wait_settled(10);
    penstock.wait_log("There are more files than max-files() allows");
    let waiting = (0..3).find(|n| !lab.text("out").contains(&line(*n, 0))).expect("one waits");
    std::fs::remove_file(path((waiting + 1) % 3)).expect("remove");
    penstock.wait_settled(15).assert_nothing_lost();
    penstock.stop();
    assert_complete(&lab.lines("out"), 3, 5);
}

#[test]
fn several_lines_a_message_over_a_restart() {
    let lab = Lab::new();
    let text = config("file(\"%dir%/in\" flags(no-parse) multi-line-mode(indented));")
        .replace("file(\"%dir%/out\")", "file(\"%dir%/out\" template(\"$(format-json --key MESSAGE)\\n\"))");
    append(&lab.path("in"), "one\n 1\ntwo\n");
    let mut penstock = Penstock::start(&lab, &text);
    penstock.wait_settled(1);
    penstock.stop();
    append(&lab.path("in"), " 2\nthree\n");
    let mut penstock = Penstock::start(&lab, &text);
    penstock.wait_settled(1);
    penstock.stop();
    assert_eq!(lab.lines("out"), ["{\"MESSAGE\":\"one\\n 1\"}", "{\"MESSAGE\":\"two\\n 2\"}"]);
}

#[test]
fn bytes_lost_by_a_truncation_are_said() {
    let lab = Lab::new();
    // The destination takes nothing: the source soon has no credit to read on.
    rustix_fifo(&lab.path("pipe"));
    let text =
        config("file(\"%dir%/in\" log-iw-size(100));").replace("file(\"%dir%/out\")", "pipe(\"%dir%/pipe\")");
    append(&lab.path("in"), &block(0, 100_000));
    let mut penstock = Penstock::start(&lab, &text);
    penstock.wait_ledger(|ledger| (ledger.received() == 0).then(|| "something read".to_owned()));
    OpenOptions::new().write(true).truncate(true).open(lab.path("in")).expect("truncate");
    penstock.wait_log("lost_bytes=");
    let lost =
        |line: &str| line.starts_with("src.file;") && line.contains(";lost_bytes;") && !line.ends_with(";0");
    wait_until("the count of lost bytes", || penstock.stats().lines().any(lost));
}

fn rustix_fifo(path: &Path) {
    let made = std::process::Command::new("mkfifo").arg(path).status();
    assert!(made.is_ok_and(|status| status.success()), "a named pipe");
}

/// One file, read by one worker, worked on by four: what an idle one takes comes out in its place all the
/// same.
#[test]
fn one_large_file_over_all_cores_in_order() {
    const COUNT: usize = 200_000;
    let lab = Lab::new();
    append(&lab.path("in"), &block(0, COUNT));
    let text = costly("file(\"%dir%/in\");");
    let mut penstock = Penstock::configure(&lab, &text).arg("--worker-threads").arg("4").ready();
    penstock.wait_settled(COUNT as u64).assert_nothing_lost();
    penstock.stop();
    assert_in_order(&lab, COUNT);
}

/// What the old file's reader gave to other workers comes before the first line of the file that took its
/// place.
#[test]
fn a_file_is_replaced_while_several_workers_have_its_batches() {
    const COUNT: usize = 60_000;
    const GENERATIONS: usize = 4;
    let lab = Lab::new();
    let mut penstock =
        Penstock::configure(&lab, &costly("file(\"%dir%/in\");")).arg("--worker-threads").arg("4").ready();
    for generation in 0..GENERATIONS {
        append(&lab.path("next"), &from(0, generation * COUNT, COUNT));
        if generation > 0 {
            std::fs::rename(lab.path("in"), lab.path(&format!("in.{generation}"))).expect("rename");
        }
        std::fs::rename(lab.path("next"), lab.path("in")).expect("rename");
        // It is read, and not to its end.
        let begun = generation * COUNT + 1;
        wait_until("its first lines", || numbers_at_least(&lab, begun));
    }
    penstock.wait_settled((GENERATIONS * COUNT) as u64).assert_nothing_lost();
    penstock.stop();
    assert_in_order(&lab, GENERATIONS * COUNT);
}

#[track_caller]
fn assert_in_order(lab: &Lab, count: usize) {
    let numbers = numbers(lab);
    assert_eq!(numbers.len(), count);
    let wrong = numbers.iter().enumerate().find(|(index, number)| index != *number);
    assert_eq!(wrong, None, "out of order");
}

/// A log path that costs more than reading.
fn costly(source: &str) -> String {
    config(source).replace(
        "destination(d);",
        "filter { message(\"number [0-9]+ (of|in) .*[a-z]+ion ([0-9]|x)\") and message(\"(essag|umbe|onnec)[a-z]* .*[0-9]$\") };\n\
         rewrite { subst(\"nothing[0-9]+\", \"x\", value(\"MESSAGE\") flags(global)); };\n destination(d);",
    )
}

#[test]
fn names_that_are_excluded_and_a_rate_of_looking() {
    let lab = Lab::new();
    // Nothing is heard of changes: files are looked at.
    let source = "wildcard-file(base-dir(\"%dir%/logs\") filename-pattern(\"*.log*\") exclude-pattern(\"*.g?\") \
                  monitor-method(poll) monitor-freq(0.05) follow-freq(0.02));";
    append(&lab.path("logs/a.log"), &from(0, 0, 5));
    append(&lab.path("logs/a.log.gz"), &from(7, 0, 5));
    let mut penstock = Penstock::start(&lab, &config(source));
    penstock.wait_settled(5);
    append(&lab.path("logs/a.log"), &from(0, 5, 5));
    append(&lab.path("logs/b.log.1"), &from(1, 0, 10));
    append(&lab.path("logs/b.log.g1"), &from(8, 0, 5));
    penstock.wait_settled(20).assert_nothing_lost();
    penstock.stop();
    assert_complete(&lab.lines("out"), 2, 10);
}

/// One worker, and a file that would keep it for long: the other file has its turns all the same, after so
/// many messages.
#[test]
fn a_limit_of_messages_in_one_turn() {
    let lab = Lab::new();
    append(&lab.path("big"), &block(0, 20_000));
    append(&lab.path("small"), &block(1, 10));
    let text =
        config("file(\"%dir%/big\" log-fetch-limit(100)); file(\"%dir%/small\" log-fetch-limit(100));");
    let mut penstock = Penstock::configure(&lab, &text).arg("--worker-threads").arg("1").ready();
    penstock.wait_settled(20_010).assert_nothing_lost();
    penstock.stop();
    let lines = lab.lines("out");
    let last = lines.iter().rposition(|line| line.ends_with("connection 1")).expect("the small one");
    assert!(last + 1 < lines.len(), "the small one waited for all of the large one");
    let (big, small): (Vec<String>, Vec<String>) =
        lines.into_iter().partition(|line| line.ends_with("connection 0"));
    assert_eq!(small.len(), 10);
    assert_complete(&big, 1, 20_000);
}

/// Text in another character set, over a restart in the middle of a line.
#[test]
fn another_encoding_over_a_restart() {
    let lab = Lab::new();
    let text = config("file(\"%dir%/in\" flags(no-parse) encoding(\"utf-16le\"));")
        .replace("file(\"%dir%/out\")", "file(\"%dir%/out\" template(\"${MESSAGE}\\n\"))");
    let bytes: Vec<u8> = "żółw\nŁódź\nпрощай\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let (first, second) = bytes.split_at(13);
    std::fs::write(lab.path("in"), first).expect("write");
    let mut penstock = Penstock::start(&lab, &text);
    penstock.wait_settled(1);
    penstock.stop();
    let mut file = OpenOptions::new().append(true).open(lab.path("in")).expect("open");
    file.write_all(second).expect("write");
    let mut penstock = Penstock::start(&lab, &text);
    penstock.wait_settled(2);
    penstock.stop();
    assert_eq!(lab.lines("out"), ["żółw", "Łódź", "прощай"]);
}

/// Each mode, and the message that nothing ends but silence.
#[test]
fn the_last_of_several_lines_is_a_message_after_a_while() {
    let modes = [
        ("indented", "a\n b\nc\n", ["a\\n b", "c"]),
        ("prefix-garbage) multi-line-prefix(\"^[0-9]\"", "1 a\nb\n2 c\nd\n", ["1 a\\nb", "2 c\\nd"]),
        (
            "prefix-suffix) multi-line-prefix(\"^<\") multi-line-suffix(\">$\"",
            "<a\nb>\n<c\nd\n",
            ["<a\\nb>", "<c\\nd"],
        ),
        ("empty-line-separated", "a\nb\n\nc\nd\n", ["a\\nb", "c\\nd"]),
        (
            "smart",
            "Traceback (most recent call last):\n  File \"x.py\", line 1, in <module>\nValueError: a\nb\n",
            [
                "Traceback (most recent call last):\\n  File \\\"x.py\\\", line 1, in <module>\\nValueError: a",
                "b",
            ],
        ),
    ];
    for (mode, input, expected) in modes {
        let lab = Lab::new();
        let source =
            format!("file(\"%dir%/in\" flags(no-parse) multi-line-mode({mode}) multi-line-timeout(1));");
        let text = config(&source).replace(
            "file(\"%dir%/out\")",
            "file(\"%dir%/out\" template(\"$(format-json --key MESSAGE)\\n\"))",
        );
        append(&lab.path("in"), input);
        let mut penstock = Penstock::start(&lab, &text);
        penstock.wait_settled(2);
        penstock.stop();
        let expected = expected.map(|message| format!("{{\"MESSAGE\":\"{message}\"}}"));
        assert_eq!(lab.lines("out"), expected, "{mode}");
    }
}

/// An inode that is free again is given out again: the new file is another one, whatever it is called.
#[test]
fn a_new_file_with_the_inode_of_the_one_before() {
    use std::os::unix::fs::MetadataExt;
    /// Files to try with; file systems that count inodes up give none out twice.
    const FILES_MAX: usize = 2_000;
    let lab = Lab::new();
    let path = lab.path("in");
    let text = config("file(\"%dir%/in\");");
    let inode = || std::fs::metadata(&path).map(|meta| meta.ino()).expect("a file");
    append(&path, &from(0, 0, 10));
    let mut penstock = Penstock::start(&lab, &text);
    penstock.wait_settled(10);
    penstock.stop();
    let before = inode();
    // No shorter than the first one, so that only its beginning tells it apart.
    let is_again = (0..FILES_MAX).any(|_| {
        std::fs::remove_file(&path).expect("remove");
        append(&path, &from(0, 10, 10));
        inode() == before
    });
    if !is_again {
        eprintln!("skipped: none of {FILES_MAX} files on {} had the inode of the first one", path.display());
        return;
    }
    let mut penstock = Penstock::start(&lab, &text);
    penstock.wait_settled(10);
    penstock.stop();
    assert_complete(&lab.lines("out"), 1, 20);
}

/// The system allows fewer open files than there are: the rest waits, connections and destinations have
/// descriptors, and a file that goes makes room.
#[test]
fn more_files_than_the_system_allows_wait() {
    const FILES: usize = 300;
    let lab = Lab::new();
    let path = |n: usize| lab.path(&format!("logs/{}/{n}.log", n % 7));
    (0..FILES).for_each(|n| append(&path(n), &from(n, 0, 3)));
    let source =
        "wildcard-file(base-dir(\"%dir%/logs\") filename-pattern(\"*.log\") recursive(yes) max-files(1000));";
    let mut penstock = Penstock::configure(&lab, &config(source)).ulimit("-n 200").ready();
    penstock.wait_log("No more files can be open at once");
    let mut gone = vec![false; FILES];
    wait_until("all files read", || {
        // What was read goes, so that another one has its turn.
        let text = lab.text("out");
        for n in (0..FILES).filter(|n| text.contains(&line(*n, 2))) {
            if !std::mem::replace(&mut gone[n], true) {
                std::fs::remove_file(path(n)).expect("remove");
            }
        }
        gone.iter().all(|gone| *gone)
    });
    penstock.wait_settled(3 * FILES as u64).assert_nothing_lost();
    penstock.stop();
    assert_complete(&lab.lines("out"), FILES, 3);
}

/// All files get new names at once and others take their places: each is read to its end, before its
/// successor.
#[test]
fn a_thousand_files_rotated_at_once() {
    const FILES: usize = 1000;
    let lab = Lab::new();
    let path = |n: usize| lab.path(&format!("logs/{}/{n}.log", n % 10));
    let source =
        "wildcard-file(base-dir(\"%dir%/logs\") filename-pattern(\"*.log\") recursive(yes) max-files(2000));";
    (0..FILES).for_each(|n| append(&path(n), &from(n, 0, 3)));
    let mut penstock = Penstock::configure(&lab, &config(source)).ulimit("-n 4096").ready();
    for generation in 1..4 {
        (0..FILES).for_each(|n| append(&path(n), &from(n, 6 * generation - 3, 3)));
        for n in 0..FILES {
            std::fs::rename(path(n), lab.path(&format!("logs/{}/{n}.{generation}", n % 10))).expect("rename");
        }
        (0..FILES).for_each(|n| append(&path(n), &from(n, 6 * generation, 3)));
        // A file that comes and goes while notifications are lost is never seen.
        penstock.wait_settled(((6 * generation + 3) * FILES) as u64).assert_nothing_lost();
    }
    penstock.stop();
    assert_complete(&lab.lines("out"), FILES, 21);
}

#[test]
fn killed_again_and_again_nothing_is_lost_and_a_batch_at_most_repeated() {
    const COUNT: usize = 300_000;
    /// Messages in 256 KiB.
    const BATCH: usize = 256 * 1024 / 60;
    let lab = Lab::new();
    let text = config("file(\"%dir%/in\");");
    append(&lab.path("in"), &block(0, COUNT));
    let mut kills = 0;
    for part in 1..=4 {
        let mut penstock = Penstock::configure(&lab, &text).arg("--worker-threads").arg("1").spawned();
        let enough = COUNT * part / 5;
        wait_until("some of the output", || numbers_at_least(&lab, enough));
        penstock.signal(Signal::KILL);
        penstock.wait_end();
        kills += 1;
    }
    let mut penstock = Penstock::start(&lab, &text);
    wait_until("all of it", || numbers_at_least(&lab, COUNT));
    penstock.wait_settled_input();
    penstock.stop();
    let mut seen: HashMap<usize, usize> = HashMap::new();
    numbers(&lab).into_iter().for_each(|n| *seen.entry(n).or_default() += 1);
    assert!((0..COUNT).all(|n| seen.contains_key(&n)), "a message is missing");
    let repeated: usize = seen.values().map(|times| times - 1).sum();
    assert!(repeated <= kills * BATCH, "{repeated} repeated after {kills} kills");
}

/// Whether the message with this number, or the last one, is in the output: by the file's end, which is cheap
/// to look at.
fn numbers_at_least(lab: &Lab, number: usize) -> bool {
    let bytes = std::fs::read(lab.path("out")).unwrap_or_default();
    let end = String::from_utf8_lossy(&bytes[bytes.len().saturating_sub(500)..]).into_owned();
    let found = end.lines().filter_map(|line| {
        line.rsplit_once("message number ")?.1.strip_suffix(" of connection 0")?.parse::<usize>().ok()
    });
    found.max().is_some_and(|n| n + 1 >= number)
}
