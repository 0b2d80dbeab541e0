//! Files of cases in YAML: the same tables as in TOML, in the other language.

use serde_json::Value as Yaml;
use toml_edit::{Array, ArrayOfTables, Datetime, DocumentMut, InlineTable, Item, Table, Value, value};

/// Lists and tables in one another.
const DEPTH_MAX: usize = 32;

/// What ends the name of such a file.
pub const ENDINGS: [&str; 2] = [".test.yaml", ".test.yml"];

/// The same as TOML. The error says the place.
pub fn as_toml(text: &str) -> Result<DocumentMut, String> {
    let read: Yaml = serde_saphyr::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())?;
    let Yaml::Object(fields) = read else {
        return Err("a file of cases is a table with a list `case`".to_owned());
    };
    let mut document = DocumentMut::new();
    for (name, field) in fields {
        if let Some(item) = item(&name, field, 0)? {
            document.insert(&name, item);
        }
    }
    Ok(document)
}

/// None for nothing.
fn item(name: &str, read: Yaml, depth: usize) -> Result<Option<Item>, String> {
    match read {
        // `case` and `expect` are lists of tables.
        Yaml::Array(list) if !list.is_empty() && list.iter().all(Yaml::is_object) => {
            let mut tables = ArrayOfTables::new();
            for element in list {
                if let Yaml::Object(fields) = element {
                    tables.push(table(fields, depth)?);
                }
            }
            Ok(Some(Item::ArrayOfTables(tables)))
        }
        Yaml::Object(fields) => Ok(Some(Item::Table(table(fields, depth)?))),
        other => Ok(scalar(name, other, depth)?.map(value)),
    }
}

fn table(fields: serde_json::Map<String, Yaml>, depth: usize) -> Result<Table, String> {
    if depth > DEPTH_MAX {
        return Err(format!("more than {DEPTH_MAX} tables in one another"));
    }
    let mut table = Table::new();
    for (name, field) in fields {
        if let Some(item) = item(&name, field, depth + 1)? {
            table.insert(&name, item);
        }
    }
    Ok(table)
}

fn scalar(name: &str, read: Yaml, depth: usize) -> Result<Option<Value>, String> {
    if depth > DEPTH_MAX {
        return Err(format!("more than {DEPTH_MAX} lists in one another"));
    }
    Ok(Some(match read {
        Yaml::Null => return Ok(None),
        Yaml::Bool(yes) => yes.into(),
        Yaml::Number(number) => match number.as_i64() {
            Some(number) => number.into(),
            None => return Err(format!("`{name}`: {number} is no whole number")),
        },
        // YAML has no dates of its own here.
        Yaml::String(text) if name == "now" => {
            let at: Datetime = text.parse().map_err(|_| format!("now: `{text}` is no date with a time"))?;
            at.into()
        }
        Yaml::String(text) => text.into(),
        Yaml::Array(list) => {
            let mut array = Array::new();
            for element in list {
                array.extend(scalar(name, element, depth + 1)?);
            }
            array.into()
        }
        Yaml::Object(fields) => {
            let mut inline = InlineTable::new();
            for (name, field) in fields {
                if let Some(inner) = scalar(&name, field, depth + 1)? {
                    inline.insert(&name, inner);
                }
            }
            inline.into()
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::as_toml;

    #[test]
    fn the_tables_are_the_same() {
        let yaml = "source: s\nnow: 2026-11-23T10:00:00Z\ncase:\n  - name: a\n    lines: ['x', {hex: '3c'}]\n    wait: 5\n    expect:\n      \
             - destination: d\n        values: {HOST: h}\n    dropped: false\n";
        let toml = "source = \"s\"\nnow = 2026-11-23T10:00:00Z\n\n[[case]]\nname = \"a\"\nlines = [\"x\", { hex = \"3c\" }]\nwait = 5\n\
             dropped = false\n\n[[case.expect]]\ndestination = \"d\"\n\n[case.expect.values]\nHOST = \"h\"\n";
        let parsed: toml_edit::DocumentMut = toml.parse().expect("TOML");
        let plain = |document: &toml_edit::DocumentMut| {
            let mut lines: Vec<String> = document.to_string().lines().map(str::to_owned).collect();
            lines.sort();
            lines.retain(|line| !line.is_empty());
            lines
        };
        assert_eq!(plain(&as_toml(yaml).expect("YAML")), plain(&parsed));
        assert!(as_toml("- a\n").is_err());
        assert!(as_toml("case: [").is_err());
        assert!(as_toml("now: yesterday\n").is_err());
        assert!(as_toml(&format!("a: {}{}", "[".repeat(1000), "]".repeat(1000))).is_err());
    }
}
