//! OpenTelemetry's protocol: messages as log records, batches as requests, and the other way round.

mod any_value;
mod composed;
mod messages;
mod pairs;
mod received;
mod record;
mod request;
mod response;

pub use composed::RecordWriter;
pub use messages::{Filler, Requested};
pub use pairs::{PairWriter, scope as pair_scope};
pub use record::{put_text, text_of};
pub use request::{Signal, load};
pub use response::read as read_response;

/// Bytes that a record takes in a request beside its own.
pub const RECORD_EXTRA_BYTES: usize = 6;

#[cfg(any(test, feature = "fuzzing"))]
pub fn fuzz(input: &[u8]) {
    let _ = response::read(input, 7);
    let _ = text_of(input);
    messages::fuzz(input);
    let _ = request::request(&[input, b"", input], b"x");
}
