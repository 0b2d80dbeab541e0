//! Messages with a key in front, for destinations whose batches have something in common that templates make:
//! an address, a header. See [`flight::enclose`].

use super::Parts;
use super::columns::{Columns, item};
use super::shape::{PLAIN, TEXT};
use engine::{Chunk, Form};
use record::{Batch, Demand};
use std::sync::Arc;
use template::{RenderContext, Template};

/// Templates whose expansions make the key of a message: each part behind its length, and the whole behind
/// its own.
pub struct Keys {
    templates: Vec<Arc<Template>>,
    columns: Columns,
}

/// What waits from before there were keys has an empty one.
const KEYED: Form = Form {
    name: "keys",
    bare: |message| flight::opened(message).1,
    put: |out, message| flight::enclose(out, b"", message),
    again: Form::whole,
    shows_bare: true,
};

impl Keys {
    /// What waits from before there were keys, or when there are none any more. Texts were noted as lines
    /// once.
    pub const KIN: &'static [Form] = &[TEXT, PLAIN, KEYED];

    /// `None` without templates: messages have no keys then.
    pub fn of(templates: Vec<Arc<Template>>) -> Option<Arc<dyn Parts>> {
        (!templates.is_empty())
            .then(|| Arc::new(Keys { templates, columns: Columns::default() }) as Arc<dyn Parts>)
    }
}

impl Parts for Keys {
    fn form(&self) -> Form {
        KEYED
    }

    fn are_keys(&self) -> bool {
        true
    }

    fn reads(&self, demand: &mut Demand) {
        self.templates.iter().for_each(|template| template.reads(demand));
    }

    fn enclose(
        &self,
        (batch, selection): (&Batch, &[u32]),
        texts: (&[u8], &[u32]),
        render: &mut RenderContext,
        chunk: &mut Chunk,
    ) {
        let columns = self.columns.fill(&self.templates, (batch, selection), render);
        chunk.bytes.reserve(texts.0.len() + texts.1.len() * 4 + columns.bytes());
        let mut key = Vec::new();
        for at in 0..texts.1.len() {
            key.clear();
            columns.at(at).for_each(|text| flight::enclose(&mut key, text, b""));
            flight::enclose(&mut chunk.bytes, &key, item(texts, at));
            chunk.ends.push(chunk.bytes.len() as u32);
        }
        self.columns.take_back(columns);
    }
}
