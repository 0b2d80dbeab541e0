//! What speaks to a cluster: connections to the brokers that are needed, with the producer's account behind
//! them.

use delivery::link::Owner;
use delivery::single::SinkContext;
use delivery::unreachable::Unreachable;
use engine::{Detail, Receipt};
use flight::{Client, Outcome, Part, Verdict};
use kafka::{Fate, Fault, Heard, Options, Producer, Transacting, Transactions, Why};
use kafka_client::{Broker, Connection, Connections, Dial, News, Server};
use oplog::Level;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

pub struct KafkaClient {
    producer: Producer,
    /// With sync-send(yes): every batch is one.
    transactions: Option<Transactions>,
    connections: Connections,
    unreachable: Unreachable,
    said: oplog::OnceAMinute,
    /// Of messages that somebody follows: batch, place in it.
    followed: Vec<(u32, usize, Receipt)>,
}

fn time_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64)
}

impl KafkaClient {
    pub fn new(
        place: SinkContext,
        dial: Arc<Dial>,
        servers: Arc<[Server]>,
        (options, transacting): (Options, Option<Transacting>),
    ) -> KafkaClient {
        KafkaClient {
            unreachable: Unreachable::new(&place.counters),
            connections: Connections::new(Owner::from(&place), dial, servers),
            producer: Producer::new(options),
            transactions: transacting.map(Transactions::new),
            said: oplog::OnceAMinute::default(),
            followed: Vec::new(),
        }
    }

    /// Does whatever can be done without waiting.
    fn drive(&mut self, now: Instant) {
        self.keep_connections(now);
        let mut fault = None;
        for at in 0..self.connections.count() {
            while let Some(news) = self.look_at(at, now) {
                match news {
                    News::Heard(heard) => self.hear(at, heard, now),
                    News::Lost(lost) => {
                        self.lost(at, &lost, now);
                        fault = Some(lost);
                        break;
                    }
                }
            }
        }
        self.keep_connections(now);
        self.ask(now);
        self.transact(now);
        self.send(now);
        self.judge(fault);
        let ended = self.transactions.as_mut().and_then(Transactions::trouble);
        if let Some(why) = self.producer.trouble().or(ended) {
            self.say("Kafka does not take messages now, they are sent again", &why, now);
        }
    }

    fn look_at(&mut self, at: usize, now: Instant) -> Option<News> {
        let node = self.connections.get(at)?.node;
        let asked = |node| self.transactions.as_ref().and_then(|t| t.waits_since(node));
        let waits =
            node.and_then(|node| self.producer.waits_since(node).into_iter().chain(asked(node)).min());
        self.connections.turn(at, waits, now)
    }

    /// Connections to brokers that lead something; to one of the configured servers while there is none.
    fn keep_connections(&mut self, now: Instant) {
        let producer = &self.producer;
        let asked = self.transactions.iter().flat_map(Transactions::nodes);
        let asked = asked.map(|(id, host, port)| Broker { id, host, port, is_needed: true });
        let brokers = producer.nodes().map(|(id, host, port)| {
            let is_needed = producer.leads(id);
            Broker { id, host, port, is_needed }
        });
        let brokers = brokers.chain(asked);
        if self.connections.keep(brokers, now) {
            self.producer.cut_unknown();
            if let Some(transactions) = &mut self.transactions {
                transactions.cut(None);
            }
        }
    }

    fn lost(&mut self, at: usize, fault: &Fault, now: Instant) {
        let (Fault::Broken(why) | Fault::Refused(why)) = fault;
        let node = self.connections.lost(at);
        match node {
            Some(node) => self.producer.cut(node),
            None => self.producer.cut_unknown(),
        }
        if let Some(transactions) = &mut self.transactions {
            transactions.cut(node);
        }
        self.say("Connection to a Kafka broker failed", why, now);
    }

    fn hear(&mut self, at: usize, heard: Vec<Heard>, now: Instant) {
        let Some(connection) = self.connections.get(at) else { return };
        let node = connection.node;
        for heard in heard {
            match heard {
                Heard::Ready => {
                    oplog::notice("Kafka broker connected", &[("broker", &connection.name())]);
                    if let Some(node) = node {
                        self.producer.ready(node);
                        self.unreachable.reached();
                        self.said = oplog::OnceAMinute::default();
                    }
                }
                Heard::Metadata(metadata) => self.producer.metadata(metadata, time_ms(), now),
                Heard::Identity(answer) => self.producer.identity(answer, now),
                Heard::Written(tag, written) => self.producer.answered(tag, &written, now),
                Heard::OfTransaction(said) => {
                    if let Some(transactions) = &mut self.transactions {
                        transactions.hear(said, &mut self.producer, now);
                    }
                }
                // A producer asks nothing of these.
                Heard::Offsets(_) | Heard::Fetched(_) | Heard::OfGroup(_) => {}
            }
        }
    }

    /// Asks the cluster who leads what, and for a producer id.
    fn ask(&mut self, now: Instant) {
        let Some(at) = self.connections.ready(|_| true) else { return };
        let Some(session) = self.connections.session(at) else { return };
        let mut outcome = Ok(());
        if let Some(topics) = self.producer.wants_metadata(now) {
            outcome = session.ask_metadata(&topics, self.producer.makes_topics());
            self.producer.metadata_asked(now);
        }
        if outcome.is_ok() && self.producer.wants_identity(now) {
            outcome = session.ask_identity();
            self.producer.identity_asked();
        }
        self.after(at, outcome, now);
    }

    /// Asks the coordinators of transactions what is to be asked next, and hands over how batches ended.
    fn transact(&mut self, now: Instant) {
        if !self.followed.is_empty() {
            self.say_where();
        }
        let Some(transactions) = &mut self.transactions else { return };
        let fates = self.producer.fates();
        transactions.judged(&mut self.producer, fates);
        let Some((whom, question)) = transactions.next(&mut self.producer, time_ms(), now) else { return };
        let fits = |connection: &Connection| whom.is_none() || connection.node == whom;
        let Some(at) = self.connections.ready(fits) else { return };
        transactions.asked(self.connections.get(at).and_then(|connection| connection.node), now);
        let Some(session) = self.connections.session(at) else { return };
        let outcome = session.transact(&question);
        self.after(at, outcome, now);
    }

    /// Sends batches to the brokers that have room.
    fn send(&mut self, now: Instant) {
        for at in 0..self.connections.count() {
            let Some(node) = self.connections.get(at).and_then(|connection| connection.node) else {
                continue;
            };
            let mut outcome = Ok(());
            while outcome.is_ok()
                && let Some(session) = self.connections.session(at)
                && let Some(produce) = self.producer.next_request(node, now)
            {
                outcome = session.produce(&produce);
            }
            self.after(at, outcome, now);
        }
    }

    fn after(&mut self, at: usize, outcome: Result<(), Fault>, now: Instant) {
        if let Some(fault) = self.connections.said(at, outcome, now) {
            self.lost(at, &fault, now);
        }
    }

    /// What cannot go is given back when there is nobody to send it to.
    fn judge(&mut self, fault: Option<Fault>) {
        let ready = self.connections.iter().any(Connection::is_ready);
        match fault {
            Some(Fault::Refused(why)) => self.give_back(&Fate::Hold(why)),
            Some(Fault::Broken(why)) if !ready => self.give_back(&Fate::Away(why)),
            _ => return,
        }
        if !ready && self.producer.is_bound() {
            self.unreachable.set(true);
        }
    }

    fn give_back(&mut self, fate: &Fate) {
        self.producer.give_back(fate);
        if let Some(transactions) = &mut self.transactions {
            transactions.give_back(fate);
        }
    }

    /// Says where messages are that somebody follows.
    fn say_where(&mut self) {
        let landed = match &self.transactions {
            Some(transactions) => transactions.landed(&mut self.producer),
            None => self.producer.landed(),
        };
        for landed in landed {
            let is_it = |one: &&(u32, usize, Receipt)| (one.0, one.1) == (landed.job, landed.place);
            let Some((.., receipt)) = self.followed.iter().find(is_it) else { continue };
            let topic = String::from_utf8_lossy(&landed.topic).into_owned();
            let place = [("topic", topic.into()), ("partition", (landed.partition as u64).into())];
            receipt.at(place.into_iter().chain(landed.offset.map(|at| ("offset", Detail::from(at)))));
        }
    }

    /// Once a minute.
    fn say(&mut self, text: &'static str, why: &str, now: Instant) {
        if !self.said.is_due(now) {
            return;
        }
        oplog::limited("kafka", Level::Error, text, &[("reason", &why)]);
    }
}

fn outcome(fate: Fate) -> Outcome {
    let verdict = |verdict| match verdict {
        None => Verdict::Delivered,
        Some((Why::Refused, why)) => Verdict::Refused(String::into_boxed_str(why)),
        Some((Why::Again, _)) => Verdict::Again,
    };
    match fate {
        Fate::Delivered => Outcome::Delivered,
        Fate::Judged(verdicts) => {
            let verdicts = verdicts.into_iter().map(verdict).collect();
            // There is no reason to wait: what is to go again waits only for those it was with.
            Outcome::Judged { verdicts, after: Some(Duration::ZERO) }
        }
        Fate::Split(why) => Outcome::Split(why),
        Fate::Away(why) => Outcome::Away(why),
        Fate::Hold(why) => Outcome::Hold(why),
    }
}

impl Client for KafkaClient {
    fn room(&self) -> usize {
        match &self.transactions {
            Some(transactions) => transactions.room(),
            None => self.producer.room(),
        }
    }

    fn begin(&mut self, id: u32, part: &Part<'_>) {
        let now = Instant::now();
        match &mut self.transactions {
            Some(transactions) => transactions.begin(id, part.messages, part.numbers),
            None => self.producer.begin(id, part.messages, time_ms()),
        }
        self.keep_connections(now);
        self.ask(now);
        self.transact(now);
        self.send(now);
    }

    fn follow(&mut self, id: u32, receipts: Vec<(usize, Receipt)>) {
        let places = receipts.iter().map(|(place, _)| *place);
        match &mut self.transactions {
            Some(transactions) => transactions.follow(places.collect()),
            None => self.producer.follow(id, places),
        }
        self.followed.extend(receipts.into_iter().map(|(place, receipt)| (id, place, receipt)));
    }

    fn outcomes(&mut self, out: &mut Vec<(u32, Outcome)>) {
        self.drive(Instant::now());
        let fates = match &mut self.transactions {
            Some(transactions) => transactions.fates(),
            None => self.producer.fates(),
        };
        if !self.followed.is_empty() {
            self.say_where();
            for (id, _) in &fates {
                self.producer.unfollow(*id);
                self.followed.retain(|(followed, ..)| followed != id);
            }
        }
        out.extend(fates.into_iter().map(|(id, fate)| (id, outcome(fate))));
    }

    fn held_bytes(&self) -> usize {
        self.producer.held_bytes() + self.transactions.as_ref().map_or(0, Transactions::held_bytes)
    }

    fn due(&self, now: Instant) -> Option<Instant> {
        let connections = self.connections.iter().filter_map(Connection::due).filter(|at| *at > now);
        let asks = self.transactions.as_ref().and_then(|transactions| transactions.due(now));
        connections.chain(self.producer.due(now)).chain(asks).min()
    }

    fn tick(&mut self, now: Instant) {
        self.drive(now);
    }

    fn reopen(&mut self) {
        self.connections.restart();
    }

    fn close(&mut self) {
        self.connections.close();
    }
}
