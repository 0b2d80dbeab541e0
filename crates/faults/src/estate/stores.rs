//! Where an estate puts messages, and what is found there: a PostgreSQL server, and one that answers as
//! OpenSearch's bulk interface does and keeps the number of each document by its `_id`.

use crate::estate::feeds::{Count, HOSTS};
use crate::tally::{LANE, Tally, number};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use testkit::{HttpServer, Postgres, Reply, Request};

#[derive(Default)]
pub struct Documents {
    numbers: Mutex<HashMap<String, u64>>,
    /// With those that came again.
    received: AtomicU64,
    pub is_down: AtomicBool,
}

impl Documents {
    /// Serves them at a port.
    pub fn serve(port: u16) -> (Arc<Documents>, HttpServer) {
        let documents: Arc<Documents> = Arc::default();
        let there = Arc::clone(&documents);
        (documents, HttpServer::start(port, move |request| there.take(request)))
    }

    fn take(&self, request: &Request) -> Reply {
        if self.is_down.load(Ordering::SeqCst) {
            return Reply::new(503);
        }
        let lines = request.lines();
        let mut numbers = self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        for pair in lines.chunks(2) {
            let [action, document] = pair else { continue };
            let id = action.split_once("\"_id\":\"").and_then(|(_, rest)| rest.split_once('"'));
            if let (Some((id, _)), Some(number)) = (id, number(document.as_bytes())) {
                numbers.insert(id.to_owned(), number);
                self.received.fetch_add(1, Ordering::SeqCst);
            }
        }
        Reply::new(200).body("{\"errors\":false}")
    }

    /// What is there by id, and how many documents came that were there already.
    pub fn found(&self) -> (HashMap<String, u64>, u64) {
        let numbers = self.numbers.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let again = self.received.load(Ordering::SeqCst) - numbers.len() as u64;
        (numbers, again)
    }
}

/// Rows so far.
pub fn rows(database: &Postgres) -> usize {
    database.count("logs")
}

/// Whether everything of these lanes is there.
pub fn has_all(database: &Postgres, counts: &[Count]) -> bool {
    // There is no table before the first message.
    if rows(database) == 0 {
        return counts.iter().all(|count| count.owed == 0);
    }
    let by_host = database.query("SELECT host, count(*) FROM logs GROUP BY host");
    counts.iter().all(|count| {
        let row = by_host.iter().find_map(|row| row.strip_prefix(&format!("{}|", HOSTS[count.lane])));
        row.and_then(|count| count.parse::<u64>().ok()).unwrap_or(0) >= count.owed
    })
}

/// Numbers in the order in which they were put, with their ids where there are any.
pub fn numbers(database: &Postgres, id: &str) -> Vec<(u64, String)> {
    let what = "substring(message from 'n=([0-9]{10})')";
    let rows = database.query(&format!("SELECT {what}, {id} FROM logs ORDER BY seq"));
    let parsed = |row: &String| {
        let (number, id) = row.split_once('|')?;
        Some((number.parse().ok()?, id.to_owned()))
    };
    rows.iter().map(|row| parsed(row).unwrap_or((u64::MAX, row.clone()))).collect()
}

/// What became of the messages of each lane.
pub fn by_lane(counts: &[Count], numbers: impl Iterator<Item = u64>) -> (Vec<(Count, Tally)>, u64) {
    let mut lanes: HashMap<usize, Vec<u64>> = HashMap::new();
    let mut foreign = 0;
    for number in numbers {
        let lane = (number / LANE) as usize;
        match counts.iter().any(|count| count.lane == lane) {
            true => lanes.entry(lane).or_default().push(number % LANE),
            false => foreign += 1,
        }
    }
    let tally = |count: &Count| {
        let numbers = lanes.remove(&count.lane).unwrap_or_default();
        (*count, Tally::of(count.sent, count.owed, &numbers))
    };
    (counts.iter().map(tally).collect(), foreign)
}
