//! What a run leaves behind: every measurement as CSV, medians and aims as Markdown, a chart.

use std::fs;
use std::path::Path;

use crate::cases::Case;
use crate::cases::aim::Judgement;
use crate::results::Results;
use stdio::CommandError;

mod chart;
mod csv;
mod markdown;

/// Everything the reports tell.
pub struct Story<'a> {
    pub cases: &'a [&'static Case],
    pub results: &'a Results,
    pub judgements: &'a [Judgement],
    pub rounds: u32,
    pub machine: String,
}

impl Story<'_> {
    /// Writes `bench.csv`, `bench.md` and `bench.svg` into `folder`.
    pub fn write(&self, folder: &Path) -> Result<(), CommandError> {
        let failed = |e: std::io::Error| format!("cannot write into {}: {e}", folder.display());
        fs::create_dir_all(folder).map_err(failed)?;
        fs::write(folder.join("bench.csv"), csv::text(self)).map_err(failed)?;
        fs::write(folder.join("bench.md"), markdown::text(self)).map_err(failed)?;
        Ok(fs::write(folder.join("bench.svg"), chart::text(self)?).map_err(failed)?)
    }
}

/// Cores, model and kernel in one line.
pub fn machine() -> String {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpuinfo
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(": ").map(|(_, name)| name));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!("{cores} cores, {}, Linux {}", model.unwrap_or("unknown processor"), kernel.trim())
}

#[cfg(test)]
mod tests;
