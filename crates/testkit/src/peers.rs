//! Other receivers and relays: the distribution's syslog-ng and rsyslog, when `scripts/peers` has put them
//! there.

use crate::lab::Lab;
use crate::penstock::root;
use crate::process::Process;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Why there is no peer to talk to; the test is skipped with it.
pub const MISSING: &str = "not set up, see scripts/peers";

/// Where the distribution's syslog-ng is.
pub fn syslog_ng() -> Option<PathBuf> {
    let unpacked = root().join("target/peers/bin/syslog-ng");
    [unpacked, PathBuf::from("/usr/sbin/syslog-ng")].into_iter().find(|path| runs(path, "--version"))
}

/// The folder of the distribution's tools for secure logging, when syslog-ng has that module too.
pub fn slog_tools() -> Option<PathBuf> {
    let verify = tool("slogverify").filter(|path| runs(path, "--help"))?;
    verify.parent().map(Path::to_path_buf)
}

/// One of the distribution's other programs of syslog-ng, when it runs.
pub fn tool(name: &str) -> Option<PathBuf> {
    syslog_ng()?;
    let folders = ["target/peers/bin", "/usr/bin", "/usr/sbin"];
    folders.into_iter().map(|folder| root().join(folder).join(name)).find(|path| path.is_file())
}

/// Where the distribution's configuration library is.
pub fn scl() -> Option<PathBuf> {
    let unpacked = root().join("target/peers/syslog-ng/usr/share/syslog-ng/include/scl");
    [unpacked, PathBuf::from("/usr/share/syslog-ng/include/scl")].into_iter().find(|path| path.is_dir())
}

/// Where rsyslog is.
pub fn rsyslog() -> Option<PathBuf> {
    Some(PathBuf::from("/usr/sbin/rsyslogd")).filter(|path| runs(path, "-v"))
}

/// Where rsyslog's modules for RELP are, when they are not among its others.
const RELP: &str = "target/peers/rsyslog-relp/usr/lib";

/// A folder below [`RELP`] with this file in it.
fn relp_folder(file: &str) -> Option<PathBuf> {
    let folders = std::fs::read_dir(root().join(RELP)).ok()?;
    folders.flatten().map(|entry| entry.path()).find(|folder| folder.join(file).is_file())
}

/// What rsyslog loads to speak RELP: `imrelp` and `omrelp`.
pub fn rsyslog_relp() -> Option<(String, String)> {
    rsyslog()?;
    let installed = |name: &str| {
        ["/usr/lib/x86_64-linux-gnu/rsyslog", "/usr/lib/aarch64-linux-gnu/rsyslog", "/usr/lib/rsyslog"]
            .into_iter()
            .map(|folder| PathBuf::from(folder).join(name))
            .find(|path| path.is_file())
    };
    let module = |name: &str| {
        let unpacked =
            relp_folder(&format!("rsyslog/{name}")).map(|folder| folder.join("rsyslog").join(name));
        unpacked.or_else(|| installed(name)).map(|path| path.display().to_string())
    };
    Some((module("imrelp.so")?, module("omrelp.so")?))
}

fn runs(path: &Path, version: &str) -> bool {
    path.is_file() && Command::new(path).arg(version).output().is_ok_and(|output| output.status.success())
}

/// Starts syslog-ng in the lab and waits until everything its configuration names is open.
#[track_caller]
pub fn start_syslog_ng(lab: &Lab, program: &Path, config: &str, env: &[(String, String)]) -> Process {
    let (path, opens) = lab.write_config("syslog-ng.conf", config);
    let mut command = Command::new(program);
    command.args(["--foreground", "--no-caps", "--stderr", "--cfgfile"]).arg(path);
    command.arg("--persist-file").arg(lab.path("syslog-ng.persist"));
    command.arg("--pidfile").arg(lab.path("syslog-ng.pid"));
    command.arg("--control").arg(lab.path("syslog-ng.control"));
    command.current_dir(lab.dir()).env("TZ", "UTC").envs(env.iter().cloned());
    let mut process = Process::spawn("syslog-ng", command, None, &lab.path("syslog-ng.log"));
    let log = lab.path("syslog-ng.log");
    process.wait_for(|| {
        if let Some(closed) = opens.iter().find(|open| !open.is_open()) {
            return Some(format!("{closed:?} to be open"));
        }
        let text = std::fs::read_to_string(&log).unwrap_or_default();
        (!text.contains("starting up")).then(|| "syslog-ng to start".to_owned())
    });
    process
}

/// Starts rsyslogd in the lab and waits until everything its configuration names is open.
#[track_caller]
pub fn start_rsyslog(lab: &Lab, program: &Path, config: &str) -> Process {
    let (path, opens) = lab.write_config("rsyslog.conf", config);
    let mut command = Command::new(program);
    command.arg("-n").arg("-f").arg(path).arg("-i").arg(lab.path("rsyslog.pid"));
    command.current_dir(lab.dir()).env("TZ", "UTC");
    if let Some(libraries) = relp_folder("librelp.so.0") {
        command.env("LD_LIBRARY_PATH", libraries);
    }
    let mut process = Process::spawn("rsyslogd", command, None, &lab.path("rsyslog.log"));
    process.wait_for(|| {
        opens.iter().find(|open| !open.is_open()).map(|closed| format!("{closed:?} to be open"))
    });
    process
}
