//! Every foreign crate has its reason: the root Cargo.toml compared with the table of docs/dependencies.md.

use crate::tables;
use crate::workspace::Workspace;

/// Words a reason has at least; "needed" is none.
const REASON_WORDS_MIN: usize = 4;

/// What is wrong; empty when nothing is.
pub fn faults(workspace: &Workspace) -> Vec<String> {
    let both = workspace.read("Cargo.toml").and_then(|c| Ok((c, workspace.read("docs/dependencies.md")?)));
    match both {
        Ok((cargo, docs)) => compare(&declared(&cargo), &docs),
        Err(error) => vec![error],
    }
}

/// Names in `[workspace.dependencies]` that are not crates of the workspace.
fn declared(cargo: &str) -> Vec<String> {
    let section: String = cargo
        .lines()
        .skip_while(|l| *l != "[workspace.dependencies]")
        .skip(1)
        .take_while(|l| !l.starts_with('['))
        .fold(String::new(), |mut text, line| {
            if !line.contains("path =") {
                text.push_str(line);
                text.push('\n');
            }
            text
        });
    let tables = tables::parse(&section).unwrap_or_default();
    tables.into_iter().flat_map(|t| t.values.into_keys()).collect()
}

fn compare(declared: &[String], docs: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let rows: Vec<(&str, &str)> = docs.lines().filter_map(row).collect();
    for name in declared {
        match rows.iter().find(|(n, _)| n == name) {
            None => faults.push(format!("{name}: no line with its reason in docs/dependencies.md")),
            Some((_, reason)) if reason.split_whitespace().count() < REASON_WORDS_MIN => {
                faults.push(format!("{name}: `{reason}` is no reason"));
            }
            Some(_) => {}
        }
    }
    for (name, _) in rows {
        if !declared.iter().any(|d| d == name) {
            faults.push(format!("{name}: in docs/dependencies.md and not in Cargo.toml"));
        }
    }
    faults
}

/// `| `name` | reason |` as (name, reason).
fn row(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.strip_prefix("| `")?.split_once('`')?;
    Some((name, rest.trim_matches(['|', ' '])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_a_reason() {
        let cargo = "[workspace.dependencies]\nours = { path = \"crates/ours\" }\n\nmio = { version = \"1\", features = [\"net\"] }\n\
                     libc = \"0.2\"\n[profile.dev]\nopt-level = 1\n";
        let declared = declared(cargo);
        assert_eq!(declared, ["libc", "mio"]);
        let docs = "| crate | why |\n|---|---|\n| `mio` | readiness loop of the workers |\n| `libc` | needed |\n| `old` | was used by something once |\n";
        assert_eq!(
            compare(&declared, docs),
            ["libc: `needed` is no reason", "old: in docs/dependencies.md and not in Cargo.toml"]
        );
        assert_eq!(compare(&declared[..1], ""), ["libc: no line with its reason in docs/dependencies.md"]);
    }
}
