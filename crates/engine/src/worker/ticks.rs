//! Once a second parsers with contexts are run without a message, so that what is due by the clock comes out.
//!
//! Contexts that end together come out in portions: the next one when what the last one made is dealt with,
//! but for [`PORTION_BYTES`]. So a slow destination with flow-control holds them, as it holds a source.

use super::handle::CONTEXTS;
use super::port::PortContext;
use crate::source::{Settings, Source};
use crate::window::Window;
use parsers::correlation::PORTION_BYTES;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// A source, and the log paths that it has or had before a reload.
pub(crate) type Ticked = (Arc<Source>, Arc<Settings>);

/// A tick for the sources this worker looks after. Whether there is more to do at once.
pub(super) fn run(cx: &mut PortContext) -> bool {
    let mut more = false;
    for source in cx.shared.stateful(cx.handle.index()) {
        // Woken when there is room again.
        if !cx.made.may_read(&cx.handle.waker(CONTEXTS)) {
            return false;
        }
        let settings = source.settings();
        more |= tick(cx, &source, &settings);
    }
    more
}

/// One portion of each. What they have made so far, where there is more.
pub(crate) fn portion(cx: &mut PortContext, of: &[Ticked]) -> Option<Arc<Window>> {
    let more = of.iter().fold(false, |more, (source, settings)| more | tick(cx, source, settings));
    more.then(|| Arc::clone(&cx.made))
}

/// Runs a program for what its contexts have to say, and hands the output over. Whether it has more to say.
fn tick(cx: &mut PortContext, source: &Source, settings: &Settings) -> bool {
    let mut batch = cx.batch();
    batch.received = cx.now();
    let run = || source.tick(settings, &mut batch, &mut cx.machine, &mut cx.scratch, &mut cx.outbox);
    let is_well = catch_unwind(AssertUnwindSafe(run)).is_ok();
    if !is_well {
        cx.outbox.roll_back();
    }
    if !batch.records.is_empty() {
        let ticket = cx.made.ticket(batch.footprint(), batch.records.len());
        cx.outbox.end_batch(&ticket);
        ticket.settle();
        cx.outbox.flush();
    }
    cx.recycle(batch);
    is_well && settings.program.is_behind()
}

/// What contexts may have under way: nobody waits for it but the contexts themselves.
pub(super) fn window(budget: &Arc<crate::window::Budget>) -> Arc<Window> {
    Window::new(PORTION_BYTES, None, Arc::clone(budget))
}
