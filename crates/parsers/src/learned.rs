//! The names of a batch while a parser reads one of its texts: they are taken out of it for that time, as the
//! text stays where it is.

use record::{Batch, BatchNames, NameId};

#[derive(Default)]
pub struct Learned {
    names: BatchNames,
}

impl Learned {
    /// Lets `read` make names of the batch while it reads its text.
    #[inline]
    pub fn of<R>(&mut self, batch: &mut Batch, read: impl FnOnce(&Batch, &mut Learned) -> R) -> R {
        std::mem::swap(&mut batch.names, &mut self.names);
        let result = read(batch, self);
        std::mem::swap(&mut batch.names, &mut self.names);
        say_left_out(batch);
        result
    }

    /// Names are asked for with this prefix by [`Learned::before`].
    #[inline]
    pub fn begin(&mut self, prefix: &str) {
        self.names.begin(prefix.as_bytes());
    }

    /// Of a text with a key in front of `end`: where the key begins and its name with the prefix given to
    /// [`Learned::begin`], if it is the key that was expected. `may_begin` says whether a key may begin at a
    /// place.
    #[inline(always)]
    pub fn before(
        &mut self,
        text: &[u8],
        end: usize,
        may_begin: impl FnOnce(usize) -> bool,
    ) -> Option<(usize, NameId)> {
        self.names.before(text, end, may_begin)
    }

    /// The name `prefix` + `key`, made when it is new; `None` when it is too long, no UTF-8, or there is no
    /// room.
    #[inline]
    pub fn name(&mut self, prefix: &str, key: &[u8]) -> Option<NameId> {
        self.names.id(prefix.as_bytes(), key)
    }
}

/// Says it when values or tags of a batch were left out for want of room for their names.
#[inline]
pub fn say_left_out(batch: &mut Batch) {
    let left_out = batch.names.take_unsaid();
    if left_out > 0 {
        say(left_out);
    }
}

#[cold]
fn say(left_out: u64) {
    oplog::limited(
        "names-left-out",
        oplog::Level::Warning,
        "Too many names in one batch of messages, values or tags left out",
        &[("values", &left_out), ("names_max", &record::BATCH_NAMES_MAX)],
    );
}
