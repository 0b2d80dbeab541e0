//! What a receiver says: where to go on, what it has dealt with, why it wants nothing.

use super::{Phase, RltpSink};
use diag::Fault;
use std::time::Instant;
use wire::rltp::{self, Frame, Packer, Start, Welcome};

impl RltpSink {
    /// The receiver says where to go on.
    pub(super) fn welcomed(&mut self, welcome: &Welcome, now: Instant) -> Result<(), Fault> {
        if self.phase != Phase::Speaking {
            return Err(Fault::peer("a second welcome"));
        }
        self.phase = Phase::Welcome;
        let (oldest, newest) = rltp::VERSIONS;
        if welcome.version < oldest || welcome.version > newest {
            return Err(Fault::peer(format!(
                "the server wants to speak version {} of rltp, versions {oldest} to {newest} are spoken here",
                welcome.version
            )));
        }
        if welcome.payload_bytes_max < 1024 {
            return Err(Fault::peer("the server takes no batch of a useful size"));
        }
        self.reached = self.stream.reached(welcome);
        if self.run != 0 && welcome.run == self.run {
            self.acknowledged(welcome.acknowledged)?;
            self.next = welcome.acknowledged.wrapping_add(1);
        } else {
            // Another server, or another sender was there: nothing is known of what was sent to this one.
            self.run = self.stream.run();
            self.next = 1;
        }
        // Nothing is under way at the receiver: all that is not acknowledged is sent again.
        self.sent.clear();
        self.in_flight_bytes = 0;
        self.unacked.reset();
        rltp::start(&mut self.out, Start { run: self.run, numbering: self.stream.numbering() });
        self.payload_max = welcome.payload_bytes_max as usize;
        self.packer = self.wishes.level.filter(|_| welcome.packs).and_then(Packer::new);
        self.dialing.of_use(now);
        Ok(())
    }

    /// All batches up to this one are dealt with.
    pub(super) fn acknowledged(&mut self, sequence: u64) -> Result<(), Fault> {
        if sequence >= self.next {
            let why = format!("the server acknowledges batch {sequence}, which was not sent");
            return Err(Fault::peer(why));
        }
        let mut messages = 0;
        while let Some(batch) = self.sent.front().filter(|batch| batch.sequence <= sequence) {
            messages += batch.messages;
            self.in_flight_bytes = self.in_flight_bytes.saturating_sub(batch.bytes);
            self.sent.pop_front();
        }
        match self.unacked.acknowledge(messages) {
            true => Ok(()),
            false => Err(Fault::peer("the server acknowledges more than was sent")),
        }
    }

    /// Hears what the receiver says.
    pub(super) fn listen(&mut self, now: Instant) {
        let Some(link) = &mut self.open else { return };
        let before = self.input.len();
        let outcome = link.receive(&mut self.input);
        if self.input.len() > before {
            self.heard = now;
        }
        if let Err(fault) = self.understand(now) {
            return self.refused(&fault, now);
        }
        match outcome {
            Ok(true) => {}
            Ok(false) => self.broke("EOF occurred while idle", None, now),
            Err(error) => self.broke("I/O error occurred while reading", Some(&error), now),
        }
    }

    pub(super) fn understand(&mut self, now: Instant) -> Result<(), Fault> {
        let mut input = std::mem::take(&mut self.input);
        let mut at = 0;
        if self.phase == Phase::Silent {
            if !rltp::read_magic(&input).map_err(|error| Fault::peer(error.to_string()))? {
                self.input = input;
                return Ok(());
            }
            self.phase = Phase::Speaking;
            at = rltp::MAGIC.len();
        }
        loop {
            let rest = input.get(at..).unwrap_or_default();
            let Some((frame, length)) =
                rltp::next(rest, 0).map_err(|error| Fault::peer(error.to_string()))?
            else {
                break;
            };
            match frame {
                Frame::Welcome(welcome) => self.welcomed(&welcome, now)?,
                Frame::Ack(sequence) if self.phase == Phase::Welcome => self.acknowledged(sequence)?,
                Frame::Ping => {}
                Frame::Refuse { text, .. } => {
                    return Err(Fault::peer(format!("the server refuses: {text}")));
                }
                _ => return Err(Fault::peer("the server sends what only a sender may")),
            }
            at += length;
        }
        input.drain(..at);
        self.input = input;
        Ok(())
    }

    /// The peer is not what it should be, or says that we are not.
    pub(super) fn refused(&mut self, fault: &Fault, now: Instant) {
        let wait = self.dialing.options.time_reopen.as_secs();
        oplog::error("Syslog connection refused", &[("error", fault), ("time_reopen", &wait)]);
        self.dialing.breaks(fault.said(), None);
        self.end(false, now);
    }
}
