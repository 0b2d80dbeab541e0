//! What a sender is told: batches that are dealt with, now and then that somebody is here.

use super::{ANSWERS_BYTES_MAX, Phase, RltpPort};
use crate::sources::network::rltp::stream::Superseded;
use engine::worker::After;
use std::io::ErrorKind;
use std::time::Instant;
use wire::rltp;

impl RltpPort {
    /// Sends what is to be said, as far as the peer takes it.
    pub(super) fn flush(&mut self) -> std::io::Result<()> {
        loop {
            let rest = self.out.get(self.sent..).unwrap_or_default();
            let outcome = self.input.send(rest);
            match outcome {
                Ok(_) if rest.is_empty() => {
                    self.out.clear();
                    self.sent = 0;
                    return Ok(());
                }
                Ok(n) => {
                    self.sent += n;
                    self.said = Instant::now();
                }
                Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
    }

    /// The end of a turn: tells the sender what is dealt with by now.
    pub(super) fn answer(&mut self, after: After) -> After {
        let mut after = after;
        if let Some(claim) = &self.claim {
            match (claim.leave(), &self.phase) {
                (Ok((acknowledged, _)), Phase::Open(_)) if acknowledged != self.told => {
                    rltp::ack(&mut self.out, acknowledged);
                    self.told = acknowledged;
                }
                // It was dealt with between the look and now, and nobody will say so again.
                (Ok((_, true)), Phase::Waiting(_)) => after = After::Again,
                (Ok(_), _) => {}
                (Err(Superseded), _) => return self.superseded(),
            }
        }
        if let Err(error) = self.flush() {
            return self.fail(error);
        }
        match self.out.len().saturating_sub(self.sent) > ANSWERS_BYTES_MAX {
            true => self.fail("the sender does not read what it is told"),
            false => after,
        }
    }
}
