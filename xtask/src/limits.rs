//! The bounds of docs/limits.md are the bounds of the source: each row names a file and the text that stands
//! in it.

use crate::workspace::Workspace;

/// What is wrong; empty when nothing is.
pub fn faults(workspace: &Workspace) -> Vec<String> {
    let docs = match workspace.read("docs/limits.md") {
        Ok(docs) => docs,
        Err(error) => return vec![error],
    };
    let mut faults = Vec::new();
    for (path, text) in docs.lines().filter_map(place) {
        match workspace.read(path) {
            Ok(source) if source.contains(text) => {}
            Ok(_) => faults.push(format!("docs/limits.md: {path} does not say `{text}`")),
            Err(error) => faults.push(format!("docs/limits.md: {error}")),
        }
    }
    faults
}

/// The last cell of a row, `path:text`.
fn place(row: &str) -> Option<(&str, &str)> {
    let (_, cell) = row.strip_suffix("` |")?.rsplit_once("| `")?;
    cell.split_once(':').filter(|(path, _)| path.starts_with("crates/"))
}

#[cfg(test)]
mod tests {
    use super::place;

    #[test]
    fn rows() {
        assert_eq!(
            place("| a `b` | 1 | `crates/a/src/lib.rs:N: u8 = 1` |"),
            Some(("crates/a/src/lib.rs", "N: u8 = 1"))
        );
        assert_eq!(place("| `log-msg-size()` | 65536 bytes | cut |"), None);
        assert_eq!(place("text"), None);
    }
}
