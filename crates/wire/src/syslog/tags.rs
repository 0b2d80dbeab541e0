//! The tags that tell what was wrong with a message. Their numbers are looked up once, when a parser is made.

use record::{Batch, TagId, tag_id};

/// A set of findings about one message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Kinds(pub u32);

const NAMES: [&str; 16] = [
    "syslog.missing_pri",
    "syslog.invalid_pri",
    "syslog.missing_timestamp",
    "syslog.invalid_hostname",
    "syslog.unexpected_framing",
    "syslog.rfc3164_missing_header",
    "syslog.rfc3164_invalid_program",
    "syslog.rfc5424_missing_hostname",
    "syslog.rfc5424_missing_app_name",
    "syslog.rfc5424_missing_procid",
    "syslog.rfc5424_missing_msgid",
    "syslog.rfc5424_missing_sdata",
    "syslog.rfc5424_missing_message",
    "syslog.rfc5424_invalid_sdata",
    "message.utf8_sanitized",
    "message.parse_error",
];

impl Kinds {
    pub const MISSING_PRI: Kinds = Kinds(1 << 0);
    pub const INVALID_PRI: Kinds = Kinds(1 << 1);
    pub const MISSING_TIMESTAMP: Kinds = Kinds(1 << 2);
    pub const INVALID_HOSTNAME: Kinds = Kinds(1 << 3);
    pub const UNEXPECTED_FRAMING: Kinds = Kinds(1 << 4);
    pub const MISSING_HEADER: Kinds = Kinds(1 << 5);
    pub const INVALID_PROGRAM: Kinds = Kinds(1 << 6);
    /// The five fields of an RFC 5424 header, in their order.
    pub const MISSING_FIELD: [Kinds; 5] =
        [Kinds(1 << 7), Kinds(1 << 8), Kinds(1 << 9), Kinds(1 << 10), Kinds(1 << 11)];
    pub const MISSING_MESSAGE: Kinds = Kinds(1 << 12);
    pub const INVALID_SDATA: Kinds = Kinds(1 << 13);
    pub const UTF8_SANITIZED: Kinds = Kinds(1 << 14);
    pub const PARSE_ERROR: Kinds = Kinds(1 << 15);

    #[inline]
    pub fn add(&mut self, other: Kinds) {
        self.0 |= other.0;
    }
}

/// The numbers of the tags. One the full table refuses is not set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TagSet {
    ids: [Option<TagId>; NAMES.len()],
}

impl TagSet {
    pub fn resolve() -> TagSet {
        TagSet { ids: NAMES.map(tag_id) }
    }

    pub fn apply(&self, batch: &mut Batch, index: usize, kinds: Kinds) {
        if kinds == Kinds::default() {
            return;
        }
        for (bit, id) in self.ids.iter().enumerate() {
            if let Some(id) = id
                && kinds.0 & (1 << bit) != 0
            {
                batch.set_tag(index, *id);
            }
        }
    }
}
