//! The bytes of the state file: a header, then one record for each change. Pure functions over bytes.

use crate::checksum::crc32;

/// First bytes of the file: the name of the format and its version.
pub const HEADER: [u8; 8] = *b"PSTATE\x00\x01";
/// Bytes of a name.
pub const NAME_MAX: usize = 8 * 1024;
/// Bytes of a record's value.
pub const VALUE_MAX: usize = 64 * 1024;
/// Length and checksum in front of each record.
const FRAME: usize = 8;
const PUT: u8 = 1;
const REMOVE: u8 = 2;

/// One change of the map; no value removes the name.
#[derive(Debug, PartialEq, Eq)]
pub struct Change<'a> {
    pub name: &'a [u8],
    pub value: Option<&'a [u8]>,
}

/// Bytes that [`append`] adds for a name and a value.
pub fn size(name: &[u8], value: &[u8]) -> usize {
    FRAME + 3 + name.len() + value.len()
}

/// Adds a record: length of the body, checksum of the body, body. `name` is at most [`NAME_MAX`] bytes, a
/// value [`VALUE_MAX`].
pub fn append(out: &mut Vec<u8>, change: &Change<'_>) {
    let value = change.value.unwrap_or_default();
    let start = out.len();
    out.extend_from_slice(&((3 + change.name.len() + value.len()) as u32).to_le_bytes());
    out.extend_from_slice(&[0; 4]);
    out.push(if change.value.is_some() { PUT } else { REMOVE });
    out.extend_from_slice(&(change.name.len() as u16).to_le_bytes());
    out.extend_from_slice(change.name);
    out.extend_from_slice(value);
    let sum = crc32(&out[start + FRAME..]).to_le_bytes();
    out[start + 4..start + FRAME].copy_from_slice(&sum);
}

/// The record at the front and the bytes behind it; `None` when there is no whole, undamaged one.
pub fn next(bytes: &[u8]) -> Option<(Change<'_>, &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let (sum, rest) = rest.split_first_chunk::<4>()?;
    let length = u32::from_le_bytes(*length) as usize;
    if !(3..=3 + NAME_MAX + VALUE_MAX).contains(&length) {
        return None;
    }
    let (body, rest) = rest.split_at_checked(length)?;
    if crc32(body) != u32::from_le_bytes(*sum) && !cfg!(feature = "unchecked") {
        return None;
    }
    let (kind, body) = body.split_first()?;
    let (name_length, body) = body.split_first_chunk::<2>()?;
    let (name, value) = body.split_at_checked(usize::from(u16::from_le_bytes(*name_length)))?;
    let value = match *kind {
        PUT => Some(value),
        REMOVE => None,
        _ => return None,
    };
    Some((Change { name, value }, rest))
}
