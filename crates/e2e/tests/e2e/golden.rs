//! Golden cases: `tests/golden/AREA/NAME.conf`, `.input` and `.expected`, found by walking the folder.
//!
//! `UPDATE_GOLDEN=1` writes what penstock made, `UPDATE_GOLDEN=peer` what the distribution's syslog-ng made;
//! review the change as text. `GOLDEN=text` runs only cases whose name contains the text.

pub mod case;
pub mod differences;
pub mod random;
pub mod run;

use case::Case;
use run::Receiver;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use testkit::{peers, skip};

/// Cases that run at the same time: they wait more than they work.
const PARALLEL: usize = 4;

#[test]
fn golden_cases() {
    let update = std::env::var("UPDATE_GOLDEN").is_ok_and(|v| v == "1");
    every(Case::all(), |case| {
        let made = run::run(&Receiver::Penstock, case)?;
        match update {
            true => case.write_expected(&made),
            false => compare(&case.expected()?, &made),
        }
    });
}

#[test]
fn golden_cases_of_syslog_ng() {
    let Some(program) = peers::syslog_ng() else { return skip(peers::MISSING) };
    let update = std::env::var("UPDATE_GOLDEN").is_ok_and(|v| v == "peer");
    let differences = differences::read();
    let cases: Vec<Case> = Case::all().into_iter().filter(|case| case.only_penstock.is_none()).collect();
    let receiver = Receiver::SyslogNg(program);
    every(cases, |case| {
        let made = run::run(&receiver, case)?;
        if update {
            return case.write_made_by_peer(&made, differences.contains_key(&case.name));
        }
        match (differences.contains_key(&case.name), made == case.expected()?) {
            (false, _) => compare(&case.expected()?, &made),
            (true, false) => compare(&case.peer_expected()?, &made),
            (true, true) => Err("syslog-ng does the same: take it out of differences.toml".to_owned()),
        }
    });
}

/// The cases of the configuration library once more, with the distribution's own in its place.
#[test]
fn golden_cases_with_the_distribution_s_library() {
    let Some(scl) = peers::scl() else { return skip(peers::MISSING) };
    let cases =
        Case::all().into_iter().filter(|case| case.name.starts_with("scl/") && case.only_penstock.is_none());
    let cases: Vec<Case> = cases.map(|case| case.with_library(&scl)).collect();
    let differences = differences::read();
    every(cases, |case| {
        let made = run::run(&Receiver::Penstock, case)?;
        // What differs may come of the library or of the program.
        match differences.contains_key(&case.name) && made == case.peer_expected()? {
            true => Ok(()),
            false => compare(&case.expected()?, &made),
        }
    });
}

#[test]
fn differences_name_cases() {
    let cases = Case::all();
    for (name, why) in differences::read() {
        assert!(cases.iter().any(|case| case.name == name), "{name} in differences.toml is no case");
        assert!(why.split_whitespace().count() >= 4, "{name} in differences.toml has no reason");
    }
}

/// Runs all cases, then fails with everything that is wrong.
pub fn every(cases: Vec<Case>, check: impl Fn(&Case) -> Result<(), String> + Sync) {
    assert!(!cases.is_empty() || std::env::var_os("GOLDEN").is_some(), "no golden cases");
    let next = AtomicUsize::new(0);
    let faults = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..PARALLEL {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| check(case)));
                    let fault = match result {
                        Ok(Ok(())) => continue,
                        Ok(Err(fault)) => fault,
                        Err(panic) => {
                            panic.downcast_ref::<String>().cloned().unwrap_or_else(|| "panicked".to_owned())
                        }
                    };
                    faults.lock().unwrap().push(format!("=== {}\n{fault}", case.name));
                }
            });
        }
    });
    let mut faults = faults.into_inner().unwrap();
    faults.sort();
    assert!(faults.is_empty(), "{} of {} cases:\n{}", faults.len(), cases.len(), faults.join("\n"));
}

/// Line by line, so that the fault shows what differs.
pub fn compare(expected: &str, made: &str) -> Result<(), String> {
    if expected == made {
        return Ok(());
    }
    let (expected, made): (Vec<&str>, Vec<&str>) =
        (expected.split('\n').collect(), made.split('\n').collect());
    let mut text = String::new();
    for at in 0..expected.len().max(made.len()) {
        let (want, have) = (expected.get(at), made.get(at));
        if want != have {
            want.iter().for_each(|line| text.push_str(&format!("- {}\n", line.escape_debug())));
            have.iter().for_each(|line| text.push_str(&format!("+ {}\n", line.escape_debug())));
        }
    }
    Err(text)
}
