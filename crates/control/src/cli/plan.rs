//! The command line of `penstock plan`.

use clap::{Args, ValueEnum};

/// Seconds, by the unit behind a number.
const DURATIONS: [(&str, f64); 4] = [("m", 60.0), ("h", 3_600.0), ("d", 86_400.0), ("w", 604_800.0)];
/// What a number is multiplied with, by the letter behind it.
const TIMES: [(&str, f64); 4] = [("k", 1e3), ("M", 1e6), ("G", 1e9), ("T", 1e12)];

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  penstock plan --rate 2M/s --size 400 --retention 7d --target opensearch
  penstock plan --rate 50k --size 600 --retention 3d --target postgresql --cores 8 --json
  penstock plan --rate 2M/s --size 400 --retention 7d --target s3 --tls --compression 4 --core-price 15 --terabyte-price 25

Prints what an estate of edges, Kafka, workers and a store needs, step by step, each with the figure that it stands on: docs/estate.md
says how these were measured. It is arithmetic: try it with your own messages before you buy.
Exit code: 0; 2 wrong usage.")]
pub struct PlanArgs {
    /// Messages a second, as 2M/s, 50k or 10000
    #[arg(long, value_name = "RATE", value_parser = rate)]
    pub rate: f64,
    /// Bytes of a message
    #[arg(long, value_name = "BYTES", default_value_t = 400, value_parser = clap::value_parser!(u32).range(1..=1_048_576))]
    pub size: u32,
    /// How long Kafka keeps messages, for what is down and for reading again: 12h, 7d
    #[arg(long, value_name = "TIME", default_value = "7d", value_parser = duration)]
    pub retention: f64,
    /// Where workers put messages
    #[arg(long, value_name = "STORE", value_enum)]
    pub target: PlanTarget,
    /// How long the store keeps them [default: as long as Kafka]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub kept: Option<f64>,
    /// Copies of each message in Kafka
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=9))]
    pub copies: u32,
    /// How many times smaller messages are in Kafka, compressed
    #[arg(long, value_name = "TIMES", default_value_t = 1.0, value_parser = at_least_one)]
    pub compression: f64,
    /// Senders speak TLS
    #[arg(long)]
    pub tls: bool,
    /// How many times the rate bursts may be
    #[arg(long, value_name = "TIMES", default_value_t = 2.0, value_parser = at_least_one)]
    pub headroom: f64,
    /// Cores of a machine
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub cores: u32,
    /// Network of a machine, gigabits a second each way
    #[arg(long, value_name = "GBIT", default_value_t = 10.0, value_parser = positive)]
    pub network: f64,
    /// Disk of a broker, terabytes
    #[arg(long, value_name = "TB", default_value_t = 16.0, value_parser = positive)]
    pub disk: f64,
    /// What a core costs a month, in whatever money
    #[arg(long, value_name = "PRICE", value_parser = positive)]
    pub core_price: Option<f64>,
    /// What a terabyte of disk costs a month
    #[arg(long, value_name = "PRICE", value_parser = positive)]
    pub terabyte_price: Option<f64>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Stores whose cost was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PlanTarget {
    /// OpenSearch or Elasticsearch, by bulk requests
    Opensearch,
    /// PostgreSQL, by COPY
    Postgresql,
    /// ClickHouse, by JSONEachRow
    Clickhouse,
    /// Objects of S3
    S3,
}

/// A number with one of the letters behind it.
fn number(text: &str, letters: &[(&str, f64)]) -> Option<f64> {
    let (digits, times) = letters
        .iter()
        .find_map(|(letter, times)| Some((text.strip_suffix(letter)?, *times)))
        .unwrap_or((text, 1.0));
    // No sign, no exponent, no word as `inf`.
    let plain = digits.starts_with(|c: char| c.is_ascii_digit())
        && digits.chars().all(|c| c.is_ascii_digit() || c == '.');
    let value = digits.parse::<f64>().ok().filter(|_| plain)? * times;
    (value > 0.0).then_some(value)
}

fn rate(text: &str) -> Result<f64, String> {
    let count = number(text.strip_suffix("/s").unwrap_or(text), &TIMES);
    count
        .filter(|rate| (1.0..=1e10).contains(rate))
        .ok_or_else(|| "expected messages a second, as 2M/s, 50k or 10000, at most 10G".to_owned())
}

fn duration(text: &str) -> Result<f64, String> {
    let is_whole = text.ends_with(|c: char| c.is_ascii_alphabetic());
    let seconds = number(text, &DURATIONS).filter(|_| is_whole);
    seconds
        .filter(|seconds| *seconds <= 100.0 * 365.0 * 86_400.0)
        .ok_or_else(|| "expected a time, as 30m, 12h, 7d or 2w".to_owned())
}

fn at_least_one(text: &str) -> Result<f64, String> {
    let times = number(text, &[]).filter(|times| (1.0..=1e3).contains(times));
    times.ok_or_else(|| "expected a number of at least 1, as 4 or 1.5".to_owned())
}

fn positive(text: &str) -> Result<f64, String> {
    let value = number(text, &[]).filter(|value| (1e-6..=1e9).contains(value));
    value.ok_or_else(|| "expected a number above 0, as 10 or 2.5".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_have_units() {
        assert_eq!((rate("2M/s"), rate("50k"), rate("10000")), (Ok(2e6), Ok(5e4), Ok(1e4)));
        assert_eq!((rate("1.5M"), duration("7d"), duration("90m")), (Ok(1.5e6), Ok(604_800.0), Ok(5_400.0)));
        for wrong in ["", "M", "0", "-1", "inf", "nan", "1e3", "1x", "99G/s", "2M/m", "1.2.3"] {
            assert!(rate(wrong).is_err(), "{wrong}");
        }
        for wrong in ["7", "d", "0d", "7 d", "7days", "999999w"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
        assert!(at_least_one("0.9").is_err() && at_least_one("4").is_ok() && positive("0").is_err());
    }
}
