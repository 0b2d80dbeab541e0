//! `penstock test`: cases of messages played through a configuration, what came of them held against what
//! they expect.

mod apart;
mod coverage;
mod databases;
mod environment;
mod files;
mod json;
mod judge;
mod junit;
mod play;
mod read;
mod record;
mod report;
mod suite;
mod update;
mod yaml;

use crate::EXIT_CONFIG;
use control::cli::TestArgs;
use coverage::Coverage;
pub use judge::plain;
use std::process::ExitCode;
use stdio::CommandError;
use suite::Suite;

pub fn run(args: &TestArgs) -> ExitCode {
    if args.part {
        return apart::answer(args);
    }
    if let Some(count) = args.record {
        return stdio::finish(record::run(args, count));
    }
    let suites = match files::suites(args) {
        Ok(suites) => suites,
        Err(error) => return error.report(),
    };
    let tested: Vec<Suite> = suites.into_iter().map(|found| suite::test(found, args)).collect();
    if !args.only.is_empty() && tested.iter().all(|suite| suite.error.is_none() && suite.verdicts.is_empty())
    {
        let error = format!("no case has {} in its name", args.only.join(" or "));
        return CommandError::usage(error).report();
    }
    match args.json {
        true => stdio::out_text!("{}", json::render(&tested)),
        false => report::print(&tested, args.verbose),
    }
    let mut failed = tested.iter().any(Suite::has_failed);
    if args.update {
        match update::write(&tested) {
            Ok(rest) => failed = rest,
            Err(error) => return error.report(),
        }
    }
    let coverages: Vec<&Coverage> = tested.iter().filter_map(|suite| suite.coverage.as_ref()).collect();
    let mut reports = Vec::new();
    reports.extend(args.junit.as_ref().map(|path| (path, junit::render(&tested))));
    reports.extend(args.coverage_text.as_ref().map(|path| (path, coverage::annotated::render(&coverages))));
    reports.extend(args.coverage_html.as_ref().map(|path| (path, coverage::page::render(&coverages))));
    reports.extend(args.coverage_lcov.as_ref().map(|path| (path, coverage::lcov::render(&coverages))));
    if args.coverage && !args.json {
        coverages.iter().for_each(|coverage| stdio::out_text!("{}", coverage::table::render(coverage)));
    }
    for (path, text) in reports {
        if let Err(error) = std::fs::write(path, text) {
            stdio::err!("cannot write {}: {error}", path.display());
            failed = true;
        }
    }
    if failed { ExitCode::from(EXIT_CONFIG) } else { ExitCode::SUCCESS }
}
