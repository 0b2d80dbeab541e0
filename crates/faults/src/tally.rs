//! What became of every number.

/// Numbers of one of several senders begin at a multiple of it.
pub const LANE: u64 = 10_000_000;

/// The number of a message, from its line. A killed program may have left the beginning of a line, to which
/// the next one adds a whole one: the last number counts.
pub fn number(line: &[u8]) -> Option<u64> {
    let at = line.windows(2).rposition(|two| two == b"n=")? + 2;
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

    /// The first of the numbers that came after a later one had, with that one and its place among them.
    pub fn first_reordered(numbers: &[u64]) -> Option<(u64, u64, usize)> {
        let mut seen = std::collections::HashSet::new();
        let mut latest = 0;
        for (at, number) in numbers.iter().enumerate().filter(|(_, number)| seen.insert(**number)) {
            if *number < latest {
                return Some((*number, latest, at));
            }
            latest = *number;
        }
        None
    }

    /// Of several senders with numbers in lanes of their own, each of which has sent so many.
    pub fn of_lanes(sent: &[u64], numbers: &[u64]) -> Tally {
        let mut lanes: Vec<Vec<u64>> = vec![Vec::new(); sent.len()];
        let mut tally = Tally::default();
        for number in numbers {
            match lanes.get_mut((number / LANE) as usize) {
                Some(lane) => lane.push(number % LANE),
                None => tally.unaccounted += 1,
            }
        }
        sent.iter().zip(&lanes).for_each(|(sent, numbers)| tally.add(&Tally::of(*sent, *sent, numbers)));
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
        assert_eq!(number(b"host app: n=0000000001 th<13>host app: n=0000000042 the"), Some(42));
        let lanes = Tally::of_lanes(&[2, 1], &[LANE, 0, 0, 1, 2 * LANE]);
        assert_eq!((lanes.sent, lanes.delivered, lanes.doubled, lanes.unaccounted), (3, 3, 1, 1));
    }
}
