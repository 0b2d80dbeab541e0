//! Who else is here: which program listens where the sources want to, other syslog services.

use super::Finding;
use super::patient::Patient;
use engine::{Address, Need};
use std::collections::BTreeSet;
use std::path::Path;

const SERVICES: [&str; 5] = ["rsyslogd", "syslog-ng", "syslogd", "busybox-syslogd", "socklog"];
/// A TCP socket that listens, in /proc/net/tcp.
const LISTENS: &str = "0A";
/// A UDP socket that is not connected.
const UNCONNECTED: &str = "07";

pub fn ports(patient: &Patient) -> Vec<Finding> {
    let own = patient.program.as_ref().and_then(|program| program.process);
    let addresses: Vec<Address> = patient
        .plan
        .iter()
        .flat_map(|plan| &plan.sources)
        .flat_map(|source| source.driver.start.needs())
        .filter_map(|need| if let Need::Address(address) = need { Some(address) } else { None })
        .collect();
    let mut found = Vec::new();
    let runs_another = patient.other_file.is_some();
    for Address { address, udp, .. } in addresses.into_iter().filter(|one| one.address.port() != 0) {
        let port = address.port();
        let kind = if udp { "UDP" } else { "TCP" };
        let sockets = sockets_at(port, udp);
        let owners: Vec<(i32, String)> = owners(&sockets);
        let strangers: Vec<&(i32, String)> =
            owners.iter().filter(|(process, _)| Some(*process) != own).collect();
        found.push(match (sockets.is_empty(), strangers.first(), own) {
            (false, Some((process, name)), _) if owners.len() == strangers.len() => Finding::fail(
                format!("{kind} port {port} is used by {name} (process {process})"),
                format!("systemctl disable --now {name}; or another port()"),
            ),
            (false, None, None) => Finding::warn(
                format!("{kind} port {port} is used by a program that cannot be seen from here"),
                format!("as root: ss -lnp sport = :{port}"),
            ),
            (true, _, Some(_)) if !runs_another => Finding::warn(
                format!("{kind} port {port} of the configuration is not listened at"),
                "penstock ctl reload",
            ),
            (true, ..) => Finding::ok(format!("{kind} port {port} is free")),
            (false, ..) => Finding::ok(format!("{kind} port {port} is ours")),
        });
    }
    found
}

/// Inodes of the sockets that get what comes to a port.
fn sockets_at(port: u16, udp: bool) -> BTreeSet<u64> {
    let (files, wanted) = match udp {
        true => (["/proc/net/udp", "/proc/net/udp6"], UNCONNECTED),
        false => (["/proc/net/tcp", "/proc/net/tcp6"], LISTENS),
    };
    let tables = files.iter().filter_map(|file| std::fs::read_to_string(file).ok());
    tables.flat_map(|table| inodes(&table, port, wanted)).collect()
}

fn inodes(table: &str, port: u16, wanted: &str) -> Vec<u64> {
    let inode = |line: &str| -> Option<u64> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (_, local) = words.get(1)?.rsplit_once(':')?;
        let is_meant = u16::from_str_radix(local, 16) == Ok(port) && *words.get(3)? == wanted;
        is_meant.then(|| words.get(9)?.parse().ok()).flatten()
    };
    table.lines().skip(1).filter_map(inode).collect()
}

/// The processes that have these sockets, as far as they can be seen.
fn owners(sockets: &BTreeSet<u64>) -> Vec<(i32, String)> {
    if sockets.is_empty() {
        return Vec::new();
    }
    let has_one = |process: &i32| {
        let Ok(files) = std::fs::read_dir(format!("/proc/{process}/fd")) else { return false };
        files.flatten().filter_map(|file| std::fs::read_link(file.path()).ok()).any(|target| {
            let target = target.to_string_lossy().into_owned();
            let inode = target.strip_prefix("socket:[").and_then(|rest| rest.strip_suffix(']'));
            inode.and_then(|inode| inode.parse().ok()).is_some_and(|inode: u64| sockets.contains(&inode))
        })
    };
    processes().into_iter().filter(|(process, _)| has_one(process)).collect()
}

pub fn services(patient: &Patient) -> Vec<Finding> {
    let own = patient.program.as_ref().and_then(|program| program.process);
    let others: Vec<Finding> = named_processes(&SERVICES)
        .into_iter()
        .filter(|(process, _)| Some(*process) != own && !is_this_program(*process))
        .map(|(process, name)| {
            let unit = name.trim_end_matches('d');
            Finding::warn(
                format!("{name} runs too (process {process}): it may take /dev/log and the ports of syslog"),
                format!("systemctl disable --now {}", if name == "syslog-ng" { "syslog-ng" } else { unit }),
            )
        })
        .collect();
    if others.is_empty() { vec![Finding::ok("no other syslog service runs")] } else { others }
}

/// Called by another program's name.
fn is_this_program(process: i32) -> bool {
    let image = |process: &str| std::fs::read_link(format!("/proc/{process}/exe")).ok();
    image(&process.to_string()).is_some_and(|other| Some(other) == image("self"))
}

/// Processes of these names.
pub fn named_processes(names: &[&str]) -> Vec<(i32, String)> {
    processes().into_iter().filter(|(_, name)| names.contains(&name.as_str())).collect()
}

fn processes() -> Vec<(i32, String)> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let numbers = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let named = |process: i32| {
        let name = std::fs::read_to_string(Path::new("/proc").join(process.to_string()).join("comm")).ok()?;
        Some((process, name.trim_end().to_owned()))
    };
    numbers.filter_map(named).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sockets_in_the_tables_of_the_kernel() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n\
             0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1 0 100 0\n\
             1: 0100007F:1F90 0100007F:C350 01 00000000:00000000 00:00000000 00000000     0        0 4712 1 0 100 0\n";
        assert_eq!(inodes(table, 8080, LISTENS), [4711]);
        assert!(inodes(table, 8081, LISTENS).is_empty());
    }

    #[test]
    fn whoever_listens_is_found() {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let own = std::process::id() as i32;
        assert!(owners(&sockets_at(port, false)).iter().any(|(process, _)| *process == own));
        assert!(sockets_at(port, true).is_empty());
    }
}
