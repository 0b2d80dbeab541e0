//! Objects that are read: which there are, how far each was read, and what became of its messages.
//!
//! On the runtime a [`finder`] lists the bucket and puts what it has not seen on the [`board`]; readers take
//! objects from there, one each, bring their bytes in ranges, unpack them and lay the text on a [`desk`]. A
//! worker makes messages of it. An object is finished when all of it was read and every message is dealt
//! with: until then the state file has its place, so that a restart goes on from there.

mod board;
mod clerk;
mod desk;
mod events;
mod fetch;
mod finder;
mod hold;
mod listing;
mod messages;
mod puller;
mod queue;
mod reader;
mod remover;
mod roll;
mod unpack;

pub use board::Board;
pub use clerk::Queue;
pub use desk::{Desk, Piece};
pub use hold::{End, Hold};
pub use listing::Listed;
pub use puller::Puller;
pub use roll::Rule;
pub use unpack::Packed;

use crate::server::Server;
use pattern::{Cache, Pattern};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What becomes of an object that is finished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Afterwards {
    Keep,
    Delete,
    /// It gets a name that begins so, and is deleted under its own.
    Move(String),
}

/// How a bucket is read.
pub struct Pull {
    pub server: Arc<Server>,
    /// What tells of new objects, in the place of looks at the bucket.
    pub queue: Option<Arc<Queue>>,
    pub prefix: String,
    /// Listing begins behind this name.
    pub start_after: String,
    /// What the names of objects look like.
    pub names: Option<Pattern>,
    /// Names come in order: listing goes on behind the last one.
    pub is_ascending: bool,
    pub packed: Packed,
    pub afterwards: Afterwards,
    /// One that cannot be read to its end is kept back, and tried again.
    pub holds_unreadable: bool,
    /// What is there at the first start is read.
    pub reads_old: bool,
    /// Between two looks at the bucket.
    pub period: Duration,
    /// The longest pause between two attempts.
    pub pause_max: Duration,
}

impl Pull {
    /// Whether an object of this name is to be read.
    fn wants(&self, key: &str, cache: &mut Cache) -> bool {
        let matches = self.names.as_ref().is_none_or(|names| names.is_match(key.as_bytes(), cache));
        matches && key.starts_with(&self.prefix) && key > self.start_after.as_str()
    }
}

/// Our clock, in milliseconds since 1970.
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

/// For tests and the fuzz target: whatever a listing says.
pub fn read_anything(bytes: &[u8]) {
    let _ = (events::read(bytes), clerk::received(bytes));
    if let Some(page) = listing::page(bytes) {
        assert!(page.objects.len() <= bytes.len());
    }
    for packed in [Packed::Auto, Packed::Gzip, Packed::Zstd] {
        let mut unpacker = unpack::Unpacker::new(packed);
        let mut out = Vec::new();
        let mut rest = bytes;
        while !rest.is_empty() {
            match unpacker.take(rest, &mut out) {
                Ok(taken) => rest = rest.get(taken..).unwrap_or_default(),
                Err(_) => return,
            }
            out.clear();
        }
        let _ = unpacker.finish(&mut out);
    }
}
