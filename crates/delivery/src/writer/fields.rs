//! Messages with fields beside their text, for destinations that want several things of each: the arguments
//! of a command, a topic, values by name. See [`flight::fields`] and [`flight::pairs`].

mod ids;

use super::Parts;
use super::columns::{Columns, item};
use engine::{Chunk, Form};
use ids::Ids;
use parking_lot::Mutex;
use record::{Batch, Demand};
use std::sync::Arc;
use template::value_pairs::ValuePairs;
use template::{RenderContext, Template};

pub struct Fields {
    templates: Vec<Arc<Template>>,
    columns: Columns,
    /// What makes the field behind those of the templates.
    ids: Option<Ids>,
    /// What becomes a field behind that, one more for each.
    pairs: Vec<Arc<ValuePairs>>,
    /// Buffers, one set for each worker that is here at the same time.
    spare: Mutex<Vec<Vec<Values>>>,
}

/// The pairs of several messages, one behind the other, and their ends.
type Values = (Vec<u8>, Vec<u32>);

/// What waits from before there were fields has none.
const FIELDS: Form = Form {
    name: "fields",
    bare: |message| flight::fields(message).text(),
    put,
    again: Form::whole,
    shows_bare: false,
};
const VALUES: Form = Form { name: "values", ..FIELDS };

fn put(out: &mut Vec<u8>, message: &[u8]) {
    flight::begin_fields(out, 0);
    out.extend_from_slice(message);
}

impl Fields {
    /// The fields in front of the text, in their order.
    pub fn of(templates: Vec<Arc<Template>>) -> Arc<dyn Parts> {
        Fields::made(templates, None, Vec::new())
    }

    /// The same, and pairs behind them.
    pub fn with_pairs(templates: Vec<Arc<Template>>, pairs: Vec<Arc<ValuePairs>>) -> Arc<dyn Parts> {
        Fields::made(templates, None, pairs)
    }

    /// The same with an id between them, 12 bytes that no other message has.
    pub fn with_id(templates: Vec<Arc<Template>>, pairs: Vec<Arc<ValuePairs>>) -> Arc<dyn Parts> {
        Fields::made(templates, Some(Ids::new()), pairs)
    }

    fn made(templates: Vec<Arc<Template>>, ids: Option<Ids>, pairs: Vec<Arc<ValuePairs>>) -> Arc<dyn Parts> {
        Arc::new(Fields { templates, columns: Columns::default(), ids, pairs, spare: Mutex::default() })
    }
}

impl Parts for Fields {
    fn form(&self) -> Form {
        if self.pairs.is_empty() { FIELDS } else { VALUES }
    }

    fn are_keys(&self) -> bool {
        false
    }

    fn reads(&self, demand: &mut Demand) {
        self.templates.iter().for_each(|template| template.reads(demand));
        self.pairs.iter().for_each(|pairs| pairs.reads(demand));
    }

    fn enclose(
        &self,
        messages: (&Batch, &[u32]),
        texts: (&[u8], &[u32]),
        render: &mut RenderContext,
        chunk: &mut Chunk,
    ) {
        let number = render.seqnum;
        let columns = self.columns.fill(&self.templates, messages, render);
        let mut values = self.spare.lock().pop().unwrap_or_default();
        values.resize_with(self.pairs.len(), Values::default);
        for ((bytes, ends), pairs) in values.iter_mut().zip(&self.pairs) {
            bytes.clear();
            ends.clear();
            render.seqnum = number;
            pairs.render_selection(messages, render, (bytes, ends), flight::put_pair);
        }
        let of_values: usize = values.iter().map(|(bytes, ends)| bytes.len() + ends.len() * 4).sum();
        chunk.bytes.reserve(texts.0.len() + texts.1.len() * 4 + columns.bytes() + of_values);
        let count = self.templates.len() + usize::from(self.ids.is_some()) + self.pairs.len();
        let mut ids = self.ids.as_ref().map(|ids| ids.take(texts.1.len()));
        for at in 0..texts.1.len() {
            flight::begin_fields(&mut chunk.bytes, count);
            columns.at(at).for_each(|text| flight::put_field(&mut chunk.bytes, text));
            if let Some(id) = ids.as_mut().and_then(Iterator::next) {
                flight::put_field(&mut chunk.bytes, &id);
            }
            values
                .iter()
                .for_each(|(bytes, ends)| flight::put_field(&mut chunk.bytes, item((bytes, ends), at)));
            chunk.bytes.extend_from_slice(item(texts, at));
            chunk.ends.push(chunk.bytes.len() as u32);
        }
        self.columns.take_back(columns);
        self.spare.lock().push(values);
    }
}
