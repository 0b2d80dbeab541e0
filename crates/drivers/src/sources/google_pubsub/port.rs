//! The worker's end of a subscription: it makes batches of what the runtime has brought, as far as there is
//! room for them.

use super::messages::Messages;
use engine::hand_over::Part;
use engine::ledger::TransportError;
use engine::source::Source;
use engine::worker::{After, LEAVE_MAX, Port, PortContext};
use engine::{Feed, Read};
use grpc::Plan;
use grpc::pubsub::{Desk, Subscriber, Subscription, messages};
use record::Context;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Messages of one batch, and bytes after which it is full. One answer of the server is never divided.
const BATCH_MESSAGES: usize = 1024;
const BATCH_BYTES: usize = 256 * 1024;
/// Batches in one turn; then the worker's other ports have theirs.
const TURN_BATCHES: usize = 4;
/// It is looked so often whether the client still runs.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// What a subscriber is made of.
pub struct Parts {
    pub plan: Arc<Plan>,
    pub subscription: Subscription,
    pub pause_max: Duration,
    pub messages: Messages,
    pub window_messages: Option<usize>,
    pub context: Arc<Context>,
    pub source: Arc<Source>,
}

pub struct PubSubPort {
    desk: Arc<Desk>,
    subscriber: Subscriber,
    looked: Instant,
    messages: Messages,
    context: Arc<Context>,
    feed: Feed,
    leaving: Option<Instant>,
    queued: bool,
}

impl PubSubPort {
    pub fn new(parts: Parts, cx: &PortContext, token: mio::Token) -> PubSubPort {
        let desk = Desk::new(parts.subscription, cx.handle.waker(token));
        let mut subscriber = Subscriber::new(parts.plan, Arc::clone(&desk), parts.pause_max);
        subscriber.keep();
        PubSubPort {
            desk,
            subscriber,
            looked: Instant::now(),
            messages: parts.messages,
            context: parts.context,
            feed: Feed::new(parts.source, parts.window_messages, cx, token),
            leaving: None,
            queued: false,
        }
    }

    /// Makes one batch of what is there.
    fn step(&mut self, cx: &mut PortContext) {
        let began = Instant::now();
        let mut batch = cx.batch();
        batch.contexts.push(Arc::clone(&self.context));
        self.messages.begin_batch(&self.feed.source);
        while batch.records.len() < BATCH_MESSAGES && batch.text.len() < BATCH_BYTES {
            let Some(answer) = self.desk.take() else { break };
            // The desk has taken no answer that is none.
            for received in messages(&answer).flatten() {
                self.messages.append(&mut batch, &received);
            }
        }
        let (bytes, busy) = (batch.text.len(), self.desk.is_waiting());
        let mark = Some(self.desk.mark());
        self.feed.run_marked(batch, Read { bytes, busy, began, mark }, cx);
    }
}

impl Port for PubSubPort {
    fn turn(&mut self, cx: &mut PortContext) -> After {
        let now = Instant::now();
        if now.saturating_duration_since(self.looked) >= LOOK_EVERY {
            self.looked = now;
            self.subscriber.keep();
        }
        for _ in 0..self.desk.take_malformed() {
            self.feed.source.counters.transport_errors.add(TransportError::Protocol);
        }
        if self.leaving.is_some() {
            return if self.desk.is_over() { After::Close } else { After::Idle };
        }
        for _ in 0..TURN_BATCHES {
            if !self.desk.is_waiting() || !self.feed.may_read() {
                return After::Idle;
            }
            self.step(cx);
        }
        After::Again
    }

    fn queued(&mut self) -> &mut bool {
        &mut self.queued
    }

    /// The client is looked after.
    fn retry(&self) -> bool {
        true
    }

    fn tick(&mut self, now: Instant) -> bool {
        self.leaving.is_none_or(|since| now.saturating_duration_since(since) < LEAVE_MAX)
    }

    /// What nobody has begun with goes back to the server. What is under way is waited for and acknowledged;
    /// the runtime goes on with that when this port has closed.
    fn leave(&mut self, cx: &mut PortContext) -> bool {
        let now = Instant::now();
        self.leaving = Some(now);
        self.desk.leave(now, Some(cx.shared.leaving()));
        true
    }

    fn part(&mut self, _cx: &mut PortContext) -> Part {
        if self.leaving.is_some() { Part::Stays } else { Part::Closes }
    }

    fn parts(&self) -> bool {
        true
    }

    fn closed(&mut self, _cx: &mut PortContext) {
        self.desk.leave(Instant::now(), None);
    }

    fn source(&self) -> Option<&Arc<Source>> {
        self.leaving.is_none().then_some(&self.feed.source)
    }
}
