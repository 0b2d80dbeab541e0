//! The first message of a file of protobuf's language, as columns: `protobuf-schema()` names one.

use super::columns::{Column, Kind};
use std::path::Path;

/// A larger file describes no table.
const FILE_BYTES_MAX: u64 = 1 << 20;

pub fn read(path: &Path) -> Result<Vec<Column>, String> {
    let failed = |error: String| format!("{}: {error}", path.display());
    let text = regular::read_to_string(path, FILE_BYTES_MAX).map_err(|error| failed(error.to_string()))?;
    parse(&text).map_err(failed)
}

/// What stands between braces of the first message has to be fields of simple types.
pub fn parse(text: &str) -> Result<Vec<Column>, String> {
    let words = words(text);
    let mut words = words.iter().map(String::as_str);
    let found = words.find(|word| *word == "message");
    let open = found.and_then(|_| words.nth(1));
    if open != Some("{") {
        return Err("there is no message in it".to_owned());
    }
    let mut columns: Vec<(u32, Column)> = Vec::new();
    let mut field: Vec<&str> = Vec::new();
    for word in words {
        match word {
            ";" => {
                columns.extend(column(&field)?);
                field.clear();
            }
            "}" if field.is_empty() => {
                columns.sort_by_key(|(number, _)| *number);
                return in_a_row(columns);
            }
            "{" | "}" => return Err(format!("`{}` is no field of a simple type", field.join(" "))),
            word => field.push(word),
        }
    }
    Err("its message does not end".to_owned())
}

fn column(field: &[&str]) -> Result<Option<(u32, Column)>, String> {
    let plain = match field {
        [] | ["option" | "reserved", ..] => return Ok(None),
        ["optional" | "required", rest @ ..] => rest,
        _ => field,
    };
    let no_field = || format!("`{}` is no field of a simple type", field.join(" "));
    let [kind, name, "=", number, ..] = plain else { return Err(no_field()) };
    let kind = Kind::of_protobuf(kind).ok_or_else(no_field)?;
    let number = number.parse().map_err(|_| no_field())?;
    Ok(Some((number, Column { name: (*name).to_owned(), kind })))
}

/// Numbers of fields are their places, as they are in rows.
fn in_a_row(columns: Vec<(u32, Column)>) -> Result<Vec<Column>, String> {
    match (1..).zip(&columns).find(|(place, (number, _))| place != number) {
        Some((place, (_, column))) => {
            Err(format!("the field `{}` does not have the number {place}", column.name))
        }
        None if columns.is_empty() => Err("its message has no fields".to_owned()),
        None => Ok(columns.into_iter().map(|(_, column)| column).collect()),
    }
}

/// Names, numbers and signs, without comments and what stands in quotes or brackets.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let skipped = if rest.starts_with("//") {
            rest.find('\n')
        } else if rest.starts_with("/*") {
            rest.find("*/").map(|at| at + 2)
        } else if first == '[' {
            rest.find(']').map(|at| at + 1)
        } else if first == '"' {
            rest.get(1..).and_then(|inner| inner.find('"')).map(|at| at + 2)
        } else if first.is_whitespace() {
            Some(first.len_utf8())
        } else {
            let word = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '.');
            let end = word.unwrap_or(rest.len()).max(first.len_utf8());
            words.push(rest.get(..end).unwrap_or_default().to_owned());
            Some(end)
        };
        rest = skipped.and_then(|at| rest.get(at..)).unwrap_or_default();
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_a_message() {
        let text = "syntax = \"proto2\"; // message X {\n/* message Y { */ option a = \"b;\";\nmessage Row {\n  reserved 9;\n\
                    required int64 number = 2 [deprecated = true];\n  optional string text = 1;\n}\nmessage More { }\n";
        let columns = parse(text).expect("columns");
        let expected = [("text", Kind::String), ("number", Kind::Int64)];
        assert_eq!(columns, expected.map(|(name, kind)| Column { name: name.to_owned(), kind }));
    }

    #[test]
    fn what_cannot_be_a_table() {
        for (text, expected) in [
            ("", "no message"),
            ("message A { }", "no fields"),
            ("message A { string a = 1;", "does not end"),
            ("message A { string a = 2; }", "number 1"),
            ("message A { repeated string a = 1; }", "`repeated string a = 1`"),
            ("message A { Other a = 1; }", "`Other a = 1`"),
            ("message A { oneof x { string a = 1; } }", "`oneof x`"),
        ] {
            let error = parse(text).expect_err(text);
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
