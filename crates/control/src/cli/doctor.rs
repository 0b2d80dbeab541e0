//! The command line of `penstock doctor`.

use super::Running;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  penstock doctor
  penstock doctor --config relay.conf --state-dir ./state
  penstock doctor --bundle support.tar.gz

Looks at the configuration, the program that runs, and this machine; changes nothing. Run it as the user the program runs as, or as root, who can
see which program has a port.
Exit code: 0 nothing has to be mended; 1 something has; 2 wrong usage.")]
pub struct DoctorArgs {
    /// Configuration file [default: that of the running program, else /etc/penstock/penstock.conf]
    #[arg(short = 'f', long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Hours after which a source of which nothing comes any more is silent
    #[arg(long, value_name = "HOURS", default_value_t = 24, value_parser = clap::value_parser!(u64).range(1..=8760))]
    pub silent: u64,
    /// Write an archive for support: what is said here, ledger, statistics and configuration, without secrets
    #[arg(long, value_name = "FILE")]
    pub bundle: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub running: Running,
}
