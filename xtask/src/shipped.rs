//! What goes into the packages of the program: the list of its parts in CycloneDX's form, and the licences of
//! all foreign crates that are linked.

use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::workspace::{Workspace, run};

/// Libraries in C that crates bring without their licence as a file: it is the comment that begins a source.
const IN_SOURCES: [(&str, &str); 2] = [
    ("pcre2-sys", "upstream/src/pcre2_compile.c"),
    ("pcre2-sys", "upstream/deps/sljit/sljit_src/sljitLir.c"),
];

/// What the licence of MIT grants, for crates that say no more than its name.
const MIT: &str = "Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the \"Software\"), to deal in the Software without restriction, including without limitation the
rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED \"AS IS\", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.";

/// One foreign crate in the program.
#[derive(Debug, PartialEq, Eq)]
struct Crate {
    name: String,
    version: String,
    /// An SPDX expression; empty where the crate has none.
    licence: String,
}

/// The software bill of materials of the program, CycloneDX 1.5 as JSON.
pub fn sbom(workspace: &Workspace) -> Result<String, String> {
    let sums = checksums(&workspace.read("Cargo.lock")?);
    let Linked { crates, uses } = linked(workspace)?;
    let components: Vec<Value> = crates
        .iter()
        .map(|one| {
            let purl = one.purl();
            let mut component = json!({
                "type": "library", "name": one.name, "version": one.version, "purl": purl, "bom-ref": purl,
                "licenses": [{ "expression": one.licence.replace('/', " OR ") }],
            });
            if let Some(sum) = sums.get(&(one.name.clone(), one.version.clone())) {
                component["hashes"] = json!([{ "alg": "SHA-256", "content": sum }]);
            }
            component
        })
        .collect();
    let version = env!("CARGO_PKG_VERSION");
    let program = format!("penstock@{version}");
    let entry = |one: &str, uses: &BTreeSet<String>| json!({ "ref": one, "dependsOn": uses });
    let none = BTreeSet::new();
    let dependencies: Vec<Value> = std::iter::once(entry(&program, uses.get(PROGRAM).unwrap_or(&none)))
        .chain(crates.iter().map(Crate::purl).map(|purl| entry(&purl, uses.get(&purl).unwrap_or(&none))))
        .collect();
    let bom = json!({
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
        "metadata": { "component": {
            "type": "application", "name": "penstock", "version": version, "bom-ref": program,
            "licenses": [{ "expression": "Apache-2.0" }],
        } },
        "components": components,
        "dependencies": dependencies,
    });
    Ok(format!("{bom:#}\n"))
}

/// Name, version and licence of each foreign crate in the program, then every different licence text once,
/// with the crates that it came with.
pub fn notices(workspace: &Workspace) -> Result<String, String> {
    let crates = linked(workspace)?.crates;
    let known = packages(workspace)?;
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut notices = String::from("penstock contains these crates, under these licences:\n\n");
    for one in &crates {
        let id = format!("{} {}", one.name, one.version);
        notices.push_str(&format!("  {id}: {}\n", one.licence));
        let package = known.get(&id).ok_or_else(|| format!("{id} has no folder"))?;
        let mut own = Vec::new();
        for file in licence_files(&package.folder) {
            let text = std::fs::read(&file).map_err(|e| format!("{}: {e}", file.display()))?;
            own.push(String::from_utf8_lossy(&text).replace("\r\n", "\n").trim().to_owned());
        }
        // A link to the file of a whole repository, which is not in the crate.
        own.retain(|text| !(text.starts_with("../") && text.lines().count() == 1));
        if own.is_empty() {
            own.push(text_of_name(workspace, one, package)?);
        }
        for (_, source) in IN_SOURCES.iter().filter(|(name, _)| *name == one.name) {
            let path = package.folder.join(source);
            let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
            own.push(comments(&text));
        }
        for text in own {
            texts.entry(text).or_default().push(id.clone());
        }
    }
    for (text, ids) in texts {
        notices.push_str(&format!("\n{}\n{}\n\n{text}\n", "-".repeat(80), ids.join(", ")));
    }
    Ok(notices)
}

impl Crate {
    fn purl(&self) -> String {
        format!("pkg:cargo/{}@{}", self.name, self.version)
    }
}

/// What stands for the program and its own crates where it is said who uses whom.
const PROGRAM: &str = "";

struct Linked {
    /// By name.
    crates: Vec<Crate>,
    /// Whom each uses, by purl.
    uses: BTreeMap<String, BTreeSet<String>>,
}

/// The foreign crates in the program, those of build scripts and tests left out.
fn linked(workspace: &Workspace) -> Result<Linked, String> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let args = [
        "tree",
        "--locked",
        "--package",
        "penstock",
        "--edges",
        "normal",
        "--prefix",
        "depth",
        "--format",
        "{p}|{l}",
    ];
    let tree = run(&workspace.root, &cargo, &args)?;
    Ok(listed(&tree, |name| workspace.members.contains_key(name)))
}

/// Lines such as `2regex v1.13.0|MIT OR Apache-2.0 (*)`: a number says how deep it stands in the tree.
fn listed(tree: &str, is_own: impl Fn(&str) -> bool) -> Linked {
    let mut linked = Linked { crates: Vec::new(), uses: BTreeMap::new() };
    let mut above: Vec<String> = Vec::new();
    let parts = tree.lines().filter_map(|line| {
        let name_at = line.find(|c: char| !c.is_ascii_digit())?;
        let (depth, line) = (line.get(..name_at)?.parse::<usize>().ok()?, line.get(name_at..)?);
        let (package, licence) = line.split_once('|')?;
        let (name, rest) = package.split_once(" v")?;
        let version = rest.split(' ').next().unwrap_or_default();
        let licence = licence.trim_end_matches(" (*)");
        let one = Crate { name: name.to_owned(), version: version.to_owned(), licence: licence.to_owned() };
        Some((depth, one))
    });
    for (depth, one) in parts {
        let is_foreign = !is_own(&one.name);
        let id = if is_foreign { one.purl() } else { PROGRAM.to_owned() };
        above.truncate(depth);
        if let Some(user) = above.last().filter(|_| is_foreign) {
            linked.uses.entry(user.clone()).or_default().insert(id.clone());
        }
        above.push(id);
        linked.crates.extend(Some(one).filter(|_| is_foreign));
    }
    linked.crates.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
    linked.crates.dedup();
    linked
}

/// Of each package in a lock file that has one.
fn checksums(lock: &str) -> BTreeMap<(String, String), String> {
    let mut sums = BTreeMap::new();
    for package in lock.split("[[package]]") {
        let value = |name: &str| {
            let line = package.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(" = \""));
            line.and_then(|rest| rest.strip_suffix('"')).map(str::to_owned)
        };
        if let (Some(name), Some(version), Some(sum)) = (value("name"), value("version"), value("checksum")) {
            sums.insert((name, version), sum);
        }
    }
    sums
}

/// What Cargo knows of a crate.
struct Package {
    folder: PathBuf,
    authors: String,
}

/// Where the sources of each crate lie and who wrote it, by `name version`.
fn packages(workspace: &Workspace) -> Result<BTreeMap<String, Package>, String> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let text = run(&workspace.root, &cargo, &["metadata", "--locked", "--format-version=1"])?;
    let metadata: Value = serde_json::from_str(&text).map_err(|e| format!("cargo metadata: {e}"))?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let packages = packages.filter_map(|package| {
        let folder = Path::new(package["manifest_path"].as_str()?).parent()?.to_owned();
        let authors: Vec<&str> = package["authors"].as_array()?.iter().filter_map(Value::as_str).collect();
        let authors = match authors[..] {
            [] => format!("the authors of {}", package["name"].as_str()?),
            _ => authors.join(", "),
        };
        let id = format!("{} {}", package["name"].as_str()?, package["version"].as_str()?);
        Some((id, Package { folder, authors }))
    });
    Ok(packages.collect())
}

/// The text of a licence of which a crate has the name alone.
fn text_of_name(workspace: &Workspace, one: &Crate, package: &Package) -> Result<String, String> {
    let has = |name| one.licence.split([' ', '/', '(', ')']).any(|word| word == name);
    if has("Apache-2.0") {
        return Ok(workspace.read("LICENSE")?.trim().to_owned());
    }
    if has("MIT") {
        return Ok(format!("Copyright (c) {}\n\n{MIT}", package.authors));
    }
    Err(format!("{} {} has no text of its licence, {}", one.name, one.version, one.licence))
}

/// The comments that begin a source in C, up to the first directive.
fn comments(source: &str) -> String {
    source.split("\n#").next().unwrap_or_default().trim().to_owned()
}

/// Files of a crate that are licences by their names, in order; also those of what it has copied from others.
fn licence_files(folder: &Path) -> Vec<PathBuf> {
    const NAMES: [&str; 4] = ["licen", "copying", "notice", "unlicense"];
    const SOURCES: [&str; 4] = ["rs", "c", "h", "py"];
    let (mut files, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().to_lowercase());
            let is_source = path.extension().is_some_and(|end| SOURCES.iter().any(|source| end == *source));
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(path);
            } else if !is_source && NAMES.iter().any(|start| name.starts_with(start)) {
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

    #[test]
    fn crates_of_a_tree() {
        let tree = "0penstock v0.1.0 (/src/penstock)|Apache-2.0\n1filter v0.1.0 (/src/filter)|Apache-2.0\n\
                    2regex v1.13.0|MIT OR Apache-2.0\n3memchr v2.0.0|MIT\n1memchr v2.0.0|MIT\n\
                    1regex v1.13.0|MIT OR Apache-2.0 (*)\n\n";
        let linked = listed(tree, |name| ["penstock", "filter"].contains(&name));
        let names: Vec<String> =
            linked.crates.iter().map(|c| format!("{} {} {}", c.name, c.version, c.licence)).collect();
        assert_eq!(names, ["memchr 2.0.0 MIT", "regex 1.13.0 MIT OR Apache-2.0"]);
        let (memchr, regex) = ("pkg:cargo/memchr@2.0.0", "pkg:cargo/regex@1.13.0");
        let uses = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<BTreeSet<_>>();
        let expected = [(PROGRAM.to_owned(), uses(&[memchr, regex])), (regex.to_owned(), uses(&[memchr]))];
        assert_eq!(linked.uses, BTreeMap::from(expected));
    }

    #[test]
    fn checksums_of_a_lock_file() {
        let lock = "[[package]]\nname = \"a\"\nversion = \"1.0.0\"\nchecksum = \"ff\"\n\n[[package]]\nname = \"b\"\nversion = \"0.1.0\"\n";
        let expected = BTreeMap::from([(("a".to_owned(), "1.0.0".to_owned()), "ff".to_owned())]);
        assert_eq!(checksums(lock), expected);
    }

    #[test]
    fn every_crate_of_the_program_has_licence_and_checksum() {
        let workspace = Workspace::load().expect("cargo metadata");
        let text = sbom(&workspace).expect("a bill of materials");
        let bom: Value = serde_json::from_str(&text).expect("JSON");
        let components = bom["components"].as_array().expect("components");
        assert!(components.iter().any(|c| c["name"] == "rustls"), "rustls is linked");
        for component in components {
            let licence = component["licenses"][0]["expression"].as_str().unwrap_or_default();
            assert!(!licence.is_empty(), "{component}");
            assert_eq!(component["hashes"][0]["content"].as_str().map(str::len), Some(64), "{component}");
        }
        // Each is reached from the program.
        let dependencies = bom["dependencies"].as_array().expect("dependencies");
        let reached: BTreeSet<&str> = dependencies
            .iter()
            .flat_map(|one| one["dependsOn"].as_array())
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let refs: BTreeSet<&str> = components.iter().filter_map(|one| one["bom-ref"].as_str()).collect();
        assert_eq!(reached, refs);
        assert_eq!(dependencies.len(), components.len() + 1);
        let notices = notices(&workspace).expect("notices");
        let named: BTreeSet<&str> = notices
            .split(&"-".repeat(80))
            .skip(1)
            .flat_map(|part| part.trim_start().lines().next().unwrap_or_default().split(", "))
            .collect();
        for component in components {
            let id =
                format!("{} {}", component["name"].as_str().unwrap(), component["version"].as_str().unwrap());
            assert!(named.contains(id.as_str()), "{id} has no text");
        }
        assert!(!notices.contains("\n../LICENSE"), "the place of a text is none");
        assert!(notices.contains("Permission is hereby granted"), "the texts are there");
        // Of what crates have copied from others.
        for name in ["University of Cambridge", "Zoltan Herczeg", "Meta Platforms", "UNICODE LICENSE"] {
            assert!(notices.to_lowercase().contains(&name.to_lowercase()), "{name}");
        }
    }
}
