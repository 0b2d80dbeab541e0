//! A small estate without Kafka: two edges with RLTP to two aggregators, each killed and upgraded in turn
//! under load. See examples/estate and docs/estate.md.

use crate::estate::feeds::{Feeds, WAYS, finish_all};
use crate::estate::member::Member;
use crate::estate::stores::{by_lane, has_all, numbers, rows};
use crate::estate::{edge, example, fed};
use crate::source::WINDOW;
use crate::tally::Tally;
use crate::trial::{Chance, Plan, Verdict, reached};
use std::time::Duration;
use testkit::{Lab, Postgres};

const EDGES: usize = 2;
/// The aggregators: edges know them by their addresses, on one port.
const ADDRESSES: [&str; 2] = ["127.0.0.1", "127.0.0.2"];
/// So many more rows, and what happened is over.
const MORE: usize = 500;
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Clone, Copy, Debug)]
enum Event {
    EdgeKilled(usize),
    EdgeUpgraded(usize),
    AggregatorKilled(usize),
    AggregatorUpgraded(usize),
    DatabaseKilled,
}

struct Estate {
    edges: Vec<Member>,
    feeds: Vec<Feeds>,
    aggregators: Vec<Member>,
    database: Postgres,
    edge_kills: [u64; EDGES],
    /// What they stand in.
    _lab: Lab,
}

pub fn run(plan: &Plan) -> Verdict {
    let mut estate = match Estate::start() {
        Ok(estate) => estate,
        Err(why) => return Verdict::Skipped(why),
    };
    let mut chance = Chance(plan.seed);
    let (mut tally, mut problems, mut notes) = (Tally::default(), Vec::new(), Vec::new());
    for round in 0..plan.rounds {
        let mut events = vec![Event::DatabaseKilled];
        for at in 0..EDGES {
            events.extend([Event::EdgeKilled(at), Event::EdgeUpgraded(at)]);
            events.extend([Event::AggregatorKilled(at), Event::AggregatorUpgraded(at)]);
        }
        for at in (1..events.len()).rev() {
            events.swap(at, chance.below(at as u64 + 1) as usize);
        }
        for event in events {
            if let Err(why) = estate.through(event, &mut chance) {
                problems.push(format!("round {round}, {event:?}: {why}"));
            }
        }
        tally.rounds += 1;
    }
    estate.judge(&mut tally, &mut problems, &mut notes);
    let restart_ms = estate.edges.iter().chain(&estate.aggregators).map(|member| member.restart_ms).max();
    Verdict::Ran { tally, restart_ms: restart_ms.unwrap_or(0), problems, notes }
}

impl Estate {
    fn start() -> Result<Estate, String> {
        let lab = Lab::new();
        let database = Postgres::start(&lab, None).ok_or(testkit::postgres::MISSING)?;
        let port = lab.port("aggregators").to_string();
        let place = format!("host(\"127.0.0.1\") port({})", database.port());
        let aggregator = |(at, address): (usize, &&str)| {
            let config = example(
                "aggregator.conf",
                &[
                    ("ip(\"0.0.0.0\") port(5500)", &format!("ip(\"{address}\") port({port})")),
                    ("host(\"db.example.com\")", &place),
                    ("columns(\"id", "columns(\"seq bigserial\", \"id"),
                    ("values(", "values(default, "),
                    ("200GiB", "2GiB"),
                ],
            );
            Member::start(format!("aggregator {at}"), Lab::new(), config)
        };
        let aggregators = ADDRESSES.iter().enumerate().map(aggregator).collect();
        let (mut edges, mut feeds) = (Vec::new(), Vec::new());
        for at in 0..EDGES {
            let changes = [
                ("aggregator1.example.com", ADDRESSES[0]),
                ("aggregator2.example.com", ADDRESSES[1]),
                (
                    "port(5500) transport(\"rltp\")",
                    &format!("port({port}) transport(\"rltp\") time-reopen(0.1)"),
                ),
            ];
            let (edge, fed) = fed(at, Lab::new(), edge("small-edge.conf", &changes), None);
            edges.push(edge);
            feeds.push(fed);
        }
        let edge_kills = [0; EDGES];
        Ok(Estate { edges, feeds, aggregators, database, edge_kills, _lab: lab })
    }

    /// Lets something happen under load, and waits until messages go through again.
    fn through(&mut self, event: Event, chance: &mut Chance) -> Result<(), String> {
        let away = chance.milliseconds(100, 1500);
        match event {
            Event::EdgeKilled(at) => {
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
            }
            Event::EdgeUpgraded(at) => {
                let feeds = &self.feeds[at];
                self.edges[at].upgrade(|| feeds.reconnect())?;
            }
            Event::AggregatorKilled(at) => {
                self.aggregators[at].kill(away);
            }
            Event::AggregatorUpgraded(at) => self.aggregators[at].upgrade(|| ())?,
            Event::DatabaseKilled => {
                self.database.kill();
                std::thread::sleep(away);
                self.database.run();
            }
        }
        let before = rows(&self.database);
        match reached(PATIENCE, || rows(&self.database) >= before + MORE) {
            true => Ok(()),
            false => Err("no more messages come through".to_owned()),
        }
    }

    /// Everything comes to rest; then what is in the database is held against what senders were told.
    fn judge(&mut self, tally: &mut Tally, problems: &mut Vec<String>, notes: &mut Vec<String>) {
        let counts = finish_all(&mut self.feeds, problems);
        reached(PATIENCE, || has_all(&self.database, &counts));
        for member in self.edges.iter_mut().chain(&mut self.aggregators) {
            problems.extend(member.stop().err());
        }
        let put = numbers(&self.database, "id");
        let (lanes, foreign) = by_lane(&counts, put.into_iter().map(|(number, _)| number));
        let mut late = 0;
        for (count, mut lane) in lanes {
            // A sender that had no answer when its edge was killed sends again, as new messages.
            let may_be = if count.lane % WAYS == 0 { self.edge_kills[count.lane / WAYS] * WINDOW } else { 0 };
            if lane.doubled > may_be {
                problems.push(format!("lane {}: {} doubled, {may_be} may be", count.lane, lane.doubled));
            }
            late += std::mem::take(&mut lane.reordered);
            tally.add(&lane);
        }
        tally.unaccounted += foreign;
        for (what, count) in [("lost", tally.lost), ("foreign", foreign)] {
            if count > 0 {
                problems.push(format!("{count} {what}"));
            }
        }
        notes.push(format!(
            "{late} came behind later ones of their sender, which the other aggregator had taken meanwhile"
        ));
    }
}
