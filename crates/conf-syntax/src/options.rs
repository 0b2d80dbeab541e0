//! What the caller decides about reading a configuration: include path, predefined names, limits.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::ast::Version;
use crate::scripts::NewScripts;

/// How to read a configuration. `Default` touches the file system for includes, but runs no commands.
#[derive(Clone, Debug)]
pub struct ParseOptions {
    /// Folders that relative include names are searched in, in order.
    pub include_path: Vec<PathBuf>,
    /// Files that need not be on the disk; `None`: there are none.
    pub library: Option<Library>,
    /// Predefined backtick names (`syslog-ng-root`, `scl-root`, `module-path` ...), any `-`/`_` spelling.
    pub globals: BTreeMap<String, String>,
    /// Backticks may read environment variables through this; None: no variable exists.
    pub env: Option<fn(&str) -> Option<String>>,
    /// Backticks may read secrets through this, by `file:PATH` and `credential:NAME`: None for a name that is
    /// neither. None: there are no such names.
    pub secret: Option<ReadSecret>,
    /// Includes are followed. Without it, an include is an error (texts from strangers).
    pub read_files: bool,
    /// confgen commands may be run. Without it, a call of a confgen is an error.
    pub run_commands: bool,
    /// Runs python blocks, which may define calls. Without it, none does.
    pub scripts: Option<NewScripts>,
    /// Modules that `@requires` and `@module` find; None: every module exists.
    pub modules: Option<BTreeSet<String>>,
    /// What `@version: current` means; newer versions are clamped to it.
    pub newest_version: Version,
    /// Configurations written for a version before this one get a warning that meanings changed.
    pub compat_version: Version,
    pub limits: Limits,
}

/// A secret by its name, or why it cannot be had.
pub type ReadSecret = fn(&str) -> Option<Result<Secret, String>>;

/// What stands for the name of a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Secret {
    Known(String),
    /// Not known here, and no error: its name stands for it.
    Elsewhere,
}

impl Secret {
    /// What is read in the place of a name.
    pub fn text<'a>(&'a self, name: &'a str) -> &'a str {
        match self {
            Secret::Known(value) => value,
            Secret::Elsewhere => name,
        }
    }
}

/// Files built into the program. A file on the disk that an include asks for by its name goes before them. A
/// pattern gets what is built in first and then what is on the disk, so that a definition on the disk
/// replaces the built-in one and hides nothing else.
#[derive(Clone, Debug)]
pub struct Library {
    /// Stands in the place of a file's name on the disk.
    pub folder: PathBuf,
    /// Name relative to the folder, text.
    pub files: &'static [(&'static str, &'static str)],
    /// Folders of another program's library. What is asked for in one of them and is not there, is looked up
    /// here.
    pub stands_for: Vec<PathBuf>,
    /// Folders below `scl/` that the other library calls by another name: its name, ours.
    pub aliases: &'static [(&'static str, &'static str)],
    /// Calls that are known without an include, because what they stand for depends on the machine.
    pub generators: Vec<BuiltIn>,
    /// Calls that are written in other words, with a warning.
    pub old_names: &'static [OldName],
}

/// Writes the arguments of a call, `_` in their names, in new words; or says why there are none.
pub type InNewWords = fn(&[(String, String)]) -> Result<Written, String>;

/// A call under a name of another time.
#[derive(Clone, Copy, Debug)]
pub struct OldName {
    pub context: &'static str,
    pub name: &'static str,
    pub write: InNewWords,
}

/// What is written in place of a call.
pub struct Written {
    pub text: String,
    /// What stands for it, for the warning.
    pub instead: String,
}

/// A block that the program makes. Further arguments are `__VARARGS__` in its text.
#[derive(Clone, Debug)]
pub struct BuiltIn {
    pub context: &'static str,
    pub name: &'static str,
    /// Arguments that are empty when they are not given.
    pub params: &'static [&'static str],
    pub text: String,
}

impl Library {
    /// The text of a file of the library. The other library's file is found by its folder alone: each folder
    /// holds one subject, which stands here in one file.
    pub fn text(&self, path: &Path) -> Option<&'static str> {
        let named = |wanted: &str| self.files.iter().find(|(have, _)| *have == wanted).map(|(_, text)| *text);
        let folders = std::iter::once(&self.folder).chain(&self.stands_for);
        let name = folders.into_iter().find_map(|folder| path.strip_prefix(folder).ok())?.to_str()?;
        named(name).or_else(|| {
            let (subject, file) = name.strip_prefix("scl/")?.split_once('/')?;
            let ours =
                self.aliases.iter().find(|(theirs, _)| *theirs == subject).map_or(subject, |(_, ours)| ours);
            if !file.ends_with(".conf") || file.contains('/') {
                return None;
            }
            named(&format!("scl/{ours}/{ours}.conf"))
        })
    }
}

/// Bounds against runaway and hostile input; a bound that is met is an error in the configuration.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Includes and block expansions inside each other.
    pub include_depth: usize,
    /// Bytes of one file.
    pub file_bytes: usize,
    /// Files read by one configuration.
    pub files: usize,
    /// Bytes of all block expansions and confgen outputs together.
    pub expanded_bytes: usize,
    /// Bytes that backticks give, over all texts.
    pub substituted_bytes: usize,
    /// Braces and parentheses inside each other.
    pub nesting: usize,
    /// How long one confgen command may run.
    pub command_time: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            include_depth: 100,
            file_bytes: 64 << 20,
            files: 20_000,
            expanded_bytes: 64 << 20,
            substituted_bytes: 64 << 20,
            nesting: 100,
            command_time: Duration::from_secs(60),
        }
    }
}

impl Default for ParseOptions {
    fn default() -> ParseOptions {
        ParseOptions {
            include_path: Vec::new(),
            library: None,
            globals: BTreeMap::new(),
            env: Some(|name| std::env::var(name).ok()),
            secret: None,
            read_files: true,
            run_commands: false,
            scripts: None,
            modules: None,
            newest_version: Version::new(4, 26),
            compat_version: Version::new(4, 2),
            limits: Limits::default(),
        }
    }
}
