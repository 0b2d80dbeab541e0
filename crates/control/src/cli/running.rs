//! Which running program a command is about: the one that is named, else the one that runs.

use super::{CONTROL_FILE_NAME, PENSTOCK_STATE_DIR, SYSLOG_NG_CONTROL};
use clap::Args;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use stdio::CommandError;

/// Names the state folder where `--state-dir` does not.
const STATE_DIR_VARIABLE: &str = "PENSTOCK_STATE_DIR";

/// The flag of a socket in /proc/net/unix that says that it listens.
const LISTENS: &str = "00010000";
/// Num RefCount Protocol Flags Type St Inode Path
const PATH_COLUMN: usize = 7;

#[derive(Debug, Clone, Default, Args)]
pub struct Running {
    /// State folder of the program [default: the environment's PENSTOCK_STATE_DIR, else that of the program
    /// that runs]
    #[arg(long, global = true, value_name = "FOLDER")]
    pub state_dir: Option<PathBuf>,
    /// Control socket of the program [default: penstock.ctl in the state folder]
    #[arg(short, long, global = true, value_name = "SOCKET")]
    pub control: Option<PathBuf>,
}

impl Running {
    /// The control socket. The error says that several programs run, and which.
    pub fn socket(&self) -> Result<PathBuf, CommandError> {
        if let Some(socket) = &self.control {
            return Ok(socket.clone());
        }
        match self.named() {
            Some(folder) => Ok(folder.join(CONTROL_FILE_NAME)),
            None => choose(listening()),
        }
    }

    /// The state folder, whether a program runs or not.
    pub fn folder(&self) -> Result<PathBuf, CommandError> {
        if let Some(folder) = self.named() {
            return Ok(folder);
        }
        let own = listening().into_iter().filter(|socket| socket.ends_with(CONTROL_FILE_NAME)).collect();
        let socket = self.control.clone().map_or_else(|| choose(own), Ok)?;
        Ok(socket.parent().map_or_else(|| PENSTOCK_STATE_DIR.into(), Path::to_owned))
    }

    fn named(&self) -> Option<PathBuf> {
        let from_environment = || std::env::var_os(STATE_DIR_VARIABLE).filter(|folder| !folder.is_empty());
        self.state_dir.clone().or_else(|| from_environment().map(PathBuf::from))
    }
}

/// The one that runs; of several the one in the usual place.
fn choose(sockets: Vec<PathBuf>) -> Result<PathBuf, CommandError> {
    let usual = Path::new(PENSTOCK_STATE_DIR).join(CONTROL_FILE_NAME);
    match sockets.as_slice() {
        [] => Ok(usual),
        [only] => Ok(only.clone()),
        several if several.contains(&usual) => Ok(usual),
        several => {
            let shown: Vec<String> = several.iter().map(|socket| socket.display().to_string()).collect();
            Err(format!("several programs run; name one of them with --control SOCKET: {}", shown.join(", "))
                .into())
        }
    }
}

/// Control sockets that somebody listens on.
fn listening() -> Vec<PathBuf> {
    control_sockets(&fs::read_to_string("/proc/net/unix").unwrap_or_default())
}

/// Of the table of /proc/net/unix. A relative path cannot be followed from here: its program has to be named.
fn control_sockets(table: &str) -> Vec<PathBuf> {
    let is_ours = |path: &Path| {
        path.file_name() == Some(OsStr::new(CONTROL_FILE_NAME)) || path == Path::new(SYSLOG_NG_CONTROL)
    };
    let mut found: Vec<PathBuf> = table
        .lines()
        .filter_map(|line| {
            let is_listening = line.split_ascii_whitespace().nth(3) == Some(LISTENS);
            is_listening.then(|| column(line, PATH_COLUMN).map(PathBuf::from))?
        })
        .filter(|path| path.is_absolute() && is_ours(path))
        .collect();
    found.sort();
    found.dedup();
    found
}

/// The line from a column on, the first being 0: a path may have blanks.
fn column(line: &str, number: usize) -> Option<&str> {
    let mut rest = line.trim_ascii_start();
    for _ in 0..number {
        rest = rest.split_once(|c: char| c.is_ascii_whitespace())?.1.trim_ascii_start();
    }
    (!rest.is_empty()).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_that_listen_are_found() {
        let table = "Num       RefCount Protocol Flags    Type St Inode Path\n\
            0000000000000000: 00000002 00000000 00010000 0001 01 17 /run/a b/penstock.ctl\n\
            0000000000000000: 00000003 00000000 00000000 0001 03 18 /run/a b/penstock.ctl\n\
            0000000000000000: 00000002 00000000 00010000 0001 01 19 /var/lib/syslog-ng/syslog-ng.ctl\n\
            0000000000000000: 00000002 00000000 00010000 0001 01 20 /run/other.sock\n\
            0000000000000000: 00000002 00000000 00010000 0001 01 21 penstock.ctl\n\
            0000000000000000: 00000002 00000000 00010000 0001 01 23 state/penstock.ctl\n\
            0000000000000000: 00000002 00000000 00010000 0001 01 24\n\
            0000000000000000: 00000003 00000000 00000000 0001 03 22\n";
        let expected = ["/run/a b/penstock.ctl", SYSLOG_NG_CONTROL].map(PathBuf::from);
        assert_eq!(control_sockets(table), expected);
    }

    #[test]
    fn one_is_meant_or_several_are_said() {
        let usual = || PathBuf::from("/var/lib/penstock/penstock.ctl");
        assert_eq!(choose(Vec::new()), Ok(usual()));
        assert_eq!(choose(vec!["/a/penstock.ctl".into()]), Ok("/a/penstock.ctl".into()));
        assert_eq!(choose(vec!["/a/penstock.ctl".into(), usual()]), Ok(usual()));
        let several = choose(vec!["/a/penstock.ctl".into(), "/b/penstock.ctl".into()]);
        assert!(several.is_err_and(|error| error.said().contains("/a/penstock.ctl, /b/penstock.ctl")));
    }

    #[test]
    fn what_is_named_is_meant() {
        let named = Running { state_dir: Some("/s".into()), control: None };
        assert_eq!(named.socket(), Ok("/s/penstock.ctl".into()));
        assert_eq!(named.folder(), Ok("/s".into()));
        let both = Running { control: Some("/x/y".into()), ..named };
        assert_eq!(both.socket(), Ok("/x/y".into()));
    }
}
