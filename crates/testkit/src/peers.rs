//! Other receivers and relays: the distribution's syslog-ng and rsyslog, when `scripts/peers` has put them there.

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

/// Where the distribution's configuration library is.
pub fn scl() -> Option<PathBuf> {
    let unpacked = root().join("target/peers/syslog-ng/usr/share/syslog-ng/include/scl");
    [unpacked, PathBuf::from("/usr/share/syslog-ng/include/scl")].into_iter().find(|path| path.is_dir())
}

/// Where rsyslog is.
pub fn rsyslog() -> Option<PathBuf> {
    Some(PathBuf::from("/usr/sbin/rsyslogd")).filter(|path| runs(path, "-v"))
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
    let mut process = Process::spawn("rsyslogd", command, None, &lab.path("rsyslog.log"));
    process.wait_for(|| {
        opens.iter().find(|open| !open.is_open()).map(|closed| format!("{closed:?} to be open"))
    });
    process
}
