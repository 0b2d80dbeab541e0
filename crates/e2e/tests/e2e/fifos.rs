//! A FIFO in the place of a file that the configuration names: nothing waits for it, neither `check`, nor a
//! reload, nor the end.

use crate::messages::HEAD;
use std::io::{BufRead, BufReader};
use std::path::Path;
use testkit::{Lab, Penstock, run_command};

/// What names a file that is read whole; `%dir%/fifo` is none.
const NAMED: &[(&str, &str)] = &[
    ("an include", "@include \"%dir%/fifo\"\n"),
    ("a pattern that it matches", "@include \"%dir%/fif*\"\n"),
    ("a pattern database", "parser p { db-parser(file(\"%dir%/fifo\")); };\n"),
    (
        "contextual data",
        "parser p { add-contextual-data(selector(\"${HOST}\") database(\"%dir%/fifo.csv\")); };\n",
    ),
    (
        "its selector",
        "parser p { add-contextual-data(selector(filters(\"%dir%/fifo\")) database(\"%dir%/some.csv\")); };\n",
    ),
    ("a geographical database", "parser p { geoip2(\"${SOURCEIP}\" database(\"%dir%/fifo\")); };\n"),
    ("a list", "filter p { in-list(\"%dir%/fifo\" value(\"HOST\")); };\n"),
    (
        "a certificate",
        "source t { network(transport(tls) port(%tcp:t%) tls(key-file(\"%dir%/fifo\") cert-file(\"%dir%/fifo\") \
         peer-verify(no))); };\n",
    ),
    (
        "authorities",
        "destination t { network(127.0.0.1 transport(tls) port(%port:t%) tls(ca-file(\"%dir%/fifo\"))); };\n",
    ),
    (
        "the database of a template function",
        "destination t { file(\"%dir%/t\" template(\"$(geoip2 --database %dir%/fifo $HOST)\\n\")); };\n",
    ),
];

const BASE: &str =
    "source s { network(ip(127.0.0.1) port(%tcp:in%)); };\ndestination d { file(\"%dir%/out\"); };\n";

/// Each named thing has to be used to be read.
fn config(text: &str) -> String {
    let used = if text.starts_with("parser p") {
        "parser(p);"
    } else if text.starts_with("filter p") {
        "filter(p);"
    } else if text.starts_with("destination t") {
        "destination(t);"
    } else {
        ""
    };
    let source = if text.starts_with("source t") { "source(t);" } else { "" };
    format!("{HEAD}{text}{BASE}log {{ source(s); {source} {used} destination(d); }};\n")
}

fn make_fifo(path: &Path) {
    let made = std::process::Command::new("mkfifo").arg(path).status().expect("mkfifo");
    assert!(made.success());
}

fn lab() -> Lab {
    let lab = Lab::new();
    make_fifo(&lab.path("fifo"));
    make_fifo(&lab.path("fifo.csv"));
    std::fs::write(lab.path("some.csv"), "a,b,c\n").expect("a file");
    lab
}

#[test]
fn check_does_not_wait_for_one() {
    for (what, text) in NAMED {
        let lab = lab();
        let text = config(text).replace("%dir%", &lab.dir().display().to_string());
        let (path, _) = lab.write_config("named.conf", &text);
        let outcome = run_command(&["check", &path.display().to_string()]);
        let said = format!("{}{}", outcome.stdout, outcome.stderr).to_lowercase();
        // `check` opens no keys; it has come to its end, which is what counts there.
        assert!(said.contains("fifo") || text.contains("tls("), "{what}: {said}");
    }
}

#[test]
fn a_reload_says_it_and_the_end_comes() {
    for (what, text) in NAMED {
        let lab = lab();
        let dir = lab.dir().display().to_string();
        let penstock = Penstock::configure(&lab, &config("").replace("%dir%", &dir)).free().ready();
        penstock.rewrite(&lab, &config(text).replace("%dir%", &dir));
        // Refused, or put into effect without what is in the file: that is the word of each driver.
        let answer = penstock.reload();
        let log = penstock.stop().to_lowercase();
        assert!(log.contains("fifo"), "{what}: {answer}{log}");
    }
}

#[test]
fn the_configuration_itself_may_become_one() {
    let lab = lab();
    let penstock = Penstock::start(&lab, &config("").replace("%dir%", &lab.dir().display().to_string()));
    std::fs::rename(lab.path("fifo"), lab.path("penstock.conf")).expect("it takes the place");
    let answer = penstock.reload();
    assert!(!answer.starts_with("OK") && answer.to_lowercase().contains("fifo"), "{answer}");
    penstock.stop();
}

/// A log file that is a FIFO without a reader: opening it must not hold up the worker.
#[test]
fn a_destination_does_not_wait_for_a_reader() {
    let lab = lab();
    let text = format!(
        "{HEAD}{BASE}destination f {{ file(\"%dir%/fifo\"); }};\n\
         log {{ source(s); destination(f); }};\nlog {{ source(s); destination(d); }};\n"
    );
    let mut penstock = Penstock::start(&lab, &text.replace("%dir%", &lab.dir().display().to_string()));
    crate::messages::send(&lab, 0, 10);
    penstock.wait_ledger(|ledger| {
        (ledger.destination("d").delivered != 10).then(|| "ten messages delivered to d".to_owned())
    });
    penstock.stop();
}

/// The reader of a pipe does not read while the destination changes and the program stops: no line is left
/// half in it.
#[test]
fn no_line_is_torn_in_a_full_pipe() {
    const COUNT: usize = 6000;
    let lab = Lab::new();
    let path = lab.path("pipe");
    make_fifo(&path);
    // What is in it stays there as long as somebody has it open; opened so, nobody waits for a writer.
    let reader = std::fs::File::options().read(true).write(true).open(&path).expect("open");
    let mut lines = BufReader::with_capacity(4096, reader).lines().map(|line| line.expect("a line"));
    let config = |options: &str| {
        format!(
            "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
             destination d {{ pipe(\"%dir%/pipe\" template(\"$MSG\\n\") {options}); }};\n\
             log {{ source(s); destination(d); flags(flow-control); }};\n"
        )
    };
    let mut penstock = Penstock::start(&lab, &config("time-reopen(1)"));
    crate::messages::send(&lab, 0, COUNT);
    penstock.wait_ledger(|ledger| {
        (ledger.source("s").received != COUNT as u64).then(|| "all received".to_owned())
    });
    let mut read: Vec<String> = lines.by_ref().take(300).collect();
    penstock.reload_with(&lab, &config("time-reopen(2)"));
    read.extend(lines.by_ref().take(300));
    penstock.stop();
    let penstock = Penstock::start(&lab, &config("time-reopen(2)"));
    read.extend(lines.by_ref().take(COUNT - 600));
    let wrong = read
        .iter()
        .enumerate()
        .find(|(n, line)| !line.ends_with(&format!("message number {n} of connection 0")));
    assert_eq!(wrong, None);
    assert!(read.iter().all(|line| line.matches("message number").count() == 1));
    penstock.stop();
}
