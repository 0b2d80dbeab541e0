//! What is said on one connection: the greeting, then messages, as many at once as the server takes.

mod greeting;

use crate::codes;
use crate::packet::{
    self, CONNACK, DISCONNECT, Malformed, PINGREQ, PINGRESP, PUBACK, PUBCOMP, PUBLISH, PUBREC, PUBREL,
    Packet, Reader, is_topic,
};
use dialogue::{Judged, Loss, Outgoing, Session, Tally, Unanswered, pieces};
use flight::{Outcome, Part, Receipt};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Batches on the way.
const BATCHES_MAX: usize = 4;
/// Bytes of messages on the way, beyond which no batch is begun.
const HELD_BYTES_MAX: usize = 32 << 20;
/// Messages without an answer, of quality 1 and 2. Servers such as Mosquitto take no more of quality 2.
const ONCE_OR_MORE_MAX: usize = 1000;
const ONCE_MAX: usize = 20;
/// Bytes of a packet behind its length.
const PACKET_BYTES_MAX: usize = 268_435_455;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    Three,
    Five,
}

/// Quality of service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quality {
    /// Sent, and no answer.
    Sent,
    AtLeastOnce,
    Once,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Login {
    pub user: Option<String>,
    pub password: Option<String>,
}

/// How it is spoken to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    pub version: Version,
    pub client_id: String,
    pub login: Login,
    /// Seconds; 0 is none.
    pub keep_alive: u16,
    pub quality: Quality,
    /// Of all messages; `None`: each has its own in front.
    pub topic: Option<String>,
    /// For messages whose own topic is none.
    pub fallback: String,
}

/// A message that waits for its turn.
struct Waiting {
    number: u64,
    /// Of the topic, which stands in front of the text.
    topic_bytes: usize,
    bytes: Vec<u8>,
    /// Somebody follows it.
    receipt: Option<Receipt>,
}

pub struct MqttSession {
    plan: Arc<Plan>,
    is_open: bool,
    greeting: Vec<u8>,
    /// As the server says it.
    window: usize,
    packet_bytes_max: usize,
    keep_alive: Duration,
    waiting: VecDeque<Waiting>,
    waiting_bytes: usize,
    packets: Outgoing,
    tally: Tally,
    /// Numbers of messages without an answer, by the identifiers of their packets.
    away: HashMap<u16, u64>,
    last_id: u16,
    /// Those of quality 0.
    unanswered: Unanswered,
    /// The server owes a sign of life.
    asked: bool,
    /// What became of batches without a word of the server.
    done: Vec<(u32, Outcome)>,
    /// Of the batch that begins next.
    followed: Vec<(usize, Receipt)>,
    /// The server has ended the connection because of a message.
    is_at_fault: bool,
}

impl MqttSession {
    pub fn new(plan: Arc<Plan>) -> MqttSession {
        MqttSession {
            plan,
            is_open: false,
            greeting: Vec::new(),
            window: 0,
            packet_bytes_max: PACKET_BYTES_MAX,
            keep_alive: Duration::ZERO,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            packets: Outgoing::default(),
            tally: Tally::default(),
            away: HashMap::new(),
            last_id: 0,
            unanswered: Unanswered::default(),
            asked: false,
            done: Vec::new(),
            followed: Vec::new(),
            is_at_fault: false,
        }
    }

    /// Publishes what waits while the server takes more.
    fn publish(&mut self) {
        while self.is_open && self.away.len() < self.window {
            let Some(waiting) = self.waiting.pop_front() else { return };
            self.waiting_bytes -= waiting.bytes.len();
            let (topic, text) = waiting.bytes.split_at(waiting.topic_bytes);
            let (with_id, properties) =
                (self.plan.quality != Quality::Sent, self.plan.version == Version::Five);
            let length = 2 + topic.len() + 2 * usize::from(with_id) + usize::from(properties) + text.len();
            if length + 5 > self.packet_bytes_max {
                let why = Judged::Refused("the message is larger than the server takes".to_owned());
                self.tally.judge(waiting.number, why, &mut self.done);
                continue;
            }
            let id = with_id.then(|| self.next_id());
            let out = self.packets.bytes();
            packet::head(out, PUBLISH | (self.plan.quality as u8) << 1, length);
            packet::text(out, topic);
            if let Some(id) = id {
                out.extend_from_slice(&id.to_be_bytes());
            }
            if properties {
                out.push(0);
            }
            out.extend_from_slice(text);
            if let Some(receipt) = &waiting.receipt {
                let packet = id.map(|id| ("packet", u64::from(id).into()));
                let topic = ("topic", String::from_utf8_lossy(topic).into_owned().into());
                receipt.at([topic].into_iter().chain(packet));
            }
            match id {
                Some(id) => {
                    self.away.insert(id, waiting.number);
                }
                None => self.unanswered.push(self.packets.end(), waiting.number),
            }
        }
    }

    /// An identifier that no packet on the way has.
    fn next_id(&mut self) -> u16 {
        loop {
            self.last_id = self.last_id.wrapping_add(1).max(1);
            if !self.away.contains_key(&self.last_id) {
                return self.last_id;
            }
        }
    }

    fn packet(&mut self, packet: &Packet<'_>, out: &mut Vec<(u32, Outcome)>) -> Result<(), Loss> {
        let mut rest = Reader(packet.body);
        match packet.kind {
            CONNACK if !self.is_open => self.greeted(&mut rest),
            PINGRESP if self.is_open => {
                self.asked = false;
                Ok(())
            }
            PUBACK | PUBREC | PUBCOMP if self.is_open => {
                self.answered(packet.kind, &mut rest, out).map_err(|Malformed| foreign())
            }
            DISCONNECT => Err(self.ended(rest.u8().unwrap_or(0))),
            _ => Err(foreign()),
        }
    }

    /// The server of MQTT 5 says why it ends the connection.
    fn ended(&mut self, code: u8) -> Loss {
        self.is_at_fault = self.is_open && codes::is_about_a_message(code, self.plan.topic.is_some());
        match codes::of_end(code) {
            Loss::Refused(why) if self.is_at_fault => Loss::Broken(why),
            loss => loss,
        }
    }

    fn answered(
        &mut self,
        kind: u8,
        rest: &mut Reader<'_>,
        out: &mut Vec<(u32, Outcome)>,
    ) -> Result<(), Malformed> {
        let id = rest.u16()?;
        // Of MQTT 3 there is none.
        let judged = codes::of_message(rest.u8().unwrap_or(0), self.plan.topic.is_some());
        let known = self.away.contains_key(&id);
        let goes_on = kind == PUBREC && judged == Judged::Delivered;
        if goes_on && known {
            packet::about(self.packets.bytes(), PUBREL, id);
        } else if let Some(number) = self.away.remove(&id) {
            self.tally.judge(number, judged, out);
        }
        self.publish();
        Ok(())
    }
}

fn foreign() -> Loss {
    Loss::Broken("the server does not answer as MQTT has it".to_owned())
}

impl Session for MqttSession {
    fn has_room(&self) -> bool {
        self.tally.has_room(BATCHES_MAX, 0) && self.held_bytes() < HELD_BYTES_MAX
    }

    fn follow(&mut self, receipts: Vec<(usize, Receipt)>) {
        self.followed = receipts;
    }

    fn begin(&mut self, id: u32, part: &Part<'_>) {
        let first = self.tally.begin(id, part.messages.len(), self.packets.end());
        let followed = std::mem::take(&mut self.followed);
        for (number, message) in (first..).zip(part.messages) {
            let mut fields = flight::fields(message);
            let own = match (&self.plan.topic, fields.next(), fields.next()) {
                (Some(topic), ..) => topic.as_bytes(),
                (None, Some(topic), Some(_)) if is_topic(topic) => topic,
                _ => self.plan.fallback.as_bytes(),
            };
            let text = flight::fields(message).text();
            let bytes = [own, text].concat();
            self.waiting_bytes += bytes.len();
            let receipt = followed.iter().find(|(at, _)| first + *at as u64 == number);
            let receipt = receipt.map(|(_, receipt)| receipt.clone());
            self.waiting.push_back(Waiting { number, topic_bytes: own.len(), bytes, receipt });
        }
        self.publish();
    }

    fn open(&mut self) {
        self.begin_greeting();
    }

    fn output(&self) -> &[u8] {
        match self.is_open {
            true => self.packets.waiting(),
            false => &self.greeting,
        }
    }

    fn sent(&mut self, bytes: usize) {
        if !self.is_open {
            return drop(self.greeting.drain(..bytes.min(self.greeting.len())));
        }
        self.packets.sent(bytes);
        self.unanswered.sent(self.packets.sent_to(), &mut self.tally, &mut self.done);
    }

    fn hear(&mut self, input: &[u8], out: &mut Vec<(u32, Outcome)>) -> Result<usize, Loss> {
        let first = |rest| packet::packet(rest).map_err(|Malformed| foreign());
        pieces(input, first, |packet| self.packet(&packet, out))
    }

    fn settled(&mut self, out: &mut Vec<(u32, Outcome)>) {
        out.append(&mut self.done);
    }

    fn is_open(&self) -> bool {
        self.is_open
    }

    fn awaits(&self) -> bool {
        !self.is_open || self.asked || !self.away.is_empty()
    }

    fn lost(&mut self, fault: &Loss, out: &mut Vec<(u32, Outcome)>) {
        out.append(&mut self.done);
        let at_fault = std::mem::take(&mut self.is_at_fault);
        self.tally.lost(fault, (self.packets.sent_to(), at_fault), out);
        self.packets.clear();
        self.waiting.clear();
        self.away.clear();
        self.unanswered.clear();
        (self.waiting_bytes, self.is_open, self.asked) = (0, false, false);
    }

    fn held_bytes(&self) -> usize {
        self.waiting_bytes + self.packets.waiting().len()
    }

    fn rest(&mut self, quiet: Instant, now: Instant) {
        let is_due =
            !self.keep_alive.is_zero() && now.saturating_duration_since(quiet) >= self.keep_alive / 2;
        if self.is_open && is_due && !self.asked {
            packet::head(self.packets.bytes(), PINGREQ, 0);
            self.asked = true;
        }
    }

    fn leave(&mut self) -> Vec<u8> {
        let mut out = Vec::new();
        if self.is_open && self.packets.waiting().is_empty() {
            packet::head(&mut out, DISCONNECT, 0);
        }
        out
    }
}

/// A session that hears `bytes`, as the first words and as answers.
pub(crate) fn read_anything(bytes: &[u8]) {
    for (version, is_open) in
        [(Version::Three, false), (Version::Three, true), (Version::Five, false), (Version::Five, true)]
    {
        let plan = Plan {
            version,
            client_id: "x".to_owned(),
            login: Login { user: None, password: None },
            keep_alive: 60,
            quality: Quality::Once,
            topic: None,
            fallback: "f".to_owned(),
        };
        let mut session = MqttSession::new(Arc::new(plan));
        let mut out = Vec::new();
        session.open();
        (session.is_open, session.window) = (is_open, ONCE_MAX);
        let messages: [&[u8]; 2] = [b"x", b"y"];
        session.begin(1, &Part { messages: &messages, bytes: 2, key: &[], number: None, numbers: &[] });
        if session.hear(bytes, &mut out).is_err() {
            session.lost(&Loss::Broken(String::new()), &mut out);
        }
        assert!(out.len() <= 1);
    }
}

#[cfg(test)]
mod tests;
