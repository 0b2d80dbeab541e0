//! Pods that are asked for one by one, where the node is not known.

use crate::client::{Counters, Shared};
use crate::follow::rest;
use crate::requests::Requests;
use crate::trouble::{Kind, Trouble};
use guest::Pauses;
use parking_lot::Mutex;
use serde_json::Value;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// Pods that are asked for at the same time.
pub const ASKERS: usize = 4;
/// Pods that wait to be asked for; each is there once, as it is noted when it is.
const QUEUE_MAX: usize = crate::cache::NAMES_MAX;
const PAUSE_MAX: Duration = Duration::from_secs(30);

#[derive(Default)]
pub struct Queue {
    names: Mutex<VecDeque<(Box<str>, Box<str>)>>,
    filled: Notify,
}

impl Queue {
    pub fn push(&self, namespace: &str, name: &str) {
        let mut names = self.names.lock();
        if names.len() >= QUEUE_MAX {
            names.pop_front();
        }
        names.push_back((namespace.into(), name.into()));
        drop(names);
        self.filled.notify_one();
    }

    async fn next(&self) -> (Box<str>, Box<str>) {
        loop {
            let (next, is_more) = {
                let mut names = self.names.lock();
                (names.pop_front(), !names.is_empty())
            };
            if is_more {
                self.filled.notify_one();
            }
            match next {
                Some(next) => return next,
                None => self.filled.notified().await,
            }
        }
    }
}

/// Asks for what is in the queue, for ever.
pub async fn run(shared: Arc<Shared>) {
    let mut requests = Requests::new(&shared.place, &shared.network);
    let mut pauses = Pauses::new(PAUSE_MAX);
    loop {
        let (namespace, name) = shared.queue.next().await;
        while let Err(trouble) = ask(&shared, &mut requests, &namespace, &name).await {
            Counters::add(&shared.counters.failures, 1);
            shared.said.say(&shared.place.url.authority, &trouble);
            if trouble.kind == Kind::Rights {
                // The account may see pods of other namespaces.
                shared.cache.is_absent(&namespace, &name, Instant::now());
                break;
            }
            rest(pauses.take()).await;
        }
        pauses.reset();
        shared.cache.sweep(Instant::now());
    }
}

async fn ask(shared: &Shared, requests: &mut Requests, namespace: &str, name: &str) -> Result<(), Trouble> {
    let answer = requests.pod(namespace, name).await?;
    let now = Instant::now();
    match answer.status {
        200 => {
            let value: Value = serde_json::from_slice(&answer.body)
                .map_err(|error| Trouble::other(format!("no pod: {error}")))?;
            let (pod, _) = crate::pod::of(&value).ok_or_else(|| Trouble::other("no pod is in the answer"))?;
            shared.cache.put(pod, now);
        }
        // It is asked for again, whatever the server means by it.
        400 | 404 | 405 | 410 => shared.cache.is_absent(namespace, name, now),
        _ => return Err(Trouble::of(&answer)),
    }
    shared.said.is_well(&shared.place.url.authority);
    Ok(())
}
