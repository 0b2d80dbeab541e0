//! What limits the program, in situations that are arranged, and whether it is found.

use crate::messages::{HEAD, message};
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use testkit::{Collector, Lab, Penstock, Sender, run_command};

/// Sends until it is dropped.
struct Sending(Arc<AtomicBool>);

impl Sending {
    fn begin(port: u16, connections: usize) -> Sending {
        let stop = Arc::new(AtomicBool::new(false));
        for connection in 0..connections {
            let (mut sender, stopped) = (Sender::tcp(port), Arc::clone(&stop));
            let block: String =
                (0..200).map(|n| format!("{} {} m\n", message(connection, n), "x".repeat(60))).collect();
            std::thread::spawn(move || {
                while !stopped.load(Ordering::Relaxed) && sender.try_raw(block.as_bytes()).is_ok() {}
            });
        }
        Sending(stop)
    }
}

impl Drop for Sending {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn profile(lab: &Lab) -> Value {
    let state = lab.path("state").display().to_string();
    let outcome = run_command(&["profile", "--state-dir", &state, "--for", "2", "--json"]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let json: Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    assert_eq!(json["version"], 1);
    assert!(json["cost_percent"].as_f64() < Some(2.0), "{json}");
    json
}

/// What limits a configuration is so, once everything flows: asked until it is said, or for the last time.
#[track_caller]
fn check(lab: &Lab, limit: &str, name: &str, sentence: &str) -> Value {
    let mut json = Value::Null;
    for _ in 0..10 {
        json = profile(lab);
        let says = |key: &str, part: &str| json[key].as_str().is_some_and(|said| said.contains(part));
        if json["limit"] == limit && says("name", name) && says("sentence", sentence) {
            break;
        }
    }
    assert_eq!(json["limit"], limit, "{json}");
    assert!(json["name"].as_str().is_some_and(|said| said.contains(name)), "{json}");
    assert!(json["sentence"].as_str().is_some_and(|said| said.contains(sentence)), "{json}");
    json
}

fn config(source: &str, destination: &str, path: &str) -> String {
    format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%) {source}); }};\n\
         filter f_re {{ message('(x).*\\1.*\\1.*m[0-9]' type(pcre)); }};\n\
         destination d {{ {destination} }};\n\
         log {{ source(s); {path} destination(d); flags(flow-control); }};\n"
    )
}

#[test]
fn quiet_sources() {
    let lab = Lab::new();
    let _penstock = Penstock::start(&lab, &config("", "file(\"%dir%/out\");", ""));
    let json = check(&lab, "nothing", "", "the sources are quiet");
    assert!(json["quiet_percent"].as_f64() > Some(80.0), "{json}");
}

#[test]
fn a_peer_that_does_not_read() {
    let lab = Lab::new();
    let collector = Collector::tcp(lab.port("out"));
    collector.pause();
    let _penstock =
        Penstock::start(&lab, &config("", "network(127.0.0.1 port(%tcp:out%) so-sndbuf(4096));", ""));
    let _sending = Sending::begin(lab.port("in"), 2);
    let json = check(&lab, "destination", "d#0", "its peer reads nothing, and s#0 is held back");
    assert_eq!(
        (&json["waits"][0]["cause"], &json["waits"][0]["destination"]),
        (&"destination".into(), &"d#0".into())
    );
}

#[test]
fn a_server_that_refuses() {
    let lab = Lab::new();
    let _penstock =
        Penstock::start(&lab, &config("", "network(127.0.0.1 port(%port:out%) time-reopen(1));", ""));
    let _sending = Sending::begin(lab.port("in"), 2);
    check(&lab, "destination", "d#0", "refused");
}

#[test]
fn a_full_disk() {
    let lab = Lab::new();
    let _penstock = Penstock::start(&lab, &config("", "file(\"/dev/full\");", ""));
    let _sending = Sending::begin(lab.port("in"), 2);
    check(&lab, "disk", "d#0", "No space left");
}

#[test]
fn one_regular_expression() {
    let lab = Lab::new();
    let _penstock = Penstock::configure(&lab, &config("", "file(\"/dev/null\");", "filter(f_re);"))
        .arg("--worker-threads")
        .arg("1")
        .ready();
    let _sending = Sending::begin(lab.port("in"), 3);
    let json = check(&lab, "cpu", "filter f_re", "limited by CPU");
    let step = &json["steps"][0];
    assert_eq!((&step["what"], &step["label"]), (&"step".into(), &"filter f_re".into()), "{json}");
    assert!(step["location"].as_str().is_some_and(|at| at.contains("penstock.conf:4")), "{json}");
    assert!(step["share"].as_f64() > Some(50.0), "{json}");
    // As text, the same on the first line.
    let state = lab.path("state").display().to_string();
    let outcome = run_command(&["profile", "--state-dir", &state, "--for", "1"]);
    assert!(outcome.stdout.starts_with("limited by CPU, "), "{outcome:?}");
    assert!(outcome.stdout.contains(" %  filter f_re ("), "{outcome:?}");
}

#[test]
fn two_at_a_time_and_wrong_usage() {
    let lab = Lab::new();
    let _penstock = Penstock::start(&lab, &config("", "file(\"%dir%/out\");", ""));
    let state = lab.path("state").display().to_string();
    assert_eq!(run_command(&["profile", "--state-dir", &state, "--for", "0"]).code, Some(2));
    let nobody = lab.path("nobody").display().to_string();
    let outcome = run_command(&["profile", "--state-dir", &nobody]);
    assert!(outcome.code == Some(1) && outcome.stderr.contains("Does the program run?"), "{outcome:?}");
}
