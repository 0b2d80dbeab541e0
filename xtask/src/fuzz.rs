//! The fuzz targets are a workspace of their own, which no other test builds: here it is held together with
//! the rest. Its lock file knows the crates as they are, and each target is listed under its name with its
//! seeds.

use crate::workspace::Workspace;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

const MANIFEST: &str = "fuzz/Cargo.toml";

/// What is wrong; empty when nothing is.
pub fn faults(workspace: &Workspace) -> Vec<String> {
    let manifest = match workspace.read(MANIFEST) {
        Ok(manifest) => manifest,
        Err(error) => return vec![error],
    };
    let mut faults = lock(&workspace.root).err().into_iter().collect::<Vec<_>>();
    let folder = workspace.root.join("fuzz");
    match names(&folder.join("targets"), ".rs") {
        Ok(targets) => faults.extend(unlisted(&manifest, &targets)),
        Err(error) => faults.push(error),
    }
    match names(&folder.join("seeds"), "") {
        Ok(seeds) => faults.extend(
            seeds
                .iter()
                .filter(|name| !lists(&manifest, name))
                .map(|name| format!("fuzz/seeds/{name}: there is no target of this name")),
        ),
        Err(error) => faults.push(error),
    }
    faults
}

/// Whether cargo would change the lock file. Only a machine that has never built the targets has to ask the
/// registry for that.
fn lock(root: &Path) -> Result<(), String> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let metadata = ["metadata", "--format-version=1", "--locked", "--manifest-path", MANIFEST];
    let mut said = String::new();
    for more in [&["--offline"][..], &[]] {
        let output = Command::new(&cargo).args(metadata).args(more).current_dir(root).output();
        let output = output.map_err(|error| format!("{cargo}: {error}"))?;
        if output.status.success() {
            return Ok(());
        }
        said = String::from_utf8_lossy(&output.stderr).into_owned();
    }
    Err(format!("fuzz/Cargo.lock: `cd fuzz && cargo metadata` brings it into step: {said}"))
}

/// Targets that the manifest does not list, and the other way round.
fn unlisted(manifest: &str, targets: &BTreeSet<String>) -> Vec<String> {
    let mut faults: Vec<String> = targets
        .iter()
        .filter(|name| !lists(manifest, name))
        .map(|name| format!("fuzz/targets/{name}.rs: {MANIFEST} does not list it with its feature"))
        .collect();
    let listed =
        manifest.lines().filter_map(|line| line.strip_prefix("path = \"targets/")?.strip_suffix(".rs\""));
    let missing = listed.filter(|name| !targets.contains(*name));
    faults.extend(missing.map(|name| format!("{MANIFEST}: there is no fuzz/targets/{name}.rs")));
    faults
}

/// A `[[bin]]` of this name, from the file of this name, that needs the feature of this name: `fuzz/run`
/// counts on all three.
fn lists(manifest: &str, name: &str) -> bool {
    let wanted = [
        format!("name = \"{name}\""),
        format!("path = \"targets/{name}.rs\""),
        format!("required-features = [\"{name}\"]"),
    ];
    let has = |entry: &str| wanted.iter().all(|line| entry.lines().any(|l| l == line));
    manifest.split("[[bin]]").skip(1).any(has) && manifest.contains(&format!("\n{name} = ["))
}

/// Names in a folder that end so, without the end; a target may have a folder of its own beside it.
fn names(folder: &Path, end: &str) -> Result<BTreeSet<String>, String> {
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    Ok(names.filter_map(|name| Some(name.strip_suffix(end)?.to_owned())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str = "[features]\na = []\nb = []\n\n[[bin]]\nname = \"a\"\npath = \"targets/a.rs\"\nrequired-features = [\"a\"]\n";

    #[test]
    fn targets_are_listed_with_name_file_and_feature() {
        let targets = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
        assert_eq!(unlisted(MANIFEST, &targets(&["a"])), Vec::<String>::new());
        assert_eq!(unlisted(MANIFEST, &targets(&["a", "b"])).len(), 1);
        assert_eq!(unlisted(MANIFEST, &targets(&[])).len(), 1);
        assert_eq!(unlisted(&MANIFEST.replace("[\"a\"]", "[\"b\"]"), &targets(&["a"])).len(), 1);
    }
}
