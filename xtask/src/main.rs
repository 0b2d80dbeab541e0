//! Checks of the house: layers, file sizes, dependencies and licences, each a test and a command to look at
//! it. `sbom` and `notices` print what goes into packages.

use std::process::ExitCode;
use xtask::{dependencies, layers, leaves, licences, limits, shipped, sources, workspace::Workspace};

fn main() -> ExitCode {
    let workspace = match Workspace::load() {
        Ok(workspace) => workspace,
        Err(error) => return report("workspace", &[error]),
    };
    let printed = match std::env::args().nth(1).as_deref() {
        None => None,
        Some("sbom") => Some(shipped::sbom(&workspace)),
        Some("notices") => Some(shipped::notices(&workspace)),
        Some(other) => Some(Err(format!("'{other}' is neither `sbom` nor `notices`"))),
    };
    match printed {
        Some(Ok(text)) => {
            print!("{text}");
            return ExitCode::SUCCESS;
        }
        Some(Err(error)) => {
            eprintln!("xtask: {error}");
            return ExitCode::FAILURE;
        }
        None => {}
    }
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
