//! `blank()`: whether a value says nothing.

use crate::context::{Workspace, new_asker};
use record::{Batch, Demand, NameId, Record, ValueType};
use template::{Msg, RenderContext, Template};

pub struct Blank {
    /// `NAME.`: values below it count as set.
    prefix: String,
    value: Template,
    asker: u64,
}

impl Blank {
    /// `value` prints `${name}` with its own type.
    pub fn new(name: &str, value: Template) -> Blank {
        Blank { prefix: format!("{name}."), value, asker: new_asker() }
    }

    pub fn holds(&self, msg: Msg<'_>, work: &mut Workspace, render: &mut RenderContext) -> bool {
        let mut text = work.text();
        let kind = self.value.render_typed(msg, render, &mut text);
        let blank = match kind {
            ValueType::Null => true,
            ValueType::Boolean => matches!(text.first(), Some(b'F' | b'f' | b'0') | None),
            ValueType::List => matches!(text.trim_ascii(), b"" | b"[]"),
            ValueType::Json => matches!(text.trim_ascii(), b"" | b"[]" | b"null" | b"false"),
            _ => text.iter().all(|b| matches!(b, b' ' | b'\t')),
        };
        let absent = text.is_empty();
        work.keep_text(text);
        blank && !(absent && self.has_below(msg.batch, msg.record, work))
    }

    fn has_below(&self, batch: &Batch, record: &Record, work: &mut Workspace) -> bool {
        let mut below =
            |name: NameId| work.name_fits(self.asker, batch, name, |n| n.starts_with(&self.prefix));
        record.has_values() && batch.pairs(record).any(|(name, _)| below(name))
            || batch.context(record).is_some_and(|c| c.values.iter().any(|(name, _)| below(*name)))
    }

    pub fn reads(&self, demand: &mut Demand) {
        self.value.reads(demand);
        // Any pair may be below it.
        demand.everything = true;
    }
}
