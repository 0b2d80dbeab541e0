//! What of two configurations is the same thing: log paths, and the steps in them.

use crate::outline::{Node, Path};
use std::collections::{BTreeMap, BTreeSet};

/// Nodes of two lists that are held against each other one by one; longer ones are paired from both ends.
const PAIRED_MAX: usize = 4_000_000;

/// A log path as people call it.
pub fn named(path: &Path) -> Node {
    let mut node = path.node.clone();
    node.kind = "log path";
    if node.name.is_empty() {
        node.name.clone_from(&node.at);
    }
    node
}

/// Which path is which: the same one, that of the same name, the one that is most like it.
pub fn pairs_of_paths<'p>(old: &'p [Path], new: &'p [Path]) -> Vec<(Option<&'p Path>, Option<&'p Path>)> {
    let mut by_meaning: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, path) in new.iter().enumerate().rev() {
        by_meaning.entry(path.node.meaning()).or_default().push(at);
    }
    let mut taken = vec![false; new.len()];
    let mut found: Vec<Option<usize>> = Vec::new();
    for path in old {
        let same = by_meaning.get_mut(&path.node.meaning()).and_then(Vec::pop);
        if let Some(taken) = same.and_then(|at| taken.get_mut(at)) {
            *taken = true;
        }
        found.push(same);
    }
    for (path, found) in old.iter().zip(&mut found) {
        if found.is_some() {
            continue;
        }
        let free = || new.iter().enumerate().filter(|(at, _)| taken.get(*at) == Some(&false));
        let named = free().find(|(_, other)| !path.node.name.is_empty() && other.node.name == path.node.name);
        let like = || free().max_by_key(|(_, other)| likeness(path, other));
        let at = named.or_else(|| like().filter(|(_, other)| likeness(path, other) > 0)).map(|(at, _)| at);
        if let Some(taken) = at.and_then(|at| taken.get_mut(at)) {
            *taken = true;
        }
        *found = at;
    }
    let mut pairs: Vec<_> =
        old.iter().zip(found).map(|(path, at)| (Some(path), at.and_then(|at| new.get(at)))).collect();
    let added = new.iter().zip(&taken).filter(|(_, taken)| !**taken);
    pairs.extend(added.map(|(path, _)| (None, Some(path))));
    pairs
}

/// How many of their steps, those in branches too, two paths have in common.
fn likeness(a: &Path, b: &Path) -> usize {
    let there = steps(b);
    steps(a).iter().filter(|step| there.contains(*step)).count()
}

fn steps(path: &Path) -> BTreeSet<String> {
    let mut steps = BTreeSet::new();
    for child in &path.node.children {
        child.each(&mut |node| {
            // A source alone, or a flag, makes nobody alike.
            if !matches!(node.kind, "from" | "flags") {
                steps.insert(node.meaning());
            }
        });
    }
    steps
}

/// The longest common sequence, with what is only in one of the two between.
pub fn alignment<'n>(old: &'n [Node], new: &'n [Node]) -> Vec<(Option<&'n Node>, Option<&'n Node>)> {
    let (a, b) = (meanings(old), meanings(new));
    let same_at_begin = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let same_at_end = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
    let same_at_end = same_at_end.min(a.len().min(b.len()) - same_at_begin);
    let (mid_old, mid_new) = (same_at_begin..a.len() - same_at_end, same_at_begin..b.len() - same_at_end);
    let mut steps: Vec<(Option<&Node>, Option<&Node>)> =
        old.iter().zip(new).take(same_at_begin).map(|(old, new)| (Some(old), Some(new))).collect();
    let inside =
        |nodes: &'n [Node], range: &std::ops::Range<usize>| nodes.get(range.clone()).unwrap_or_default();
    let (old_part, new_part) = (inside(old, &mid_old), inside(new, &mid_new));
    if old_part.len().saturating_mul(new_part.len()) > PAIRED_MAX {
        steps.extend(old_part.iter().map(|node| (Some(node), None)));
        steps.extend(new_part.iter().map(|node| (None, Some(node))));
    } else {
        steps.extend(longest_common(old_part, new_part));
    }
    let tail = old.iter().skip(mid_old.end).zip(new.iter().skip(mid_new.end));
    steps.extend(tail.map(|(old, new)| (Some(old), Some(new))));
    steps
}

fn longest_common<'n>(old: &'n [Node], new: &'n [Node]) -> Vec<(Option<&'n Node>, Option<&'n Node>)> {
    let (a, b) = (meanings(old), meanings(new));
    let width = b.len() + 1;
    // Of the rest from each pair of places on, the length of the longest common sequence.
    let mut lengths = vec![0_usize; (a.len() + 1) * width];
    let at = |lengths: &[usize], i: usize, j: usize| lengths.get(i * width + j).copied().unwrap_or(0);
    for (i, left) in a.iter().enumerate().rev() {
        for (j, right) in b.iter().enumerate().rev() {
            let best = match left == right {
                true => at(&lengths, i + 1, j + 1) + 1,
                false => at(&lengths, i + 1, j).max(at(&lengths, i, j + 1)),
            };
            if let Some(place) = lengths.get_mut(i * width + j) {
                *place = best;
            }
        }
    }
    let (mut i, mut j, mut steps) = (0, 0, Vec::new());
    loop {
        match (old.get(i), new.get(j)) {
            (None, None) => return steps,
            (Some(left), Some(right)) if a.get(i) == b.get(j) => {
                steps.push((Some(left), Some(right)));
                i += 1;
                j += 1;
            }
            (Some(left), right) if right.is_none() || at(&lengths, i + 1, j) >= at(&lengths, i, j + 1) => {
                steps.push((Some(left), None));
                i += 1;
            }
            (_, right) => {
                steps.push((None, right));
                j += 1;
            }
        }
    }
}

fn meanings(nodes: &[Node]) -> Vec<String> {
    nodes.iter().map(Node::meaning).collect()
}
