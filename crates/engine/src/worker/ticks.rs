//! Once a second parsers with contexts are run without a message, so that what is due by the clock comes out.

use super::port::PortContext;
use crate::program::Program;
use crate::source;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// A tick for the sources this worker looks after.
pub(super) fn run(cx: &mut PortContext) {
    for source in cx.shared.stateful(cx.handle.index()) {
        tick(cx, &source.settings().program);
    }
}

/// Runs a program for what its contexts have to say, and hands the output over.
pub(crate) fn tick(cx: &mut PortContext, program: &Arc<Program>) {
    let mut batch = cx.batch();
    batch.received = cx.now();
    let run = || source::tick(program, &mut batch, &mut cx.machine, &mut cx.scratch, &mut cx.outbox);
    if catch_unwind(AssertUnwindSafe(run)).is_err() {
        cx.outbox.roll_back();
    }
    if !batch.records.is_empty() {
        let ticket = cx.made.ticket(batch.footprint(), batch.records.len());
        cx.outbox.end_batch(&ticket);
        ticket.settle();
        cx.outbox.flush();
    }
    cx.recycle(batch);
}
