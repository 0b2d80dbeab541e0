//! Every linked crate's licence is on the list of deny.toml.

use crate::tables;
use crate::workspace::Workspace;

/// What is wrong; empty when nothing is.
pub fn faults(workspace: &Workspace) -> Vec<String> {
    let allowed = match workspace.read("deny.toml").map(|text| allowed(&text)) {
        Ok(allowed) if allowed.is_empty() => return vec!["deny.toml has no list of licences".to_owned()],
        Ok(allowed) => allowed,
        Err(error) => return vec![error],
    };
    let mut faults = Vec::new();
    for (name, licence) in &workspace.foreign {
        match licence {
            None => faults.push(format!("{name}: names no licence")),
            Some(expression) if !permits(expression, &allowed) => {
                faults.push(format!("{name}: `{expression}` is not on the list of deny.toml"));
            }
            Some(_) => {}
        }
    }
    faults
}

fn allowed(deny: &str) -> Vec<String> {
    let section: Vec<&str> = deny
        .lines()
        .skip_while(|l| *l != "[licenses]")
        .skip(1)
        .take_while(|l| !l.starts_with('['))
        .filter(|l| !l.starts_with("confidence"))
        .collect();
    let tables = tables::parse(&section.join("\n")).unwrap_or_default();
    tables.iter().flat_map(|t| t.list("allow").to_vec()).collect()
}

/// Whether an SPDX expression can be met from the list. `/` is the old way to write OR.
fn permits(expression: &str, allowed: &[String]) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = words.as_slice();
    any(&mut rest, allowed).unwrap_or(false) && rest.is_empty()
}

fn any(words: &mut &[&str], allowed: &[String]) -> Option<bool> {
    let mut met = all(words, allowed)?;
    while take(words, "OR") {
        met |= all(words, allowed)?;
    }
    Some(met)
}

fn all(words: &mut &[&str], allowed: &[String]) -> Option<bool> {
    let mut met = one(words, allowed)?;
    while take(words, "AND") {
        met &= one(words, allowed)?;
    }
    Some(met)
}

fn one(words: &mut &[&str], allowed: &[String]) -> Option<bool> {
    if take(words, "(") {
        let met = any(words, allowed)?;
        return take(words, ")").then_some(met);
    }
    let (name, rest) = words.split_first()?;
    *words = rest;
    if take(words, "WITH") {
        let (exception, rest) = words.split_first()?;
        *words = rest;
        let whole = format!("{name} WITH {exception}");
        return Some(allowed.contains(&whole));
    }
    Some(allowed.iter().any(|a| a == name))
}

fn take(words: &mut &[&str], word: &str) -> bool {
    match words.split_first() {
        Some((first, rest)) if *first == word => {
            *words = rest;
            true
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(expression: &str, expected: bool) {
        let list = ["MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "Unicode-3.0"].map(str::to_owned);
        assert_eq!(permits(expression, &list), expected, "{expression}");
    }

    #[test]
    fn expressions() {
        check("MIT", true);
        check("GPL-3.0", false);
        check("MIT OR GPL-3.0", true);
        check("MIT AND GPL-3.0", false);
        check("GPL-3.0/MIT", true);
        check("(MIT OR GPL-3.0) AND Unicode-3.0", true);
        check("GPL-3.0 OR Apache-2.0 WITH LLVM-exception", true);
        check("(MIT", false);
        check("", false);
        check("MIT MIT", false);
    }
}
