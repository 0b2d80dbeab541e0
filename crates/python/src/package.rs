//! The package `syslogng` as files: for editors and type checkers, and for `python3 -m syslogng.check`. The
//! program itself needs none of them.

use crate::sources::PACKAGE;
use std::io;
use std::path::{Path, PathBuf};

const CHECK: &str = include_str!("../syslogng/check.py");
const TYPES: &str = include_str!("../syslogng/package.pyi");
/// Parts that only a process of the program can use.
const WITHOUT: &[&str] = &["syslogng._serve"];

/// Writes the package into a folder in which Python looks for modules; where it is then.
pub fn write_package(folder: &Path) -> io::Result<PathBuf> {
    let package = folder.join("syslogng");
    std::fs::create_dir_all(&package)?;
    for (name, source) in PACKAGE.iter().filter(|(name, _)| !WITHOUT.contains(name)) {
        match name.split_once('.') {
            Some((_, part)) => std::fs::write(package.join(format!("{part}.py")), source)?,
            None => {
                let whole = format!("{source}\nfrom syslogng import _exports as _exports\n");
                std::fs::write(package.join("__init__.py"), whole)?;
            }
        }
    }
    std::fs::write(package.join("check.py"), CHECK)?;
    std::fs::write(package.join("__init__.pyi"), TYPES)?;
    std::fs::write(package.join("py.typed"), "")?;
    Ok(package)
}
