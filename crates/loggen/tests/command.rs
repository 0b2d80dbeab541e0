//! The command as users run it: exit status and words.

use std::io::Read;
use std::net::TcpListener;
use std::process::{Command, Output};

fn loggen(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_loggen")).args(args).output().unwrap()
}

fn receive(listener: TcpListener) -> std::thread::JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        listener.accept().unwrap().0.read_to_end(&mut bytes).unwrap();
        bytes
    })
}

#[test]
fn what_is_sent_verifies() {
    let folder = tempfile::tempdir().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let sink = receive(listener);
    let output =
        loggen(&["-i", "-S", "--stamp", "--perf", "-n", "3000", "-s", "200", "-Q", "127.0.0.1", &port]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(
        said.starts_with("average rate = ")
            && said.contains("count=3000, ")
            && said.contains("msg size=200,"),
        "{said}"
    );

    let mut bytes = sink.join().unwrap();
    let path = folder.path().join("out.log");
    let name = path.to_str().unwrap();
    std::fs::write(&path, &bytes).unwrap();
    assert!(loggen(&["verify", name, "--expect-connections=1", "--expect-number=3000"]).status.success());

    bytes.drain(200..400);
    std::fs::write(&path, &bytes).unwrap();
    let output = loggen(&["verify", name, "--per-connection", "3000", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&report["missing"], &report["connections"][0]["missing_ranges"][0][0]),
        (&1.into(), &1.into())
    );
}

#[test]
fn csv_is_on_standard_output() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let sink = receive(listener);
    let output = loggen(&["--csv", "--perf", "-n", "10", "127.0.0.1", &port]);
    let text = String::from_utf8_lossy(&output.stdout);
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines[..2], ["ThreadId;Time;Rate;Count", "0;0.000000;0.00;0"]);
    assert!(lines.last().unwrap().ends_with(";10"), "{text}");
    assert_eq!(sink.join().unwrap().len(), 2560);
}

#[test]
fn wrong_use_and_failure_differ() {
    assert_eq!(loggen(&["--no-such-option"]).status.code(), Some(2));
    assert_eq!(loggen(&["verify"]).status.code(), Some(2));
    assert_eq!(loggen(&["-x", "/nonexistent/socket"]).status.code(), Some(1));
    assert_eq!(loggen(&["-U", "127.0.0.1", "1"]).status.code(), Some(1));
    assert_eq!(loggen(&["--help"]).status.code(), Some(0));
}
