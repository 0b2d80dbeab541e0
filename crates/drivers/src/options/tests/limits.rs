//! The first table of docs/limits.md against the defaults of the option tables.

use crate::registry::CATALOGUE;
use conf_schema::{Kind, OptionSpec, Preset, Table};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Name of an option, what its default is said to be.
fn rows() -> Vec<(String, String)> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/limits.md");
    let text = std::fs::read_to_string(path).unwrap();
    let (_, part) = text.split_once("## What can be set").expect("the first part");
    let (part, _) = part.split_once("\n## ").expect("another part");
    let cells = part.lines().filter_map(|line| {
        let mut cells = line.strip_prefix("| `")?.split('|');
        let (name, default) = (cells.next()?, cells.next()?);
        // `disk-buffer(capacity-bytes())` is known by the innermost name.
        let name = name.split('`').next()?.split("()").next()?;
        let name = name.rsplit('(').next()?;
        (!name.starts_with("--")).then(|| (name.to_owned(), default.trim().to_owned()))
    });
    cells.collect()
}

/// The defaults of all options of this name, wherever they stand.
fn presets(name: &str) -> Vec<Preset> {
    fn visit(table: Table, name: &str, found: &mut Vec<Preset>) {
        for option in table.options() {
            if option.name == name {
                found.push(table.preset(option));
            }
            if let OptionSpec { kind: Kind::Block(groups), .. } = option {
                visit(Table::block(option.name, groups), name, found);
            }
        }
    }
    let mut found = Vec::new();
    CATALOGUE.components.iter().for_each(|component| visit(component.table(), name, &mut found));
    found
}

fn numbers(text: &str) -> BTreeSet<i64> {
    text.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok()).collect()
}

#[test]
fn the_first_table_of_limits_says_what_the_options_say() {
    let rows = rows();
    assert!(rows.len() > 15, "{rows:?}");
    for (name, said) in rows {
        let presets = presets(&name);
        assert!(!presets.is_empty(), "no component has {name}()");
        let mut known = BTreeSet::new();
        for preset in presets {
            let own = match preset {
                // Their defaults are among those of the global options.
                Preset::Global(_) | Preset::None => continue,
                Preset::Int(0) => {
                    let off = said.starts_with("off") || said.starts_with("none");
                    assert!(off, "{name}: off by default, the page says {said}");
                    continue;
                }
                Preset::Int(number) => BTreeSet::from([number]),
                Preset::Described(text) => numbers(text),
                other => panic!("{name}: {other:?} is no bound"),
            };
            let there = numbers(&said);
            assert!(own.is_subset(&there), "{name}: {own:?} by default, the page says {said}");
            known.extend(own);
        }
        // Units have numbers of their own where nothing is fixed.
        if !known.is_empty() {
            assert_eq!(numbers(&said), known, "{name}: the page says {said}");
        }
    }
}
