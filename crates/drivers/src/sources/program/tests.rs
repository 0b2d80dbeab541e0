use crate::testing::{HEAD, Running, wait_until};
use std::path::Path;

fn config(source: &str) -> String {
    format!(
        "{HEAD}source s {{ {source} }};\n\
         destination d {{ file(\"%dir%/out\" template(\"${{TRANSPORT}}|${{PROGRAM}}|$(format-json --key MSG MSG=${{MSG}})\\n\")); }};\n\
         log {{ source(s); destination(d); }};\n"
    )
}

fn is_running(pid: &str) -> bool {
    let stat = std::fs::read_to_string(Path::new("/proc").join(pid).join("stat")).unwrap_or_default();
    // A zombie waits for its parent only.
    !stat.is_empty() && !stat.contains(") Z ")
}

/// The text between the last bar and the end of a line of the output, as JSON.
fn message(line: &str) -> &str {
    line.rsplit_once("{\"MSG\":\"").and_then(|(_, text)| text.strip_suffix("\"}")).unwrap_or(line)
}

#[test]
fn output_is_read_and_a_program_that_ends_is_started_again() {
    let running = Running::start(&config(
        "program(\"echo '<13>Nov 11 01:02:03 h app: one'; printf 'h two'\" flags(no-hostname));",
    ));
    let lines = running.wait_lines("out", 4);
    assert_eq!(lines[0], "local+program|h|{\"MSG\":\"app: one\"}");
    assert_eq!(lines[1], lines[3]);
    assert_eq!(lines[0], lines[2]);
}

#[test]
fn a_program_keeps_running_over_reloads_and_ends_with_its_group() {
    let source = "program(\"sleep 1000 & echo $!; wait\" flags(no-parse));";
    let mut running = Running::start(&config(source));
    let pid = message(&running.wait_lines("out", 1)[0]).to_owned();
    assert!(is_running(&pid));
    running
        .reload(&config(source).replace("destination(d)", "filter { level(debug..emerg) }; destination(d)"))
        .expect("reload");
    assert!(is_running(&pid));
    running.reload(&format!("{HEAD}source s {{ internal(); }};\nlog {{ source(s); }};\n")).expect("reload");
    wait_until("the end of the program's own child", || !is_running(&pid));
    assert_eq!(running.text("out").lines().count(), 1);
}

#[test]
fn a_program_that_closes_its_output_is_ended_and_started_again() {
    let source = "program(\"echo $$; exec >/dev/null; sleep 1000\" flags(no-parse));";
    let running = Running::start(&config(source));
    let lines = running.wait_lines("out", 2);
    let (first, second) = (message(&lines[0]).to_owned(), message(&lines[1]));
    assert_ne!(first, second);
    wait_until("the end of the first", || !is_running(&first));
}

#[test]
fn lines_that_belong_together_and_an_empty_environment() {
    let source = "program(\"printf 'one\\n two\\n'; echo ${HOME:-no home}; sleep 1000\" \
         flags(no-parse) inherit-environment(no) multi-line-mode(prefix-garbage) multi-line-prefix('^[on]'));";
    let source = source.replace("\\n", "\\\\n");
    let running = Running::start(&config(&source).replace("sleep 1000", "echo next; sleep 1000"));
    let lines = running.wait_lines("out", 2);
    assert_eq!([message(&lines[0]), message(&lines[1])], ["one\\n two", "no home"]);
}
