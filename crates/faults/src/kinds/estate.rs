//! A whole estate: brokers of Kafka, edges, workers, a database and an index, each killed, restarted and
//! upgraded in turn under load. See examples/estate and docs/estate.md.

use crate::estate::feeds::{Feeds, WAYS, finish_all};
use crate::estate::index::Index;
use crate::estate::member::Member;
use crate::estate::stores::{by_lane, has_all, numbers, rows};
use crate::estate::{certificate, edge, example, fed};
use crate::source::WINDOW;
use crate::tally::Tally;
use crate::tls::Generation;
use crate::trial::{Chance, Plan, Verdict, reached};
use std::collections::HashMap;
use std::thread::sleep;
use std::time::Duration;
use testkit::kafka::KafkaCluster;
use testkit::{Lab, Postgres};

const BROKERS: usize = 3;
const EDGES: usize = 2;
const WORKERS: usize = 3;
const PARTITIONS: usize = 12;
/// So many more rows, and what happened is over.
const MORE: usize = 1000;
const PATIENCE: Duration = Duration::from_secs(120);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    BrokerKilled(usize),
    BrokerUpgraded(usize),
    EdgeKilled(usize),
    EdgeUpgraded(usize),
    WorkerKilled(usize),
    WorkerUpgraded(usize),
    DatabaseKilled,
    IndexAway,
}

struct Estate {
    brokers: KafkaCluster,
    edges: Vec<Member>,
    feeds: Vec<Feeds>,
    workers: Vec<Member>,
    database: Postgres,
    index: Index,
    edge_kills: [u64; EDGES],
    /// What they stand in.
    _labs: Vec<Lab>,
}

pub fn run(plan: &Plan) -> Verdict {
    let mut estate = match Estate::start() {
        Ok(estate) => estate,
        Err(why) => return Verdict::Skipped(why),
    };
    let mut chance = Chance(plan.seed);
    let mut problems = Vec::new();
    let mut tally = Tally::default();
    let mut notes = Vec::new();
    for round in 0..plan.rounds {
        for event in shuffled(&mut chance) {
            let done = estate.through(event, &mut chance);
            if let Err(why) = done {
                problems.push(format!("round {round}, {event:?}: {why}"));
            }
        }
        tally.rounds += 1;
    }
    estate.judge(&mut tally, &mut problems, &mut notes);
    let restart_ms = estate.edges.iter().chain(&estate.workers).map(|member| member.restart_ms).max();
    Verdict::Ran { tally, restart_ms: restart_ms.unwrap_or(0), problems, notes }
}

/// Everything that happens in a round, each once.
fn shuffled(chance: &mut Chance) -> Vec<Event> {
    let mut events = vec![Event::DatabaseKilled, Event::IndexAway];
    events.extend((0..BROKERS).flat_map(|at| [Event::BrokerKilled(at), Event::BrokerUpgraded(at)]));
    events.extend((0..EDGES).flat_map(|at| [Event::EdgeKilled(at), Event::EdgeUpgraded(at)]));
    events.extend((0..WORKERS).flat_map(|at| [Event::WorkerKilled(at), Event::WorkerUpgraded(at)]));
    for at in (1..events.len()).rev() {
        events.swap(at, chance.below(at as u64 + 1) as usize);
    }
    events
}

impl Estate {
    /// Everything runs and is fed; otherwise what is not there.
    fn start() -> Result<Estate, String> {
        let lab = Lab::new();
        let database = Postgres::start(&lab, None).ok_or(testkit::postgres::MISSING)?;
        let brokers = KafkaCluster::start(&lab.path("kafka"), BROKERS).ok_or(testkit::kafka::MISSING)?;
        brokers.create("logs", PARTITIONS);
        let made = Generation::make(lab.path("certificates"))?;
        let index = Index::start(&lab);
        let servers = brokers.servers();
        let [key, cert] = certificate(&lab.path("certificates"));
        let mut edges = Vec::new();
        let mut feeds = Vec::new();
        for at in 0..EDGES {
            let config = edge(
                "edge.conf",
                &[
                    ("kafka1:9092,kafka2:9092,kafka3:9092", &servers),
                    ("port(6514)", "port(%tcp:tls%)"),
                    ("/etc/penstock/tls/edge.key", &key),
                    ("/etc/penstock/tls/edge.pem", &cert),
                ],
            );
            let (edge, fed) = fed(at, Lab::new(), config, Some(&made));
            edges.push(edge);
            feeds.push(fed);
        }
        let config = example(
            "worker.conf",
            &[
                ("kafka1:9092,kafka2:9092,kafka3:9092", &servers),
                ("host(\"db.example.com\")", &format!("host(\"127.0.0.1\") port({})", database.port())),
                // In the order in which they were put.
                ("columns(\"id", "columns(\"seq bigserial\", \"id"),
                ("values(", "values(default, "),
                ("search1.example.com:9200", &format!("127.0.0.1:{}", index.port())),
                ("unique(\"id\")", "unique(\"id\") time-reopen(1)"),
                ("workers(1)", "workers(1) time-reopen(1)"),
            ],
        );
        let worker = |at| Member::start(format!("worker {at}"), Lab::new(), config.clone());
        let workers = (0..WORKERS).map(worker).collect();
        let edge_kills = [0; EDGES];
        let _labs = vec![lab];
        Ok(Estate { brokers, edges, feeds, workers, database, index, edge_kills, _labs })
    }

    /// Lets something happen under load, and waits until messages go through again.
    fn through(&mut self, event: Event, chance: &mut Chance) -> Result<(), String> {
        let away = chance.milliseconds(200, 3000);
        match event {
            Event::BrokerKilled(at) => {
                self.brokers.kill(at);
                sleep(away);
                self.brokers.run(at);
            }
            Event::BrokerUpgraded(at) => {
                self.brokers.stop(at);
                self.brokers.run(at);
            }
            Event::EdgeKilled(at) => self.kill_edge(at, away)?,
            Event::EdgeUpgraded(at) => {
                let feeds = &self.feeds[at];
                self.edges[at].upgrade(|| feeds.reconnect())?;
            }
            Event::WorkerKilled(at) => self.workers[at].kill(away),
            Event::WorkerUpgraded(at) => self.workers[at].upgrade(|| ())?,
            Event::DatabaseKilled => {
                self.database.kill();
                sleep(away);
                self.database.run();
            }
            Event::IndexAway => self.index.away(away),
        }
        let before = rows(&self.database);
        match reached(PATIENCE, || rows(&self.database) >= before + MORE) {
            true => Ok(()),
            false => Err("no more messages come through".to_owned()),
        }
    }

    /// Who sends without acknowledgements rests meanwhile, and has everything at its end before.
    fn kill_edge(&mut self, at: usize, away: Duration) -> Result<(), String> {
        if !self.feeds[at].rest() {
            return Err("senders do not come to rest".to_owned());
        }
        let counts = self.feeds[at].unacknowledged();
        if !reached(PATIENCE, || has_all(&self.database, &counts)) {
            return Err("what senders at rest have sent does not arrive".to_owned());
        }
        self.edges[at].kill(away);
        self.edge_kills[at] += 1;
        self.feeds[at].go_on();
        Ok(())
    }

    /// Everything comes to rest; then what is in the stores is held against what senders were told.
    fn judge(&mut self, tally: &mut Tally, problems: &mut Vec<String>, notes: &mut Vec<String>) {
        let counts = finish_all(&mut self.feeds, problems);
        reached(PATIENCE, || has_all(&self.database, &counts));
        for member in self.edges.iter_mut().chain(&mut self.workers) {
            problems.extend(member.stop().err());
        }
        let put = numbers(&self.database, "id");
        let (lanes, foreign) = by_lane(&counts, put.iter().map(|(number, _)| *number));
        for (count, lane) in lanes {
            // A sender that had no answer when its edge was killed sends again, as new messages.
            let first = count.lane / WAYS;
            let may_be = match count.lane % WAYS {
                0 => self.edge_kills[first] * WINDOW,
                _ => 0,
            };
            if lane.doubled > may_be {
                problems.push(format!("lane {}: {} doubled, {may_be} may be", count.lane, lane.doubled));
            }
            tally.add(&lane);
        }
        tally.unaccounted += foreign;
        for (what, count) in [("lost", tally.lost), ("reordered", tally.reordered), ("foreign", foreign)] {
            if count > 0 {
                problems.push(format!("{count} {what}"));
            }
        }
        let found = self.index.found();
        let rows: HashMap<String, u64> = put.into_iter().map(|(number, id)| (id, number)).collect();
        let missing = rows.iter().filter(|(id, number)| found.numbers.get(*id) != Some(*number)).count();
        if missing > 0 || found.numbers.len() != rows.len() {
            let (rows, documents) = (rows.len(), found.numbers.len());
            problems.push(format!("{rows} rows and {documents} documents, of which {missing} differ"));
        }
        if let Some(reordered) = found.reordered.filter(|reordered| *reordered > 0) {
            problems.push(format!("{reordered} reordered in the index"));
        }
        notes.push(format!("index: {}", self.index.described()));
        let again = found.again;
        notes.push(format!("{again} documents came again to the index, with the ids that they had"));
    }
}
