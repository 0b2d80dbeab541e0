//! The configuration: whether it can run, what it needs of this machine, the names it sends to.

use super::Finding;
use super::patient::{Patient, Silence};
use diag::Severity;
use std::collections::BTreeMap;
use std::net::{IpAddr, ToSocketAddrs};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

/// All names together have so long to be found.
const RESOLVED_MAX: Duration = Duration::from_secs(5);
/// Names that are looked up.
const NAMES_MAX: usize = 64;
/// Findings about this machine, as `check` calls them.
const OF_MACHINE: &str = "C01";

pub fn right(patient: &Patient) -> Vec<Finding> {
    let configuration = &patient.configuration;
    let file = patient.config.display();
    let of_language = |severity| {
        let findings = configuration.findings().iter();
        findings.filter(move |d| d.severity == severity && !d.code.starts_with(OF_MACHINE)).count()
    };
    let cure = format!("penstock check {file}");
    if patient.is_guessed && matches!(patient.silence, Some(Silence::Mute(_))) {
        return vec![Finding::warn(
            format!("which one runs is not known; {file} is looked at"),
            "name it with --config FILE, or ask as the program's user",
        )];
    }
    match (of_language(Severity::Error), of_language(Severity::Warning)) {
        (0, 0) => vec![Finding::ok(format!("{file} is right"))],
        (0, warnings) => vec![Finding::warn(
            format!("{file} has {}", stdio::counted(warnings as u64, "warning", "warnings")),
            cure,
        )],
        (errors, _) => {
            let first = configuration.first_error().unwrap_or_default();
            let errors = stdio::counted(errors as u64, "error", "errors");
            vec![Finding::fail(format!("{file} has {errors}; {first}"), cure)]
        }
    }
}

/// Folders, keys and privileges.
pub fn permissions(patient: &Patient) -> Vec<Finding> {
    let configuration = &patient.configuration;
    let mut found = Vec::new();
    for finding in configuration.findings().iter().filter(|d| d.code.starts_with(OF_MACHINE)) {
        let sources = &configuration.parsed.sources;
        let place = finding.span.map(|span| format!("{}: ", sources.locate(span))).unwrap_or_default();
        let text = format!("{place}{}", finding.message);
        let cure = finding
            .help
            .clone()
            .unwrap_or_else(|| format!("penstock check --explain {}", patient.config.display()));
        found.push(match finding.severity {
            Severity::Error => Finding::fail(text, cure),
            Severity::Warning | Severity::Remark => Finding::warn(text, cure),
        });
    }
    if found.is_empty() && patient.plan.is_some() {
        found.push(Finding::ok("folders, keys and rights that the configuration needs are there"));
    }
    found
}

/// Names of servers that destinations send to.
pub fn names(patient: &Patient) -> Vec<Finding> {
    let mut wanted: BTreeMap<String, String> = BTreeMap::new();
    for destination in patient.plan.iter().flat_map(|plan| &plan.destinations) {
        let (_, instance) = destination.destination.described();
        for host in hosts(&instance) {
            wanted.entry(host).or_insert_with(|| destination.id.clone());
        }
    }
    let (say, heard) = channel();
    for host in wanted.keys().take(NAMES_MAX).cloned() {
        let say = say.clone();
        // A resolver may take its time: each has a thread of its own, which nobody waits for.
        let ask = move || {
            let found = (host.as_str(), 0).to_socket_addrs().map(|_| ()).map_err(|error| error.to_string());
            let _ = say.send((host, found));
        };
        let _ = std::thread::Builder::new().name("name".into()).spawn(ask);
    }
    drop(say);
    let until = Instant::now() + RESOLVED_MAX;
    let mut answers = BTreeMap::new();
    while let Ok((host, found)) = heard.recv_timeout(until.saturating_duration_since(Instant::now())) {
        answers.insert(host, found);
    }
    let mut found = Vec::new();
    for (host, destination) in wanted.into_iter().take(NAMES_MAX) {
        let why = match answers.get(&host) {
            Some(Ok(())) => {
                found.push(Finding::ok(format!("{host} of {destination} is known")));
                continue;
            }
            Some(Err(error)) => error.clone(),
            None => format!("no answer within {} seconds", RESOLVED_MAX.as_secs()),
        };
        found.push(Finding::fail(
            format!("{host} of {destination} is not known: {why}"),
            format!("getent hosts {host}; correct the name, /etc/hosts or /etc/resolv.conf"),
        ));
    }
    found
}

/// Names of hosts in what a driver is called: `tcp,log.example.com:601`, `http,https://x.example.com:8088/a`.
fn hosts(instance: &str) -> Vec<String> {
    let mut hosts = Vec::new();
    for part in instance.split([',', ' ', '(', ')']) {
        let (is_url, rest) = part.split_once("://").map_or((false, part), |(_, rest)| (true, rest));
        let authority = rest.split(['/', '?']).next().unwrap_or_default();
        let authority = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        let host = match authority.rsplit_once(':') {
            Some((host, port)) if port.parse::<u16>().is_ok() => host,
            None if is_url => authority,
            _ => continue,
        };
        let is_name = host.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_'));
        if !host.is_empty()
            && is_name
            && host.parse::<IpAddr>().is_err()
            && !hosts.iter().any(|known| known == host)
        {
            hosts.push(host.to_owned());
        }
    }
    hosts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_of_instances() {
        let check = |instance: &str, expected: &[&str]| assert_eq!(hosts(instance), expected, "{instance}");
        check("tcp,log.example.com:601", &["log.example.com"]);
        check("tls,192.0.2.1:6514", &[]);
        check("http,https://u:p@x.example.com:8088/a,https://y/b", &["x.example.com", "y"]);
        check("/var/log/a:1", &[]);
        check("udp,[2001:db8::1]:514", &[]);
        check("kafka,b1:9092,b2:9092,b1:9092", &["b1", "b2"]);
        check("", &[]);
    }
}
