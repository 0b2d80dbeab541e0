//! What sources ask of the kernel, against what it gives: receive buffers, queues of connections, open files.

use super::Finding;
use super::patient::Patient;
use crate::configuration::Configuration;
use conf_schema::Context;
use engine::compile::Configured;

/// Descriptors that the program has beside its connections.
const OWN_FILES: u64 = 256;

pub fn buffers(patient: &Patient) -> Vec<Finding> {
    let mut found: Vec<Finding> =
        asked(&patient.configuration).into_iter().flatten().map(|beyond| beyond.finding).collect();
    for row in patient.program.iter().flat_map(|program| &program.ledger.sources) {
        let lost = row.flow.dropped.count(control::DropReason::Kernel);
        if lost > 0 {
            found.push(Finding::warn(
                format!(
                    "the kernel has dropped {} of {}: its receive buffer was full",
                    stdio::counted(lost, "message", "messages"),
                    row.name
                ),
                "so-rcvbuf(16777216) at the source, and sysctl -w net.core.rmem_max=16777216",
            ));
        }
    }
    if found.is_empty() && patient.plan.is_some() {
        found.push(Finding::ok("as large as sources ask, and nothing was lost there"));
    }
    found
}

/// What sources ask for and the kernel does not give, for each setting of the kernel.
fn asked(configuration: &Configuration) -> [Vec<Beyond>; 2] {
    let size = |driver: &Configured| {
        driver.settings.is_set("so-rcvbuf").then(|| driver.settings.size("so-rcvbuf")).flatten()
    };
    let backlog = |driver: &Configured| {
        let given = driver.settings.is_set("listen-backlog").then(|| driver.settings.int("listen-backlog"));
        given.flatten().and_then(|backlog| u64::try_from(backlog).ok())
    };
    [
        beyond(configuration, "net/core/rmem_max", "so-rcvbuf", &size),
        beyond(configuration, "net/core/somaxconn", "listen-backlog", &backlog),
    ]
}

/// More than the kernel gives.
struct Beyond {
    asked: u64,
    finding: Finding,
}

/// Sources that ask for more of an option than a setting of the kernel allows.
fn beyond(
    configuration: &Configuration,
    what: &str,
    option: &str,
    value: &dyn Fn(&Configured) -> Option<u64>,
) -> Vec<Beyond> {
    let Some(max) = setting(what) else { return Vec::new() };
    let drivers = configuration.drivers.iter().filter(|driver| driver.context == Context::Source);
    let asked = drivers.filter_map(|driver| Some((driver, value(driver)?)));
    let name = what.replace('/', ".");
    asked
        .filter(|(_, asked)| *asked > max)
        .map(|(driver, asked)| {
            let place = configuration.parsed.sources.locate(driver.at(option));
            let finding = Finding::warn(
                format!("{place}: {option}({asked}), and the kernel gives {max} at most ({name})"),
                format!(
                    "sysctl -w {name}={asked}; echo '{name} = {asked}' >> /etc/sysctl.d/90-penstock.conf"
                ),
            );
            Beyond { asked, finding }
        })
        .collect()
}

/// The same with the files that may be open here, as commands.
pub fn of_configuration(configuration: &Configuration) -> Vec<String> {
    // What gives enough to who asks for most gives enough to all.
    let most = asked(configuration).map(|found| found.into_iter().max_by_key(|beyond| beyond.asked));
    let mut lines: Vec<String> = most
        .into_iter()
        .flatten()
        .map(|Beyond { finding, .. }| format!("{}   # {}", finding.cure.unwrap_or_default(), finding.text))
        .collect();
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let wanted = wanted_files(configuration);
    if let Some(files) = open_files(&limits).filter(|files| *files < wanted) {
        lines.push(format!(
            "ulimit -n {wanted}   # {files} files may be open here, LimitNOFILE= of the unit is another"
        ));
    }
    lines
}

fn setting(name: &str) -> Option<u64> {
    std::fs::read_to_string(format!("/proc/sys/{name}")).ok()?.trim().parse().ok()
}

pub fn limits(patient: &Patient) -> Vec<Finding> {
    let Some(limits) = patient.program.as_ref().and_then(|program| program.proc("limits")) else {
        return Vec::new();
    };
    let Some(files) = open_files(&limits) else { return Vec::new() };
    let wanted = wanted_files(&patient.configuration);
    if files < wanted {
        return vec![Finding::warn(
            format!("{files} files may be open, and the sources' max-connections() alone may need {wanted}"),
            format!("systemctl edit penstock: [Service] LimitNOFILE={}", wanted.next_power_of_two()),
        )];
    }
    vec![Finding::ok(format!("{files} files may be open, {wanted} may be needed for connections"))]
}

/// Files that may have to be open: one for each connection.
fn wanted_files(configuration: &Configuration) -> u64 {
    let connections = |driver: &Configured| {
        let given = driver.settings.is_set("max-connections").then(|| driver.settings.int("max-connections"));
        given.flatten().and_then(|count| u64::try_from(count).ok()).unwrap_or(10)
    };
    let sources = configuration.drivers.iter().filter(|driver| driver.context == Context::Source);
    OWN_FILES + sources.map(connections).sum::<u64>()
}

/// The soft limit, of /proc/PID/limits.
fn open_files(limits: &str) -> Option<u64> {
    let line = limits.lines().find(|line| line.starts_with("Max open files"))?;
    match line.split_whitespace().nth(3)? {
        "unlimited" => Some(u64::MAX),
        number => number.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_read() {
        let text = "Limit                     Soft Limit           Hard Limit           Units\n\
                    Max open files            1024                 524288               files\n";
        assert_eq!(open_files(text), Some(1024));
        assert_eq!(open_files(&text.replace("1024 ", "unlimited ")), Some(u64::MAX));
        assert_eq!(open_files(""), None);
    }
}
