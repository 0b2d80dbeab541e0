//! Metrics for scrapers: the samples of `prometheus` in families, each with its help and type, in the text
//! format of Prometheus or in that of OpenMetrics.

use super::prometheus::{PREFIX, sample};
use crate::catalog::METRICS;
use crate::counters::Counter;
use std::collections::{BTreeMap, HashSet};
use std::fmt::Write;

/// Which of the two formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exposition {
    Prometheus,
    OpenMetrics,
}

impl Exposition {
    /// What a scraper takes, from its `Accept`.
    pub fn accepted(accept: &str) -> Exposition {
        let wants = |part: &str| {
            let mut words = part.split(';').map(str::trim);
            words.next() == Some("application/openmetrics-text") && !words.any(|word| word == "q=0")
        };
        if accept.split(',').any(wants) { Exposition::OpenMetrics } else { Exposition::Prometheus }
    }

    pub fn content_type(self) -> &'static str {
        match self {
            Exposition::Prometheus => "text/plain; version=0.0.4; charset=utf-8",
            Exposition::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
        }
    }

    /// The metrics among the counters, and `own` ones by their full names, which are gauges.
    pub fn render(self, counters: &[Counter], own: &[(String, f64)]) -> String {
        let mut families: BTreeMap<(String, Kind), Family> = BTreeMap::new();
        let mut seen = HashSet::new();
        for counter in counters {
            let Some((name, labels, line)) = sample(counter) else { continue };
            if !seen.insert(labels) {
                continue;
            }
            let (family, kind) = family_of(&name);
            let entry =
                families.entry((family.to_owned(), kind)).or_insert_with(|| Family::new(help_of(&name)));
            entry.lines.push(line);
        }
        for (name, value) in own {
            let entry = families.entry((name.clone(), Kind::Gauge)).or_insert_with(|| Family::new(""));
            entry.lines.push(super::sample_line(name, &[], &value.to_string()));
        }
        let mut out = String::new();
        for ((name, kind), family) in &families {
            let is_taken = |other| other != *kind && families.contains_key(&(name.clone(), other));
            let (name, kind) = match (self, kind) {
                // A family has its name for itself there, and a configuration may name another one so.
                (Exposition::OpenMetrics, Kind::Counter)
                    if [Kind::Gauge, Kind::Unknown].into_iter().any(is_taken) =>
                {
                    (format!("{name}_total"), Kind::Unknown)
                }
                // Where the older format has a counter, its name is that of the samples.
                (Exposition::Prometheus, Kind::Counter) => (format!("{name}_total"), Kind::Counter),
                (_, kind) => (name.clone(), *kind),
            };
            self.family((&name, kind), family, &mut out);
        }
        if self == Exposition::OpenMetrics {
            out.push_str("# EOF\n");
        }
        out
    }

    fn family(self, (name, kind): (&str, Kind), family: &Family, out: &mut String) {
        if !family.help.is_empty() {
            let help = family.help.replace('\\', "\\\\").replace('\n', "\\n").replace(
                '"',
                match self {
                    Exposition::OpenMetrics => "\\\"",
                    Exposition::Prometheus => "\"",
                },
            );
            // Writing to a String does not fail.
            let _ = writeln!(out, "# HELP {name} {help}");
        }
        let _ = writeln!(out, "# TYPE {name} {}", kind.name(self));
        family.lines.iter().for_each(|line| out.push_str(line));
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Counter,
    Gauge,
    Histogram,
    /// What a configuration names.
    Unknown,
}

impl Kind {
    fn name(self, format: Exposition) -> &'static str {
        match self {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram => "histogram",
            Kind::Unknown if format == Exposition::OpenMetrics => "unknown",
            Kind::Unknown => "untyped",
        }
    }
}

struct Family {
    help: &'static str,
    lines: Vec<String>,
}

impl Family {
    fn new(help: &'static str) -> Family {
        Family { help, lines: Vec::new() }
    }
}

/// Parts of histograms end so.
const HISTOGRAM: [&str; 3] = ["_bucket", "_count", "_sum"];

fn family_of(name: &str) -> (&str, Kind) {
    let is_ours = METRICS.iter().any(|metric| name.strip_prefix(PREFIX) == Some(metric.name));
    let part = HISTOGRAM.iter().find_map(|end| name.strip_suffix(end));
    match (name.strip_suffix("_total"), part) {
        (Some(family), _) => (family, Kind::Counter),
        (None, Some(family)) if is_ours => (family, Kind::Histogram),
        _ if is_ours => (name, Kind::Gauge),
        _ => (name, Kind::Unknown),
    }
}

/// Of a histogram, that of its count.
fn help_of(name: &str) -> &'static str {
    let name = name.strip_prefix(PREFIX).unwrap_or(name);
    let part = HISTOGRAM.iter().find_map(|end| name.strip_suffix(end));
    let of = |wanted: &str| METRICS.iter().find(|metric| metric.name == wanted).map(|metric| metric.help);
    part.and_then(|family| of(&format!("{family}_bucket"))).or_else(|| of(name)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::{DiskLog, Times, disk_log, probed};

    #[test]
    fn families_have_help_and_type_in_both_formats() {
        let sync = Times { max_ns: 2_500_000, sum_ns: 5, buckets: &[(512, 3), (u64::MAX, 7)] };
        let mut counters = disk_log(&DiskLog { dir: "/d", sync, ..DiskLog::default() });
        counters.push(probed("own".to_owned(), vec![("a".to_owned(), "x\"y\\z\nw".to_owned())], 3));
        counters.push(probed("own".to_owned(), vec![("a".to_owned(), "x\"y\\z\nw".to_owned())], 3));
        let text = Exposition::Prometheus.render(&counters, &[("syslogng_own_seconds".to_owned(), 0.5)]);
        for part in [
            "# HELP syslogng_disk_log_commits_total groups written to a log on disk\n# TYPE syslogng_disk_log_commits_total counter\nsyslogng_disk_log_commits_total{dir=\"/d\"} 0\n",
            "# TYPE syslogng_disk_log_sync_latency_seconds histogram\n",
            "syslogng_disk_log_sync_latency_seconds_bucket{dir=\"/d\",le=\"0.000512\"} 3\nsyslogng_disk_log_sync_latency_seconds_bucket{dir=\"/d\",le=\"+Inf\"} 7\n",
            "# TYPE syslogng_disk_log_sync_latency_max_seconds gauge\n",
            "# TYPE syslogng_own untyped\nsyslogng_own{a=\"x\\\"y\\\\z\\nw\"} 3\n# ",
            "# TYPE syslogng_own_seconds gauge\nsyslogng_own_seconds 0.5\n",
        ] {
            assert!(text.contains(part), "{part}\nin\n{text}");
        }
        let open = Exposition::OpenMetrics.render(&counters, &[]);
        assert!(
            open.contains("# TYPE syslogng_disk_log_commits counter\nsyslogng_disk_log_commits_total{"),
            "{open}"
        );
        assert!(open.contains("# TYPE syslogng_own unknown\n") && open.ends_with("# EOF\n"), "{open}");
    }

    #[test]
    fn a_name_with_and_without_total_makes_two_families() {
        let probe = |name: &str, value| probed(name.to_owned(), Vec::new(), value);
        let counters = [probe("same", 1), probe("same_total", 2)];
        let check = |format: Exposition, expected: &str| assert_eq!(format.render(&counters, &[]), expected);
        check(
            Exposition::Prometheus,
            "# TYPE syslogng_same_total counter\nsyslogng_same_total 2\n# TYPE syslogng_same untyped\nsyslogng_same 1\n",
        );
        check(
            Exposition::OpenMetrics,
            "# TYPE syslogng_same_total unknown\nsyslogng_same_total 2\n# TYPE syslogng_same unknown\nsyslogng_same 1\n# EOF\n",
        );
    }

    #[test]
    fn scrapers_say_what_they_take() {
        let check = |accept: &str, expected| assert_eq!(Exposition::accepted(accept), expected, "{accept}");
        check("", Exposition::Prometheus);
        check("text/plain", Exposition::Prometheus);
        check(
            "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;q=0.5",
            Exposition::OpenMetrics,
        );
        check("application/openmetrics-text; q=0, */*", Exposition::Prometheus);
    }
}
