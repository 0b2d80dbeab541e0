//! Pauses between attempts at something that goes on for ever, such as reading from a server.

use std::time::Duration;

/// The first one; each is twice as long as the one before.
const PAUSE: Duration = Duration::from_millis(100);

pub struct Pauses {
    next: Duration,
    max: Duration,
}

impl Pauses {
    pub fn new(max: Duration) -> Pauses {
        Pauses { next: PAUSE, max: max.max(PAUSE) }
    }

    pub fn reset(&mut self) {
        self.next = PAUSE;
    }

    pub fn take(&mut self) -> Duration {
        let pause = self.next.min(self.max);
        self.next = (pause * 2).min(self.max);
        pause
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_become_longer_up_to_their_limit() {
        let mut pauses = Pauses::new(Duration::from_millis(350));
        let taken: Vec<u128> = (0..4).map(|_| pauses.take().as_millis()).collect();
        assert_eq!(taken, [100, 200, 350, 350]);
        pauses.reset();
        assert_eq!(pauses.take(), PAUSE);
        assert_eq!(Pauses::new(Duration::ZERO).take(), PAUSE);
    }
}
