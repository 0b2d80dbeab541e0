//! The values that a message has, whatever their names. What stands for a name, or that it is not meant, is
//! found out once.

use super::ValuePairs;
use super::gather::{Finding, Found, meant_word};
use super::known::Known;
use crate::Msg;
use crate::sdata::SdataCache;
use record::{Batch, NameId, Value, ValueType};
use wire::sdata::params;

/// The words of names.
#[derive(Default)]
pub(super) struct Names {
    /// Of those that configurations know.
    known: Vec<u64>,
    /// Of those that the batch brought, in this life of it: numbers mean others in another.
    local: Vec<u64>,
    life: u64,
}

/// Not found out yet.
const UNKNOWN: u64 = 0;
/// Of a name that is not meant.
const NOT_MEANT: u64 = meant_word(0);

impl Names {
    fn begin(&mut self, batch: &Batch) {
        if self.life != batch.names.life() {
            self.local.clear();
            self.life = batch.names.life();
        }
    }

    #[inline(always)]
    fn of(&self, id: NameId) -> u64 {
        let word = match id.local_index() {
            Some(index) => self.local.get(index),
            None => self.known.get(id.index()),
        };
        word.copied().unwrap_or(UNKNOWN)
    }

    /// Whether a name may be meant; what is not meant does not make another set of names of a message.
    fn may_be(&mut self, pairs: &ValuePairs, known: &Known, batch: &Batch, id: NameId) -> bool {
        let mut word = self.of(id);
        if word == UNKNOWN {
            word = self.find_out(pairs, known, batch, id);
        }
        word != NOT_MEANT
    }

    #[cold]
    fn find_out(&mut self, pairs: &ValuePairs, known: &Known, batch: &Batch, id: NameId) -> u64 {
        let key = batch.name_key(id);
        let (list, index, is_meant) = match id.local_index() {
            // Names come with messages again and again, under other numbers.
            Some(index) => (&mut self.local, index, !known.excludes(key)),
            None => (&mut self.known, id.index(), pairs.includes(batch.name_of(id))),
        };
        let word = if is_meant { meant_word(key) } else { NOT_MEANT };
        if list.len() <= index {
            list.resize(index + 1, UNKNOWN);
        }
        if let Some(place) = list.get_mut(index) {
            *place = word;
        }
        word
    }
}

impl ValuePairs {
    /// Everything the message has. What was set on the way comes before what it hides.
    pub(super) fn walk<'a>(
        &self,
        msg: Msg<'a>,
        printed: &mut impl Iterator<Item = Found<'a>>,
        (sdata, names, known): (&mut SdataCache, &mut Names, &Known),
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
            names.begin(batch);
            self.walk_entries(msg, (names, known), finding);
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
                    if names.may_be(self, known, batch, *id) {
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
    fn walk_entries<'a>(
        &self,
        msg: Msg<'a>,
        (names, known): (&mut Names, &Known),
        finding: &mut Finding<'a, '_>,
    ) {
        for (id, value) in msg.batch.entries(msg.record) {
            match (names.of(id), value) {
                (NOT_MEANT, _) => {}
                (UNKNOWN, value) => {
                    if names.may_be(self, known, msg.batch, id) {
                        finding.value(id, value);
                    }
                }
                (word, Some(Value { bytes, kind: ValueType::String })) if self.takes_text(bytes) => {
                    finding.text(bytes, word);
                }
                (_, value) => finding.value(id, value),
            }
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

    /// The names of what [`ValuePairs::walk`] has found, in its order.
    pub(super) fn walk_names(
        &self,
        msg: Msg<'_>,
        (sdata, names): (&mut SdataCache, &Names),
        mut each: impl FnMut(&str),
    ) {
        let Msg { batch, record } = msg;
        let entries = batch.entries(record).map(|(id, _)| id);
        if self.only_sdata {
            entries.filter(|id| id.is_sdata()).for_each(|id| each(batch.name_of(id)));
        } else {
            let own = |id: &NameId| self.means(*id);
            let set = |id: &NameId| names.of(*id) != NOT_MEANT;
            let fields = batch.fields(record).into_iter().map(|(id, _)| id);
            fields.filter(own).chain(entries.filter(set)).for_each(|id| each(batch.name_of(id)));
            if let Some(context) = batch.context(record) {
                let fixed = [NameId::HOST_FROM, NameId::SOURCE, NameId::TRANSPORT].into_iter();
                let values = context.values.iter().map(|(id, _)| *id);
                fixed.filter(own).chain(values.filter(set)).for_each(|id| each(batch.name_of(id)));
            }
            if own(&NameId::MSGFORMAT) {
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
