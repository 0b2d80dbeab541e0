//! The rules of the house, run on the checkout.

use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use xtask::{dependencies, fuzz, layers, leaves, licences, limits, sources, words, workspace::Workspace};

fn check(faults: fn(&Workspace) -> Vec<String>) {
    static WORKSPACE: OnceLock<Workspace> = OnceLock::new();
    let workspace = WORKSPACE.get_or_init(|| Workspace::load().expect("cargo metadata"));
    let faults = faults(workspace);
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

#[test]
fn arrows_point_down() {
    check(layers::faults);
}

#[test]
fn drivers_are_leaves() {
    check(leaves::faults);
}

#[test]
fn files_are_short_and_say_what_they_are() {
    check(sources::faults);
}

#[test]
fn dependencies_have_reasons() {
    check(dependencies::faults);
}

#[test]
fn licences_are_on_the_list() {
    check(licences::faults);
}

#[test]
fn bounds_are_as_described() {
    check(limits::faults);
}

#[test]
fn fuzz_targets_are_in_step() {
    check(fuzz::faults);
}

#[test]
fn words_say_what_they_are() {
    check(words::faults);
}

/// What the hook says to a commit message; nothing when it is good.
fn hook_says(message: &str) -> String {
    let hook = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/hooks/commit-msg");
    let mut command = Command::new("sh");
    command.arg(hook).arg("/dev/stdin").stdin(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("a shell");
    let mut input = child.stdin.take().expect("its input");
    input.write_all(message.as_bytes()).expect("it reads");
    drop(input);
    let output = child.wait_with_output().expect("its end");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.success(), said.is_empty(), "{said}");
    said
}

#[test]
fn commit_messages_say_what_and_why() {
    let (fits, long) = ("x".repeat(72), "x".repeat(73));
    for (message, expected) in [
        (format!("{fits}\n\nbecause\n"), ""),
        (format!("{fits}\n# a comment\n\nbecause\n"), ""),
        (format!("{long}\n\nbecause\n"), "73 characters"),
        ("ünïcödé\n\nbecause\n".to_owned(), ""),
        ("what\nbecause\n".to_owned(), "second line"),
        ("what\n".to_owned(), "say why"),
        ("what\n\nSigned-off-by: somebody\n".to_owned(), "say why"),
        (format!("fixup! {long}\n"), ""),
        (format!("Merge {long}\n"), ""),
    ] {
        let said = hook_says(&message);
        assert!(said.contains(expected) && said.is_empty() == expected.is_empty(), "{message:?}: {said}");
    }
}
