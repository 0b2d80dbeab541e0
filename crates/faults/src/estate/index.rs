//! The index of an estate and what is found in it: an OpenSearch server, or, where none is installed, one
//! that answers as its bulk interface does and keeps the number of each document by its `_id`.

use crate::tally::{LANE, number};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::sleep;
use std::time::Duration;
use testkit::search::{Document, Engine, Search};
use testkit::{HttpServer, Lab, Reply, Request};

/// Where the worker of the examples puts documents.
const NAME: &str = "logs";
/// Sequence numbers are those of a shard: with one they give the order of all.
const SETTINGS: &str = r#"{"settings": {"number_of_shards": 1, "number_of_replicas": 0}}"#;

pub enum Index {
    Real(Box<Search>),
    StandIn { documents: Arc<Documents>, server: HttpServer },
}

/// What is in an index.
pub struct Indexed {
    /// Numbers of messages by the ids of their documents.
    pub numbers: HashMap<String, u64>,
    /// Documents that came and were there already.
    pub again: u64,
    /// Documents that were put for the first time after a later one of their sender. `None`: not known.
    pub reordered: Option<u64>,
}

impl Index {
    pub fn start(lab: &Lab) -> Index {
        if let Some(search) = Search::start(lab, Engine::OpenSearch) {
            search.ask("PUT", &format!("/{NAME}"), Some(SETTINGS));
            return Index::Real(Box::new(search));
        }
        let documents: Arc<Documents> = Arc::default();
        let there = Arc::clone(&documents);
        let server = HttpServer::start(lab.port("index"), move |request| there.take(request));
        Index::StandIn { documents, server }
    }

    pub fn port(&self) -> u16 {
        match self {
            Index::Real(search) => search.port(),
            Index::StandIn { server, .. } => server.port(),
        }
    }

    /// What it is.
    pub fn described(&self) -> String {
        match self {
            Index::Real(search) => {
                let version = search.ask("GET", "/", None)["version"]["number"].take();
                format!("OpenSearch {}", version.as_str().unwrap_or("of no version"))
            }
            Index::StandIn { .. } => {
                "a stand-in: there is no OpenSearch, see `./x servers opensearch`".to_owned()
            }
        }
    }

    /// Killed and started again; the stand-in says meanwhile that it cannot.
    pub fn away(&mut self, time: Duration) {
        match self {
            Index::Real(search) => {
                search.kill();
                sleep(time);
                search.run();
            }
            Index::StandIn { documents, .. } => {
                documents.is_down.store(true, Ordering::SeqCst);
                sleep(time);
                documents.is_down.store(false, Ordering::SeqCst);
            }
        }
    }

    pub fn found(&self) -> Indexed {
        match self {
            Index::Real(search) => Indexed::of(search.all_documents(NAME, &["MESSAGE"])),
            Index::StandIn { documents, .. } => documents.found(),
        }
    }
}

impl Indexed {
    fn of(mut documents: Vec<Document>) -> Indexed {
        documents.sort_unstable_by_key(|document| document.sequence);
        let mut found = Indexed { numbers: HashMap::new(), again: 0, reordered: Some(0) };
        let mut order = Order::default();
        for document in documents {
            let text = document.source["MESSAGE"].as_str().unwrap_or_default();
            let number = number(text.as_bytes()).unwrap_or(u64::MAX);
            order.next(number, document.version);
            found.again += document.version - 1;
            found.numbers.insert(document.id, number);
        }
        found.reordered = Some(order.reordered);
        found
    }
}

/// Documents in the order in which they were put last, judged by when they were put first: one that came
/// again stands behind that moment, so of two it is known where the later one came once.
#[derive(Default)]
struct Order {
    /// The largest number of each lane so far.
    latest: HashMap<u64, u64>,
    reordered: u64,
}

impl Order {
    fn next(&mut self, number: u64, version: u64) {
        let latest = self.latest.entry(number / LANE).or_default();
        if version == 1 && number < *latest {
            self.reordered += 1;
        }
        *latest = number.max(*latest);
    }
}

/// What the stand-in has.
#[derive(Default)]
pub struct Documents {
    numbers: Mutex<HashMap<String, u64>>,
    /// With those that came again.
    received: AtomicU64,
    is_down: AtomicBool,
}

impl Documents {
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

    fn found(&self) -> Indexed {
        let numbers = self.numbers.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let again = self.received.load(Ordering::SeqCst) - numbers.len() as u64;
        Indexed { numbers, again, reordered: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(sequence: u64, number: u64, version: u64) -> Document {
        let source = [("MESSAGE", format!("n={number:010} the"))].into_iter().collect();
        Document { id: number.to_string(), sequence, version, source }
    }

    #[test]
    fn order_is_that_of_what_was_put_first() {
        let check = |documents: &[(u64, u64)], again: u64, reordered: u64| {
            let documents = documents.iter().enumerate();
            let documents = documents.map(|(at, &(number, version))| document(at as u64, number, version));
            let found = Indexed::of(documents.rev().collect());
            assert_eq!((found.again, found.reordered), (again, Some(reordered)));
            assert!(found.numbers.iter().all(|(id, number)| *id == number.to_string()));
        };
        check(&[(1, 1), (LANE + 7, 1), (2, 1), (LANE + 8, 1), (3, 1)], 0, 0);
        check(&[(1, 1), (3, 1), (2, 1)], 0, 1);
        // Number 2 came again behind 3; that it came first behind it nobody can say.
        check(&[(1, 1), (3, 1), (2, 2)], 1, 0);
        // 3 came again, but 2 came once and behind it.
        check(&[(1, 3), (3, 2), (2, 1)], 3, 1);
    }
}
