//! Two configurations held against each other: what the second does that the first does not, and the other
//! way round.

mod pairing;

use crate::outline::{Fact, Node, Outline, Path, in_any_order};
use pairing::{alignment, named, pairs_of_paths};
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    Added,
    Removed,
    Changed,
    /// The same under another name.
    Renamed,
    /// The same in another order, where the order counts.
    Moved,
}

impl Change {
    pub fn word(self) -> &'static str {
        match self {
            Change::Added => "added",
            Change::Removed => "removed",
            Change::Changed => "changed",
            Change::Renamed => "renamed",
            Change::Moved => "moved",
        }
    }

    pub fn sign(self) -> char {
        match self {
            Change::Added => '+',
            Change::Removed => '-',
            Change::Changed | Change::Renamed | Change::Moved => '~',
        }
    }
}

/// One difference.
#[derive(Clone, Debug)]
pub struct Difference {
    pub change: Change,
    /// What it stands in, outermost first: `destination d_app`, `network()`.
    pub within: Vec<String>,
    /// What is different: a step, or the name of an option.
    pub what: String,
    pub old: Option<Side>,
    pub new: Option<Side>,
    /// Of a global option, the drivers that inherit it.
    pub inherited_by: Vec<String>,
}

/// One side of a difference.
#[derive(Clone, Debug)]
pub struct Side {
    /// The value of an option; of a step, what it does.
    pub text: String,
    /// `relay.conf:12`
    pub at: Option<String>,
}

/// All differences, in the order of the text.
pub fn compare(old: &Outline, new: &Outline) -> Vec<Difference> {
    let mut differences = Differences::default();
    differences.node(&[], &old.options, &new.options);
    differences.statements(&old.sources, &new.sources);
    differences.statements(&old.destinations, &new.destinations);
    differences.statements(&old.applications, &new.applications);
    let paths: Vec<Path> = old.paths.iter().map(|path| differences.by_new_names(path)).collect();
    differences.paths(&paths, &new.paths);
    differences.with_heirs()
}

#[derive(Default)]
struct Differences {
    list: Vec<Difference>,
    /// By global option, the drivers whose value has changed because of it.
    heirs: BTreeMap<&'static str, Vec<String>>,
    /// Statements that have another name now, by their kind and old name.
    renamed: BTreeMap<(&'static str, String), String>,
}

impl Differences {
    /// A path of the old configuration with the names that its sources and destinations have now.
    fn by_new_names(&self, path: &Path) -> Path {
        let name = |kind, name: &String| self.renamed.get(&(kind, name.clone())).unwrap_or(name).clone();
        let mut path = path.clone();
        path.sources = path.sources.iter().map(|source| name("source", source)).collect();
        path.node.change_each(&mut |node| match node.kind {
            "from" => {
                node.terms = node.terms.iter().map(|source| name("source", source)).collect();
                node.terms.sort_unstable();
                node.text = node.terms.join(" ");
            }
            "destination" if !node.name.is_empty() => {
                node.name = name("destination", &node.name);
                node.text.clone_from(&node.name);
            }
            _ => {}
        });
        // Their order is that of what they are called now.
        path.node.change_each(&mut |node| in_any_order(&mut node.children));
        path
    }

    fn add(&mut self, change: Change, within: &[String], what: String, sides: Sides) {
        let Sides { old, new } = sides;
        self.list.push(Difference {
            change,
            within: within.to_vec(),
            what,
            old,
            new,
            inherited_by: Vec::new(),
        });
    }

    fn with_heirs(mut self) -> Vec<Difference> {
        for difference in self.list.iter_mut().filter(|difference| difference.within == ["options"]) {
            let heirs = self.heirs.iter().find(|(name, _)| **name == difference.what);
            difference.inherited_by = heirs.map(|(_, heirs)| heirs.clone()).unwrap_or_default();
        }
        self.list
    }

    /// Statements are known by their names; one that is there under another name is renamed.
    fn statements(&mut self, old: &BTreeMap<String, Node>, new: &BTreeMap<String, Node>) {
        let mut gone: Vec<&Node> = old.values().filter(|node| !new.contains_key(&node.name)).collect();
        for (name, node) in new {
            if let Some(before) = old.get(name) {
                self.node(&[], before, node);
                continue;
            }
            let same = gone.iter().position(|before| before.children_mean(node));
            match same.map(|at| gone.remove(at)) {
                Some(before) => {
                    self.renamed.insert((before.kind, before.name.clone()), node.name.clone());
                    let what = format!("{} is now {}", before.label(), node.name);
                    let side =
                        |node: &Node| Some(Side { text: node.name.clone(), at: Some(node.at.clone()) });
                    let sides = Sides { old: side(before), new: side(node) };
                    self.add(Change::Renamed, &[], what, sides);
                }
                None => self.add(Change::Added, &[], node.label(), Sides::of(None, Some(node))),
            }
        }
        for node in gone {
            self.add(Change::Removed, &[], node.label(), Sides::of(Some(node), None));
        }
    }

    fn paths(&mut self, old: &[Path], new: &[Path]) {
        let pairs = pairs_of_paths(old, new);
        for (old, new) in &pairs {
            match (old, new) {
                (Some(old), Some(new)) => self.node(&[], &named(old), &named(new)),
                (Some(old), None) => {
                    self.add(Change::Removed, &[], named(old).label(), Sides::of(Some(&old.node), None));
                }
                (None, Some(new)) => {
                    self.add(Change::Added, &[], named(new).label(), Sides::of(None, Some(&new.node)));
                }
                (None, None) => {}
            }
        }
        self.order(&pairs, new);
    }

    /// Paths of one source that stand in another order, where a message may end in one of them.
    fn order(&mut self, pairs: &[(Option<&Path>, Option<&Path>)], new: &[Path]) {
        let rank = |path: &Path| new.iter().position(|known| std::ptr::eq(known, path));
        let both: Vec<(&Path, &Path, usize)> =
            pairs.iter().filter_map(|(old, new)| Some(((*old)?, (*new)?, rank((*new)?)?))).collect();
        if both.is_sorted_by_key(|(_, _, rank)| *rank) {
            return;
        }
        for (at, (old, path, rank)) in both.iter().enumerate() {
            let overtaken = both.iter().skip(at + 1).find(|(_, other, other_rank)| {
                other_rank < rank
                    && (path.depends_on_order || other.depends_on_order)
                    && (path.sources.is_empty()
                        || other.sources.is_empty()
                        || !path.sources.is_disjoint(&other.sources))
            });
            if let Some((_, other, _)) = overtaken {
                let what = format!("{} now stands behind {}", named(path).label(), named(other).label());
                self.add(Change::Moved, &[], what, Sides::of(Some(&old.node), Some(&path.node)));
            }
        }
    }

    /// Two nodes of one kind that are meant to be the same thing.
    fn node(&mut self, within: &[String], old: &Node, new: &Node) {
        let within: Vec<String> = within.iter().cloned().chain([new.label()]).collect();
        self.facts(&within, old, new);
        self.children(&within, &old.children, &new.children);
    }

    fn facts(&mut self, within: &[String], old: &Node, new: &Node) {
        let of = |facts: &[Fact], name: &str| facts.iter().find(|fact| fact.name == name).cloned();
        let mut names: Vec<&str> =
            old.facts.iter().chain(&new.facts).map(|fact| fact.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            let (before, after) = (of(&old.facts, name), of(&new.facts, name));
            let value = |fact: &Option<Fact>| fact.as_ref().map(|fact| fact.value.clone());
            if value(&before) == value(&after) {
                continue;
            }
            let global = |fact: &Option<Fact>| fact.as_ref().and_then(|fact| fact.global);
            if let Some(inherited) = global(&before).filter(|_| global(&before) == global(&after)) {
                self.heirs.entry(inherited).or_default().push(within.join(" "));
                continue;
            }
            let change = match (&before, &after) {
                (None, _) => Change::Added,
                (_, None) => Change::Removed,
                _ => Change::Changed,
            };
            let side = |fact: Option<Fact>| fact.map(|fact| Side { text: fact.shown(), at: fact.at });
            self.add(change, within, name.to_owned(), Sides { old: side(before), new: side(after) });
        }
    }

    /// Two sequences: what is the same in both stays, what is of one kind between the same neighbours has
    /// changed.
    fn children(&mut self, within: &[String], old: &[Node], new: &[Node]) {
        let mut gap_old: Vec<&Node> = Vec::new();
        let mut gap_new: Vec<&Node> = Vec::new();
        for step in alignment(old, new) {
            match step {
                (Some(_), Some(_)) => {
                    self.gap(within, &std::mem::take(&mut gap_old), &std::mem::take(&mut gap_new));
                }
                (Some(old), None) => gap_old.push(old),
                (None, Some(new)) => gap_new.push(new),
                (None, None) => {}
            }
        }
        self.gap(within, &gap_old, &gap_new);
    }

    fn gap(&mut self, within: &[String], old: &[&Node], new: &[&Node]) {
        let mut left: Vec<&Node> = new.to_vec();
        for before in old {
            let is_same_thing = |after: &&Node| {
                before.kind == after.kind
                    && match before.kind {
                        // A driver or parser is known by what it is called.
                        "driver" | "parser" if !before.facts.is_empty() => before.text == after.text,
                        "destination" => before.name == after.name && !before.children.is_empty(),
                        _ => true,
                    }
            };
            match left.iter().position(is_same_thing) {
                Some(at) => {
                    let after = left.remove(at);
                    if before.text != after.text {
                        let what = before.kind.to_owned();
                        self.add(Change::Changed, within, what, Sides::of(Some(before), Some(after)));
                    }
                    self.node(within, before, after);
                }
                None => self.add(Change::Removed, within, before.label(), Sides::of(Some(before), None)),
            }
        }
        for after in left {
            self.add(Change::Added, within, after.label(), Sides::of(None, Some(after)));
        }
    }
}

struct Sides {
    old: Option<Side>,
    new: Option<Side>,
}

impl Sides {
    fn of(old: Option<&Node>, new: Option<&Node>) -> Sides {
        let side = |node: &Node| Side { text: node.text.clone(), at: Some(node.at.clone()) };
        Sides { old: old.map(side), new: new.map(side) }
    }
}

#[cfg(test)]
mod tests;
