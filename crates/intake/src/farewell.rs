//! The end of a connection whose peer waits for answers: it is told what is to be told, and then has the time
//! to read it. A connection that is closed with something unread in it is reset by the kernel, and the peer
//! may lose what it was told.

use engine::Shared;
use engine::reader::Input;
use engine::worker::{After, LEAVE_MAX, Leaving};
use std::io::ErrorKind;
use std::time::Instant;

/// Bytes thrown away at a time, and how often in one turn.
const READ_BYTES: usize = 64 * 1024;
const TURN_READS: usize = 4;

pub struct Farewell {
    /// Since when the peer has had everything.
    shut: Option<Instant>,
    /// The peer will send nothing more; it may still read.
    ended: bool,
    _leaving: Leaving,
}

impl Farewell {
    pub fn new(shared: &Shared) -> Farewell {
        Farewell { shut: None, ended: false, _leaving: shared.leaving() }
    }

    /// Throws away what the peer still sends: nobody will say that it was dealt with.
    pub fn listen(&mut self, input: &mut dyn Input) -> After {
        let mut nothing = Vec::new();
        for _ in 0..TURN_READS {
            if self.ended {
                return if self.shut.is_some() { After::Close } else { After::Idle };
            }
            nothing.clear();
            match input.read(&mut nothing, READ_BYTES) {
                Ok(0) => self.ended = true,
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return After::Idle,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return After::Close,
            }
        }
        After::Again
    }

    /// Whether the kernel has all that was sent: an encrypted session may hold some of it back.
    pub fn is_out(input: &mut dyn Input) -> bool {
        input.send(&[]).is_ok()
    }

    /// Everything is said: the peer may go. What is to be done then.
    pub fn shut(&mut self, input: &mut dyn Input, after: After) -> After {
        if self.shut.is_none() {
            self.shut = Some(Instant::now());
            input.shut();
        }
        if self.ended { After::Close } else { after }
    }

    /// The peer does not go.
    pub fn is_late(&self, now: Instant) -> bool {
        self.shut.is_some_and(|since| now.saturating_duration_since(since) >= LEAVE_MAX)
    }
}
