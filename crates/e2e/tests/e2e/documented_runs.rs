//! Every command that the documentation shows on a line of its own is run as it stands, beside a program that
//! has traffic and the files that are named. It has to end as the page says, and leave the program well.

use super::documented::{documentation, words};
use crate::messages::HEAD;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;
use testkit::http::{HttpServer, Reply};
use testkit::penstock::{binary, root};
use testkit::{Lab, Penstock, Sender, wait_until};

/// What other tests run, since it takes long, needs a terminal or a server, or is the program itself.
const ELSEWHERE: [(&str, &str); 9] = [
    ("bench", "crates/bench"),
    ("loggen", "loggen.rs"),
    ("logstore", "logstore.rs"),
    ("python", "python.rs"),
    ("queue import", "migration.rs"),
    ("run", "all of them"),
    ("state remove", "last_run.rs: only while no program runs"),
    ("top ", "top.rs, which has a terminal"),
    ("tune", "tune.rs"),
];
/// What ends with 1 here, where nothing is wrong with the command: something is not well, or nothing came.
const MAY_BE_1: [&str; 9] = [
    "ctl healthcheck",
    "diff",
    "doctor",
    "explain --dropped",
    "explain --source s_net --from",
    "state get NAME",
    "tap --dropped framing",
    "tap --dropped queue-full",
    "test --record",
];

/// What runs: its 17th line is a log path, as a page says.
const RELAY: &str = "source s_net { network(ip(127.0.0.1) port(%tcp:in%)); };
source s_test { network(ip(127.0.0.1) port(%tcp:test%)); };
filter f_auth { program(\"sshd\"); };
parser p_kv { kv-parser(prefix(\".kv.\")); };
destination central { network(\"127.0.0.1\" port(%port:out%) disk-buffer(capacity-bytes(10MiB) reliable(yes))); };
destination d_central { network(\"localhost\" port(%port:out%) disk-buffer(capacity-bytes(10MiB) reliable(yes))); };
destination d_siem { file(\"%dir%/root/var/log/siem.log\"); };
destination d_file { file(\"%dir%/root/var/log/messages\"); };
destination d_auth { file(\"%dir%/root/var/log/auth.log\"); };
destination d_bad { http(url(\"http://127.0.0.1:REFUSES/\") body(\"$MSG\")); };
log { source(s_net); parser(p_kv); filter(f_auth); destination(d_auth); };
log { source(s_net); filter(f_auth); destination(d_bad); };
log { source(s_test); destination(d_siem); };



log { source(s_net); destination(d_siem); destination(d_file); destination(central); destination(d_central); };
";
const OPTIONS: &str = "options { dead-letters(yes); keep-input(1MiB); };\n";
const CASES: &str = "now = 2026-11-23T10:00:00Z\n[[case]]\nname = \"ssh\"\nsource = \"s_net\"\n\
                     line = \"<38>Nov 23 10:00:00 web sshd[7]: Failed\"\n[[case.expect]]\ndestination = \"d_auth\"\ncount = 1\n";
const RULES: &str = "<patterndb version='4' pub_date='2026-11-23'><ruleset name='sshd' id='s'><pattern>sshd</pattern>\
                     <rules><rule id='r' class='system' provider='me'><patterns><pattern>Accepted publickey for @STRING:user@ from \
                     @IPv4:ip@ port @NUMBER:port@ ssh2</pattern></patterns><tags><tag>login</tag></tags></rule></rules></ruleset></patterndb>";

/// The commands of a page: lines that are indented or fenced.
fn shown(page: &str) -> Vec<String> {
    let (mut found, mut fenced) = (Vec::new(), false);
    for line in page.lines() {
        fenced ^= line.starts_with("```");
        if !fenced && !line.starts_with("    ") {
            continue;
        }
        let line = line.trim_start().trim_start_matches("$ ");
        found.extend(line.strip_prefix("penstock ").map(str::to_owned));
    }
    found
}

/// Writes what the commands name, below `folder`.
fn furnish(folder: &Path, relay: &str) {
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    };
    let whole = format!("{HEAD}{OPTIONS}{relay}");
    // Of one source, as pages that do not say which one mean it.
    let one: String =
        relay.lines().filter(|line| !line.contains("s_test")).map(|line| format!("{line}\n")).collect();
    let new = format!("{HEAD}{one}");
    for name in ["penstock.conf", "relay.conf", "fw.conf", "FILE", "etc/penstock/penstock.conf"] {
        write(name, &whole);
    }
    for name in ["new.conf", "etc/syslog-ng/syslog-ng.conf"] {
        write(name, &new);
    }
    write(
        "examples/first.conf",
        &std::fs::read_to_string(root().join("examples/first.conf")).expect("an example"),
    );
    write("etc/rsyslog.conf", "module(load=\"imuxsock\")\n*.info /var/log/messages\n");
    for name in ["sample.log", "messages.log"] {
        write(name, &"<38>Nov 23 10:00:00 web-1 sshd[7]: user=bob failed\n".repeat(20));
    }
    write("relay.test.toml", CASES);
    write("tests/relay.test.toml", &format!("config = \"../relay.conf\"\n{CASES}"));
    for name in ["db.xml", "etc/syslog-ng/patterndb.d/sshd.pdb"] {
        write(name, RULES);
    }
    std::fs::create_dir_all(folder.join("var/lib/syslog-ng")).expect("a folder");
    std::fs::create_dir_all(folder.join("tmp")).expect("a folder");
}

/// The arguments of a command in the test: names of the machine's folders lie below its own, and what waits
/// for something does not wait long.
fn arguments(command: &str, folder: &Path) -> Vec<String> {
    let mut words = words(command);
    for word in &mut words {
        if ["/etc/", "/var/", "/tmp/"].iter().any(|of_machine| word.starts_with(of_machine)) {
            *word = format!("{}{word}", folder.display());
        }
    }
    for option in ["--timeout", "--health-time"] {
        if let Some(at) = words.iter().position(|word| word == option) {
            words[at + 1] = "2".to_owned();
        }
    }
    let has = |words: &[String], option: &str| words.iter().any(|word| word == option);
    match words.first().map(String::as_str) {
        Some("tap") if !has(&words, "--past") && !has(&words, "--limit") => {
            words.extend(["--limit", "1"].map(str::to_owned));
        }
        Some("explain") if !["--timeout", "--config", "--file"].iter().any(|option| has(&words, option)) => {
            words.extend(["--timeout", "5"].map(str::to_owned));
        }
        Some("profile") => words.extend(["--for", "1"].map(str::to_owned)),
        Some("top") if !has(&words, "--once") => words.push("--once".to_owned()),
        _ => {}
    }
    words
}

fn run(args: &[String], folder: &Path, state: &Path) -> Output {
    let mut command = Command::new("timeout");
    command.arg("120").arg(binary()).args(args).current_dir(folder).env("PENSTOCK_STATE_DIR", state);
    command.stdin(Stdio::null()).output().expect("a command")
}

#[test]
fn every_command_that_is_shown_does_what_the_page_says() {
    let lab = Lab::new();
    let refuses = HttpServer::start(0, |_| Reply::new(400).body("no"));
    let relay = RELAY.replace("REFUSES", &refuses.port().to_string());
    let (relay, _) = lab.fill(&relay);
    let rooted = lab.path("root");
    std::fs::create_dir_all(rooted.join("var/log")).expect("a folder");
    std::fs::create_dir_all(rooted.join("var/lib")).expect("a folder");
    std::fs::write(lab.path("relay.conf"), &relay).expect("a file");
    let penstock = Penstock::start(&lab, &format!("{HEAD}{OPTIONS}@include \"%dir%/relay.conf\"\n"));
    let state = penstock.state().to_owned();
    std::os::unix::fs::symlink(&state, rooted.join("var/lib/penstock")).expect("a link");

    let (port, ended) = (lab.port("in"), AtomicBool::new(false));
    let faults = std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut sender = Sender::tcp(port);
            for n in 0.. {
                sender.line(&format!("<38>Nov 23 10:00:00 web-1 sshd[7]: user=bob n={n} out of memory"));
                if ended.load(Relaxed) {
                    return;
                }
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        wait_until("lines in a file", || lab.lines("root/var/log/auth.log").len() > 20);
        let letters = run(&words("queue cat dead-letters"), lab.dir(), &state);
        assert!(letters.status.success(), "{letters:?}");
        let mut faults = String::new();
        for page in documentation() {
            let text = std::fs::read(&page).expect("a page");
            let commands = shown(&String::from_utf8_lossy(&text));
            if commands.is_empty() {
                continue;
            }
            furnish(&rooted, &relay);
            for command in commands {
                if ELSEWHERE.iter().any(|(begins, _)| format!("{command} ").starts_with(begins)) {
                    continue;
                }
                let args = arguments(&command, &rooted);
                let output = run(&args, &rooted, &state);
                let code = output.status.code();
                let may_be_1 = MAY_BE_1.iter().any(|begins| command.starts_with(begins));
                if code != Some(0) && !(code == Some(1) && may_be_1) {
                    let said = String::from_utf8_lossy(&output.stderr);
                    faults.push_str(&format!("{}: penstock {command}\n  {code:?} {said}\n", page.display()));
                }
            }
        }
        ended.store(true, Relaxed);
        faults
    });
    assert!(faults.is_empty(), "{faults}");
    penstock.ledger().assert_balanced();
    penstock.stop();
}
