//! The values that a message has, whatever their names. Messages of one kind bring the same names in the same
//! order, so what stands for a name is mostly what stood there for the last message.

use super::ValuePairs;
use super::gather::{Finding, Found, meant_word};
use crate::Msg;
use crate::sdata::SdataCache;
use record::{Batch, NameAnswers, NameId, Value, ValueType};
use wire::sdata::params;

/// Names that are remembered of the last message.
const LATELY_MAX: usize = 512;

/// What is remembered of names.
#[derive(Default)]
pub(super) struct Names {
    /// Whether names that configurations know are meant.
    meant: NameAnswers,
    /// Of what was set on the way for the last message, in order: the name, if it is meant, and its word.
    lately: Vec<(NameId, u64)>,
    /// In this life of a batch: numbers of names mean others in another.
    life: u64,
}

/// No value that is set on the way is called so: it has a place of its own.
const NOT_MEANT: NameId = NameId::MESSAGE;

impl Names {
    fn begin(&mut self, batch: &Batch) {
        if self.life != batch.names.life() {
            self.lately.clear();
            self.life = batch.names.life();
        }
    }

    /// Whether a name may be meant; what is not meant does not make another set of names of a message.
    #[inline]
    fn may_be(&mut self, pairs: &ValuePairs, batch: &Batch, id: NameId) -> bool {
        id.is_local() || self.meant.of(id, || pairs.includes(batch.name_of(id))) != Some(false)
    }

    fn keep(&mut self, at: usize, name: NameId, word: u64) {
        if let Some(place) = self.lately.get_mut(at) {
            *place = (name, word);
        } else if at == self.lately.len() && at < LATELY_MAX {
            self.lately.push((name, word));
        }
    }
}

impl ValuePairs {
    /// Everything the message has. What was set on the way comes before what it hides.
    pub(super) fn walk<'a>(
        &self,
        msg: Msg<'a>,
        printed: &mut impl Iterator<Item = Found<'a>>,
        (sdata, names): (&mut SdataCache, &mut Names),
        finding: &mut Finding<'a, '_>,
    ) {
        let Msg { batch, record } = msg;
        if self.only_sdata {
            let changed = batch.entries(record).filter(|(id, _)| id.is_sdata());
            changed.for_each(|(id, value)| finding.value(id, value));
        } else {
            for (id, value) in batch.fields(record) {
                if self.means(id) {
                    finding.value(id, value.or((id == NameId::MESSAGE).then_some(Value::string(b""))));
                }
            }
            self.walk_entries(msg, names, finding);
            if let Some(context) = batch.context(record) {
                let set = |text: &'a str| (!text.is_empty()).then(|| Value::string(text.as_bytes()));
                for (id, text) in [
                    (NameId::HOST_FROM, &*context.host_from),
                    (NameId::SOURCE, &*context.source),
                    (NameId::TRANSPORT, context.transport.0),
                ] {
                    if self.means(id) {
                        finding.value(id, set(text));
                    }
                }
                for (id, bytes) in &context.values {
                    if names.may_be(self, batch, *id) {
                        finding.value(*id, Some(Value::string(bytes)));
                    }
                }
            }
            if self.means(NameId::MSGFORMAT) {
                finding.value(NameId::MSGFORMAT, Some(Value::string(wire::msgformat(record).as_bytes())));
            }
        }
        if self.walks_sdata {
            for param in params(batch.bytes(record.sdata)) {
                let value = match param.value.contains(&b'\\') {
                    true => printed.next().map(|found| found.bytes).unwrap_or_default(),
                    false => param.value,
                };
                if let Some((key, _)) = sdata.key(&param) {
                    finding.named(key, Some(Value::string(value)));
                }
            }
        }
    }

    /// What was set on the way.
    #[inline(always)]
    fn walk_entries<'a>(&self, msg: Msg<'a>, names: &mut Names, finding: &mut Finding<'a, '_>) {
        names.begin(msg.batch);
        for (at, (id, value)) in msg.batch.entries(msg.record).enumerate() {
            match (names.lately.get(at), value) {
                (Some((name, word)), Some(Value { bytes, kind: ValueType::String }))
                    if *name == id && self.takes_text(bytes) =>
                {
                    finding.text(bytes, *word);
                }
                _ => self.walk_entry(msg.batch, (at, id, value), names, finding),
            }
        }
    }

    #[inline(never)]
    fn walk_entry<'a>(
        &self,
        batch: &'a Batch,
        (at, id, value): (usize, NameId, Option<Value<'a>>),
        names: &mut Names,
        finding: &mut Finding<'a, '_>,
    ) {
        if names.may_be(self, batch, id) {
            finding.value(id, value);
            names.keep(at, id, meant_word(batch.name_key(id)));
        } else {
            names.keep(at, NOT_MEANT, 0);
        }
    }

    /// Whether a name that every message may have is meant.
    #[inline(always)]
    fn means(&self, id: NameId) -> bool {
        self.own_names >> (id.0 - NameId::HOST.0) & 1 == 1
    }

    /// For [`ValuePairs::own_names`]: a bit for each of them that is meant.
    pub(super) fn own_names(&self) -> u32 {
        let own = NameId::HOST.0..=NameId::FILE_NAME.0;
        own.zip(0..)
            .filter(|(id, _)| self.includes(record::name_of(NameId(*id))))
            .fold(0, |bits, (_, bit)| bits | 1 << bit)
    }

    /// The names of what [`ValuePairs::walk`] finds, in its order.
    pub(super) fn walk_names(&self, msg: Msg<'_>, sdata: &mut SdataCache, mut each: impl FnMut(&str)) {
        let Msg { batch, record } = msg;
        let entries = batch.entries(record).map(|(id, _)| id);
        if self.only_sdata {
            entries.filter(|id| id.is_sdata()).for_each(|id| each(batch.name_of(id)));
        } else {
            let mut names = Names::default();
            let mut may_be = |id: &NameId| names.may_be(self, batch, *id);
            let fields = batch.fields(record).into_iter().map(|(id, _)| id);
            fields.chain(entries).filter(&mut may_be).for_each(|id| each(batch.name_of(id)));
            if let Some(context) = batch.context(record) {
                let fixed = [NameId::HOST_FROM, NameId::SOURCE, NameId::TRANSPORT].into_iter();
                let all = fixed.chain(context.values.iter().map(|(id, _)| *id));
                all.filter(&mut may_be).for_each(|id| each(batch.name_of(id)));
            }
            if may_be(&NameId::MSGFORMAT) {
                each(batch.name_of(NameId::MSGFORMAT));
            }
        }
        if self.walks_sdata {
            for param in params(batch.bytes(record.sdata)) {
                if let Some((_, name)) = sdata.key(&param) {
                    each(name);
                }
            }
        }
    }
}
