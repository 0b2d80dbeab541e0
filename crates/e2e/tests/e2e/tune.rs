//! A configuration is tried on a copy that touches nothing of what the original does.

use crate::messages::{HEAD, block};
use serde_json::Value;
use std::net::TcpListener;
use testkit::{Lab, run_command};

fn tune(lab: &Lab, config: &str, more: &[&str]) -> testkit::Outcome {
    let config = lab.write_config("tuned.conf", config).0.display().to_string();
    std::fs::write(lab.path("sample"), block(0, 1000)).expect("a sample");
    let sample = lab.path("sample").display().to_string();
    let rounds: &[&str] = if more.contains(&"--rounds") { &[] } else { &["--rounds", "2"] };
    let args = ["tune", "--config", &config, "--sample", &sample, "--seconds", "1", "--connections", "2"];
    run_command(&[&args[..], rounds, more].concat())
}

#[test]
fn what_was_tried_is_told_and_the_original_is_left_alone() {
    let lab = Lab::new();
    // The port of the source is taken, its console's too, and nobody is at the server.
    let taken = TcpListener::bind(("127.0.0.1", lab.port("in"))).expect("the port");
    let console = TcpListener::bind(("127.0.0.1", lab.port("console"))).expect("the port");
    let config = format!(
        "{HEAD}options {{ console(port(%port:console%)); }};\n\
         source s {{ network(ip(127.0.0.1) port(%port:in%) so-rcvbuf(2000000000)); }};\n\
         destination d {{ file(\"%dir%/out\"); network(127.0.0.1 port(%port:out%)); }};\n\
         log {{ source(s); filter {{ message(\"number\"); }}; destination(d); flags(flow-control); }};\n"
    );
    let json = json_of(&tune(&lab, &config, &["--only", "fetch", "--json"]));
    assert!(json["version"] == 1 && json["messages_per_second"].as_f64() > Some(100.0), "{json}");
    let tried = json["tried"].as_array().expect("a list");
    assert_eq!(tried.len(), 2, "{json}");
    for one in tried {
        assert!(one["change"].as_str().is_some_and(|name| name.starts_with("log-fetch-limit(")), "{json}");
        assert!(one["gain_percent"].is_f64() && one["error_percent"].as_f64() >= Some(0.0), "{json}");
    }
    let system = json["system"].to_string();
    assert!(system.contains("sysctl -w net.core.rmem_max=2000000000"), "{json}");
    assert!(!lab.path("out").exists());
    let outcome = tune(&lab, &config, &["--only", "worker-threads(1)"]);
    assert!(outcome.stdout.contains("\n# as it is: "), "{outcome:?}");
    assert!(outcome.stderr.starts_with("1 change to be tried, about 1 minute"), "{outcome:?}");
    // A destination over the network has its own.
    let json = json_of(&tune(&lab, &config, &["--only", "so-sndbuf(4194304)", "--json"]));
    let line = json["tried"][0]["line"].as_str().expect("a line");
    assert!(line.starts_with("network(127.0.0.1 port(") && line.ends_with(" so-sndbuf(4194304));"), "{json}");
    drop((taken, console));
}

fn json_of(outcome: &testkit::Outcome) -> Value {
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    serde_json::from_str(&outcome.stdout).expect("JSON")
}

/// Two that ask for what the kernel does not give: the larger one gives enough to both, and each setting has
/// a line that keeps those of the others.
#[test]
fn what_the_system_gives_too_little_of() {
    let lab = Lab::new();
    let one = |options: &str| format!("network(ip(127.0.0.1) port(%port:in%) {options});");
    let config = format!(
        "{HEAD}source s {{ {} {} }};\ndestination d {{ file(\"%dir%/out\"); }};\n\
         log {{ source(s); destination(d); flags(flow-control); }};\n",
        one("so-rcvbuf(1900000000) listen-backlog(65535) max-connections(100000)"),
        one("transport(udp) so-rcvbuf(2000000000)"),
    );
    let json = json_of(&tune(&lab, &config, &["--only", "use-dns", "--json"]));
    let system: Vec<&str> =
        json["system"].as_array().expect("a list").iter().flat_map(Value::as_str).collect();
    let mut begins =
        vec!["sysctl -w net.core.rmem_max=2000000000; echo 'net.core.rmem_max = 2000000000' >> "];
    let somaxconn = std::fs::read_to_string("/proc/sys/net/core/somaxconn").expect("a setting");
    if somaxconn.trim().parse::<u32>().expect("a number") < 65_535 {
        begins.push("sysctl -w net.core.somaxconn=65535; echo 'net.core.somaxconn = 65535' >> ");
    }
    // Here it may be that more files may be open.
    let lines = system.iter().filter(|line| !line.starts_with("ulimit -n 100266   # "));
    assert_eq!(lines.clone().count(), begins.len(), "{json}");
    for (line, begin) in lines.zip(begins) {
        assert!(line.starts_with(begin), "{line}");
    }
}

/// What is certainly slow is found, each thing for itself, and what is printed can be put into the
/// configuration.
#[test]
fn what_is_better_by_more_than_the_error_is_printed_as_lines() {
    let lab = Lab::new();
    let config = format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%port:in%)); }};\n\
         parser p {{ csv-parser(columns(c1, c2, c3, c4, c5, c6) delimiters(\" \")); }};\n\
         rewrite r {{ set(\"$(sha512 $MESSAGE)\" value(\"c4\")); }};\n\
         filter f_none {{ message(\"never there\"); }};\n\
         destination d {{ network(127.0.0.1 port(%port:out%) flush-lines(1) template(\"$c1 $c3\\n\")); }};\n\
         log {{ source(s); destination(d); flags(flow-control); }};\n\
         log {{ source(s); parser(p); rewrite(r); filter(f_none); destination(d); }};\n"
    );
    // On a busy machine the error may be larger than any gain: then once more.
    let better = |config: &str, only: &str| {
        let ask = || tune(&lab, config, &["--rounds", "4", "--only", only]);
        let is_found =
            |outcome: &testkit::Outcome| !outcome.stdout.contains("is not better by more than the error");
        (0..2).map(|_| ask()).find(is_found).unwrap_or_else(ask)
    };
    // The copy has the batches of the original, or this would be no gain.
    let outcome = better(&config, "flush-lines(1000)");
    let lines: Vec<&str> = outcome.stdout.lines().collect();
    let [head, base, gain, line] = lines[..] else { panic!("{outcome:?}") };
    assert!(head.contains("4 pairs of 1 s each") && base.starts_with("# as it is: "), "{outcome:?}");
    assert!(gain.starts_with("# +") && gain.contains(" % +-"), "{outcome:?}");
    assert!(gain.ends_with(": flush-lines(1000) at destination d (tuned.conf:7)"), "{outcome:?}");
    assert!(
        line.starts_with("network(127.0.0.1 port(") && line.contains(" flush-lines(1000) "),
        "{outcome:?}"
    );
    // A filter in front of what nobody needs when it does not hold.
    let outcome = better(&config.replace(" flush-lines(1)", ""), "before");
    assert!(
        outcome.stdout.ends_with(
            ": filter f_none before parser p (tuned.conf:9)\n\
             log { source(s); filter(f_none); parser(p); rewrite(r); destination(d); };\n"
        ),
        "{outcome:?}"
    );
    // What is worse is not printed.
    let outcome = tune(&lab, &config.replace(" flush-lines(1)", ""), &["--only", "flush-lines(1)"]);
    assert!(
        outcome.stdout.ends_with("\n# 1 change is not better by more than the error: --json has them\n"),
        "{outcome:?}"
    );
}

/// One that reads what the parser makes may not.
#[test]
fn a_filter_that_may_stand_earlier_is_tried_there() {
    let lab = Lab::new();
    let config = format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%port:in%)); }};\n\
         parser p {{ csv-parser(columns(first, second) delimiters(\" \")); }};\n\
         filter f_text {{ message(\"number\"); }};\nfilter f_value {{ \"${{second}}\" eq \"number\"; }};\n\
         destination d {{ file(\"%dir%/out\"); }};\n\
         log {{ source(s); parser(p); filter(f_text); destination(d); }};\n\
         log {{ source(s); parser(p); filter(f_value); destination(d); }};\n"
    );
    let outcome = tune(&lab, &config, &["--only", "before", "--json"]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let json: Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    let names: Vec<&str> =
        json["tried"].as_array().expect("a list").iter().filter_map(|one| one["change"].as_str()).collect();
    assert!(matches!(names[..], [one] if one.starts_with("filter f_text before parser p (")), "{json}");
}

#[test]
fn what_cannot_be_tried_is_said() {
    let lab = Lab::new();
    let config = format!(
        "{HEAD}source s {{ internal(); }};\ndestination d {{ file(\"%dir%/out\"); }};\nlog {{ source(s); destination(d); }};\n"
    );
    let outcome = tune(&lab, &config, &[]);
    assert!(outcome.code == Some(1) && outcome.stderr.contains("no source takes text"), "{outcome:?}");
    let outcome = tune(&lab, "@version: 4.11\nnothing;\n", &[]);
    assert!(outcome.code == Some(1) && outcome.stderr.contains("error["), "{outcome:?}");
    assert_eq!(run_command(&["tune", "--config", "x"]).code, Some(2));
}

/// What of it would be measured is in the tables, and nothing of the original was touched.
#[test]
fn the_tables_of_guides_are_made_of_a_configuration() {
    let lab = Lab::new();
    let taken = TcpListener::bind(("127.0.0.1", lab.port("in"))).expect("the port");
    let config = format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%port:in%)); }};\n\
         destination d {{ file(\"%dir%/out\"); network(127.0.0.1 port(%port:out%)); }};\n\
         log {{ source(s); filter {{ message(\"number\"); }}; destination(d); flags(flow-control); }};\n"
    );
    let config = lab.write_config("measured.conf", &config).0.display().to_string();
    std::fs::write(lab.path("sample"), block(0, 1000)).expect("a sample");
    let (sample, out) = (lab.path("sample").display().to_string(), lab.path("figures"));
    let folder = out.display().to_string();
    let args = ["bench", "--config", &config, "--sample", &sample, "--rounds", "1", "--seconds", "1"];
    let bench = |more: &[&str]| run_command(&[&args[..], more].concat());
    // With TLS, and with a queue on disk.
    let outcome = bench(&["--only", "tls", "--out", &folder]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let lines: Vec<&str> = outcome.stdout.lines().filter(|line| line.starts_with("| T")).collect();
    assert!(
        lines.len() == 2 && lines[0].starts_with("| TCP | ") && lines[1].starts_with("| TLS | "),
        "{outcome:?}"
    );
    assert_eq!(std::fs::read_to_string(out.join("bench.md")).expect("a file"), outcome.stdout);
    let csv = std::fs::read_to_string(out.join("bench.csv")).expect("a file");
    let rate = |line: &str| line.split(',').nth(2).and_then(|text| text.parse::<f64>().ok());
    assert!(csv.lines().skip(1).all(|line| rate(line) > Some(100.0)), "{csv}");
    assert!(std::fs::read_to_string(out.join("bench.svg")).expect("a file").ends_with("</svg>\n"));
    let outcome = bench(&["--only", "disk", "--json"]);
    let json: Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    let rows = json["tables"][0]["rows"].as_array().expect("rows");
    assert_eq!((rows.len(), &json["version"]), (4, &1.into()), "{json}");
    assert!(rows.iter().all(|row| row["messages_per_second"].as_f64() > Some(100.0)), "{json}");
    assert!(rows[3]["row"].as_str().is_some_and(|row| row.contains("reliable(yes)")), "{json}");
    assert!(!lab.path("out").exists());
    let outcome = bench(&["--only", "nothing"]);
    assert!(outcome.code == Some(1) && outcome.stderr.contains("connections, size"), "{outcome:?}");
    assert_eq!(run_command(&["bench", "--config", &config]).code, Some(2));
    assert_eq!(bench(&["--cases", "tcp-1"]).code, Some(2));
    drop(taken);
}
