//! A record as it begins, before anything of its header has been read.

use super::name_bits::NameBits;
use super::{FieldTypes, Flags, Record};
use crate::Span;
use crate::stamp::Stamp;
use crate::tags::Tags;
use crate::value::Link;

impl Record {
    pub const NO_TEXT: u32 = u32::MAX;

    pub fn new(frame: Span) -> Record {
        Record {
            frame,
            host: Span::EMPTY,
            program: Span::EMPTY,
            pid: Span::EMPTY,
            msgid: Span::EMPTY,
            msghdr: Span::EMPTY,
            message: Span::EMPTY,
            sdata: Span::EMPTY,
            stamp: Stamp::default(),
            stamp_text: Record::NO_TEXT,
            origin: 0,
            pri: crate::pri::DEFAULT,
            flags: Flags::default(),
            context: 0,
            types: FieldTypes::default(),
            tags: Tags::default(),
            more_tags: Link::NONE,
            values: Link::NONE,
            name_bits: NameBits::default(),
            held: Link::NONE,
        }
    }

    /// Whether any name-value pair was set on the way; without, only fields and the context answer.
    pub fn has_values(&self) -> bool {
        self.values != Link::NONE
    }

    /// Whether it may have tags beyond those of its word.
    #[inline]
    pub fn has_more_tags(&self) -> bool {
        self.more_tags != Link::NONE
    }
}
