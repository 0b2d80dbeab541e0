//! Why nothing is done at a moment: sources are quiet, or they are held, and by whom.

use crate::lookout::edges::Edge;
use engine::View;
use engine::driver::Destination;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a source that is not read waits for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// Its own window: what it sent waits for something that is not late.
    Window { source: String, destination: String },
    /// A disk: of a file, or of a queue on disk.
    Disk { source: String, destination: String },
    /// Whoever reads, at the other end.
    Destination { source: String, destination: String },
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
            Cause::Memory { .. } => "memory",
        }
    }

    pub fn source(&self) -> &str {
        match self {
            Cause::Window { source, .. }
            | Cause::Disk { source, .. }
            | Cause::Destination { source, .. }
            | Cause::Memory { source } => source,
        }
    }

    pub fn destination(&self) -> Option<&str> {
        match self {
            Cause::Window { destination, .. }
            | Cause::Disk { destination, .. }
            | Cause::Destination { destination, .. } => Some(destination),
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
    let waiting = reached.filter_map(|edge| {
        let (id, destination) = view.destinations.get(edge.destination)?;
        let (messages, is_well) = standing(destination);
        (messages > 0 && (edge.flow_control || !is_well)).then_some((messages, is_well, id, destination))
    });
    match waiting.max_by_key(|(messages, ..)| *messages) {
        None => Cause::Memory { source },
        Some((_, is_well, id, destination)) => {
            let name = id.clone();
            match (is_well, is_of_disk(destination)) {
                (true, _) => Cause::Window { source, destination: name },
                (false, true) => Cause::Disk { source, destination: name },
                (false, false) => Cause::Destination { source, destination: name },
            }
        }
    }
}

/// Messages that wait, and whether all of them wait for what is not late.
fn standing(destination: &Arc<dyn Destination>) -> (usize, bool) {
    let standings = destination.outlets().into_iter().map(|outlet| outlet.standing());
    standings.filter(|standing| standing.messages > 0).fold((0, true), |(messages, is_well), standing| {
        (messages + standing.messages, is_well && standing.is_well)
    })
}

/// What it writes, or where its messages wait, is on a disk of this machine.
pub fn is_of_disk(destination: &Arc<dyn Destination>) -> bool {
    matches!(destination.described().0, "file" | "logstore")
        || destination.outlets().iter().any(|outlet| outlet.on_disk().is_some())
}
