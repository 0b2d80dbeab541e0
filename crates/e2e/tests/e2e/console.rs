//! The console: what scrapers and people are told over HTTP, and to whom nothing is told.

mod crowd;
mod hostile;
mod views;

use crate::messages::{HEAD, send};
use testkit::web::{self, Events};
use testkit::{Lab, Ledger, Penstock, wait_until};

const TOKEN: &str = "0123456789abcdef";

fn config(console: &str, destination: &str) -> String {
    format!(
        "{HEAD}options {{ console({console}); }};\nsource s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination d {{ {destination} }};\nlog {{ source(s); destination(d); }};\n"
    )
}

fn start(lab: &Lab, console: &str, destination: &str) -> (Penstock, u16) {
    let console = format!("port(%tcp:console%) {console}");
    (Penstock::start(lab, &config(&console, destination)), lab.port("console"))
}

const FILE: &str = "file(\"%dir%/out\");";
/// Nobody listens there, and ten messages may wait.
const FULL: &str = "network(127.0.0.1 port(%port:out%) log-fifo-size(10));";

#[test]
fn scrapers_get_the_counters_with_help_and_type() {
    let lab = Lab::new();
    let (mut penstock, port) = start(&lab, "", FILE);
    send(&lab, 0, 100);
    penstock.wait_ledger(|ledger| (ledger.destination("d").delivered != 100).then(|| "100".to_owned()));
    let sample = "syslogng_ledger_events_total{kind=\"destination\",id=\"d#0\"";
    let plain = web::get(port, "/metrics", "");
    assert_eq!(
        (plain.status, plain.header("content-type")),
        (200, "text/plain; version=0.0.4; charset=utf-8")
    );
    assert!(plain.body.contains("# TYPE syslogng_ledger_events_total counter\n"), "{}", plain.body);
    assert!(plain.body.lines().any(|l| l.starts_with(sample) && l.ends_with("result=\"delivered\"} 100")));
    let open = web::get(port, "/metrics", "Accept: application/openmetrics-text; version=1.0.0\r\n");
    assert!(open.header("content-type").starts_with("application/openmetrics-text"), "{open:?}");
    assert!(open.body.contains("# TYPE syslogng_ledger_events counter\n") && open.body.ends_with("# EOF\n"));
    // Every sample is below the type of its family, once.
    for (body, total) in [(&plain.body, ""), (&open.body, "_total")] {
        let mut family = String::new();
        let mut seen = std::collections::BTreeSet::new();
        for line in body.lines().filter(|line| !line.starts_with("# HELP") && *line != "# EOF") {
            if let Some(rest) = line.strip_prefix("# TYPE ") {
                let name = rest.split(' ').next().expect("a name");
                assert!(seen.insert(format!("TYPE {name}")), "{name} twice");
                family = name.to_owned();
                continue;
            }
            let name = line.split(['{', ' ']).next().expect("a name");
            let is_part = |end: &str| name.strip_suffix(end) == Some(&family);
            let ends = [total, "_bucket", "_count", "_sum"];
            assert!(name == family || ends.iter().any(|end| is_part(end)), "{line} in {family}");
            assert!(seen.insert(line.rsplit_once(' ').expect("a value").0.to_owned()), "{line} twice");
        }
    }
    penstock.stop();
}

#[test]
fn the_ledger_and_the_graph_are_those_of_the_control_socket() {
    let lab = Lab::new();
    let (mut penstock, port) = start(&lab, "", FILE);
    send(&lab, 0, 7);
    penstock.wait_ledger(|ledger| (ledger.destination("d").delivered != 7).then(|| "7".to_owned()));
    let ledger = Ledger::parse(&web::get(port, "/ledger.json", "").body);
    ledger.assert_balanced();
    assert_eq!((ledger.source("s").received, ledger.destination("d").delivered), (7, 7));
    let graph = web::get(port, "/graph.json", "").json();
    assert!(graph["nodes"].as_array().is_some_and(|nodes| nodes.len() == 3), "{graph}");
    penstock.stop();
}

#[test]
fn health_tells_what_is_wrong() {
    let lab = Lab::new();
    let (penstock, port) = start(&lab, "degraded-is-ready(no)", FULL);
    let well = web::get(port, "/healthz", "");
    assert_eq!((well.status, &well.json()["status"]), (200, &"ok".into()), "{well:?}");
    assert_eq!(web::get(port, "/readyz", "").status, 200);
    send(&lab, 0, 100);
    wait_until("it drops", || web::get(port, "/readyz", "").status == 503);
    let degraded = web::get(port, "/healthz", "");
    let said = degraded.json();
    assert_eq!((degraded.status, &said["status"]), (200, &"degraded".into()));
    assert!(said["reasons"][0].as_str().is_some_and(|why| why.contains("destination d#0 drops")), "{said}");
    drop(penstock);
}

#[test]
fn changes_come_as_they_happen() {
    let lab = Lab::new();
    let (penstock, port) = start(&lab, "", FULL);
    let mut events = Events::open(port, "/events");
    let (name, state) = events.next_event();
    assert_eq!((name.as_str(), &state["rows"]["source"]["s#0"]["received"]), ("state", &0.into()), "{state}");
    send(&lab, 0, 100);
    let dropped = loop {
        let (name, change) = events.next_event();
        assert_eq!(name, "change");
        let row = &change["rows"]["destination"]["d#0"];
        if row["dropped"] == 90 {
            break row["reasons"].clone();
        }
    };
    assert_eq!(dropped, serde_json::json!({ "queue-full": 90 }));
    drop(penstock);
}

#[test]
fn only_whoever_shows_the_token_is_told_anything() {
    let lab = Lab::new();
    let (penstock, port) = start(&lab, &format!("token(\"{TOKEN}\") allow-control(yes)"), FULL);
    let shown = format!("Authorization: Bearer {TOKEN}\r\n");
    for path in ["/metrics", "/ledger.json", "/graph.json", "/events"] {
        assert_eq!(web::get(port, path, "").status, 401, "{path}");
        for wrong in [
            "Authorization: Bearer 0123456789abcdee\r\n",
            "Authorization: Bearer\r\n",
            "Cookie: token=0123456789abcdef\r\n",
        ] {
            assert_eq!(web::get(port, path, wrong).status, 401, "{path} {wrong}");
        }
    }
    assert_eq!(web::get(port, "/ledger.json", &shown).status, 200);
    send(&lab, 0, 100);
    wait_until("it drops", || web::get(port, "/healthz", "").json()["status"] == "degraded");
    assert!(web::get(port, "/healthz", "").json().get("reasons").is_none());
    assert!(web::get(port, "/healthz", &shown).json()["reasons"][0].is_string());
    // Control: not without the token, the header, or from a page of somebody else.
    let own = format!("{shown}X-Penstock: 1\r\n");
    for (headers, status) in [
        (String::new(), 401),
        (shown.clone(), 403),
        (format!("{own}Origin: http://evil.example.com\r\n"), 403),
        (format!("{own}Sec-Fetch-Site: cross-site\r\n"), 403),
        (own.clone(), 200),
    ] {
        assert_eq!(web::post(port, "/control/reload", &headers, b"").status, status, "{headers}");
    }
    assert_eq!(web::post(port, "/control/reload?trail=5", &own, b"").status, 422);
    for place in ["", "?place=", "?place=%ff"] {
        assert_eq!(web::get(port, &format!("/tap.json{place}"), &shown).status, 422, "{place}");
    }
    assert_eq!(web::get(port, "/control/reload", &shown).status, 405);
    drop(penstock);
}

#[test]
fn nothing_is_changed_unless_that_is_allowed() {
    let lab = Lab::new();
    let (penstock, port) = start(&lab, "", FILE);
    assert_eq!(web::post(port, "/control/reload", "X-Penstock: 1\r\n", b"").status, 403);
    penstock.stop();
}

#[test]
fn a_reload_moves_it_and_the_command_line_opens_it() {
    let lab = Lab::new();
    let port = lab.port("console");
    let mut penstock = Penstock::configure(&lab, &config("port(%tcp:console%)", FILE)).free().ready();
    assert_eq!(web::get(port, "/healthz", "").status, 200);
    lab.write_config("penstock.conf", &config("port(%port:other%) token(\"0123456789abcdef\")", FILE));
    assert!(penstock.request("RELOAD").starts_with("OK"));
    assert_eq!(web::raw(port, b"GET / HTTP/1.1\r\n\r\n"), "");
    assert_eq!(web::get(lab.port("other"), "/metrics", "").status, 401);
    // One that cannot be opened is said, and what was open stays.
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let at = taken.local_addr().expect("an address").port();
    lab.write_config("penstock.conf", &config(&format!("port({at})"), FILE));
    penstock.request("RELOAD");
    penstock.wait_log("The console cannot be opened anew");
    assert_eq!(web::get(lab.port("other"), "/metrics", "").status, 401);
    penstock.stop();
    let lab = Lab::new();
    let plain = format!("{HEAD}source s {{ internal(); }};\nlog {{ source(s); }};\n");
    let port = testkit::free_port();
    let penstock = Penstock::configure(&lab, &plain).arg("--console").arg(&format!(":{port}")).ready();
    assert_eq!(web::get(port, "/healthz", "").status, 200);
    penstock.stop();
}
