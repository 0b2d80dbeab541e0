//! The containers of a batch: nodes whose cells stand in one vector that only grows. A list has a cell for
//! each item, a dictionary two for each pair, in the order in which keys came.

mod index;
mod origin;
mod sought;

pub(crate) use origin::Edited;
pub use origin::LAID_OUT_MAX;

use crate::json::Lately;
use crate::{Seed, Span, Value};
use origin::Origin;
use sought::Sought;

/// A container, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node(u32);

/// Cells of a batch's containers: 64 MiB.
pub const CELLS_MAX: usize = 4 << 20;
/// Pairs that are looked through one by one; dictionaries with more have an index.
const PAIRS_PLAIN: usize = 32;
const NO_INDEX: u32 = u32::MAX;
/// Keys of which is remembered where they were. A power of two.
const FOUND_PLACES: usize = 32;

/// There is no room for more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

#[derive(Clone, Copy, Debug)]
struct Body {
    start: u32,
    /// Cells in use, and cells there are.
    len: u32,
    room: u32,
    /// Where its index of pairs begins, and how large it is; [`NO_INDEX`] for none.
    index: u32,
    index_len: u32,
    shared: bool,
    origin: Origin,
}

#[derive(Debug, Default)]
pub struct Trees {
    bodies: Vec<Body>,
    cells: Vec<Value>,
    /// Numbers of pairs by the hash of their keys; 0 for an empty place, else one more than the number.
    index: Vec<u32>,
    /// Cells of containers that are being read, the innermost last.
    pub(crate) stack: Vec<Value>,
    /// Texts that are made for what is being read.
    pub(crate) made: Vec<u8>,
    /// Dictionaries among what is being read in which a key may come twice.
    pub(crate) repeated: Vec<Node>,
    /// Keys of what was read before.
    pub(crate) lately: Lately,
    /// Where keys were found before, by their first bytes: dictionaries of one kind have them there again.
    found: [u32; FOUND_PLACES],
    seed: Seed,
}

/// A key that is looked for.
#[derive(Clone, Copy, Debug)]
pub enum Key<'a> {
    Text(&'a [u8]),
    Other(Value),
}

impl<'a> Key<'a> {
    pub fn of(value: Value, text: &'a [u8]) -> Key<'a> {
        match value {
            Value::String(span) => Key::Text(span.of(text)),
            other => Key::Other(other),
        }
    }
}

impl Trees {
    /// Forgets all containers, keeping the memory.
    pub fn clear(&mut self) {
        self.bodies.clear();
        self.cells.clear();
        self.index.clear();
        self.stack.clear();
    }

    /// Bytes in use.
    pub fn size(&self) -> usize {
        self.cells.len() * size_of::<Value>() + self.bodies.len() * size_of::<Body>() + self.index.len() * 4
    }

    pub fn is_empty(&self) -> bool {
        self.bodies.is_empty()
    }

    /// An empty container with room for so many cells.
    pub fn new_node(&mut self, room: usize) -> Result<Node, Full> {
        let start = self.begin(room)?;
        self.cells.resize(start + room, Value::Null);
        Ok(self.add(start, 0, room))
    }

    /// A container of these cells.
    pub fn node_of(&mut self, cells: &[Value]) -> Result<Node, Full> {
        let start = self.begin(cells.len())?;
        self.cells.extend_from_slice(cells);
        Ok(self.add(start, cells.len(), cells.len()))
    }

    /// A container of what is on the stack above `mark`.
    pub(crate) fn node_of_stack(&mut self, mark: usize) -> Result<Node, Full> {
        let len = self.stack.len() - mark.min(self.stack.len());
        let start = self.begin(len)?;
        self.cells.extend_from_slice(self.stack.get(mark..).unwrap_or_default());
        self.stack.truncate(mark);
        Ok(self.add(start, len, len))
    }

    /// Where the next node begins, if so many cells have room.
    #[inline]
    fn begin(&self, room: usize) -> Result<usize, Full> {
        let start = self.cells.len();
        if start + room + self.bodies.len() > CELLS_MAX { Err(Full) } else { Ok(start) }
    }

    #[inline]
    fn add(&mut self, start: usize, len: usize, room: usize) -> Node {
        let (start, len, room) = (start as u32, len as u32, room as u32);
        let origin = Origin::default();
        self.bodies.push(Body { start, len, room, index: NO_INDEX, index_len: 0, shared: false, origin });
        Node(self.bodies.len() as u32 - 1)
    }

    #[inline]
    fn body(&self, node: Node) -> Option<&Body> {
        self.bodies.get(node.0 as usize)
    }

    /// All cells: items, or keys and values by turns.
    #[inline]
    pub fn cells(&self, node: Node) -> &[Value] {
        let Some(body) = self.body(node) else { return &[] };
        let start = body.start as usize;
        self.cells.get(start..start + body.len as usize).unwrap_or_default()
    }

    #[inline]
    pub fn cell(&self, node: Node, at: usize) -> Option<Value> {
        self.cells(node).get(at).copied()
    }

    /// Puts another value into a cell that is in use.
    pub fn set_cell(&mut self, node: Node, at: usize, value: Value) {
        let Some(body) = self.bodies.get_mut(node.0 as usize) else { return };
        if at < body.len as usize
            && let Some(cell) = self.cells.get_mut(body.start as usize + at)
        {
            *cell = value;
            body.origin.changed(at);
        }
    }

    /// Pairs of a dictionary in their order.
    pub fn pairs(&self, node: Node) -> impl Iterator<Item = (Value, Value)> + '_ {
        self.cells(node).chunks_exact(2).map(|pair| (pair[0], pair[1]))
    }

    /// Appends a cell, moving the node where it has no room.
    pub fn push(&mut self, node: Node, value: Value) -> Result<(), Full> {
        let Some(body) = self.bodies.get(node.0 as usize).copied() else { return Err(Full) };
        if body.len == body.room {
            self.grow(node, body)?;
        }
        let Some(body) = self.bodies.get_mut(node.0 as usize) else { return Err(Full) };
        let at = (body.start + body.len) as usize;
        let Some(cell) = self.cells.get_mut(at) else { return Err(Full) };
        *cell = value;
        body.len += 1;
        Ok(())
    }

    fn grow(&mut self, node: Node, body: Body) -> Result<(), Full> {
        let room = (body.room as usize * 2).max(8);
        let start = self.begin(room)?;
        let old = body.start as usize;
        self.cells.extend_from_within(old..old + body.len as usize);
        self.cells.resize(start + room, Value::Null);
        if let Some(place) = self.bodies.get_mut(node.0 as usize) {
            (place.start, place.room) = (start as u32, room as u32);
        }
        Ok(())
    }

    /// Takes one cell, or the two of a pair, out; what stands behind moves up.
    pub fn remove(&mut self, node: Node, at: usize, count: usize) {
        let Some(body) = self.bodies.get_mut(node.0 as usize) else { return };
        let (start, len) = (body.start as usize, body.len as usize);
        if at + count > len {
            return;
        }
        self.cells.copy_within(start + at + count..start + len, start + at);
        body.len -= count as u32;
        body.index = NO_INDEX;
        body.origin = Origin::default();
    }

    /// Leaves the first cells.
    pub fn truncate(&mut self, node: Node, len: usize) {
        if let Some(body) = self.bodies.get_mut(node.0 as usize) {
            body.len = body.len.min(len as u32);
            body.index = NO_INDEX;
            body.origin = Origin::default();
        }
    }

    /// Notes that another place holds the same container from now on.
    #[inline]
    pub fn share(&mut self, value: Value) {
        if let Some(body) = value.node().and_then(|node| self.bodies.get_mut(node.0 as usize)) {
            body.shared = true;
        }
    }

    /// The container to change: itself, or, where another place holds it too, a copy.
    pub fn own(&mut self, node: Node) -> Result<Node, Full> {
        match self.body(node) {
            Some(body) if body.shared => self.copy(node),
            _ => Ok(node),
        }
    }

    /// A copy of the node; what is in it is shared by both.
    pub fn copy(&mut self, node: Node) -> Result<Node, Full> {
        let Some(body) = self.body(node).copied() else { return Err(Full) };
        let len = body.len as usize;
        let copy = self.new_node(len + len / 2)?;
        let (from, to) = (body.start as usize, self.bodies.last().map_or(0, |b| b.start as usize));
        self.cells.copy_within(from..from + len, to);
        for at in to..to + len {
            if let Some(value) = self.cells.get(at).copied() {
                self.share(value);
            }
        }
        if let Some(place) = self.bodies.last_mut() {
            (place.len, place.origin) = (len as u32, body.origin);
        }
        Ok(copy)
    }

    /// Number of the pair with this key.
    pub fn find(&mut self, node: Node, key: Key<'_>, text: &[u8]) -> Option<usize> {
        if self.cells(node).len() > 2 * PAIRS_PLAIN {
            return self.find_indexed(node, key, text);
        }
        match key {
            Key::Text(key) => self.find_text(node, &Sought::new(key), text),
            Key::Other(key) => {
                self.cells(node).chunks_exact(2).position(|pair| self.is_same(pair[0], key, text))
            }
        }
    }

    fn find_text(&mut self, node: Node, sought: &Sought<'_>, text: &[u8]) -> Option<usize> {
        let cells = self.cells(node);
        let place = sought.place(FOUND_PLACES);
        if let Some(pair) = self.found.get(place).map(|pair| *pair as usize)
            && cells.get(2 * pair).is_some_and(|known| sought.is(*known, text))
        {
            return Some(pair);
        }
        let pair = cells.chunks_exact(2).position(|pair| sought.is(pair[0], text))?;
        if let Some(found) = self.found.get_mut(place) {
            *found = pair as u32;
        }
        Some(pair)
    }

    /// The value of a key.
    #[inline]
    pub fn get(&mut self, node: Node, key: Key<'_>, text: &[u8]) -> Option<Value> {
        let pair = self.find(node, key, text)?;
        self.cell(node, 2 * pair + 1)
    }

    /// Sets the value of a key: in its place, or at the end.
    pub fn set(&mut self, node: Node, key: Value, value: Value, text: &[u8]) -> Result<(), Full> {
        match self.find(node, Key::of(key, text), text) {
            Some(pair) => self.set_cell(node, 2 * pair + 1, value),
            None => self.push_pair(node, key, value, text)?,
        }
        Ok(())
    }

    /// Appends a pair whose key is known to be new.
    pub fn push_pair(&mut self, node: Node, key: Value, value: Value, text: &[u8]) -> Result<(), Full> {
        self.push(node, key)?;
        self.push(node, value)?;
        let Some(body) = self.body(node).copied() else { return Ok(()) };
        if body.index != NO_INDEX {
            let pair = body.len as usize / 2 - 1;
            if (pair + 1) * 2 > body.index_len as usize {
                self.forget_index(node);
            } else {
                self.note(body, pair, key, text);
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn is_key(&self, known: Value, key: Key<'_>, text: &[u8]) -> bool {
        match (known, key) {
            (Value::String(span), Key::Text(bytes)) => span.of(text) == bytes,
            (known, Key::Other(value)) => self.is_same(known, value, text),
            _ => false,
        }
    }

    /// Whether two values may not both be keys of one dictionary.
    fn is_same(&self, a: Value, b: Value, text: &[u8]) -> bool {
        match (a, b) {
            (Value::String(a), Value::String(b)) => a.of(text) == b.of(text),
            (Value::Tuple(a), Value::Tuple(b)) => {
                let (a, b) = (self.cells(a), self.cells(b));
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| self.is_same(*a, *b, text))
            }
            (Value::Boolean(_) | Value::Integer(_) | Value::Double(_), _) => a == b,
            _ => false,
        }
    }

    /// Whether a value can be a key.
    pub fn is_hashable(&self, value: Value) -> bool {
        match value {
            Value::String(_) | Value::Integer(_) | Value::Double(_) | Value::Boolean(_) => true,
            Value::Tuple(node) => self.cells(node).iter().all(|item| self.is_hashable(*item)),
            _ => false,
        }
    }

    /// Merges pairs with one key: the last value in the first place.
    pub fn merge_duplicates(&mut self, node: Node, text: &[u8]) -> Result<(), Full> {
        let copy = self.new_node(self.cells(node).len())?;
        for pair in 0..self.cells(node).len() / 2 {
            let (Some(key), Some(value)) = (self.cell(node, 2 * pair), self.cell(node, 2 * pair + 1)) else {
                break;
            };
            self.set(copy, key, value, text)?;
        }
        if let (Some(body), Some(place)) = (self.body(copy).copied(), self.bodies.get_mut(node.0 as usize)) {
            *place = Body { shared: place.shared, ..body };
        }
        Ok(())
    }

    /// Merges the pairs of what has been read, whose texts are there now.
    pub(crate) fn merge_noted(&mut self, text: &[u8]) -> Result<(), Full> {
        while let Some(node) = self.repeated.pop() {
            self.merge_duplicates(node, text)?;
        }
        Ok(())
    }

    /// A string's bytes.
    pub fn bytes(value: Value, text: &[u8]) -> Option<&[u8]> {
        value.span().map(|span: Span| span.of(text))
    }
}

#[cfg(test)]
mod tests;
