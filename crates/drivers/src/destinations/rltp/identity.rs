//! Who a destination is to its receivers: a number that stays the same over its connections and, by the state file, over restarts.

use state::Store;
use std::hash::{BuildHasher, Hasher};
use std::io::Read;
use std::sync::{Arc, OnceLock};

/// The stream of one destination, known once it has started.
#[derive(Clone, Default)]
pub struct Stream(Arc<OnceLock<[u8; 16]>>);

impl Stream {
    /// Reads the number that belongs to this key, or makes one.
    pub fn recall(&self, store: &Store, key: &str) {
        let name = format!("rltp_dd({key})").into_bytes();
        let known = store.get(&name).and_then(|value| match value.split_first() {
            Some((1, stream)) => stream.try_into().ok(),
            _ => None,
        });
        let stream = known.unwrap_or_else(|| {
            let stream = random();
            store.put(&name, &[&[1][..], &stream].concat());
            stream
        });
        let _ = self.0.set(stream);
    }

    /// Zeros before it has started.
    pub fn id(&self) -> [u8; 16] {
        self.0.get().copied().unwrap_or_default()
    }
}

/// A numbering nobody has used: never 0, which stands for none.
pub fn run() -> u64 {
    let [a, b, c, d, e, f, g, h, ..] = random();
    u64::from_le_bytes([a, b, c, d, e, f, g, h]).max(1)
}

fn random() -> [u8; 16] {
    let mut bytes = [0; 16];
    let read = std::fs::File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes));
    if read.is_err() {
        // Without the device, what the standard library seeds its tables with: different each time, which is all that is needed.
        let two = [0, 1].map(|_| std::hash::RandomState::new().build_hasher().finish().to_le_bytes());
        bytes.iter_mut().zip(two.as_flattened()).for_each(|(to, from)| *to = *from);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_destination_stays_who_it_is() {
        let store = Store::in_memory();
        let id = |key| {
            let stream = Stream::default();
            assert_eq!(stream.id(), [0; 16]);
            stream.recall(&store, key);
            stream.id()
        };
        let (one, two) = (id("one"), id("two"));
        assert_ne!(one, two);
        assert_eq!((id("one"), id("two")), (one, two));
        assert_ne!(run(), run());
    }
}
