//! Messages that PE stored whole, with their name-value pairs: versions 22 and 23 of its form.

use std::borrow::Cow;

/// A message that was stored whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stored<'a> {
    pub priority: u16,
    /// Seconds since 1970, microseconds, and the zone's offset in seconds.
    pub stamp: (u64, u32, i32),
    pub received: (u64, u32, i32),
    pub tags: Vec<&'a [u8]>,
    /// Names without a `.` at their front and `HOST`, `MESSAGE` ... are those of macros.
    pub values: Vec<Pair<'a>>,
}

/// The names of the values that stand at fixed places.
const STATIC: [&str; 8] =
    ["HOST", "HOST_FROM", "MESSAGE", "PROGRAM", "PID", "MSGID", "SOURCE", "LEGACY_MSGHDR"];
const TAGS_MAX: usize = 4096;
const IPV4: u16 = 2;
const IPV6: u16 = 10;

impl<'a> Stored<'a> {
    pub fn value(&self, name: &str) -> Option<&[u8]> {
        self.values.iter().find(|(known, _)| **known == *name.as_bytes()).map(|(_, value)| &**value)
    }

    /// A message without the length in front of it; `None` when it is none of a version that is known.
    pub fn read(message: &'a [u8]) -> Option<Stored<'a>> {
        let mut rest = Bytes { rest: message };
        let version = rest.u8()?;
        if !(22..=23).contains(&version) {
            return None;
        }
        rest.take(4)?;
        if version == 23 {
            rest.take(8)?;
        }
        let priority = rest.u16()?;
        match rest.u16()? {
            0 => {}
            IPV4 => drop(rest.take(4 + 2)?),
            IPV6 => drop(rest.take(16 + 2)?),
            _ => return None,
        }
        let mut time = || Some((rest.u64()?, rest.u32()?, rest.u32()? as i32));
        let (stamp, received) = (time()?, time()?);
        let mut tags = Vec::new();
        loop {
            let length = rest.u32()?;
            if length == 0 || tags.len() == TAGS_MAX {
                break;
            }
            tags.push(rest.take(length as usize)?);
        }
        Some(Stored { priority, stamp, received, tags, values: values(&mut rest)? })
    }
}

struct Bytes<'a> {
    rest: &'a [u8],
}

impl<'a> Bytes<'a> {
    fn take(&mut self, bytes: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(bytes)?;
        self.rest = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.rest.split_first_chunk::<N>()?;
        self.rest = rest;
        Some(*taken)
    }

    fn u8(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_be_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_be_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_be_bytes)
    }
}

/// The table of name-value pairs. Its entries count from its end, in units of four bytes, and are written in
/// the order of bytes of the machine that made them.
struct Table<'a> {
    bytes: &'a [u8],
    is_little: bool,
}

impl<'a> Table<'a> {
    fn u16(&self, entry: &[u8], at: usize) -> Option<u16> {
        let bytes = *entry.get(at..)?.first_chunk::<2>()?;
        Some(if self.is_little { u16::from_le_bytes(bytes) } else { u16::from_be_bytes(bytes) })
    }

    fn entry(&self, offset: u16) -> Option<&'a [u8]> {
        let from_end = usize::from(offset) << 2;
        self.bytes.get(self.bytes.len().checked_sub(from_end)?..).filter(|_| offset > 0)
    }

    /// Name and value of an entry; of one that points into another entry, the other's handle and the part.
    fn read(&self, entry: &'a [u8]) -> Option<(&'a [u8], Value<'a>)> {
        let (flags, name_length) = (*entry.first()?, usize::from(*entry.get(1)?));
        if flags & 1 != 0 {
            let handle = self.u16(entry, 4)?;
            let (from, length) = (usize::from(self.u16(entry, 6)?), usize::from(self.u16(entry, 8)?));
            let name = entry.get(11..11 + name_length)?;
            return Some((name, Value::Part { handle, from, length }));
        }
        let value_length = usize::from(self.u16(entry, 4)?);
        let name = entry.get(6..6 + name_length)?;
        let value = 6 + name_length + 1;
        Some((name, Value::Own(entry.get(value..value + value_length)?)))
    }
}

enum Value<'a> {
    Own(&'a [u8]),
    /// A part of the value with that handle.
    Part {
        handle: u16,
        from: usize,
        length: usize,
    },
}

/// A name and its value.
pub type Pair<'a> = (Cow<'a, [u8]>, Cow<'a, [u8]>);

fn values<'a>(rest: &mut Bytes<'a>) -> Option<Vec<Pair<'a>>> {
    let [_, _, sdata, _] = rest.array::<4>()?;
    rest.take(2 * usize::from(sdata))?;
    let is_little = match &rest.array::<4>()? {
        b"2TVN" => true,
        b"NVT2" => false,
        _ => return None,
    };
    rest.u8()?;
    let (_, used, dynamic, fixed) = (rest.u16()?, rest.u16()?, rest.u16()?, rest.u8()?);
    let mut places: Vec<(u16, u16)> = Vec::new();
    for handle in 1..=u16::from(fixed) {
        places.push((handle, rest.u16()?));
    }
    for _ in 0..dynamic {
        places.push((rest.u16()?, rest.u16()?));
    }
    let table = Table { bytes: rest.take(usize::from(used) << 2)?, is_little };
    let entry =
        |handle: u16| places.iter().find(|(known, _)| *known == handle).and_then(|(_, at)| table.entry(*at));
    let mut found = Vec::new();
    for (handle, at) in &places {
        let Some(bytes) = table.entry(*at) else { continue };
        let (name, value) = table.read(bytes)?;
        let name =
            match STATIC.get(usize::from(*handle).wrapping_sub(1)).filter(|_| *handle <= u16::from(fixed)) {
                Some(name) => name.as_bytes(),
                None => name,
            };
        let value = match value {
            Value::Own(value) => value,
            Value::Part { handle, from, length } => match entry(handle).and_then(|bytes| table.read(bytes)) {
                Some((_, Value::Own(whole))) => {
                    whole.get(from..from.checked_add(length)?).unwrap_or_default()
                }
                _ => continue,
            },
        };
        found.push((Cow::Borrowed(name), Cow::Borrowed(value)));
    }
    Some(found)
}
