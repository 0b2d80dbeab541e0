//! Which source's messages go to which destination, and whether it waits for that one: from the programs.

use engine::View;
use engine::driver::Destination;
use engine::ledger::DestinationCounters;
use engine::program::{Branch, Op, Program, Step};
use std::sync::Arc;

/// A destination that gets messages of a source.
pub struct Edge {
    /// Their places in the view.
    pub source: usize,
    pub destination: usize,
    /// A path between them has flow-control.
    pub flow_control: bool,
}

pub fn of(view: &View) -> Vec<Edge> {
    let mut edges = Vec::new();
    for (source, running) in view.sources.iter().enumerate() {
        let settings = running.settings();
        let mut found = Vec::new();
        steps(&settings.program, &settings.program.source_steps, false, &mut found);
        branches(&settings.program, &settings.program.branches.list, false, &mut found);
        for (counters, flow_control) in found {
            let known = view.destinations.iter().position(|(_, d)| Arc::ptr_eq(d.counters(), &counters));
            let Some(destination) = known else { continue };
            let same = |edge: &&mut Edge| edge.source == source && edge.destination == destination;
            match edges.iter_mut().find(same) {
                Some(edge) => edge.flow_control |= flow_control,
                None => edges.push(Edge { source, destination, flow_control }),
            }
        }
    }
    edges
}

type Reached = Vec<(Arc<DestinationCounters>, bool)>;

fn branches(program: &Program, list: &[Branch], outer: bool, found: &mut Reached) {
    for branch in list {
        steps(program, &branch.steps, branch.flow_control.unwrap_or(outer), found);
    }
}

fn steps(program: &Program, list: &[Step], flow_control: bool, found: &mut Reached) {
    let mut add = |destination: &Arc<dyn Destination>, flow_control| {
        found.push((Arc::clone(destination.counters()), flow_control));
    };
    for step in list {
        match &step.op {
            Op::Deliver(destination) => add(destination, flow_control),
            Op::DeliverOrdered(index) => {
                if let Some(ordered) = program.ordered.get(*index) {
                    add(&ordered.destination, ordered.flow_control);
                }
            }
            Op::Filter(_) | Op::Rewrite(_) | Op::Parse(_) | Op::FilterX(_) | Op::Fork(_) | Op::Join(_) => {}
        }
    }
    for step in list {
        if let Op::Fork(inner) | Op::Join(inner) = &step.op {
            branches(program, &inner.list, flow_control, found);
        }
    }
}
