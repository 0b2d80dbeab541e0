//! What destinations that send batches and get answers have in common: `batch-lines()` and its kin,
//! `workers()`, `retries()`.

use crate::balanced::{Balance, Balanced, Spread, width};
use crate::single::{Prepare, SingleDestination, SinkContext, alike};
use crate::writer::Writer;
use crate::writing;
use diag::Reported;
use driver_options::Reading;
use engine::driver::Destination;
use engine::{QueueLimits, Sink};
use flight::Limits;
use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;
use template::{Identity, Template};

pub struct Batching {
    /// Of all outlets together; [`Batching::destination`] gives each its share of throttle().
    pub limits: Limits,
    pub workers: usize,
    /// What there is to do before the first message; the first worker does it.
    pub prepare: Option<Prepare>,
    key: Option<(Arc<Template>, String)>,
    spread: Option<(Arc<Spread>, String)>,
}

/// Who makes the sink of an outlet.
pub type MakeFlight = Arc<dyn Fn(SinkContext, Limits) -> Box<dyn Sink> + Send + Sync>;

impl Batching {
    /// Reads the group of options.
    pub fn read(r: &mut Reading<'_>) -> Result<Batching, Reported> {
        let s = r.s;
        let count = |name| s.int(name).and_then(|n| usize::try_from(n).ok()).unwrap_or(0);
        let wait = |name| s.int(name).and_then(|n| u64::try_from(n).ok()).filter(|ms| *ms > 0);
        let limits = Limits {
            lines: count("batch-lines"),
            bytes: s.size("batch-bytes").and_then(|n| usize::try_from(n).ok()).unwrap_or(0),
            timeout: wait("batch-timeout").map(Duration::from_millis),
            idle: wait("batch-idle-timeout").map(Duration::from_millis),
            retries: count("retries") as u32,
            time_reopen: writing::time_reopen(s),
            throttle: writing::throttle(s),
            ..Limits::default()
        };
        let key = match s.template("worker-partition-key") {
            Some(text) => Some((r.compile(&text.text, text.span)?, text.text.clone())),
            None => None,
        };
        let spread = spread(r, key.is_some())?;
        Ok(Batching { limits, workers: count("workers").max(1), prepare: None, key, spread })
    }

    /// One outlet for each worker, which together are one destination. The throttle is the flight's: a paced
    /// outlet is not stalled.
    pub fn destination(
        self,
        (driver, instance): (&'static str, String),
        mut writer: Writer,
        queue: QueueLimits,
        identity: &Identity,
        make: &MakeFlight,
    ) -> Arc<dyn Destination> {
        writer.throttle = 0;
        let mut limits = self.limits;
        limits.keyed = writer.parts.as_ref().is_some_and(|parts| parts.are_keys());
        limits.throttle = limits.throttle.div_ceil(self.workers as u32);
        let prepare = Cell::new(self.prepare);
        let one = |at: usize, writer: Writer| {
            let (limits, make) = (limits.clone(), Arc::clone(make));
            let make = Box::new(move |place| make(place, limits.clone()));
            let mut made = SingleDestination::new((driver, instance.clone()), writer, queue, true, make);
            match at {
                0 => made.prepare = prepare.take(),
                at => made.part = format!("worker {at}"),
            }
            made
        };
        if self.workers == 1 {
            return Arc::new(one(0, writer));
        }
        let outlets = alike((0..self.workers).collect(), writer, identity, one);
        Arc::new(Balanced::new(&Balance::between_workers(self.key, self.spread), outlets))
    }
}

/// How many workers share the messages of one key, where that is not one.
fn spread(r: &mut Reading<'_>, has_key: bool) -> Result<Option<(Arc<Spread>, String)>, Reported> {
    const BUCKETS: &str = "worker-partition-buckets";
    const SCALING: &str = "worker-partition-autoscaling";
    let buckets = r.s.template(BUCKETS).map(|text| (text.text.clone(), text.span));
    let scales = r.s.bool(SCALING) == Some(true);
    let name = if buckets.is_some() { BUCKETS } else { SCALING };
    match (buckets, scales) {
        (None, false) => Ok(None),
        (Some(_), true) => {
            let text = format!("{BUCKETS}() and {SCALING}() both say how many workers share a key");
            r.wrong_at(r.s.span(SCALING), text, "leave one of them out")
        }
        _ if !has_key => {
            let text = format!("{name}() shares the messages of a key, and there is none");
            r.wrong_at(r.s.span(name), text, "add `worker-partition-key(\"$HOST\")`, or leave it out")
        }
        (None, true) => Ok(Some((Arc::new(Spread::seen()), format!(" {SCALING}")))),
        (Some((text, span)), false) => {
            let template = r.compile(&text, span)?;
            if template.literal().is_some_and(|text| width(text).to_string().as_bytes() != text.trim_ascii())
            {
                let text = format!("`{text}` is no number of workers");
                return r.wrong_at(Some(span), text, "write `worker-partition-buckets(4)`");
            }
            Ok(Some((Arc::new(Spread::said(template)), format!(" {BUCKETS} {text}"))))
        }
    }
}
