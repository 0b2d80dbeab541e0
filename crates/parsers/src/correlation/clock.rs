//! Correlation time: seconds that advance with the stamps of messages, never beyond the present, and with the
//! clock where no messages come. So contexts of messages that are late, or read from an old file, time out by
//! what the messages say.

use record::Stamp;

#[derive(Default)]
pub struct Clock {
    /// Never goes back.
    now: i64,
    /// The present when time was last set, in microseconds.
    set_us: Option<i64>,
}

impl Clock {
    pub fn now(&self) -> i64 {
        self.now
    }

    /// A message of this stamp has come.
    #[inline]
    pub fn message(&mut self, stamp: Stamp, present: Stamp) -> i64 {
        self.set_us = Some(micros(present));
        self.now = self.now.max(stamp.secs.min(present.secs));
        self.now
    }

    /// Whole seconds that passed since count, whatever the last message said.
    pub fn tick(&mut self, present: Stamp) -> i64 {
        let present_us = micros(present);
        let Some(set_us) = self.set_us else {
            // Nothing has come yet.
            return self.now;
        };
        // A clock that was set back lets no time pass.
        let passed = present_us.saturating_sub(set_us).max(0) / 1_000_000;
        self.now = self.now.saturating_add(passed);
        self.set_us = Some(if present_us < set_us { present_us } else { set_us + passed * 1_000_000 });
        self.now
    }
}

fn micros(stamp: Stamp) -> i64 {
    stamp.secs.saturating_mul(1_000_000).saturating_add(i64::from(stamp.usec))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(secs: i64, usec: u32) -> Stamp {
        Stamp { secs, usec, offset: 0 }
    }

    #[test]
    fn time_is_that_of_messages_and_goes_on_without_them() {
        let mut clock = Clock::default();
        assert_eq!(clock.tick(at(1000, 0)), 0, "nothing has come");
        assert_eq!(clock.message(at(100, 0), at(1000, 600_000)), 100);
        assert_eq!(clock.message(at(90, 0), at(1000, 600_000)), 100, "never back");
        assert_eq!(clock.tick(at(1001, 500_000)), 100);
        assert_eq!(clock.tick(at(1001, 600_000)), 101);
        assert_eq!(clock.tick(at(1003, 700_000)), 103);
        assert_eq!(clock.tick(at(1004, 600_000)), 104, "fractions add up");
        assert_eq!(clock.tick(at(900, 0)), 104, "a clock set back");
        assert_eq!(clock.tick(at(902, 0)), 106);
        assert_eq!(clock.message(at(5000, 0), at(902, 0)), 902, "not beyond the present");
    }
}
