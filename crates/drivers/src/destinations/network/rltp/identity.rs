//! Who a connection of a destination is to its receivers: a stream that stays the same over its connections
//! and, by the state file, over restarts, and the numbers its messages have on disk.

use delivery::runs::{RUNS_MAX, decode, encode};
use engine::Chunk;
use parking_lot::Mutex;
use state::Store;
use std::hash::{BuildHasher, Hasher};
use std::io::Read;
use std::sync::{Arc, OnceLock};
use wire::rltp::{Reached, Welcome};

/// The stream of one connection, known once its destination has started.
#[derive(Clone, Default)]
pub struct Stream(Arc<OnceLock<Known>>);

struct Known {
    id: [u8; 16],
    numbers: Option<Numbers>,
}

/// Of a connection whose queue is on disk.
struct Numbers {
    numbering: u64,
    store: Arc<Store>,
    /// In the state file.
    name: Vec<u8>,
    /// The numberings of batches that this one began, the last one at the end. A receiver that knows another
    /// one speaks of a copy of this destination, whose messages have the same numbers and are others.
    runs: Mutex<Vec<u64>>,
}

impl Stream {
    /// Reads what belongs to this key, or makes it. `lane` is the connection's number.
    pub fn recall(&self, store: &Arc<Store>, key: &str, lane: u16, numbering: Option<u64>) {
        let name = format!("rltp_dd({key})").into_bytes();
        let known = store.get(&name).and_then(|value| match value.split_first() {
            Some((1, id)) => id.try_into().ok(),
            _ => None,
        });
        let id = known.unwrap_or_else(|| {
            let id = random();
            store.put(&name, &[&[1][..], &id].concat());
            id
        });
        let numbers = numbering.map(|numbering| {
            let name = format!("rltp_dd({key})/{lane}").into_bytes();
            let runs = store.get(&name).as_deref().and_then(decode).unwrap_or_default();
            Numbers { numbering, store: Arc::clone(store), name, runs: Mutex::new(runs) }
        });
        let _ = self.0.set(Known { id, numbers });
    }

    /// Zeros before it has started.
    pub fn id(&self) -> [u8; 16] {
        self.0.get().map(|known| known.id).unwrap_or_default()
    }

    fn numbers(&self) -> Option<&Numbers> {
        self.0.get()?.numbers.as_ref()
    }

    /// Which numbers its messages have; 0 when they have none that outlive the process.
    pub fn numbering(&self) -> u64 {
        self.numbers().map_or(0, |numbers| numbers.numbering)
    }

    /// A numbering of batches that nobody has used. Kept before it is used: never 0, which stands for none.
    pub fn run(&self) -> u64 {
        let [a, b, c, d, e, f, g, h, ..] = random();
        let run = u64::from_le_bytes([a, b, c, d, e, f, g, h]).max(1);
        if let Some(numbers) = self.numbers() {
            let mut runs = numbers.runs.lock();
            if runs.len() >= RUNS_MAX {
                runs.remove(0);
            }
            runs.push(run);
            numbers.store.put(&numbers.name, &encode(&runs));
            // A power failure would cost the knowledge of it: at worst what is with the receiver is sent
            // again.
            let _ = numbers.store.sync();
        }
        run
    }

    /// What a batch says that has the next `messages` of those that were not sent: with it, everything before
    /// this number was. 0 says nothing.
    pub fn position(&self, chunk: &Chunk, messages: usize) -> u64 {
        match self.numbering() {
            0 => 0,
            _ => chunk.number_after(chunk.sent() + messages).unwrap_or(0),
        }
    }

    /// Messages with smaller numbers are with the receiver that says this. `None` when it says nothing of
    /// these messages.
    pub fn reached(&self, welcome: &Welcome) -> Option<u64> {
        let Reached { numbering, position } = welcome.reached;
        let numbers = self.numbers().filter(|numbers| numbers.numbering == numbering)?;
        numbers.runs.lock().contains(&welcome.run).then_some(position)
    }
}

fn random() -> [u8; 16] {
    let mut bytes = [0; 16];
    let read = std::fs::File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes));
    if read.is_err() {
        // Without the device, what the standard library seeds its tables with: different each time, which is
        // all that is needed.
        let two = [0, 1].map(|_| std::hash::RandomState::new().build_hasher().finish().to_le_bytes());
        bytes.iter_mut().zip(two.as_flattened()).for_each(|(to, from)| *to = *from);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recalled(store: &Arc<Store>, key: &str, numbering: Option<u64>) -> Stream {
        let stream = Stream::default();
        assert_eq!((stream.id(), stream.numbering()), ([0; 16], 0));
        stream.recall(store, key, 0, numbering);
        stream
    }

    #[test]
    fn a_destination_stays_who_it_is() {
        let store = Arc::new(Store::in_memory());
        let id = |key| recalled(&store, key, None).id();
        let (one, two) = (id("one"), id("two"));
        assert_ne!(one, two);
        assert_eq!((id("one"), id("two")), (one, two));
        assert_ne!(Stream::default().run(), Stream::default().run());
    }

    #[test]
    fn only_a_receiver_that_speaks_of_these_messages_is_believed() {
        let store = Arc::new(Store::in_memory());
        let run = recalled(&store, "one", Some(7)).run();
        let said = |run, numbering| Welcome {
            version: 1,
            packs: false,
            payload_bytes_max: 1 << 20,
            run,
            acknowledged: 0,
            reached: Reached { numbering, position: 55 },
        };
        let again = recalled(&store, "one", Some(7));
        assert_eq!(again.reached(&said(run, 7)), Some(55));
        assert_eq!(again.reached(&said(run, 8)), None, "another log");
        assert_eq!(again.reached(&said(run + 1, 7)), None, "a copy of this destination");
        assert_eq!(recalled(&store, "one", None).reached(&said(run, 0)), None, "nothing is on disk");
        (0..RUNS_MAX).for_each(|_| assert_ne!(again.run(), 0));
        assert_eq!(recalled(&store, "one", Some(7)).reached(&said(run, 7)), None, "long ago");
        let last = again.run();
        assert_eq!(recalled(&store, "one", Some(7)).reached(&said(last, 7)), Some(55));
    }
}
