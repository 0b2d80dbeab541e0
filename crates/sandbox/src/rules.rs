//! What a process may still do once it is confined, and whether one set of rules is enough for another.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What is done with a file, or with everything in a folder; each includes those before it but for `Run`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    Read,
    /// Read, and started as programs.
    Run,
    /// Read, written, made, renamed and removed.
    Write,
}

impl Access {
    pub(crate) fn verb(self) -> &'static str {
        match self {
            Access::Read => "read",
            Access::Run => "start",
            Access::Write => "write",
        }
    }
}

/// What is allowed; everything else is refused.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// Files, and folders with all that is in them. They are there: rules hold for things, not for names.
    paths: BTreeMap<PathBuf, BTreeSet<Access>>,
    /// What cannot be allowed: it would take all of `/`.
    pub nowhere: BTreeSet<PathBuf>,
    /// Ports of TCP to listen at. 0 is any that the system chooses.
    pub listens: BTreeSet<u16>,
    /// Ports of TCP to connect to; `None` is any.
    pub connects: Option<BTreeSet<u16>>,
    /// Whether programs may be started.
    pub starts_programs: bool,
}

impl Rules {
    /// Nothing but connections to these ports.
    pub fn connecting(ports: impl IntoIterator<Item = u16>) -> Rules {
        Rules { connects: Some(ports.into_iter().collect()), ..Rules::default() }
    }

    /// Allows this of a path. While it is not there, the first folder above it that is stands for it. To
    /// write everywhere is never allowed.
    pub fn allow_path(&mut self, path: &Path, access: Access) {
        let there = path.ancestors().find(|path| path.exists());
        let is_root = |there: &Path| std::fs::canonicalize(there).is_ok_and(|real| real == Path::new("/"));
        let is_small = |there: &&Path| !is_root(there) || *there == path && access != Access::Write;
        match there.filter(is_small) {
            Some(there) => drop(self.paths.entry(there.to_owned()).or_default().insert(access)),
            None => drop(self.nowhere.insert(path.to_owned())),
        }
    }

    pub fn paths(&self) -> impl Iterator<Item = (&Path, Access)> {
        self.paths.iter().flat_map(|(path, all)| all.iter().map(move |access| (path.as_path(), *access)))
    }

    /// Whether an access to this path is allowed, wherever links on the way to it lead.
    pub fn allow(&self, path: &Path, access: Access) -> bool {
        let real = real(path);
        self.paths().any(|(allowed, with)| {
            let includes = with == access || access == Access::Read;
            includes && real.starts_with(crate::rules::real(allowed))
        })
    }

    pub fn allow_connecting(&self, port: u16) -> bool {
        self.connects.as_ref().is_none_or(|ports| ports.contains(&port))
    }

    /// What is allowed here and not there: the first of it, as words that may follow a name.
    pub fn beyond(&self, other: &Rules) -> Option<String> {
        if let Some((path, access)) = self.paths().find(|(path, access)| !other.allow(path, *access)) {
            return Some(format!("to {} {}", access.verb(), path.display()));
        }
        if let Some(path) = self.nowhere.difference(&other.nowhere).next() {
            return Some(format!(
                "to use {}, for which the whole root folder would be needed",
                path.display()
            ));
        }
        if let Some(port) = self.listens.difference(&other.listens).next() {
            return Some(format!("to listen at port {port}"));
        }
        match (&self.connects, &other.connects) {
            (None, Some(_)) => return Some("to connect to any port".to_owned()),
            (Some(wanted), Some(had)) => {
                if let Some(port) = wanted.difference(had).next() {
                    return Some(format!("to connect to port {port}"));
                }
            }
            (_, None) => {}
        }
        (self.starts_programs && !other.starts_programs).then(|| "to start programs".to_owned())
    }
}

/// The path without links; of what is not there, that of the first folder above it that is.
pub(crate) fn real(path: &Path) -> PathBuf {
    let mut rest = PathBuf::new();
    for above in path.ancestors() {
        if let Ok(real) = std::fs::canonicalize(above) {
            return if rest.as_os_str().is_empty() { real } else { real.join(rest) };
        }
        // A link that leads nowhere yet.
        if let Ok(target) = std::fs::read_link(above) {
            return above.parent().unwrap_or(Path::new("/")).join(target).join(rest);
        }
        let name = above.file_name().map(PathBuf::from).unwrap_or_default();
        rest = if rest.as_os_str().is_empty() { name } else { name.join(rest) };
    }
    path.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_below_a_folder_is_allowed_with_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        std::fs::create_dir(path("in")).expect("a folder");
        std::fs::create_dir(path("out")).expect("a folder");
        std::os::unix::fs::symlink(path("out/x"), path("in/link")).expect("a link");
        let mut rules = Rules::default();
        rules.allow_path(&path("in"), Access::Write);
        let check = |name: &str, access, expected| {
            assert_eq!(rules.allow(&path(name), access), expected, "{name} {access:?}");
        };
        check("in", Access::Write, true);
        check("in/a/b", Access::Write, true);
        check("in/a/b", Access::Read, true);
        check("in/a/b", Access::Run, false);
        check("in/link", Access::Write, false);
        check("inside", Access::Read, false);
        check("out/x", Access::Read, false);
    }

    #[test]
    fn more_than_there_was_is_named() {
        let with = |paths: &[(&str, Access)], listens: &[u16], connects: Option<&[u16]>| {
            let mut rules = Rules::default();
            paths.iter().for_each(|(path, access)| rules.allow_path(Path::new(path), *access));
            rules.listens.extend(listens);
            rules.connects = connects.map(|ports| ports.iter().copied().collect());
            rules
        };
        let had = with(&[("/usr", Access::Read)], &[514], Some(&[601]));
        let check = |wanted: Rules, expected: Option<&str>| {
            assert_eq!(wanted.beyond(&had).as_deref(), expected, "{wanted:?}");
        };
        check(had.clone(), None);
        check(with(&[("/usr/share", Access::Read)], &[], Some(&[])), None);
        check(with(&[("/usr", Access::Write)], &[], Some(&[])), Some("to write /usr"));
        check(with(&[("/etc", Access::Read)], &[], Some(&[])), Some("to read /etc"));
        let nowhere = "to use /nowhere/a, for which the whole root folder would be needed";
        check(with(&[("/nowhere/a", Access::Read)], &[], Some(&[])), Some(nowhere));
        let everywhere = "to use /, for which the whole root folder would be needed";
        check(with(&[("/", Access::Write)], &[], Some(&[])), Some(everywhere));
        check(with(&[("/", Access::Read)], &[], Some(&[])), Some("to read /"));
        check(with(&[], &[515], Some(&[])), Some("to listen at port 515"));
        check(with(&[], &[], Some(&[602])), Some("to connect to port 602"));
        check(with(&[], &[], None), Some("to connect to any port"));
        check(Rules { starts_programs: true, ..had.clone() }, Some("to start programs"));
    }
}
