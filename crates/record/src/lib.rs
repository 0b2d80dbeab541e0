//! The message model: batches, records, values, names, tags and timestamps, and the hash for keys that come
//! with messages. No parsing, no I/O.
//!
//! The unit is the [`Batch`]: one buffer of text (the received bytes, then whatever was made on the way) and
//! one compact [`Record`] per message whose fields are [`Span`]s of that buffer. The text only grows and
//! value lists are only prepended to, so **a copy of a `Record` is a snapshot of the whole message**:
//! branches save and restore records, never text.

mod answers;
mod batch;
mod civil;
mod context;
mod demand;
mod names;
pub mod pri;
mod stamp;
mod tags;
mod value;
mod zone;

pub use ::value::{Seed, Span};
pub use answers::NameAnswers;
pub use batch::{
    BATCH_NAMES_BYTES_MAX, BATCH_NAMES_MAX, Batch, BatchNames, FieldTypes, Flags, Mark, NAME_BYTES_MAX,
    Packer, Record, Since, Unpacker, name_key, names_left_out, packed_message,
};
pub use civil::{Civil, DAY_NAMES, MONTH_NAMES};
pub use context::{Context, Peer, Transport};
pub use demand::Demand;
pub use names::{NameId, intern, lookup, name_of};
pub use stamp::Stamp;
pub use tags::{TagId, Tags, tag_id, tag_name};
pub use value::{Value, ValueType, datetime_seconds};
pub use zone::{Zone, ZoneCursor};
