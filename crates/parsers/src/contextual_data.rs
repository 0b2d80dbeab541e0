//! `add-contextual-data()`: values from a file, chosen by a text of the message.

mod build;
mod database;
mod selector;

pub use build::{ADD_CONTEXTUAL_DATA, build};

use crate::found::assign;
use crate::parse::{Parse, Writes};
use database::Database;
use filter::FilterContext;
use record::{Batch, Demand, NameId, ValueType};
use selector::Selector;
use std::sync::Arc;
use template::{Msg, Template};

#[derive(Clone)]
struct Contextual {
    selector: Arc<Selector>,
    database: Arc<Database>,
    /// Where no selector fits.
    default: Option<u32>,
}

/// What a row of the file sets.
#[derive(Clone)]
struct Entry {
    name: NameId,
    value: Value,
}

#[derive(Clone)]
enum Value {
    /// The same for every message.
    Fixed(Box<[u8]>, ValueType),
    Made(Arc<Template>),
}

impl Parse for Contextual {
    fn parse(&self, batch: &mut Batch, selection: &mut Vec<u32>, cx: &mut FilterContext) {
        for index in selection.iter().map(|i| *i as usize) {
            let group = self.selector.find(&self.database, batch, index, cx).or(self.default);
            let entries = group.map_or(&[][..], |group| self.database.entries(group));
            for entry in entries {
                set(entry, batch, index, cx);
            }
        }
    }

    fn reads(&self, demand: &mut Demand) {
        self.selector.reads(demand);
        for entry in self.database.all() {
            if let Value::Made(template) = &entry.value {
                template.reads(demand);
            }
        }
    }

    fn writes(&self) -> Writes {
        let mut names: Vec<NameId> = self.database.all().map(|e| e.name).collect();
        names.sort_unstable();
        names.dedup();
        Writes::names(names)
    }

    fn narrowed(&self, demand: &Demand) -> Option<Arc<dyn Parse>> {
        if demand.everything {
            return None;
        }
        let field = |name: NameId| name.0 >= NameId::HOST.0 && name.0 <= NameId::FILE_NAME.0;
        let read =
            |e: &Entry| demand.names.contains(&e.name) || field(e.name) || demand.sdata && e.name.is_sdata();
        let database = Arc::new(self.database.filtered(read));
        Some(Arc::new(Contextual { database, ..self.clone() }))
    }
}

fn set(entry: &Entry, batch: &mut Batch, index: usize, cx: &mut FilterContext) {
    let (span, kind) = match &entry.value {
        Value::Fixed(bytes, kind) => (batch.append(bytes), *kind),
        Value::Made(template) => {
            let Some(record) = batch.records.get(index) else { return };
            let mut text = cx.work.text();
            let kind = template.render_typed(Msg { batch, record }, &mut cx.render, &mut text);
            let span = batch.append(&text);
            cx.work.keep_text(text);
            (span, kind)
        }
    };
    assign(batch, index, entry.name, span, kind);
}

#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) use tests::FILES;
