//! The workspace as cargo sees it: its crates, what they use, the licences of all that is linked.

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// One crate of the workspace.
#[derive(Debug)]
pub struct Member {
    pub name: String,
    /// Names of the crates it uses, tests and build scripts left out.
    pub uses: Vec<String>,
    /// Names of the crates only its tests use.
    pub tests_use: Vec<String>,
}

/// What `cargo metadata` says, and where the checkout is.
#[derive(Debug)]
pub struct Workspace {
    pub root: PathBuf,
    pub members: BTreeMap<String, Member>,
    /// (name and version, licence expression) of every foreign crate in the dependency graph.
    pub foreign: Vec<(String, Option<String>)>,
}

impl Workspace {
    /// Asks cargo. Fails with cargo's own words.
    pub fn load() -> Result<Workspace, String> {
        let root =
            Path::new(env!("CARGO_MANIFEST_DIR")).parent().ok_or("xtask has no parent folder")?.to_owned();
        let host = run(&root, "rustc", &["-vV"])?;
        let host =
            host.lines().find_map(|l| l.strip_prefix("host: ")).ok_or("rustc names no host")?.to_owned();
        let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
        let text = run(&root, &cargo, &["metadata", "--format-version=1", "--filter-platform", &host])?;
        let json: Value = serde_json::from_str(&text).map_err(|e| format!("cargo metadata: {e}"))?;
        Ok(Workspace::from_metadata(root, &json))
    }

    fn from_metadata(root: PathBuf, json: &Value) -> Workspace {
        let ids: Vec<&str> = list(&json["workspace_members"]).filter_map(Value::as_str).collect();
        let mut members = BTreeMap::new();
        let mut foreign = Vec::new();
        let linked: Vec<&str> = list(&json["resolve"]["nodes"]).map(|n| text(&n["id"])).collect();
        for package in list(&json["packages"]) {
            let name = text(&package["name"]).to_owned();
            let id = text(&package["id"]);
            if ids.contains(&id) {
                let (mut uses, mut tests_use) = (Vec::new(), Vec::new());
                for dependency in list(&package["dependencies"]) {
                    let list = if dependency["kind"] == "dev" { &mut tests_use } else { &mut uses };
                    list.push(text(&dependency["name"]).to_owned());
                }
                members.insert(name.clone(), Member { name, uses, tests_use });
            } else if linked.contains(&id) {
                let version = text(&package["version"]);
                foreign.push((format!("{name} {version}"), package["license"].as_str().map(str::to_owned)));
            }
        }
        Workspace { root, members, foreign }
    }

    /// The text of a file of the checkout.
    pub fn read(&self, path: &str) -> Result<String, String> {
        std::fs::read_to_string(self.root.join(path)).map_err(|e| format!("{path}: {e}"))
    }
}

/// What a program prints. Fails with its own words.
pub fn run(folder: &Path, program: &str, args: &[&str]) -> Result<String, String> {
    let output = Command::new(program)
        .args(args)
        .current_dir(folder)
        .output()
        .map_err(|e| format!("{program}: {e}"))?;
    if !output.status.success() {
        return Err(format!("{program}: {}", String::from_utf8_lossy(&output.stderr)));
    }
    String::from_utf8(output.stdout).map_err(|e| format!("{program}: {e}"))
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
