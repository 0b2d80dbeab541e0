//! The pods of one API server, for every parser that asks for the same; they outlive a reload.
//!
//! Nothing is asked before the first message or file wants to know: a configuration that is only checked
//! speaks with nobody.

use crate::asked::{self, Queue};
use crate::cache::{Cache, Size, State};
use crate::follow;
use crate::server::ApiServer;
use crate::trouble::Said;
use http_client::Network;
use parking_lot::Mutex;
use parsers::kubernetes::pods::{PodState, Pods, Server, Wake, Wanted, Wrong};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};
use tokio::task::AbortHandle;

/// Pods that are asked for alone: what is known is asked for again after this time, when it is wanted.
const FRESH: Duration = Duration::from_secs(300);
/// The same of a name that the server did not know.
const ABSENT: Duration = Duration::from_secs(60);
/// The same of a pod whose container has no id yet, so that it was just begun.
const BEGUN: Duration = Duration::from_secs(10);

/// Clients in use.
static CLIENTS: Mutex<Vec<Weak<Client>>> = Mutex::new(Vec::new());

/// What the client and what runs for it share.
pub struct Shared {
    pub place: Arc<ApiServer>,
    pub network: Arc<Network>,
    pub cache: Cache,
    pub queue: Queue,
    pub said: Said,
    pub counters: Counters,
}

#[derive(Default)]
pub struct Counters {
    pub with: AtomicU64,
    pub without: AtomicU64,
    /// Events of watches.
    pub events: AtomicU64,
    /// Lists that were read whole.
    pub lists: AtomicU64,
    /// Requests that brought nothing.
    pub failures: AtomicU64,
}

impl Counters {
    pub fn add(counter: &AtomicU64, more: u64) {
        counter.fetch_add(more, Ordering::Relaxed);
    }
}

pub struct Client {
    shared: Arc<Shared>,
    is_started: AtomicBool,
    running: Mutex<Vec<AbortHandle>>,
}

/// For [`parsers::kubernetes::pods::provide`].
pub fn open(server: &Server) -> Result<Option<Arc<dyn Pods>>, Wrong> {
    let Some(place) = ApiServer::find(server, &|name| std::env::var_os(name))? else { return Ok(None) };
    let network = place.network(server.ca_file.is_some())?;
    let mut clients = CLIENTS.lock();
    clients.retain(|client| client.strong_count() > 0);
    let known = clients.iter().filter_map(Weak::upgrade).find(|client| *client.shared.place == place);
    let client = known.unwrap_or_else(|| {
        let client = Client::new(place, network);
        clients.push(Arc::downgrade(&client));
        client
    });
    Ok(Some(client))
}

/// Of all clients in use.
pub(crate) fn places() -> Vec<ApiServer> {
    CLIENTS.lock().iter().filter_map(Weak::upgrade).map(|client| (*client.shared.place).clone()).collect()
}

impl Client {
    fn new(place: ApiServer, network: Arc<Network>) -> Arc<Client> {
        let shared = Shared {
            place: Arc::new(place),
            network,
            cache: Cache::default(),
            queue: Queue::default(),
            said: Said::default(),
            counters: Counters::default(),
        };
        let (is_started, running) = (AtomicBool::new(false), Mutex::default());
        Arc::new(Client { shared: Arc::new(shared), is_started, running })
    }

    /// Begins to ask, unless it has.
    fn start(&self) {
        if self.is_started.load(Ordering::Relaxed) || self.is_started.swap(true, Ordering::Relaxed) {
            return;
        }
        let runtime = match guest::handle() {
            Ok(runtime) => runtime,
            Err(error) => {
                self.is_started.store(false, Ordering::Relaxed);
                oplog::limited(
                    "kubernetes-runtime",
                    oplog::Level::Error,
                    "Cannot start a client of Kubernetes",
                    &[("error", &error)],
                );
                return;
            }
        };
        let mut running = self.running.lock();
        match &self.shared.place.node {
            Some(node) => {
                let follow = follow::run(Arc::clone(&self.shared), node.clone());
                running.push(runtime.spawn(follow).abort_handle());
            }
            None => running.extend(
                (0..asked::ASKERS)
                    .map(|_| runtime.spawn(asked::run(Arc::clone(&self.shared))).abort_handle()),
            ),
        }
    }

    /// Whether a pod is to be asked for by itself.
    fn asks(&self, state: &State, now: Instant) -> bool {
        if self.shared.place.node.is_some() {
            return false;
        }
        let Some(asked) = state.asked else { return true };
        let since = now.duration_since(asked);
        match &state.pod {
            Some(pod) if pod.containers.iter().any(|container| container.id.is_empty()) => since >= BEGUN,
            Some(_) => since >= FRESH,
            None => state.is_absent && since >= ABSENT,
        }
    }
}

impl Pods for Client {
    fn find(&self, wanted: &Wanted<'_>) -> PodState {
        self.start();
        let now = Instant::now();
        let (state, asks) = self.shared.cache.find(wanted, now, |state| self.asks(state, now));
        if asks {
            self.shared.queue.push(wanted.namespace, wanted.pod);
        }
        match state {
            State { pod: Some(pod), .. } => PodState::Known(pod),
            State { is_absent: true, .. } => PodState::Absent,
            // Nothing will be known in a moment.
            _ if self.shared.said.is_refused() => PodState::Absent,
            _ => PodState::NotYet,
        }
    }

    fn when_known(&self, wanted: &Wanted<'_>, wake: Wake) {
        self.shared.cache.when_known(wanted, wake);
    }

    fn count(&self, with: u64, without: u64) {
        Counters::add(&self.shared.counters.with, with);
        Counters::add(&self.shared.counters.without, without);
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.running.get_mut().iter().for_each(AbortHandle::abort);
    }
}

/// What one client has done since it began, and what it knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statistics {
    /// Whom it asks: name and port, and the path where there is one.
    pub server: String,
    /// Messages with what is known of their pod, and without.
    pub with: u64,
    pub without: u64,
    pub events: u64,
    pub lists: u64,
    pub failures: u64,
    pub pods: usize,
    pub bytes: usize,
    pub left_out: u64,
}

/// Of all clients that were started.
pub fn statistics() -> Vec<Statistics> {
    let clients: Vec<Arc<Client>> = CLIENTS.lock().iter().filter_map(Weak::upgrade).collect();
    let started = clients.iter().filter(|client| client.is_started.load(Ordering::Relaxed));
    started
        .map(|client| {
            let Shared { place, cache, counters, .. } = &*client.shared;
            let Size { pods, bytes, left_out } = cache.size();
            let value = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
            Statistics {
                server: format!("{}{}", place.url.authority, place.url.path),
                with: value(&counters.with),
                without: value(&counters.without),
                events: value(&counters.events),
                lists: value(&counters.lists),
                failures: value(&counters.failures),
                pods,
                bytes,
                left_out,
            }
        })
        .collect()
}
