//! The program that runs: whether it is there, well, and what the configuration says.

use super::Finding;
use super::patient::{Patient, Silence};
use control::ledger::Disk;
use std::path::Path;

/// Seconds before the end of a certificate from which on it is a warning: four weeks.
const ENDS_SOON: i64 = 28 * 86_400;
/// Hundredths of a disk that are little.
const FREE_LOW: u64 = 5;

pub fn program(patient: &Patient) -> Vec<Finding> {
    let Some(program) = &patient.program else { return patient.silence.iter().map(silent).collect() };
    let process = program.process.map_or_else(|| "unknown".to_owned(), |process| process.to_string());
    let image = program.process.map(|process| std::fs::read_link(format!("/proc/{process}/exe")));
    let image = image.and_then(Result::ok).map(|path| path.display().to_string()).unwrap_or_default();
    let mut found = vec![Finding::ok(format!("runs as process {process}"))];
    if image.ends_with(" (deleted)") {
        found.push(Finding::warn(
            "the program on disk was replaced since it was started",
            "systemctl restart penstock, or penstock run --take-over",
        ));
    }
    found
}

fn silent(silence: &Silence) -> Finding {
    let first = |text: &str| text.lines().next().unwrap_or_default().to_owned();
    match silence {
        Silence::Absent(error) => Finding::fail(
            format!("no program answers: {}", first(error.said())),
            "systemctl start penstock; or name its state folder with --state-dir",
        ),
        Silence::Mute(error) => Finding::fail(
            format!("a program is there and cannot be asked: {error}"),
            error.remedy().unwrap_or(
                "systemctl status penstock, whether it is stopped (kill -CONT); systemctl restart penstock",
            ),
        ),
    }
}

pub fn health(patient: &Patient) -> Vec<Finding> {
    let Some(program) = &patient.program else { return Vec::new() };
    match program.ask("HEALTHCHECK") {
        Ok(_) => vec![Finding::ok("workers answer, nothing waits for long or is dropped")],
        Err(text) => {
            let complaints = text.said().lines().filter(|line| !line.starts_with("syslogng_"));
            complaints.map(|line| Finding::fail(line, "penstock ledger says more")).collect()
        }
    }
}

pub fn in_effect(patient: &Patient) -> Vec<Finding> {
    let Some(program) = &patient.program else { return Vec::new() };
    if let Some(other) = &patient.other_file {
        let text = format!("what runs is {}, and not what is looked at here", other.display());
        return vec![Finding::warn(text, "penstock doctor without --config looks at what runs")];
    }
    match program.ask("CONFIG VERIFY") {
        Ok(_) => vec![Finding::ok("what runs is what the file says")],
        Err(_) => vec![Finding::warn("the file is not what runs", "penstock ctl reload")],
    }
}

pub fn disks(patient: &Patient) -> Vec<Finding> {
    match &patient.program {
        Some(program) => program.ledger.disks.iter().map(disk).collect(),
        None => of_folder(&patient.state_dir).iter().map(disk).collect(),
    }
}

/// The file system of the state folder, when no program says which ones it uses.
fn of_folder(folder: &Path) -> Option<Disk> {
    let stat = rustix::fs::statvfs(folder).ok().filter(|stat| stat.f_blocks > 0)?;
    Some(Disk {
        folder: folder.display().to_string(),
        users: vec!["state".to_owned()],
        free: stat.f_bavail.saturating_mul(stat.f_frsize),
        size: stat.f_blocks.saturating_mul(stat.f_frsize),
        is_low: stat.f_bavail.saturating_mul(100) < stat.f_blocks,
        full_in_seconds: None,
    })
}

fn disk(disk: &Disk) -> Finding {
    let hundredths = disk.free.saturating_mul(100).checked_div(disk.size).unwrap_or(0);
    let sentence = disk.sentence();
    let (text, cure) = sentence.split_once("; ").unwrap_or((&sentence, "make room there"));
    match (disk.is_low, hundredths < FREE_LOW) {
        (true, _) => Finding::fail(text, cure),
        (false, true) => Finding::warn(text, cure),
        (false, false) => Finding::ok(text),
    }
}

pub fn certificates(patient: &Patient) -> Vec<Finding> {
    // Those that the look at the configuration has loaded, and those that the program uses.
    let mut ends: Vec<(String, i64)> =
        tls::certificates().into_iter().map(|end| (end.file.display().to_string(), end.not_after)).collect();
    let metrics = patient.program.as_ref().and_then(|program| program.ask("STATS PROMETHEUS").ok());
    ends.extend(metrics.iter().flat_map(|text| text.lines()).filter_map(end_of));
    ends.sort();
    ends.dedup();
    let now = crate::configuration::seconds(std::time::SystemTime::now()) as i64;
    ends.into_iter().map(|(file, end)| certificate(&file, end - now)).collect()
}

/// `syslogng_tls_certificate_not_after_timestamp_seconds{file="/c.pem",subject="CN=x"} 1791756855`
fn end_of(line: &str) -> Option<(String, i64)> {
    let rest = line.strip_prefix("syslogng_tls_certificate_not_after_timestamp_seconds{")?;
    let (labels, value) = rest.rsplit_once("} ")?;
    let file = labels.split_once("file=\"")?.1.split_once('"')?.0;
    Some((file.to_owned(), value.trim().parse::<f64>().ok()? as i64))
}

fn certificate(file: &str, left: i64) -> Finding {
    let days = left / 86_400;
    match left {
        ..=0 => Finding::fail(
            format!("{file} has ended {} days ago", -days),
            format!(
                "put a new certificate there, then penstock ctl reload; openssl x509 -in {file} -noout -dates"
            ),
        ),
        1..ENDS_SOON => Finding::warn(
            format!("{file} ends in {days} days"),
            format!(
                "put a new certificate there, then penstock ctl reload; openssl x509 -in {file} -noout -dates"
            ),
        ),
        _ => Finding::ok(format!("{file} is valid for {days} days")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Status;

    #[test]
    fn certificates_and_their_ends() {
        let line =
            "syslogng_tls_certificate_not_after_timestamp_seconds{file=\"/c \\\"x.pem\",subject=\"CN=a\"} 17";
        assert_eq!(end_of(line).map(|(_, end)| end), Some(17));
        assert_eq!(end_of("syslogng_other{file=\"/c\"} 17"), None);
        let status = |left: i64| certificate("/c.pem", left).status;
        assert_eq!(
            [status(-1), status(0), status(86_400), status(ENDS_SOON)],
            [Status::Fail, Status::Fail, Status::Warn, Status::Ok]
        );
    }

    #[test]
    fn disks_by_what_is_free() {
        let low = Disk { folder: "/x".into(), free: 1, size: 100, is_low: true, ..Disk::default() };
        assert_eq!(disk(&low).status, Status::Fail);
        assert!(disk(&low).cure.is_some_and(|cure| cure.starts_with("make room there")));
        assert_eq!(disk(&Disk { is_low: false, ..low.clone() }).status, Status::Warn);
        assert_eq!(disk(&Disk { is_low: false, free: 50, ..low }).status, Status::Ok);
    }
}
