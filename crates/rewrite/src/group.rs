//! `groupset()` and `groupunset()`: every value whose name fits a glob.

use crate::op::{assign, span_of};
use filter::{FilterContext, new_asker};
use pattern::{Cache, Pattern};
use record::{Batch, Demand, Flags, NameId, Span, ValueType};
use template::{Msg, Template};
use wire::sdata::{PREFIX, Param, params};

pub struct Group {
    globs: Vec<Pattern>,
    /// `None`: the values are unset.
    with: Option<With>,
    asker: u64,
}

/// A template in which `$_` is the value that is replaced.
pub struct With {
    template: Template,
    item: NameId,
}

/// Fields a record has without any value being set.
const FIELDS: [NameId; 6] =
    [NameId::HOST, NameId::MESSAGE, NameId::PROGRAM, NameId::PID, NameId::MSGID, NameId::LEGACY_MSGHDR];

/// The value `$_` stands for while the template is printed.
pub const ITEM: &str = ".groupset.item";

impl With {
    pub fn new(template: Template, item: NameId) -> With {
        With { template, item }
    }
}

/// The template's text with `$_` and `${_}` naming the item.
pub fn with_item(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        rest = if let Some(after) = from.strip_prefix("$$") {
            out.push_str("$$");
            after
        } else if let Some(after) = from.strip_prefix("${_}") {
            out.push_str("${.groupset.item}");
            after
        } else if let Some(after) = from.strip_prefix("$_").filter(|a| !a.starts_with(name)) {
            out.push_str("${.groupset.item}");
            after
        } else {
            out.push('$');
            from.get(1..).unwrap_or_default()
        };
    }
    out + rest
}

impl Group {
    pub fn new(globs: Vec<Pattern>, with: Option<With>) -> Group {
        Group { globs, with, asker: new_asker() }
    }

    pub fn apply(&self, batch: &mut Batch, selection: &[u32], cx: &mut FilterContext) {
        let mut names = Vec::new();
        for index in selection {
            self.names(batch, *index as usize, &mut names, cx);
            for name in &names {
                match &self.with {
                    None => batch.unset(*index as usize, *name),
                    Some(with) => set(with, batch, *index as usize, *name, cx),
                }
            }
        }
    }

    /// The names of the values the record has that fit.
    fn names(&self, batch: &mut Batch, index: usize, names: &mut Vec<NameId>, cx: &mut FilterContext) {
        names.clear();
        let Some(record) = batch.records.get(index).copied() else { return };
        let record = &record;
        names.extend(FIELDS.into_iter().filter(|n| batch.value(record, *n).is_some()));
        names.extend(batch.pairs(record).map(|(name, _)| name));
        if let Some(context) = batch.context(record) {
            let from_context = [NameId::HOST_FROM, NameId::SOURCE, NameId::TRANSPORT].into_iter();
            let from_context = from_context.chain(context.values.iter().map(|(n, _)| *n));
            names.extend(from_context.filter(|n| batch.overridden(record, *n).is_none()));
        }
        let params: Vec<String> = params(batch.bytes(record.sdata)).filter_map(|p| full_name(&p)).collect();
        for param in params {
            let id = batch.names.id(b"", param.as_bytes());
            names.extend(id.filter(|n| {
                !record.flags.has(Flags::SDATA_CHANGED) || batch.overridden(record, *n).is_none()
            }));
        }
        let item = self.with.as_ref().map(|w| w.item);
        names.retain(|n| Some(*n) != item && self.fits(batch, *n, cx));
        // The header text first: setting PROGRAM or PID drops it.
        names.sort_unstable_by_key(|n| (*n != NameId::LEGACY_MSGHDR, *n));
        names.dedup();
    }

    fn fits(&self, batch: &Batch, name: NameId, cx: &mut FilterContext) -> bool {
        cx.work.name_fits(self.asker, batch, name, |text| {
            let mut cache = Cache::new();
            self.globs.iter().any(|g| g.is_match(text.as_bytes(), &mut cache))
        })
    }

    pub fn reads(&self, demand: &mut Demand) {
        // Which values there are is only known when the message is.
        demand.everything = true;
        if let Some(with) = &self.with {
            with.template.reads(demand);
        }
    }
}

fn full_name(param: &Param<'_>) -> Option<String> {
    let id = std::str::from_utf8(param.id).ok()?;
    let name = std::str::from_utf8(param.name).ok()?;
    Some(if name.is_empty() { format!("{PREFIX}{id}") } else { format!("{PREFIX}{id}.{name}") })
}

/// `$_` is set in a copy of the record only: copies are snapshots, so the message never shows it.
fn set(with: &With, batch: &mut Batch, index: usize, name: NameId, cx: &mut FilterContext) {
    let Some(before) = batch.records.get(index).copied() else { return };
    let (span, kind) = match span_of(batch, index, name) {
        Some(found) => found,
        None => (sdata_value(batch, index, name), ValueType::String),
    };
    batch.set_span(index, with.item, span, kind);
    let mut out = cx.work.text();
    let kind = match batch.records.get(index) {
        Some(record) => with.template.render_typed(Msg { batch, record }, &mut cx.render, &mut out),
        None => ValueType::String,
    };
    if let Some(record) = batch.records.get_mut(index) {
        *record = before;
    }
    if !cx.render.gave_up() {
        assign(batch, index, name, &out, kind);
    }
    cx.work.keep_text(out);
}

/// A parameter that stands only in the STRUCTURED-DATA as received, without its escapes.
fn sdata_value(batch: &mut Batch, index: usize, name: NameId) -> Span {
    let Some(record) = batch.records.get(index) else { return Span::EMPTY };
    let path = batch.name_of(name).strip_prefix(PREFIX).unwrap_or_default();
    let Some(raw) = wire::sdata::lookup(batch.bytes(record.sdata), path.as_bytes()) else {
        return Span::EMPTY;
    };
    let mut plain = Vec::new();
    let value = wire::sdata::unescape(raw, &mut plain).to_vec();
    batch.append(&value)
}
