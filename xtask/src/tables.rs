//! Reader of the few forms of TOML the house's lists use: `[[table]]`, `[table]`, `key = "text"`, `key =
//! ["a", "b"]`.

use std::collections::BTreeMap;

/// One `[[name]]` or `[name]` with its keys; keys before the first heading are in a table without name.
#[derive(Debug, Default, PartialEq)]
pub struct Table {
    pub name: String,
    pub values: BTreeMap<String, Vec<String>>,
}

impl Table {
    /// The texts of a key; a single text is a list of one.
    pub fn list(&self, key: &str) -> &[String] {
        self.values.get(key).map_or(&[], Vec::as_slice)
    }

    /// The text of a key, empty when it is not there.
    pub fn text(&self, key: &str) -> &str {
        self.list(key).first().map_or("", String::as_str)
    }
}

/// Reads `source`; an entry may run over several lines until its bracket closes.
pub fn parse(source: &str) -> Result<Vec<Table>, String> {
    let mut tables = vec![Table::default()];
    let mut lines = source.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        let line = without_comment(line).trim().to_owned();
        if line.is_empty() {
            continue;
        }
        if let Some(name) = line.strip_prefix('[') {
            let name = name.trim_matches(['[', ']']).to_owned();
            tables.push(Table { name, ..Table::default() });
            continue;
        }
        let fault = |what: &str| format!("line {}: {what}: {line}", number + 1);
        let (key, value) = line.split_once('=').ok_or_else(|| fault("no `=`"))?;
        let mut value = value.trim().to_owned();
        while value.starts_with('[') && !value.ends_with(']') {
            let (_, more) = lines.next().ok_or_else(|| fault("the list does not end"))?;
            value.push_str(without_comment(more).trim());
        }
        let key = key.trim().trim_matches('"').to_owned();
        let last = tables.last_mut().ok_or_else(|| fault("no table"))?;
        last.values.insert(key, texts(&value).ok_or_else(|| fault("neither text nor list of texts"))?);
    }
    Ok(tables)
}

/// The quoted texts of a value. Tables in braces are flattened to their texts; bare words give none.
fn texts(value: &str) -> Option<Vec<String>> {
    let parts: Vec<&str> = value.split('"').collect();
    if parts.len().is_multiple_of(2) {
        return None;
    }
    Some(parts.into_iter().skip(1).step_by(2).map(str::to_owned).collect())
}

/// The line up to a `#` that stands outside quotes.
fn without_comment(line: &str) -> &str {
    let mut quoted = false;
    for (at, c) in line.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '#' if !quoted => return &line[..at],
            _ => {}
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_texts_and_lists() {
        let tables = parse(
            "# head\n[[layer]]\ncrates = [\"a\", # one\n \"b\"]\nwhy = \"x # y\"\n[other]\n\"k/p\" = \"v\"\n",
        );
        let tables = tables.unwrap();
        assert_eq!(tables.len(), 3);
        assert_eq!(tables[1].name, "layer");
        assert_eq!(tables[1].list("crates"), ["a", "b"]);
        assert_eq!(tables[1].text("why"), "x # y");
        assert_eq!(tables[2].text("k/p"), "v");
    }

    #[test]
    fn faults_name_their_line() {
        assert!(parse("a = \"x\"\nb\n").unwrap_err().starts_with("line 2: no `=`"));
        assert!(parse("a = [\"x\",\n").unwrap_err().contains("does not end"));
        assert!(parse("a = \"x\n").unwrap_err().contains("neither text"));
    }
}
