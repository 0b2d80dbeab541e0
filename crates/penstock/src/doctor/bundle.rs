//! One archive for whoever helps: what doctor says, the ledger, statistics, the configuration and the state
//! of this machine, without the secrets of the configuration.

use super::patient::Patient;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::SystemTime;
use tar::{Builder, Header};

/// The folder in the archive.
const FOLDER: &str = "penstock-support";
/// A part is not longer than this; what is beyond it is left out.
const PART_BYTES_MAX: usize = 16 << 20;
/// Settings of the kernel.
const SETTINGS: [&str; 8] = [
    "net/core/rmem_max",
    "net/core/rmem_default",
    "net/core/wmem_max",
    "net/core/somaxconn",
    "net/core/netdev_max_backlog",
    "net/ipv4/tcp_rmem",
    "net/ipv4/udp_mem",
    "fs/file-max",
];

/// Writes the archive; only its owner can read it.
pub fn write(path: &Path, patient: &Patient, findings: &str) -> io::Result<()> {
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    let mut archive = Builder::new(GzEncoder::new(file, Compression::default()));
    for (name, text) in parts(patient, findings) {
        add(&mut archive, name, &text)?;
    }
    archive.into_inner()?.finish()?.sync_all()
}

fn add(archive: &mut Builder<GzEncoder<std::fs::File>>, name: &str, text: &str) -> io::Result<()> {
    let bytes = text.as_bytes();
    let bytes = bytes.get(..PART_BYTES_MAX).unwrap_or(bytes);
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let mut header = Header::new_gnu();
    header.set_size(bytes.len() as u64);
    header.set_mode(0o600);
    header.set_mtime(since.as_secs());
    header.set_cksum();
    archive.append_data(&mut header, format!("{FOLDER}/{name}"), bytes)
}

/// All parts, without secrets.
fn parts(patient: &Patient, findings: &str) -> Vec<(&'static str, String)> {
    let mut parts = vec![
        ("doctor.json", patient.scrubbed(findings)),
        ("version.txt", format!("{}\n", crate::version::VERSION)),
        ("check.txt", patient.blotted(&patient.configuration.report())),
        ("configuration.conf", patient.blotted(patient.configuration.original())),
        ("preprocessed.conf", patient.blotted(&patient.configuration.config().preprocessed)),
        ("kernel.txt", settings()),
    ];
    let Some(program) = &patient.program else { return parts };
    let asked = [
        ("health.txt", "HEALTHCHECK"),
        ("ledger.txt", "LEDGER"),
        ("ledger.json", "LEDGER JSON"),
        ("statistics.csv", "STATS CSV"),
        ("metrics.txt", "STATS PROMETHEUS"),
        ("graph.json", "EXPORT_CONFIG_GRAPH"),
    ];
    for (name, line) in asked {
        // A refusal is worth reading too.
        let text = program.ask(line).unwrap_or_else(|error| error.to_string());
        parts.push((name, patient.scrubbed(&text)));
    }
    let running = program.ask("CONFIG GET ORIGINAL").unwrap_or_else(|error| error.to_string());
    parts.push(("running.conf", patient.blotted(&running)));
    for (name, file) in [("limits.txt", "limits"), ("status.txt", "status")] {
        parts.extend(program.proc(file).map(|text| (name, text)));
    }
    parts
}

fn settings() -> String {
    let line = |name: &str| {
        let value = std::fs::read_to_string(format!("/proc/sys/{name}")).ok()?;
        Some(format!("{} = {}\n", name.replace('/', "."), value.trim()))
    };
    SETTINGS.into_iter().filter_map(line).collect()
}
