//! Why nothing is done at a moment: sources are quiet, or they are held, and by whom.

use crate::lookout::edges::Edge;
use engine::driver::Destination;
use engine::{Headroom, Standing, View, Waits};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a source that is not read waits for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// Its own window: what it sent waits for something that is not late.
    Window { source: String, destination: String },
    /// A disk: of a file, or of a queue on disk.
    Disk { source: String, destination: String },
    /// Whoever reads, at the other end, or answers there.
    Destination { source: String, destination: String },
    /// throttle().
    Rate { source: String, destination: String },
    /// Its messages wait nowhere: the window of all sources together is used up.
    Memory { source: String },
}

impl Cause {
    /// The word by which people and scripts know it.
    pub fn name(&self) -> &'static str {
        match self {
            Cause::Window { .. } => "window",
            Cause::Disk { .. } => "disk",
            Cause::Destination { .. } => "destination",
            Cause::Rate { .. } => "rate",
            Cause::Memory { .. } => "memory",
        }
    }

    pub fn source(&self) -> &str {
        match self {
            Cause::Window { source, .. }
            | Cause::Disk { source, .. }
            | Cause::Destination { source, .. }
            | Cause::Rate { source, .. }
            | Cause::Memory { source } => source,
        }
    }

    pub fn destination(&self) -> Option<&str> {
        match self {
            Cause::Window { destination, .. }
            | Cause::Disk { destination, .. }
            | Cause::Destination { destination, .. }
            | Cause::Rate { destination, .. } => Some(destination),
            Cause::Memory { .. } => None,
        }
    }
}

/// How often each was met.
#[derive(Default)]
pub struct Causes {
    pub looks: u64,
    pub met: BTreeMap<Cause, u64>,
    /// Looks at which no source was held.
    pub free: u64,
}

impl Causes {
    pub fn look(&mut self, view: &View, edges: &[Edge]) {
        self.looks += 1;
        let mut is_free = true;
        for (at, source) in view.sources.iter().enumerate() {
            if source.counters.held.value() == 0 {
                continue;
            }
            is_free = false;
            *self.met.entry(cause(view, edges, at, &source.id)).or_default() += 1;
        }
        self.free += u64::from(is_free);
    }
}

/// The destination at which most waits is the one that holds it.
fn cause(view: &View, edges: &[Edge], at: usize, source: &str) -> Cause {
    let source = source.to_owned();
    let reached = edges.iter().filter(|edge| edge.source == at);
    let waiting = reached.clone().filter_map(|edge| {
        let (id, destination) = view.destinations.get(edge.destination)?;
        let waiting = Waiting::at(destination);
        (waiting.messages > 0 && (edge.flow_control || !waiting.is_well)).then_some((
            waiting,
            id,
            destination,
        ))
    });
    match waiting.max_by_key(|(waiting, ..)| waiting.messages) {
        // Delivered, but not safe on disk.
        None => match reached
            .filter_map(|edge| view.destinations.get(edge.destination))
            .find(|(_, d)| is_being_stored(d))
        {
            Some((id, _)) => Cause::Disk { source, destination: id.clone() },
            None => Cause::Memory { source },
        },
        Some((waiting, id, destination)) => {
            let name = id.clone();
            // A queue on disk that is full is as late as whoever is to get it.
            let is_disk = is_of_disk(destination) && !waiting.is_full;
            match waiting.waits {
                Waits::Rate => Cause::Rate { source, destination: name },
                Waits::Rest if waiting.is_well => Cause::Window { source, destination: name },
                _ if is_disk => Cause::Disk { source, destination: name },
                _ => Cause::Destination { source, destination: name },
            }
        }
    }
}

/// What waits at the outlets of a destination.
struct Waiting {
    messages: usize,
    /// All of it waits for what is not late.
    is_well: bool,
    waits: Waits,
    /// There is no more room on disk.
    is_full: bool,
}

impl Waiting {
    fn at(destination: &Arc<dyn Destination>) -> Waiting {
        let mut all = Waiting { messages: 0, is_well: true, waits: Waits::Rest, is_full: false };
        let standings = destination.outlets().into_iter().map(|outlet| outlet.standing());
        for standing in standings.filter(|standing| standing.messages > 0) {
            all.messages += standing.messages;
            all.is_well &= standing.is_well;
            all.is_full |= is_full(&standing);
            // A rate of one is a rate of all; a peer that is late counts more than who waits for more.
            all.waits = all.waits.max(standing.waits);
        }
        all
    }
}

/// Something that came to it is not safe on disk yet.
fn is_being_stored(destination: &Arc<dyn Destination>) -> bool {
    destination.outlets().into_iter().any(|outlet| outlet.standing().is_being_stored)
}

/// A queue on disk in which the next batch has no room, or nearly.
fn is_full(standing: &Standing) -> bool {
    matches!(standing.room, Some(Headroom::DiskBytes { used, max }) if used >= max - max / 8)
}

/// The same of a destination.
pub fn is_full_on_disk(destination: &Arc<dyn Destination>) -> bool {
    destination.outlets().into_iter().any(|outlet| is_full(&outlet.standing()))
}

/// What it writes, or where its messages wait, is on a disk of this machine.
pub fn is_of_disk(destination: &Arc<dyn Destination>) -> bool {
    matches!(destination.described().0, "file" | "logstore") || has_queue_on_disk(destination)
}

pub fn has_queue_on_disk(destination: &Arc<dyn Destination>) -> bool {
    destination.outlets().iter().any(|outlet| outlet.on_disk().is_some())
}
