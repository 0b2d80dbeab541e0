//! Connections that have not asked anything yet. They have a short time for it, and when all connections are
//! taken, the one that has been there longest makes room for the next. One that has asked stays.

use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::timeout;

/// Those of one server.
#[derive(Default)]
pub struct Newcomers {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    next: u64,
    /// By their number, so the oldest first. Those that were told to go are not here any more.
    silent: BTreeMap<u64, Arc<Notify>>,
}

/// One connection's place among them, until it is dropped.
pub struct Newcomer {
    all: Arc<Newcomers>,
    number: u64,
    told: Arc<Notify>,
}

impl Newcomers {
    pub fn enter(self: &Arc<Newcomers>) -> Newcomer {
        let told = Arc::new(Notify::new());
        let mut state = self.state.lock();
        let number = state.next;
        state.next += 1;
        state.silent.insert(number, Arc::clone(&told));
        Newcomer { all: Arc::clone(self), number, told }
    }

    /// Tells the oldest to go, if there is one.
    pub fn make_room(&self) {
        if let Some((_, oldest)) = self.state.lock().silent.pop_first() {
            oldest.notify_one();
        }
    }
}

impl Newcomer {
    /// The connection has asked something that is answered.
    pub fn speaks(&self) {
        self.leave();
    }

    /// Waits until the connection is to go: it was told to, or has said nothing for `patience`. Whoever has
    /// something to read does that first. Never over once the connection has spoken.
    pub async fn is_to_go(&self, patience: Duration) {
        if timeout(patience, self.told.notified()).await.is_err() && !self.leave() {
            pending::<()>().await;
        }
    }

    /// Whether it was still among them.
    fn leave(&self) -> bool {
        self.all.state.lock().silent.remove(&self.number).is_some()
    }
}

impl Drop for Newcomer {
    fn drop(&mut self) {
        self.leave();
    }
}
