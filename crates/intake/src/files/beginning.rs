//! Whether a file may be read from: parsers of its log paths may want to know something of it before, and for
//! a while nothing is read then.

use super::followed::Followed;
use engine::source::Source;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

#[derive(Default)]
pub enum Beginning {
    #[default]
    Unasked,
    /// Not yet, since then.
    Awaited(Instant),
    Made,
}

impl Beginning {
    /// Asked with each turn of the reader, until it may.
    pub fn may_be(&mut self, source: &Source, path: &Path, followed: &Arc<Followed>) -> bool {
        let waited = match self {
            Beginning::Made => return true,
            Beginning::Unasked => None,
            Beginning::Awaited(since) => Some(since.elapsed()),
        };
        let wake = || {
            let followed = Arc::clone(followed);
            Box::new(move || followed.wake()) as Box<dyn FnOnce() + Send>
        };
        if source.settings().program.may_begin(path.as_os_str().as_bytes(), waited, &wake) {
            *self = Beginning::Made;
            return true;
        }
        if waited.is_none() {
            *self = Beginning::Awaited(Instant::now());
        }
        false
    }

    /// The reader wants a turn now and then.
    pub fn is_awaited(&self) -> bool {
        matches!(self, Beginning::Awaited(_))
    }
}
