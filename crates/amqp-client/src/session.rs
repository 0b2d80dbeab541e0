//! What is said on one connection: the greeting, a channel that confirms, then messages without waiting.

mod greeting;
mod sent;

use crate::frame::{
    self, ACK, CHANNEL_CLOSE, CLOSE, FRAME_BYTES_MAX, Frame, HEADER, HEARTBEAT, METHOD, Malformed, NACK,
    RETURN, Reader,
};
use crate::publish::{self, Message};
use dialogue::{Judged, Loss, Outgoing, Session, Tally, pieces};
use flight::{Outcome, Part, Receipt};
use greeting::Stage;
use sent::Sent;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub const CHANNEL: u16 = 1;
/// Batches on the way.
const BATCHES_MAX: usize = 4;
/// Bytes of messages on the way, beyond which no batch is begun.
const HELD_BYTES_MAX: usize = 32 << 20;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Login {
    Plain {
        user: String,
        password: String,
    },
    /// Who it is, the certificate says.
    External,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchange {
    pub name: String,
    /// Its kind, when it is to be made.
    pub declared: Option<String>,
}

/// How it is spoken to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    pub login: Login,
    pub vhost: String,
    pub exchange: Exchange,
    pub persistent: bool,
    /// 0: as the server has it.
    pub channel_max: u16,
    /// 0: as the server has it. Never more than [`FRAME_BYTES_MAX`].
    pub frame_max: u32,
    /// Seconds between signs of life; 0 is none.
    pub heartbeat: u16,
    /// Each message has a routing key of its own.
    pub keyed: bool,
}

/// A batch that has begun before messages may go.
struct Early {
    id: u32,
    messages: Vec<Vec<u8>>,
    followed: Vec<(usize, Receipt)>,
}

pub struct AmqpSession {
    plan: Arc<Plan>,
    stage: Stage,
    /// What is said while no message may go, and what is neither.
    words: Vec<u8>,
    frame_max: usize,
    early: Vec<Early>,
    messages: Outgoing,
    tally: Tally,
    sent: Sent,
    /// The server's reason for a message that it is giving back.
    returning: Option<String>,
    /// It has closed the channel because of a message.
    is_at_fault: bool,
    /// What became of batches without a word of the server.
    done: Vec<(u32, Outcome)>,
    /// When this side has said something last, as far as it looks.
    spoke: Option<Instant>,
    /// Of the batch that begins next.
    followed: Vec<(usize, Receipt)>,
}

impl AmqpSession {
    pub fn new(plan: Arc<Plan>) -> AmqpSession {
        AmqpSession {
            plan,
            stage: Stage::Closed,
            words: Vec::new(),
            frame_max: FRAME_BYTES_MAX,
            early: Vec::new(),
            messages: Outgoing::default(),
            tally: Tally::default(),
            sent: Sent::default(),
            returning: None,
            is_at_fault: false,
            done: Vec::new(),
            spoke: None,
            followed: Vec::new(),
        }
    }

    fn publish(&mut self, id: u32, messages: &[&[u8]]) {
        for (at, receipt) in std::mem::take(&mut self.followed) {
            let Some(message) = messages.get(at).map(|message| Message::of(message)) else { continue };
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned().into();
            receipt.at([
                ("exchange", self.plan.exchange.name.as_str().into()),
                ("routing_key", text(message.routing_key)),
                ("message_id", text(&message.id_text())),
            ]);
        }
        let first = self.tally.begin(id, messages.len(), self.messages.end());
        for (number, message) in (first..).zip(messages) {
            let message = Message::of(message);
            let exchange = self.plan.exchange.name.as_bytes();
            let persistent = self.plan.persistent;
            match publish::append(self.messages.bytes(), exchange, persistent, &message, self.frame_max) {
                Ok(()) => self.sent.add(number, message.id),
                Err(why) => self.tally.judge(number, Judged::Refused(why.to_owned()), &mut self.done),
            }
        }
    }

    fn frame(&mut self, frame: &Frame<'_>, out: &mut Vec<(u32, Outcome)>) -> Result<(), Loss> {
        match frame.kind {
            METHOD => self.method(frame.payload, out),
            HEADER if self.returning.is_some() => {
                let id = returned_id(frame.payload).map_err(|Malformed| foreign())?;
                let why = self.returning.take().unwrap_or_default();
                if let Some(number) = self.sent.number_of(id) {
                    self.tally.judge(number, Judged::Refused(why), out);
                }
                Ok(())
            }
            // The body of what comes back.
            _ => Ok(()),
        }
    }

    fn method(&mut self, payload: &[u8], out: &mut Vec<(u32, Outcome)>) -> Result<(), Loss> {
        let mut rest = Reader(payload);
        let method = rest.method().map_err(|Malformed| foreign())?;
        match method {
            CLOSE | CHANNEL_CLOSE => {
                let (code, text) = closed(&mut rest).map_err(|Malformed| foreign())?;
                Err(self.closed(code, &text))
            }
            ACK | NACK | RETURN if self.stage == Stage::Open => {
                self.answered(method, &mut rest, out).map_err(|Malformed| foreign())
            }
            _ if self.stage == Stage::Open => Ok(()),
            _ => {
                self.greeted(method, &mut rest)?;
                if self.stage == Stage::Open {
                    for Early { id, messages, followed } in std::mem::take(&mut self.early) {
                        self.followed = followed;
                        self.publish(id, &messages.iter().map(Vec::as_slice).collect::<Vec<_>>());
                    }
                }
                Ok(())
            }
        }
    }

    fn answered(
        &mut self,
        method: frame::Method,
        rest: &mut Reader<'_>,
        out: &mut Vec<(u32, Outcome)>,
    ) -> Result<(), Malformed> {
        if method == RETURN {
            let (code, text) = (rest.u16()?, String::from_utf8_lossy(rest.short()?).into_owned());
            self.returning = Some(format!("{code}: {text}"));
            return Ok(());
        }
        let (tag, bits) = (rest.u64()?, rest.u8()?);
        let judged = match method {
            ACK => Judged::Delivered,
            _ => Judged::Again("the server could not keep the message".to_owned()),
        };
        self.sent.answered(tag, bits & 1 == 1, |number| self.tally.judge(number, judged.clone(), out));
        Ok(())
    }

    /// The server ends the channel or the connection.
    fn closed(&mut self, code: u16, text: &str) -> Loss {
        let why = format!("{code}: {text}");
        let is_about_a_message = match code {
            // It is larger than the server takes; one of its values is.
            311 | 406 => true,
            // Its routing key may not be written to, as RabbitMQ says it.
            403 => self.plan.keyed && text.contains("access to topic "),
            _ => false,
        };
        self.is_at_fault = self.stage == Stage::Open && is_about_a_message;
        match code {
            _ if self.is_at_fault => Loss::Broken(why),
            // Rights, names of hosts and exchanges, an exchange that is of another kind.
            402..=406 | 530 => Loss::Refused(why),
            _ => Loss::Broken(why),
        }
    }
}

fn foreign() -> Loss {
    Loss::Broken("the server does not answer as AMQP 0-9-1 has it".to_owned())
}

fn closed(rest: &mut Reader<'_>) -> Result<(u16, String), Malformed> {
    Ok((rest.u16()?, String::from_utf8_lossy(rest.short()?).into_owned()))
}

/// The message-id in the header of a message that is ours: behind its headers and the mode of delivery.
fn returned_id(payload: &[u8]) -> Result<&[u8], Malformed> {
    let mut rest = Reader(payload);
    // Class, weight, size of the body, which properties.
    rest.take(14)?;
    rest.long()?;
    rest.u8()?;
    rest.short()
}

impl Session for AmqpSession {
    fn has_room(&self) -> bool {
        self.tally.has_room(BATCHES_MAX, self.early.len()) && self.held_bytes() < HELD_BYTES_MAX
    }

    fn follow(&mut self, receipts: Vec<(usize, Receipt)>) {
        self.followed = receipts;
    }

    fn begin(&mut self, id: u32, part: &Part<'_>) {
        if self.stage == Stage::Open {
            self.messages.bytes().reserve(part.bytes + part.messages.len() * 64);
            return self.publish(id, part.messages);
        }
        let messages = part.messages.iter().map(|message| message.to_vec()).collect();
        self.early.push(Early { id, messages, followed: std::mem::take(&mut self.followed) });
    }

    fn open(&mut self) {
        self.begin_greeting();
    }

    fn output(&self) -> &[u8] {
        match self.stage {
            // Words go between messages, never in one of them.
            Stage::Open if self.words.is_empty() => self.messages.waiting(),
            _ => &self.words,
        }
    }

    fn sent(&mut self, bytes: usize) {
        if bytes > 0 {
            self.spoke = None;
        }
        match self.words.is_empty() {
            true => self.messages.sent(bytes),
            false => drop(self.words.drain(..bytes.min(self.words.len()))),
        }
    }

    fn hear(&mut self, input: &[u8], out: &mut Vec<(u32, Outcome)>) -> Result<usize, Loss> {
        let first = |rest| frame::frame(rest).map_err(|Malformed| foreign());
        pieces(input, first, |frame| self.frame(&frame, out))
    }

    fn settled(&mut self, out: &mut Vec<(u32, Outcome)>) {
        out.append(&mut self.done);
    }

    fn is_open(&self) -> bool {
        self.stage == Stage::Open
    }

    fn awaits(&self) -> bool {
        self.stage != Stage::Open || !self.tally.is_empty()
    }

    fn lost(&mut self, fault: &Loss, out: &mut Vec<(u32, Outcome)>) {
        out.append(&mut self.done);
        let at_fault = std::mem::take(&mut self.is_at_fault);
        self.tally.lost(fault, (self.messages.sent_to(), at_fault), out);
        out.extend(self.early.drain(..).map(|early| {
            let outcome = match fault {
                Loss::Refused(why) => Outcome::Hold(why.clone()),
                Loss::Broken(why) => Outcome::Away(why.clone()),
            };
            (early.id, outcome)
        }));
        self.messages.clear();
        self.words.clear();
        (self.stage, self.sent, self.returning) = (Stage::Closed, Sent::default(), None);
    }

    fn held_bytes(&self) -> usize {
        let early = self.early.iter().flat_map(|early| &early.messages).map(Vec::len).sum::<usize>();
        self.messages.waiting().len() + early
    }

    fn rest(&mut self, _quiet: Instant, now: Instant) {
        let since = *self.spoke.get_or_insert(now);
        let pause = Duration::from_secs(u64::from(self.plan.heartbeat)) / 2;
        let is_between = self.messages.waiting().is_empty() && self.words.is_empty();
        if self.plan.heartbeat > 0 && self.stage == Stage::Open && is_between && now - since >= pause {
            let begin = frame::begin(&mut self.words, HEARTBEAT, 0);
            frame::end(&mut self.words, begin);
        }
    }

    fn leave(&mut self) -> Vec<u8> {
        let mut out = Vec::new();
        if self.stage == Stage::Open && self.messages.waiting().is_empty() {
            let begin = frame::method(&mut out, 0, CLOSE);
            out.extend_from_slice(&200u16.to_be_bytes());
            frame::short(&mut out, b"bye");
            out.extend_from_slice(&[0; 4]);
            frame::end(&mut out, begin);
        }
        out
    }
}

/// A session that hears `bytes`, as the first words and as answers.
pub(crate) fn read_anything(bytes: &[u8]) {
    let login = Login::Plain { user: String::new(), password: String::new() };
    let exchange = Exchange { name: "x".to_owned(), declared: Some("fanout".to_owned()) };
    let plan = Plan {
        login,
        vhost: "/".to_owned(),
        exchange,
        persistent: true,
        channel_max: 0,
        frame_max: 0,
        heartbeat: 0,
        keyed: true,
    };
    let plan = Arc::new(plan);
    for stage in [Stage::Start, Stage::Open] {
        let mut session = AmqpSession::new(Arc::clone(&plan));
        let mut out = Vec::new();
        session.open();
        session.stage = stage;
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
