//! Which numbers the messages of a chunk have on disk: the same ones after a kill, so that a receiver can
//! tell what it has already.

use std::ops::Range;

/// Runs of consecutive numbers, each from a message of the chunk on; before the first run there are none.
/// Ascending in both.
#[derive(Debug, Default)]
pub(super) struct Numbers(Vec<(u32, u64)>);

impl Numbers {
    pub fn of(runs: Vec<(u32, u64)>) -> Numbers {
        Numbers(runs)
    }

    /// The messages with these places have these numbers, to the last one of both.
    pub fn set(&mut self, places: Range<usize>, numbers: Range<u64>) {
        self.0.clear();
        let whole = numbers.end.saturating_sub(numbers.start) == places.len() as u64;
        match (whole, places.end.checked_sub(1)) {
            _ if places.is_empty() => {}
            (true, _) => self.0.push((places.start as u32, numbers.start)),
            // Others lie in between: of the last one alone it is known.
            (false, Some(last)) => self.0.push((last as u32, numbers.end.saturating_sub(1))),
            (false, None) => {}
        }
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// The number after that of the message at `place`.
    pub fn after(&self, place: usize) -> Option<u64> {
        let count = self.0.partition_point(|(first, _)| *first as usize <= place);
        let (first, number) = self.0.get(count.checked_sub(1)?)?;
        Some(number + (place - *first as usize) as u64 + 1)
    }

    /// How many of the `messages` from the first one on have numbers before `until`. Those without are before
    /// the next one that has one.
    pub fn before(&self, until: u64, messages: usize) -> usize {
        let mut count = 0;
        for (at, (first, number)) in self.0.iter().enumerate() {
            let Some(numbers) = until.checked_sub(*number).filter(|numbers| *numbers > 0) else { break };
            let end = self.0.get(at + 1).map_or(messages, |(next, _)| (*next as usize).min(messages));
            let length = end.saturating_sub(*first as usize);
            count = *first as usize + length.min(numbers.try_into().unwrap_or(usize::MAX));
        }
        count.min(messages)
    }

    /// Takes off the numbers from a message on, which becomes the first.
    pub fn split_off(&mut self, place: usize) -> Numbers {
        let begun = self.after(place).map(|after| (0, after - 1));
        let at = self.0.partition_point(|(first, _)| *first as usize <= place);
        let rest = self.0.split_off(at);
        let moved = rest.into_iter().map(|(first, number)| (first - place as u32, number));
        let whole = begun.into_iter().chain(moved).collect();
        if self.0.last().is_some_and(|(first, _)| *first as usize == place) {
            self.0.pop();
        }
        Numbers(whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_and_counted() {
        let mut numbers = Numbers::of(vec![(0, 10), (3, 20)]);
        assert_eq!([0, 2, 3, 5].map(|at| numbers.after(at)), [11, 13, 21, 23].map(Some));
        let counts = [5, 10, 11, 13, 19, 20, 21, 24, 99].map(|until| numbers.before(until, 6));
        assert_eq!(counts, [0, 0, 1, 3, 3, 3, 4, 6, 6]);
        let rest = numbers.split_off(2);
        assert_eq!((rest.after(0), rest.after(1), rest.after(3)), (Some(13), Some(21), Some(23)));
        assert_eq!((numbers.after(1), numbers.before(99, 2)), (Some(12), 2));
        let rest = numbers.split_off(0);
        assert_eq!((numbers.after(0), rest.after(1)), (None, Some(12)));
    }

    #[test]
    fn with_holes_only_the_last_is_known() {
        let mut numbers = Numbers::default();
        numbers.set(2..5, 10..13);
        assert_eq!((numbers.after(1), numbers.after(2), numbers.after(4)), (None, Some(11), Some(13)));
        // Those without a number came before.
        assert_eq!((numbers.before(10, 5), numbers.before(11, 5)), (0, 3));
        numbers.set(0..3, 10..20);
        assert_eq!((numbers.after(1), numbers.after(2)), (None, Some(20)));
        assert_eq!((numbers.before(19, 3), numbers.before(20, 3)), (0, 3));
        numbers.set(3..3, 4..4);
        assert_eq!(numbers.before(9, 3), 0);
    }
}
