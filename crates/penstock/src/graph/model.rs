//! What is drawn: boxes and the arrows between them, in rows and columns.

use crate::outline::{Node, Outline, Path};
use crate::subject::secrets;
use diag::Span;
use std::collections::{BTreeMap, BTreeSet};

/// Names of drivers that a box has room for.
const DRIVERS_MAX: usize = 3;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    Source,
    Path,
    #[default]
    Step,
    Case,
    Destination,
    Group,
}

impl Kind {
    /// As JSON has it, and the classes of the picture.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Source => "source",
            Kind::Path => "path",
            Kind::Step => "step",
            Kind::Case => "case",
            Kind::Destination => "destination",
            Kind::Group => "group",
        }
    }
}

#[derive(Clone, Debug, Default)]
pub struct Shape {
    pub kind: Kind,
    /// The name by which the running program counts it.
    pub name: String,
    pub title: String,
    pub detail: String,
    /// `relay.conf:12`
    pub at: String,
    /// From the left, from 0; of destinations, only that they are the last.
    pub column: usize,
    /// From the top, from 0; those of sources and destinations follow from their arrows.
    pub row: usize,
    /// No message that comes here gets to a destination.
    pub is_dead: bool,
    /// Messages a second, where that is asked and counted.
    pub rate: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrow {
    pub from: usize,
    pub to: usize,
    /// Of a path with flow-control.
    pub is_thick: bool,
    pub is_dead: bool,
    /// Messages a second, where that is asked and can be known.
    pub rate: Option<f64>,
}

#[derive(Clone, Debug, Default)]
pub struct Graph {
    pub items: Vec<Shape>,
    pub arrows: Vec<Arrow>,
    /// Rows that paths take.
    pub rows: usize,
    sources: BTreeMap<String, usize>,
    destinations: BTreeMap<String, usize>,
}

impl Graph {
    pub fn of(outline: &Outline, dead: &BTreeSet<Span>) -> Graph {
        let mut graph = Graph::default();
        for path in &outline.paths {
            graph.path(path, outline, dead);
        }
        graph.mark_the_dead();
        graph
    }

    /// Draws a log path in rows of its own.
    pub fn path(&mut self, path: &Path, outline: &Outline, dead: &BTreeSet<Span>) {
        let flags = path.node.children.iter().find(|child| child.kind == "flags");
        let flags = flags.map_or("", |flags| flags.text.as_str());
        let is_thick = flags.contains("flow-control");
        let short = path.node.at.rsplit('/').next().unwrap_or_default();
        let title = if path.node.name.is_empty() {
            format!("log {short}")
        } else {
            format!("log {}", path.node.name)
        };
        let begin = self.add(Shape {
            kind: Kind::Path,
            name: path.node.name.clone(),
            title,
            detail: flags.to_owned(),
            at: path.node.at.clone(),
            column: 1,
            row: self.rows,
            is_dead: path.node.spans.iter().any(|span| dead.contains(span)),
            rate: None,
        });
        self.add_sources(path, outline, begin, is_thick);
        let mut maker = Maker { graph: self, outline, dead, is_thick, row: 0 };
        maker.row = maker.graph.rows;
        let _ = maker.steps(&path.node.children, vec![begin]);
        self.rows += 1;
    }

    pub fn add_sources(&mut self, path: &Path, outline: &Outline, to: usize, is_thick: bool) {
        let catches_all = path.sources.is_empty();
        let all = outline.sources.keys().filter(|_| catches_all);
        for name in path.sources.iter().chain(all) {
            let from = self.source(name, outline);
            self.arrow(from, to, is_thick);
        }
    }

    fn source(&mut self, name: &str, outline: &Outline) -> usize {
        if let Some(known) = self.sources.get(name) {
            return *known;
        }
        let made = self.add(statement(Kind::Source, name, outline.sources.get(name)));
        self.sources.insert(name.to_owned(), made);
        made
    }

    pub fn destination(&mut self, name: &str, outline: &Outline) -> usize {
        if let Some(known) = self.destinations.get(name) {
            return *known;
        }
        let made = self.add(statement(Kind::Destination, name, outline.destinations.get(name)));
        self.destinations.insert(name.to_owned(), made);
        made
    }

    pub fn add(&mut self, item: Shape) -> usize {
        self.items.push(item);
        self.items.len() - 1
    }

    pub fn arrow(&mut self, from: usize, to: usize, is_thick: bool) {
        let arrow = Arrow { from, to, is_thick, is_dead: false, rate: None };
        if !self.arrows.iter().rev().take(64).any(|known| known.from == from && known.to == to) {
            self.arrows.push(arrow);
        }
    }

    /// What leads to no destination, and what only something dead leads to.
    pub fn mark_the_dead(&mut self) {
        let lives: Vec<bool> = self.items.iter().map(|item| !item.is_dead).collect();
        let back = |arrow: &Arrow| (arrow.to, arrow.from);
        let fore = |arrow: &Arrow| (arrow.from, arrow.to);
        let reaches = self.reached(Kind::Destination, &lives, back);
        let is_reached = self.reached(Kind::Source, &lives, fore);
        let is_in = |set: &[bool], at: usize| set.get(at) == Some(&true);
        for (at, item) in self.items.iter_mut().enumerate() {
            item.is_dead |= !is_in(&reaches, at) || !is_in(&is_reached, at);
        }
        for arrow in &mut self.arrows {
            let ends = [arrow.from, arrow.to].map(|at| self.items.get(at).is_some_and(|item| item.is_dead));
            arrow.is_dead = ends.contains(&true);
        }
    }

    /// What can be reached from the items of a kind by living ones.
    fn reached(&self, from: Kind, lives: &[bool], ends: impl Fn(&Arrow) -> (usize, usize)) -> Vec<bool> {
        let mut next: Vec<Vec<usize>> = vec![Vec::new(); self.items.len()];
        for arrow in &self.arrows {
            let (from, to) = ends(arrow);
            if let Some(list) = next.get_mut(from) {
                list.push(to);
            }
        }
        let mut reached = vec![false; self.items.len()];
        let of_kind = self.items.iter().enumerate().filter(|(_, item)| item.kind == from);
        let mut left: Vec<usize> = of_kind.map(|(at, _)| at).collect();
        while let Some(at) = left.pop() {
            let is_new = reached.get(at) == Some(&false) && lives.get(at) == Some(&true);
            if is_new {
                if let Some(reached) = reached.get_mut(at) {
                    *reached = true;
                }
                left.extend(next.get(at).into_iter().flatten());
            }
        }
        reached
    }
}

/// A source or destination.
fn statement(kind: Kind, name: &str, node: Option<&Node>) -> Shape {
    let mut drivers = Vec::new();
    if let Some(node) = node {
        node.each(&mut |node| drivers.extend((node.kind == "driver").then(|| driver(node))));
    }
    let more = drivers.len().saturating_sub(DRIVERS_MAX);
    drivers.truncate(DRIVERS_MAX);
    let more = if more > 0 { format!(" +{more}") } else { String::new() };
    Shape {
        kind,
        name: name.to_owned(),
        title: name.to_owned(),
        detail: oplog::hidden(&format!("{}{more}", drivers.join(", "))).into_owned(),
        at: node.map(|node| node.at.clone()).unwrap_or_default(),
        column: 0,
        row: 0,
        is_dead: false,
        rate: None,
    }
}

/// `network tcp 10.0.0.1:514`, `file /var/log/all`
fn driver(node: &Node) -> String {
    let value = |name: &str| {
        let fact = node.facts.iter().find(|fact| fact.name == name)?;
        Some(fact.shown().trim_matches('"').to_owned())
    };
    let name = node.text.split('(').next().unwrap_or_default();
    let address = match (value("host").or_else(|| value("ip")), value("port")) {
        (Some(host), Some(port)) => Some(format!("{host}:{port}")),
        (None, Some(port)) => Some(format!(":{port}")),
        (host, None) => host,
    };
    let place = value("path").or(address).or_else(|| value("url")).or_else(|| value("topic"));
    [Some(name.to_owned()), value("transport"), place].into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// Draws the steps of one path.
struct Maker<'g> {
    graph: &'g mut Graph,
    outline: &'g Outline,
    dead: &'g BTreeSet<Span>,
    is_thick: bool,
    /// The row at work; branches take further ones.
    row: usize,
}

impl Maker<'_> {
    /// Draws steps behind the items `ends`; gives those that what comes then stands behind.
    fn steps(&mut self, nodes: &[Node], mut ends: Vec<usize>) -> Vec<usize> {
        for node in nodes {
            ends = self.step(node, ends);
        }
        ends
    }

    fn step(&mut self, node: &Node, ends: Vec<usize>) -> Vec<usize> {
        match node.kind {
            "from" | "flags" => ends,
            "destination" => {
                let to = match node.name.is_empty() {
                    false => self.graph.destination(&node.name, self.outline),
                    true => self.graph.add(Shape {
                        title: "destination".to_owned(),
                        at: node.at.clone(),
                        ..statement(Kind::Destination, "", Some(node))
                    }),
                };
                self.arrows(&ends, to);
                ends
            }
            "if" => self.choice(node, &ends),
            "junction" => {
                let branches: Vec<&Node> = node.children.iter().collect();
                self.branches(&branches, &ends)
            }
            "channel" => self.steps(&node.children, ends),
            "log" => {
                // Nothing follows an embedded log path.
                let row = self.row;
                self.new_row(&ends);
                let begin = self.item(Kind::Path, node, "log", &flags_of(node), &ends);
                let _ = self.steps(&node.children, vec![begin]);
                self.row = row;
                ends
            }
            kind => {
                // A call that stands in the path itself, `parallelize()`, is called by its name.
                let is_call = kind == "driver" && node.name.is_empty();
                let title = match node.name.is_empty() {
                    true if is_call => node.text.split('(').next().unwrap_or_default().to_owned(),
                    true => kind.to_owned(),
                    false => format!("{kind} {}", node.name),
                };
                let facts = node.facts.iter().filter(|fact| fact.at.is_some());
                let given: Vec<String> =
                    facts.map(|fact| format!("{}({})", fact.name, fact.shown())).collect();
                let detail = if given.is_empty() {
                    node.text.clone()
                } else {
                    format!("{} {}", node.text, given.join(" "))
                };
                vec![self.item(Kind::Step, node, &title, &detail, &ends)]
            }
        }
    }

    fn choice(&mut self, node: &Node, ends: &[usize]) -> Vec<usize> {
        let mut out = Vec::new();
        let row = self.row;
        for (index, case) in node.children.iter().enumerate() {
            let word = match (case.kind, index) {
                ("else", _) => "else",
                (_, 0) => "if",
                _ => "elif",
            };
            if index > 0 {
                self.new_row(ends);
            }
            let detail =
                if case.text.is_empty() && word != "else" { "what is in it fits" } else { &case.text };
            let begin = self.item(Kind::Case, case, word, detail, ends);
            out.extend(self.steps(&case.children, vec![begin]));
        }
        if !node.children.iter().any(|case| case.kind == "else") {
            self.new_row(ends);
            let otherwise = Node { kind: "else", at: node.at.clone(), ..Node::default() };
            out.push(self.item(Kind::Case, &otherwise, "else", "", ends));
        }
        self.row = row;
        out
    }

    fn branches(&mut self, branches: &[&Node], ends: &[usize]) -> Vec<usize> {
        let mut out = Vec::new();
        let row = self.row;
        for (index, branch) in branches.iter().enumerate() {
            if index > 0 {
                self.new_row(ends);
            }
            let title = format!("channel {}", index + 1);
            let begin = self.item(Kind::Case, branch, &title, &flags_of(branch), ends);
            out.extend(self.steps(&branch.children, vec![begin]));
        }
        self.row = row;
        out
    }

    /// Goes on in a row that nothing stands in, unless nothing stands in this one behind `ends`.
    fn new_row(&mut self, ends: &[usize]) {
        let column = self.column(ends);
        let is_free = |row: usize, items: &[Shape]| {
            !items.iter().any(|item| item.row == row && item.column >= column && is_in_rows(item.kind))
        };
        if !is_free(self.row, &self.graph.items) {
            self.graph.rows += 1;
            self.row = self.graph.rows;
        }
    }

    fn column(&self, ends: &[usize]) -> usize {
        let columns = ends.iter().filter_map(|end| self.graph.items.get(*end)).map(|item| item.column);
        columns.max().unwrap_or(0) + 1
    }

    fn item(&mut self, kind: Kind, node: &Node, title: &str, detail: &str, ends: &[usize]) -> usize {
        let made = self.graph.add(Shape {
            kind,
            name: node.name.clone(),
            title: title.to_owned(),
            // Before a drawing cuts it: of what it leaves, nobody sees that it was a secret.
            detail: oplog::hidden(&secrets::blotted(detail)).into_owned(),
            at: node.stated.as_ref().unwrap_or(&node.at).clone(),
            column: self.column(ends),
            row: self.row,
            is_dead: node.spans.iter().any(|span| self.dead.contains(span)),
            rate: None,
        });
        self.arrows(ends, made);
        made
    }

    fn arrows(&mut self, ends: &[usize], to: usize) {
        ends.iter().for_each(|from| self.graph.arrow(*from, to, self.is_thick));
    }
}

/// It stands in the row of its path; sources and destinations stand where their arrows lead.
pub fn is_in_rows(kind: Kind) -> bool {
    !matches!(kind, Kind::Source | Kind::Destination)
}

fn flags_of(node: &Node) -> String {
    node.children
        .iter()
        .find(|child| child.kind == "flags")
        .map_or_else(String::new, |flags| flags.text.clone())
}
