//! Of many log paths those of one shape are drawn as one: the same sources, the same kinds of steps, the
//! same destinations or destinations of one kind.

use super::model::{Graph, Kind, Shape};
use crate::outline::{Node, Outline, Path};
use diag::Span;
use std::collections::{BTreeMap, BTreeSet};

/// Configurations with more log paths are grouped.
const PATHS_MAX: usize = 60;
/// Fewer of one shape are drawn one by one.
const GROUP_MIN: usize = 4;
/// Names that a box tells.
const NAMES_MAX: usize = 12;

pub fn grouped(outline: &Outline, dead: &BTreeSet<Span>) -> Graph {
    if outline.paths.len() <= PATHS_MAX {
        return Graph::of(outline, dead);
    }
    let mut groups: BTreeMap<String, Vec<&Path>> = BTreeMap::new();
    let mut order = Vec::new();
    for path in &outline.paths {
        let shape = shape(path, outline);
        let group = groups.entry(shape.clone()).or_default();
        if group.is_empty() {
            order.push(shape);
        }
        group.push(path);
    }
    let mut graph = Graph::default();
    for shape in order {
        let paths = groups.remove(&shape).unwrap_or_default();
        if paths.len() < GROUP_MIN {
            paths.iter().for_each(|path| graph.path(path, outline, dead));
        } else {
            group(&mut graph, &paths, outline);
        }
    }
    graph.mark_the_dead();
    graph
}

/// What two paths have in common that are drawn as one.
fn shape(path: &Path, outline: &Outline) -> String {
    let sources: Vec<&str> = path.sources.iter().map(String::as_str).collect();
    let mut out = sources.join(" ");
    path.node.each(&mut |node| {
        out.push('|');
        out.push_str(node.kind);
        match node.kind {
            "flags" => out.push_str(&node.text),
            "destination" => out.push_str(&kind_of(outline.destinations.get(&node.name).unwrap_or(node))),
            _ => {}
        }
    });
    out
}

/// The drivers of a destination.
fn kind_of(node: &Node) -> String {
    let mut kinds = Vec::new();
    node.each(&mut |node| kinds.extend((node.kind == "driver").then(|| node.text.clone())));
    kinds.join(" ")
}

fn group(graph: &mut Graph, paths: &[&Path], outline: &Outline) {
    let Some(first) = paths.first() else { return };
    let mut is_thick = false;
    first.node.each(&mut |node| is_thick |= node.kind == "flags" && node.text.contains("flow-control"));
    let named = paths.iter().map(|path| {
        let place = path.node.at.rsplit('/').next().unwrap_or_default();
        if path.node.name.is_empty() { place } else { &path.node.name }
    });
    let begin = graph.add(Shape {
        kind: Kind::Group,
        name: String::new(),
        title: format!("{} log paths", paths.len()),
        detail: some_of(named),
        at: first.node.at.clone(),
        column: 1,
        row: graph.rows,
        is_dead: false,
        rate: None,
    });
    graph.rows += 1;
    graph.add_sources(first, outline, begin, is_thick);
    let mut names = BTreeSet::new();
    for path in paths {
        path.node.each(&mut |node| {
            if node.kind == "destination" && !node.name.is_empty() {
                names.insert(node.name.as_str());
            }
        });
    }
    if names.len() < GROUP_MIN {
        for name in names {
            let to = graph.destination(name, outline);
            graph.arrow(begin, to, is_thick);
        }
        return;
    }
    let to = graph.add(Shape {
        kind: Kind::Destination,
        name: String::new(),
        title: format!("{} destinations", names.len()),
        detail: some_of(names.iter().copied()),
        at: String::new(),
        column: 0,
        row: 0,
        is_dead: false,
        rate: None,
    });
    graph.arrow(begin, to, is_thick);
}

fn some_of<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let names: Vec<&str> = names.collect();
    let more = if names.len() > NAMES_MAX { " ..." } else { "" };
    format!("{}{more}", names.iter().take(NAMES_MAX).copied().collect::<Vec<_>>().join(", "))
}
