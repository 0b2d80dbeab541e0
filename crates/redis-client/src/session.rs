//! What is said on one connection: the login, then commands, batch after batch, without waiting for replies.

use crate::command;
use crate::judge::{Judged, Same, judge};
use crate::reply::{Malformed, Reply, reply};
use dialogue::{Loss, Outgoing, Session, pieces};
use flight::{Outcome, Part, Receipt, Verdict};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Batches on the way: one is written while the one before it is answered.
const BATCHES_MAX: usize = 4;
/// Bytes of commands on the way, beyond which no batch is begun.
const HELD_BYTES_MAX: usize = 32 << 20;

/// What is said before anything else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Login {
    /// Without one it is that of the password alone, `default`.
    pub user: Option<String>,
    pub password: String,
}

/// A batch on the way.
struct Away {
    id: u32,
    messages: usize,
    /// Of the messages that were answered.
    verdicts: Vec<Verdict>,
    again: Option<String>,
    hold: Option<String>,
    /// Where its bytes begin, of all that were sent.
    begins: u64,
    /// Of messages that somebody follows, by their places.
    followed: Vec<(usize, Receipt)>,
}

pub struct RedisSession {
    login: Option<Arc<Login>>,
    same: Same,
    greeting: Vec<u8>,
    /// The reply to the login is there, or there is none to wait for.
    is_open: bool,
    commands: Outgoing,
    away: VecDeque<Away>,
    /// Of the batch that begins next.
    followed: Vec<(usize, Receipt)>,
}

impl RedisSession {
    pub fn new(login: Option<Arc<Login>>, same: Same) -> RedisSession {
        RedisSession {
            login,
            same,
            greeting: Vec::new(),
            is_open: false,
            commands: Outgoing::default(),
            away: VecDeque::new(),
            followed: Vec::new(),
        }
    }

    fn greeted(&mut self, reply: &Reply<'_>) -> Result<(), Loss> {
        match judge(reply, Same { command: true, key: true }) {
            Judged::Delivered => self.is_open = true,
            Judged::Again(why) => return Err(Loss::Broken(why)),
            Judged::Refused(why) | Judged::Hold(why) => return Err(Loss::Refused(why)),
        }
        Ok(())
    }

    fn answered(&mut self, reply: &Reply<'_>, out: &mut Vec<(u32, Outcome)>) -> Result<(), Loss> {
        let Some(first) = self.away.front_mut() else {
            let text = match judge(reply, self.same) {
                Judged::Delivered => "a reply that nobody asked for".to_owned(),
                Judged::Refused(why) | Judged::Again(why) | Judged::Hold(why) => why,
            };
            return Err(Loss::Broken(text));
        };
        if let (false, Reply::Good(text)) = (first.followed.is_empty(), reply) {
            let (at, text) = (first.verdicts.len(), String::from_utf8_lossy(text));
            let its = first.followed.iter().filter(|(place, _)| *place == at && !text.is_empty());
            its.for_each(|(_, receipt)| receipt.also([("reply", text.as_ref().into())]));
        }
        first.verdicts.push(match judge(reply, self.same) {
            Judged::Delivered => Verdict::Delivered,
            Judged::Refused(why) => Verdict::Refused(why.into()),
            Judged::Again(why) => {
                first.again.get_or_insert(why);
                Verdict::Again
            }
            Judged::Hold(why) => {
                first.hold.get_or_insert(why);
                Verdict::Again
            }
        });
        if first.verdicts.len() == first.messages
            && let Some(first) = self.away.pop_front()
        {
            out.push((first.id, first.outcome()));
        }
        Ok(())
    }
}

impl Away {
    /// When every message has its verdict.
    fn outcome(self) -> Outcome {
        let is = |what: &Verdict| self.verdicts.iter().all(|verdict| verdict == what);
        match (self.hold, self.again) {
            _ if is(&Verdict::Delivered) => Outcome::Delivered,
            (Some(why), _) if is(&Verdict::Again) => Outcome::Hold(why),
            (None, Some(why)) if is(&Verdict::Again) => Outcome::Again { after: None, counts: false, why },
            _ => Outcome::Judged { verdicts: self.verdicts, after: None },
        }
    }

    /// When the connection has ended before. What was answered counts.
    fn lost(self, fault: &Loss, sent_to: u64) -> Outcome {
        match fault {
            _ if !self.verdicts.is_empty() => {
                Outcome::Judged { verdicts: self.verdicts, after: Some(Duration::ZERO) }
            }
            Loss::Refused(why) => Outcome::Hold(why.clone()),
            Loss::Broken(why) if sent_to <= self.begins => Outcome::Away(why.clone()),
            Loss::Broken(why) => Outcome::Unknown(why.clone()),
        }
    }
}

impl Session for RedisSession {
    fn has_room(&self) -> bool {
        self.away.len() < BATCHES_MAX && self.held_bytes() < HELD_BYTES_MAX
    }

    fn follow(&mut self, receipts: Vec<(usize, Receipt)>) {
        self.followed = receipts;
    }

    fn begin(&mut self, id: u32, part: &Part<'_>) {
        let begins = self.commands.end();
        let out = self.commands.bytes();
        out.reserve(part.bytes + part.messages.len() * 32);
        for message in part.messages {
            command::append(out, flight::fields(message));
        }
        let (verdicts, followed) =
            (Vec::with_capacity(part.messages.len()), std::mem::take(&mut self.followed));
        for (at, receipt) in &followed {
            let mut words =
                part.messages.get(*at).map(|message| flight::fields(message)).into_iter().flatten();
            let mut word = |name| Some((name, String::from_utf8_lossy(words.next()?).into_owned().into()));
            let place = [word("command"), word("key")];
            receipt.at(place.into_iter().flatten());
        }
        self.away.push_back(Away {
            id,
            messages: part.messages.len(),
            verdicts,
            again: None,
            hold: None,
            begins,
            followed,
        });
    }

    fn open(&mut self) {
        self.greeting.clear();
        self.is_open = self.login.is_none();
        if let Some(login) = &self.login {
            let user = login.user.iter().map(String::as_bytes);
            let words = [&b"AUTH"[..]].into_iter().chain(user).chain([login.password.as_bytes()]);
            command::append(&mut self.greeting, words);
        }
    }

    fn output(&self) -> &[u8] {
        match self.is_open {
            true => self.commands.waiting(),
            false => &self.greeting,
        }
    }

    fn sent(&mut self, bytes: usize) {
        match self.is_open {
            true => self.commands.sent(bytes),
            false => drop(self.greeting.drain(..bytes.min(self.greeting.len()))),
        }
    }

    fn hear(&mut self, input: &[u8], out: &mut Vec<(u32, Outcome)>) -> Result<usize, Loss> {
        let foreign = || Loss::Broken("the server does not answer as Redis does".to_owned());
        let first = |rest| reply(rest).map_err(|Malformed| foreign());
        pieces(input, first, |reply| match self.is_open {
            true => self.answered(&reply, out),
            false => self.greeted(&reply),
        })
    }

    /// Everything is answered.
    fn settled(&mut self, _out: &mut Vec<(u32, Outcome)>) {}

    fn is_open(&self) -> bool {
        self.is_open
    }

    fn awaits(&self) -> bool {
        !self.is_open || !self.away.is_empty()
    }

    fn lost(&mut self, fault: &Loss, out: &mut Vec<(u32, Outcome)>) {
        let sent_to = self.commands.sent_to();
        out.extend(self.away.drain(..).map(|away| (away.id, away.lost(fault, sent_to))));
        self.commands.clear();
        self.is_open = false;
    }

    fn held_bytes(&self) -> usize {
        self.commands.waiting().len()
    }

    /// A connection that nobody uses may end: the next one is made when it is needed.
    fn rest(&mut self, _quiet: Instant, _now: Instant) {}

    fn leave(&mut self) -> Vec<u8> {
        Vec::new()
    }
}

/// A session that hears `bytes`, once with a login and once without.
pub(crate) fn read_anything(bytes: &[u8]) {
    let login = Arc::new(Login { user: None, password: String::new() });
    for login in [None, Some(login)] {
        let mut session = RedisSession::new(login, Same { command: true, key: true });
        let mut out = Vec::new();
        session.open();
        let message: &[u8] = b"\x01\0\0\0\x01\0\0\0xy";
        session.begin(
            1,
            &Part { messages: &[message, message], bytes: 20, key: &[], number: None, numbers: &[] },
        );
        if session.hear(bytes, &mut out).is_err() {
            session.lost(&Loss::Broken(String::new()), &mut out);
        }
        assert!(out.len() <= 1);
    }
}

#[cfg(test)]
mod tests;
