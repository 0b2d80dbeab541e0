//! Whether something keeps the clock of this machine right: times in messages are worth no more than it.

use super::Finding;
use super::others::named_processes;
use super::patient::Patient;
use std::path::Path;

/// Made by systemd once the time was set over the network.
const SYNCHRONIZED: &str = "/run/systemd/timesync/synchronized";
/// Programs that do it.
const KEEPERS: [&str; 6] = ["chronyd", "ntpd", "systemd-timesyn", "openntpd", "ntpsec", "ptp4l"];

pub fn kept(_: &Patient) -> Vec<Finding> {
    if Path::new(SYNCHRONIZED).exists() {
        return vec![Finding::ok("set over the network")];
    }
    match named_processes(&KEEPERS).first() {
        Some((process, name)) => vec![Finding::ok(format!("{name} (process {process}) keeps it right"))],
        None => vec![Finding::warn(
            "nothing on this machine keeps the clock right, unless its host does",
            "timedatectl set-ntp true, or apt install chrony",
        )],
    }
}
