//! Conditions on facility and severity: one bit for each of the 1024 values of PRI, so any combination of
//! them is one look-up.

/// The values of PRI for which something holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PriTable(Box<[u64; 16]>);

/// Values of PRI: 128 facilities of 8 severities.
pub const VALUES: u16 = 1024;

impl PriTable {
    pub fn of(holds: impl Fn(u16) -> bool) -> PriTable {
        let mut table = PriTable(Box::new([0; 16]));
        for pri in (0..VALUES).filter(|p| holds(*p)) {
            table.0[usize::from(pri >> 6) & 15] |= 1 << (pri & 63);
        }
        table
    }

    #[inline]
    pub fn has(&self, pri: u16) -> bool {
        self.0[usize::from(pri >> 6) & 15] & (1 << (pri & 63)) != 0
    }

    pub fn all(&self) -> bool {
        self.0.iter().all(|w| *w == u64::MAX)
    }

    pub fn none(&self) -> bool {
        self.0.iter().all(|w| *w == 0)
    }

    pub fn and(&self, other: &PriTable) -> PriTable {
        PriTable::of(|p| self.has(p) && other.has(p))
    }

    pub fn or(&self, other: &PriTable) -> PriTable {
        PriTable::of(|p| self.has(p) || other.has(p))
    }

    pub fn negated(&self) -> PriTable {
        PriTable::of(|p| !self.has(p))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn combines_like_its_conditions() {
        let mail = PriTable::of(|p| p >> 3 == 2);
        let err = PriTable::of(|p| p & 7 <= 3);
        let both = mail.and(&err);
        assert!(both.has(16) && both.has(19) && !both.has(20) && !both.has(3));
        assert!(mail.or(&err).has(3) && mail.or(&mail.negated()).all() && mail.and(&mail.negated()).none());
        // A value out of range is no reason to panic.
        assert!(!both.has(u16::MAX - 7));
    }
}
