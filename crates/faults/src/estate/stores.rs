//! What of an estate's messages is found in its PostgreSQL server.

use crate::estate::feeds::{Count, HOSTS};
use crate::tally::{LANE, Tally};
use std::collections::HashMap;
use testkit::Postgres;

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
