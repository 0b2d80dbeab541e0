//! A folder for one test, and configurations with places to fill in.
//!
//! In a configuration, `%dir%` is the folder, `%tcp:NAME%` and `%udp:NAME%` a port the program will open,
//! `%port:NAME%` the same port without waiting for anybody to open it, `%unix:NAME%` the path of a socket the
//! program will open, `%path:NAME%` any path.

use crate::{free_port, sockets};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

pub struct Lab {
    folder: TempDir,
    ports: RefCell<BTreeMap<String, u16>>,
}

/// Something the configuration says will be open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Opens {
    Tcp(u16),
    Udp(u16),
    Unix(String),
}

impl Opens {
    pub fn is_open(&self) -> bool {
        match self {
            Opens::Tcp(port) => sockets::tcp_listening(*port),
            Opens::Udp(port) => sockets::udp_bound(*port),
            Opens::Unix(path) => sockets::unix_bound(path),
        }
    }
}

impl Default for Lab {
    fn default() -> Lab {
        Lab::new()
    }
}

impl Lab {
    pub fn new() -> Lab {
        let folder = tempfile::Builder::new().prefix("penstock-test-").tempdir().expect("a temporary folder");
        Lab { folder, ports: RefCell::default() }
    }

    pub fn dir(&self) -> &Path {
        self.folder.path()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The port of this name, chosen at its first use.
    pub fn port(&self, name: &str) -> u16 {
        *self.ports.borrow_mut().entry(name.to_owned()).or_insert_with(free_port)
    }

    /// The text of a file below the folder; empty when it is not there.
    pub fn text(&self, name: &str) -> String {
        String::from_utf8_lossy(&std::fs::read(self.path(name)).unwrap_or_default()).into_owned()
    }

    pub fn lines(&self, name: &str) -> Vec<String> {
        self.text(name).lines().map(str::to_owned).collect()
    }

    /// Fills in the places of a configuration; says what it will open.
    pub fn fill(&self, config: &str) -> (String, Vec<Opens>) {
        let mut text = String::with_capacity(config.len());
        let mut opens = Vec::new();
        let mut rest = config;
        while let Some(at) = rest.find('%') {
            text.push_str(&rest[..at]);
            let place =
                rest[at + 1..].split_once('%').and_then(|(name, after)| Some((self.place(name)?, after)));
            match place {
                Some(((value, open), after)) => {
                    text.push_str(&value);
                    opens.extend(open);
                    rest = after;
                }
                None => {
                    text.push('%');
                    rest = &rest[at + 1..];
                }
            }
        }
        text.push_str(rest);
        (text, opens)
    }

    fn place(&self, name: &str) -> Option<(String, Option<Opens>)> {
        if name == "dir" {
            return Some((self.dir().display().to_string(), None));
        }
        let (kind, name) = name.split_once(':')?;
        let path = self.path(name).display().to_string();
        match kind {
            "tcp" => Some((self.port(name).to_string(), Some(Opens::Tcp(self.port(name))))),
            "udp" => Some((self.port(name).to_string(), Some(Opens::Udp(self.port(name))))),
            "port" => Some((self.port(name).to_string(), None)),
            "unix" => Some((path.clone(), Some(Opens::Unix(path)))),
            "path" => Some((path, None)),
            _ => None,
        }
    }

    /// Fills in the configuration and writes it to a file.
    pub fn write_config(&self, name: &str, config: &str) -> (PathBuf, Vec<Opens>) {
        let (text, opens) = self.fill(config);
        let path = self.path(name);
        std::fs::write(&path, text).expect("the configuration can be written");
        (path, opens)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_filled_in() {
        let lab = Lab::new();
        let (text, opens) = lab.fill("a(%tcp:in%) b(%port:in%) c(\"%dir%/%unix:s%\") 100% %x%");
        let port = lab.port("in");
        let dir = lab.dir().display();
        assert_eq!(text, format!("a({port}) b({port}) c(\"{dir}/{dir}/s\") 100% %x%"));
        assert_eq!(opens, [Opens::Tcp(port), Opens::Unix(format!("{dir}/s"))]);
    }
}
