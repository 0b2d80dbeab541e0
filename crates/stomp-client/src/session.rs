//! What is said on one connection: the greeting, then messages without waiting.

use crate::frame::{self, Frame, Malformed};
use dialogue::{Judged, Loss, Outgoing, Session, Tally, Unanswered, pieces};
use flight::{Outcome, Part, Receipt};
use std::sync::Arc;
use std::time::Instant;

/// Batches on the way.
const BATCHES_MAX: usize = 4;
/// Bytes of messages on the way, beyond which no batch is begun.
const HELD_BYTES_MAX: usize = 32 << 20;
/// Characters of an error that the log and the dead letters show.
const WORDS_MAX: usize = 300;
/// Headers that would be about the frame and not about the message: a transaction that nobody has begun, a
/// receipt that nobody waits for, the name that a server gives. Values of these names do not go.
const OF_FRAMES: [&[u8]; 3] = [b"transaction", b"receipt", b"message-id"];
/// What servers (RabbitMQ, ActiveMQ) say where a message is at fault: its size, a value of it. Anything else
/// may be about its destination.
const ABOUT_A_MESSAGE: [&str; 5] =
    ["precondition_failed", "Invalid header", "Bad transaction", "Processing error", "was exceeded"];

/// How it is spoken to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The virtual host.
    pub host: String,
    pub user: String,
    pub password: String,
    pub destination: String,
    pub persistent: bool,
    /// A message counts as delivered when its receipt is there, else when it is sent.
    pub receipts: bool,
}

pub struct StompSession {
    plan: Arc<Plan>,
    is_open: bool,
    greeting: Vec<u8>,
    frames: Outgoing,
    tally: Tally,
    /// All of them without receipts.
    unanswered: Unanswered,
    /// What became of batches without a word of the server.
    done: Vec<(u32, Outcome)>,
    /// Of the batch that begins next.
    followed: Vec<(usize, Receipt)>,
    /// The server has ended the connection because of a message.
    is_at_fault: bool,
}

impl StompSession {
    pub fn new(plan: Arc<Plan>) -> StompSession {
        StompSession {
            plan,
            is_open: false,
            greeting: Vec::new(),
            frames: Outgoing::default(),
            tally: Tally::default(),
            unanswered: Unanswered::default(),
            done: Vec::new(),
            followed: Vec::new(),
            is_at_fault: false,
        }
    }

    /// A message has one field in front of its body: its values.
    fn append(&mut self, number: u64, message: &[u8]) {
        let mut fields = flight::fields(message);
        let (values, body) = match (fields.next(), fields.next()) {
            (Some(values), Some(body)) => (values, body),
            (only, _) => (&[][..], only.unwrap_or_default()),
        };
        let out = self.frames.bytes();
        out.extend_from_slice(b"SEND\n");
        // Of several headers of one name the first counts.
        frame::header(out, b"destination", self.plan.destination.as_bytes());
        if self.plan.persistent {
            frame::header(out, b"persistent", b"true");
        }
        if self.plan.receipts {
            frame::header(out, b"receipt", number.to_string().as_bytes());
        }
        frame::header(out, b"content-length", body.len().to_string().as_bytes());
        for pair in flight::pairs(values).filter(|pair| !OF_FRAMES.contains(&pair.name)) {
            frame::header(out, pair.name, pair.value);
        }
        out.push(b'\n');
        out.extend_from_slice(body);
        out.push(0);
        if !self.plan.receipts {
            self.unanswered.push(self.frames.end(), number);
        }
    }

    fn frame(&mut self, frame: &Frame<'_>, out: &mut Vec<(u32, Outcome)>) -> Result<(), Loss> {
        match frame.command {
            b"CONNECTED" if !self.is_open => self.is_open = true,
            b"RECEIPT" if self.is_open => {
                let number = frame.header("receipt-id").and_then(|id| id.parse().ok()).ok_or_else(foreign)?;
                self.tally.judge(number, Judged::Delivered, out);
            }
            // The server ends the connection with it.
            b"ERROR" => {
                let why = words(frame);
                let is_about_a_message = ABOUT_A_MESSAGE.iter().any(|text| why.contains(text));
                self.is_at_fault = self.is_open && !self.tally.is_empty() && is_about_a_message;
                return Err(if self.is_at_fault { Loss::Broken(why) } else { Loss::Refused(why) });
            }
            _ => return Err(foreign()),
        }
        Ok(())
    }
}

/// The server's words: what it calls the error, and the first line of what it says of it.
fn words(frame: &Frame<'_>) -> String {
    let name = frame.header("message").unwrap_or_else(|| "the server refuses".to_owned());
    let more = String::from_utf8_lossy(frame.body);
    let more = more.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let all = if more.is_empty() || more == name { name } else { format!("{name}: {more}") };
    all.chars().map(|c| if c.is_control() { ' ' } else { c }).take(WORDS_MAX).collect()
}

fn foreign() -> Loss {
    Loss::Broken("the server does not answer as STOMP has it".to_owned())
}

impl Session for StompSession {
    fn has_room(&self) -> bool {
        self.tally.has_room(BATCHES_MAX, 0) && self.held_bytes() < HELD_BYTES_MAX
    }

    fn follow(&mut self, receipts: Vec<(usize, Receipt)>) {
        self.followed = receipts;
    }

    fn begin(&mut self, id: u32, part: &Part<'_>) {
        let first = self.tally.begin(id, part.messages.len(), self.frames.end());
        for (at, receipt) in self.followed.drain(..) {
            let number = self.plan.receipts.then(|| ("receipt", (first + at as u64).into()));
            let destination = ("destination", self.plan.destination.as_str().into());
            receipt.at([destination].into_iter().chain(number));
        }
        self.frames.bytes().reserve(part.bytes + part.messages.len() * 96);
        (first..).zip(part.messages).for_each(|(number, message)| self.append(number, message));
    }

    fn open(&mut self) {
        self.greeting.clear();
        self.greeting.extend_from_slice(b"CONNECT\naccept-version:1.1,1.2\n");
        let plan = &self.plan;
        for (name, value) in [("host", &plan.host), ("login", &plan.user), ("passcode", &plan.password)] {
            if !value.is_empty() {
                // Nothing is escaped in this frame.
                self.greeting.extend_from_slice(format!("{name}:{value}\n").as_bytes());
            }
        }
        self.greeting.extend_from_slice(b"\n\0");
    }

    fn output(&self) -> &[u8] {
        match self.is_open {
            true => self.frames.waiting(),
            false => &self.greeting,
        }
    }

    fn sent(&mut self, bytes: usize) {
        if !self.is_open {
            return drop(self.greeting.drain(..bytes.min(self.greeting.len())));
        }
        self.frames.sent(bytes);
        self.unanswered.sent(self.frames.sent_to(), &mut self.tally, &mut self.done);
    }

    fn hear(&mut self, input: &[u8], out: &mut Vec<(u32, Outcome)>) -> Result<usize, Loss> {
        let first = |rest| frame::frame(rest).map_err(|Malformed| foreign());
        pieces(input, first, |frame| self.frame(&frame, out))
    }

    fn settled(&mut self, out: &mut Vec<(u32, Outcome)>) {
        out.append(&mut self.done);
    }

    fn is_open(&self) -> bool {
        self.is_open
    }

    fn awaits(&self) -> bool {
        !self.is_open || self.plan.receipts && !self.tally.is_empty()
    }

    fn lost(&mut self, fault: &Loss, out: &mut Vec<(u32, Outcome)>) {
        out.append(&mut self.done);
        let at_fault = std::mem::take(&mut self.is_at_fault);
        self.tally.lost(fault, (self.frames.sent_to(), at_fault), out);
        self.frames.clear();
        self.unanswered.clear();
        self.is_open = false;
    }

    fn held_bytes(&self) -> usize {
        self.frames.waiting().len()
    }

    fn rest(&mut self, _quiet: Instant, _now: Instant) {}

    fn leave(&mut self) -> Vec<u8> {
        match self.is_open && self.frames.waiting().is_empty() {
            true => b"DISCONNECT\n\n\0".to_vec(),
            false => Vec::new(),
        }
    }
}

/// A session that hears `bytes`, as the first words and as answers.
pub(crate) fn read_anything(bytes: &[u8]) {
    let text = String::new;
    let plan = Plan {
        host: text(),
        user: text(),
        password: text(),
        destination: text(),
        persistent: true,
        receipts: true,
    };
    let plan = Arc::new(plan);
    for is_open in [false, true] {
        let mut session = StompSession::new(Arc::clone(&plan));
        let mut out = Vec::new();
        session.open();
        session.is_open = is_open;
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
