//! The drawing in the language of Mermaid, which wikis and forges show.

use super::live;
use super::model::{Graph, Kind};
use std::fmt::Write;

pub fn render(graph: &Graph) -> String {
    let mut out = String::from("flowchart LR\n");
    for (at, item) in graph.items.iter().enumerate() {
        let rate = item.rate.map(|rate| format!(" {}", live::shown(rate))).unwrap_or_default();
        let lines = [format!("{}{rate}", item.title), item.detail.clone()];
        let label: Vec<String> =
            lines.iter().filter(|line| !line.is_empty()).map(|line| escaped(line)).collect();
        let label = label.join("<br/>");
        let (open, close) = match item.kind {
            Kind::Source | Kind::Destination => ("([", "])"),
            Kind::Case => ("{{", "}}"),
            Kind::Path | Kind::Step | Kind::Group => ("[", "]"),
        };
        let class = match (item.is_dead, item.kind) {
            (true, _) => ":::dead",
            (_, Kind::Source) => ":::source",
            (_, Kind::Destination) => ":::destination",
            _ => "",
        };
        let _ = writeln!(out, "  n{at}{open}\"{label}\"{close}{class}");
    }
    for arrow in &graph.arrows {
        let line = match (arrow.is_dead, arrow.is_thick) {
            (true, _) => "-.->",
            (false, true) => "==>",
            (false, false) => "-->",
        };
        let rate = arrow.rate.map(|rate| format!("|\"{}\"|", live::shown(rate))).unwrap_or_default();
        let _ = writeln!(out, "  n{} {line}{rate} n{}", arrow.from, arrow.to);
    }
    out.push_str(
        "  classDef source stroke:#2f6fb3\n  classDef destination stroke:#2e8555\n  classDef dead stroke-dasharray:5 4\n",
    );
    out
}

/// What means something to it is written as a character reference.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' | '#' | '<' | '>' | '&' | '`' | '\\' | ';' => {
                let _ = write!(out, "#{};", c as u32);
            }
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
