//! Names made of a prefix and a key from the message: a table of those that are read, made when the
//! configuration is compiled, so that other keys are passed over without a copy.

use crate::learned::Learned;
use record::{Demand, NameId, name_of};
use wire::pairs::Endings;

/// The names `prefix` + key.
#[derive(Clone, Debug)]
pub struct Names {
    prefix: Box<str>,
    table: Option<Table>,
    /// STRUCTURED-DATA is printed as a whole: names of it are read whatever they are.
    sdata: bool,
}

impl Names {
    /// Every key has a name: nothing is known of who reads.
    pub fn all(prefix: &str) -> Names {
        Names { prefix: prefix.into(), table: None, sdata: false }
    }

    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Whether no key has a name.
    pub fn is_none(&self) -> bool {
        !self.sdata && self.table.as_ref().is_some_and(|t| t.entries.is_empty())
    }

    /// The keys that are read, where nothing else is.
    pub fn table(&self) -> Option<&Table> {
        self.table.as_ref().filter(|_| !self.sdata)
    }

    /// Whether every key has a name.
    pub fn is_all(&self) -> bool {
        self.table.is_none()
    }

    /// Only the names that are read.
    pub fn narrowed(&self, demand: &Demand) -> Names {
        match wanted(&self.prefix, demand) {
            None => Names::all(&self.prefix),
            Some(keys) => Names {
                prefix: self.prefix.clone(),
                table: Some(Table::new(keys)),
                sdata: demand.sdata && self.prefix.is_empty(),
            },
        }
    }

    /// The name of a key; `None` when nobody reads it.
    #[inline(always)]
    pub fn of(&self, key: &[u8], learned: &mut Learned) -> Option<NameId> {
        self.at(key, 0, key.len(), learned)
    }

    /// As [`Names::of`], of the key that stands in a text from `start` to `end`.
    #[inline(always)]
    pub fn at(&self, text: &[u8], start: usize, end: usize, learned: &mut Learned) -> Option<NameId> {
        let key = text.get(start..end)?;
        match &self.table {
            Some(_) if self.sdata && key.starts_with(SDATA.as_bytes()) => learned.name(&self.prefix, key),
            Some(table) => table.at(text, start, end),
            None => learned.name(&self.prefix, key),
        }
    }
}

pub const SDATA: &str = ".SDATA.";
/// Fields of the record: they have a place, so they are always set.
const FIELDS: [NameId; 5] = [NameId::HOST, NameId::MESSAGE, NameId::PROGRAM, NameId::PID, NameId::MSGID];

/// The keys behind a prefix that are read; `None` when any may be.
pub fn wanted(prefix: &str, demand: &Demand) -> Option<Vec<(Box<[u8]>, NameId)>> {
    let sdata =
        demand.sdata && (prefix.starts_with(SDATA) || SDATA.starts_with(prefix) && !prefix.is_empty());
    if demand.everything || sdata {
        return None;
    }
    let names = demand.names.iter().copied().chain(FIELDS.into_iter().filter(|f| !demand.names.contains(f)));
    let keys = names.filter_map(|id| Some((name_of(id).strip_prefix(prefix)?.as_bytes().into(), id)));
    Some(keys.filter(|(key, _): &(Box<[u8]>, NameId)| !key.is_empty()).collect())
}

/// Known keys, found by length and last byte, and by their first bytes, before they are compared.
#[derive(Clone, Debug)]
pub struct Table<V = NameId> {
    /// A bit for each key, by its length and last byte: most others end here.
    sieve: u64,
    /// The last two bytes, for texts where the beginning of the key is not known yet.
    endings: Endings,
    /// First entry of each bucket plus one. There are a power of two of them, twice as many as entries.
    heads: Box<[u32]>,
    /// What is left of a hash behind this shift is a bucket.
    shift: u32,
    entries: Vec<Entry<V>>,
}

/// The words of a longer key in one: the last eight bytes, some of which count twice, and those before.
fn folded(first: u64, key: &[u8]) -> u64 {
    let (words, _) = key.as_chunks::<8>();
    let last = key.last_chunk::<8>();
    words
        .iter()
        .skip(1)
        .chain(last)
        .fold(first, |hash, word| (hash.wrapping_mul(FACTOR) ^ u64::from_le_bytes(*word)).rotate_left(29))
}

const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
const BUCKETS_MIN: usize = 256;
const BUCKETS_MAX: usize = 1 << 20;

#[derive(Clone, Debug)]
struct Entry<V> {
    key: Box<[u8]>,
    word: u64,
    value: V,
    next: u32,
}

impl<V: Copy> Table<V> {
    pub fn new(keys: Vec<(Box<[u8]>, V)>) -> Table<V> {
        let buckets = (2 * keys.len()).next_power_of_two().clamp(BUCKETS_MIN, BUCKETS_MAX);
        let mut table = Table {
            sieve: 0,
            endings: Endings::default(),
            heads: vec![0; buckets].into(),
            shift: 64 - buckets.ilog2(),
            entries: Vec::with_capacity(keys.len()),
        };
        for (key, value) in keys {
            let word = word(&key, key.len());
            let bucket = table.bucket(word, &key);
            let Some(head) = table.heads.get_mut(bucket) else { continue };
            table.entries.push(Entry { key, word, value, next: *head });
            *head = table.entries.len() as u32;
            let Some(key) = table.entries.last().map(|entry| &*entry.key) else { continue };
            table.sieve |= 1 << sieve(key.last().copied().unwrap_or(0), key.len());
            table.endings.add(key);
        }
        table
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    #[inline(always)]
    pub fn get(&self, key: &[u8]) -> Option<V> {
        self.at(key, 0, key.len())
    }

    /// The value of the key that stands in a text from `start` to `end`. What follows it there is of no
    /// matter, but lets its first bytes be had in one load.
    #[inline(always)]
    pub fn at(&self, text: &[u8], start: usize, end: usize) -> Option<V> {
        let last = text.get(start..end)?.last().copied().unwrap_or(0);
        match self.sieve >> sieve(last, end - start) & 1 {
            0 => None,
            _ => self.find(text, start, end),
        }
    }

    /// How its keys end.
    pub fn endings(&self) -> &Endings {
        &self.endings
    }

    /// The bucket of a key whose first eight bytes are `word`. All of its bytes count: texts of a `switch`
    /// may differ anywhere.
    #[inline(always)]
    fn bucket(&self, word: u64, key: &[u8]) -> usize {
        let hash = if key.len() <= 8 { word } else { folded(word, key) };
        ((hash ^ key.len() as u64).wrapping_mul(FACTOR) >> self.shift) as usize
    }

    fn find(&self, text: &[u8], start: usize, end: usize) -> Option<V> {
        let (key, rest) = (text.get(start..end)?, text.get(start..)?);
        let word = word(rest, key.len());
        let mut at = *self.heads.get(self.bucket(word, key))?;
        while let Some(entry) = at.checked_sub(1).and_then(|at| self.entries.get(at as usize)) {
            if entry.word == word && entry.key.len() == key.len() && (key.len() <= 8 || *entry.key == *key) {
                return Some(entry.value);
            }
            at = entry.next;
        }
        None
    }
}

#[inline(always)]
fn sieve(last: u8, len: usize) -> u32 {
    (u32::from(last) ^ (len as u32) << 3) & 63
}

/// The first eight bytes of the key of this length that `rest` begins with, zeros behind a shorter one.
#[inline(always)]
fn word(rest: &[u8], len: usize) -> u64 {
    let word = match rest.first_chunk::<8>() {
        Some(bytes) => u64::from_le_bytes(*bytes),
        None => rest.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)),
    };
    if len < 8 { word & ((1 << (8 * len)) - 1) } else { word }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::intern;

    #[test]
    fn keys_of_all_lengths_are_told_apart() {
        let key = |len: usize, change: usize| -> Box<[u8]> {
            (0..len).map(|at| b'a' + at as u8 % 7 + u8::from(at == change)).collect()
        };
        for len in 0..20 {
            for wanted in 0..=len {
                let table = Table::new(vec![(key(len, wanted), 7)]);
                for (other, change) in (0..20).flat_map(|l| (0..=l).map(move |c| (l, c))) {
                    let asked = key(other, change);
                    let same = asked == key(len, wanted);
                    assert_eq!(table.get(&asked), same.then_some(7), "{len} {wanted} {other} {change}");
                    let within = [b"xy", &asked[..], b"=more text"].concat();
                    let found = table.at(&within, 2, 2 + asked.len());
                    assert_eq!(found, same.then_some(7), "{len} {wanted} {other} {change}");
                }
            }
        }
    }

    #[test]
    fn many_keys_have_buckets_of_their_own() {
        // They differ at their beginning, in the middle and at their end.
        for (before, behind) in
            [("", ".com"), ("application-", "-of-a-host.example.com"), ("key-number-", "")]
        {
            let key = |n: u32| format!("{before}{n:04}{behind}").into_bytes();
            let table = Table::new((0..5000).map(|n| (key(n).into(), n)).collect());
            assert_eq!(table.heads.len(), 16_384);
            assert!((0..5000).all(|n| table.get(&key(n)) == Some(n)));
            assert_eq!(table.get(&key(5000)), None);
            let used = table.heads.iter().filter(|head| **head != 0).count();
            assert!(used > 3000, "{used} of 16384 buckets");
        }
    }

    #[test]
    fn only_what_is_read_has_a_name() {
        let (a, long) = (intern(".t.a").expect("room"), intern(".t.long-name").expect("room"));
        let mut demand = Demand::default();
        [a, long, intern("a").expect("room")].into_iter().for_each(|n| demand.name(n));
        let names = Names::all(".t.").narrowed(&demand);
        let mut learned = Learned::default();
        for (key, expected) in [
            ("a", Some(a)),
            ("long-name", Some(long)),
            ("b", None),
            ("", None),
            ("long-namf", None),
            ("HOST", None),
        ] {
            assert_eq!(names.of(key.as_bytes(), &mut learned), expected, "{key}");
        }
        assert_eq!(Names::all("").narrowed(&demand).of(b"HOST", &mut learned), Some(NameId::HOST));
        assert!(Names::all("").narrowed(&Demand { everything: true, ..Demand::default() }).table.is_none());
        let sdata = Demand { sdata: true, ..Demand::default() };
        assert!(Names::all(".SDATA.x.").narrowed(&sdata).table.is_none());
        assert!(Names::all(".kv.").narrowed(&sdata).table.is_some());
    }
}
