//! Accounts of what reloads have removed: the ledger keeps what they counted, so that it adds up over the
//! whole life of the program.

use std::collections::VecDeque;
use std::time::Instant;

use control::{Flow, Ledger, Row};
use engine::View;

use crate::subject::balance::{Account, Kept, accounts};

/// Rows of each part of the ledger for what is removed; the counts of older ones are added up in one more.
const ROWS_MAX: usize = 64;
/// Removed objects of one name and place whose counters may still move. Those of older ones have stopped long
/// since.
const LIVE_MAX: usize = 8;
/// The name of the row in which the counts of the oldest are.
const EARLIER: &str = "earlier";
const REMOVED: &str = "(removed)";

#[derive(Default)]
pub struct Removed {
    sources: Section,
    paths: Section,
    destinations: Section,
}

#[derive(Default)]
struct Section {
    entries: VecDeque<Entry>,
    earlier: Flow,
}

/// Objects that were removed and are called the same.
struct Entry {
    name: String,
    detail: String,
    /// What those had counted that are not in `live`.
    past: Flow,
    live: VecDeque<Account>,
}

impl Removed {
    /// Notes what `new` does not have any more.
    pub fn note(&mut self, old: &View, new: &View) {
        let stays = accounts(new);
        let gone = accounts(old);
        self.sources.note(gone.sources, &stays.sources);
        self.paths.note(gone.paths, &stays.paths);
        self.destinations.note(gone.destinations, &stays.destinations);
    }

    /// Those of sources and destinations that are not added up yet, by their names.
    pub fn accounts(&self) -> Vec<(String, Account)> {
        let entries = self.sources.entries.iter().chain(&self.destinations.entries);
        let of_entry = |entry: &Entry| -> Vec<(String, Account)> {
            entry.live.iter().map(|account| (entry.name.clone(), account.clone())).collect()
        };
        entries.flat_map(of_entry).collect()
    }

    /// Adds the rows to the ledger of `view`, which may be older than the last note: what it shows is not
    /// removed for it.
    pub fn complete(&self, ledger: &mut Ledger, view: &View, until: Instant) {
        let shown = accounts(view);
        ledger.sources.extend(self.sources.rows(&shown.sources, until));
        ledger.paths.extend(self.paths.rows(&shown.paths, until));
        ledger.destinations.extend(self.destinations.rows(&shown.destinations, until));
    }
}

impl Section {
    fn note(&mut self, old: Vec<Kept>, stays: &[Kept]) {
        for kept in old.into_iter().filter(|kept| !has(stays, &kept.account)) {
            let flow = kept.account.flow();
            if flow.received == 0 || !kept.account.is_shown(&flow) {
                continue;
            }
            let account = kept.account.removed();
            let known = self.entries.iter_mut().find(|e| e.name == kept.name && e.detail == kept.detail);
            match known {
                Some(entry) => entry.add(account),
                None => self.entries.push_back(Entry {
                    name: kept.name,
                    detail: kept.detail,
                    past: Flow::default(),
                    live: VecDeque::from([account]),
                }),
            }
        }
        while self.entries.len() > ROWS_MAX {
            let Some(oldest) = self.entries.pop_front() else { break };
            self.earlier.add(&oldest.flow());
        }
    }

    fn rows(&self, shown: &[Kept], until: Instant) -> impl Iterator<Item = Row> {
        let earlier = Row {
            name: EARLIER.to_owned(),
            detail: REMOVED.to_owned(),
            flow: self.earlier,
            ..Row::default()
        };
        let rows = self.entries.iter().map(move |entry| {
            let live = entry.live.iter().filter(|account| !has(shown, account));
            let mut flow = entry.past;
            live.for_each(|account| flow.add(&account.settled(until)));
            Row {
                name: entry.name.clone(),
                detail: format!("{} {REMOVED}", entry.detail),
                flow,
                ..Row::default()
            }
        });
        let all: Vec<Row> = [earlier].into_iter().chain(rows).collect();
        all.into_iter()
            .filter(|row| row.flow.received > 0)
            .map(|row| Row { detail: row.detail.trim_start().to_owned(), ..row })
    }
}

impl Entry {
    fn add(&mut self, account: Account) {
        // The same one once more: it was there again in between.
        if !self.live.iter().any(|known| known.is(&account)) {
            self.live.push_back(account);
        }
        while self.live.len() > LIVE_MAX {
            let Some(oldest) = self.live.pop_front() else { break };
            self.past.add(&oldest.flow());
        }
    }

    fn flow(&self) -> Flow {
        let mut flow = self.past;
        self.live.iter().for_each(|account| flow.add(&account.flow()));
        flow
    }
}

fn has(kept: &[Kept], account: &Account) -> bool {
    kept.iter().any(|kept| kept.account.is(account))
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::ledger::PathCounters;
    use std::sync::Arc;

    fn path(name: &str, messages: usize) -> (String, Arc<PathCounters>) {
        let counters: Arc<PathCounters> = Arc::default();
        counters.left(messages, messages, messages);
        (name.to_owned(), counters)
    }

    fn rows(removed: &Removed, view: &View) -> Vec<(String, u64)> {
        let mut ledger = Ledger::default();
        removed.complete(&mut ledger, view, Instant::now());
        ledger.paths.into_iter().map(|row| (row.name, row.flow.received)).collect()
    }

    #[test]
    fn nothing_that_was_counted_vanishes() {
        let mut removed = Removed::default();
        let mut old = View { paths: vec![path("a:1", 0), path("a:2", 1)], ..View::default() };
        for n in 0..3 * ROWS_MAX {
            let again = path("again", 1);
            let new = View { paths: vec![path(&format!("a:{n}"), 2), again], ..View::default() };
            removed.note(&old, &new);
            assert!(rows(&removed, &old).iter().all(|(name, _)| name != "again" || n > 1), "it is shown");
            old = new;
        }
        removed.note(&old, &View::default());
        let rows = rows(&removed, &View::default());
        assert_eq!(rows.len(), ROWS_MAX + 1);
        let all: u64 = rows.iter().map(|(_, received)| received).sum();
        assert_eq!(all as usize, 1 + 3 * ROWS_MAX * 3);
        assert_eq!(rows.iter().filter(|(name, _)| name == "again").count(), 1);
    }
}
