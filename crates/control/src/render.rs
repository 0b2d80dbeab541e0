//! Counters as text: the forms of `stats` and `query`.

mod csv;
mod exposition;
mod prometheus;
mod query;

pub(crate) use csv::one_line;
pub use csv::{HEADER, csv, kv};
pub use exposition::Exposition;
pub use prometheus::{prometheus, sample_line};
pub use query::{Pattern, sum};

/// A form of output. `Csv` is what syslog-ng prints when not told otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    #[default]
    Csv,
    Kv,
    Prometheus,
}

impl Format {
    /// The word on the command line; on the control socket in upper case.
    pub fn name(self) -> &'static str {
        match self {
            Format::Csv => "csv",
            Format::Kv => "kv",
            Format::Prometheus => "prometheus",
        }
    }

    pub fn from_name(name: &str) -> Option<Format> {
        let all = [Format::Csv, Format::Kv, Format::Prometheus];
        all.into_iter().find(|f| f.name().eq_ignore_ascii_case(name))
    }
}
