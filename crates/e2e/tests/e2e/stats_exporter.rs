//! `stats-exporter()`: a scraper is told what the control socket says, and what it asked is a message.

use crate::messages::{HEAD, send};
use std::io::Write;
use std::net::TcpStream;
use testkit::web::{self, Answered};
use testkit::{Lab, Penstock, wait_until};

fn config(driver: &str, options: &str, destination: &str) -> String {
    format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         source e {{ {driver}(ip(127.0.0.1) port(%tcp:scrape%) {options}); }};\n\
         destination d {{ file(\"%dir%/out\"); }};\ndestination l {{ {destination} }};\n\
         log {{ source(s); destination(d); }};\nlog {{ source(e); destination(l); flags(flow-control); }};\n"
    )
}

const LOG: &str = "file(\"%dir%/scrapes\" template(\"$SOURCEIP|$MSG\\n\"));";

/// A program that has delivered a hundred messages.
fn start(lab: &Lab, driver: &str, options: &str, destination: &str) -> Penstock {
    let mut penstock = Penstock::start(lab, &config(driver, options, destination));
    send(lab, 0, 100);
    penstock.wait_ledger(|ledger| (ledger.destination("d").delivered != 100).then(|| "100".to_owned()));
    penstock
}

fn scrape(lab: &Lab, path: &str) -> Answered {
    web::get(lab.port("scrape"), path, "User-Agent: scraper\r\nAuthorization: Bearer s3cret\r\n")
}

/// Lines that do not change from one question to the next.
fn steady(text: &str) -> Vec<&str> {
    text.lines().filter(|line| line.contains("\"d#0\"") || line.contains("d#0;")).collect()
}

#[test]
fn a_scraper_is_told_what_the_control_socket_says_and_is_logged() {
    let lab = Lab::new();
    let penstock = start(&lab, "stats-exporter", "", LOG);
    let answer = scrape(&lab, "/metrics?x=y");
    assert_eq!(
        (answer.status, answer.header("content-type"), answer.header("connection")),
        (200, "text/plain; version=0.0.4; charset=utf-8", "close")
    );
    let said = penstock.request("STATS PROMETHEUS");
    assert_eq!(steady(&answer.body), steady(&said));
    assert!(
        answer.body.lines().any(|line| line.starts_with("syslogng_output_events_total{")
            && line.contains("id=\"d#0\"")
            && line.ends_with("result=\"delivered\"} 100")),
        "{}",
        answer.body
    );
    assert_eq!(scrape(&lab, "/other").status, 404);
    wait_until("both requests", || {
        lab.lines("scrapes").iter().filter(|line| line.contains("GET ")).count() == 2
    });
    let text = lab.text("scrapes");
    assert!(text.starts_with("127.0.0.1|GET /metrics?x=y HTTP/1.1\n"), "{text}");
    assert!(text.contains("user-agent: scraper") && !text.contains("s3cret"), "{text}");
    penstock.ledger().assert_balanced();
}

#[test]
fn forms_queries_and_the_limit() {
    let lab = Lab::new();
    let options = "stat-format(csv) scrape-freq-limit(3600) scrape-pattern(\"GET /st?ts HTTP/1.*\")";
    let penstock = start(&lab, "stats-exporter-dont-log", options, LOG);
    assert_eq!(scrape(&lab, "/metrics").status, 404);
    let answer = scrape(&lab, "/stats");
    assert!(answer.body.starts_with("SourceName;SourceId;"), "{}", answer.body);
    assert_eq!(steady(&answer.body), steady(&penstock.request("STATS CSV")));
    assert_eq!(scrape(&lab, "/stats").status, 429);
    assert_eq!(lab.text("scrapes"), "");
    drop(penstock);
    let lab = Lab::new();
    let options = "stat-type(query) stat-query(\"destination.d.*\") stat-format(kv)";
    let _penstock = start(&lab, "stats-exporter", options, LOG);
    assert_eq!(scrape(&lab, "/metrics").body, "destination.d.processed=100\n");
}

#[test]
fn statistics_are_there_when_the_log_of_requests_is_stuck() {
    let lab = Lab::new();
    let nobody = "network(127.0.0.1 port(%port:out%) log-fifo-size(10));";
    let _penstock = start(&lab, "stats-exporter", "log-iw-size(1)", nobody);
    for _ in 0..200 {
        assert_eq!(scrape(&lab, "/metrics").status, 200);
    }
}

#[test]
fn one_scraper_at_a_time() {
    let lab = Lab::new();
    let _penstock = start(&lab, "stats-exporter", "", LOG);
    let port = lab.port("scrape");
    let mut idle = TcpStream::connect(("127.0.0.1", port)).expect("a connection");
    // Who says nothing while another one waits is shut out.
    idle.write_all(b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n").expect("written");
    let other = std::thread::spawn(move || web::get(port, "/metrics", ""));
    // It ends with its answer, without having been asked to.
    let mut answer = String::new();
    std::io::Read::read_to_string(&mut idle, &mut answer).expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    assert_eq!(other.join().expect("answered").status, 200);
}
