//! Messages with a key in front and fields beside their text: for destinations whose calls have something in
//! common, and that want several things of each message. See [`flight::enclose`] and [`flight::fields`].

use super::Parts;
use super::columns::{Columns, item};
use engine::{Chunk, Form};
use record::{Batch, Demand, NameId};
use std::sync::Arc;
use template::{RenderContext, Template};

pub struct KeyedFields {
    keys: Vec<Arc<Template>>,
    fields: Vec<Arc<Template>>,
    key_columns: Columns,
    field_columns: Columns,
    /// The value that is the text, whatever its type.
    text: Option<NameId>,
}

/// What waits from before there were keys and fields has neither.
const KEYED_FIELDS: Form = Form {
    name: "keyed fields",
    bare: |message| flight::fields(flight::opened(message).1).text(),
    put: |out, text| {
        let mut message = Vec::new();
        flight::begin_fields(&mut message, 0);
        message.extend_from_slice(text);
        flight::enclose(out, b"", &message);
    },
    again: Form::whole,
    shows_bare: false,
};

impl KeyedFields {
    /// The parts of the key, and the fields in front of the text, in their order.
    pub fn of(keys: Vec<Arc<Template>>, fields: Vec<Arc<Template>>) -> Arc<dyn Parts> {
        let (key_columns, field_columns) = Default::default();
        Arc::new(KeyedFields { keys, fields, key_columns, field_columns, text: None })
    }

    /// The text is a value, bytes and all: a template prints nothing of one that is no text.
    pub fn of_value(keys: Vec<Arc<Template>>, text: NameId) -> Arc<dyn Parts> {
        let (fields, key_columns, field_columns) = Default::default();
        Arc::new(KeyedFields { keys, fields, key_columns, field_columns, text: Some(text) })
    }
}

impl Parts for KeyedFields {
    fn form(&self) -> Form {
        KEYED_FIELDS
    }

    fn are_keys(&self) -> bool {
        true
    }

    fn reads(&self, demand: &mut Demand) {
        self.keys.iter().chain(&self.fields).for_each(|template| template.reads(demand));
    }

    fn enclose(
        &self,
        messages: (&Batch, &[u32]),
        texts: (&[u8], &[u32]),
        render: &mut RenderContext,
        chunk: &mut Chunk,
    ) {
        // Each begins with the number of the text.
        let number = render.seqnum;
        let keys = self.key_columns.fill(&self.keys, messages, render);
        render.seqnum = number;
        let fields = self.field_columns.fill(&self.fields, messages, render);
        let more = keys.bytes() + fields.bytes() + texts.1.len() * 12;
        chunk.bytes.reserve(texts.0.len() + more);
        let (batch, indices) = messages;
        let value = |at: usize| {
            let (name, index) = (self.text?, *indices.get(at)? as usize);
            let value = batch.value(batch.records.get(index)?, name);
            Some(value.map_or(&[][..], |value| value.bytes))
        };
        let (mut key, mut message) = (Vec::new(), Vec::new());
        for at in 0..texts.1.len() {
            key.clear();
            message.clear();
            keys.at(at).for_each(|text| flight::enclose(&mut key, text, b""));
            flight::begin_fields(&mut message, self.fields.len());
            fields.at(at).for_each(|text| flight::put_field(&mut message, text));
            message.extend_from_slice(value(at).unwrap_or_else(|| item(texts, at)));
            flight::enclose(&mut chunk.bytes, &key, &message);
            chunk.ends.push(chunk.bytes.len() as u32);
        }
        self.key_columns.take_back(keys);
        self.field_columns.take_back(fields);
    }
}
