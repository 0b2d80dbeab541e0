//! What every destination that is answered promises, tried with each of them and a server that is not ours:
//! one description a destination (`testkit::receivers`), one trial a promise. Where a server is not
//! installed, its trials are skipped.

mod trials;

use testkit::receivers::{Destination, Trial, all};
use testkit::skip;

fn destination(name: &str) -> &'static Destination {
    let found = all().into_iter().find(|destination| destination.name == name);
    found.unwrap_or_else(|| panic!("there is no destination {name}"))
}

/// Makes a trial, unless there is a reason against it.
#[track_caller]
fn try_with(name: &str, trial: Trial) {
    let destination = destination(name);
    if let Some(why) = destination.reason_against(trial) {
        return skip(why);
    }
    if !trials::run(destination, trial) {
        skip(destination.missing);
    }
}

macro_rules! contract {
    ($($module:ident = $name:literal),* $(,)?) => {
        $(mod $module {
            use super::{Trial, try_with};

            #[test]
            fn what_is_sent_is_read_back() {
                try_with($name, Trial::Delivered);
            }

            #[test]
            fn a_wrong_certificate_gets_nothing() {
                try_with($name, Trial::Certificate);
            }

            #[test]
            fn a_wrong_login_holds_and_is_said_once() {
                try_with($name, Trial::Login);
            }

            #[test]
            fn one_bad_in_ten_thousand_is_one_dead_letter_and_goes_when_it_may() {
                try_with($name, Trial::Bad);
            }

            #[test]
            fn kills_of_the_server_lose_nothing() {
                try_with($name, Trial::ServerKilled);
            }

            #[test]
            fn kills_of_the_collector_lose_nothing_from_its_disk() {
                try_with($name, Trial::CollectorKilled);
            }

            #[test]
            fn reloads_under_load_lose_and_double_nothing() {
                try_with($name, Trial::Reload);
            }

            #[test]
            fn take_overs_under_load_lose_and_double_nothing() {
                try_with($name, Trial::TakeOver);
            }

            #[test]
            fn a_slow_server_slows_senders_and_costs_no_memory() {
                try_with($name, Trial::Slow);
            }
        })*

        const NAMES: &[&str] = &[$($name),*];
    };
}

contract! {
    http = "http",
    elasticsearch = "elasticsearch",
    splunk = "splunk",
    kafka = "kafka",
    postgresql = "postgresql",
    postgresql_exactly_once = "postgresql-exactly-once",
    mariadb = "mariadb",
    sqlite = "sqlite",
    mongodb = "mongodb",
    redis = "redis",
    amqp = "amqp",
    stomp = "stomp",
    mqtt = "mqtt",
    smtp = "smtp",
    riemann = "riemann",
    snmp = "snmp",
    s3 = "s3",
    hdfs = "hdfs",
    opentelemetry = "opentelemetry",
    loki = "loki",
    clickhouse = "clickhouse",
    bigquery = "bigquery",
    arrow_flight = "arrow-flight",
}

#[test]
fn every_description_is_tried() {
    let mut described: Vec<&str> = all().iter().map(|destination| destination.name).collect();
    let mut tried = NAMES.to_vec();
    described.sort_unstable();
    tried.sort_unstable();
    assert_eq!(described, tried);
}

/// The rows of the table in docs/delivery.md.
fn table() -> String {
    const TRIALS: [Trial; 9] = [
        Trial::Delivered,
        Trial::Certificate,
        Trial::Login,
        Trial::Bad,
        Trial::ServerKilled,
        Trial::CollectorKilled,
        Trial::Reload,
        Trial::TakeOver,
        Trial::Slow,
    ];
    let mut rows = String::new();
    let mut reasons = String::new();
    for destination in all() {
        let cells = TRIALS.map(|trial| match (destination.reason_against(trial), trial) {
            (Some(_), _) => "-".to_owned(),
            (None, Trial::ServerKilled | Trial::CollectorKilled) => {
                let kills = destination.kills_in(trial);
                let twice = if destination.once.contains(&trial) { ", none twice" } else { "" };
                format!("{kills}{twice}")
            }
            (None, _) => "yes".to_owned(),
        });
        rows.push_str(&format!("| {} | {} |\n", destination.name, cells.join(" | ")));
        for (trial, why) in destination.without {
            reasons.push_str(&format!("- {}, {trial:?}: {why}\n", destination.name));
        }
    }
    format!("{rows}\nNot tried:\n\n{reasons}")
}

const BEGIN: &str = "|---|---|---|---|---|---|---|---|---|---|\n";

/// `UPDATE_DOCS=1` writes it.
#[test]
fn the_documents_say_what_is_tried() {
    let path = testkit::root().join("docs/delivery.md");
    let text = std::fs::read_to_string(&path).expect("the documents");
    let (front, found) = text.split_once(BEGIN).expect("a table of trials");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, format!("{front}{BEGIN}{}", table())).expect("written");
    } else {
        assert!(found == table(), "docs/delivery.md is not up to date: UPDATE_DOCS=1\n{}", table());
    }
}
