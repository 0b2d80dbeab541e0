//! What the processes of a pool run: the python blocks of a configuration, where modules are looked for,
//! which interpreter.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// `python { ... };`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The file it stands in, and the line its text begins in: for tracebacks.
    pub file: String,
    pub line: u32,
    pub text: String,
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
    /// `syslogng.debuglevel`.
    pub debug_level: u8,
}

impl Script {
    /// The interpreter: of the virtual environment that is active, else `python3` of the PATH.
    pub fn interpreter(&self) -> PathBuf {
        let active = self.environment.iter().find(|(name, _)| name == "VIRTUAL_ENV");
        let python = active.map(|(_, folder)| PathBuf::from(folder).join("bin/python3"));
        python.filter(|path| path.exists()).unwrap_or_else(|| PathBuf::from("python3"))
    }
}
