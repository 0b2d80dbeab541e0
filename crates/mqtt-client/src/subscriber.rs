//! What one who subscribes says and hears: the greeting, the subscription, then messages. Their answers go
//! in the order in which they came, each when its message is dealt with.

use crate::codes;
use crate::packet::{
    self, CONNACK, DISCONNECT, Large, Malformed, PINGREQ, PINGRESP, PUBACK, PUBCOMP, PUBREC, PUBREL, Packet,
    Reader, SUBACK, SUBSCRIBE,
};
use crate::session::{Login, Quality, Version};
use dialogue::Loss;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The largest message that is taken.
pub const MESSAGE_BYTES_MAX: usize = 16 << 20;
/// The identifier of the only subscription.
const SUBSCRIPTION: u16 = 1;
const CLEAN: u8 = 0x02;
/// A code of a SUBACK from here on is a refusal.
const REFUSED: u8 = 0x80;
/// Retained messages come where the server does not know the subscription yet.
const RETAINED_ONCE: u8 = 0x10;

/// What is subscribed to, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subscription {
    pub version: Version,
    pub client_id: String,
    pub login: Login,
    /// Seconds; 0 is none.
    pub keep_alive: u16,
    pub quality: Quality,
    pub filters: Vec<String>,
    /// The server forgets this client with each connection.
    pub is_clean: bool,
}

/// A message that has come.
pub struct Message<'a> {
    pub topic: &'a [u8],
    pub text: &'a [u8],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Closed,
    Greeting,
    Subscribing,
    Open,
}

/// A message that was too large.
#[derive(Debug, PartialEq, Eq)]
pub struct LeftOut {
    pub topic: String,
    pub bytes: usize,
}

/// A message whose answer is owed.
struct Owed {
    number: u64,
    id: u16,
    is_once: bool,
}

pub struct Subscriber {
    plan: Arc<Subscription>,
    state: State,
    out: Vec<u8>,
    keep_alive: Duration,
    /// The number of the next message.
    next: u64,
    owed: VecDeque<Owed>,
    /// Messages of quality 2 that were not released: a server that sends one again after a lost connection
    /// means the same one.
    unreleased: HashMap<u16, u64>,
    /// The server owes a sign of life.
    is_asked: bool,
    /// The server has taken the subscription, and remembers it as long as it says so.
    is_subscribed: bool,
    /// Bytes that are still to come of a message that is too large.
    skips: usize,
    left_out: Vec<LeftOut>,
}

fn foreign() -> Loss {
    Loss::Broken("the server does not answer as MQTT has it".to_owned())
}

impl From<Malformed> for Loss {
    fn from(_: Malformed) -> Loss {
        foreign()
    }
}

impl Subscriber {
    pub fn new(plan: Arc<Subscription>) -> Subscriber {
        Subscriber {
            keep_alive: Duration::from_secs(plan.keep_alive.into()),
            plan,
            state: State::Closed,
            out: Vec::new(),
            next: 0,
            owed: VecDeque::new(),
            unreleased: HashMap::new(),
            is_asked: false,
            is_subscribed: false,
            skips: 0,
            left_out: Vec::new(),
        }
    }

    pub fn is_open(&self) -> bool {
        self.state == State::Open
    }

    /// The number that the next message will have.
    pub fn next_number(&self) -> u64 {
        self.next
    }

    /// Whether answers are owed to the server.
    pub fn owes(&self) -> bool {
        !self.owed.is_empty()
    }

    /// What is to be sent; whoever sends takes it from there.
    pub fn output(&mut self) -> &mut Vec<u8> {
        &mut self.out
    }

    /// There is a connection.
    pub fn open(&mut self) {
        let plan = &self.plan;
        self.out.clear();
        self.owed.clear();
        (self.is_asked, self.skips) = (false, 0);
        let flags = if plan.is_clean { CLEAN } else { 0 };
        packet::connect(
            &mut self.out,
            plan.version,
            &plan.login,
            (flags, plan.keep_alive, &plan.client_id),
            !plan.is_clean,
        );
        self.state = State::Greeting;
    }

    /// The connection is gone. Messages whose answers were owed come again, unless their quality is 0.
    pub fn lost(&mut self) {
        self.state = State::Closed;
        self.out.clear();
        self.owed.clear();
        self.is_asked = false;
    }

    /// Messages from this number on are to come again.
    pub fn forget_from(&mut self, number: u64) {
        self.unreleased.retain(|_, known| *known < number);
    }

    /// Understands what was received, until `take` says that it is enough. Returns how many bytes were
    /// understood.
    pub fn hear(&mut self, input: &[u8], mut take: impl FnMut(&Message<'_>) -> bool) -> Result<usize, Loss> {
        let mut understood = 0;
        loop {
            let rest = input.get(understood..).unwrap_or_default();
            let skipped = self.skips.min(rest.len());
            self.skips -= skipped;
            understood += skipped;
            let rest = rest.get(skipped..).unwrap_or_default();
            if let Some(large) = packet::large(rest, MESSAGE_BYTES_MAX) {
                match self.leave_out(&large, rest)? {
                    true => understood += large.head_bytes,
                    false => return Ok(understood),
                }
                continue;
            }
            let Some((packet, length)) = packet::packet_up_to(rest, MESSAGE_BYTES_MAX)? else {
                return Ok(understood);
            };
            let message = self.packet(&packet)?;
            understood += length;
            if let Some(message) = message
                && !take(&message)
            {
                return Ok(understood);
            }
        }
    }

    fn packet<'a>(&mut self, packet: &Packet<'a>) -> Result<Option<Message<'a>>, Loss> {
        let mut rest = Reader(packet.body);
        match packet.kind {
            CONNACK if self.state == State::Greeting => self.greeted(&mut rest)?,
            SUBACK if self.state == State::Subscribing => self.subscribed(&mut rest)?,
            PINGRESP => self.is_asked = false,
            DISCONNECT => return Err(codes::of_end(rest.u8().unwrap_or(0))),
            PUBREL if self.state != State::Greeting => {
                let id = rest.u16()?;
                self.unreleased.remove(&id);
                packet::about(&mut self.out, PUBCOMP, id);
            }
            // A server that remembers this client may send before it has answered the subscription.
            kind if packet::is_message(kind) && self.state != State::Greeting => {
                return self.message(kind, rest);
            }
            _ => return Err(foreign()),
        }
        Ok(None)
    }

    fn greeted(&mut self, rest: &mut Reader<'_>) -> Result<(), Loss> {
        let is_five = self.plan.version == Version::Five;
        let (remembers, code) = (rest.u8()? & 1 != 0, rest.u8()?);
        if let Some(fault) = codes::of_connection(code, is_five) {
            return Err(fault);
        }
        if is_five && let Some(seconds) = packet::limits(rest)?.keep_alive {
            self.keep_alive = Duration::from_secs(seconds.into());
        }
        if !remembers {
            self.unreleased.clear();
            self.is_subscribed = false;
        }
        if self.is_subscribed {
            // Subscribed to once more, everything retained would come once more.
            self.state = State::Open;
            return Ok(());
        }
        let mut body = SUBSCRIPTION.to_be_bytes().to_vec();
        if is_five {
            body.push(0);
        }
        for filter in &self.plan.filters {
            packet::text(&mut body, filter.as_bytes());
            let retained = if is_five && !self.plan.is_clean { RETAINED_ONCE } else { 0 };
            body.push(self.plan.quality as u8 | retained);
        }
        packet::head(&mut self.out, SUBSCRIBE, body.len());
        self.out.extend_from_slice(&body);
        self.state = State::Subscribing;
        Ok(())
    }

    fn subscribed(&mut self, rest: &mut Reader<'_>) -> Result<(), Loss> {
        rest.u16()?;
        if self.plan.version == Version::Five {
            packet::skip_properties(rest)?;
        }
        for filter in &self.plan.filters {
            let code = rest.u8()?;
            if code >= REFUSED {
                let why = format!("the server refuses the subscription to {filter} (code {code:#04x})");
                return Err(Loss::Refused(why));
            }
        }
        (self.state, self.is_subscribed) = (State::Open, true);
        Ok(())
    }

    fn message<'a>(&mut self, kind: u8, mut rest: Reader<'a>) -> Result<Option<Message<'a>>, Loss> {
        let topic = rest.text()?;
        let quality = kind >> 1 & 3;
        let id = if quality > 0 { rest.u16()? } else { 0 };
        if self.plan.version == Version::Five {
            packet::skip_properties(&mut rest)?;
        }
        let message = Message { topic, text: rest.0 };
        match quality {
            0 => Ok(Some(message)),
            1 | 2 => {
                let known = self.unreleased.get(&id).copied().filter(|_| quality == 2);
                let number = known.unwrap_or(self.next);
                self.owed.push_back(Owed { number, id, is_once: quality == 2 });
                if known.is_some() {
                    return Ok(None);
                }
                self.next += 1;
                if quality == 2 {
                    self.unreleased.insert(id, number);
                }
                Ok(Some(message))
            }
            _ => Err(foreign()),
        }
    }

    /// Begins to leave out a message, and answers it with the ones before it. `false`: its topic is not whole
    /// yet.
    fn leave_out(&mut self, large: &Large, rest: &[u8]) -> Result<bool, Loss> {
        if matches!(self.state, State::Closed | State::Greeting) {
            return Err(foreign());
        }
        let mut body = Reader(rest.get(large.head_bytes..).unwrap_or_default());
        let quality = large.kind >> 1 & 3;
        let topic = body.text().map(|topic| String::from_utf8_lossy(topic).into_owned());
        let id = if quality > 0 { body.u16() } else { Ok(0) };
        let (Ok(topic), Ok(id)) = (topic, id) else { return Ok(false) };
        let is_once = quality == 2;
        match (quality, self.owed.back()) {
            (0, _) => {}
            (_, Some(Owed { number, .. })) => self.owed.push_back(Owed { number: *number, id, is_once }),
            (_, None) => packet::about(&mut self.out, if is_once { PUBREC } else { PUBACK }, id),
        }
        self.left_out.push(LeftOut { topic, bytes: large.bytes });
        self.skips = large.bytes;
        Ok(true)
    }

    /// Messages that were left out because they are too large, since this was last asked.
    pub fn take_left_out(&mut self) -> Vec<LeftOut> {
        std::mem::take(&mut self.left_out)
    }

    /// All messages before this number are dealt with: they are answered.
    pub fn dealt_before(&mut self, number: u64) {
        while let Some(owed) = self.owed.front()
            && owed.number < number
        {
            packet::about(&mut self.out, if owed.is_once { PUBREC } else { PUBACK }, owed.id);
            self.owed.pop_front();
        }
    }

    /// Nothing was heard since `quiet`: asks for a sign of life when it is time. The error: there was none.
    pub fn rest(&mut self, quiet: Instant, now: Instant) -> Result<(), Loss> {
        let silence = now.saturating_duration_since(quiet);
        if self.keep_alive.is_zero() || !self.is_open() || silence < self.keep_alive / 2 {
            return Ok(());
        }
        if silence >= self.keep_alive + self.keep_alive / 2 {
            return Err(Loss::Broken("the server does not answer".to_owned()));
        }
        if !std::mem::replace(&mut self.is_asked, true) {
            packet::head(&mut self.out, PINGREQ, 0);
        }
        Ok(())
    }

    /// Says goodbye.
    pub fn leave(&mut self) {
        if self.state != State::Closed {
            packet::head(&mut self.out, DISCONNECT, 0);
        }
    }
}

/// A session that hears `bytes`, as the first words and later ones.
pub(crate) fn read_anything(bytes: &[u8]) {
    for version in [Version::Three, Version::Five] {
        for state in [State::Greeting, State::Subscribing, State::Open] {
            let plan = Subscription {
                version,
                client_id: "x".to_owned(),
                login: Login { user: None, password: None },
                keep_alive: 60,
                quality: Quality::Once,
                filters: vec!["#".to_owned()],
                is_clean: false,
            };
            let mut subscriber = Subscriber::new(Arc::new(plan));
            subscriber.open();
            subscriber.state = state;
            let mut taken = 0;
            let _ = subscriber.hear(bytes, |message| {
                taken += message.text.len() + message.topic.len();
                true
            });
            assert!(taken <= bytes.len());
            subscriber.dealt_before(u64::MAX);
            assert!(subscriber.out.len() <= 100 + 4 * bytes.len());
        }
    }
}

#[cfg(test)]
mod tests;
