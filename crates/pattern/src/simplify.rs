//! What a search needs to know of a pattern: less than its captures, and often just a list of literal texts.

use crate::charset::CharSet;
use crate::node::{Assert, Node};

/// More texts than this are left to the regular expression engine.
const TEXTS_MAX: usize = 512;
/// A set of at most this many bytes is spelled out.
const SET_MAX: u32 = 4;

/// The pattern with the same answer to "is there a match anywhere", and nothing else: no groups, nothing at
/// either end that can always be skipped, `$` at the end spelled out.
pub fn for_search(node: &Node) -> Node {
    let plain = without_groups(node, false);
    let left = strip(plain, Side::Left);
    let both = strip(left, Side::Right);
    spell_last_newline(both)
}

/// Like [`for_search`], for texts without a newline: there `^.*` and `.*$` can be skipped too. `None` when
/// that changes nothing.
pub fn for_search_in_line(node: &Node, max: u32) -> Option<Node> {
    let newline = CharSet::of(&[(0x0a, 0x0a)]);
    let dots = [newline.negated(max), CharSet::of(&[(0, max)])];
    let plain = without_groups(node, false);
    let cut = match &plain {
        Node::Alt(items) => Node::Alt(items.iter().map(|n| cut_line(n, &dots)).collect()),
        other => cut_line(other, &dots),
    };
    (cut != plain).then(|| for_search(&cut))
}

fn cut_line(node: &Node, dots: &[CharSet; 2]) -> Node {
    let Node::Concat(items) = node else { return node.clone() };
    let any = |n: &Node| matches!(n, Node::Repeat { node, min: 0, max: None, .. } if matches!(&**node, Node::Set(s) if dots.contains(s)));
    let mut rest: &[Node] = items;
    if let [Node::Assert(Assert::Start | Assert::LineStart), dot, more @ ..] = rest
        && any(dot)
    {
        rest = more;
    }
    if let [more @ .., dot, Node::Assert(Assert::End | Assert::EndOrNewline | Assert::LineEnd)] = rest
        && any(dot)
    {
        rest = more;
    }
    Node::concat(rest.to_vec())
}

/// `greed`: whether laziness still matters, which it does for the place of the match.
fn without_groups(node: &Node, greed: bool) -> Node {
    match node {
        Node::Group(inner) => without_groups(inner, greed),
        Node::Repeat { node, min, max, greedy } => {
            let node = Box::new(without_groups(node, greed));
            Node::Repeat { node, min: *min, max: *max, greedy: *greedy || !greed }
        }
        Node::Concat(items) => {
            let mut flat = Vec::with_capacity(items.len());
            for item in items.iter().map(|n| without_groups(n, greed)) {
                match item {
                    Node::Concat(inner) => flat.extend(inner),
                    item => flat.push(item),
                }
            }
            Node::concat(flat)
        }
        Node::Alt(items) => Node::Alt(items.iter().map(|n| without_groups(n, greed)).collect()),
        other => other.clone(),
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Side {
    Left,
    Right,
}

/// An unanchored search finds `a*b` exactly where it finds `b`, and `ab+` where it finds `ab`.
fn strip(node: Node, side: Side) -> Node {
    match node {
        Node::Repeat { node, min, .. } if !node.any_assert(&|_| true) => match min {
            0 => Node::Empty,
            1 => strip(*node, side),
            n => Node::Repeat { node, min: n, max: Some(n), greedy: true },
        },
        Node::Alt(items) => Node::Alt(items.into_iter().map(|n| strip(n, side)).collect()),
        Node::Concat(mut items) => {
            while let Some(end) = if side == Side::Left { items.first() } else { items.last() } {
                let stripped = strip(end.clone(), side);
                let at = if side == Side::Left { 0 } else { items.len() - 1 };
                if stripped == Node::Empty {
                    items.remove(at);
                    continue;
                }
                items[at] = stripped;
                break;
            }
            Node::concat(items)
        }
        other => other,
    }
}

/// `$` with nothing after it is `\n?\z`, which every engine knows.
fn spell_last_newline(node: Node) -> Node {
    match node {
        Node::Assert(Assert::EndOrNewline) => {
            let newline = Node::Literal { bytes: vec![b'\n'], icase: false };
            let maybe = Node::Repeat { node: Box::new(newline), min: 0, max: Some(1), greedy: true };
            Node::Concat(vec![maybe, Node::Assert(Assert::End)])
        }
        Node::Concat(mut items) => {
            if let Some(last) = items.pop() {
                items.push(spell_last_newline(last));
            }
            Node::concat(items)
        }
        Node::Alt(items) => Node::Alt(items.into_iter().map(spell_last_newline).collect()),
        other => other,
    }
}

/// What must follow the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Anything,
    Nothing,
    /// Nothing, or one newline.
    MaybeNewline,
}

/// A pattern that is one of a few texts, in order of preference, perhaps tied to the beginning or the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Texts {
    pub at_start: bool,
    pub end: End,
    pub texts: Vec<Vec<u8>>,
    pub icase: bool,
}

/// Reads the pattern (groups count for nothing) as a list of texts.
pub fn texts(node: &Node) -> Option<Texts> {
    let node = without_groups(node, true);
    if let Node::Alt(branches) = &node {
        let mut parts = branches.iter().map(one_branch).collect::<Option<Vec<Texts>>>()?;
        let first = parts.first()?.clone();
        let lettered: Vec<bool> =
            parts.iter().filter(|p| p.texts.iter().any(|t| has_letters(t))).map(|p| p.icase).collect();
        let icase = lettered.first().copied().unwrap_or_default();
        let alike = parts.iter().all(|p| (p.at_start, p.end) == (first.at_start, first.end));
        if !alike || lettered.iter().any(|i| *i != icase) {
            return None;
        }
        let texts: Vec<Vec<u8>> = parts.iter_mut().flat_map(|p| std::mem::take(&mut p.texts)).collect();
        return (texts.len() <= TEXTS_MAX).then_some(Texts { texts, icase, ..first });
    }
    one_branch(&node)
}

fn one_branch(node: &Node) -> Option<Texts> {
    let single = [node.clone()];
    let mut items: &[Node] = match node {
        Node::Concat(items) => items,
        _ => &single,
    };
    let mut at_start = false;
    let mut end = End::Anything;
    if let [Node::Assert(Assert::Start), rest @ ..] = items {
        (at_start, items) = (true, rest);
    }
    match items {
        [rest @ .., Node::Assert(Assert::EndOrNewline)] => (end, items) = (End::MaybeNewline, rest),
        [rest @ .., Node::Repeat { node, min: 0, max: Some(1), .. }, Node::Assert(Assert::End)] if matches!(&**node, Node::Literal { bytes, .. } if bytes == b"\n") => {
            (end, items) = (End::MaybeNewline, rest)
        }
        [rest @ .., Node::Assert(Assert::End)] => (end, items) = (End::Nothing, rest),
        _ => {}
    }
    let expanded = expand_all(items)?;
    let mut icase = None;
    for (_, folded) in expanded.iter().filter(|(text, _)| has_letters(text)) {
        if *icase.get_or_insert(*folded) != *folded {
            return None;
        }
    }
    let texts = expanded.into_iter().map(|(text, _)| text).collect();
    Some(Texts { at_start, end, texts, icase: icase.unwrap_or_default() })
}

fn has_letters(text: &[u8]) -> bool {
    text.iter().any(u8::is_ascii_alphabetic)
}

/// The texts a node stands for in order of preference, each with whether its letters are folded.
fn expand(node: &Node) -> Option<Vec<(Vec<u8>, bool)>> {
    match node {
        Node::Empty => Some(vec![(Vec::new(), false)]),
        Node::Literal { bytes, icase } => Some(vec![(bytes.clone(), *icase)]),
        Node::Set(set) => {
            let count: u32 = set.ranges().iter().map(|(a, b)| b - a + 1).sum();
            if count == 0 || count > SET_MAX || set.ranges().iter().any(|(_, b)| *b > 0x7f) {
                return None;
            }
            let bytes = set.ranges().iter().flat_map(|(a, b)| *a..=*b);
            Some(bytes.filter_map(|b| u8::try_from(b).ok()).map(|b| (vec![b], false)).collect())
        }
        Node::Repeat { node, min, max: Some(max), greedy } if min == max || (*min, *max) == (0, 1) => {
            if (*min, *max) == (0, 1) {
                let mut some = expand(node)?;
                let none = (Vec::new(), false);
                if *greedy {
                    some.push(none)
                } else {
                    some.insert(0, none)
                }
                return Some(some);
            }
            expand_all(&vec![(**node).clone(); usize::try_from(*min).ok().filter(|n| *n <= 64)?])
        }
        Node::Concat(items) => expand_all(items),
        Node::Alt(items) => {
            let mut all = Vec::new();
            for item in items {
                all.extend(expand(item)?);
                if all.len() > TEXTS_MAX {
                    return None;
                }
            }
            Some(all)
        }
        Node::Repeat { .. } | Node::Assert(_) | Node::Group(_) => None,
    }
}

/// Every choice of the first item with every choice of the next: the order in which a backtracking engine
/// tries them.
fn expand_all(items: &[Node]) -> Option<Vec<(Vec<u8>, bool)>> {
    let mut all = vec![(Vec::new(), false)];
    for item in items {
        let choices = expand(item)?;
        if all.len() * choices.len() > TEXTS_MAX {
            return None;
        }
        let mut next = Vec::with_capacity(all.len() * choices.len());
        for (text, folded) in &all {
            for (more, more_folded) in &choices {
                if has_letters(text) && has_letters(more) && folded != more_folded {
                    return None;
                }
                let joined = [text.as_slice(), more].concat();
                let folded = if has_letters(more) { *more_folded } else { *folded };
                next.push((joined, folded));
            }
        }
        all = next;
    }
    Some(all)
}
