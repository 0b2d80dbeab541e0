//! One golden case: its files, and the directives in its configuration.
//!
//! `#: send udp in` sends each line of the input to the port named `in` as a datagram; also `tcp` (the
//! default, newline framing), `octets` and `unix-stream`. `#: send file NAME` writes them into a file of that
//! name for a source that reads it; `the-end` stands in the last message that is waited for. `#: collect udp
//! out` keeps what is sent to the port `out` as `out/out`. `#: only-penstock WHY` leaves the distribution's
//! syslog-ng out. `#: env NAME VALUE` sets a variable. `#: mutants after "TEXT"` allows for what follows that
//! text in a message to be changed, see `library.rs`; `#: mutants without B` for no change that brings this
//! byte. In the input, `\n`, `\r`, `\t`, `\\` and `\xHH` are escapes.

use std::path::{Path, PathBuf};
use testkit::penstock::root;

/// How the input is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    Tcp,
    Udp,
    Octets,
    UnixStream,
}

pub struct Case {
    /// `area/name`.
    pub name: String,
    pub config: String,
    pub messages: Vec<Vec<u8>>,
    pub transport: Transport,
    pub port: String,
    /// The input is not sent but stands in this file.
    pub file: Option<String>,
    /// Ports that a fake receiver listens on, with their transport.
    pub collect: Vec<(Transport, String)>,
    pub only_penstock: Option<String>,
    pub env: Vec<(String, String)>,
    pub mutants_after: Option<String>,
    /// Changes that bring this byte are left out: there the references differ on purpose.
    pub mutants_without: Option<u8>,
    path: PathBuf,
}

impl Case {
    /// All cases that have an input, in the order of their names.
    pub fn all() -> Vec<Case> {
        let wanted = std::env::var("GOLDEN").unwrap_or_default();
        let mut cases = Vec::new();
        for area in folder(&root().join("tests/golden")) {
            for path in folder(&area).into_iter().filter(|p| p.extension().is_some_and(|e| e == "input")) {
                let case = Case::read(&path.with_extension("conf"));
                if case.name.contains(&wanted) {
                    cases.push(case);
                }
            }
        }
        cases
    }

    /// One that is made, not kept.
    pub fn of(name: String, config: String, messages: Vec<Vec<u8>>) -> Case {
        Case {
            name,
            config,
            messages,
            transport: Transport::Tcp,
            port: "in".to_owned(),
            file: None,
            collect: Vec::new(),
            only_penstock: None,
            env: Vec::new(),
            mutants_after: None,
            mutants_without: None,
            path: PathBuf::new(),
        }
    }

    fn read(path: &Path) -> Case {
        let area = path.parent().and_then(Path::file_name).expect("an area").to_string_lossy();
        let stem = path.file_stem().expect("a name").to_string_lossy();
        let text = |path: PathBuf| {
            std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
        };
        let config = text(path.to_owned());
        let messages = text(path.with_extension("input")).lines().map(unescape).collect();
        let own = config.replace("%golden%", &path.parent().expect("an area").display().to_string());
        let mut case = Case { path: path.to_owned(), ..Case::of(format!("{area}/{stem}"), own, messages) };
        for directive in config.lines().filter_map(|line| line.strip_prefix("#: ")) {
            case.directive(directive);
        }
        case
    }

    fn directive(&mut self, text: &str) {
        if let Some(after) = text.strip_prefix("mutants after ") {
            self.mutants_after = Some(after.trim_matches('"').to_owned());
            return;
        }
        let words: Vec<&str> = text.split_whitespace().collect();
        match words.as_slice() {
            ["send", "file", name] => self.file = Some((*name).to_owned()),
            ["send", transport, port] => {
                self.transport = self.named_transport(transport);
                self.port = (*port).to_owned();
            }
            ["only-penstock", why @ ..] if why.len() >= 3 => self.only_penstock = Some(why.join(" ")),
            ["collect", transport, port] => {
                self.collect.push((self.named_transport(transport), (*port).to_owned()));
            }
            ["mutants", "without", byte] => self.mutants_without = byte.bytes().next(),
            ["env", name, value] => self.env.push(((*name).to_owned(), (*value).to_owned())),
            _ => panic!("{}: no directive `{text}`", self.name),
        }
    }

    fn named_transport(&self, name: &str) -> Transport {
        match name {
            "tcp" => Transport::Tcp,
            "udp" => Transport::Udp,
            "octets" => Transport::Octets,
            "unix-stream" => Transport::UnixStream,
            other => panic!("{}: no transport {other}", self.name),
        }
    }

    /// The same with other messages.
    pub fn with_messages(self, messages: Vec<Vec<u8>>) -> Case {
        Case { messages, ..self }
    }

    /// The same with a configuration library of the user's own.
    pub fn with_library(mut self, scl: &Path) -> Case {
        let define = format!("@define scl-root \"{}\"\n", scl.display());
        let after =
            self.config.find("@version").and_then(|at| Some(at + self.config.get(at..)?.find('\n')? + 1));
        self.config.insert_str(after.unwrap_or(0), &define);
        self
    }

    pub fn expected(&self) -> Result<String, String> {
        let path = self.path.with_extension("expected");
        std::fs::read_to_string(&path)
            .map_err(|_| format!("{} is not there: UPDATE_GOLDEN=1 writes it", path.display()))
    }

    /// What syslog-ng makes of a case where it is known to differ.
    pub fn peer_expected(&self) -> Result<String, String> {
        let path = self.path.with_extension("syslog-ng");
        std::fs::read_to_string(&path)
            .map_err(|_| format!("{} is not there: UPDATE_GOLDEN=peer writes it", path.display()))
    }

    pub fn write_made_by_peer(&self, made: &str, differs: bool) -> Result<(), String> {
        let extension = if differs { "syslog-ng" } else { "expected" };
        std::fs::write(self.path.with_extension(extension), made).map_err(|e| e.to_string())
    }

    pub fn write_expected(&self, made: &str) -> Result<(), String> {
        std::fs::write(self.path.with_extension("expected"), made).map_err(|e| e.to_string())
    }
}

fn folder(path: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(path).into_iter().flatten().flatten().map(|e| e.path()).collect();
    entries.sort();
    entries
}

fn unescape(line: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = line.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        if *first != b'\\' {
            bytes.push(*first);
            continue;
        }
        let (byte, used) = match after {
            [b'n', ..] => (b'\n', 1),
            [b'r', ..] => (b'\r', 1),
            [b't', ..] => (b'\t', 1),
            [b'\\', ..] => (b'\\', 1),
            [b'x', high, low, ..] => {
                let digits = String::from_utf8_lossy(&[*high, *low]).into_owned();
                (u8::from_str_radix(&digits, 16).unwrap_or_else(|e| panic!("{line}: {e}")), 3)
            }
            _ => panic!("no such escape: {line}"),
        };
        bytes.push(byte);
        rest = &after[used..];
    }
    bytes
}

#[test]
fn escapes() {
    assert_eq!(unescape(r"a\n\\\x00b"), b"a\n\\\0b");
}
