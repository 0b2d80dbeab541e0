//! The pods that are known, by namespace and name, within bounds.
//!
//! A pod that is deleted is known for a while longer: its last lines are still read. One of the same name
//! may have come after it, so each name may have several, told apart by their UID and their containers' ids.

use crate::pod::weight;
use parking_lot::Mutex;
use parsers::kubernetes::pods::{Pod, Wake, Wanted};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Names that are kept, those that are asked about and not known included.
pub const NAMES_MAX: usize = 10_000;
/// Bytes of their pods.
pub const BYTES_MAX: usize = 64 << 20;
/// Pods of one name.
const SAME_MAX: usize = 3;
/// How long a pod that is deleted, or a name nobody knows, is kept since it was last wanted.
const KEPT: Duration = Duration::from_secs(600);
/// How often it is looked for what need not be kept any more.
const SWEEP: Duration = Duration::from_secs(30);
/// Files that wait for one pod; further ones look again each second.
const WAITING_MAX: usize = 64;

#[derive(Default)]
pub struct Cache {
    inner: Mutex<Inner>,
}

struct Inner {
    names: HashMap<Box<str>, Entry>,
    bytes: usize,
    swept: Instant,
    left_out: u64,
}

impl Default for Inner {
    fn default() -> Inner {
        Inner { names: HashMap::new(), bytes: 0, swept: Instant::now(), left_out: 0 }
    }
}

struct Entry {
    /// The one that is there now, or was last, at the end.
    pods: Vec<Arc<Pod>>,
    /// None of them is there any more.
    is_gone: bool,
    used: Instant,
    /// When it was last asked for, where each is asked for alone.
    asked: Option<Instant>,
    /// The server has said that there is none.
    is_absent: bool,
    waiting: Vec<Wake>,
}

impl Entry {
    fn new(now: Instant) -> Entry {
        Entry {
            pods: Vec::new(),
            is_gone: false,
            used: now,
            asked: None,
            is_absent: false,
            waiting: Vec::new(),
        }
    }

    fn weight(&self) -> usize {
        self.pods.iter().map(|pod| weight(pod)).sum()
    }

    /// The pod that is meant. Where a UID says so it is that one or none; by the id of a container it may be
    /// one whose container is not known yet.
    fn find(&self, wanted: &Wanted<'_>) -> Option<Arc<Pod>> {
        let has = |id: &str, pod: &Pod| pod.containers.iter().any(|container| *container.id == *id);
        let found = match (wanted.uid, wanted.id) {
            (Some(uid), _) => self.pods.iter().rfind(|pod| *pod.uid == *uid),
            (None, Some(id)) => self.pods.iter().rfind(|pod| has(id, pod)).or(self.pods.last()),
            (None, None) => self.pods.last(),
        };
        found.cloned()
    }
}

/// What is known of a name, beside a pod.
#[derive(Debug, PartialEq, Eq)]
pub struct State {
    pub pod: Option<Arc<Pod>>,
    pub is_absent: bool,
    pub asked: Option<Instant>,
}

/// How much is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    pub pods: usize,
    pub bytes: usize,
    /// Names that were let go although they were wanted, since the start.
    pub left_out: u64,
}

impl Cache {
    /// What is known; a name that is not known is noted. `ask` says whether it is to be asked for by what is
    /// known of it, which is noted too.
    pub fn find(&self, wanted: &Wanted<'_>, now: Instant, ask: impl FnOnce(&State) -> bool) -> (State, bool) {
        let key = key(wanted.namespace, wanted.pod);
        let mut inner = self.inner.lock();
        if !inner.names.contains_key(&*key) {
            inner.make_room(now);
        }
        let entry = inner.names.entry(key).or_insert_with(|| Entry::new(now));
        entry.used = now;
        let state = State { pod: entry.find(wanted), is_absent: entry.is_absent, asked: entry.asked };
        let asks = ask(&state);
        if asks {
            entry.asked = Some(now);
        }
        (state, asks)
    }

    /// Calls `wake` when the pod is known: at once where it is by now.
    pub fn when_known(&self, wanted: &Wanted<'_>, wake: Wake) {
        let mut inner = self.inner.lock();
        let entry = inner.names.get_mut(&*key(wanted.namespace, wanted.pod));
        match entry {
            Some(entry) if entry.find(wanted).is_none() && !entry.is_absent => {
                if entry.waiting.len() < WAITING_MAX {
                    entry.waiting.push(wake);
                }
            }
            _ => {
                drop(inner);
                wake();
            }
        }
    }

    /// A pod as it is now.
    pub fn put(&self, pod: Pod, now: Instant) {
        let mut inner = self.inner.lock();
        let key = key(&pod.namespace, &pod.name);
        if !inner.names.contains_key(&*key) {
            inner.make_room(now);
        }
        let entry = inner.names.entry(key).or_insert_with(|| Entry::new(now));
        let before = entry.weight();
        let pod = Arc::new(pod);
        match entry.pods.iter_mut().find(|known| known.uid == pod.uid) {
            Some(known) => *known = pod,
            None => {
                if entry.pods.len() >= SAME_MAX {
                    entry.pods.remove(0);
                }
                entry.pods.push(pod);
            }
        }
        (entry.is_gone, entry.is_absent) = (false, false);
        let (after, waiting) = (entry.weight(), std::mem::take(&mut entry.waiting));
        inner.bytes = inner.bytes.saturating_add(after).saturating_sub(before);
        inner.make_room(now);
        drop(inner);
        waiting.into_iter().for_each(|wake| wake());
    }

    /// The pod of this name is deleted.
    pub fn delete(&self, pod: &Pod, now: Instant) {
        let mut inner = self.inner.lock();
        if let Some(entry) = inner.names.get_mut(&*key(&pod.namespace, &pod.name))
            && entry.pods.last().is_some_and(|last| last.uid == pod.uid)
        {
            (entry.is_gone, entry.used) = (true, now);
        }
    }

    /// The server knows no pod of this name.
    pub fn is_absent(&self, namespace: &str, name: &str, now: Instant) {
        let mut inner = self.inner.lock();
        let Some(entry) = inner.names.get_mut(&*key(namespace, name)) else { return };
        (entry.is_absent, entry.is_gone) = (entry.pods.is_empty(), true);
        entry.asked = Some(now);
        let waiting = std::mem::take(&mut entry.waiting);
        drop(inner);
        waiting.into_iter().for_each(|wake| wake());
    }

    /// These are all pods there are now.
    pub fn replace(&self, pods: Vec<Pod>, now: Instant) {
        let there: HashSet<Box<str>> = pods.iter().map(|pod| key(&pod.namespace, &pod.name)).collect();
        for (name, entry) in &mut self.inner.lock().names {
            if !entry.pods.is_empty() && !there.contains(name) {
                (entry.is_gone, entry.used) = (true, if entry.is_gone { entry.used } else { now });
            }
        }
        pods.into_iter().for_each(|pod| self.put(pod, now));
    }

    pub fn size(&self) -> Size {
        let inner = self.inner.lock();
        let pods = inner.names.values().filter(|entry| !entry.pods.is_empty()).count();
        Size { pods, bytes: inner.bytes, left_out: inner.left_out }
    }

    /// Lets go of what nobody wants any more.
    pub fn sweep(&self, now: Instant) {
        let mut inner = self.inner.lock();
        if now.duration_since(inner.swept) >= SWEEP {
            inner.sweep(now);
        }
    }
}

impl Inner {
    fn sweep(&mut self, now: Instant) {
        self.swept = now;
        let mut bytes = 0;
        self.names.retain(|_, entry| {
            let is_wanted = now.duration_since(entry.used) < KEPT;
            let is_kept = is_wanted || !(entry.is_gone || entry.pods.is_empty());
            if is_kept && !entry.is_gone && !is_wanted {
                // Those before it have no lines left.
                entry.pods.drain(..entry.pods.len().saturating_sub(1));
            }
            bytes += if is_kept { entry.weight() } else { 0 };
            is_kept
        });
        self.bytes = bytes;
    }

    /// Where it is full, lets go of what was wanted longest ago, first of names that nobody knows and of what
    /// is not there any more: of a sixteenth at once, so that it is not looked for with each new name.
    fn make_room(&mut self, now: Instant) {
        if self.names.len() < NAMES_MAX && self.bytes <= BYTES_MAX {
            return;
        }
        self.sweep(now);
        let order = |entry: &Entry| (!entry.is_gone && !entry.pods.is_empty(), entry.used);
        let mut all: Vec<_> = self.names.iter().map(|(name, entry)| (order(entry), name.clone())).collect();
        all.sort_unstable();
        let before = self.left_out;
        for (_, name) in all {
            if self.names.len() <= NAMES_MAX / 16 * 15 && self.bytes <= BYTES_MAX / 16 * 15 {
                break;
            }
            let Some(entry) = self.names.remove(&name) else { continue };
            self.bytes = self.bytes.saturating_sub(entry.weight());
            self.left_out += u64::from(!entry.pods.is_empty());
        }
        if self.left_out > before {
            oplog::limited(
                "kubernetes-pods-left-out",
                oplog::Level::Warning,
                "Too many pods to be known, those that were wanted longest ago are let go",
                &[("names_max", &NAMES_MAX), ("bytes_max", &BYTES_MAX)],
            );
        }
    }
}

fn key(namespace: &str, name: &str) -> Box<str> {
    format!("{namespace}/{name}").into()
}

#[cfg(test)]
mod tests;
