//! Messages with fields beside their text, for destinations that want several things of each: the arguments
//! of a command, a topic. See [`flight::fields`].

use super::Parts;
use super::columns::{Columns, item};
use engine::{Chunk, Form};
use record::{Batch, Demand};
use std::sync::Arc;
use template::{RenderContext, Template};

pub struct Fields {
    templates: Vec<Arc<Template>>,
    columns: Columns,
}

/// What waits from before there were fields has none.
const FIELDS: Form = Form {
    name: "fields",
    bare: |message| flight::fields(message).text(),
    put: |out, message| {
        flight::begin_fields(out, 0);
        out.extend_from_slice(message);
    },
};

impl Fields {
    /// The fields in front of the text, in their order.
    pub fn of(templates: Vec<Arc<Template>>) -> Arc<dyn Parts> {
        Arc::new(Fields { templates, columns: Columns::default() })
    }
}

impl Parts for Fields {
    fn form(&self) -> Form {
        FIELDS
    }

    fn are_keys(&self) -> bool {
        false
    }

    fn reads(&self, demand: &mut Demand) {
        self.templates.iter().for_each(|template| template.reads(demand));
    }

    fn enclose(
        &self,
        messages: (&Batch, &[u32]),
        texts: (&[u8], &[u32]),
        render: &mut RenderContext,
        chunk: &mut Chunk,
    ) {
        let columns = self.columns.fill(&self.templates, messages, render);
        chunk.bytes.reserve(texts.0.len() + texts.1.len() * 4 + columns.bytes());
        for at in 0..texts.1.len() {
            flight::begin_fields(&mut chunk.bytes, self.templates.len());
            columns.at(at).for_each(|text| flight::put_field(&mut chunk.bytes, text));
            chunk.bytes.extend_from_slice(item(texts, at));
            chunk.ends.push(chunk.bytes.len() as u32);
        }
        self.columns.take_back(columns);
    }
}
