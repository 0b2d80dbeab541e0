//! The compiled operations.

use crate::group::Group;
use crate::header::Header;
use crate::set::Set;
use crate::subst::Subst;
use crate::time::ZoneChange;
use record::{Batch, Flags, NameId, TagId, Value, ValueType};
use template::Template;

pub enum Op {
    Set(Set),
    Unset(NameId),
    Subst(Box<Subst>),
    Tag { tag: Tag, on: bool },
    Group(Box<Group>),
    Rename { from: NameId, to: NameId },
    SetMatches(Box<Template>),
    UnsetMatches,
    Header(Header),
    Zone(Box<ZoneChange>),
}

pub enum Tag {
    Known(TagId),
    Made(Box<Template>),
}

/// Sets a value; MESSAGE is only known to be UTF-8 as long as it is.
pub fn assign(batch: &mut Batch, index: usize, name: NameId, bytes: &[u8], kind: ValueType) {
    let span = batch.append(bytes);
    assign_span(batch, index, name, span, kind);
}

/// Like [`assign`], for text that stands in the batch already.
pub fn assign_span(batch: &mut Batch, index: usize, name: NameId, span: record::Span, kind: ValueType) {
    batch.set_span(index, name, span, kind);
    if name == NameId::MESSAGE {
        check_utf8(batch, index, span);
    }
}

fn check_utf8(batch: &mut Batch, index: usize, span: record::Span) {
    let known = batch.records.get(index).is_some_and(|r| r.flags.has(Flags::UTF8));
    if known
        && std::str::from_utf8(batch.bytes(span)).is_err()
        && let Some(record) = batch.records.get_mut(index)
    {
        record.flags.0 &= !Flags::UTF8.0;
    }
}

/// The place of a value in the batch's text; text from elsewhere (a peer's context) is copied there.
pub fn span_of(batch: &mut Batch, index: usize, name: NameId) -> Option<(record::Span, ValueType)> {
    let record = batch.records.get(index)?;
    let Value { bytes, kind } = batch.value(record, name)?;
    if let Some(span) = filter::span_in(batch, bytes) {
        return Some((span, kind));
    }
    let copy = bytes.to_vec();
    Some((batch.append(&copy), kind))
}
