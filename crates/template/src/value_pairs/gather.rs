//! Finds the values of a message and the plan for its set of names. Messages mostly have names that others
//! had before, so names are neither compared nor sorted: what stands for the names in all batches is, as they
//! were found, the key of a plan.

use super::cache::{Buffers, Cache, PLANS, Sets, WAYS};
use super::compile::{Source, Static, When};
use super::known::Known;
use super::plan::Plan;
use super::walk::Names;
use super::{Cast, ValuePairs};
use crate::render::host_middle;
use crate::sdata::SdataCache;
use crate::writer::SHORT_BYTES;
use crate::{Msg, RenderContext, facts};
use record::{Batch, NameId, Value, ValueType};
use wire::sdata::{params, unescape};

/// Behind texts of which parts are copied in one size.
pub(super) const PADDING: [u8; SHORT_BYTES] = [0; SHORT_BYTES];

/// A value as it was found.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Found<'a> {
    pub bytes: &'a [u8],
    pub kind: ValueType,
    /// Its word of the plan's key: of statics whether they are there, of others the name too.
    word: u64,
}

impl Found<'_> {
    pub const NOTHING: Found<'static> = Found { bytes: b"", kind: ValueType::String, word: 0 };
}

/// The word of a value that is meant, by what stands for its name.
#[inline(always)]
pub(super) const fn meant_word(key: u64) -> u64 {
    key << 1 | 1
}

/// What was found, and whether that is what the plan that was used last is for.
pub(super) struct Finding<'a, 'k> {
    pairs: &'k ValuePairs,
    batch: &'a Batch,
    /// The key of that plan. It is compared word by word, as they are found: to read all of them again at
    /// once would wait until they are written.
    expected: &'k [u64],
    differences: u64,
    found: Vec<Found<'a>>,
}

impl<'a> Finding<'a, '_> {
    #[inline(always)]
    pub fn value(&mut self, name: NameId, value: Option<Value<'a>>) {
        self.named(self.batch.name_key(name), value);
    }

    #[inline(always)]
    pub fn named(&mut self, key: u64, value: Option<Value<'a>>) {
        match value {
            // Most values are texts, and stay what they are.
            Some(Value { bytes, kind: ValueType::String }) if self.pairs.takes_text(bytes) => {
                self.text(bytes, meant_word(key));
            }
            None => self.push(Found { word: key << 1, ..Found::NOTHING }),
            _ => self.other(key, value),
        }
    }

    /// A text that is meant, with its word.
    #[inline(always)]
    pub fn text(&mut self, bytes: &'a [u8], word: u64) {
        self.push(Found { bytes, kind: ValueType::String, word });
    }

    #[inline(always)]
    fn push(&mut self, found: Found<'a>) {
        let expected = self.expected.get(self.found.len());
        self.differences |= expected.map_or(u64::MAX, |expected| expected ^ found.word);
        self.found.push(found);
    }

    fn is_expected(&self) -> bool {
        self.differences == 0 && self.found.len() == self.expected.len()
    }

    #[inline(never)]
    fn other(&mut self, key: u64, value: Option<Value<'a>>) {
        let value = value.filter(|v| self.pairs.takes(*v, None));
        let word = key << 1 | u64::from(value.is_some());
        self.push(Found { word, ..self.pairs.cast(value) });
    }
}

impl ValuePairs {
    /// Gives `used` the plan and what was found.
    pub(crate) fn gather<R>(
        &self,
        msg: Msg<'_>,
        cx: &mut RenderContext,
        used: impl FnOnce(&Plan, &[Found<'_>]) -> R,
    ) -> Option<R> {
        let mut cache = cx.pairs.take(self.id);
        let result = self.gather_in(&mut cache, msg, cx, used);
        cx.pairs.put_back(self.id, cache);
        result
    }

    fn gather_in<R>(
        &self,
        cache: &mut Cache,
        msg: Msg<'_>,
        cx: &mut RenderContext,
        used: impl FnOnce(&Plan, &[Found<'_>]) -> R,
    ) -> Option<R> {
        self.print(msg, cx, &mut cache.buffers);
        let Cache { sets, buffers: Buffers { text, ends, key, found, .. }, names } = cache;
        let found_before = recycled(std::mem::take(found));
        let expected = sets.plans.get(sets.last).map(Plan::key).unwrap_or_default();
        let mut finding =
            Finding { pairs: self, batch: msg.batch, expected, differences: 0, found: found_before };
        let mut printed = printed(text, ends);
        self.fixed(msg, &mut printed, &mut finding);
        if self.walks {
            self.walk(msg, &mut printed, (&mut cx.sdata, names, &sets.known), &mut finding);
        }
        let is_expected = finding.is_expected();
        let values = finding.found;
        let last = sets.plans.get(sets.last).filter(|plan| is_expected && plan.is_made());
        let plan = match last.is_some() {
            true => sets.plans.get(sets.last),
            false => {
                key.clear();
                key.extend(values.iter().map(|found| found.word));
                Some(self.plan(msg, sets, key, (&mut cx.sdata, names)))
            }
        };
        let result = plan.map(|plan| used(plan, &values));
        *found = recycled(values);
        result
    }

    /// Whether a text is meant, as a text.
    #[inline(always)]
    pub(super) fn takes_text(&self, bytes: &[u8]) -> bool {
        !self.omit_empty || !bytes.is_empty()
    }

    /// Whether a value is meant, which the pair may give the type `hint`.
    #[inline]
    pub(super) fn takes(&self, value: Value<'_>, hint: Option<ValueType>) -> bool {
        // Most values are text.
        if value.kind == ValueType::String {
            return !self.omit_empty || !value.bytes.is_empty();
        }
        let bytes = matches!(value.kind, ValueType::Bytes | ValueType::Protobuf);
        // A text fits, whatever it was.
        let is_text = hint.is_none() && self.cast == Cast::Yes;
        let fits = !self.drop_wrong || is_text || crate::json::fits(value.kind, value.bytes);
        (!self.omit_empty || !value.bytes.is_empty()) && (self.include_bytes || !bytes) && fits
    }

    #[inline]
    pub(super) fn cast<'a>(&self, value: Option<Value<'a>>) -> Found<'a> {
        let Some(Value { bytes, kind }) = value else { return Found::default() };
        let kind = match self.cast {
            // A value that JSON cannot write as its type is written as a text: it never costs the record.
            Cast::No if kind == ValueType::String => kind,
            Cast::No if self.is_json() && !crate::json::fits(kind, bytes) => ValueType::String,
            Cast::No => kind,
            Cast::Yes => ValueType::String,
        };
        Found { bytes, kind, word: 0 }
    }

    /// Prints pairs that are templates, and takes the escapes out of parameters that have any.
    fn print(&self, msg: Msg<'_>, cx: &mut RenderContext, buffers: &mut Buffers) {
        buffers.text.clear();
        buffers.ends.clear();
        for pair in &self.statics {
            let template = match &pair.source {
                Source::Template(template) => template,
                Source::Name(fact, template) if facts::name(*fact, msg.record.pri).is_none() => template,
                _ => continue,
            };
            let kind = template.render_typed(msg, cx, &mut buffers.text);
            buffers.ends.push((buffers.text.len() as u32, kind));
        }
        if !self.walks_sdata {
            return;
        }
        for param in params(msg.batch.bytes(msg.record.sdata)).filter(|p| p.value.contains(&b'\\')) {
            buffers.text.extend_from_slice(unescape(param.value, &mut buffers.plain));
            buffers.ends.push((buffers.text.len() as u32, ValueType::String));
        }
    }

    /// Pairs whose names are known.
    fn fixed<'a>(
        &'a self,
        msg: Msg<'a>,
        printed: &mut impl Iterator<Item = Found<'a>>,
        finding: &mut Finding<'a, '_>,
    ) {
        let mut printed = || printed.next().map(|v| Value { bytes: v.bytes, kind: v.kind });
        for pair in &self.statics {
            let value = match &pair.source {
                Source::Fixed { text, kind, is_meant } => {
                    finding.push(Found { bytes: text, kind: *kind, word: u64::from(*is_meant) });
                    continue;
                }
                Source::Name(fact, _) => match facts::name(*fact, msg.record.pri) {
                    Some(name) => Some(Value::string(name.as_bytes())),
                    None => printed(),
                },
                Source::Template(_) => printed(),
                Source::Host => {
                    let value = msg.batch.value(msg.record, NameId::HOST);
                    value.map(|v| Value { bytes: msg.batch.bytes(host_middle(msg)), kind: v.kind })
                }
                Source::Value(id) => {
                    let value = msg.batch.value(msg.record, *id);
                    // A lone value that is not set has no value.
                    let nothing = Value { bytes: b"", kind: ValueType::Null };
                    value.or((pair.when == When::Always).then_some(nothing))
                }
            };
            let value = value.filter(|v| pair.when != When::Filled || !v.bytes.is_empty());
            match value {
                Some(Value { bytes, kind: ValueType::String })
                    if pair.hint.is_none() && self.takes_text(bytes) =>
                {
                    finding.push(Found { bytes, kind: ValueType::String, word: 1 });
                }
                value => self.other(pair, value, finding),
            }
        }
    }

    /// A pair whose value is no text, or is not meant.
    #[inline(never)]
    fn other<'a>(&self, pair: &Static, value: Option<Value<'a>>, finding: &mut Finding<'a, '_>) {
        let value = value.map(|v| Value { bytes: v.bytes, kind: pair.hint.unwrap_or(v.kind) });
        let value = value.filter(|v| self.takes(*v, pair.hint));
        let word = u64::from(value.is_some());
        finding.push(match (value, pair.hint) {
            (Some(Value { bytes, kind }), Some(_)) => Found { bytes, kind, word },
            (value, _) => Found { word, ..self.cast(value) },
        });
    }

    /// The plan for what was found. One is made and kept for a set of names that comes again; names in any
    /// order come once.
    #[inline(never)]
    fn plan<'c>(
        &self,
        msg: Msg<'_>,
        sets: &'c mut Sets,
        key: &[u64],
        names: (&mut SdataCache, &Names),
    ) -> &'c Plan {
        let Sets { plans, last, seen, known } = sets;
        if plans.is_empty() {
            plans.resize_with(PLANS, Plan::default);
            seen.resize(PLANS, 0);
        }
        let hash = key.iter().fold(key.len() as u64, |hash, word| {
            (hash.rotate_left(5) ^ *word).wrapping_mul(0x517c_c1b7_2722_0a95)
        });
        let first = ((hash >> 32) as usize % PLANS) & !(WAYS - 1);
        let places = plans.get(first..first + WAYS).unwrap_or_default();
        if let Some(at) = places.iter().position(|plan| plan.is_for(key)) {
            *last = first + at;
            return &plans[*last];
        }
        if !known.pick(self, key) {
            self.learn(msg, known, key, names);
        }
        let was_seen = seen.get_mut((hash >> 48) as usize % PLANS);
        if was_seen.is_none_or(|seen| std::mem::replace(seen, hash) != hash) {
            return known.plan(self.layout);
        }
        let free = places.iter().position(|plan| !plan.is_made());
        *last = first + free.unwrap_or((hash >> 40) as usize % WAYS);
        let plan = &mut plans[*last];
        known.make(plan, key, self);
        plan
    }

    #[cold]
    fn learn(&self, msg: Msg<'_>, known: &mut Known, key: &[u64], names: (&mut SdataCache, &Names)) {
        known.make_room(self, key.len());
        let mut words = key.iter().skip(self.statics.len());
        if self.walks {
            self.walk_names(msg, names, |name| {
                let Some(word) = words.next() else { return };
                known.learn(self, word >> 1, || self.includes(name).then(|| self.final_name(name)));
            });
        }
        known.pick(self, key);
    }
}

/// The parts of what was printed, one after the other.
fn printed<'a>(text: &'a [u8], ends: &'a [(u32, ValueType)]) -> impl Iterator<Item = Found<'a>> {
    let mut start = 0;
    ends.iter().map(move |(end, kind)| {
        let bytes = text.get(start..*end as usize).unwrap_or_default();
        start = *end as usize;
        Found { bytes, kind: *kind, word: 0 }
    })
}

/// The vector, emptied, for values of another life: its memory is kept, since the elements have one layout.
fn recycled<'b>(mut found: Vec<Found<'_>>) -> Vec<Found<'b>> {
    found.clear();
    found.into_iter().map(|_| Found::default()).collect()
}
