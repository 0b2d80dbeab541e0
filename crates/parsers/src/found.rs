//! What a parser has found in one text, until it is sure that the text is good: then it becomes values of the
//! record.

mod join;

pub use join::Joiner;

use record::{Batch, Flags, NameId, Span, ValueType};

#[derive(Default)]
pub struct Found {
    pieces: Vec<Piece>,
    /// Text that does not stand in the input as it is: escapes resolved, numbers printed.
    made: Vec<u8>,
}

#[derive(Clone, Copy)]
struct Piece {
    name: NameId,
    start: u32,
    len: u32,
    made: bool,
    kind: ValueType,
}

impl Found {
    pub fn clear(&mut self) {
        self.pieces.clear();
        self.made.clear();
    }

    /// A part of the input.
    #[inline(always)]
    pub fn part(&mut self, name: NameId, start: usize, end: usize, kind: ValueType) {
        let Span { start, len } = Span::between(start, end);
        self.pieces.push(Piece { name, start, len, made: false, kind });
    }

    /// Begins text that is made: write it to what is returned, then call [`Found::finish`] with the mark.
    #[inline]
    pub fn begin(&mut self) -> usize {
        self.made.len()
    }

    #[inline]
    pub fn out(&mut self) -> &mut Vec<u8> {
        &mut self.made
    }

    #[inline]
    pub fn finish(&mut self, name: NameId, mark: usize, kind: ValueType) {
        let Span { start, len } = Span::between(mark, self.made.len());
        self.pieces.push(Piece { name, start, len, made: true, kind });
    }

    /// A part of the text that was made.
    pub fn made_part(&mut self, name: NameId, start: usize, end: usize, kind: ValueType) {
        let Span { start, len } = Span::between(start, end);
        self.pieces.push(Piece { name, start, len, made: true, kind });
    }

    /// What has been found so far, for [`Found::cut`].
    pub fn mark(&self) -> (usize, usize) {
        (self.pieces.len(), self.made.len())
    }

    /// Takes back what was found since the mark.
    pub fn cut(&mut self, (pieces, made): (usize, usize)) {
        self.pieces.truncate(pieces);
        self.made.truncate(made);
    }

    pub fn text(&mut self, name: NameId, text: &[u8], kind: ValueType) {
        let mark = self.begin();
        self.made.extend_from_slice(text);
        self.finish(name, mark, kind);
    }

    /// Makes values of it, in order: of two with one name the later counts. `input` is where the parsed text
    /// stands.
    #[inline]
    pub fn store(&self, batch: &mut Batch, index: usize, input: Span) {
        let made = if self.made.is_empty() { 0 } else { batch.append(&self.made).start };
        let value = |piece: &Piece| {
            let base = if piece.made { made } else { input.start };
            (piece.name, Span { start: base.saturating_add(piece.start), len: piece.len }, piece.kind)
        };
        if self.pieces.iter().fold(true, |all, piece| all & piece.name.is_plain()) {
            return batch.set_plain_spans(index, self.pieces.iter().map(value));
        }
        batch.set_spans(index, self.pieces.iter().map(value));
        if let Some(piece) = self.pieces.iter().rfind(|piece| piece.name == NameId::MESSAGE) {
            let (_, span, _) = value(piece);
            check_utf8(batch, index, span);
        }
    }
}

/// Sets a value; MESSAGE is only known to be UTF-8 as long as it is.
#[inline]
pub fn assign(batch: &mut Batch, index: usize, name: NameId, span: Span, kind: ValueType) {
    batch.set_span(index, name, span, kind);
    if name == NameId::MESSAGE {
        check_utf8(batch, index, span);
    }
}

#[cold]
fn check_utf8(batch: &mut Batch, index: usize, span: Span) {
    let known = batch.records.get(index).is_some_and(|r| r.flags.has(Flags::UTF8));
    if known
        && std::str::from_utf8(batch.bytes(span)).is_err()
        && let Some(record) = batch.records.get_mut(index)
    {
        record.flags.0 &= !Flags::UTF8.0;
    }
}
