use crate::testing::{HEAD, Running, errors, wait_until};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;

fn config(source: &str) -> String {
    format!(
        "{HEAD}source s {{ {source} }};\n\
         destination d {{ file(\"%dir%/out\" template(\"${{TRANSPORT}}|${{PROGRAM}}|${{MSG}}\\n\")); }};\n\
         log {{ source(s); destination(d); flags(flow-control); }};\n"
    )
}

fn append(path: &Path, bytes: impl AsRef<[u8]>) {
    let mut file = OpenOptions::new().append(true).create(true).open(path).expect("open");
    file.write_all(bytes.as_ref()).expect("write");
}

fn log(text: &str) -> String {
    format!("<13>Nov 11 01:02:03 h app: {text}\n")
}

fn messages(lines: &[String]) -> Vec<&str> {
    lines.iter().map(|line| line.rsplit('|').next().unwrap_or_default()).collect()
}

#[test]
fn a_file_that_grows_and_one_that_comes_later() {
    for method in ["inotify", "poll"] {
        let source = format!("file(\"%dir%/in\" follow-freq(0.01) follow-method({method}));");
        let running = Running::start(&config(&source));
        append(&running.path("in"), log("one") + &log("two"));
        assert_eq!(running.wait_lines("out", 2)[0], "local+file|app|one");
        append(&running.path("in"), "<13>Nov 11 01:02:03 h app: th");
        append(&running.path("in"), "ree\n");
        assert_eq!(messages(&running.wait_lines("out", 3)), ["one", "two", "three"], "{method}");
    }
}

#[test]
fn rotation_in_all_ways() {
    let running = Running::start(&config("file(\"%dir%/in\");"));
    let path = running.path("in");
    append(&path, log("first"));
    running.wait_lines("out", 1);
    // By name: what is still written to the old file comes too, before the new one's.
    append(&path, log("second"));
    std::fs::rename(&path, running.path("in.1")).expect("rename");
    append(&path, log("third"));
    running.wait_lines("out", 3);
    append(&running.path("in.1"), log("late"));
    running.wait_lines("out", 4);
    // By copying.
    File::options().write(true).open(&path).expect("open").set_len(0).expect("truncate");
    append(&path, log("fourth"));
    running.wait_lines("out", 5);
    // By removing.
    append(&path, log("fifth"));
    std::fs::remove_file(&path).expect("remove");
    append(&path, log("sixth"));
    let lines = running.wait_lines("out", 7);
    assert_eq!(messages(&lines), ["first", "second", "third", "late", "fourth", "fifth", "sixth"]);
}

#[test]
fn what_was_there_before() {
    let mut running = Running::idle();
    append(&running.path("in"), log("old"));
    running.reload(&config("file(\"%dir%/in\" read-old-records(no));")).expect("starts");
    // The file is known once its position is stored.
    let state = std::sync::Arc::clone(running.shared().state());
    wait_until("a position", || !state.with_prefix(b"").is_empty());
    append(&running.path("in"), log("new"));
    assert_eq!(messages(&running.wait_lines("out", 1)), ["new"]);
}

#[test]
fn a_reload_with_other_options_repeats_nothing() {
    let mut running = Running::start(&config("file(\"%dir%/in\");"));
    append(&running.path("in"), log("before") + "<13>Nov 11 01:02:03 h app: ha");
    running.wait_lines("out", 1);
    running.reload(&config("file(\"%dir%/in\" log-msg-size(1000) program-override(new));")).expect("reload");
    append(&running.path("in"), "lf\n");
    let lines = running.wait_lines("out", 2);
    assert_eq!(lines, ["local+file|app|before", "local+file|new|half"]);
}

#[test]
fn several_lines_a_message() {
    let source = "file(\"%dir%/in\" flags(no-parse) multi-line-mode(prefix-garbage) multi-line-prefix('^[0-9]') \
                  multi-line-timeout(1));";
    let text = config(source).replace("${MSG}", "$(format-json --key MESSAGE)");
    let running = Running::start(&text);
    append(&running.path("in"), "1 a\n b\n2 c\nd\n3 last\n");
    let lines = running.wait_lines("out", 3);
    let found: Vec<&str> = lines.iter().map(|line| line.split_once(":\"").expect("json").1).collect();
    assert_eq!(found, ["1 a\\n b\"}", "2 c\\nd\"}", "3 last\"}"]);
}

#[test]
fn another_character_set_and_records() {
    let running = Running::start(&config(
        "file(\"%dir%/in\" flags(no-parse) encoding(\"utf-16le\")); file(\"%dir%/rec\" flags(no-parse) pad-size(8));",
    ));
    append(&running.path("in"), "é€\n".encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>());
    assert_eq!(messages(&running.wait_lines("out", 1)), ["é€"]);
    append(&running.path("rec"), "a\0\0\0\0\0\0\0b\nxxxxxx");
    assert_eq!(messages(&running.wait_lines("out", 3)), ["é€", "a", "b"]);
}

#[test]
fn files_that_are_written_to_all_the_time() {
    const FILES: usize = 16;
    const ROUNDS: usize = 1500;
    let running = Running::start(&config("file(\"%dir%/*.log\");"));
    let path = |n: usize| running.path(&format!("{n}.log"));
    let mut expected = 0;
    for storm in 0..2 {
        let open = |n: usize| OpenOptions::new().append(true).create(true).open(path(n)).expect("open");
        let mut files: Vec<File> = (0..FILES).map(open).collect();
        for round in 0..ROUNDS {
            for (n, file) in files.iter_mut().enumerate() {
                file.write_all(log(&format!("{n} {storm} {round:05}")).as_bytes()).expect("write");
            }
            if round == ROUNDS / 2 {
                std::fs::rename(path(0), running.path(&format!("0.{storm}"))).expect("rename");
                files[0] = open(0);
            }
        }
        expected += FILES * ROUNDS;
        running.wait_lines("out", expected);
        // Who writes now and then is heard at once again.
        for n in 0..FILES {
            append(&path(n), log(&format!("{n} {storm} after")));
            expected += 1;
            running.wait_lines("out", expected);
        }
    }
    let lines = running.wait_lines("out", expected);
    let mut found: Vec<Vec<&str>> = vec![Vec::new(); FILES];
    for text in messages(&lines) {
        let (n, rest) = text.split_once(' ').expect("a number");
        found[n.parse::<usize>().expect("a number")].push(rest);
    }
    assert_eq!(lines.len(), expected);
    for of_file in found {
        assert!(of_file.len() == 2 * ROUNDS + 2 && of_file.is_sorted(), "each in its order");
    }
}

#[test]
fn names_with_a_wildcard_and_devices() {
    let running = Running::start(&config("file(\"%dir%/*.log\"); file(\"/dev/null\");"));
    append(&running.path("a.log"), log("a"));
    append(&running.path("b.txt"), log("no"));
    running.wait_lines("out", 1);
    append(&running.path("c.log"), log("c"));
    assert_eq!(messages(&running.wait_lines("out", 2)), ["a", "c"]);
}

#[test]
fn what_cannot_be_followed_is_said() {
    let mut running = Running::idle();
    let error = running.reload(&config("file(\"%dir%\");")).expect_err("a folder");
    assert!(error.contains("it is a folder"), "{error}");
    let found = errors(&config("file(\"/x\" multi-line-mode(clever));"));
    assert!(found.contains("clever"), "{found}");
    let found = errors(&config("file(\"/x\" multi-line-mode(prefix-suffix));"));
    assert!(found.contains("D0113"), "{found}");
    let found = errors(&config("file(\"/x\" multi-line-mode(regexp) multi-line-prefix('(')); "));
    assert!(found.contains("D0112"), "{found}");
}
