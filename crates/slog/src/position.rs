//! Where a chain stands: the key and number of the next entry, and the MAC over all before it. Sealing an
//! entry moves it on.

use crate::entry::{HEAD_BYTES, IV_BYTES, encrypt, entry_bytes, write_counter};
use crate::key::{Derived, KEY_BYTES, Key, MAC_BYTES, Mac, Scheme, random};
use crate::{base64, entry};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    pub key: Key,
    /// Entries sealed so far: the number of the next one.
    pub counter: u64,
    /// Over all of them. Before the first, it is what the MAC begins with, or means nothing: see [`Scheme`].
    pub mac: Mac,
}

/// Key, check, number.
pub(crate) const KEY_FILE_BYTES: usize = KEY_BYTES + MAC_BYTES + 8;
/// The same, and behind it the aggregated MAC with a check: our own addition, which syslog-ng's programs pass
/// over.
pub(crate) const WHOLE_FILE_BYTES: usize = KEY_FILE_BYTES + 2 * MAC_BYTES;
/// The aggregated MAC and a check.
pub(crate) const MAC_FILE_BYTES: usize = 2 * MAC_BYTES;

impl Position {
    pub fn of_key(key: Key) -> Position {
        Position { key, counter: 0, mac: Mac::default() }
    }

    /// Appends an entry, without the end of the line.
    pub fn seal(&mut self, text: &[u8], out: &mut Vec<u8>) -> std::io::Result<()> {
        let mut iv = [0; IV_BYTES];
        random(&mut iv)?;
        let mut raw = vec![0; HEAD_BYTES];
        raw.extend_from_slice(text);
        let start = out.len();
        out.resize(start + entry_bytes(text.len()), 0);
        self.seal_raw(iv, &mut raw, out.get_mut(start..).unwrap_or_default());
        Ok(())
    }

    /// Seals the text that stands in `raw` behind room for its head, and fills `place` with the entry. No key
    /// seals twice, therefore any start value is a good one.
    pub(crate) fn seal_raw(&mut self, iv: [u8; IV_BYTES], raw: &mut [u8], place: &mut [u8]) {
        let keys = self.key.derived();
        if let Some((head, text)) = raw.split_at_mut_checked(HEAD_BYTES) {
            match encrypt(&keys, &iv, text) {
                Some(tag) => {
                    let (start, end) = head.split_at_mut(IV_BYTES);
                    start.copy_from_slice(&iv);
                    end.copy_from_slice(&tag);
                }
                // Nothing readable leaves.
                None => text.fill(0),
            }
        }
        write_counter(self.counter, place);
        base64::encode(raw, place.get_mut(entry::COUNTER_CHARS + 1..).unwrap_or_default());
        let continues = self.counter > 0 || self.key.1 == Scheme::Expanded;
        self.mac = aggregate(&keys, continues.then_some(&self.mac), raw);
        self.key = keys.next;
        self.counter = self.counter.wrapping_add(1);
    }

    /// The contents of a key file.
    pub(crate) fn encode_key(&self) -> [u8; WHOLE_FILE_BYTES] {
        let counter = self.counter.to_le_bytes();
        let mut bytes = [0; WHOLE_FILE_BYTES];
        let check = self.key.mac(&[&counter]);
        let own = self.key.mac(&[&counter, &self.mac, own_mark(self.key.1)]);
        let all = self.key.0.iter().chain(&check).chain(&counter).chain(&self.mac).chain(&own);
        bytes.iter_mut().zip(all).for_each(|(to, from)| *to = *from);
        bytes
    }

    /// Reads a key file; the MAC is there when we wrote it.
    pub(crate) fn decode_key(bytes: &[u8]) -> Result<(Key, u64, Option<Mac>), &'static str> {
        let Some((key, rest)) = bytes.split_first_chunk::<KEY_BYTES>() else { return Err("it is too short") };
        let mut key = Key(*key, Scheme::default());
        let Some((check, rest)) = rest.split_first_chunk::<MAC_BYTES>() else {
            return Err("it is too short");
        };
        let Some((counter, rest)) = rest.split_first_chunk::<8>() else { return Err("it is too short") };
        if key.mac(&[counter]) != *check {
            return Err("its check does not fit key and number, it was damaged or written by something else");
        }
        let own = rest.split_first_chunk::<MAC_BYTES>().and_then(|(mac, rest)| {
            let check = rest.first_chunk::<MAC_BYTES>()?;
            let is = |scheme: &Scheme| key.mac(&[counter, mac, own_mark(*scheme)]) == *check;
            Some((mac, [Scheme::Blocks, Scheme::Expanded].into_iter().find(is)?))
        });
        if let Some((_, scheme)) = own {
            key.1 = scheme;
        }
        Ok((key, u64::from_le_bytes(*counter), own.map(|(mac, _)| *mac)))
    }
}

/// What the check of our own addition ends in.
fn own_mark(scheme: Scheme) -> &'static [u8] {
    match scheme {
        Scheme::Blocks => b"",
        Scheme::Expanded => b"expanded",
    }
}

/// The MAC over all entries, from the one before and the new entry.
pub(crate) fn aggregate(keys: &Derived, before: Option<&Mac>, sealed: &[u8]) -> Mac {
    match before {
        Some(before) => keys.mac.mac(&[before, sealed]),
        None => keys.mac.mac(&[sealed]),
    }
}

/// The contents of a MAC file: a check whose key is the MAC itself stands behind it.
pub(crate) fn encode_mac(mac: &Mac) -> [u8; MAC_FILE_BYTES] {
    let mut bytes = [0; MAC_FILE_BYTES];
    bytes.iter_mut().zip(mac.iter().chain(&mac_check(mac))).for_each(|(to, from)| *to = *from);
    bytes
}

pub(crate) fn decode_mac(bytes: &[u8]) -> Result<Mac, &'static str> {
    let Some((mac, check)) = bytes.split_first_chunk::<MAC_BYTES>() else { return Err("it is too short") };
    let Some(check) = check.first_chunk::<MAC_BYTES>() else { return Err("it is too short") };
    if mac_check(mac) != *check {
        return Err("its check does not fit, it was damaged or written by something else");
    }
    Ok(*mac)
}

fn mac_check(mac: &Mac) -> Mac {
    let mut key = Key([0; KEY_BYTES], Scheme::default());
    key.0.iter_mut().zip(mac).for_each(|(to, from)| *to = *from);
    key.mac(&[&[0; MAC_BYTES]])
}
