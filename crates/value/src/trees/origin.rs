//! Where a container was read from: what is printed of it is what stands there, but for what has been changed
//! since. Whoever changes a container puts it into its cell of the container around it again, so that a
//! change below is a change of that cell too.

use super::{Full, Node, Trees};
use crate::{Span, Value};

/// Cells of which each change is known; of others, all is printed anew.
const CELLS_KNOWN: u32 = 128;
/// Pairs of a dictionary that is laid out.
pub const LAID_OUT_MAX: usize = CELLS_KNOWN as usize / 2;

/// The text that a container was read from, which is what is printed of it as long as nothing changes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Origin {
    text: Span,
    /// Cells that were read. Those behind them were added since.
    len: u32,
    /// A bit for each cell, or, of a dictionary, each of its pairs.
    changed: u64,
}

impl Origin {
    pub fn new(text: Span, len: usize) -> Origin {
        Origin { text, len: len as u32, changed: 0 }
    }

    /// Notes that a cell holds something else.
    #[inline]
    pub fn changed(&mut self, cell: usize) {
        match cell as u32 {
            cell if cell >= self.len => {}
            cell if cell < CELLS_KNOWN => self.changed |= 1 << (cell / 2),
            _ => *self = Origin::default(),
        }
    }

    fn is_known(&self) -> bool {
        !self.text.is_empty()
    }
}

/// A dictionary that was read from a text, in which values were changed and behind which pairs were added.
pub(crate) struct Edited<'a> {
    pub text: Span,
    pub read: &'a [Value],
    pub added: &'a [Value],
    changed: u64,
}

impl Edited<'_> {
    /// Numbers of the pairs that were read and have another value now, in order.
    pub fn changed(&self) -> impl Iterator<Item = usize> {
        let mut left = self.changed;
        std::iter::from_fn(move || {
            let pair = (left != 0).then(|| left.trailing_zeros() as usize);
            left &= left.wrapping_sub(1);
            pair
        })
    }
}

impl Trees {
    /// Containers made from here on are forgotten by [`Trees::forget_origins`].
    pub(crate) fn count(&self) -> usize {
        self.bodies.len()
    }

    pub(crate) fn set_origin(&mut self, node: Node, text: Span) {
        if let Some(body) = self.bodies.get_mut(node.0 as usize) {
            // Field by field: a copy of all of them would wait for them to be put together.
            (body.origin.text, body.origin.len, body.origin.changed) = (text, body.len, 0);
        }
    }

    /// A dictionary of up to [`LAID_OUT_MAX`] pairs. `text` is what is printed of it, but for the values of
    /// the pairs that are open, a bit each: what stands there in their place does not count. Keys are places
    /// in it, in quotes and without blanks around.
    pub fn dict_laid_out(&mut self, cells: &[Value], text: Span, open: u64) -> Result<Node, Full> {
        let node = self.node_of(cells)?;
        if let Some(body) = self.bodies.get_mut(node.0 as usize) {
            body.origin = Origin { changed: open, ..Origin::new(text, cells.len()) };
        }
        Ok(node)
    }

    /// The text of containers made since then is not what is printed of them.
    pub(crate) fn forget_origins(&mut self, since: usize) {
        for body in self.bodies.get_mut(since..).unwrap_or_default() {
            body.origin = Origin::default();
        }
    }

    /// The text that is all that is printed of a container.
    pub(crate) fn whole_text(&self, node: Node) -> Option<Span> {
        let body = self.body(node)?;
        let origin = body.origin;
        (origin.is_known() && origin.changed == 0 && origin.len == body.len).then_some(origin.text)
    }

    /// The text of a dictionary with what has changed.
    pub(crate) fn edited(&self, node: Node) -> Option<Edited<'_>> {
        let origin = self.body(node)?.origin;
        let (read, added) = self.cells(node).split_at_checked(origin.len as usize)?;
        origin.is_known().then_some(Edited { text: origin.text, read, added, changed: origin.changed })
    }
}
