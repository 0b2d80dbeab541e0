//! Servers in Python below `scripts/`: what speaks HTTP (requests of lines, Elasticsearch's bulk requests,
//! Splunk's events), mail, Riemann.

use super::{Destination, House, NOTHING, PLAIN, Receiver, Trial, Way, borrowed, words};
use crate::lab::Lab;
use crate::scripted::Scripted;

const NO_PYTHON: &str = "python3 is not installed";

pub(super) const ALL: &[Destination] = &[
    Destination { name: "http", missing: NO_PYTHON, start: http, ..PLAIN },
    Destination {
        name: "elasticsearch",
        missing: NO_PYTHON,
        start: elasticsearch,
        // Documents have ids of their own, which the server knows again.
        once: &[Trial::ServerKilled, Trial::CollectorKilled],
        ..PLAIN
    },
    Destination { name: "splunk", missing: NO_PYTHON, start: splunk, doubles_when_refused: true, ..PLAIN },
    Destination {
        name: "smtp",
        missing: "no library of mail servers in Python, see `./x servers smtp`",
        start: smtp,
        // A mail each.
        count: 1000,
        ..PLAIN
    },
    Destination {
        name: "riemann",
        missing: "no protobuf in Python, see `./x servers riemann`",
        start: riemann,
        without: &[(Trial::Login, "Riemann knows no logins")],
        ..PLAIN
    },
];

struct One {
    server: Scripted,
    /// The text of a line that it has written down.
    field: &'static str,
    /// The driver, without its options: of a port and a word.
    own: fn(&Way<'_>) -> String,
}

impl Receiver for One {
    fn port(&self) -> u16 {
        self.server.port()
    }

    fn driver(&self, way: &Way<'_>) -> String {
        format!("{} time-reopen(1) {} {})", (self.own)(way), way.tls(), way.options)
    }

    fn kill(&mut self) {
        self.server.kill();
    }

    fn run(&mut self) {
        self.server.run();
    }

    fn texts(&self) -> Vec<String> {
        self.server.texts(self.field)
    }

    fn mend(&mut self) -> bool {
        self.server.kill();
        self.server.change("--refuse", NOTHING);
        self.server.run();
        true
    }
}

const SECURE: &[&str] = &["--certificate", "CERT", "--key", "KEY"];

fn web(lab: &Lab, house: House, own: fn(&Way<'_>) -> String) -> Option<Box<dyn Receiver>> {
    let words = words(lab, house, SECURE, &["--token", "good"], &["--refuse", "TEXT"]);
    let server = Scripted::start(lab, "http", &borrowed(&words))?;
    Some(Box::new(One { server, field: "text", own }))
}

fn url(way: &Way<'_>) -> String {
    let scheme = if way.house == House::Secure { "https" } else { "http" };
    format!("{scheme}://127.0.0.1:{}", way.port)
}

fn http(lab: &Lab, house: House) -> Option<Box<dyn Receiver>> {
    web(lab, house, |way| {
        format!(
            "http(url(\"{}/in\") body(\"$MSG\") delimiter(\"\\n\") batch-lines(500) headers(\"Authorization: Bearer {}\")",
            url(way),
            way.word()
        )
    })
}

fn elasticsearch(lab: &Lab, house: House) -> Option<Box<dyn Receiver>> {
    web(lab, house, |way| {
        format!(
            "elasticsearch-http(url(\"{}/_bulk\") index(\"logs\") op-type(\"create\") custom-id(\"${{RCPTID}}$MSG\") \
             template(\"$(format-json text=\\\"$MSG\\\")\") workers(1) batch-lines(500) \
             headers(\"Content-Type: application/x-ndjson\" \"Authorization: Bearer {}\")",
            url(way),
            way.word()
        )
    })
}

fn splunk(lab: &Lab, house: House) -> Option<Box<dyn Receiver>> {
    web(lab, house, |way| {
        format!(
            "splunk-hec-event(url(\"{}\") token(\"{}\") workers(1) batch-lines(500)",
            url(way),
            way.word()
        )
    })
}

fn smtp(lab: &Lab, house: House) -> Option<Box<dyn Receiver>> {
    let words = words(lab, house, SECURE, &["--login", "me", "good"], &["--refuse", "TEXT"]);
    let server = Scripted::start(lab, "smtp", &borrowed(&words))?;
    let own = |way: &Way<'_>| {
        let login = format!("username(\"me\") password(\"{}\")", way.word());
        let login = if way.house == House::Guarded { login } else { String::new() };
        format!(
            "smtp(host(\"127.0.0.1\") port({}) from(\"log@a.example\") to(\"one@a.example\") subject(\"$PROGRAM\") \
             body(\"$MSG\\n\") {login}",
            way.port
        )
    };
    Some(Box::new(One { server, field: "body", own }))
}

fn riemann(lab: &Lab, house: House) -> Option<Box<dyn Receiver>> {
    let words = words(lab, house, SECURE, &[], &["--refuse", "TEXT"]);
    let server = Scripted::start(lab, "riemann", &borrowed(&words))?;
    let own = |way: &Way<'_>| {
        let kind = if way.house == House::Secure { "tls" } else { "tcp" };
        format!("riemann(server(\"127.0.0.1\") port({}) type(\"{kind}\") description(\"$MSG\")", way.port)
    };
    Some(Box::new(One { server, field: "description", own }))
}
