//! Commands whose output nobody can take: a closed pipe, a full disk. None of them panics; a full disk behind
//! standard output is an error of the command, a closed pipe is not.

use crate::messages::HEAD;
use std::fs::{File, OpenOptions};
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};
use testkit::Lab;
use testkit::penstock::binary;

/// The end of a pipe that nobody reads.
fn closed() -> Stdio {
    let (reader, writer): (OwnedFd, OwnedFd) = rustix::pipe::pipe().unwrap();
    drop(reader);
    writer.into()
}

fn full() -> Stdio {
    let file: File = OpenOptions::new().write(true).open("/dev/full").unwrap();
    file.into()
}

/// A configuration with far more findings than a pipe holds.
fn wrong(lab: &Lab) -> String {
    let mut text = String::from(HEAD);
    (0..600).for_each(|n| {
        text.push_str(&format!("destination d{n} {{ file(\"/tmp/{n}\" nosuchoption{n}(1)); }};\n"))
    });
    let (path, _) = lab.write_config("wrong.conf", &text);
    path.to_str().unwrap().to_owned()
}

/// Each command, as what it is called, with the code it ends with when all can be written.
fn commands(lab: &Lab) -> Vec<(&'static str, Vec<String>, i32)> {
    let (right, _) = lab.write_config(
        "right.conf",
        &format!("{HEAD}source s {{ internal(); }};\ndestination d {{ file(\"%dir%/out\"); }};\nlog {{ source(s); destination(d); }};\n"),
    );
    let (right, wrong) = (right.to_str().unwrap().to_owned(), wrong(lab));
    let state = lab.path("penstock.state").to_str().unwrap().to_owned();
    let patterns = testkit::penstock::root().join("tests/golden/check/bad-patterndb-patterns.xml");
    let patterns = patterns.to_str().unwrap().to_owned();
    let list = [
        ("penstock", vec!["check", &right], 0),
        ("penstock", vec!["check", &wrong], 1),
        ("penstock", vec!["check", "--json", &wrong], 1),
        ("penstock", vec!["check", "--explain", &wrong], 1),
        ("penstock", vec!["check", "--explain", &right], 0),
        ("penstock", vec!["run", "-f", &wrong], 1),
        ("penstock", vec!["version"], 0),
        ("penstock", vec!["--version"], 0),
        ("penstock", vec!["-V"], 0),
        ("penstock", vec!["--help"], 0),
        ("penstock", vec!["check", "--help"], 0),
        ("penstock", vec!["nosuchcommand"], 2),
        ("penstock", vec!["ctl", "-c", "/nonexistent/socket", "stats"], 1),
        ("penstock", vec!["ledger", "-c", "/nonexistent/socket"], 2),
        ("penstock", vec!["bench", "--list"], 0),
        ("penstock", vec!["pdb", "test", &patterns], 0),
        ("penstock", vec!["queue", "list", "/nonexistent"], 2),
        ("penstock", vec!["state", "dump", &state], 2),
        ("syslog-ng", vec!["--version"], 0),
        ("syslog-ng", vec!["--module-registry"], 0),
        ("syslog-ng", vec!["--metrics-registry"], 0),
        ("syslog-ng", vec!["--syntax-only", "-f", &wrong], 1),
        ("syslog-ng-ctl", vec!["--help"], 0),
        ("syslog-ng-ctl", vec!["stats", "-c", "/nonexistent/socket"], 1),
        ("loggen", vec!["--help"], 0),
        ("loggen", vec!["--inet", "-S", "--number", "1", "127.0.0.1", "1"], 1),
        ("pdbtool", vec!["--help"], 0),
        ("dqtool", vec!["info", "/nonexistent"], 1),
        ("persist-tool", vec!["dump", "/nonexistent"], 1),
        ("slogkey", vec!["--help"], 0),
        ("slogencrypt", vec!["--help"], 0),
        ("slogverify", vec!["--help"], 0),
    ];
    list.into_iter()
        .map(|(name, args, code)| (name, args.into_iter().map(str::to_owned).collect(), code))
        .collect()
}

#[test]
fn nothing_that_cannot_be_written_is_a_panic() {
    let lab = Lab::new();
    let mut faults = String::new();
    for (name, args, code) in commands(&lab) {
        let program = lab.path(name);
        if !program.exists() {
            std::os::unix::fs::symlink(binary(), &program).unwrap();
        }
        let run = |out: Stdio, err: Stdio| {
            let mut command = Command::new(&program);
            command.args(&args).stdin(Stdio::null()).stdout(out).stderr(err);
            let output = command.output().unwrap();
            (
                output.status.code(),
                String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned(),
            )
        };
        let whole = run(Stdio::piped(), Stdio::piped());
        let mut expect = |what: &str, (found, text): (Option<i32>, String), expected: i32| {
            if found != Some(expected) || text.contains("panicked") {
                faults.push_str(&format!(
                    "{name} {args:?}, {what}: {found:?}, expected {expected}\n{text:.400}\n"
                ));
            }
        };
        let prints = {
            let mut command = Command::new(&program);
            let output = command.args(&args).stdin(Stdio::null()).stderr(Stdio::null()).output().unwrap();
            !output.stdout.is_empty()
        };
        expect("all written", whole, code);
        expect("nobody reads standard output", run(closed(), Stdio::piped()), code);
        expect("nobody reads standard error", run(Stdio::piped(), closed()), code);
        expect("nobody reads either", run(closed(), closed()), code);
        expect("standard error is full", run(Stdio::piped(), full()), code);
        expect("standard output is full", run(full(), Stdio::piped()), if prints { 1 } else { code });
    }
    assert!(faults.is_empty(), "{faults}");
}
