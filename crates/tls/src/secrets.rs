//! Passphrases of private keys: given to the running program (`syslog-ng-ctl credentials add`), kept in its
//! memory only, by the path of the file they open.

use diag::Fault;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// Files that may have a passphrase.
const SECRETS_MAX: usize = 1000;
const SECRET_BYTES_MAX: usize = 1024;

static SECRETS: Mutex<BTreeMap<PathBuf, Secret>> = Mutex::new(BTreeMap::new());

struct Secret {
    /// `None` until it is given.
    bytes: Option<Vec<u8>>,
    state: State,
}

/// What is known of a file's passphrase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Needed, and not given yet.
    Pending,
    /// Given, and good.
    Success,
    /// Given, and wrong.
    InvalidPassword,
    /// Given, and not needed by now.
    Unused,
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            State::Pending => "PENDING",
            State::Success => "SUCCESS",
            State::InvalidPassword => "INVALID_PASSWORD",
            State::Unused => "UNUSED",
        })
    }
}

/// Files and what is known of their passphrases, in the order of their names.
pub fn states() -> Vec<(PathBuf, State)> {
    SECRETS.lock().iter().map(|(path, secret)| (path.clone(), secret.state)).collect()
}

/// Keeps a passphrase.
pub(crate) fn keep(path: &Path, bytes: &[u8]) -> Result<(), Fault> {
    if bytes.len() > SECRET_BYTES_MAX {
        return Err(Fault::misconfigured(format!("the passphrase is longer than {SECRET_BYTES_MAX} bytes")));
    }
    let mut secrets = SECRETS.lock();
    if secrets.len() >= SECRETS_MAX && !secrets.contains_key(path) {
        return Err(Fault::local(format!("there are {SECRETS_MAX} passphrases already")));
    }
    secrets.insert(path.to_owned(), Secret { bytes: Some(bytes.to_vec()), state: State::Unused });
    Ok(())
}

/// Why a key could not be opened.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Locked {
    /// It waits for a passphrase, which may still come.
    Waits(Fault),
    Broken(Fault),
}

impl From<Fault> for Locked {
    fn from(fault: Fault) -> Locked {
        Locked::Broken(fault)
    }
}

/// What the passphrase of a file opens. `open` gives `None` for a wrong one.
pub(crate) fn open<T>(
    path: &Path,
    open: impl FnOnce(&[u8]) -> Result<Option<T>, Fault>,
) -> Result<T, Locked> {
    let known = SECRETS.lock().get(path).and_then(|secret| secret.bytes.clone());
    let (outcome, state) = match known {
        None => (None, State::Pending),
        Some(bytes) => match open(&bytes)? {
            Some(opened) => (Some(opened), State::Success),
            None => (None, State::InvalidPassword),
        },
    };
    let mut secrets = SECRETS.lock();
    if secrets.len() < SECRETS_MAX || secrets.contains_key(path) {
        secrets.entry(path.to_owned()).or_insert(Secret { bytes: None, state }).state = state;
    }
    outcome.ok_or_else(|| {
        let what = match state {
            State::InvalidPassword => "the passphrase is wrong",
            _ => "it is encrypted and its passphrase is not known yet",
        };
        let path = path.display();
        Locked::Waits(Fault::misconfigured(format!(
            "{path}: {what}; give it with `syslog-ng-ctl credentials add --id {path}`"
        )))
    })
}
