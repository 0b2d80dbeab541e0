//! The command line of `penstock convert`.

use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  penstock convert /etc/rsyslog.conf > penstock.conf
  penstock convert /etc/rsyslog.conf --output penstock.conf && penstock check penstock.conf

What is not converted is listed on standard error, and stands as comments in the output, each with its line.
Exit code: 0 all is converted; 1 something is not; 2 wrong usage, or a file that cannot be read.")]
pub struct ConvertArgs {
    /// The configuration of rsyslog; what it includes is read too
    #[arg(value_name = "FILE")]
    pub config: PathBuf,
    /// Write the configuration into this file, instead of printing it
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Print JSON: the configuration, and what is not converted
    #[arg(long)]
    pub json: bool,
}
