//! `penstock plan`: what an estate of edges, Kafka, workers and a store needs for a rate of messages.

mod estate;
mod figures;

use crate::printing::print;
use control::cli::PlanArgs;
use estate::{Estate, round};
use serde_json::{Value, json};
use std::fmt::Write;
use std::process::ExitCode;

/// Grows when something is removed or changes its meaning.
const VERSION: u32 = 1;

pub fn run(args: &PlanArgs) -> ExitCode {
    let estate = Estate::of(args);
    print(&if args.json { to_json(args, &estate) } else { to_text(&estate) })
}

fn to_text(estate: &Estate) -> String {
    let mut out = String::new();
    // Writing to a String does not fail.
    for step in &estate.steps {
        let value = format!("{} {}", round(step.value), step.unit);
        let _ = writeln!(out, "{:<20} {value:>20}   {}", step.name, step.how);
        for figure in &step.figures {
            let _ = writeln!(out, "{:<43} {} {}: {}", "", figure.value, figure.unit, figure.stands_on);
        }
    }
    let machines = &estate.machines;
    let _ = writeln!(
        out,
        "\n{} edges, {} brokers with {} partitions and {} TB, {} workers",
        machines.edges,
        machines.brokers,
        machines.partitions,
        round(machines.kafka_terabytes),
        machines.workers
    );
    for remark in &estate.remarks {
        let _ = writeln!(out, "note: {remark}");
    }
    out
}

fn to_json(args: &PlanArgs, estate: &Estate) -> String {
    let steps = estate.steps.iter().map(|step| {
        let figures = step
            .figures
            .iter()
            .map(|figure| json!({"value": figure.value, "unit": figure.unit, "stands_on": figure.stands_on}));
        json!({
            "name": step.name,
            "value": step.value,
            "unit": step.unit,
            "how": step.how,
            "figures": figures.collect::<Vec<Value>>(),
        })
    });
    let machines = &estate.machines;
    let report = json!({
        "version": VERSION,
        "messages_per_second": args.rate,
        "message_bytes": args.size,
        "retention_seconds": args.retention,
        "steps": steps.collect::<Vec<Value>>(),
        "edges": machines.edges,
        "brokers": machines.brokers,
        "partitions": machines.partitions,
        "workers": machines.workers,
        "store_cores": machines.store_cores,
        "kafka_terabytes": machines.kafka_terabytes,
        "store_terabytes": machines.store_terabytes,
        "cost_a_month": machines.cost,
        "notes": estate.remarks,
    });
    format!("{report}\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use control::cli::{Cli, Command};

    fn estate(line: &str) -> Estate {
        let words = ["penstock", "plan"].into_iter().chain(line.split_whitespace());
        let Command::Plan(args) = Cli::try_parse_from(words).expect(line).command else { panic!("not plan") };
        Estate::of(&args)
    }

    fn step(estate: &Estate, name: &str) -> f64 {
        estate.steps.iter().find(|step| step.name == name).expect(name).value
    }

    #[test]
    fn two_million_a_second() {
        let estate = estate("--rate 2M/s --size 400 --retention 7d --target opensearch");
        assert_eq!(step(&estate, "in"), 800.0);
        assert!((step(&estate, "CPU of edges") - 1.92).abs() < 1e-9);
        // 800 MB/s over 10 Gbit/s, twice as much in bursts.
        assert_eq!(estate.machines.edges, 3);
        // 800 MB/s x 604,800 s x 3 copies.
        assert!((step(&estate, "disks of brokers") - 1451.52).abs() < 0.01);
        assert_eq!(estate.machines.brokers, 131);
        assert_eq!(estate.machines.partitions % estate.machines.brokers, 0);
        assert_eq!(estate.machines.store_cores, 520);
    }

    #[test]
    fn more_of_anything_never_needs_less() {
        for target in ["opensearch", "postgresql", "clickhouse", "s3"] {
            let mut before = (0, 0, 0, 0);
            for rate in ["1", "10k", "100k", "1M", "10M", "100M", "10G"] {
                let machines = estate(&format!("--rate {rate} --retention 1d --target {target}")).machines;
                let now = (machines.edges, machines.brokers, machines.partitions, machines.workers);
                assert!(now.0 >= before.0.max(2) && now.1 >= before.1.max(3), "{target} {rate}: {now:?}");
                assert!(now.2 >= before.2.max(3) && now.3 >= before.3.max(2), "{target} {rate}: {now:?}");
                before = now;
            }
        }
    }

    /// What a step says, calculated as it stands, is its value.
    #[test]
    fn what_a_step_says_can_be_calculated() {
        let estate = estate("--rate 2M/s --size 400 --retention 1h --kept 36h --target opensearch");
        let said = |name: &str| &estate.steps.iter().find(|step| step.name == name).expect(name).how;
        assert_eq!(said("disks of brokers"), "800 MB/s x 1 hour x 3 copies");
        assert!(said("text in the store").starts_with("800 MB/s x 36 hours, "));
        assert_eq!(said("disks that write it"), "2400 MB/s / (700 MB/s x 0.7)");
        assert!((step(&estate, "disks that write it") - 2400.0 / (700.0 * 0.7)).abs() < 1e-9);
        let shown = [60.0, 3600.0, 86_400.0, 604_800.0, 129_600.0, 5400.0, 90.0].map(estate::time);
        assert_eq!(shown, ["1 minute", "1 hour", "1 day", "7 days", "36 hours", "90 minutes", "90 seconds"]);
    }

    #[test]
    fn numbers_can_be_read() {
        let shown = [0.96, 1.92, 12.34, 800.0, 99_999.0, 100_000.0, 2e6, 1.25e9, 0.0].map(round);
        assert_eq!(shown, ["0.96", "1.92", "12.3", "800", "99999", "100k", "2M", "1.25G", "0"]);
    }
}
