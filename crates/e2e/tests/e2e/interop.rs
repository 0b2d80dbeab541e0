//! Other receivers and relays, both ways: the distribution's syslog-ng and rsyslog, and the system's logger.

use crate::messages::{HEAD, assert_complete, line, send};
use std::process::Command;
use testkit::{Lab, Penstock, peers, skip, wait_until};

const COUNT: usize = 500;

/// penstock that relays to somebody else, and one that takes from somebody else: both in one process, apart
/// by source.
fn config(destination: &str, source: &str) -> String {
    format!(
        "{HEAD}source own {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         source peer {{ {source} }};\n\
         destination away {{ {destination} }};\ndestination d {{ file(\"%dir%/out\"); }};\n\
         log {{ source(own); destination(away); flags(flow-control); }};\n\
         log {{ source(peer); destination(d); flags(flow-control); }};\n"
    )
}

/// Sends through penstock to the peer and back again into a file; every line once and in order.
#[track_caller]
pub fn there_and_back(lab: &Lab, penstock: &mut Penstock) {
    send(lab, 0, COUNT);
    wait_until("everything to come back", || lab.lines("out").len() >= COUNT);
    penstock.wait_settled_input().assert_nothing_lost();
    assert_complete(&lab.lines("out"), 1, COUNT);
    assert_eq!(lab.lines("out")[0], line(0, 0));
}

fn syslog_ng_and_back(destination: &str, source: &str, theirs: &str) {
    let Some(program) = peers::syslog_ng() else { return skip(peers::MISSING) };
    let lab = Lab::new();
    let mut penstock = Penstock::start(&lab, &config(destination, source));
    let theirs = format!(
        "@version: 3.38\noptions {{ keep-hostname(yes); use-dns(no); time-reopen(1); }};\n{theirs}\n\
         log {{ source(s); destination(d); flags(flow-control); }};\n"
    );
    let _peer = peers::start_syslog_ng(&lab, &program, &theirs, &[]);
    there_and_back(&lab, &mut penstock);
}

#[test]
fn syslog_ng_on_lines() {
    syslog_ng_and_back(
        "network(127.0.0.1 port(%port:peer%));",
        "network(ip(127.0.0.1) port(%tcp:back%));",
        "source s { network(ip(127.0.0.1) port(%tcp:peer%)); };\n\
         destination d { network(\"127.0.0.1\" port(%port:back%)); };",
    );
}

#[test]
fn syslog_ng_in_the_new_format() {
    syslog_ng_and_back(
        "syslog(127.0.0.1 port(%port:peer%));",
        "syslog(ip(127.0.0.1) port(%tcp:back%));",
        "source s { syslog(ip(127.0.0.1) port(%tcp:peer%)); };\n\
         destination d { syslog(\"127.0.0.1\" port(%port:back%)); };",
    );
}

#[test]
fn syslog_ng_on_a_local_socket() {
    syslog_ng_and_back(
        "unix-stream(\"%path:peer%\");",
        "unix-stream(\"%unix:back%\" flags(expect-hostname));",
        "source s { unix-stream(\"%unix:peer%\" flags(expect-hostname)); };\n\
         destination d { unix-stream(\"%path:back%\"); };",
    );
}

fn rsyslog_and_back(destination: &str, source: &str, theirs: &str) {
    let Some(program) = peers::rsyslog() else { return skip(peers::MISSING) };
    let lab = Lab::new();
    let mut penstock = Penstock::start(&lab, &config(destination, source));
    let theirs = format!("global(workDirectory=\"%dir%\")\nmodule(load=\"imtcp\")\n{theirs}\n");
    let _peer = peers::start_rsyslog(&lab, &program, &theirs);
    there_and_back(&lab, &mut penstock);
}

#[test]
fn rsyslog_on_lines() {
    rsyslog_and_back(
        "network(127.0.0.1 port(%port:peer%));",
        "network(ip(127.0.0.1) port(%tcp:back%));",
        "input(type=\"imtcp\" port=\"%tcp:peer%\" address=\"127.0.0.1\")\n\
         action(type=\"omfwd\" target=\"127.0.0.1\" port=\"%port:back%\" protocol=\"tcp\" template=\"RSYSLOG_TraditionalForwardFormat\")",
    );
}

#[test]
fn rsyslog_in_the_new_format() {
    rsyslog_and_back(
        "syslog(127.0.0.1 port(%port:peer%));",
        "syslog(ip(127.0.0.1) port(%tcp:back%));",
        "input(type=\"imtcp\" port=\"%tcp:peer%\" address=\"127.0.0.1\")\n\
         action(type=\"omfwd\" target=\"127.0.0.1\" port=\"%port:back%\" protocol=\"tcp\" template=\"RSYSLOG_SyslogProtocol23Format\" TCP_Framing=\"octet-counted\")",
    );
}

#[test]
fn the_systems_logger() {
    if Command::new("logger").arg("--version").output().is_err() {
        return skip("no logger here");
    }
    let lab = Lab::new();
    let config = format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:tcp%)); network(ip(127.0.0.1) port(%udp:udp%) transport(udp));\n\
         syslog(ip(127.0.0.1) port(%tcp:octets%)); unix-dgram(\"%unix:local%\"); }};\n\
         destination d {{ file(\"%dir%/out\" template(\"$FACILITY.$LEVEL $PROGRAM $MSG\\n\")); }};\n\
         log {{ source(s); destination(d); flags(flow-control); }};\n"
    );
    let mut penstock = Penstock::start(&lab, &config);
    let socket = lab.path("local").display().to_string();
    let (tcp, udp, octets) =
        (lab.port("tcp").to_string(), lab.port("udp").to_string(), lab.port("octets").to_string());
    let runs: [&[&str]; 4] = [
        &["--server", "127.0.0.1", "--port", &tcp, "--tcp", "--rfc3164"],
        &["--server", "127.0.0.1", "--port", &udp, "--udp", "--rfc3164"],
        &["--server", "127.0.0.1", "--port", &octets, "--tcp", "--octet-count", "--rfc5424"],
        &["--socket", &socket],
    ];
    for args in runs {
        let status = Command::new("logger")
            .args(args)
            .args(["--tag", "tag", "--priority", "mail.err", "a text"])
            .status();
        assert!(status.unwrap().success(), "{args:?}");
    }
    penstock.wait_settled(4).assert_nothing_lost();
    assert_eq!(lab.lines("out"), ["mail.err tag a text"; 4]);
}
