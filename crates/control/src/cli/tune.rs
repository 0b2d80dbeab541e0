//! The command line of `penstock tune`.

use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  penstock tune --config /etc/penstock/penstock.conf --sample yesterday.log
  penstock tune --config relay.conf --sample fw.log --source s_net --connections 16 --rounds 9

Runs a copy of the configuration on this machine, whose sources listen at free ports and whose destinations write to /dev/null, those over the network to
a sink on this machine; the running program, its ports and its servers are not touched. The sample comes over TCP. One thing is changed at a time (worker
threads, sockets, windows, batches, buffers, names, places of filters) and measured beside the copy as it is, in pairs.
Printed is what is better by more than the error, as lines of a configuration. Nothing else should be busy on the machine meanwhile.
Exit code: 0 measured; 1 it could not be; 2 wrong usage.")]
pub struct TuneArgs {
    /// Configuration file
    #[arg(short = 'f', long, value_name = "FILE")]
    pub config: PathBuf,
    /// Messages to send, one in a line, or a recording of penstock capture
    #[arg(long, value_name = "FILE")]
    pub sample: PathBuf,
    /// The source that gets them [default: the first that takes text over the network]
    #[arg(long, value_name = "NAME")]
    pub source: Option<String>,
    /// Connections that send
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub connections: u16,
    /// Pairs of measurements for each change
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(2..=100))]
    pub rounds: u16,
    /// Seconds of a measurement
    #[arg(long, value_name = "SECONDS", default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=60))]
    pub seconds: u64,
    /// Try only changes in whose name this stands
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub only: String,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
