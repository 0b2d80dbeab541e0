//! The subscriber: it makes batches of what the server sends, and answers what was dealt with.

use super::account::Account;
use delivery::link::Owner;
use delivery::target::Nudge;
use dialogue::{Call, Dial, Line, Loss};
use engine::hand_over::Part;
use engine::ledger::Reason;
use engine::source::Source;
use engine::worker::{After, Leaving, Port, PortContext};
use engine::{Feed, Read};
use mqtt_client::{LeftOut, MESSAGE_BYTES_MAX, Message, Subscriber, Subscription};
use oplog::Level;
use record::{Batch, Context, NameId, Record, ValueType};
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Messages of one batch, and bytes after which it is full.
const BATCH_MESSAGES: usize = 1024;
const BATCH_BYTES: usize = 256 * 1024;
/// Bytes received in one go.
const INPUT_BYTES_MAX: usize = 1 << 20;

/// What a subscriber is made of.
pub struct Parts {
    pub dial: Arc<Dial>,
    pub plan: Arc<Subscription>,
    pub pause_max: Duration,
    pub encoding: Option<conf_schema::Encoding>,
    /// The name of the value with the topic.
    pub topic: Option<NameId>,
    pub window_messages: Option<usize>,
    pub context: Arc<Context>,
    pub source: Arc<Source>,
}

pub struct MqttPort {
    parts: Parts,
    call: Call,
    subscriber: Subscriber,
    account: Arc<Account>,
    input: Vec<u8>,
    /// There are whole messages in it.
    is_behind: bool,
    feed: Feed,
    /// When something was heard.
    heard: Instant,
    said: oplog::OnceAMinute,
    leaving: Option<Leaving>,
    queued: bool,
}

fn broken(error: &io::Error) -> Loss {
    Loss::Broken(error.to_string())
}

impl MqttPort {
    pub fn new(parts: Parts, cx: &PortContext, token: mio::Token) -> MqttPort {
        let waker = cx.handle.waker(token);
        let nudge = Arc::new(Nudge::port(Arc::clone(&waker)));
        let seat = Owner { home: cx.handle.clone(), token, nudge };
        MqttPort {
            call: Call::new(seat, Arc::clone(&parts.dial), parts.pause_max),
            subscriber: Subscriber::new(Arc::clone(&parts.plan)),
            account: Account::new(waker),
            input: Vec::new(),
            is_behind: false,
            feed: Feed::new(Arc::clone(&parts.source), parts.window_messages, cx, token),
            parts,
            heard: Instant::now(),
            said: oplog::OnceAMinute::default(),
            leaving: None,
            queued: false,
        }
    }

    /// Hears, makes a batch, answers. The error ends the connection; `true`: there may be more.
    fn converse(&mut self, cx: &mut PortContext, now: Instant) -> Result<bool, Loss> {
        if self.account.take_undone() {
            self.subscriber.forget_from(self.account.reached());
            // A server sends again what was not answered to whoever comes back.
            return Err(Loss::Broken(
                "messages were not delivered, the server is to send them again".to_owned(),
            ));
        }
        self.subscriber.dealt_before(self.account.reached());
        self.answer()?;
        let may_read = self.leaving.is_none() && (self.feed.may_read() || !self.subscriber.is_open());
        let mut goes_on = true;
        if may_read {
            let before = self.input.len();
            // What is there is understood first; then it is the beginning of a message at most.
            if !self.is_behind {
                let received = self.call.receive(&mut self.input, before + INPUT_BYTES_MAX);
                goes_on = received.map_err(|error| broken(&error))?;
            }
            if self.input.len() > before {
                self.heard = now;
            }
            self.is_behind = self.step(cx)?;
        }
        self.subscriber.rest(self.heard, now)?;
        self.answer()?;
        match goes_on || self.is_behind {
            true => Ok(may_read && self.is_behind),
            false => Err(Loss::Broken("the server has closed the connection".to_owned())),
        }
    }

    fn answer(&mut self) -> Result<(), Loss> {
        self.call.send(self.subscriber.output()).map_err(|error| broken(&error))
    }

    /// Makes a batch of what was received. Whether there is more of it.
    fn step(&mut self, cx: &mut PortContext) -> Result<bool, Loss> {
        let began = Instant::now();
        let (was_open, first) = (self.subscriber.is_open(), self.subscriber.next_number());
        let mut batch = cx.batch();
        batch.contexts.push(Arc::clone(&self.parts.context));
        let wanted = self.topic_wanted();
        let encoding = self.parts.encoding;
        let outcome = self.subscriber.hear(&self.input, |message| {
            append(&mut batch, message, wanted, encoding);
            batch.records.len() < BATCH_MESSAGES && batch.text.len() < BATCH_BYTES
        });
        let understood = match &outcome {
            Ok(understood) => *understood,
            Err(_) => 0,
        };
        for large in self.subscriber.take_left_out() {
            left_out(&self.parts.source, &large);
        }
        let is_full = batch.records.len() >= BATCH_MESSAGES || batch.text.len() >= BATCH_BYTES;
        self.input.drain(..understood.min(self.input.len()));
        if outcome.is_err() {
            // What came before it was not answered, and comes again.
            self.subscriber.forget_from(first);
            cx.recycle(batch);
            return outcome.map(|_| false);
        }
        if self.subscriber.is_open() && !was_open {
            oplog::notice("MQTT server connected", &[("server", &self.parts.dial.name())]);
            (self.said, self.heard) = (oplog::OnceAMinute::default(), began);
            self.call.is_of_use();
        }
        if !batch.records.is_empty() {
            let bytes = batch.text.len();
            let mark = Some(self.account.mark(self.subscriber.next_number()));
            self.feed.run_marked(batch, Read { bytes, busy: is_full, began, mark }, cx);
        } else {
            cx.recycle(batch);
        }
        Ok(is_full)
    }

    /// The name of the value with the topic, if something reads it.
    fn topic_wanted(&self) -> Option<NameId> {
        let settings = self.parts.source.settings();
        self.parts.topic.filter(|id| settings.program.demand.wants(*id))
    }

    fn end(&mut self, fault: &Loss, now: Instant) {
        self.subscriber.lost();
        self.input.clear();
        self.is_behind = false;
        self.call.end(now);
        let (Loss::Broken(why) | Loss::Refused(why)) = fault;
        self.say(why, now);
    }

    /// Once a minute.
    fn say(&mut self, why: &str, now: Instant) {
        if !self.said.is_due(now) {
            return;
        }
        let fields: [oplog::Field<'_>; 2] = [("server", &self.parts.dial.name()), ("reason", &why)];
        oplog::limited(
            "mqtt-source",
            Level::Error,
            "Connection to an MQTT server failed, it is tried again",
            &fields,
        );
    }
}

/// A message was too large: nothing of it is kept but where it was published.
fn left_out(source: &Source, large: &LeftOut) {
    source.counters.received.add(1);
    source.counters.dropped.add(Reason::Framing, 1);
    source.counters.remains.keep(Reason::Framing, 1, std::iter::once(large.topic.as_bytes()));
    let fields: [oplog::Field<'_>; 3] =
        [("topic", &large.topic), ("bytes", &large.bytes), ("bytes_max", &MESSAGE_BYTES_MAX)];
    oplog::limited("mqtt-too-large", Level::Error, "A message of MQTT is too large, it is left out", &fields);
}

/// Adds a message.
fn append(
    batch: &mut Batch,
    message: &Message<'_>,
    topic: Option<NameId>,
    encoding: Option<conf_schema::Encoding>,
) {
    let span = match encoding {
        None => batch.append(message.text),
        Some(encoding) => batch.append(encoding.decode(message.text).as_bytes()),
    };
    let index = batch.records.len();
    batch.records.push(Record::new(span));
    if let Some(topic) = topic {
        batch.set(index, topic, message.topic, ValueType::String);
    }
}

impl Port for MqttPort {
    fn turn(&mut self, cx: &mut PortContext) -> After {
        let now = Instant::now();
        match self.call.connect(now) {
            Ok(Line::Away) => return if self.leaving.is_some() { After::Close } else { After::Idle },
            Ok(Line::Opened) => {
                self.subscriber.open();
                self.heard = now;
            }
            Ok(Line::Open) => {}
            Err(why) => {
                self.say(&why, now);
                return After::Idle;
            }
        }
        match self.converse(cx, now) {
            Err(fault) => {
                self.end(&fault, now);
                After::Idle
            }
            Ok(_) if self.leaving.is_some() && !self.subscriber.owes() => After::Close,
            Ok(true) => After::Again,
            Ok(false) => After::Idle,
        }
    }

    fn queued(&mut self) -> &mut bool {
        &mut self.queued
    }

    /// Pauses end, and the server hears that this side is there.
    fn retry(&self) -> bool {
        true
    }

    fn tick(&mut self, now: Instant) -> bool {
        self.leaving.as_ref().is_none_or(|leaving| !leaving.is_over(now))
    }

    /// What is under way is waited for and answered, so that it does not come again.
    fn leave(&mut self, cx: &mut PortContext) -> bool {
        if self.leaving.is_some() || !self.subscriber.owes() {
            return false;
        }
        self.leaving = Some(cx.shared.leaving());
        true
    }

    fn part(&mut self, _cx: &mut PortContext) -> Part {
        if self.leaving.is_some() { Part::Stays } else { Part::Closes }
    }

    fn parts(&self) -> bool {
        true
    }

    fn closed(&mut self, _cx: &mut PortContext) {
        self.subscriber.leave();
        // The server gets it, or sees the end of the connection.
        let _ = self.call.send(self.subscriber.output());
        self.call.close();
    }

    fn source(&self) -> Option<&Arc<Source>> {
        self.leaving.is_none().then_some(&self.parts.source)
    }
}
