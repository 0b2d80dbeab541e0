//! The texts that several templates make of the same messages, in buffers that are kept.

use parking_lot::Mutex;
use record::Batch;
use std::sync::Arc;
use template::{RenderContext, Template};

/// Buffers, one set for each worker that is here at the same time.
#[derive(Default)]
pub struct Columns(Mutex<Vec<Filled>>);

/// The texts of each template, one for each message.
#[derive(Default)]
pub struct Filled(Vec<Column>);

#[derive(Default)]
struct Column {
    bytes: Vec<u8>,
    ends: Vec<u32>,
}

/// One of several texts that stand behind one another.
pub fn item<'a>((bytes, ends): (&'a [u8], &[u32]), at: usize) -> &'a [u8] {
    let begin = at.checked_sub(1).and_then(|before| ends.get(before)).map_or(0, |end| *end as usize);
    let end = ends.get(at).map_or(begin, |end| *end as usize);
    bytes.get(begin..end).unwrap_or_default()
}

impl Columns {
    pub fn fill(
        &self,
        templates: &[Arc<Template>],
        (batch, selection): (&Batch, &[u32]),
        render: &mut RenderContext,
    ) -> Filled {
        let mut filled = self.0.lock().pop().unwrap_or_default();
        filled.0.resize_with(templates.len(), Column::default);
        let number = render.seqnum;
        for (column, template) in filled.0.iter_mut().zip(templates) {
            // The same number in each column.
            render.seqnum = number;
            column.bytes.clear();
            column.ends.clear();
            template.render_selection(batch, selection, render, &mut column.bytes, &mut column.ends);
        }
        filled
    }

    /// The buffers are for the next time.
    pub fn take_back(&self, filled: Filled) {
        self.0.lock().push(filled);
    }
}

impl Filled {
    /// What the templates make of one message.
    pub fn at(&self, at: usize) -> impl Iterator<Item = &[u8]> {
        self.0.iter().map(move |column| item((&column.bytes, &column.ends), at))
    }

    /// Of all texts, with a length in front of each.
    pub fn bytes(&self) -> usize {
        self.0.iter().map(|column| column.bytes.len() + column.ends.len() * 4).sum()
    }
}
