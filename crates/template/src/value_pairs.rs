//! value-pairs(): which names and macros of a message are meant, under which names, as which types. Compiled
//! once from a [`Spec`], which the arguments of `$(format-json ...)` and the option `value-pairs(...)` both
//! become.

pub(crate) mod args;
mod cache;
mod compile;
mod gather;
mod known;
mod names;
mod plan;
mod walk;

pub(crate) use cache::PairsCache;
pub(crate) use gather::Found;
pub(crate) use names::Layout;
pub(crate) use plan::{Item, Plan};

use crate::{Msg, RenderContext, Template, TemplateError, TemplateOptions};
use compile::{Source, Static};
use record::{Batch, Demand, NameId, ValueType};
use std::sync::Arc;

/// `scope()`: sets of names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scopes(u16);

impl Scopes {
    const NV: Scopes = Scopes(1);
    const DOT_NV: Scopes = Scopes(2);
    const SDATA: Scopes = Scopes(4);
    const RFC3164: Scopes = Scopes(8);
    const RFC5424: Scopes = Scopes(16 | 8 | 4);
    const SELECTED: Scopes = Scopes(32 | 8);
    const MACROS: Scopes = Scopes(64);
    const ALL_NV: Scopes = Scopes(1 | 2 | 4);

    /// Every scope as a configuration writes it, with what it means.
    pub const NAMES: &[(&str, Scopes, &str)] = &[
        ("nv-pairs", Scopes::NV, "all values whose name has no dot in front"),
        ("dot-nv-pairs", Scopes::DOT_NV, "all values whose name begins with a dot"),
        ("all-nv-pairs", Scopes::ALL_NV, "all values"),
        ("rfc3164", Scopes::RFC3164, "FACILITY PRIORITY HOST PROGRAM PID MESSAGE DATE"),
        ("core", Scopes::RFC3164, "the same as rfc3164"),
        ("base", Scopes::RFC3164, "the same as rfc3164"),
        ("rfc5424", Scopes::RFC5424, "rfc3164 with MSGID and STRUCTURED-DATA"),
        ("syslog-proto", Scopes::RFC5424, "the same as rfc5424"),
        ("sdata", Scopes::SDATA, "STRUCTURED-DATA"),
        ("selected-macros", Scopes::SELECTED, "rfc3164 with TAGS SOURCEIP SEQNUM"),
        ("all-macros", Scopes::MACROS, "every macro"),
        ("everything", Scopes(0x7f), "all of these"),
        ("none", Scopes(0), "nothing"),
    ];

    /// By its name, `-` and `_` being the same.
    pub fn named(name: &str) -> Option<Scopes> {
        let name = name.replace('_', "-");
        Scopes::NAMES.iter().find(|(n, ..)| *n == name).map(|(_, scopes, _)| *scopes)
    }

    /// One after the other: `none` forgets those before it.
    pub fn with(self, other: Scopes) -> Scopes {
        if other.0 == 0 { other } else { Scopes(self.0 | other.0) }
    }

    fn has(self, other: Scopes) -> bool {
        self.0 & other.0 == other.0 && other.0 != 0
    }
}

/// A change of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Takes characters off the front of names that are longer.
    Shift(usize),
    /// Takes levels, ended by dots, off the front of names that have more.
    ShiftLevels(usize),
    AddPrefix(String),
    ReplacePrefix(String, String),
    Upper,
    Lower,
}

/// `rekey("glob" ...)`: steps for the names that match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rekey {
    pub glob: String,
    pub steps: Vec<Step>,
}

/// `cast()`: what becomes of types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cast {
    /// All is text, but for pairs with a type hint.
    Yes,
    /// Values keep their types.
    No,
}

/// What a configuration says of value-pairs.
#[derive(Clone, Default)]
pub struct Spec {
    pub scopes: Scopes,
    /// `key()` (true) and `exclude()` in the order written: of those that match a name the last decides.
    pub patterns: Vec<(String, bool)>,
    pub pairs: Vec<(String, Arc<Template>)>,
    pub rekeys: Vec<Rekey>,
    /// Without it: as text before @version 4.0, with types since.
    pub cast: Option<Cast>,
    pub omit_empty_values: bool,
    /// Values of the types bytes and protobuf are meant too.
    pub include_bytes: bool,
}

impl Spec {
    /// Nothing is asked for.
    pub fn is_empty(&self) -> bool {
        self.scopes == Scopes::default() && self.patterns.is_empty() && self.pairs.is_empty()
    }
}

/// Compiled value-pairs().
pub struct ValuePairs {
    /// Finds its memory in a [`RenderContext`].
    id: u64,
    scopes: Scopes,
    patterns: Vec<(String, bool)>,
    rekeys: Vec<Rekey>,
    cast: Cast,
    omit_empty: bool,
    include_bytes: bool,
    /// Explicit pairs, then macros: what is known when the configuration is compiled. The earlier of two with
    /// one name counts.
    statics: Box<[Static]>,
    /// Values of the message have to be walked through.
    walks: bool,
    /// STRUCTURED-DATA too.
    walks_sdata: bool,
    /// Of what is walked through only names of STRUCTURED-DATA can be meant.
    only_sdata: bool,
    /// Of the names that every message may have, from HOST on, a bit for each that is meant.
    own_names: u32,
    layout: Layout,
    /// on-error(drop-property): values that JSON cannot write as their type are not meant.
    drop_wrong: bool,
}

impl ValuePairs {
    /// For destinations and parsers: names sorted, as they are.
    pub fn compile(spec: Spec, opts: &TemplateOptions) -> Result<ValuePairs, TemplateError> {
        ValuePairs::with_layout(spec, Layout::Plain, opts)
    }

    /// Adds what it looks at: exact names where names are given, everything where a scope or glob asks for
    /// names nobody knows yet.
    pub fn reads(&self, demand: &mut Demand) {
        self.statics.iter().for_each(|s| s.reads(demand));
        demand.sdata |= self.walks_sdata;
        if self.walks && !self.only_sdata {
            demand.everything = true;
            (NameId::HOST.0..=NameId::FILE_NAME.0).for_each(|n| demand.name(NameId(n)));
        }
    }

    /// Whether all messages have the same pairs.
    pub(crate) fn is_constant(&self) -> bool {
        !self.walks && self.statics.iter().all(|pair| matches!(pair.source, Source::Fixed { .. }))
    }

    fn is_json(&self) -> bool {
        matches!(self.layout, Layout::Json { .. })
    }

    /// The names that are given and no others; `None` when messages decide on names.
    pub fn known_names(&self) -> Option<Vec<&str>> {
        (!self.walks).then(|| self.statics.iter().map(|s| &*s.name).collect())
    }

    /// Calls `each` with name, type and bytes of every pair, sorted by name.
    pub fn each(&self, msg: Msg<'_>, cx: &mut RenderContext, mut each: impl FnMut(&str, ValueType, &[u8])) {
        self.gather(msg, cx, |plan, found| {
            for (name, value) in plan.pairs(found) {
                each(name, value.kind, value.bytes);
            }
        });
    }

    /// Appends the pairs of each selected message, as `put` writes one, and where those of each end. Counts
    /// [`RenderContext::seqnum`] up.
    pub fn render_selection(
        &self,
        (batch, selection): (&Batch, &[u32]),
        cx: &mut RenderContext,
        (out, ends): (&mut Vec<u8>, &mut Vec<u32>),
        put: impl Fn(&mut Vec<u8>, &str, ValueType, &[u8]),
    ) {
        for index in selection {
            if let Some(record) = batch.records.get(*index as usize) {
                self.each(Msg { batch, record }, cx, |name, kind, bytes| put(out, name, kind, bytes));
                crate::render::count(record, cx);
            }
            ends.push(out.len() as u32);
        }
    }
}

#[cfg(test)]
mod tests;
