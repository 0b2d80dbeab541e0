use crate::testing::{HEAD, Running, errors};
use std::io::Write;
use std::path::Path;

fn config(options: &str) -> String {
    format!(
        "{HEAD}source s {{ wildcard-file(base-dir(\"%dir%/logs\") filename-pattern(\"*.log*\") flags(no-parse) {options}); }};\n\
         destination d {{ file(\"%dir%/out\" template(\"${{FILE_NAME}}|${{MSG}}\\n\")); }};\n\
         log {{ source(s); destination(d); flags(flow-control); }};\n"
    )
}

fn append(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
    let mut file = std::fs::OpenOptions::new().append(true).create(true).open(path).expect("open");
    file.write_all(text.as_bytes()).expect("write");
}

/// The lines of the output, sorted, with paths below the folder.
fn sorted(running: &Running, count: usize) -> Vec<String> {
    let folder = format!("{}/", running.path("logs").display());
    let mut lines: Vec<String> =
        running.wait_lines("out", count).iter().map(|line| line.replace(&folder, "")).collect();
    lines.sort();
    lines
}

#[test]
fn folders_and_files_that_come_later() {
    for method in ["inotify", "poll"] {
        let options =
            format!("recursive(yes) exclude-pattern(\"*.gz\") follow-freq(0.01) monitor-method({method})");
        let running = Running::start(&config(&options));
        append(&running.path("logs/a.log"), "1\n");
        sorted(&running, 1);
        append(&running.path("logs/x/y/b.log"), "2\n");
        append(&running.path("logs/x/c.log.gz"), "no\n");
        append(&running.path("logs/x/c.txt"), "no\n");
        append(&running.path("logs/a.log"), "3\n");
        assert_eq!(sorted(&running, 3), ["a.log|1", "a.log|3", "x/y/b.log|2"], "{method}");
    }
}

#[test]
fn a_renamed_file_that_still_matches_goes_on() {
    let running = Running::start(&config(""));
    let (old, new) = (running.path("logs/a.log"), running.path("logs/a.log.1"));
    append(&old, "1\n");
    sorted(&running, 1);
    std::fs::rename(&old, &new).expect("rename");
    append(&old, "2\n");
    append(&new, "3\n");
    let lines = sorted(&running, 3);
    let texts: Vec<&str> = lines.iter().map(|line| line.rsplit('|').next().unwrap_or_default()).collect();
    assert_eq!(texts.len(), 3);
    assert!(["1", "2", "3"].iter().all(|text| texts.contains(text)), "{lines:?}");
}

#[test]
fn a_link_to_a_file_elsewhere() {
    let running = Running::start(&config(""));
    append(&running.path("else/where"), "1\n");
    std::fs::create_dir_all(running.path("logs")).expect("folder");
    std::os::unix::fs::symlink(running.path("else/where"), running.path("logs/l.log")).expect("link");
    sorted(&running, 1);
    append(&running.path("else/where"), "2\n");
    assert_eq!(sorted(&running, 2), ["l.log|1", "l.log|2"]);
}

#[test]
fn what_is_missing_is_said() {
    let found =
        errors(&format!("{HEAD}source s {{ wildcard-file(base-dir(\"/x\")); }};\nlog {{ source(s); }};"));
    assert!(found.contains("D0114"), "{found}");
    let found = errors(&format!(
        "{HEAD}source s {{ wildcard-file(base-dir(\"/x\") filename-pattern(\"a/*.log\")); }};\nlog {{ source(s); }};"
    ));
    assert!(found.contains("D0111"), "{found}");
}
