//! The first words with a sender: who it is, where it is to go on, and why it is turned away.

use super::{Phase, RltpPort};
use crate::sources::network::rltp::stream::{Claim, Known, Superseded};
use engine::worker::After;
use intake::listener::Permit;
use std::sync::Arc;
use std::time::Instant;
use wire::rltp::{self, Hello, Reached, Welcome, code};

impl RltpPort {
    /// Whether another connection gets its place, before this one has begun its session.
    pub(super) fn makes_room(&self) -> bool {
        !matches!(self.phase, Phase::Open(_)) && self.permit.as_ref().is_some_and(Permit::is_to_go)
    }

    pub(super) fn fail(&mut self, text: impl ToString) -> After {
        self.failure = Some(text.to_string());
        After::Close
    }

    /// Says why before hanging up. The reason is short: there is room for it, or the peer does not listen.
    pub(super) fn refuse(&mut self, code: u16, text: String) -> After {
        rltp::refuse(&mut self.out, code, &text);
        let _ = self.flush();
        self.fail(text)
    }

    pub(super) fn superseded(&mut self) -> After {
        let text = "a newer connection of the same stream has taken over";
        self.refuse(code::SUPERSEDED, text.to_owned())
    }

    /// The first word has to be all that was sent so far; the answer is awaited before anything else is.
    pub(super) fn hello(&mut self, bytes: &[u8]) -> After {
        let hello = match rltp::read_hello(bytes) {
            Ok(None) => return After::Idle,
            Ok(Some(hello)) => hello,
            Err(error) => return self.turned_away(&error),
        };
        self.out.extend_from_slice(&rltp::MAGIC);
        let (oldest, newest) = rltp::VERSIONS;
        if hello.oldest > newest || hello.newest < oldest {
            self.feed.source.counters.rejected_connections.add(1);
            let Hello { oldest: from, newest: to, .. } = hello;
            let text = format!(
                "versions {oldest} to {newest} of rltp are spoken here, the sender speaks {from} to {to}"
            );
            return self.refuse(code::VERSION, text);
        }
        let mut name = self.rltp.prefix.to_vec();
        let id: String = hello.stream.iter().map(|byte| format!("{byte:02x}")).collect();
        name.extend_from_slice(format!("{id}:{}", hello.lane).as_bytes());
        let (claim, took) = Claim::new(&self.rltp.store, name, Arc::clone(&self.waker));
        if took {
            oplog::limited(
                "rltp-takeover",
                oplog::Level::Notice,
                "A sender has come back before its last connection was gone",
                &[("client", &self.described.client), ("stream", &id), ("connection", &hello.lane)],
            );
        }
        self.claim = Some(claim);
        self.packs = hello.packs;
        self.phase = Phase::Waiting(Welcome {
            version: newest.min(hello.newest),
            packs: hello.packs,
            payload_bytes_max: self.rltp.payload_bytes_max,
            run: 0,
            acknowledged: 0,
            reached: Reached::default(),
        });
        After::Again
    }

    pub(super) fn turned_away(&mut self, error: &rltp::Error) -> After {
        self.feed.source.counters.rejected_connections.add(1);
        oplog::limited(
            "rltp-foreign",
            oplog::Level::Error,
            "Connection refused, the peer does not speak rltp",
            &[("client", &self.described.client), ("error", error)],
        );
        self.fail(error)
    }

    /// Tells the sender where to go on, once everything an earlier connection brought is dealt with.
    pub(super) fn greet(&mut self) -> Option<After> {
        let Phase::Waiting(welcome) = &self.phase else { return None };
        let settled = self.claim.as_ref().map_or(Err(Superseded), Claim::settled);
        match settled {
            Ok(Some(Known { run, acknowledged, reached, .. })) => {
                rltp::welcome(&mut self.out, &Welcome { run, acknowledged, reached, ..*welcome });
                self.phase = Phase::Greeted;
                self.heard = Instant::now();
                None
            }
            Ok(None) if self.hung_up => Some(self.fail("the sender has gone before it was its turn")),
            Ok(None) => Some(After::Idle),
            Err(Superseded) => Some(self.superseded()),
        }
    }
}
