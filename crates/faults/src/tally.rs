//! What became of every number.

/// The number of a message, from its line.
pub fn number(line: &[u8]) -> Option<u64> {
    let at = line.windows(2).position(|two| two == b"n=")? + 2;
    std::str::from_utf8(line.get(at..at + 10)?).ok()?.parse().ok()
}

/// Counts over all rounds of a fault.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    pub rounds: usize,
    pub sent: u64,
    pub acknowledged: u64,
    /// Different messages that arrived.
    pub delivered: u64,
    /// Arrivals beyond the first of each.
    pub doubled: u64,
    /// Acknowledged and never delivered.
    pub lost: u64,
    /// Messages that came for the first time after a later one had.
    pub reordered: u64,
    /// Lines that are nobody's message, and gaps in the ledger.
    pub unaccounted: u64,
}

impl Tally {
    pub fn of(sent: u64, acknowledged: u64, numbers: &[u64]) -> Tally {
        let mut seen = vec![false; sent as usize];
        let mut tally = Tally { sent, acknowledged, ..Tally::default() };
        let mut latest = None;
        for number in numbers {
            match seen.get_mut(*number as usize) {
                None => tally.unaccounted += 1,
                Some(seen) if *seen => tally.doubled += 1,
                Some(seen) => {
                    *seen = true;
                    tally.delivered += 1;
                    tally.reordered += u64::from(latest.is_some_and(|latest| *number < latest));
                    latest = latest.max(Some(*number));
                }
            }
        }
        tally.lost = seen.iter().take(acknowledged as usize).filter(|seen| !**seen).count() as u64;
        tally
    }

    pub fn add(&mut self, other: &Tally) {
        self.rounds += other.rounds;
        self.sent += other.sent;
        self.acknowledged += other.acknowledged;
        self.delivered += other.delivered;
        self.doubled += other.doubled;
        self.lost += other.lost;
        self.reordered += other.reordered;
        self.unaccounted += other.unaccounted;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_counted_once() {
        let tally = Tally::of(6, 5, &[0, 1, 0, 1, 3, 2, 9]);
        assert_eq!((tally.delivered, tally.doubled, tally.lost), (4, 2, 1));
        assert_eq!((tally.reordered, tally.unaccounted), (1, 1));
        assert_eq!(number(b"<13>Nov 22 12:00:00 host app: n=0000000042 the"), Some(42));
        assert_eq!(number(b"n=12"), None);
    }
}
