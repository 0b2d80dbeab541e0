//! The command line of `penstock graph`.

use super::Running;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  penstock graph penstock.conf > penstock.svg
  penstock graph --dot penstock.conf | dot -Tpng -o penstock.png
  penstock graph --mermaid penstock.conf
  penstock graph --live penstock.conf > now.svg
  penstock graph --json --live penstock.conf

Sources stand on the left, destinations on the right. What leads to no destination is dashed, paths with flow-control are thick.
Exit code: 0 drawn; 1 the configuration is wrong, or with --live no answer; 2 wrong usage.")]
pub struct GraphArgs {
    /// Configuration file
    #[arg(value_name = "FILE")]
    pub config: PathBuf,
    /// Draw it as SVG: the default
    #[arg(long)]
    pub svg: bool,
    /// Write it in the language of Graphviz
    #[arg(long, conflicts_with = "svg")]
    pub dot: bool,
    /// Write it in the language of Mermaid
    #[arg(long, conflicts_with_all = ["svg", "dot"])]
    pub mermaid: bool,
    /// Print JSON: boxes, and the arrows between them
    #[arg(long, conflicts_with_all = ["svg", "dot", "mermaid"])]
    pub json: bool,
    /// Only log paths of this source or destination; may be given several times
    #[arg(long, value_name = "NAME")]
    pub only: Vec<String>,
    /// Draw each log path, also where there are so many that those of one shape would be drawn as one
    #[arg(long)]
    pub all: bool,
    /// With the messages a second of the running program
    #[arg(long)]
    pub live: bool,
    #[command(flatten)]
    pub running: Running,
}
