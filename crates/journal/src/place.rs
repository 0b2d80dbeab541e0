//! Where an entry stands: what systemd calls a cursor.

/// 128 bits that name a machine, a boot, a file or a numbering.
pub type Id = [u8; 16];

/// An entry's place in the order of its numbering, and in time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EntryPosition {
    /// The numbering: entries that one journald has written count on over its files.
    pub seqnum_id: Id,
    pub seqnum: u64,
    pub boot: Id,
    /// Microseconds since the boot.
    pub monotonic: u64,
    /// Microseconds since 1970.
    pub realtime: u64,
    /// Of all fields.
    pub hash: u64,
}

/// The version of a stored place.
const VERSION: u8 = 1;
const BYTES: usize = 1 + 16 + 8 + 16 + 8 + 8 + 8;

impl EntryPosition {
    /// Fixed fields, little endian (docs/state-format.md).
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.clear();
        out.push(VERSION);
        out.extend_from_slice(&self.seqnum_id);
        out.extend_from_slice(&self.seqnum.to_le_bytes());
        out.extend_from_slice(&self.boot);
        out.extend_from_slice(&self.monotonic.to_le_bytes());
        out.extend_from_slice(&self.realtime.to_le_bytes());
        out.extend_from_slice(&self.hash.to_le_bytes());
    }

    pub fn decode(value: &[u8]) -> Option<EntryPosition> {
        if value.len() != BYTES || value.first() != Some(&VERSION) {
            return None;
        }
        let id = |at: usize| value.get(at..at + 16).and_then(|bytes| Id::try_from(bytes).ok());
        let number = |at: usize| Some(u64::from_le_bytes(value.get(at..at + 8)?.try_into().ok()?));
        Some(EntryPosition {
            seqnum_id: id(1)?,
            seqnum: number(17)?,
            boot: id(25)?,
            monotonic: number(41)?,
            realtime: number(49)?,
            hash: number(57)?,
        })
    }

    /// Which of two entries comes first: by number where one journald counted both, by the clock of the boot
    /// where they are of one, by the wall clock otherwise.
    pub fn before(&self, other: &EntryPosition) -> std::cmp::Ordering {
        if self.seqnum_id == other.seqnum_id {
            return self.seqnum.cmp(&other.seqnum);
        }
        let time = match self.boot == other.boot {
            true => self.monotonic.cmp(&other.monotonic),
            false => std::cmp::Ordering::Equal,
        };
        time.then(self.realtime.cmp(&other.realtime)).then(self.hash.cmp(&other.hash))
    }

    /// Whether two files hold the same entry, as after copying.
    pub fn is_same(&self, other: &EntryPosition) -> bool {
        self.boot == other.boot
            && self.monotonic == other.monotonic
            && self.realtime == other.realtime
            && self.hash == other.hash
            && (self.seqnum_id != other.seqnum_id || self.seqnum == other.seqnum)
    }

    /// As `journalctl --show-cursor` writes it.
    pub fn cursor(&self) -> String {
        let hex = |id: &Id| id.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        format!(
            "s={};i={:x};b={};m={:x};t={:x};x={:x}",
            hex(&self.seqnum_id),
            self.seqnum,
            hex(&self.boot),
            self.monotonic,
            self.realtime,
            self.hash
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cmp::Ordering;

    #[test]
    fn places_come_back() {
        let place = EntryPosition {
            seqnum_id: [1; 16],
            seqnum: 2,
            boot: [3; 16],
            monotonic: 4,
            realtime: 5,
            hash: u64::MAX,
        };
        let mut value = Vec::new();
        place.encode(&mut value);
        assert_eq!((EntryPosition::decode(&value), value.len()), (Some(place), BYTES));
        assert_eq!(EntryPosition::decode(&value[1..]), None);
        value[0] = 9;
        assert_eq!(EntryPosition::decode(&value), None);
        assert!(place.cursor().starts_with("s=01010101") && place.cursor().ends_with("x=ffffffffffffffff"));
    }

    #[test]
    fn numbers_count_before_clocks() {
        let one = EntryPosition { seqnum: 1, realtime: 9, ..EntryPosition::default() };
        let two = EntryPosition { seqnum: 2, realtime: 3, ..EntryPosition::default() };
        assert_eq!(one.before(&two), Ordering::Less);
        let foreign =
            EntryPosition { seqnum_id: [1; 16], boot: [1; 16], realtime: 5, ..EntryPosition::default() };
        assert_eq!((one.before(&foreign), two.before(&foreign)), (Ordering::Greater, Ordering::Less));
        let same_boot =
            EntryPosition { seqnum_id: [1; 16], monotonic: 1, realtime: 1, ..EntryPosition::default() };
        assert_eq!(one.before(&same_boot), Ordering::Less);
        assert!(
            one.is_same(&EntryPosition { seqnum_id: [1; 16], ..one })
                && !one.is_same(&EntryPosition { seqnum: 2, ..one })
        );
    }
}
