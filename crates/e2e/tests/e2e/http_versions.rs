//! `http()` over HTTP/2, with a server on a library that is not ours: where that is not, these are skipped.

use crate::answered::{
    self, Peer, assert_in_order, collector_killed, feed, reloaded_under_load, server_killed_under_load,
};
use crate::kept::queue;
use crate::tls::prepared;
use serde_json::Value;
use testkit::scripted::Scripted;
use testkit::{Lab, Penstock, skip};

const MISSING: &str = "no library of HTTP/2 in Python, see `./x servers http2`";

struct Http2(Scripted);

impl Peer for Http2 {
    fn kill(&mut self) {
        self.0.kill();
    }

    fn run(&mut self) {
        self.0.run();
    }

    fn texts(&self) -> Vec<String> {
        self.0.texts("text")
    }
}

fn config(scheme: &str, port: u16, options: &str) -> String {
    let url = format!("url(\"{scheme}://127.0.0.1:{port}/in?a=b\")");
    answered::config(&format!("http({url} body(\"$MSG\") batch-timeout(100) time-reopen(1) {options})"))
}

/// In the clear, with HTTP/2 from the first byte on.
fn clear(port: u16, options: &str) -> String {
    config("http", port, &format!("http-version(\"2\") {options}"))
}

/// What the server saw of all of its connections.
fn seen(server: &Scripted, name: &str) -> Vec<Value> {
    let mut values: Vec<Value> = server.taken().iter().map(|line| line[name].clone()).collect();
    values.dedup();
    values
}

fn runs(lab: &Lab, server: &Scripted, config: &str, count: usize) {
    let mut penstock = Penstock::start(lab, config);
    feed(lab.port("in"), 0, count);
    penstock.wait_settled(count as u64).assert_nothing_lost();
    assert_in_order(&server.texts("text"), count);
    penstock.stop();
}

#[test]
fn the_server_chooses_over_tls() {
    for (option, of_server, expected) in [
        ("", "", "2"),
        ("http-version(2)", "", "2"),
        ("http-version(auto)", "--only-http1", "HTTP/1.1"),
        ("http-version(\"1.1\")", "", "HTTP/1.1"),
    ] {
        let lab = Lab::new();
        prepared(&lab);
        let (certificate, key) = (lab.path("server.pem"), lab.path("server.key"));
        let mut options = vec!["--certificate", certificate.to_str().expect("a path")];
        options.extend(["--key", key.to_str().expect("a path")]);
        options.extend(Some(of_server).filter(|option| !option.is_empty()));
        let Some(server) = Scripted::start(&lab, "http2", &options) else { return skip(MISSING) };
        let tls = format!("batch-lines(100) {option} tls(ca-file(\"%dir%/ca.pem\"))");
        runs(&lab, &server, &config("https", server.port(), &tls), 500);
        assert_eq!(seen(&server, "version"), [expected], "{option} {of_server}");
    }
}

#[test]
fn the_server_is_named_once_and_headers_go_along() {
    for (options, authority) in [("", None), ("\"Host: logs.example.com\"", Some("logs.example.com"))] {
        let lab = Lab::new();
        let Some(server) = Scripted::start(&lab, "http2", &[]) else { return skip(MISSING) };
        let port = server.port();
        let of_url = format!("127.0.0.1:{port}");
        let headers = format!(
            "headers(\"X-Own: $HOST\" \"Connection: close\" \"Transfer-Encoding: chunked\" {options})"
        );
        runs(&lab, &server, &clear(port, &format!("user-agent(me) {headers}")), 20);
        let first = &server.taken()[0];
        assert_eq!(first[":authority"], *authority.unwrap_or(&of_url));
        assert_eq!((&first[":path"], &first[":scheme"]), (&"/in?a=b".into(), &"http".into()));
        assert_eq!((&first["user-agent"], &first["host"]), (&"me".into(), &Value::Null));
        assert!(first["x-own"].is_string());
        assert_eq!(seen(&server, "connection").len(), 1, "one connection carries all requests");
    }
}

#[test]
fn bodies_larger_than_the_window() {
    let lab = Lab::new();
    let Some(server) = Scripted::start(&lab, "http2", &[]) else { return skip(MISSING) };
    let options = "batch-lines(10000) batch-timeout(1000)";
    runs(&lab, &server, &clear(server.port(), options), 20_000);
}

#[test]
fn connections_that_the_server_leaves_and_requests_that_it_resets() {
    for options in [["--leave", "3"], ["--refuse", "3"]] {
        let lab = Lab::new();
        let Some(server) = Scripted::start(&lab, "http2", &options) else { return skip(MISSING) };
        runs(&lab, &server, &clear(server.port(), "batch-lines(20)"), 1000);
        assert!(seen(&server, "connection").len() > 1, "{options:?}");
    }
}

#[test]
fn an_answer_before_the_body_is_read() {
    let lab = Lab::new();
    let Some(server) = Scripted::start(&lab, "http2", &["--large", "20000"]) else { return skip(MISSING) };
    let config =
        clear(server.port(), "batch-lines(5000)").replace("options {", "options { dead-letters(yes);");
    runs(&lab, &server, &config, 5000);
    assert_eq!(queue(&lab, &["cat", "dead-letters"]).lines().count(), 0);
}

#[test]
fn faults_under_load() {
    // What was written down and not yet answered comes twice, no more.
    for (options, own) in
        [(&["--slow", "0.01"][..], ""), (&[], "disk-buffer(reliable(yes) capacity-bytes(64MiB))")]
    {
        let lab = Lab::new();
        let Some(server) = Scripted::start(&lab, "http2", options) else { return skip(MISSING) };
        let config = clear(server.port(), &format!("batch-lines(100) {own}"));
        let mut server = Http2(server);
        match own.is_empty() {
            true => server_killed_under_load(&lab, &config, &mut server, 100),
            false => collector_killed(&lab, &config, &server),
        }
    }
    let lab = Lab::new();
    let Some(server) = Scripted::start(&lab, "http2", &[]) else { return skip(MISSING) };
    reloaded_under_load(&lab, &clear(server.port(), "batch-lines(100)"), &Http2(server));
}
