//! What a step changed in a message: two states of its record compared.

use record::{Batch, NameId, Record, Span, ValueType};

/// One thing that is different.
#[derive(Debug, PartialEq, Eq)]
pub struct Change<'a> {
    pub what: What<'a>,
    /// `None`: it was not set.
    pub before: Option<Vec<u8>>,
    /// `None`: it is not set any more.
    pub after: Option<Vec<u8>>,
    pub kind: ValueType,
}

/// What a change is of.
#[derive(Debug, PartialEq, Eq)]
pub enum What<'a> {
    Value(&'a str),
    Tag(&'a str),
}

/// Fields of a record that are values.
const FIELDS: [NameId; 6] =
    [NameId::LEGACY_MSGHDR, NameId::HOST, NameId::PROGRAM, NameId::PID, NameId::MSGID, NameId::MESSAGE];

/// Everything in which `after` differs from `before`, an earlier state of the same message: header first,
/// then values in the order in which they were set, then tags.
pub fn changes<'a>(batch: &'a Batch, before: &Record, after: &Record) -> Vec<Change<'a>> {
    let mut found = Vec::new();
    let number = |pri: u16| Some(pri.to_string().into_bytes());
    let mut add = |name: &'a str, old: Option<Vec<u8>>, new: Option<Vec<u8>>, kind: ValueType| {
        found.push(Change { what: What::Value(name), before: old, after: new, kind });
    };
    if before.pri != after.pri {
        add("PRI", number(before.pri), number(after.pri), ValueType::Int);
    }
    if before.stamp != after.stamp {
        add("STAMP", Some(time(before)), Some(time(after)), ValueType::DateTime);
    }
    let text = |span: Span| (!span.is_empty()).then(|| batch.bytes(span).to_vec());
    if before.sdata != after.sdata {
        add("SDATA", text(before.sdata), text(after.sdata), ValueType::String);
    }
    let own = |record: &Record, name: NameId| batch.value(record, name).map(|value| value.bytes.to_vec());
    for name in FIELDS {
        let (old, new) = (own(before, name), own(after, name));
        if old != new {
            add(batch.name_of(name), old, new, after.types.of(name));
        }
    }
    for name in newly_set(batch, before, after) {
        let value = batch.value(after, name);
        let kind = value.map_or(ValueType::String, |value| value.kind);
        add(batch.name_of(name), own(before, name), own(after, name), kind);
    }
    let (old, new) = (batch.tags(before), batch.tags(after));
    let tag = |tag, on: bool| {
        let word = |on: bool| on.then(|| b"1".to_vec());
        let what = What::Tag(batch.tag_name(tag));
        Change { what, before: word(!on), after: word(on), kind: ValueType::Boolean }
    };
    found.extend(new.iter().filter(|t| !old.contains(t)).map(|t| tag(*t, true)));
    found.extend(old.iter().filter(|t| !new.contains(t)).map(|t| tag(*t, false)));
    found
}

/// Names that were set or unset since, in that order, each once. Entries are only put in front of those that
/// were there.
fn newly_set(batch: &Batch, before: &Record, after: &Record) -> Vec<NameId> {
    let added = batch.entries(after).count().saturating_sub(batch.entries(before).count());
    let mut names: Vec<NameId> = Vec::new();
    for (name, _) in batch.entries(after).take(added) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.reverse();
    names
}

/// Seconds since 1970 with microseconds.
fn time(record: &Record) -> Vec<u8> {
    format!("{}.{:06}", record.stamp.secs, record.stamp.usec).into_bytes()
}

#[cfg(test)]
mod tests;
