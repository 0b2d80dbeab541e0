//! Values of one name put together: elements that come again make a list.

use super::{Found, Piece};
use record::ValueType;

/// Bits of the names seen, by the last bits of their numbers: two of one are looked at closely.
const SEEN_WORDS: usize = 16;

/// What a worker keeps to find them.
#[derive(Default)]
pub struct Joiner {
    order: Vec<u32>,
    joined: Vec<Piece>,
}

impl Joiner {
    /// Leaves one piece of each name: the texts of all, in their order, with `separator` between them. Where
    /// there were several, the piece is of the type `kind`.
    #[inline]
    pub fn join(&mut self, found: &mut Found, input: &[u8], separator: &[u8], kind: ValueType) {
        let mut seen = [0u64; SEEN_WORDS];
        let mut again = false;
        for piece in &found.pieces {
            let bit = piece.name.0 as usize % (SEEN_WORDS * 64);
            again |= seen[bit / 64] >> (bit % 64) & 1 != 0;
            seen[bit / 64] |= 1 << (bit % 64);
        }
        if again {
            self.join_again(found, input, separator, kind);
        }
    }

    fn join_again(&mut self, found: &mut Found, input: &[u8], separator: &[u8], kind: ValueType) {
        let Joiner { order, joined } = self;
        order.clear();
        order.extend(0..found.pieces.len() as u32);
        let name = |index: &u32| found.pieces.get(*index as usize).map(|p| (p.name, *index));
        order.sort_unstable_by_key(name);
        joined.clear();
        let mut rest = order.as_slice();
        while let Some(first) = rest.first().and_then(|index| found.pieces.get(*index as usize)).copied() {
            let same =
                |index: &&u32| found.pieces.get(**index as usize).is_some_and(|p| p.name == first.name);
            let count = rest.iter().take_while(same).count();
            let (group, after) = rest.split_at(count);
            rest = after;
            if group.len() == 1 {
                joined.push(first);
                continue;
            }
            let mark = found.made.len();
            for (place, index) in group.iter().enumerate() {
                let Some(piece) = found.pieces.get(*index as usize) else { continue };
                if place > 0 {
                    found.made.extend_from_slice(separator);
                }
                let (start, end) = (piece.start as usize, (piece.start + piece.len) as usize);
                match piece.made {
                    true => found.made.extend_from_within(start..end.min(mark)),
                    false => found.made.extend_from_slice(input.get(start..end).unwrap_or_default()),
                }
            }
            let len = (found.made.len() - mark) as u32;
            joined.push(Piece { start: mark as u32, len, made: true, kind, ..first });
        }
        std::mem::swap(&mut found.pieces, joined);
    }
}
