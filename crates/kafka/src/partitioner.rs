//! Which partition a key belongs to, as librdkafka and the Java client say it.

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hash {
    /// CRC-32, librdkafka's own.
    #[default]
    Crc32,
    /// Of the Java client.
    Murmur2,
    /// FNV-1a as the Go client Sarama reads it.
    Fnv1a,
}

/// Where messages go within their topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Partitioner {
    /// `random`: keys do not matter.
    Any,
    /// Messages with the same key go together. `spreads`: those without one go anywhere, else all to one
    /// partition.
    Keyed { hash: Hash, spreads: bool },
}

impl Default for Partitioner {
    fn default() -> Partitioner {
        Partitioner::Keyed { hash: Hash::Crc32, spreads: true }
    }
}

impl Partitioner {
    /// By librdkafka's name.
    pub fn named(name: &str) -> Option<Partitioner> {
        let keyed = |hash, spreads| Some(Partitioner::Keyed { hash, spreads });
        match name {
            "random" => Some(Partitioner::Any),
            "consistent" => keyed(Hash::Crc32, false),
            "consistent_random" => keyed(Hash::Crc32, true),
            "murmur2" => keyed(Hash::Murmur2, false),
            "murmur2_random" => keyed(Hash::Murmur2, true),
            "fnv1a" => keyed(Hash::Fnv1a, false),
            "fnv1a_random" => keyed(Hash::Fnv1a, true),
            _ => None,
        }
    }

    /// The partition of a message among `count`; `None` when it may go anywhere.
    pub fn partition(self, key: Option<&[u8]>, count: u32) -> Option<u32> {
        let Partitioner::Keyed { hash, spreads } = self else { return None };
        // To librdkafka's CRC-32, an empty key is none.
        let is_none = key.is_none() || hash == Hash::Crc32 && key.is_some_and(<[u8]>::is_empty);
        if is_none && spreads {
            return None;
        }
        Some(hash.of(key.unwrap_or_default()) % count.max(1))
    }
}

impl Hash {
    fn of(self, key: &[u8]) -> u32 {
        match self {
            Hash::Crc32 => crc32fast::hash(key),
            Hash::Murmur2 => murmur2(key) & 0x7fff_ffff,
            Hash::Fnv1a => fnv1a(key).cast_signed().wrapping_abs() as u32,
        }
    }
}

fn fnv1a(key: &[u8]) -> u32 {
    key.iter().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

fn murmur2(key: &[u8]) -> u32 {
    const M: u32 = 0x5bd1_e995;
    let mut hash = 0x9747_b28c ^ key.len() as u32;
    let (words, rest) = key.as_chunks::<4>();
    for word in words {
        let k = u32::from_le_bytes(*word).wrapping_mul(M);
        hash = hash.wrapping_mul(M) ^ (k ^ (k >> 24)).wrapping_mul(M);
    }
    if !rest.is_empty() {
        let word = rest.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte));
        hash = (hash ^ word).wrapping_mul(M);
    }
    hash = (hash ^ (hash >> 13)).wrapping_mul(M);
    hash ^ (hash >> 15)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of the Java client's own documentation of its hash (`UtilsTest`), and the standard check
    /// values.
    #[test]
    fn hashes_are_those_of_others() {
        let known =
            [("21", -973_932_308), ("foobar", -790_332_482), ("a-little-bit-long-string", -985_981_536)];
        for (key, expected) in known {
            assert_eq!(murmur2(key.as_bytes()).cast_signed(), expected, "{key}");
        }
        assert_eq!(murmur2(b"abc").cast_signed(), 479_470_107);
        assert_eq!(crc32fast::hash(b"123456789"), 0xcbf4_3926);
        assert_eq!(fnv1a(b"foobar"), 0xbf9c_f968);
    }

    #[test]
    fn messages_without_a_key() {
        let of = |name, key: Option<&[u8]>| Partitioner::named(name).expect("a name").partition(key, 7);
        assert_eq!(of("consistent_random", None), None);
        assert_eq!(of("consistent_random", Some(b"")), None);
        assert_eq!(of("consistent", None), Some(0));
        assert_eq!(of("murmur2_random", None), None);
        assert!(of("murmur2", None).is_some() && of("murmur2_random", Some(b"")).is_some());
        assert_eq!(of("random", Some(b"key")), None);
        assert!(Partitioner::named("other").is_none());
    }
}
