//! A message as syslog-ng serialises it: numbers are big endian, the table of values at its end has the byte
//! order of its writer.

use record::{Stamp, ValueType};
use std::net::IpAddr;

/// Versions of the layout read here: that of syslog-ng 3.2x to 4.x.
const VERSIONS: std::ops::RangeInclusive<u8> = 26..=27;
/// `NVT2`, as the writer's processor stores it.
const MAGIC_LITTLE: [u8; 4] = *b"2TVN";
const MAGIC_BIG: [u8; 4] = *b"NVT2";
/// The values that have no name of their own in the table, in its order.
const STATIC_NAMES: [&str; 9] =
    ["HOST", "HOST_FROM", "MESSAGE", "PROGRAM", "PID", "MSGID", "SOURCE", "LEGACY_MSGHDR", "TRANSPORT"];
const INDIRECT: u8 = 1;
const UNSET: u8 = 4;
const TYPED: u8 = 8;

/// Its name, the value, its type.
pub type Value<'a> = (&'a [u8], &'a [u8], ValueType);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message<'a> {
    pub id: u64,
    pub pri: u16,
    pub peer: Option<IpAddr>,
    pub stamp: Stamp,
    pub received: Stamp,
    pub tags: Vec<&'a [u8]>,
    /// In no particular order, but those of STRUCTURED-DATA in theirs.
    pub values: Vec<Value<'a>>,
}

impl<'a> Message<'a> {
    /// The message at the front of `bytes` and how long it is. `None` when there is none.
    pub fn parse(bytes: &'a [u8]) -> Option<(Message<'a>, usize)> {
        let mut input = Input { rest: bytes };
        VERSIONS.contains(&input.byte()?).then_some(())?;
        let id = input.long()?;
        let _flags = input.word()?;
        let pri = input.half()?;
        let peer = input.address()?;
        let stamp = input.stamp()?;
        let received = input.stamp()?;
        let _processed = input.stamp()?;
        let _host_id = input.word()?;
        let mut tags = Vec::new();
        loop {
            let length = input.word()? as usize;
            if length == 0 {
                break;
            }
            tags.push(input.take(length)?);
        }
        let [_initial_parse, _matches, sdata, _allocated] = *input.take(4)?.first_chunk()?;
        let mut order = Vec::new();
        for _ in 0..sdata {
            order.push(input.word()?);
        }
        let values = Table::read(&mut input)?.values(&order)?;
        let used = bytes.len() - input.rest.len();
        Some((Message { id, pri, peer, stamp, received, tags, values }, used))
    }

    pub fn value(&self, name: &str) -> Option<&'a [u8]> {
        self.values.iter().find(|(known, ..)| *known == name.as_bytes()).map(|(_, value, _)| *value)
    }
}

struct Input<'a> {
    rest: &'a [u8],
}

impl<'a> Input<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (front, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(front)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.first_chunk().copied()
    }

    fn byte(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    fn half(&mut self) -> Option<u16> {
        self.array().map(u16::from_be_bytes)
    }

    fn word(&mut self) -> Option<u32> {
        self.array().map(u32::from_be_bytes)
    }

    fn long(&mut self) -> Option<u64> {
        self.array().map(u64::from_be_bytes)
    }

    /// Family (as Linux numbers them), address, port.
    fn address(&mut self) -> Option<Option<IpAddr>> {
        Some(match self.half()? {
            2 => {
                let address = self.array::<4>()?;
                self.take(2)?;
                Some(address.into())
            }
            10 => {
                let address = self.array::<16>()?;
                self.take(2)?;
                Some(address.into())
            }
            0 | 1 => None,
            _ => return None,
        })
    }

    fn stamp(&mut self) -> Option<Stamp> {
        let secs = self.long()? as i64;
        Some(Stamp { secs, usec: self.word()?.min(999_999), offset: self.word()? as i32 })
    }
}

/// The table of values: places count back from its end.
struct Table<'a> {
    big_endian: bool,
    fixed: Vec<u32>,
    /// Number of a name, and place.
    index: Vec<(u32, u32)>,
    entries: &'a [u8],
}

/// A place in the table.
enum Entry<'a> {
    Direct {
        name: &'a [u8],
        value: &'a [u8],
        kind: ValueType,
    },
    /// A part of another value.
    Indirect {
        name: &'a [u8],
        of: u32,
        from: u32,
        length: u32,
        kind: ValueType,
    },
    Unset,
}

impl<'a> Table<'a> {
    fn read(input: &mut Input<'a>) -> Option<Table<'a>> {
        let big_endian = match input.array::<4>()? {
            MAGIC_LITTLE => false,
            MAGIC_BIG => true,
            _ => return None,
        };
        let _flags = input.byte()?;
        let _size = input.word()?;
        let used = input.word()? as usize;
        let (count, fixed_count) = (input.half()?, input.byte()?);
        let mut fixed = Vec::with_capacity(fixed_count.into());
        for _ in 0..fixed_count {
            fixed.push(input.word()?);
        }
        let mut index = Vec::new();
        for _ in 0..count {
            index.push((input.word()?, input.word()?));
        }
        Some(Table { big_endian, fixed, index, entries: input.take(used)? })
    }

    fn values(&self, order: &[u32]) -> Option<Vec<Value<'a>>> {
        let mut values = Vec::with_capacity(self.fixed.len() + self.index.len());
        for (place, name) in self.fixed.iter().zip(STATIC_NAMES) {
            if let Some((_, value, kind)) = self.value_at(*place)? {
                values.push((name.as_bytes(), value, kind));
            }
        }
        let place = |id: &u32| self.index.iter().find(|(known, _)| known == id).map(|(_, place)| *place);
        let others = self.index.iter().filter(|(id, _)| !order.contains(id)).map(|(_, place)| *place);
        for place in order.iter().filter_map(place).chain(others) {
            values.extend(self.value_at(place)?.filter(|(name, ..)| !name.is_empty()));
        }
        Some(values)
    }

    /// Name, value and type; nothing of one that is not set.
    fn value_at(&self, place: u32) -> Option<Option<Value<'a>>> {
        if place == 0 {
            return Some(None);
        }
        Some(match self.entry(place)? {
            Entry::Direct { name, value, kind } => Some((name, value, kind)),
            Entry::Unset => None,
            Entry::Indirect { name, of, from, length, kind } => {
                let place = match (of as usize).checked_sub(1).and_then(|at| self.fixed.get(at)) {
                    Some(place) => *place,
                    None => self.index.iter().find(|(id, _)| *id == of).map(|(_, place)| *place)?,
                };
                let whole = match place {
                    0 => &[][..],
                    place => match self.entry(place)? {
                        Entry::Direct { value, .. } => value,
                        Entry::Unset => &[],
                        Entry::Indirect { .. } => return None,
                    },
                };
                let value = whole.get(from as usize..).and_then(|rest| rest.get(..length as usize))?;
                Some((name, value, kind))
            }
        })
    }

    /// `flags u8 | length of name u8 | type u8 | 1 byte | allocated u32 | length u32 | name, 0 | value, 0`,
    /// or of a part of another value, `... allocated u32 | number of that u32 | from u32 | length u32 | 1
    /// byte | name, 0`.
    fn entry(&self, place: u32) -> Option<Entry<'a>> {
        let bytes = self.entries.get(self.entries.len().checked_sub(place as usize)?..)?;
        let [flags, name_length, kind, _] = *bytes.first_chunk()?;
        let word = |at: usize| {
            let word: [u8; 4] = *bytes.get(at..)?.first_chunk()?;
            Some(if self.big_endian { u32::from_be_bytes(word) } else { u32::from_le_bytes(word) })
        };
        let kind = if flags & TYPED != 0 { value_type(kind) } else { ValueType::String };
        if flags & UNSET != 0 {
            return Some(Entry::Unset);
        }
        let name = |at: usize| bytes.get(at..at + usize::from(name_length));
        if flags & INDIRECT != 0 {
            let (of, from, length) = (word(8)?, word(12)?, word(16)?);
            return Some(Entry::Indirect { name: name(21)?, of, from, length, kind });
        }
        let begin = 12 + usize::from(name_length) + 1;
        let value = bytes.get(begin..)?.get(..word(8)? as usize)?;
        Some(Entry::Direct { name: name(12)?, value, kind })
    }
}

fn value_type(kind: u8) -> ValueType {
    match kind {
        1 => ValueType::Json,
        2 => ValueType::Boolean,
        3 | 4 => ValueType::Int,
        5 => ValueType::Double,
        6 => ValueType::DateTime,
        7 => ValueType::List,
        8 => ValueType::Null,
        9 => ValueType::Bytes,
        _ => ValueType::String,
    }
}
