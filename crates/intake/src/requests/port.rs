//! The port that reads requests on a worker.

use super::{Brought, Desk, Ends, Filling, Load};
use crate::senders::{Naming, PeerFacts, Senders, canonical};
use engine::source::Source;
use engine::worker::{After, Port, PortContext};
use engine::{Feed, Read};
use http_server::Server;
use record::{Context, Peer};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

/// Of one batch. A message may be larger than all of it.
const BATCH_BYTES: usize = 512 << 10;
const BATCH_MESSAGES: usize = 2048;

/// What a port is made of.
pub struct Parts {
    pub source: Arc<Source>,
    pub desk: Arc<Desk>,
    pub server: Server,
    pub facts: PeerFacts,
    pub naming: Naming,
    pub window_messages: Option<usize>,
    pub keep_timestamp: bool,
}

/// A request that is being read.
struct InHand {
    number: u64,
    load: Box<dyn Load>,
    context: Arc<Context>,
}

pub struct RequestPort {
    source: Arc<Source>,
    desk: Arc<Desk>,
    /// Closed with the port.
    server: Option<Server>,
    facts: PeerFacts,
    senders: Senders,
    keep_timestamp: bool,
    feed: Feed,
    in_hand: Option<InHand>,
    queued: bool,
}

impl RequestPort {
    pub fn new(parts: Parts, cx: &PortContext, token: mio::Token) -> RequestPort {
        let Parts { source, desk, server, facts, naming, window_messages, keep_timestamp } = parts;
        let feed = Feed::new(Arc::clone(&source), window_messages, cx, token);
        let waker = cx.handle.waker(token);
        // What came before there was a port waits for it.
        waker.wake();
        let _ = desk.waker.set(waker);
        let senders = Senders::new(facts.clone(), naming);
        RequestPort {
            source,
            desk,
            server: Some(server),
            facts,
            senders,
            keep_timestamp,
            feed,
            in_hand: None,
            queued: false,
        }
    }

    fn context(&mut self, ends: Ends) -> Arc<Context> {
        let Ends { remote, local, named } = ends;
        let Some(ip) = named else { return self.senders.context(remote, local) };
        let proxy = Some(canonical(remote));
        let peer =
            Peer::Inet { remote: SocketAddr::new(ip.to_canonical(), 0), local: canonical(local), proxy };
        let context = self.facts.context(remote, local, &ip.to_canonical().to_string());
        Arc::new(Context { peer, ..Context::clone(&context) })
    }

    fn next(&mut self) -> Option<InHand> {
        if let Some(in_hand) = self.in_hand.take() {
            return Some(in_hand);
        }
        let (number, brought) = self.desk.take()?;
        let Brought { load, ends, tell, .. } = brought;
        self.desk.begin(number, tell);
        Some(InHand { number, load, context: self.context(ends) })
    }
}

impl Port for RequestPort {
    fn turn(&mut self, cx: &mut PortContext) -> After {
        if !self.feed.may_read() {
            return After::Idle;
        }
        let began = Instant::now();
        let Some(mut in_hand) = self.next() else { return After::Idle };
        let mut batch = cx.batch();
        batch.contexts.push(Arc::clone(&in_hand.context));
        let filling = Filling {
            now: cx.now(),
            sender: &in_hand.context.host_from,
            bytes_max: BATCH_BYTES,
            messages_max: BATCH_MESSAGES,
            keep_timestamp: self.keep_timestamp,
        };
        let number = in_hand.number;
        let has_more = in_hand.load.fill(&mut batch, &filling);
        let mark = Some(self.desk.mark(number));
        let bytes = batch.text.len();
        self.feed.run_marked(batch, Read { bytes, busy: has_more, began, mark }, cx);
        match has_more {
            true => self.in_hand = Some(in_hand),
            false => self.desk.all_read(number, in_hand.load),
        }
        After::Again
    }

    fn queued(&mut self) -> &mut bool {
        &mut self.queued
    }

    fn closed(&mut self, _cx: &mut PortContext) {
        self.server.take();
        if let Some(in_hand) = self.in_hand.take() {
            self.desk.give_up(in_hand.number);
        }
        self.desk.close();
    }

    fn source(&self) -> Option<&Arc<Source>> {
        Some(&self.source)
    }
}
