//! Drivers are leaves: a module of a source or destination names no other one, and each stands in the list of
//! its kind.

use crate::workspace::Workspace;
use std::path::Path;

/// The folders of drivers, each beside a file with their list.
const KINDS: [&str; 2] = ["sources", "destinations"];

/// What is wrong; empty when nothing is.
pub fn faults(workspace: &Workspace) -> Vec<String> {
    let crate_root = workspace.root.join("crates/drivers/src");
    let mut faults = Vec::new();
    for kind in KINDS {
        let list = std::fs::read_to_string(crate_root.join(format!("{kind}.rs"))).unwrap_or_default();
        for name in drivers(&crate_root.join(kind)) {
            if !list.contains(&format!("{name}::PARTS")) {
                faults.push(format!("crates/drivers/src/{kind}.rs does not list {name}::PARTS"));
            }
        }
    }
    for file in rust_files(&crate_root) {
        let module = module_of(file.strip_prefix(&crate_root).unwrap_or(&file));
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        for other in foreign(&module, &text) {
            faults.push(format!("{}: a driver names another one, {other}", file.display()));
        }
    }
    faults
}

/// The drivers of a folder: its files and folders with code.
fn drivers(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| Some(entry.path().file_stem()?.to_str()?.to_owned()));
    let mut names: Vec<String> = names.filter(|name| name != "tests").collect();
    names.sort();
    names.dedup();
    names
}

fn rust_files(folder: &Path) -> Vec<std::path::PathBuf> {
    let (mut files, mut folders) = (Vec::new(), vec![folder.to_path_buf()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.path() {
                path if path.is_dir() => folders.push(path),
                path if path.extension().is_some_and(|e| e == "rs") => files.push(path),
                _ => {}
            }
        }
    }
    files.sort();
    files
}

/// `sources/relp/port.rs` is `["sources", "relp", "port"]`.
fn module_of(path: &Path) -> Vec<String> {
    let parts = path.with_extension("");
    parts.iter().map(|part| part.to_string_lossy().into_owned()).collect()
}

/// The drivers that a module of a driver names and does not belong to.
fn foreign(module: &[String], text: &str) -> Vec<String> {
    let [kind, own, ..] = module else { return Vec::new() };
    if !KINDS.contains(&kind.as_str()) || own == "tests" {
        return Vec::new();
    }
    let mut found = Vec::new();
    let code =
        text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n");
    for path in paths(&code) {
        let absolute = resolve(module, &path);
        match absolute.as_slice() {
            [other, driver, ..] if KINDS.contains(&other.as_str()) && (other, driver) != (kind, own) => {
                found.push(absolute.join("::"));
            }
            _ => {}
        }
    }
    found
}

/// Every path that begins with `crate` or `super`, with what stands in braces behind it taken apart.
fn paths(code: &str) -> Vec<Vec<String>> {
    let mut paths = Vec::new();
    for keyword in ["crate::", "super::"] {
        for (at, _) in code.match_indices(keyword) {
            let before = code[..at].chars().next_back();
            if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':') {
                continue;
            }
            expand(&code[at..], &[], &mut paths);
        }
    }
    paths
}

/// `a::{b, c::d}` is two paths.
fn expand(text: &str, begun: &[String], paths: &mut Vec<Vec<String>>) {
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')).unwrap_or(text.len());
    let mut path = begun.to_vec();
    path.extend(text[..end].split("::").filter(|part| !part.is_empty()).map(str::to_owned));
    let rest = &text[end..];
    if !(text[..end].ends_with("::") && rest.starts_with('{')) {
        paths.push(path);
        return;
    }
    let (mut depth, mut start) = (0, 1);
    for (at, c) in rest.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        let ends = (c == ',' && depth == 1) || (c == '}' && depth == 0);
        if ends {
            let one = rest[start..at].trim();
            if !one.is_empty() {
                expand(one, &path, paths);
            }
            start = at + 1;
        }
        if depth == 0 {
            return;
        }
    }
}

/// From the root of the crate.
fn resolve(module: &[String], path: &[String]) -> Vec<String> {
    let ups = path.iter().take_while(|part| *part == "super").count();
    let (base, rest) = match path.first().map(String::as_str) {
        Some("crate") => (&module[..0], &path[1..]),
        _ => (&module[..module.len().saturating_sub(ups)], &path[ups..]),
    };
    base.iter().chain(rest).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(module: &str, text: &str, expected: &[&str]) {
        let module: Vec<String> = module.split('/').map(str::to_owned).collect();
        assert_eq!(foreign(&module, text), expected, "{text}");
    }

    #[test]
    fn a_driver_names_only_itself() {
        check("sources/relp", "use super::network::socket_options;", &["sources::network::socket_options"]);
        check("sources/relp", "use crate::sources::relp::port::P;\nuse super::super::registry;", &[]);
        check("sources/relp/port", "use super::{answers, Run};\nuse crate::sources::relp::X;", &[]);
        check("sources/relp/port", "use super::super::file::Mode;", &["sources::file::Mode"]);
        check("destinations/relp", "use crate::{options, sources::relp::PORT};", &["sources::relp::PORT"]);
        check(
            "destinations/relp",
            "    crate::destinations::{relp::a, unix::{b, c}}",
            &["destinations::unix::b", "destinations::unix::c"],
        );
        check("destinations/relp", "// as super::unix does\nuse intake::super_thing::x;", &[]);
        check("sources/tests", "use super::relp::x;", &[]);
        check("registry", "use crate::sources::relp;", &[]);
    }
}
