//! A whole run with the one receiver that is always there: the floor.

use std::process::Command;

#[test]
fn the_floor_receives_everything_and_reports_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_bench"))
        .args(["--receivers=floor", "--cases=tcp-1,tcp-50,ietf-1", "--messages=5000", "--rounds=1", "--out"])
        .arg(folder.path().join("out"))
        .arg("--work-dir")
        .arg(folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let csv = std::fs::read_to_string(folder.path().join("out/bench.csv")).unwrap();
    let delivered: Vec<_> = csv.lines().skip(1).map(|line| line.split(',').nth(5).unwrap()).collect();
    assert_eq!(delivered, ["5000", "5000", "5000"], "{csv}");
    for name in ["bench.md", "bench.svg"] {
        assert!(folder.path().join("out").join(name).exists(), "{name}");
    }
    // Nothing of the receivers is left.
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn the_list_names_cases_and_aims() {
    let output =
        Command::new(env!("CARGO_BIN_EXE_bench")).args(["--list", "--cases=tcp-1"]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.starts_with("tcp-1 ") && text.contains("aim: at most 1.6 times the floor's"), "{text}");
}
