//! The pods of a node, followed: a list of them, then a watch from the version of the list on. A watch that
//! ends is begun again from the last version it told; one whose version the server has forgotten, from a new
//! list.

use crate::client::{Counters, Shared};
use crate::events::{Event, Malformed, Reader};
use crate::listed;
use crate::requests::Requests;
use crate::trouble::Trouble;
use guest::Pauses;
use http_client::Streamed;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::{Duration, Instant};

const PAUSE_MAX: Duration = Duration::from_secs(30);
/// A watch is asked for so long, and up to as much longer: not all agents of a cluster begin anew together.
const WATCH_SECONDS: u64 = 300;
/// How much later the server may end it.
const WATCH_LATE: Duration = Duration::from_secs(30);
/// A watch that ended before was not worth its beginning.
const WATCH_SHORT: Duration = Duration::from_secs(1);
/// Pages of one list; a node has some hundred pods.
const PAGES_MAX: usize = 1000;

/// What a request came to.
enum Step {
    Listed,
    /// The server ended it as it should; something had come, or it had lasted.
    Watched,
    /// It ended at once and brought nothing.
    Nothing,
    /// The server has forgotten the version.
    Forgotten,
}

struct Following {
    shared: Arc<Shared>,
    node: String,
    requests: Requests,
    /// What a watch begins behind; `None`: a list is needed.
    version: Option<String>,
    /// A list as the server has it at hand may be too old.
    wants_newest: bool,
}

/// Follows the pods of a node for ever.
pub async fn run(shared: Arc<Shared>, node: String) {
    let requests = Requests::new(&shared.place, &shared.network);
    let mut following = Following { shared, node, requests, version: None, wants_newest: false };
    let mut pauses = Pauses::new(PAUSE_MAX);
    loop {
        let began = Instant::now();
        let step = match following.version.clone() {
            None => following.list().await,
            Some(version) => following.watch(version).await,
        };
        match step {
            // A watch shows whether the list was of use.
            Ok(Step::Listed) => {}
            Ok(Step::Watched) => pauses.reset(),
            Ok(Step::Nothing | Step::Forgotten) => rest(pauses.take()).await,
            Err(trouble) => {
                let shared = &following.shared;
                if began.elapsed() > PAUSE_MAX {
                    pauses.reset();
                }
                Counters::add(&shared.counters.failures, 1);
                shared.said.say(&shared.place.url.authority, &trouble);
                rest(pauses.take()).await;
            }
        }
        following.shared.cache.sweep(Instant::now());
    }
}

impl Following {
    async fn list(&mut self) -> Result<Step, Trouble> {
        let (mut pods, mut next) = (Vec::new(), String::new());
        for _ in 0..PAGES_MAX {
            let answer = self.requests.list(&self.node, !self.wants_newest, &next).await?;
            if answer.status != 200 {
                return Err(Trouble::of(&answer));
            }
            let page = listed::read(&answer.body).map_err(Trouble::other)?;
            pods.extend(page.pods);
            next = page.next;
            if next.is_empty() {
                self.shared.cache.replace(pods, Instant::now());
                Counters::add(&self.shared.counters.lists, 1);
                self.is_well();
                self.version = Some(page.version);
                return Ok(Step::Listed);
            }
        }
        Err(Trouble::other("the list of pods has no end"))
    }

    async fn watch(&mut self, version: String) -> Result<Step, Trouble> {
        let seconds = WATCH_SECONDS + RandomState::new().hash_one(0) % WATCH_SECONDS;
        let began = Instant::now();
        let watched = self.requests.watch(&self.node, &version, seconds).await?;
        match watched.status {
            200 => {}
            410 => {
                self.forget();
                return Ok(Step::Forgotten);
            }
            status => {
                if !matches!(status, 401 | 403 | 429 | 500..) {
                    self.forget();
                }
                return Err(Trouble::of(&watched.whole().await));
            }
        }
        self.is_well();
        let until = tokio::time::Instant::now() + Duration::from_secs(seconds) + WATCH_LATE;
        match tokio::time::timeout_at(until, self.listen(watched)).await {
            Ok(Ok(0)) if began.elapsed() < WATCH_SHORT => Ok(Step::Nothing),
            Ok(Ok(_)) if self.version.is_none() => Ok(Step::Forgotten),
            Ok(Ok(_)) => Ok(Step::Watched),
            Ok(Err(trouble)) => Err(trouble),
            Err(_) => Err(Trouble::other("a watch did not end")),
        }
    }

    /// Takes the events of a watch to its end: how many there were.
    async fn listen(&mut self, mut watched: Streamed) -> Result<u64, Trouble> {
        let (mut reader, mut count) = (Reader::default(), 0);
        while let Some(piece) = watched.next().await.map_err(Trouble::other)? {
            let mut events = Vec::new();
            let read = reader.read(&piece, &mut |event| events.push(event));
            count += events.len() as u64;
            Counters::add(&self.shared.counters.events, events.len() as u64);
            for event in events {
                self.take(event)?;
                if self.version.is_none() {
                    return Ok(count);
                }
            }
            if let Err(malformed) = read {
                self.forget();
                return Err(Trouble::other(match malformed {
                    Malformed::TooLarge => "an event of the watch is too large".to_owned(),
                    Malformed::NoEvent(why) => format!("the watch brought no event: {why}"),
                }));
            }
            self.shared.cache.sweep(Instant::now());
        }
        Ok(count)
    }

    fn take(&mut self, event: Event) -> Result<(), Trouble> {
        let now = Instant::now();
        let version = match event {
            Event::Changed(pod, version) => {
                self.shared.cache.put(pod, now);
                version
            }
            Event::Deleted(pod, version) => {
                self.shared.cache.delete(&pod, now);
                version
            }
            Event::Bookmark(version) => version,
            Event::Gone(_) => {
                self.forget();
                return Ok(());
            }
            Event::Failed(words) => {
                self.forget();
                return Err(Trouble::other(format!("the watch ended: {words}")));
            }
        };
        if !version.is_empty() {
            self.version = Some(version);
        }
        Ok(())
    }

    fn forget(&mut self) {
        (self.version, self.wants_newest) = (None, true);
    }

    fn is_well(&self) {
        self.shared.said.is_well(&self.shared.place.url.authority);
    }
}

/// A pause, and up to as much again: many agents lose one server at the same moment.
pub async fn rest(pause: Duration) {
    let share = RandomState::new().hash_one(0) % 1000;
    tokio::time::sleep(pause + pause.mul_f64(share as f64 / 1000.0)).await;
}
