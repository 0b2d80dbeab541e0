//! Where a batch stands, which is what its object is called by.

use crate::batch::Load;
use ring::digest;
use std::sync::Arc;

/// Names of an outlet's objects, as far as messages do not say them.
pub struct Places {
    /// Tells its queue on disk from others, in names; by chance where it is in memory.
    pub queue: Arc<str>,
    /// Objects that were begun without numbers of messages.
    count: u64,
    /// An object without such numbers that may be there or not.
    open: Option<Open>,
}

struct Open {
    /// Of its messages. It costs as much as the signature: it is taken when an object is not made at once.
    digest: digest::Digest,
    place: String,
}

/// A batch's place, and whether an object of this name may be the batch's own, of an earlier attempt.
#[derive(Debug, PartialEq, Eq)]
pub struct ObjectPlace {
    pub name: String,
    pub is_again: bool,
}

impl Places {
    pub fn new(queue: Arc<str>) -> Places {
        Places { queue, count: 0, open: None }
    }

    pub fn of(&mut self, load: &Load) -> ObjectPlace {
        if let Some((first, _)) = load.range() {
            return ObjectPlace { name: format!("{}-{first:016}", self.queue), is_again: true };
        }
        if let Some(open) = self.open.as_ref().filter(|open| open.digest.as_ref() == digest_of(load).as_ref())
        {
            return ObjectPlace { name: open.place.clone(), is_again: true };
        }
        let name = format!("{}-{:016}", self.queue, self.count);
        self.count += 1;
        ObjectPlace { name, is_again: false }
    }

    /// The batch's object is there.
    pub fn is_made(&mut self) {
        self.open = None;
    }

    /// The batch's object is there or not: when the batch comes again, it has the same place.
    pub fn is_open(&mut self, load: &Load, place: String) {
        if load.range().is_none() {
            self.open = Some(Open { digest: digest_of(load), place });
        }
    }
}

fn digest_of(load: &Load) -> digest::Digest {
    digest::digest(&digest::SHA256, &load.body)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(body: &'static str, numbers: &[Option<u64>]) -> Load {
        Load { body: body.into(), numbers: numbers.to_vec(), messages: 1 }
    }

    #[test]
    fn a_batch_that_comes_again_has_its_place_and_others_have_theirs() {
        let mut places = Places::new("q".into());
        let place = |count: u64, is_again| ObjectPlace { name: format!("q-{count:016}"), is_again };
        let (one, two) = (load("one", &[None]), load("two", &[None]));
        assert_eq!(places.of(&one), place(0, false));
        places.is_open(&one, "q-0000000000000000".to_owned());
        assert_eq!(places.of(&one), place(0, true));
        // The first half of it, say.
        assert_eq!(places.of(&two), place(1, false));
        places.is_open(&two, "q-0000000000000001".to_owned());
        assert_eq!(places.of(&two), place(1, true));
        places.is_made();
        // The same messages once more are other messages.
        assert_eq!(places.of(&two), place(2, false));
    }

    #[test]
    fn nothing_is_digested_that_was_made_at_once_or_has_a_number() {
        let mut places = Places::new("q".into());
        for _ in 0..3 {
            places.of(&load("text", &[None]));
            places.is_made();
            assert!(places.open.is_none());
        }
        let numbered = load("text", &[Some(7)]);
        assert_eq!(
            places.of(&numbered),
            ObjectPlace { name: "q-0000000000000007".to_owned(), is_again: true }
        );
        places.is_open(&numbered, "q-0000000000000007".to_owned());
        assert!(places.open.is_none());
    }
}
