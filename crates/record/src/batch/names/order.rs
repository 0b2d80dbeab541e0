//! Messages of one kind bring their names in one order: the name that came next in the message before is
//! looked at first.

use super::BatchNames;
use crate::names::NameId;

impl BatchNames {
    /// The name behind the last one, if it is this.
    #[inline]
    pub(super) fn in_order(&mut self, prefix: &[u8], key: &[u8]) -> Option<NameId> {
        let met = self.met.get(self.next).filter(|met| !met.is_tag)?;
        if met.len as usize != prefix.len() + key.len() {
            return None;
        }
        let text = self.text_of(met).strip_prefix(prefix)?;
        let (id, follower) = (met.id, met.follower);
        if text != key {
            return None;
        }
        self.step(follower);
        Some(id)
    }

    /// Goes on behind the next name.
    #[inline(always)]
    fn step(&mut self, follower: u32) {
        (self.last, self.next) = (self.next, follower as usize);
    }

    /// Names are asked for with this prefix, for [`BatchNames::before`].
    #[inline]
    pub fn begin(&mut self, prefix: &[u8]) {
        // Most have none, and then there is nothing to compare by a call.
        let is_same = self.prefix.len() == prefix.len() && (prefix.is_empty() || self.prefix == prefix);
        if self.prefixes == 0 || !is_same {
            self.change_prefix(prefix);
        }
    }

    #[cold]
    fn change_prefix(&mut self, prefix: &[u8]) {
        self.prefix.clear();
        self.prefix.extend_from_slice(prefix);
        // What earlier prefixes said is forgotten before the count begins anew.
        if self.prefixes == u32::MAX {
            self.met.iter_mut().for_each(|met| met.prefixes = 0);
            self.prefixes = 0;
        }
        self.prefixes += 1;
    }

    /// Of a text with a key in front of `end`: where the key begins and the number of the name prefix + key,
    /// if this name is the one expected next and a key may begin there; then the one behind it is expected.
    #[inline(always)]
    pub fn before(
        &mut self,
        text: &[u8],
        end: usize,
        may_begin: impl FnOnce(usize) -> bool,
    ) -> Option<(usize, NameId)> {
        let met = self.met.get(self.next).filter(|met| met.prefixes == self.prefixes)?;
        let key_len = met.key_len as usize;
        let start = end.checked_sub(key_len)?;
        let last = match text.get(end.wrapping_sub(8)..end).and_then(<[u8]>::first_chunk::<8>) {
            Some(last) => u64::from_le_bytes(*last),
            None => first_bytes(text, end),
        };
        let differs = (last ^ met.tail) & met.mask != 0;
        if differs || key_len > 8 && !self.text_of(met).ends_with(text.get(start..end)?) || !may_begin(start)
        {
            return None;
        }
        let (id, follower) = (met.id, met.follower);
        self.step(follower);
        Some((start, id))
    }

    /// Remembers that the name at this place came behind the last one, and goes on behind it.
    pub(super) fn follow(&mut self, place: usize) {
        if let Some(last) = self.met.get_mut(self.last) {
            last.follower = place as u32;
        }
        let key = self.met.get(place).and_then(|met| self.text_of(met).strip_prefix(&*self.prefix));
        let key_len = key.map_or(0, <[u8]>::len);
        if let Some(met) = self.met.get_mut(place) {
            met.prefixes = if key_len > 0 { self.prefixes } else { 0 };
            met.key_len = key_len as u32;
            met.mask = u64::MAX.checked_shl(64 - 8 * key_len.min(8) as u32).unwrap_or_default();
            (self.last, self.next) = (place, met.follower as usize);
        }
    }
}

/// The bytes in front of an end that is less than eight bytes from the beginning, the last one highest.
#[inline(never)]
fn first_bytes(text: &[u8], end: usize) -> u64 {
    let bytes = text.get(..end).unwrap_or_default();
    bytes.iter().fold(0, |word, byte| word >> 8 | u64::from(*byte) << 56)
}
