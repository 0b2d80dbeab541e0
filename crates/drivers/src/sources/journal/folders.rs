//! Where this machine's journal lies.

use journal::{Id, JournalFile};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// What is kept over a boot, and what is not.
pub const ROOTS: [&str; 2] = ["/var/log/journal", "/run/log/journal"];

/// `namespace()`, or another folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Namespaces {
    Default,
    All,
    Only(String),
    WithDefault(String),
    Folder(PathBuf),
}

impl Namespaces {
    pub fn named(name: Option<&str>) -> Namespaces {
        match name {
            None | Some("") => Namespaces::Default,
            Some("*") => Namespaces::All,
            Some(name) => match name.strip_prefix('+') {
                Some(name) => Namespaces::WithDefault(name.to_owned()),
                None => Namespaces::Only(name.to_owned()),
            },
        }
    }

    /// For statistics.
    pub fn shown(&self) -> String {
        match self {
            Namespaces::Default => String::new(),
            Namespaces::All => "*".to_owned(),
            Namespaces::Only(name) => name.clone(),
            Namespaces::WithDefault(name) => format!("+{name}"),
            Namespaces::Folder(path) => path.display().to_string(),
        }
    }

    /// The folders, there or not; for all namespaces, those that are there now.
    pub fn folders(&self) -> io::Result<Vec<PathBuf>> {
        if let Namespaces::Folder(path) = self {
            return Ok(vec![path.clone()]);
        }
        let machine = std::fs::read_to_string("/etc/machine-id")
            .map_err(|e| io::Error::new(e.kind(), format!("/etc/machine-id: {e}")))?;
        Ok(self.below(&ROOTS.map(Path::new), machine.trim()))
    }

    fn below(&self, roots: &[&Path], machine: &str) -> Vec<PathBuf> {
        let of = |suffix: &str| roots.iter().map(|root| root.join(format!("{machine}{suffix}"))).collect();
        match self {
            Namespaces::Default | Namespaces::Folder(_) => of(""),
            Namespaces::Only(name) => of(&format!(".{name}")),
            Namespaces::WithDefault(name) => [of(""), of(&format!(".{name}"))].concat(),
            Namespaces::All => {
                let mut all: Vec<PathBuf> = of("");
                let prefix = format!("{machine}.");
                for entry in roots.iter().filter_map(|root| std::fs::read_dir(root).ok()).flatten().flatten()
                {
                    if entry.file_name().to_string_lossy().starts_with(&prefix) {
                        all.push(entry.path());
                    }
                }
                all
            }
        }
    }
}

/// The boot this machine runs in, as journald writes it: a container has a number of its own, which a service
/// with `ProtectProc=` does not see in its own /proc.
pub fn this_boot() -> Option<Id> {
    let folders = Namespaces::Default.folders().unwrap_or_default();
    let written = folders.iter().find_map(|folder| {
        let file = File::open(folder.join("system.journal")).ok()?;
        JournalFile::open(file).ok()?.boot_of_writer()
    });
    written.or_else(|| id(&std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?))
}

/// 32 hexadecimal digits, with or without dashes.
fn id(text: &str) -> Option<Id> {
    let digits: Vec<u8> = text.trim().bytes().filter(|byte| *byte != b'-').collect();
    if digits.len() != 32 {
        return None;
    }
    let mut id = Id::default();
    for (byte, pair) in id.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn namespaces_are_folders() {
        let root = tempfile::tempdir().expect("folder");
        ["m", "m.a", "m.b", "other"].iter().for_each(|name| {
            std::fs::create_dir(root.path().join(name)).expect("folder");
        });
        let check = |name: Option<&str>, expected: &[&str]| {
            let mut found = Namespaces::named(name).below(&[root.path()], "m");
            found.sort();
            let expected: Vec<_> = expected.iter().map(|name| root.path().join(name)).collect();
            assert_eq!(found, expected, "{name:?}");
        };
        check(None, &["m"]);
        check(Some("a"), &["m.a"]);
        check(Some("+a"), &["m", "m.a"]);
        check(Some("*"), &["m", "m.a", "m.b"]);
    }

    #[test]
    fn ids() {
        assert_eq!(id("00010203-0405-0607-0809-0a0b0c0d0e0f\n").map(|id| id[15]), Some(15));
        assert_eq!(id("00"), None);
        assert_eq!(id("zz010203-0405-0607-0809-0a0b0c0d0e0f"), None);
    }
}
