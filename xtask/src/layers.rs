//! Arrows point down only: the crates' dependencies compared with the layers of `xtask/layers.toml`.

use crate::tables::{self, Table};
use crate::workspace::Workspace;
use std::collections::BTreeMap;

/// What is wrong; empty when nothing is.
pub fn faults(workspace: &Workspace) -> Vec<String> {
    match workspace.read("xtask/layers.toml").and_then(|text| tables::parse(&text)) {
        Ok(tables) => compare(workspace, &tables),
        Err(error) => vec![error],
    }
}

fn compare(workspace: &Workspace, tables: &[Table]) -> Vec<String> {
    let mut faults = Vec::new();
    let mut layer_of: BTreeMap<&str, usize> = BTreeMap::new();
    for (layer, table) in tables.iter().filter(|t| t.name == "layer").enumerate() {
        for name in table.list("crates") {
            if layer_of.insert(name, layer).is_some() {
                faults.push(format!("{name} stands in two layers"));
            }
            if !workspace.members.contains_key(name.as_str()) {
                faults.push(format!("{name} is in a layer and not in the workspace"));
            }
        }
    }
    for member in workspace.members.values() {
        let Some(&own) = layer_of.get(member.name.as_str()) else {
            faults.push(format!("{} is in no layer of xtask/layers.toml", member.name));
            continue;
        };
        // Tests may look up: only what ships has to point down.
        for used in &member.uses {
            if layer_of.get(used.as_str()).is_some_and(|&layer| layer >= own) {
                faults.push(format!("{} uses {used}, which is not in a lower layer", member.name));
            }
        }
        if member.uses.iter().any(|used| used == "testkit")
            && !["e2e", "faults", "xtask"].contains(&member.name.as_str())
        {
            faults.push(format!("{} ships testkit", member.name));
        }
    }
    for apart in tables.iter().filter(|t| t.name == "apart") {
        let name = apart.text("crate");
        let Some(member) = workspace.members.get(name) else {
            faults.push(format!("[[apart]] names {name}, which is not in the workspace"));
            continue;
        };
        for used in &member.uses {
            let ours = workspace.members.contains_key(used.as_str());
            let excepted = apart.list("but").iter().any(|but| but == used);
            if !excepted && apart.list("from").iter().any(|from| from == used || (from == "*" && ours)) {
                faults.push(format!("{name} uses {used}, but: {}", apart.text("why")));
            }
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Member;

    fn workspace(arrows: &[(&str, &[&str])]) -> Workspace {
        let members = arrows.iter().map(|(name, uses)| {
            let uses = uses.iter().map(|u| (*u).to_owned()).collect();
            ((*name).to_owned(), Member { name: (*name).to_owned(), uses, tests_use: Vec::new() })
        });
        Workspace { root: std::path::PathBuf::new(), members: members.collect(), foreign: Vec::new() }
    }

    fn check(arrows: &[(&str, &[&str])], expected: &[&str]) {
        let list = "[[layer]]\ncrates = [\"low\", \"low2\"]\n[[layer]]\ncrates = [\"high\"]\n\
                    [[apart]]\ncrate = \"high\"\nfrom = [\"mio\"]\nwhy = \"because\"\n";
        assert_eq!(compare(&workspace(arrows), &tables::parse(list).unwrap()), expected);
    }

    #[test]
    fn only_downwards() {
        check(&[("low", &["memchr"]), ("low2", &[]), ("high", &["low", "low2"])], &[]);
        check(
            &[("low", &["high"]), ("low2", &["low"]), ("high", &["mio"])],
            &[
                "low uses high, which is not in a lower layer",
                "low2 uses low, which is not in a lower layer",
                "high uses mio, but: because",
            ],
        );
        check(
            &[("low", &[]), ("high", &[]), ("new", &[])],
            &["low2 is in a layer and not in the workspace", "new is in no layer of xtask/layers.toml"],
        );
    }
}
