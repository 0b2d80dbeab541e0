//! The command line of `penstock test`.

use super::Running;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  penstock test relay.test.toml
  penstock test --coverage --junit report.xml tests/
  penstock test relay.test.toml --only ssh
  penstock test --update relay.test.toml
  penstock test --record 20 --source s_net

Cases for relay.conf stand in relay.test.toml, or relay.test.yaml, beside it. The examples in the pattern databases of the configuration are tested along.
Nothing is opened and nothing is delivered.
Exit code: 0 all passed; 1 a case failed, or a file is wrong; 2 wrong usage, or no case is meant.")]
pub struct TestArgs {
    /// Files of cases, or folders in which all files named *.test.toml, *.test.yaml or *.test.yml are taken
    #[arg(value_name = "PATH", default_value = ".")]
    pub paths: Vec<PathBuf>,
    /// Only cases in whose name this stands; may be given several times
    #[arg(long, value_name = "TEXT")]
    pub only: Vec<String>,
    /// The configuration, whatever the files of cases say
    #[arg(short = 'f', long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Threads [default: as many as processors]
    #[arg(long, value_name = "N", value_parser = super::options::worker_threads)]
    pub jobs: Option<usize>,
    /// Print each case, not only those that fail
    #[arg(short, long)]
    pub verbose: bool,
    /// Print which statements, branches and rules no case has taken
    #[arg(long)]
    pub coverage: bool,
    /// Write the configuration with what the cases have taken beside each line
    #[arg(long, value_name = "FILE")]
    pub coverage_text: Option<PathBuf>,
    /// The same as a page
    #[arg(long, value_name = "FILE")]
    pub coverage_html: Option<PathBuf>,
    /// The same for lcov and what reads its files
    #[arg(long, value_name = "FILE")]
    pub coverage_lcov: Option<PathBuf>,
    /// Print JSON, coverage too where it is asked for
    #[arg(long, conflicts_with_all = ["record", "verbose"])]
    pub json: bool,
    /// Write a report in JUnit's form
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Write into the files what cases give that fail for a line or a count, or expect nothing
    #[arg(long, conflicts_with = "record")]
    pub update: bool,
    /// Print cases made of the next messages of the running program
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub record: Option<u32>,
    /// With --record: the source
    #[arg(long, value_name = "NAME", requires = "record")]
    pub source: Option<String>,
    /// With --record: wait so many seconds at most
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub timeout: u64,
    /// Test what standard input asks for: cases with an environment of their own
    #[arg(long, hide = true)]
    pub part: bool,
    #[command(flatten)]
    pub running: Running,
}

impl TestArgs {
    /// Anything about coverage is asked for.
    pub fn wants_coverage(&self) -> bool {
        self.coverage
            || self.coverage_text.is_some()
            || self.coverage_html.is_some()
            || self.coverage_lcov.is_some()
    }
}
