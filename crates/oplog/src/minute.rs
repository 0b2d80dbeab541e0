//! Who tries again and again says the same once a minute.

use std::time::{Duration, Instant};

const MINUTE: Duration = Duration::from_secs(60);

/// When something was said last. One that is made anew says the next at once.
#[derive(Default)]
pub struct OnceAMinute(Option<Instant>);

impl OnceAMinute {
    /// Whether to say it now; it counts as said then.
    pub fn is_due(&mut self, now: Instant) -> bool {
        let is_due = self.0.is_none_or(|said| now.saturating_duration_since(said) >= MINUTE);
        if is_due {
            self.0 = Some(now);
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minute_lies_between_two() {
        let (mut said, now) = (OnceAMinute::default(), Instant::now());
        let mut after = |seconds| said.is_due(now + Duration::from_secs(seconds));
        assert!(after(0) && !after(0) && !after(59) && after(60) && !after(119) && after(120));
    }
}
