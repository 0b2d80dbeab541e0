//! Which files of cases are meant, and which configuration each is about.

use super::read::CaseFile;
use super::yaml;
use control::cli::TestArgs;
use std::path::{Path, PathBuf};
use stdio::CommandError;

/// What the name of a file of cases ends with.
const ENDING: &str = ".test.toml";
/// Folders inside of one another that are looked into.
const DEPTH_MAX: usize = 16;

/// Files of cases about one configuration.
pub struct Cases {
    pub config: PathBuf,
    pub files: Vec<Read>,
}

pub struct Read {
    pub path: PathBuf,
    pub file: CaseFile,
    pub text: String,
}

/// All that is meant by the command line, by configuration, in the order in which they were found.
pub fn suites(args: &TestArgs) -> Result<Vec<Cases>, CommandError> {
    let mut paths = Vec::new();
    for path in &args.paths {
        match path.is_dir() {
            true => walk(path, 0, &mut paths)?,
            false => paths.push(path.clone()),
        }
    }
    if paths.is_empty() {
        return Err(CommandError::usage(format!("there is no file of cases: none is named *{ENDING}")));
    }
    let mut found: Vec<Cases> = Vec::new();
    for path in paths {
        let (file, text) = CaseFile::read(&path)?;
        let config = config_of(&path, &file, args)?;
        let read = Read { path, file, text };
        match found.iter_mut().find(|found| found.config == config) {
            Some(found) => found.files.push(read),
            None => found.push(Cases { config, files: vec![read] }),
        }
    }
    Ok(found)
}

fn config_of(path: &Path, file: &CaseFile, args: &TestArgs) -> Result<PathBuf, CommandError> {
    if let Some(config) = &args.config {
        return Ok(config.clone());
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    if let Some(config) = &file.config {
        return Ok(folder.join(config));
    }
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    match endings().find_map(|ending| name.strip_suffix(ending)) {
        Some(stem) => Ok(folder.join(format!("{stem}.conf"))),
        None => Err(format!(
            "{}: which configuration is it about? Say `config = \"FILE\"` in it, or name it CONFIGURATION{ENDING}",
            path.display()
        ).into()),
    }
}

/// TOML first.
fn endings() -> impl Iterator<Item = &'static str> {
    std::iter::once(ENDING).chain(yaml::ENDINGS)
}

fn walk(folder: &Path, depth: usize, into: &mut Vec<PathBuf>) -> Result<(), CommandError> {
    if depth > DEPTH_MAX {
        return Ok(());
    }
    let entries = std::fs::read_dir(folder)
        .map_err(|error| CommandError::usage(format!("cannot read {}: {error}", folder.display())))?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    for path in paths {
        let is_hidden =
            path.file_name().and_then(|name| name.to_str()).is_none_or(|name| name.starts_with('.'));
        if path.is_symlink() || is_hidden {
            continue;
        }
        if path.is_dir() {
            walk(&path, depth + 1, into)?;
        } else if path.to_str().is_some_and(|path| endings().any(|ending| path.ends_with(ending))) {
            into.push(path);
        }
    }
    Ok(())
}
