//! The command line of `penstock profile`.

use super::Running;
use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  penstock profile
  penstock profile --for 30 --json

Looks 150 times a second what each worker does; nothing is interrupted or slowed. The first line says what limits the program.
Exit code: 0; 1 no answer, or the configuration was replaced meanwhile; 2 wrong usage.")]
pub struct ProfileArgs {
    /// Seconds to look
    #[arg(long = "for", value_name = "SECONDS", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub seconds: u64,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub running: Running,
}
