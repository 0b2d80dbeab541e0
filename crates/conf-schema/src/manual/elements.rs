//! Pages of the manual for what is smaller than a component: filter functions, rewrite operations, template
//! functions, macros. Each has a section with its arguments, an example that is a test, and its cost with the
//! benchmark that shows it.

use super::cell;
use std::fmt::Write;

pub struct Page {
    /// `filters.md`
    pub file: &'static str,
    pub title: &'static str,
    /// Markdown.
    pub intro: String,
    pub parts: Vec<Part>,
    /// The elements are those of the example `element_cost`.
    pub measured: bool,
}

pub struct Part {
    /// Empty for the only part of a page.
    pub heading: &'static str,
    /// Markdown in front of the elements.
    pub intro: String,
    /// Short elements stand in one table.
    pub as_table: bool,
    pub elements: Vec<Element>,
}

pub struct Element {
    pub name: String,
    pub usage: String,
    pub help: String,
    /// What is written and what comes of it; nothing is to be said of a step in between.
    pub example: Vec<(String, Option<String>)>,
    pub cost: &'static str,
    /// A case of `penstock bench`.
    pub case: Option<&'static str>,
}

impl Page {
    pub fn text(&self) -> String {
        let mut out = format!("# {}\n\n{}", self.title, self.intro);
        for part in &self.parts {
            if !part.heading.is_empty() {
                let _ = write!(out, "\n## {}\n", part.heading);
            }
            if !part.intro.is_empty() {
                let _ = write!(out, "\n{}", part.intro);
            }
            match part.as_table {
                true => table(&mut out, &part.elements),
                false => part.elements.iter().for_each(|element| section(&mut out, element)),
            }
        }
        if !self.measured {
            out.push_str("\nThis page is made from the program's own tables.\n");
            return out;
        }
        out.push_str(
            "\n## Measuring\n\n`cargo run --release -p rewrite --example element_cost NAME` prints the nanoseconds a message of every \
             example of this page that contains NAME.\n\n`-` and `_` are the same in names. This page is made from the program's own \
             tables.\n",
        );
        out
    }
}

fn section(out: &mut String, element: &Element) {
    let _ =
        write!(out, "\n### {}\n\n`{}`\n\n{}.\n\n```\n", element.name, element.usage, upper(&element.help));
    let width = element
        .example
        .iter()
        .filter(|(_, result)| result.is_some())
        .map(|(w, _)| w.chars().count())
        .max()
        .unwrap_or(0);
    for (written, result) in &element.example {
        let Some(result) = result else {
            let _ = writeln!(out, "{written}");
            continue;
        };
        let shown = result.replace('\t', "\\t").trim_end_matches('\n').replace('\n', "\\n");
        let shown = if shown.is_empty() { "(nothing)" } else { &shown };
        let _ = writeln!(out, "{written:width$}    {shown}");
    }
    let _ = write!(out, "```\n\nCost: {}.", element.cost);
    if let Some(case) = element.case {
        let _ = write!(out, " `penstock bench --cases {case}` shows it at work.");
    }
    out.push('\n');
}

fn table(out: &mut String, elements: &[Element]) {
    out.push_str("\n| name | what it is | example | cost |\n|---|---|---|---|\n");
    for element in elements {
        let shown: String = element.example.iter().filter_map(|(_, result)| result.as_deref()).collect();
        let shown = if shown.is_empty() { String::new() } else { format!("`{}`", cell(&shown)) };
        let case = element.case.map_or_else(String::new, |case| format!("; bench case `{case}`"));
        let (name, help, cost) = (cell(&element.usage), cell(&element.help), cell(element.cost));
        let _ = writeln!(out, "| `{name}` | {help} | {shown} | {cost}{case} |");
    }
}

/// With a capital letter.
fn upper(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().collect::<String>() + chars.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_and_tables() {
        let element = || Element {
            name: "x()".into(),
            usage: "x(a|b)".into(),
            help: "does it".into(),
            example: vec![
                ("x(a)".into(), Some("1\n2\n".into())),
                ("x".into(), Some(String::new())),
                ("y".into(), None),
            ],
            cost: "little",
            case: Some("kv"),
        };
        let part =
            |as_table| Part { heading: "H", intro: String::new(), as_table, elements: vec![element()] };
        let page = Page {
            file: "x.md",
            title: "T",
            intro: "I\n".into(),
            parts: vec![part(false), part(true)],
            measured: true,
        };
        let text = page.text();
        assert!(text.starts_with("# T\n\nI\n\n## H\n\n### x()\n\n`x(a|b)`\n\nDoes it.\n\n```\nx(a)    1\\n2\nx       (nothing)\ny\n```\n"));
        assert!(text.contains("Cost: little. `penstock bench --cases kv` shows it at work.\n"));
        assert!(text.contains("| `x(a\\|b)` | does it | `1 2 ` | little; bench case `kv` |\n"));
    }
}
