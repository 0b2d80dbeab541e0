//! The command line of `penstock diff`.

use super::Running;
use clap::Args;
use std::net::IpAddr;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  penstock diff /etc/penstock/penstock.conf new.conf
  penstock diff old.conf new.conf --sample messages.log --source s_net
  penstock diff --json old.conf new.conf
  penstock diff penstock.conf new.conf --live 10 --source s_net

What differs is what the configurations mean: log paths, conditions, options with the values in effect. Files, comments, the order of
what has none and names of filters, parsers and rewrites are no difference. With --sample or --live, messages go through both, and
nothing is delivered.
Exit code: 0 no difference; 1 they differ; 2 wrong usage, a configuration that cannot run, or no answer.")]
pub struct DiffArgs {
    /// The configuration as it is
    #[arg(value_name = "OLD")]
    pub old: PathBuf,
    /// The configuration as it is to be
    #[arg(value_name = "NEW")]
    pub new: PathBuf,
    /// A file of messages, one in a line, that go through both; - is standard input
    #[arg(long, value_name = "FILE", group = "messages")]
    pub sample: Option<PathBuf>,
    /// The messages that come to the running program within so many seconds, at most 1000, go through both
    #[arg(long, value_name = "SECONDS", group = "messages", value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub live: Option<u64>,
    /// With messages: the source that they come to: its name, or name#n of one of its drivers
    #[arg(long, value_name = "NAME", requires = "messages")]
    pub source: Option<String>,
    /// With messages: the address that they come from
    #[arg(long, value_name = "ADDRESS", requires = "messages")]
    pub from: Option<IpAddr>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub running: Running,
}
