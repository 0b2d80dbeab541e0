//! The command line of `penstock top`.

use super::Running;
use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  penstock top
  penstock top --sort dropped
  penstock top --once

Keys: up and down choose a row, Enter shows all of it, c where the processor time goes, Esc goes back; s sorts by the next column, / filters by name, Tab goes from sources
to paths to destinations to all, p pauses, q ends.
Exit code: 0; 1 no answer; 2 wrong usage, or there is no terminal.")]
pub struct TopArgs {
    /// Seconds between two looks
    #[arg(short = 'n', long, value_name = "SECONDS", default_value_t = 1.0, value_parser = seconds)]
    pub interval: f64,
    /// Print one table and end
    #[arg(long)]
    pub once: bool,
    /// With --once: print JSON
    #[arg(long, requires = "once")]
    pub json: bool,
    /// What is sorted by
    #[arg(long, value_enum, default_value_t = SortBy::Name)]
    pub sort: SortBy,
    /// Only rows in whose name this stands
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub only: String,
    #[command(flatten)]
    pub running: Running,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SortBy {
    /// Sources, paths and destinations in the order of the configuration
    Name,
    Rate,
    Waiting,
    Dropped,
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.1..=3600.0).contains(&seconds) => Ok(seconds),
        _ => Err("expected seconds from 0.1 to 3600".to_owned()),
    }
}
