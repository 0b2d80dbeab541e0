//! What is spoken to over gRPC: servers on others' libraries, which write down what they take.

use super::{Destination, House, NOTHING, PLAIN, Receiver, Trial, Way, borrowed, words};
use crate::lab::Lab;
use crate::otlp::{MISSING, NO_BIGQUERY, NO_FLIGHT, Otlp};
use serde_json::Value;

pub(super) const ALL: &[Destination] = &[
    Destination {
        name: "opentelemetry",
        missing: MISSING,
        start: |lab, house| start(lab, house, Otlp::start, OPENTELEMETRY),
        ..PLAIN
    },
    Destination {
        name: "loki",
        missing: MISSING,
        // The server keeps nothing of what it had when it is killed: it passes over what it has within a
        // life.
        start: |lab, house| start(lab, house, Otlp::pushed, LOKI),
        once: &[Trial::CollectorKilled],
        ..PLAIN
    },
    Destination {
        name: "clickhouse",
        missing: MISSING,
        start: |lab, house| start(lab, house, Otlp::pushed, CLICKHOUSE),
        ..PLAIN
    },
    Destination {
        name: "bigquery",
        missing: NO_BIGQUERY,
        start: |lab, house| start(lab, house, Otlp::bigquery, BIGQUERY),
        ..PLAIN
    },
    Destination {
        name: "arrow-flight",
        missing: NO_FLIGHT,
        start: |lab, house| start(lab, house, Otlp::flight, FLIGHT),
        ..PLAIN
    },
];

/// One protocol: the driver without its options, and the text of a line that the server has written down.
#[derive(Clone, Copy)]
struct Protocol {
    own: fn(&Way<'_>) -> String,
    text: fn(&Value) -> Option<&str>,
}

const OPENTELEMETRY: Protocol = Protocol {
    own: |way| format!("opentelemetry(url(\"127.0.0.1:{}\")", way.port),
    text: |line| line["record"]["body"]["stringValue"].as_str(),
};
const LOKI: Protocol = Protocol {
    own: |way| format!("loki(url(\"127.0.0.1:{}\") template(\"$MSG\")", way.port),
    text: |line| line["line"].as_str(),
};
const CLICKHOUSE: Protocol = Protocol {
    own: |way| {
        format!(
            "clickhouse(url(\"127.0.0.1:{}\") database(\"logs\") table(\"messages\") user(\"writer\") \
             schema(\"host\" STRING => \"$HOST\" \"message\" => \"$MSG\")",
            way.port
        )
    },
    text: |line| line["row"].as_str()?.split('\t').next_back(),
};
const BIGQUERY: Protocol = Protocol {
    own: |way| {
        format!(
            "bigquery(url(\"127.0.0.1:{}\") project(\"p\") dataset(\"d\") table(\"t\") \
             schema(\"host\" STRING => \"$HOST\" \"message\" => \"$MSG\")",
            way.port
        )
    },
    text: |line| line["row"]["message"].as_str(),
};
const FLIGHT: Protocol = Protocol {
    own: |way| {
        let scheme = if way.house == House::Secure { "grpc+tls" } else { "grpc" };
        format!(
            "arrow-flight(url(\"{scheme}://127.0.0.1:{}\") path(\"logs\") \
             schema(\"host\" STRING => \"$HOST\" \"message\" => \"$MSG\")",
            way.port
        )
    },
    text: |line| line["row"]["message"].as_str(),
};

struct Called {
    server: Otlp,
    protocol: Protocol,
}

fn start(
    lab: &Lab,
    house: House,
    make: fn(&Lab, &[&str]) -> Option<Otlp>,
    protocol: Protocol,
) -> Option<Box<dyn Receiver>> {
    let secure = ["--cert", "CERT", "--key", "KEY"];
    let words = words(lab, house, &secure, &["--token", "Bearer good"], &["--refuse", "TEXT"]);
    Some(Box::new(Called { server: make(lab, &borrowed(&words))?, protocol }))
}

impl Receiver for Called {
    fn port(&self) -> u16 {
        self.server.port()
    }

    fn driver(&self, way: &Way<'_>) -> String {
        let tls = if way.house == House::Secure { format!("auth({})", way.tls()) } else { String::new() };
        let token = format!("headers(\"authorization\" => \"Bearer {}\")", way.word());
        let token = if way.house == House::Guarded { token } else { String::new() };
        let own = (self.protocol.own)(way);
        format!("{own} batch-lines(1000) time-reopen(1) {tls} {token} {})", way.options)
    }

    fn kill(&mut self) {
        self.server.kill();
    }

    fn run(&mut self) {
        self.server.run();
    }

    fn texts(&self) -> Vec<String> {
        self.server.records().iter().filter_map(self.protocol.text).map(str::to_owned).collect()
    }

    fn mend(&mut self) -> bool {
        self.server.kill();
        self.server.change("--refuse", NOTHING);
        self.server.run();
        true
    }
}
