//! When a connection logs in again: before the broker takes the last login no longer (KIP-368).

use crate::connection::Dial;
use crate::login::Wish;
use delivery::target::Nudge;
use kafka::{Login, Session};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What is left of a login's time when the next one begins, at least, where it is long enough: answers that
/// are awaited come first.
const LEFT_MIN: Duration = Duration::from_secs(3);
/// Brokers take no login sooner after another.
const APART_MIN: Duration = Duration::from_millis(1100);
/// When there was no token.
const AGAIN: Duration = Duration::from_secs(2);

pub enum Renewal {
    None,
    At(Instant),
    Asking(Wish),
}

impl Renewal {
    pub fn before(lifetime: Duration, now: Instant) -> Renewal {
        Renewal::At(now + wait(lifetime))
    }

    /// Begins a login when it is time, and returns what is shown.
    pub fn turn(
        &mut self,
        session: &mut Session,
        (dial, broker, nudge): (&Dial, &str, &Arc<Nudge>),
        now: Instant,
    ) -> Option<Arc<Login>> {
        if let Renewal::At(at) = self
            && *at <= now
            && let Some(logins) = &dial.logins
        {
            *self = Renewal::Asking(logins.ask(broker, nudge));
        }
        let Renewal::Asking(wish) = self else { return None };
        let login = wish.take()?;
        // Without a token the connection goes on as long as the broker lets it.
        *self = Renewal::At(now + AGAIN);
        let login = login.ok()?;
        if session.log_in_again(Arc::clone(&login)).is_ok() {
            *self = Renewal::None;
        }
        Some(login)
    }

    pub fn due(&self) -> Option<Instant> {
        match self {
            Renewal::At(at) => Some(*at),
            _ => None,
        }
    }
}

/// From one login to the next.
fn wait(lifetime: Duration) -> Duration {
    let left = (lifetime / 10).max(LEFT_MIN).min(lifetime / 2);
    (lifetime - left).max(APART_MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_comes_before_the_last_one_ends() {
        let check = |lifetime: u64, expected: u64| {
            assert_eq!(wait(Duration::from_millis(lifetime)), Duration::from_millis(expected), "{lifetime}");
        };
        check(3_600_000, 3_240_000);
        check(60_000, 54_000);
        check(10_000, 7_000);
        check(4_000, 2_000);
        check(1_500, 1_100);
    }
}
