//! `groupset()` and `groupunset()`: every value whose name fits a glob.

use crate::op::{assign, span_of};
use filter::{FilterContext, new_asker};
use pattern::{Cache, Pattern, PatternOptions};
use record::{Batch, Demand, NameAnswers, NameId, Since, Span, ValueType};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use template::{Msg, Template};
use wire::sdata::{PREFIX, Param, params};

pub struct Group {
    globs: Vec<Pattern>,
    /// A glob may fit names of STRUCTURED-DATA.
    sdata: bool,
    /// `None`: the values are unset.
    with: Option<With>,
    known: Arc<Known>,
    /// Those of [`FIELDS`] and of [`FROM_CONTEXT`] that fit.
    fixed: Vec<NameId>,
}

/// What operations with the same globs share: what a worker has learned for one of them, the others know.
struct Known {
    globs: Box<[(Box<str>, PatternOptions)]>,
    asker: u64,
}

static KNOWN: Mutex<Vec<Weak<Known>>> = Mutex::new(Vec::new());

impl Known {
    fn of(globs: &[Pattern]) -> Arc<Known> {
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|one| one.strong_count() > 0);
        let is_same = |one: &Arc<Known>| {
            let same =
                |(a, b): (&(Box<str>, PatternOptions), &Pattern)| *a.0 == *b.text() && a.1 == *b.options();
            one.globs.len() == globs.len() && one.globs.iter().zip(globs).all(same)
        };
        known.iter().filter_map(Weak::upgrade).find(is_same).unwrap_or_else(|| {
            let globs = globs.iter().map(|glob| (glob.text().into(), *glob.options())).collect();
            let new = Arc::new(Known { globs, asker: new_asker() });
            known.push(Arc::downgrade(&new));
            new
        })
    }
}

/// A template in which `$_` is the value that is replaced.
pub struct With {
    template: Template,
    item: NameId,
}

/// Fields a record has without any value being set.
const FIELDS: [NameId; 6] =
    [NameId::HOST, NameId::MESSAGE, NameId::PROGRAM, NameId::PID, NameId::MSGID, NameId::LEGACY_MSGHDR];

/// Values that the way a message came gives it.
const FROM_CONTEXT: [NameId; 3] = [NameId::HOST_FROM, NameId::SOURCE, NameId::TRANSPORT];

/// The value `$_` stands for while the template is printed.
pub const ITEM: &str = ".groupset.item";

/// What a worker keeps from message to message.
#[derive(Default)]
struct Memory {
    names: Vec<NameId>,
    fits: Fits,
    /// By record, what its values were when all that fit were unset.
    unset: Vec<Since>,
    /// The name of a parameter, without the prefix all of them have.
    param: Vec<u8>,
}

/// Whether names fit.
struct Fits {
    known: NameAnswers,
    /// Of others, the key of the name that was asked for last in each place, and the answer.
    others: Box<[(u64, bool)]>,
}

/// A power of two.
const FITS: usize = 512;

impl Default for Fits {
    fn default() -> Fits {
        // No name has this key.
        Fits { known: NameAnswers::default(), others: vec![(0, false); FITS].into() }
    }
}

impl Fits {
    #[inline]
    fn of(&mut self, batch: &Batch, name: NameId, globs: &[Pattern]) -> bool {
        let answer = self.known.of(name, || fits(batch.name_of(name), name, globs));
        answer.unwrap_or_else(|| self.other(batch, name, globs))
    }

    #[inline(never)]
    fn other(&mut self, batch: &Batch, name: NameId, globs: &[Pattern]) -> bool {
        let key = batch.name_key(name);
        let Some(place) = self.others.get_mut(key as usize % FITS) else { return false };
        if place.0 != key {
            *place = (key, fits(batch.name_of(name), name, globs));
        }
        place.1
    }
}

#[cold]
fn fits(text: &str, name: NameId, globs: &[Pattern]) -> bool {
    // MESSAGE has two names.
    let other = (name == NameId::MESSAGE).then_some("MSG");
    let mut cache = Cache::new();
    globs.iter().any(|glob| {
        let mut matches = |text: &str| glob.is_match(text.as_bytes(), &mut cache);
        matches(text) || other.is_some_and(matches)
    })
}

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
        let sdata = globs.iter().any(|glob| {
            let literal = glob.text().split(['*', '?']).next().unwrap_or_default();
            literal.starts_with(PREFIX) || PREFIX.starts_with(literal)
        });
        let fits = |name: &NameId| fits(record::name_of(*name), *name, &globs);
        let fixed = FIELDS.into_iter().chain(FROM_CONTEXT).filter(fits).collect();
        Group { known: Known::of(&globs), globs, sdata, with, fixed }
    }

    pub fn apply(&self, batch: &mut Batch, selection: &[u32], cx: &mut FilterContext) {
        let mut memory = cx.work.take_state(self.known.asker, Memory::default);
        if memory.unset.len() < batch.records.len() {
            memory.unset.resize(batch.records.len(), Since::default());
        }
        for index in selection.iter().map(|index| *index as usize) {
            self.names(batch, index, &mut memory);
            for name in &memory.names {
                match &self.with {
                    None => batch.unset(index, *name),
                    Some(with) => set(with, batch, index, *name, cx),
                }
            }
            if let (None, Some(record), Some(unset)) =
                (&self.with, batch.records.get(index), memory.unset.get_mut(index))
            {
                *unset = batch.since(record);
            }
        }
        cx.work.keep_state(self.known.asker, memory);
    }

    /// The names of the values the record has that fit.
    fn names(&self, batch: &mut Batch, index: usize, memory: &mut Memory) {
        let Memory { names, fits, unset, param } = memory;
        names.clear();
        let Some(record) = batch.records.get(index).copied() else { return };
        let item = self.with.as_ref().map(|with| with.item);
        let mut fits = |batch: &Batch, name| fits.of(batch, name, &self.globs) && Some(name) != item;
        let there = |n: &NameId| FROM_CONTEXT.contains(n) || batch.value(&record, *n).is_some();
        names.extend(self.fixed.iter().copied().filter(there));
        let since = unset.get(index).copied().unwrap_or_default();
        for (name, is_set) in batch.names_since(&record, since) {
            if is_set && fits(batch, name) {
                names.push(name);
            }
        }
        if let Some(context) = batch.context(&record) {
            names.extend(context.values.iter().map(|(n, _)| *n).filter(|n| fits(batch, *n)));
        }
        if self.sdata {
            for received in params(record.sdata.of(&batch.text)) {
                full_name(&received, param);
                let Some(name) = batch.names.id(PREFIX.as_bytes(), param) else { continue };
                names.extend(Some(name).filter(|n| fits(batch, *n)));
            }
        }
        if names.is_empty() {
            return;
        }
        // The header text first: setting PROGRAM or PID drops it.
        names.sort_unstable_by_key(|n| (*n != NameId::LEGACY_MSGHDR, *n));
        names.dedup();
        // What was unset before is not there, whoever brought it.
        names.retain(|n| batch.overridden(&record, *n) != Some(false));
    }

    /// What nobody else reads need not be there to be unset or replaced: nobody would see what became of it.
    pub fn reads(&self, demand: &mut Demand) {
        if let Some(with) = &self.with {
            with.template.reads(demand);
        }
    }
}

/// Puts together what stands behind the prefix in the name of a parameter.
fn full_name(param: &Param<'_>, name: &mut Vec<u8>) {
    name.clear();
    name.extend_from_slice(param.id);
    if !param.name.is_empty() {
        name.push(b'.');
        name.extend_from_slice(param.name);
    }
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
