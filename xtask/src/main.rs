//! Checks of the house: layers, file sizes, dependencies and licences, each a test and a command to look at
//! it.

use std::process::ExitCode;
use xtask::{dependencies, layers, leaves, licences, limits, sources, workspace::Workspace};

fn main() -> ExitCode {
    let workspace = match Workspace::load() {
        Ok(workspace) => workspace,
        Err(error) => return report("workspace", &[error]),
    };
    let mut failed = false;
    for (name, faults) in [
        ("layers", layers::faults(&workspace)),
        ("leaves", leaves::faults(&workspace)),
        ("sources", sources::faults(&workspace)),
        ("dependencies", dependencies::faults(&workspace)),
        ("licences", licences::faults(&workspace)),
        ("limits", limits::faults(&workspace)),
    ] {
        failed |= report(name, &faults) != ExitCode::SUCCESS;
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn report(name: &str, faults: &[String]) -> ExitCode {
    for fault in faults {
        println!("{name}: {fault}");
    }
    if faults.is_empty() {
        println!("{name}: ok");
        return ExitCode::SUCCESS;
    }
    ExitCode::FAILURE
}
