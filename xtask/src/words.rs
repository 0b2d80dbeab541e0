//! One word for one thing: types that are called by a word which says too little are not to become more.

use crate::workspace::Workspace;
use std::path::PathBuf;

/// Words that say too little for a type, and how many types may be called so. Whoever renames one lowers its
/// number.
const WORDS: [(&str, usize); 15] = [
    ("Data", 1),
    ("Facts", 1),
    ("Fault", 4),
    ("Found", 15),
    ("Given", 1),
    ("Helper", 0),
    ("Info", 0),
    ("Item", 5),
    ("Kept", 6),
    ("Manager", 0),
    ("Place", 6),
    ("Program", 1),
    ("Room", 3),
    ("Seat", 0),
    ("Thing", 0),
];
/// How the definition of a type begins.
const DEFINITIONS: [&str; 4] = ["struct ", "enum ", "trait ", "type "];

/// What is wrong; empty when nothing is.
pub fn faults(workspace: &Workspace) -> Vec<String> {
    let mut found: [Vec<String>; WORDS.len()] = Default::default();
    for file in rust_files(&workspace.root.join("crates")) {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let shown = file.strip_prefix(&workspace.root).unwrap_or(&file).display().to_string();
        for name in text.lines().filter_map(defined) {
            if let Some(at) = WORDS.iter().position(|(word, _)| *word == name) {
                found[at].push(shown.clone());
            }
        }
    }
    let too_many = WORDS.iter().zip(&found).filter(|((_, most), files)| files.len() > *most);
    let said = too_many.map(|((word, most), files)| {
        let (count, files) = (files.len(), files.join(", "));
        format!("{count} types are called {word}, at most {most}; say what it is: {files}")
    });
    said.collect()
}

/// The type whose definition a line begins. An indented `type` belongs to a trait, whose word it is.
fn defined(line: &str) -> Option<&str> {
    if line.starts_with(' ') && line.trim_start().starts_with("type ") {
        return None;
    }
    let line = line.trim_start();
    let line = match line.strip_prefix("pub") {
        Some(rest) => {
            rest.strip_prefix('(').and_then(|rest| rest.split_once(')')).map_or(rest, |(_, rest)| rest)
        }
        None => line,
    };
    let rest = DEFINITIONS.iter().find_map(|kind| line.trim_start().strip_prefix(kind))?;
    rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()
}

fn rust_files(folder: &std::path::Path) -> Vec<PathBuf> {
    let (mut files, mut folders) = (Vec::new(), vec![folder.to_path_buf()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.path() {
                path if path.is_dir() => folders.push(path),
                path if path.extension().is_some_and(|end| end == "rs") => files.push(path),
                _ => {}
            }
        }
    }
    files.sort();
    files
}

#[cfg(test)]
mod tests {
    use super::defined;

    #[test]
    fn definitions() {
        assert_eq!(defined("pub struct Place<'a> {"), Some("Place"));
        assert_eq!(defined("    pub(super) struct Place(u32);"), Some("Place"));
        assert_eq!(defined("enum Found {"), Some("Found"));
        assert_eq!(defined("let place = Place { a };"), None);
        assert_eq!(defined("/// struct Place"), None);
    }
}
