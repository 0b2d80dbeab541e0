//! The drawing in the language of Graphviz.

use super::live;
use super::model::{Graph, Kind};
use std::fmt::Write;

pub fn render(graph: &Graph) -> String {
    let mut out = String::from(
        "digraph penstock {\n  rankdir=LR;\n  node [shape=box, style=rounded, fontname=\"sans-serif\", fontsize=11];\n  \
         edge [arrowsize=0.7];\n",
    );
    for (at, item) in graph.items.iter().enumerate() {
        let colour = match item.kind {
            Kind::Source => ", color=\"#2f6fb3\"",
            Kind::Destination => ", color=\"#2e8555\"",
            Kind::Case => ", color=\"#c9a13b\"",
            Kind::Path | Kind::Step | Kind::Group => "",
        };
        let style = if item.is_dead { ", style=\"rounded,dashed\"" } else { "" };
        let rate = item.rate.map(|rate| format!(" {}", live::shown(rate))).unwrap_or_default();
        let lines = [format!("{}{rate}", item.title), item.detail.clone()];
        let label: Vec<String> =
            lines.iter().filter(|line| !line.is_empty()).map(|line| escaped(line)).collect();
        let tooltip = escaped(&item.at);
        let _ =
            writeln!(out, "  n{at} [label=\"{}\", tooltip=\"{tooltip}\"{colour}{style}];", label.join("\\n"));
    }
    for (kind, rank) in [(Kind::Source, "source"), (Kind::Destination, "sink")] {
        let ends: Vec<String> = graph
            .items
            .iter()
            .enumerate()
            .filter(|(_, item)| item.kind == kind)
            .map(|(at, _)| format!("n{at}"))
            .collect();
        let _ = writeln!(out, "  {{ rank={rank}; {} }}", ends.join("; "));
    }
    for arrow in &graph.arrows {
        let thick = if arrow.is_thick { "penwidth=3" } else { "" };
        let dead = if arrow.is_dead { "style=dashed" } else { "" };
        let rate = arrow.rate.map(|rate| format!("label=\"{}\"", live::shown(rate))).unwrap_or_default();
        let attributes: Vec<&str> =
            [thick, dead, rate.as_str()].into_iter().filter(|text| !text.is_empty()).collect();
        let _ = writeln!(out, "  n{} -> n{} [{}];", arrow.from, arrow.to, attributes.join(", "));
    }
    out.push_str("}\n");
    out
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
