//! What the commands that the program runs find in their environment: by default what is listed here, never
//! what is a secret of this process.

use std::ffi::OsString;
use std::process::Command;

/// Variables that every command gets, where this process has them; and all that begin with `LC_`.
const LISTED: [&str; 26] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TERM",
    "TZ",
    "TZDIR",
    "LANG",
    "LANGUAGE",
    "TMPDIR",
    "HOSTNAME",
    "LD_LIBRARY_PATH",
    "http_proxy",
    "https_proxy",
    "ftp_proxy",
    "all_proxy",
    "no_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "FTP_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "PYTHONPATH",
];

/// What the service manager tells this process alone: sockets, credentials, how to answer it.
const SECRET: [&str; 12] = [
    "NOTIFY_SOCKET",
    "LISTEN_FDS",
    "LISTEN_PID",
    "LISTEN_FDNAMES",
    "CREDENTIALS_DIRECTORY",
    "WATCHDOG_USEC",
    "WATCHDOG_PID",
    "INVOCATION_ID",
    "JOURNAL_STREAM",
    "MAINPID",
    "MANAGERPID",
    "SYSTEMD_EXEC_PID",
];

/// What a command gets of the environment of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Environment {
    /// `inherit-environment()` is not given: what is listed.
    Listed,
    /// `inherit-environment(yes)`: everything but secrets.
    All,
    /// `inherit-environment(no)`
    Nothing,
}

impl Environment {
    pub fn of(inherit: Option<bool>) -> Environment {
        match inherit {
            None => Environment::Listed,
            Some(true) => Environment::All,
            Some(false) => Environment::Nothing,
        }
    }

    /// Gives a command its environment.
    pub fn give(self, command: &mut Command) {
        command.env_clear().envs(self.variables());
    }

    /// The variables themselves.
    pub fn variables(self) -> Vec<(OsString, OsString)> {
        self.select(std::env::vars_os())
    }

    fn select(self, all: impl Iterator<Item = (OsString, OsString)>) -> Vec<(OsString, OsString)> {
        all.filter(|(name, _)| match (self, name.to_str()) {
            (Environment::Nothing, _) => false,
            (Environment::All, Some(name)) => !SECRET.contains(&name),
            (Environment::All, None) => true,
            (Environment::Listed, Some(name)) => LISTED.contains(&name) || name.starts_with("LC_"),
            (Environment::Listed, None) => false,
        })
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_go_to_nobody() {
        let names = |environment: Environment| {
            let all = ["PATH", "LC_ALL", "NOTIFY_SOCKET", "MY_TOKEN", "CREDENTIALS_DIRECTORY", "LISTEN_FDS"];
            let all = all.into_iter().map(|name| (OsString::from(name), OsString::from("x")));
            let given = environment.select(all).into_iter();
            given.map(|(name, _)| name.into_string().expect("text")).collect::<Vec<_>>()
        };
        assert_eq!(names(Environment::of(None)), ["PATH", "LC_ALL"]);
        assert_eq!(names(Environment::of(Some(true))), ["PATH", "LC_ALL", "MY_TOKEN"]);
        assert!(names(Environment::of(Some(false))).is_empty());
    }
}
