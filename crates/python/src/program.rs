//! What the processes of a pool run: the python blocks of a configuration, where modules are looked for,
//! which interpreter.

use crate::marshal;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Virtual environments that are used where they are: what `penstock python venv` makes, and what
/// `syslog-ng-update-virtualenv` does.
const VIRTUAL_ENVIRONMENTS: [&str; 2] = ["/var/lib/penstock/python-venv", "/var/lib/syslog-ng/python-venv"];

/// Where modules are looked for, beside the folder of the configuration and PYTHONPATH.
const FOLDERS: [&str; 2] = ["/etc/syslog-ng/python", "/etc/syslog-ng/pylib"];
/// `python-timeout()`, unless it is given.
const BOUND: Duration = Duration::from_secs(60);
/// `python-memory()`, unless it is given.
const MEMORY_MAX: u64 = 1 << 30;

/// `python { ... };`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The file it stands in, and the line its text begins in: for tracebacks.
    pub file: String,
    pub line: u32,
    pub text: String,
}

impl Block {
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        marshal::tuple(3, out);
        marshal::text(&self.file, out);
        marshal::int(i64::from(self.line), out);
        marshal::text(&self.text, out);
    }
}

/// Two pools with equal programs are one, as long as the files of their modules stay as they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    pub blocks: Vec<Block>,
    /// Processes, at most as many as there are workers.
    pub processes: usize,
    /// How long a request may take: a batch, an import, an init().
    pub bound: Duration,
    /// Folders of modules, in front of those of the interpreter.
    pub paths: Vec<PathBuf>,
    pub environment: Vec<(OsString, OsString)>,
    /// Bytes of memory from which on a process is replaced, 0 for never.
    pub memory_max: u64,
    /// `syslogng.debuglevel`.
    pub debug_level: u8,
}

impl Script {
    /// What holds unless a configuration says otherwise: one process, no blocks. `folder` is the one that the
    /// configuration is in.
    pub fn beside(folder: Option<&Path>, environment: Vec<(OsString, OsString)>) -> Script {
        let beside = folder.map(|folder| folder.join("python"));
        Script {
            blocks: Vec::new(),
            processes: 1,
            bound: BOUND,
            paths: beside.into_iter().chain(FOLDERS.map(PathBuf::from)).collect(),
            environment,
            memory_max: MEMORY_MAX,
            debug_level: match oplog::verbosity() {
                oplog::Verbosity::Trace => 2,
                oplog::Verbosity::Default => 0,
                _ => 1,
            },
        }
    }

    /// The interpreter: of the virtual environment that is active, else of the program's own, else `python3`
    /// of the PATH.
    pub fn interpreter(&self) -> PathBuf {
        let active = self.environment.iter().find(|(name, _)| name == "VIRTUAL_ENV");
        let active = active.map(|(_, folder)| PathBuf::from(folder));
        let folders = active.into_iter().chain(VIRTUAL_ENVIRONMENTS.map(PathBuf::from));
        let python = folders.map(|folder| folder.join("bin/python3")).find(|path| path.exists());
        python.unwrap_or_else(|| PathBuf::from("python3"))
    }
}
