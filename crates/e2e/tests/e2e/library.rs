//! The configuration library, ours and the distribution's: what both have has a case, and messages that
//! nobody thought of come out of ours, of the distribution's in its place, and of the distribution's
//! syslog-ng alike.

use crate::golden::case::Case;
use crate::golden::random::Random;
use crate::golden::run::{Receiver, run};
use crate::golden::{compare, differences, every};
use crate::messages::HEAD;
use crate::tls::{block_of, prepared};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use testkit::penstock::root;
use testkit::{Lab, Penstock, Sender, peers, skip};

/// Changed messages of a case.
const MUTANTS: usize = 150;

/// The library of 3.38 takes apart what is no request, and knows no messages of NX-OS: ours does as that of
/// 4.12.
const OF_LATER_LIBRARIES: [&str; 2] = ["scl/apache-whole", "scl/cisco-whole"];

fn cases() -> Vec<Case> {
    let mut cases = Case::all();
    cases.retain(|case| case.mutants_after.is_some() && !OF_LATER_LIBRARIES.contains(&case.name.as_str()));
    cases
}

#[test]
fn changed_messages_come_out_of_both_libraries_alike() {
    let Some(scl) = peers::scl() else { return skip(peers::MISSING) };
    let mut both = cases();
    both.retain(|case| case.only_penstock.is_none());
    every(both, |case| {
        let ours = run(&Receiver::Penstock, &mutated(case))?;
        compare(&run(&Receiver::Penstock, &mutated(case).with_library(&scl))?, &ours)
    });
}

#[test]
fn changed_messages_come_out_of_syslog_ng_alike() {
    let Some(program) = peers::syslog_ng() else { return skip(peers::MISSING) };
    let differences = differences::read();
    let mut same = cases();
    same.retain(|case| case.only_penstock.is_none() && !differences.contains_key(&case.name));
    let receiver = Receiver::SyslogNg(program);
    every(same, |case| {
        let made = run(&receiver, &mutated(case))?;
        compare(&made, &run(&Receiver::Penstock, &mutated(case))?)
    });
}

/// The case with messages changed at random, always the same ones.
fn mutated(case: &Case) -> Case {
    let mut random = Random::new(&case.name);
    let after = case.mutants_after.as_deref().unwrap_or_default().as_bytes();
    let mut messages = Vec::with_capacity(MUTANTS);
    while messages.len() < MUTANTS {
        let message = random.of(&case.messages);
        let start = message.windows(after.len()).position(|w| w == after).map(|at| at + after.len());
        let (head, body) = message.split_at(start.unwrap_or(message.len()));
        let mutant = [head, &changed(&mut random, body)].concat();
        let told_apart = case.mutants_without.is_some_and(|byte| mutant.contains(&byte));
        if start.is_some() && !mutant.is_empty() && !told_apart {
            messages.push(mutant);
        }
    }
    Case::all().into_iter().find(|c| c.name == case.name).expect("the case").with_messages(messages)
}

/// What makes trouble in one format or another.
const PIECES: [&str; 30] = [
    "\"", "'", "\\", "=", ":", ";", ",", "|", "[", "]", "{", "}", "<", ">", " ", "  ", "\t", "-", "%", ".",
    "0", "9", "a", "Z", "\u{e9}", "\u{1}", "\\\"", "null", "1e5", "@",
];

/// One to three changes: pieces put in or in place of a character, characters taken out or given twice,
/// the end cut off.
fn changed(random: &mut Random, text: &[u8]) -> Vec<u8> {
    let mut text = text.to_vec();
    for _ in 0..1 + random.below(3) {
        let piece = random.of(&PIECES).as_bytes();
        let at = random.below(text.len() + 1);
        let end = (at + 1 + random.below(8)).min(text.len());
        match random.below(6) {
            0 => drop(text.splice(at..(at + 1).min(text.len()), piece.iter().copied())),
            1 => drop(text.splice(at..at, piece.iter().copied())),
            2 => drop(text.drain(at..end)),
            3 => text.truncate(at),
            4 => text.splice(at..at, text[at..end].to_vec()).for_each(drop),
            _ => text[at..end].reverse(),
        }
    }
    text
}

/// `parser NAME` and `application NAME` of a library, those apart that only others of its blocks use.
fn parsers_of(scl: &Path) -> BTreeSet<String> {
    const INNER: [&str; 6] = [
        "apache-accesslog-parser-vhost",
        "apache-accesslog-parser-combined",
        "kubernetes-file-parser",
        "kubernetes-log-parser",
        "panos-columns",
        "windows-eventlog-event",
    ];
    let mut names = BTreeSet::new();
    for path in files(scl) {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        for line in text.lines() {
            let name = line.strip_prefix("block parser ").or_else(|| line.strip_prefix("application "));
            if let Some(name) = name {
                let end = name.find(['(', '[', ' ']).unwrap_or(name.len());
                names.insert(name[..end].replace('_', "-"));
            }
        }
    }
    names.retain(|name| !INNER.contains(&name.as_str()));
    names
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.path() {
            path if path.is_dir() => found.extend(files(&path)),
            path => found.push(path),
        }
    }
    found.retain(|path| path.extension().is_some_and(|e| e == "conf"));
    found
}

#[test]
fn every_parser_has_a_case() {
    let ours = parsers_of(&root().join("scl"));
    assert!(ours.len() > 20, "{ours:?}");
    let theirs = peers::scl().map(|scl| parsers_of(&scl)).unwrap_or_default();
    let mut text = std::fs::read_to_string(
        file!()
            .rsplit('/')
            .next()
            .map(|name| root().join("crates/e2e/tests/e2e").join(name))
            .expect("a name"),
    )
    .expect("this file");
    for case in files(&root().join("tests/golden/scl")) {
        text.push_str(&std::fs::read_to_string(case).expect("a case"));
    }
    let has = |name: &&String| {
        !text.contains(&format!("{name}(")) && !text.contains(&format!("auto-parse-include(\"{name}\")"))
    };
    let without: Vec<&String> = ours.union(&theirs).filter(has).collect();
    // Reached through others: cisco-parser() by its application, and so on.
    assert!(without.is_empty(), "{without:?}");
}

/// windows-eventlog-parser() of the distribution looks for its database in the working folder, where nothing
/// is: that it is found there and read as syslog-ng reads it is what can be compared.
#[test]
fn the_database_of_windows_events_of_the_distribution() {
    let (Some(scl), Some(program)) = (peers::scl(), peers::syslog_ng()) else { return skip(peers::MISSING) };
    let database = scl.join("windowseventlog/windowseventlog.xml");
    let config = format!(
        "@version: 3.38\n@define scl-root \"{}\"\n@include \"scl.conf\"\noptions {{ keep-hostname(yes); use-dns(no); }};\n\
         source s {{ syslog(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         parser p {{ windows-eventlog-parser(); }};\n\
         destination d {{ file(\"%dir%/out\" template(\"$(format-json --key .win.* --key .classifier.*)\\n\")); }};\n\
         destination rest {{ file(\"%dir%/rest\" template(\"no match\\n\")); }};\n\
         log {{ source(s); parser(p); destination(d); flags(flow-control); }};\n\
         log {{ source(s); destination(rest); flags(flow-control fallback); }};\n",
        scl.display()
    );
    let messages = windows_events(&std::fs::read_to_string(&database).expect("the database"));
    let lab = Lab::new();
    std::fs::copy(&database, lab.path("windowseventlog.xml")).expect("a copy");
    let mut process = peers::start_syslog_ng(&lab, &program, &config, &[]);
    send(&lab, &messages);
    assert!(process.terminate().success());
    let theirs = (lab.text("out"), lab.text("rest"));
    let lab = Lab::new();
    std::fs::copy(&database, lab.path("windowseventlog.xml")).expect("a copy");
    let mut penstock = Penstock::start(&lab, &config);
    send(&lab, &messages);
    penstock.wait_settled_input().assert_balanced();
    penstock.stop();
    compare(&theirs.0, &lab.text("out")).expect("the same");
    assert_eq!(theirs.1, lab.text("rest"));
    // Our own block, which needs no database.
    let lab = Lab::new();
    let own = config.replace(&format!("@define scl-root \"{}\"\n", scl.display()), "");
    assert_ne!(own, config);
    let mut penstock = Penstock::start(&lab, &own);
    send(&lab, &messages);
    penstock.wait_settled_input().assert_balanced();
    penstock.stop();
    let classified = |text: &str| {
        text.lines().filter(|line| line.contains("\"_win\":{")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(classified(&theirs.0), classified(&lab.text("out")));
    assert_eq!(theirs.1, lab.text("rest"));
    assert!(theirs.0.contains("\"_win\":{") && theirs.1.contains("no match"), "{theirs:?}");
}

fn send(lab: &Lab, messages: &[String]) {
    let mut sender = Sender::tcp(lab.port("in"));
    messages.iter().for_each(|message| sender.octets(message.as_bytes()));
    sender.finish();
}

/// Messages made of the patterns of a database, each value in them a word, and two that fit none.
fn windows_events(database: &str) -> Vec<String> {
    const HEAD: &str = "<13>Oct 11 22:14:15 h Microsoft_Windows_security_auditing.: ";
    let mut messages = vec![format!("{HEAD}x"), format!("{HEAD}h: Security Microsoft Windows")];
    for pattern in database.split("<pattern>").skip(1).filter_map(|rest| rest.split("</pattern>").next()) {
        let mut text = HEAD.to_owned();
        for (at, part) in pattern.split('@').enumerate() {
            match part.splitn(3, ':').nth(2).filter(|_| at % 2 == 1) {
                Some(end) => text.push_str(&format!("value{end}")),
                None if at % 2 == 1 => text.push_str("value"),
                None => text.push_str(part),
            }
        }
        messages.push(text);
    }
    messages
}

#[test]
fn default_network_drivers_takes_rfc_5424_over_tls() {
    let lab = Lab::new();
    prepared(&lab);
    let (client, server) = (block_of("client"), block_of("server"));
    let config = format!(
        "{HEAD}@include \"scl.conf\"\n\
         source own {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         source s {{ default-network-drivers(udp-port(%udp:udp%) tcp-port(%tcp:tcp%) rfc5424-tcp-port(%tcp:plain%)\n\
         rfc5424-tls-port(%tcp:tls%) {server}); }};\n\
         destination away {{ syslog(127.0.0.1 port(%port:tls%) transport(\"tls\") {client}); }};\n\
         destination d {{ file(\"%dir%/out\" template(\"${{.tls.x509_cn}} ${{.app.name}} ${{.sudo.COMMAND}}\\n\")); }};\n\
         log {{ source(own); destination(away); flags(flow-control); }};\n\
         log {{ source(s); destination(d); flags(flow-control); }};\n"
    );
    let penstock = Penstock::start(&lab, &config);
    let mut sender = Sender::tcp(lab.port("in"));
    sender.line("<86>Oct 11 22:14:15 h sudo: frank : TTY=pts/3 ; PWD=/ ; USER=root ; COMMAND=/bin/ls");
    sender.finish();
    testkit::wait_until("the message", || lab.lines("out").len() == 1);
    assert_eq!(lab.lines("out"), ["client sudo /bin/ls"]);
    penstock.stop();
}

/// `tls()` without anything, as default-network-drivers() has it where none is given: the port stays closed,
/// the others open.
#[test]
fn without_a_certificate_the_port_for_tls_stays_closed() {
    let lab = Lab::new();
    let config = format!(
        "{HEAD}@include \"scl.conf\"\n\
         source s {{ default-network-drivers(udp-port(%udp:udp%) tcp-port(%tcp:tcp%) rfc5424-tcp-port(%tcp:plain%)\n\
         rfc5424-tls-port(%port:tls%)); }};\n\
         destination d {{ file(\"%dir%/out\"); }};\nlog {{ source(s); destination(d); }};\n"
    );
    let penstock = Penstock::start(&lab, &config);
    assert!(std::net::TcpStream::connect(("127.0.0.1", lab.port("tls"))).is_err());
    assert!(std::net::TcpStream::connect(("127.0.0.1", lab.port("plain"))).is_ok());
    assert!(penstock.log().contains("the port stays closed"), "{}", penstock.log());
    penstock.stop();
}
