//! Patterns without a choice: texts, bytes of a set, and runs of a set of which nothing behind them could
//! take a byte, so that every run is as long as it can be or there is no match. The first text of such a
//! pattern is searched, then the rest is walked along from there. That finds what an automaton finds, without
//! setting one up for each search.

use crate::charset::CharSet;
use crate::node::Node;
use memchr::memmem::Finder;
use memchr::{memchr, memchr2, memchr3};

/// Pieces of a pattern; others are left to an automaton.
const PIECES_MAX: usize = 64;
/// Times a repeated sequence is written down.
const TIMES_MAX: u32 = 8;
/// Bytes that may be walked along for each byte of a text. A text of many beginnings that lead nowhere is
/// left to an automaton, whose time grows with the text only.
const WORK_TIMES: usize = 4;

pub struct Sequence {
    /// What stands before the anchor.
    before: Option<Run>,
    /// Ends of groups at the beginning of the match, and of those between it and the anchor.
    first_marks: Vec<Mark>,
    anchor_marks: Vec<Mark>,
    /// The first text.
    anchor: Finder<'static>,
    after: Vec<Piece>,
    groups: usize,
}

enum Piece {
    Text(Vec<u8>),
    Run(Run),
    Mark(Mark),
}

/// The beginning or the end of a group.
#[derive(Clone, Copy)]
pub struct Mark {
    pub group: usize,
    pub opens: bool,
}

impl Mark {
    /// Writes a place down in the spans of groups.
    #[inline]
    pub fn note(self, at: usize, spans: &mut [Option<(usize, usize)>]) {
        match spans.get_mut(self.group) {
            Some(span) if self.opens => *span = Some((at, at)),
            Some(Some((_, end))) => *end = at,
            _ => {}
        }
    }
}

/// So many bytes of a set, as many as there are.
struct Run {
    set: Box<[bool; 256]>,
    /// The bytes that end it, where they are few.
    stops: Vec<u8>,
    min: usize,
    max: usize,
    greedy: bool,
}

/// What a search says.
pub enum Found {
    Match(usize, usize),
    Nothing,
    /// It has been given up, for want of a bound on its time.
    Unknown,
}

impl Run {
    fn of(set: &CharSet, min: u32, max: Option<u32>, greedy: bool) -> Option<Run> {
        let mut bytes = Box::new([false; 256]);
        for byte in set.ranges().iter().flat_map(|(from, to)| *from..=*to) {
            *bytes.get_mut(byte as usize)? = true;
        }
        let mut stops: Vec<u8> = (0..=255).filter(|byte| !bytes[usize::from(*byte)]).collect();
        if stops.len() > 3 {
            stops.clear();
        }
        let max = max.map_or(usize::MAX, |max| max as usize);
        Some(Run { set: bytes, stops, min: min as usize, max, greedy })
    }

    #[inline]
    fn has(&self, byte: u8) -> bool {
        self.set[usize::from(byte)]
    }

    /// Where the run that begins at `at` ends; `None` when it is too short.
    #[inline]
    fn walk(&self, text: &[u8], at: usize) -> Option<usize> {
        let rest = text.get(at..)?;
        let rest = rest.get(..self.max).unwrap_or(rest);
        let end = match *self.stops {
            [a] => memchr(a, rest),
            [a, b] => memchr2(a, b, rest),
            [a, b, c] => memchr3(a, b, c, rest),
            _ => rest.iter().position(|byte| !self.has(*byte)),
        };
        let len = end.unwrap_or(rest.len());
        (len >= self.min).then_some(at + len)
    }

    /// Where the run that ends at `end` begins, at `from` or later.
    #[inline]
    fn walk_back(&self, text: &[u8], from: usize, end: usize) -> Option<usize> {
        let rest = text.get(from..end)?;
        let len = rest.iter().rev().take(self.max).take_while(|byte| self.has(**byte)).count();
        (len >= self.min).then_some(end - len)
    }
}

impl Sequence {
    /// `None` when the pattern is none. With `utf8`, what is not ASCII is left to the automaton.
    pub fn new(node: &Node, utf8: bool) -> Option<Sequence> {
        let mut pieces = Vec::new();
        let mut groups = 1;
        flatten(node, utf8, &mut groups, &mut pieces)?;
        let runs_are_sure = (0..pieces.len()).all(|at| is_sure(&pieces, at));
        let anchor = pieces.iter().position(|piece| matches!(piece, Piece::Text(_)))?;
        let after = pieces.split_off(anchor + 1);
        let Some(Piece::Text(text)) = pieces.pop() else { return None };
        let mut sequence = Sequence {
            before: None,
            first_marks: Vec::new(),
            anchor_marks: Vec::new(),
            anchor: Finder::new(&text).into_owned(),
            after,
            groups,
        };
        for piece in pieces {
            match piece {
                Piece::Run(run) if sequence.before.is_none() => sequence.before = Some(run),
                Piece::Mark(mark) if sequence.before.is_none() => sequence.first_marks.push(mark),
                Piece::Mark(mark) => sequence.anchor_marks.push(mark),
                _ => return None,
            }
        }
        runs_are_sure.then_some(sequence)
    }

    /// With the whole match.
    pub fn groups(&self) -> usize {
        self.groups
    }

    /// The leftmost match at `at` or later. `mark` is told where groups begin and end, also of beginnings
    /// that lead nowhere: what is said last of a group counts.
    #[inline]
    pub fn find(&self, text: &[u8], at: usize, mut mark: impl FnMut(Mark, usize)) -> Found {
        let mut from = at;
        let mut work = text.len().saturating_mul(WORK_TIMES) + 256;
        while let Some(hit) = text.get(from..).and_then(|rest| self.anchor.find(rest)) {
            let place = from + hit;
            let start = match &self.before {
                None => Some(place),
                Some(run) => run.walk_back(text, at, place),
            };
            if let Some(start) = start {
                self.first_marks.iter().for_each(|m| mark(*m, start));
                self.anchor_marks.iter().for_each(|m| mark(*m, place));
                let mut end = place + self.anchor.needle().len();
                if self.follow(text, &mut end, &mut mark) {
                    return Found::Match(start, end);
                }
                let Some(left) = work.checked_sub(end - start) else { return Found::Unknown };
                work = left;
            }
            from = place + 1;
        }
        Found::Nothing
    }

    /// Walks along what stands behind the anchor, as far as it goes.
    #[inline]
    fn follow(&self, text: &[u8], at: &mut usize, mark: &mut impl FnMut(Mark, usize)) -> bool {
        for piece in &self.after {
            match piece {
                Piece::Text(expected) => match text.get(*at..) {
                    Some(rest) if starts_with(rest, expected) => *at += expected.len(),
                    _ => return false,
                },
                Piece::Run(run) => match run.walk(text, *at) {
                    Some(end) => *at = end,
                    None => return false,
                },
                Piece::Mark(m) => mark(*m, *at),
            }
        }
        true
    }
}

#[inline(always)]
fn starts_with(rest: &[u8], expected: &[u8]) -> bool {
    rest.first() == expected.first() && (expected.len() == 1 || rest.starts_with(expected))
}

/// Whether the run at this place needs no second try with fewer bytes, or more.
fn is_sure(pieces: &[Piece], at: usize) -> bool {
    let Some(Piece::Run(run)) = pieces.get(at) else { return true };
    if run.min == run.max {
        return true;
    }
    for piece in pieces.iter().skip(at + 1) {
        match piece {
            Piece::Text(text) => return text.first().is_some_and(|byte| !run.has(*byte)),
            Piece::Run(next) => {
                if (0..=255).any(|byte| run.has(byte) && next.has(byte)) {
                    return false;
                }
                if next.min > 0 {
                    return true;
                }
            }
            Piece::Mark(_) => {}
        }
    }
    run.greedy
}

fn flatten(node: &Node, utf8: bool, groups: &mut usize, pieces: &mut Vec<Piece>) -> Option<()> {
    match node {
        Node::Empty => {}
        Node::Literal { bytes, icase } => {
            for byte in bytes {
                match *icase && byte.is_ascii_alphabetic() {
                    true => {
                        let letter = |byte: u8| (u32::from(byte), u32::from(byte));
                        let both = [letter(byte.to_ascii_lowercase()), letter(byte.to_ascii_uppercase())];
                        pieces.push(Piece::Run(Run::of(&CharSet::of(&both), 1, Some(1), true)?));
                    }
                    false => match pieces.last_mut() {
                        Some(Piece::Text(text)) => text.push(*byte),
                        _ => pieces.push(Piece::Text(vec![*byte])),
                    },
                }
            }
        }
        Node::Set(set) => pieces.push(Piece::Run(run(set, utf8, 1, Some(1), true)?)),
        Node::Repeat { node, min, max, greedy } => match (&**node, *max) {
            (Node::Set(set), _) => pieces.push(Piece::Run(run(set, utf8, *min, *max, *greedy)?)),
            (Node::Literal { bytes, icase: false }, _) if bytes.len() == 1 => {
                let byte = u32::from(*bytes.first()?);
                pieces.push(Piece::Run(Run::of(&CharSet::of(&[(byte, byte)]), *min, *max, *greedy)?));
            }
            (inner, Some(max)) if *min == max && (1..=TIMES_MAX).contains(&max) => {
                let first = *groups;
                for _ in 0..max {
                    *groups = first;
                    flatten(inner, utf8, groups, pieces)?;
                }
            }
            _ => return None,
        },
        Node::Group(inner) => {
            let group = *groups;
            *groups += 1;
            pieces.push(Piece::Mark(Mark { group, opens: true }));
            flatten(inner, utf8, groups, pieces)?;
            pieces.push(Piece::Mark(Mark { group, opens: false }));
        }
        Node::Concat(items) => {
            for item in items {
                flatten(item, utf8, groups, pieces)?;
            }
        }
        Node::Assert(_) | Node::Alt(_) => return None,
    }
    (pieces.len() <= PIECES_MAX).then_some(())
}

fn run(set: &CharSet, utf8: bool, min: u32, max: Option<u32>, greedy: bool) -> Option<Run> {
    let ascii = set.ranges().iter().all(|(_, last)| *last < 0x80);
    if ascii || !utf8 { Run::of(set, min, max, greedy) } else { None }
}

#[cfg(test)]
mod tests;
