//! A batch on its way: rows in the order of the queue, and as each table gets them.

use crate::place::{self, Places};
use crate::plan::Plan;
use crate::row;
use crate::shape::{self, Id};
use bytes::Bytes;
use flight::Part;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// What goes to the threads of the guests: rows of text, see [`crate::row`].
pub struct Load {
    pub bytes: Bytes,
    pub ends: Arc<[u32]>,
    /// Of the messages in the queue on disk, where the position is kept; see [`Part::numbers`].
    pub numbers: Vec<Option<u64>>,
    /// Where they stand in the sequences that they come from.
    pub places: Places,
    /// Where rows begin that were made for other columns than those before them, and for which; the first
    /// stands at 0.
    pub made_for: Vec<(usize, Option<Id>)>,
}

impl Load {
    /// How many of its messages have numbers before this one.
    pub fn before(&self, position: u64) -> usize {
        let last = self.numbers.iter().rposition(|number| number.is_some_and(|number| number < position));
        last.map_or(0, |last| last + 1)
    }

    /// Its first messages, which were all made for the same columns, and these.
    pub fn first(mut self) -> (Load, Option<Id>) {
        let made_for = self.made_for.first().and_then(|(_, id)| *id);
        if let Some((count, _)) = self.made_for.get(1).copied() {
            let ends = self.ends.get(..count).unwrap_or_default();
            self.bytes.truncate(ends.last().map_or(0, |end| *end as usize));
            self.ends = ends.into();
            self.numbers.truncate(count);
            self.places.cut(count);
            self.made_for.truncate(1);
        }
        (self, made_for)
    }

    /// The number after that of its last message, as far as it is known.
    pub fn until(&self) -> Option<u64> {
        self.numbers.iter().rev().find_map(|number| number.map(|number| number + 1))
    }
}

/// Made on the worker: the one copy of its messages on their way to the kernel.
pub fn load(part: &Part<'_>) -> Load {
    let mut bytes = Vec::with_capacity(part.bytes);
    let mut ends = Vec::with_capacity(part.messages.len());
    let mut places = Places::default();
    let mut made_for: Vec<(usize, Option<Id>)> = Vec::new();
    for (index, message) in part.messages.iter().enumerate() {
        let (place, row) = place::split(message);
        places.note(index, place);
        let (id, row) = shape::split(row);
        if made_for.last().is_none_or(|(_, last)| *last != id) {
            made_for.push((index, id));
        }
        bytes.extend_from_slice(row);
        ends.push(bytes.len() as u32);
    }
    Load { bytes: bytes.into(), ends: ends.into(), numbers: part.numbers.to_vec(), places, made_for }
}

/// Consecutive rows for one table, each with its line end. Clones share them.
#[derive(Clone, Debug)]
pub struct Rows {
    bytes: Bytes,
    ends: Arc<[u32]>,
    range: Range<usize>,
}

impl Rows {
    pub fn new(bytes: Bytes, ends: Arc<[u32]>) -> Rows {
        Rows { range: 0..ends.len(), bytes, ends }
    }

    pub fn count(&self) -> usize {
        self.range.len()
    }

    fn end_of(&self, count: usize) -> usize {
        let last = count.checked_sub(1).and_then(|last| self.ends.get(last));
        last.map_or(0, |end| *end as usize)
    }

    /// Those from one to another of these.
    pub fn part(&self, from: usize, to: usize) -> Rows {
        let start = self.range.start;
        let end = (start + to).min(self.range.end);
        Rows { range: (start + from).min(end)..end, ..self.clone() }
    }

    /// All of them in one piece.
    pub fn bytes(&self) -> Bytes {
        self.bytes.slice(self.end_of(self.range.start)..self.end_of(self.range.end))
    }

    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let row = |at: usize| self.bytes.get(self.end_of(at)..self.end_of(at + 1)).unwrap_or_default();
        self.range.clone().map(row)
    }
}

/// The rows of a batch that are for one table, and the places of their messages in the batch.
pub struct Group {
    pub table: String,
    pub rows: Rows,
    pub places: Vec<u32>,
}

/// The rows of a batch by tables, in the order in which these come first.
pub fn groups(plan: &Plan, load: &Load) -> Vec<Group> {
    let count = load.ends.len() as u32;
    if let Some(table) = &plan.table {
        let rows = Rows::new(load.bytes.clone(), Arc::clone(&load.ends));
        return vec![Group { table: table.clone(), rows, places: (0..count).collect() }];
    }
    let all = Rows::new(load.bytes.clone(), Arc::clone(&load.ends));
    let mut groups: Vec<Gathered<'_>> = Vec::new();
    let mut last = 0;
    for (place, text) in all.iter().enumerate() {
        let (table, rest) = row::table(text);
        // Neighbours mostly go to the same table.
        let at = match groups.get(last).is_some_and(|group| group.table == table) {
            true => last,
            false => groups.iter().position(|group| group.table == table).unwrap_or(groups.len()),
        };
        if at == groups.len() {
            groups.push(Gathered { table, bytes: Vec::new(), ends: Vec::new(), places: Vec::new() });
        }
        if let Some(group) = groups.get_mut(at) {
            group.bytes.extend_from_slice(rest);
            group.ends.push(group.bytes.len() as u32);
            group.places.push(place as u32);
        }
        last = at;
    }
    let group = |group: Gathered<'_>| Group {
        table: String::from_utf8_lossy(&group.table).into_owned(),
        rows: Rows::new(group.bytes.into(), group.ends.into()),
        places: group.places,
    };
    groups.into_iter().map(group).collect()
}

/// A group that grows.
struct Gathered<'a> {
    table: Cow<'a, [u8]>,
    bytes: Vec<u8>,
    ends: Vec<u32>,
    places: Vec<u32>,
}
