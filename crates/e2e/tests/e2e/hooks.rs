//! `hook-commands()`: what is run when drivers come and go.

use crate::messages::HEAD;
use testkit::{Lab, Penstock};

fn config(file: &str, failing: &str) -> String {
    let hooks = |driver: &str| {
        let command = |name: &str| {
            let end = if failing == format!("{driver} {name}") { "; exit 1" } else { "" };
            format!("{name}(\"echo {driver} {name} >> %dir%/log{end}\")")
        };
        format!("hook-commands({})", ["startup", "setup", "teardown", "shutdown"].map(command).join(" "))
    };
    format!(
        "{HEAD}source s {{ unix-stream(\"%dir%/in\" {}); }};\n\
         destination d {{ file(\"%dir%/{file}\" {}); }};\n\
         log {{ source(s); destination(d); }};\n",
        hooks("source"),
        hooks("destination"),
    )
}

fn take(lab: &Lab) -> Vec<String> {
    let lines = lab.lines("log");
    let _ = std::fs::remove_file(lab.path("log"));
    lines
}

#[test]
fn commands_run_at_the_start_in_a_reload_and_at_the_end() {
    let lab = Lab::new();
    let mut penstock = Penstock::start(&lab, &config("one", ""));
    let mut ran = take(&lab);
    ran.sort();
    assert_eq!(ran, ["destination setup", "destination startup", "source setup", "source startup"]);
    penstock.reload_with(&lab, &config("one", ""));
    assert_eq!(take(&lab), [""; 0]);
    penstock.reload_with(&lab, &config("two", ""));
    // The commands are the same, whatever else changed.
    assert_eq!(take(&lab), [""; 0]);
    let answer = {
        penstock.rewrite(&lab, &config("two", "destination setup"));
        penstock.reload()
    };
    assert!(answer.starts_with("FAIL") && answer.contains("setup() of hook-commands() failed"), "{answer}");
    assert_eq!(take(&lab), ["destination teardown", "destination setup", "destination setup"]);
    penstock.stop();
    let mut ran = take(&lab);
    ran.sort();
    assert_eq!(ran, ["destination shutdown", "destination teardown", "source shutdown", "source teardown"]);
}

#[test]
fn a_command_that_fails_keeps_the_program_from_starting() {
    let lab = Lab::new();
    let mut penstock = Penstock::configure(&lab, &config("one", "source startup")).spawned();
    assert_eq!(penstock.wait_end().code(), Some(2), "{}", penstock.log());
    assert!(penstock.log().contains("A hook command failed"), "{}", penstock.log());
}
