//! What was measured, as Markdown, CSV and JSON.

use super::tables::Table;
use crate::rig::{Mean, Measured, Sample};
use bench::cli::Own;
use serde_json::{Value, json};
use std::fmt::Write;

/// Grows when something is removed or changes its meaning.
const VERSION: u32 = 1;

pub struct Row {
    pub name: String,
    /// Measurements of it.
    pub count: usize,
    /// Messages a second.
    pub rate: Mean,
    pub megabytes: f64,
    pub cpu_us: f64,
    pub memory: u64,
}

pub struct Section {
    pub name: &'static str,
    pub title: &'static str,
    pub column: &'static str,
    pub rows: Vec<Row>,
}

pub struct Report {
    pub machine: String,
    pub about: String,
    pub sections: Vec<Section>,
}

impl Report {
    /// `results` are by point, in the order of the tables.
    pub fn new(asked: &Own, sample: &Sample, tables: Vec<Table>, results: Vec<Vec<Measured>>) -> Report {
        let mut results = results.into_iter();
        let sections = tables.into_iter().map(|table| Section {
            name: table.name,
            title: table.title,
            column: table.column,
            rows: table
                .points
                .into_iter()
                .zip(results.by_ref())
                .map(|(point, seen)| row(point.row, &seen))
                .collect(),
        });
        let rounds = stdio::counted(u64::from(asked.rounds), "round", "rounds");
        let about = format!(
            "{} with the messages of {} ({} bytes in the mean). {rounds} of {} s for each figure; where a table is not about them, \
             10 connections over TCP and destinations to /dev/null",
            asked.config.display(),
            asked.sample.display(),
            sample.mean_bytes(),
            asked.seconds,
        );
        Report { machine: bench::cli::machine(), about, sections: sections.collect() }
    }

    pub fn markdown(&self) -> String {
        let mut out = format!("# Benchmark\n\n{}. {}.\n", self.machine, self.about);
        for section in &self.sections {
            // Writing to a String does not fail.
            let _ = write!(
                out,
                "\n## {}\n\n| {} | messages/s | +- % | MB/s | CPU us/message | memory MiB |\n|---|---:|---:|---:|---:|---:|\n",
                section.title, section.column
            );
            for row in &section.rows {
                let _ = writeln!(
                    out,
                    "| {} | {:.0} | {} | {:.1} | {:.3} | {} |",
                    row.name,
                    row.rate.value,
                    row.error(),
                    row.megabytes,
                    row.cpu_us,
                    row.memory >> 20
                );
            }
        }
        out.push_str(
            "\nMessages/s: through the log paths and lost by no destination; the true mean lies within +- in 95 of 100 cases. CPU is the program's, all threads.\n",
        );
        out
    }

    pub fn csv(&self) -> String {
        let mut out = String::from(
            "table,row,messages_per_second,error_percent,megabytes_per_second,cpu_us_per_message,memory_bytes\n",
        );
        for section in &self.sections {
            for row in &section.rows {
                let _ = writeln!(
                    out,
                    "{},\"{}\",{:.0},{},{:.3},{:.4},{}",
                    section.name,
                    row.name.replace('"', "\"\""),
                    row.rate.value,
                    row.error(),
                    row.megabytes,
                    row.cpu_us,
                    row.memory
                );
            }
        }
        out
    }

    pub fn json(&self) -> Value {
        let rows = |section: &Section| -> Vec<Value> {
            section
                .rows
                .iter()
                .map(|row| {
                    json!({
                        "row": row.name,
                        "messages_per_second": row.rate.value,
                        "error_percent": row.error_percent(),
                        "megabytes_per_second": row.megabytes,
                        "cpu_us_per_message": row.cpu_us,
                        "memory_bytes": row.memory,
                    })
                })
                .collect()
        };
        let table = |section: &Section| json!({ "name": section.name, "title": section.title, "column": section.column, "rows": rows(section) });
        let tables: Vec<Value> = self.sections.iter().map(table).collect();
        json!({ "version": VERSION, "machine": self.machine, "about": self.about, "tables": tables })
    }
}

impl Row {
    /// `None` where one measurement says nothing of it.
    pub fn error_percent(&self) -> Option<f64> {
        (self.count > 1).then(|| 100.0 * self.rate.margin() / self.rate.value.max(1.0))
    }

    fn error(&self) -> String {
        self.error_percent().map_or_else(String::new, |error| format!("{error:.1}"))
    }
}

fn row(name: String, seen: &[Measured]) -> Row {
    let mean = |of: fn(&Measured) -> f64| Mean::of(&seen.iter().map(of).collect::<Vec<f64>>());
    Row {
        name,
        count: seen.len(),
        rate: mean(|one| one.messages),
        megabytes: mean(|one| one.bytes).value / 1e6,
        cpu_us: mean(|one| one.cpu_us).value,
        memory: seen.iter().map(|one| one.memory).max().unwrap_or(0),
    }
}

#[cfg(test)]
pub fn example() -> Report {
    let seen = |messages| Measured { messages, bytes: messages * 100.0, cpu_us: 0.5, memory: 64 << 20 };
    let rows =
        vec![row("TCP".to_owned(), &[seen(90.0), seen(110.0)]), row("a \"b\" <c>".to_owned(), &[seen(50.0)])];
    let section = Section { name: "tls", title: "With and without TLS", column: "transport", rows };
    Report { machine: "2 cores".to_owned(), about: "x.conf".to_owned(), sections: vec![section] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_say_what_was_measured() {
        let report = example();
        let markdown = report.markdown();
        assert!(markdown.contains("| TCP | 100 | 127.1 | 0.0 | 0.500 | 64 |\n"), "{markdown}");
        assert!(report.csv().contains("\ntls,\"a \"\"b\"\" <c>\",50,,0.005,0.5000,67108864\n"));
        assert_eq!(report.json()["tables"][0]["rows"][0]["messages_per_second"], 100.0);
    }
}
