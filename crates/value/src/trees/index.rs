//! The index of a large dictionary: places by the hash of keys, made when somebody looks for one.

use super::{Body, Key, NO_INDEX, Node, Trees};
use crate::Value;
use std::hash::{BuildHasher, Hasher};

impl Trees {
    pub(super) fn forget_index(&mut self, node: Node) {
        if let Some(body) = self.bodies.get_mut(node.0 as usize) {
            body.index = NO_INDEX;
        }
    }

    pub(super) fn find_indexed(&mut self, node: Node, key: Key<'_>, text: &[u8]) -> Option<usize> {
        let mut body = self.body(node).copied()?;
        if body.index == NO_INDEX {
            body = self.make_index(node, text)?;
        }
        let mask = body.index_len as usize - 1;
        let mut at = self.hash(key, text) as usize & mask;
        loop {
            let pair = (*self.index.get(body.index as usize + at)?).checked_sub(1)? as usize;
            let known = *self.cells.get(body.start as usize + 2 * pair)?;
            if self.is_key(known, key, text) {
                return Some(pair);
            }
            at = (at + 1) & mask;
        }
    }

    /// Makes the index with room for twice as many pairs.
    fn make_index(&mut self, node: Node, text: &[u8]) -> Option<Body> {
        let len = self.body(node)?.len as usize;
        let size = (len * 2).next_power_of_two();
        let start = self.index.len();
        self.index.resize(start + size, 0);
        let body = self.bodies.get_mut(node.0 as usize)?;
        (body.index, body.index_len) = (start as u32, size as u32);
        let body = *body;
        for pair in 0..len / 2 {
            let key = *self.cells.get(body.start as usize + 2 * pair)?;
            self.note(body, pair, key, text);
        }
        Some(body)
    }

    pub(super) fn note(&mut self, body: Body, pair: usize, key: Value, text: &[u8]) {
        let mask = (body.index_len as usize).wrapping_sub(1);
        let mut at = self.hash(Key::of(key, text), text) as usize & mask;
        while let Some(place) = self.index.get_mut(body.index as usize + at) {
            if *place == 0 {
                *place = pair as u32 + 1;
                return;
            }
            at = (at + 1) & mask;
        }
    }

    fn hash(&self, key: Key<'_>, text: &[u8]) -> u64 {
        match key {
            Key::Text(bytes) => self.seed.hash(bytes),
            Key::Other(value) => {
                let mut state = self.seed.build_hasher();
                self.hash_into(value, text, &mut state);
                state.finish()
            }
        }
    }

    fn hash_into(&self, value: Value, text: &[u8], state: &mut impl Hasher) {
        match value {
            Value::Boolean(b) => state.write_u64(u64::from(b)),
            Value::Integer(n) => state.write_u64(n as u64),
            Value::Double(n) => state.write_u64(n.to_bits()),
            Value::String(span) => state.write(span.of(text)),
            Value::Tuple(node) => {
                for item in self.cells(node) {
                    self.hash_into(*item, text, state);
                }
            }
            _ => {}
        }
    }
}
