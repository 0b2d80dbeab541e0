//! `penstock doctor`: what is well and what is not, about the configuration, the program that runs and this
//! machine, each with the command that cures it.

mod bundle;
mod clock;
mod configured;
mod kernel;
mod others;
mod patient;
mod running;
mod senders;

use control::cli::DoctorArgs;
pub use kernel::of_configuration as asked_of_the_system;
use patient::Patient;
use serde_json::{Value, json};
use std::fmt::Write;
use std::process::ExitCode;

/// Grows when something is removed or changes its meaning.
const VERSION: u32 = 1;
/// Lines of one check that are well or give a warning; more of them say no more.
const LINES_MAX: usize = 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    Ok,
    Warn,
    Fail,
}

impl Status {
    fn name(self) -> &'static str {
        match self {
            Status::Ok => "ok",
            Status::Warn => "warn",
            Status::Fail => "fail",
        }
    }
}

/// One line of the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub status: Status,
    pub text: String,
    /// A command, or what to change.
    pub cure: Option<String>,
}

impl Finding {
    pub fn ok(text: impl Into<String>) -> Finding {
        Finding { status: Status::Ok, text: text.into(), cure: None }
    }

    pub fn warn(text: impl Into<String>, cure: impl Into<String>) -> Finding {
        Finding { status: Status::Warn, text: text.into(), cure: Some(cure.into()) }
    }

    pub fn fail(text: impl Into<String>, cure: impl Into<String>) -> Finding {
        Finding { status: Status::Fail, text: text.into(), cure: Some(cure.into()) }
    }
}

type Check = (&'static str, fn(&Patient) -> Vec<Finding>);

/// In the order of the screen.
const CHECKS: [Check; 14] = [
    ("program", running::program),
    ("health", running::health),
    ("configuration", configured::right),
    ("in effect", running::in_effect),
    ("permissions", configured::permissions),
    ("ports", others::ports),
    ("other services", others::services),
    ("kernel buffers", kernel::buffers),
    ("limits", kernel::limits),
    ("disks", running::disks),
    ("certificates", running::certificates),
    ("names", configured::names),
    ("senders", senders::silent),
    ("clock", clock::kept),
];

pub fn run(args: &DoctorArgs) -> ExitCode {
    let patient = Patient::of(args);
    let mut found: Vec<(&str, Finding)> = Vec::new();
    for (name, check) in CHECKS {
        found.extend(check(&patient).into_iter().map(|finding| (name, finding)));
    }
    for (_, finding) in &mut found {
        finding.text = patient.scrubbed(&finding.text);
    }
    if let Some(path) = &args.bundle
        && let Err(error) = bundle::write(path, &patient, &to_json(&found))
    {
        stdio::err!("cannot write {}: {error}", path.display());
        return ExitCode::from(crate::EXIT_CONFIG);
    }
    crate::printing::print(&if args.json { to_json(&found) + "\n" } else { to_text(&found) });
    if let Some(path) = &args.bundle {
        stdio::err!(
            "written: {}; passwords and tokens are taken out, look through it before you send it",
            path.display()
        );
    }
    let is_well = found.iter().all(|(_, finding)| finding.status != Status::Fail);
    if is_well { ExitCode::SUCCESS } else { ExitCode::from(crate::EXIT_CONFIG) }
}

fn to_json(found: &[(&str, Finding)]) -> String {
    let count = |status| found.iter().filter(|(_, finding)| finding.status == status).count();
    let findings = found.iter().map(|(check, Finding { status, text, cure })| {
        json!({ "check": check, "status": status.name(), "text": text, "cure": cure })
    });
    json!({
        "version": VERSION,
        "ok": count(Status::Ok),
        "warn": count(Status::Warn),
        "fail": count(Status::Fail),
        "findings": findings.collect::<Vec<Value>>(),
    })
    .to_string()
}

fn to_text(found: &[(&str, Finding)]) -> String {
    let plain = |text: &str| text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect::<String>();
    let mut out = String::new();
    for (name, _) in CHECKS {
        let of_check: Vec<&Finding> =
            found.iter().filter(|(check, _)| *check == name).map(|(_, finding)| finding).collect();
        // Writing to a String does not fail.
        for finding in of_check.iter().take(LINES_MAX) {
            let _ = writeln!(out, "{:4}  {name:15} {}", finding.status.name(), plain(&finding.text));
            if let Some(cure) = &finding.cure {
                let _ = writeln!(out, "{:22}-> {}", "", plain(cure));
            }
        }
        if of_check.len() > LINES_MAX {
            let _ = writeln!(out, "{:22}and {} more, see --json", "", of_check.len() - LINES_MAX);
        }
    }
    let count = |status| found.iter().filter(|(_, finding)| finding.status == status).count();
    let (warn, fail) = (count(Status::Warn), count(Status::Fail));
    let _ = writeln!(out, "\n{} ok, {warn} to look at, {fail} to mend", count(Status::Ok));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_screen() {
        let found = [
            ("disks", Finding::warn("low\u{1b}[1m", "make room")),
            ("program", Finding::ok("it runs")),
            ("limits", Finding::fail("few", "ulimit -n 9")),
        ];
        let expected = "ok    program         it runs\n\
                        fail  limits          few\n                      -> ulimit -n 9\n\
                        warn  disks           low [1m\n                      -> make room\n\
                        \n1 ok, 1 to look at, 1 to mend\n";
        assert_eq!(to_text(&found), expected);
        let json: Value = serde_json::from_str(&to_json(&found)).expect("JSON");
        assert_eq!((&json["fail"], &json["findings"][0]["cure"]), (&1.into(), &"make room".into()));
    }
}
