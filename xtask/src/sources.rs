//! The form of source files: their length, their first line, their names.

use crate::tables;
use crate::workspace::Workspace;
use std::path::{Path, PathBuf};

/// Lines before the tests a file may have without a reason in `xtask/large-files.toml`.
pub const LINES_WITHOUT_REASON_MAX: usize = 400;
/// Lines before the tests no file may have.
pub const LINES_MAX: usize = 800;
/// Columns of a line that is a comment.
pub const COMMENT_COLUMNS_MAX: usize = 110;
/// The crates of which the program is made that print for commands.
const PRINTING: [&str; 4] =
    ["crates/penstock/src", "crates/control/src", "crates/loggen/src", "crates/bench/src"];
/// Names that say nothing about what a file is about.
const EMPTY_NAMES: [&str; 6] = ["utils", "util", "common", "helpers", "misc", "mod"];

/// What is wrong; empty when nothing is.
pub fn faults(workspace: &Workspace) -> Vec<String> {
    let reasons = match workspace.read("xtask/large-files.toml").and_then(|text| tables::parse(&text)) {
        Ok(tables) => tables.into_iter().flat_map(|t| t.values).collect::<Vec<_>>(),
        Err(error) => return vec![error],
    };
    let mut faults = Vec::new();
    for (path, _) in &reasons {
        if !workspace.root.join(path).is_file() {
            faults.push(format!("{path} is in xtask/large-files.toml and not in the checkout"));
        }
    }
    for file in rust_files(&workspace.root) {
        let name = file.strip_prefix(&workspace.root).unwrap_or(&file).to_string_lossy().into_owned();
        match std::fs::read_to_string(&file) {
            Ok(text) => {
                let listed =
                    reasons.iter().any(|(path, reason)| *path == name && !reason.concat().is_empty());
                faults.extend(faults_of(&name, &text, listed));
            }
            // A file that went between listing and reading is no file.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => faults.push(format!("{name}: {error}")),
        }
    }
    faults
}

fn faults_of(name: &str, text: &str, listed: bool) -> Vec<String> {
    let mut faults = Vec::new();
    let path = Path::new(name);
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    if EMPTY_NAMES.contains(&stem.as_ref()) {
        faults.push(format!("{name}: name it after what it is about"));
    }
    if !text.starts_with("//! ") && !path.ends_with("tests.rs") {
        faults.push(format!("{name}: the first line says what the file is (`//! ...`)"));
    }
    if PRINTING.iter().any(|krate| name.starts_with(krate)) && panics_when_closed(path, text) {
        faults.push(format!(
            "{name}: print with the macros of `stdio`; those of the standard library panic when nobody reads"
        ));
    }
    for (index, line) in text.lines().enumerate() {
        let columns = line.chars().count();
        if line.trim_start().starts_with("//") && columns > COMMENT_COLUMNS_MAX {
            let line = index + 1;
            faults.push(format!(
                "{name}:{line}: a comment of {columns} columns, at most {COMMENT_COLUMNS_MAX}"
            ));
        }
    }
    let lines = lines_before_tests(path, text);
    if lines > LINES_MAX {
        faults.push(format!("{name}: {lines} lines before the tests, at most {LINES_MAX}"));
    } else if lines > LINES_WITHOUT_REASON_MAX && !listed {
        faults.push(format!("{name}: {lines} lines before the tests: split it, or list it with its reason"));
    } else if lines <= LINES_WITHOUT_REASON_MAX && listed {
        faults.push(format!("{name}: needs no reason any more, take it out of xtask/large-files.toml"));
    }
    faults
}

/// Lines up to the tests module; none for files that are tests as a whole.
fn lines_before_tests(path: &Path, text: &str) -> usize {
    let in_tests = path.components().any(|c| ["tests", "benches"].iter().any(|t| c.as_os_str() == *t));
    if in_tests || path.ends_with("tests.rs") {
        return 0;
    }
    let lines: Vec<&str> = text.lines().collect();
    let tests = lines.windows(2).position(|w| w[0] == "#[cfg(test)]" && w[1].starts_with("mod "));
    tests.unwrap_or(lines.len())
}

/// Whether it prints in a way that panics when standard output or standard error is closed.
fn panics_when_closed(path: &Path, text: &str) -> bool {
    let macros = ["print", "println", "eprint", "eprintln"].map(|name| format!("{name}!("));
    let code = text.lines().take(lines_before_tests(path, text)).map(str::trim_start);
    let mut code = code.filter(|line| !line.starts_with("//"));
    code.any(|line| macros.iter().any(|name| line.contains(name)))
}

/// All `.rs` files of crates/, xtask/ and fuzz/ but for build output.
fn rust_files(root: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders: Vec<PathBuf> = ["crates", "xtask", "fuzz"].iter().map(|f| root.join(f)).collect();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let name = entry.file_name();
            if path.is_dir() {
                if name != "target" && name != "corpus" && name != "artifacts" {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|e| e == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, text: &str, listed: bool, expected: usize) {
        let faults = faults_of(name, text, listed);
        assert_eq!(faults.len(), expected, "{faults:?}");
    }

    #[test]
    fn long_files_need_a_reason() {
        let long = format!("//! it\n{}", "fn a() {}\n".repeat(400));
        check("crates/a/src/lib.rs", &long, false, 1);
        check("crates/a/src/lib.rs", &long, true, 0);
        check("crates/a/src/lib.rs", "//! it\n", true, 1);
        check("crates/a/src/lib/tests.rs", &long, false, 0);
        check("crates/a/tests/it.rs", &long, false, 0);
        let longer = format!("//! it\n{}", "fn a() {}\n".repeat(800));
        check("crates/a/src/lib.rs", &longer, true, 1);
        let tests = format!("//! it\n#[cfg(test)]\nmod tests {{\n{}}}\n", "fn a() {}\n".repeat(900));
        check("crates/a/src/lib.rs", &tests, false, 0);
    }

    #[test]
    fn comments_are_no_wider_than_a_page() {
        let comment = |columns: usize| format!("//! it\n    // {}\n", "a".repeat(columns - 7));
        check("crates/a/src/lib.rs", &comment(110), false, 0);
        check("crates/a/src/lib.rs", &comment(111), false, 1);
        check(
            "crates/a/src/lib.rs",
            &format!("//! it\nconst A: &str = \"{}\";\n", "a".repeat(120)),
            false,
            0,
        );
    }

    #[test]
    fn commands_print_without_panicking() {
        check("crates/control/src/a.rs", "//! it\nfn a() {\n    println!(\"a\");\n}\n", false, 1);
        check("crates/control/src/a.rs", "//! it\nfn a() {\n    stdio::out!(\"a\");\n}\n", false, 0);
        check(
            "crates/control/src/a.rs",
            "//! it\n#[cfg(test)]\nmod tests {\n    print!(\"a\");\n}\n",
            false,
            0,
        );
        check("crates/testkit/src/a.rs", "//! it\nfn a() {\n    println!(\"a\");\n}\n", false, 0);
    }

    #[test]
    fn first_line_and_name() {
        check("crates/a/src/frame.rs", "//! it\n", false, 0);
        check("crates/a/src/frame.rs", "use std::fs;\n", false, 1);
        check("crates/a/src/utils.rs", "//! it\n", false, 1);
        check("crates/a/src/a/mod.rs", "//! it\n", false, 1);
    }
}
