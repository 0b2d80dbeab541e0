//! What a class has posted as messages of a batch.

use python::Posted;
use python::marshal::{Item, Malformed};
use record::{Batch, Flags, NameId, Record, Span, Stamp, ValueType};
use template::python::{Known, note, taken};

/// Appends the messages; those of which HOST was not set have that of this machine.
pub fn append(
    batch: &mut Batch,
    posted: &mut Posted<'_>,
    known: &mut Known,
    (now, host): (Stamp, &str),
) -> Result<(), Malformed> {
    for _ in 0..posted.count {
        let reader = &mut posted.messages;
        let Item::Dict = reader.item()? else { return Err(Malformed) };
        let index = batch.records.len();
        let mut record = Record::new(Span::EMPTY);
        record.stamp = now;
        record.origin = index as u32;
        record.flags.set(Flags::LOCAL);
        batch.records.push(record);
        loop {
            match reader.item()? {
                Item::End => break,
                Item::Text(name) => {
                    let id = known.id(batch, name);
                    taken(reader, |bytes, kind| {
                        if let Some(id) = id {
                            batch.set(index, id, bytes, kind);
                        }
                    })?;
                }
                Item::Int(what) => note(batch.records.get_mut(index).ok_or(Malformed)?, what, reader)?,
                _ => return Err(Malformed),
            }
        }
        let has_host = batch.records.get(index).is_some_and(|record| !record.host.is_empty());
        if !has_host {
            batch.set(index, NameId::HOST, host.as_bytes(), ValueType::String);
        }
    }
    if posted.messages.is_empty() { Ok(()) } else { Err(Malformed) }
}
