//! A pattern database from its XML, versions 2 to 6 of the format: everything that is wrong is found in one
//! go, with its place.

mod rule;

use crate::model::{Database, Placed, Ruleset};
use crate::xml::{self, Element};
use diag::{Diagnostic, Diagnostics, FileId, SourceMap, Span, nearest};

/// Size of a database file.
pub const FILE_BYTES_MAX: usize = 256 << 20;
/// Versions of the format that are read.
pub const VERSIONS: std::ops::RangeInclusive<u8> = 2..=6;

/// What came of a file.
pub struct Loaded {
    pub sources: SourceMap,
    pub diags: Diagnostics,
    /// Present when there was no error.
    pub database: Option<Database>,
}

impl Loaded {
    /// Each finding as `file:line:column: text`, warnings marked as such.
    pub fn lines(&self) -> Vec<String> {
        lines(&self.diags, &self.sources)
    }
}

/// Each finding on one line.
pub fn lines(diags: &Diagnostics, sources: &SourceMap) -> Vec<String> {
    diags.sorted(sources).into_iter().map(|d| line(d, sources)).collect()
}

fn line(finding: &Diagnostic, sources: &SourceMap) -> String {
    let kind = if finding.severity == diag::Severity::Warning { "warning: " } else { "" };
    let place = match finding.span.map(|span| sources.locate(span)) {
        Some(at) => format!("{}:{}:{}: ", at.file, at.line, at.column),
        None => String::new(),
    };
    let help = finding.help.as_ref().map_or_else(String::new, |help| format!(" ({help})"));
    format!("{place}{kind}{} {}{help}", finding.code, finding.message)
}

/// Reads the text of a file. `name` is how findings call it.
pub fn load(name: &str, bytes: &[u8]) -> Loaded {
    let mut loaded = Loaded { sources: SourceMap::new(), diags: Diagnostics::new(), database: None };
    if bytes.len() > FILE_BYTES_MAX {
        let text = format!("`{name}` is larger than {} MiB", FILE_BYTES_MAX >> 20);
        loaded.diags.push(Diagnostic::new(diag::Severity::Error, "A0202", text));
        return loaded;
    }
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text.strip_prefix('\u{feff}').unwrap_or(text),
        Err(error) => {
            let good = String::from_utf8_lossy(bytes.get(..error.valid_up_to()).unwrap_or_default());
            let at = good.len();
            let file = loaded.sources.add_root(name, format!("{good}\n"));
            loaded.diags.error("A0201", "bytes that are no UTF-8", Span::new(file, at, at));
            return loaded;
        }
    };
    let file = loaded.sources.add_root(name, text);
    let Some(root) = xml::read(text, file, &mut loaded.diags) else { return loaded };
    let mut reader = Interpreter { diags: &mut loaded.diags };
    let database = reader.database(&root, file);
    loaded.database = database.filter(|_| !loaded.diags.has_errors());
    loaded
}

/// Reads a file.
pub fn load_file(path: &str) -> Loaded {
    match regular::read(std::path::Path::new(path), FILE_BYTES_MAX as u64) {
        Ok(bytes) => load(path, &bytes),
        Err(error) => {
            let mut loaded = Loaded { sources: SourceMap::new(), diags: Diagnostics::new(), database: None };
            let text = format!("cannot read `{path}`: {error}");
            loaded.diags.push(Diagnostic::new(diag::Severity::Error, "A0202", text));
            loaded
        }
    }
}

struct Interpreter<'a> {
    diags: &'a mut Diagnostics,
}

impl Interpreter<'_> {
    fn database(&mut self, root: &Element, file: FileId) -> Option<Database> {
        if root.name != "patterndb" {
            let text = format!("`<{}>` where `<patterndb>` has to stand", root.name);
            self.diags.error("A0203", text, root.span);
            return None;
        }
        let mut database = Database { version: 4, ..Database::default() };
        match root.attribute("version") {
            None => {
                let text = "the version of the format is not said: 4 is assumed";
                self.diags.warning("A0204", text, root.span);
            }
            Some(version) => match version.trim().parse().ok().filter(|v| VERSIONS.contains(v)) {
                Some(version) => database.version = version,
                None => {
                    let text = format!("version `{version}` of the format is not known");
                    let finding = Diagnostic::error("A0204", text, root.span);
                    self.diags.push(finding.help(format!(
                        "versions {} to {} are",
                        VERSIONS.start(),
                        VERSIONS.end()
                    )));
                }
            },
        }
        database.pub_date = root.attribute("pub_date").unwrap_or_default().to_owned();
        self.only(root, &["ruleset"]);
        database.rulesets = root.named("ruleset").map(|r| self.ruleset(r)).collect();
        if database.rulesets.is_empty() && !self.diags.has_errors() {
            self.diags.warning("A0203", "there is no ruleset in this database", Span::new(file, 0, 0));
        }
        Some(database)
    }

    fn ruleset(&mut self, element: &Element) -> Ruleset {
        self.only(element, &["pattern", "patterns", "rules", "rule", "description", "url", "urls"]);
        let mut rules = Vec::new();
        for child in &element.children {
            match child.name.as_str() {
                "rule" => rules.extend(self.rule(child)),
                "rules" => {
                    self.only(child, &["rule"]);
                    for rule in child.named("rule") {
                        rules.extend(self.rule(rule));
                    }
                }
                _ => {}
            }
        }
        Ruleset {
            name: element.attribute("name").unwrap_or_default().to_owned(),
            id: element.attribute("id").unwrap_or_default().to_owned(),
            description: description(element),
            urls: self.texts(element, "urls", "url").into_iter().map(|p| p.text).collect(),
            programs: self.texts(element, "patterns", "pattern"),
            rules,
        }
    }

    /// The texts of `<one>` elements, inside `<many>` or directly.
    fn texts(&mut self, element: &Element, many: &str, one: &str) -> Vec<Placed> {
        let mut texts = Vec::new();
        for child in &element.children {
            if child.name == one {
                texts.push(self.text(child));
            } else if child.name == many {
                self.only(child, &[one]);
                texts.extend(child.named(one).map(|c| self.text(c)));
            }
        }
        texts
    }

    fn text(&mut self, element: &Element) -> Placed {
        for child in &element.children {
            let text = format!("`<{}>` inside of `<{}>`, where only text can be", child.name, element.name);
            self.diags.error("A0203", text, child.span);
        }
        Placed { text: element.text.clone(), span: element.text_span }
    }

    /// Reports what does not belong into an element that has only elements.
    fn only(&mut self, element: &Element, known: &[&str]) {
        if !element.text.trim().is_empty() {
            let text = format!("text inside of `<{}>`, where only elements can be", element.name);
            self.diags.error("A0203", text, element.text_span);
        }
        for child in &element.children {
            if !known.contains(&child.name.as_str()) {
                let text = format!("`<{}>` cannot stand inside of `<{}>`", child.name, element.name);
                let near = nearest(&child.name, known.iter().copied());
                self.diags.push(Diagnostic::error("A0203", text, child.span).suggest(near));
            }
        }
    }

    fn required<'e>(&mut self, element: &'e Element, name: &str) -> Option<&'e str> {
        let found = element.attribute(name);
        if found.is_none() {
            let text = format!("`<{}>` needs the attribute `{name}`", element.name);
            self.diags.error("A0205", text, element.span);
        }
        found
    }

    /// One of some names; the first when the attribute is not there.
    fn one_of<T: Copy + Default>(&mut self, element: &Element, name: &str, names: &[(&str, T)]) -> T {
        let Some(value) = element.attribute(name) else { return T::default() };
        if let Some((_, found)) = names.iter().find(|(n, _)| *n == value) {
            return *found;
        }
        let near = nearest(value, names.iter().map(|(n, _)| *n));
        let text = format!("`{value}` cannot be the `{name}` of `<{}>`", element.name);
        let finding = Diagnostic::error("A0205", text, element.span);
        let all = || names.iter().map(|(n, _)| *n).collect::<Vec<_>>().join(", ");
        self.diags.push(match near {
            Some(_) => finding.suggest(near),
            None => finding.help(format!("one of {}", all())),
        });
        T::default()
    }
}

fn description(element: &Element) -> String {
    element.named("description").map(|d| d.text.trim()).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests;
