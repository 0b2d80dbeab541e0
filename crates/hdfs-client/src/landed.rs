//! What may have come into a file before an outage, and what of the next batch is there already.

use crate::batch::Load;
use bytes::Bytes;

/// Bytes that were on the way to a file when it was cut off.
#[derive(Debug)]
pub struct Unsure {
    pub path: String,
    /// What of the file is acknowledged.
    pub synced: u64,
    /// What was to stand behind that.
    pub tail: Bytes,
}

impl Unsure {
    /// Of a batch that comes now, how many of its first bytes the file has behind what is acknowledged, as
    /// its length says. None where the batch is another one than that which was on the way.
    pub fn has(&self, load: &Load, length: u64) -> usize {
        let landed = usize::try_from(length.saturating_sub(self.synced)).unwrap_or(usize::MAX);
        let landed = landed.min(self.tail.len());
        let both = landed.min(load.body.len());
        if self.tail.get(..both) == load.body.get(..both) { both } else { 0 }
    }

    /// The batch is dealt with; what of the rest was on the way behind it.
    pub fn after(self, bytes: usize) -> Option<Unsure> {
        let tail = self.tail.slice(bytes.min(self.tail.len())..);
        (!tail.is_empty()).then_some(Unsure { synced: self.synced + bytes as u64, tail, ..self })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn load(messages: &[&str]) -> Load {
        let body = messages.concat();
        let ends = messages.iter().scan(0, |end, message| {
            *end += message.len();
            Some(*end)
        });
        Load { ends: ends.collect(), body: body.into() }
    }

    #[test]
    fn what_is_there_already() {
        let unsure = |tail: &'static str| Unsure { path: String::new(), synced: 100, tail: tail.into() };
        let batch = load(&["one\n", "two\n"]);
        assert_eq!(unsure("one\ntwo\n").has(&batch, 100), 0);
        assert_eq!(unsure("one\ntwo\n").has(&batch, 105), 5);
        assert_eq!(unsure("one\ntwo\n").has(&batch, 999), 8);
        // Another batch, and a file that somebody has made shorter.
        assert_eq!(unsure("two\none\n").has(&batch, 105), 0);
        assert_eq!(unsure("one\ntwo\n").has(&batch, 3), 0);
        assert_eq!((batch.whole_within(3), batch.whole_within(4), batch.whole_within(8)), (0, 1, 2));
    }

    proptest! {
        /// However the cluster cuts off, and however batches are cut, the file has each message once.
        #[test]
        fn appending_goes_on_where_it_was_cut(
            messages in proptest::collection::vec("[ab]{0,3}\n", 1..12),
            cuts in proptest::collection::vec((1usize..5, 0usize..20, any::<bool>()), 1..20),
        ) {
            let (mut file, mut done) = (Vec::new(), 0);
            let mut unsure: Option<Unsure> = None;
            for (count, lands, fails) in cuts.into_iter().chain(std::iter::repeat_n((3, 0, false), 12)) {
                let batch: Vec<&str> = messages.iter().skip(done).take(count).map(String::as_str).collect();
                if batch.is_empty() { break; }
                let batch_load = load(&batch);
                let there = unsure.as_ref().map_or(0, |unsure| unsure.has(&batch_load, file.len() as u64));
                let rest = &batch_load.body[there..];
                let covered = unsure.take().and_then(|unsure| unsure.after(there));
                if rest.is_empty() {
                    unsure = covered;
                    done += batch.len();
                } else if fails {
                    let synced = (file.len()) as u64;
                    file.extend_from_slice(&rest[..lands.min(rest.len())]);
                    let tail = batch_load.body.clone();
                    unsure = Some(Unsure { path: String::new(), synced: synced - there as u64, tail });
                } else {
                    file.extend_from_slice(rest);
                    done += batch.len();
                }
            }
            let expected: String = messages.iter().take(done).map(String::as_str).collect();
            prop_assert!(file.starts_with(expected.as_bytes()));
            prop_assert!(done == messages.len() || !file.is_empty());
        }
    }
}
