//! `penstock bench --config FILE --sample FILE`: the tables of performance guides, for one's own machine,
//! configuration and messages. A copy of the configuration is measured, as `tune` does it.

mod chart;
mod report;
mod tables;

use crate::rig::{Bed, Copy, Folder, Load, Measured, Sample, Sink};
use bench::cli::Own;
use report::Report;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use stdio::CommandError;
use tables::{Ground, Point, Table};

/// Measures, prints and writes what was asked for; whether all could be measured.
pub fn run(asked: &Own) -> Result<bool, CommandError> {
    let sample = Arc::new(Sample::read(&asked.sample)?);
    let copy = Copy::of(&asked.config, asked.source.as_deref(), tables::CONNECTIONS_MAX)?
        .below(asked.work_dir.clone());
    let place = Folder::below(copy.folder())?;
    let certificates = place.path().join("certificates");
    crate::test_ca::of_this_machine(&certificates)?;
    let sink = Sink::begin()?;
    let ground = Ground { sample: &sample, certificates: &certificates, sink: sink.port() };
    let tables = tables::chosen(&ground, &asked.only)?;
    let results = measure(asked, &copy, &place, &tables)?;
    let report = Report::new(asked, &sample, tables, results);
    if asked.json {
        stdio::out_text!("{}\n", report.json());
    } else {
        stdio::out_text!("{}", report.markdown());
    }
    if let Some(folder) = &asked.out {
        write(folder, &report)?;
        stdio::err!("written to {}", folder.display());
    }
    Ok(true)
}

/// Each point as often as there are rounds, all of them in each round: what the machine does more and more,
/// or less and less, is in all points.
fn measure(
    asked: &Own,
    copy: &Copy,
    place: &Folder,
    tables: &[Table],
) -> Result<Vec<Vec<Measured>>, CommandError> {
    let points: Vec<&Point> = tables.iter().flat_map(|table| &table.points).collect();
    let mut results = vec![Vec::new(); points.len()];
    let duration = Duration::from_secs(asked.seconds);
    for round in 1..=asked.rounds {
        for (number, (point, seen)) in points.iter().zip(&mut results).enumerate() {
            stdio::err!(
                "round {round} of {}, {} of {}: {}",
                asked.rounds,
                number + 1,
                points.len(),
                point.about
            );
            let file = place.path().join("sample");
            point.sample.write(&file)?;
            let load = Load { file, connections: point.connections, is_secure: point.is_secure };
            seen.push(Bed::measure(copy, &point.variant, &load, duration)?);
        }
    }
    Ok(results)
}

fn write(folder: &Path, report: &Report) -> Result<(), CommandError> {
    let failed = |error: std::io::Error| format!("cannot write into {}: {error}", folder.display());
    std::fs::create_dir_all(folder).map_err(failed)?;
    std::fs::write(folder.join("bench.md"), report.markdown()).map_err(failed)?;
    std::fs::write(folder.join("bench.csv"), report.csv()).map_err(failed)?;
    Ok(std::fs::write(folder.join("bench.svg"), chart::text(report)).map_err(failed)?)
}
