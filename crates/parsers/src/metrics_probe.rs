//! `metrics-probe()`: messages counted by what they contain, shown with the program's statistics.

mod labels;
pub(crate) mod registry;

pub use registry::{Metric, configure, snapshot};

use crate::build::Build;
use crate::parse::{Parse, Writes};
use conf_schema::{Component, Context, Cost, Kind, OptionSpec as Opt, Preset, Settings};
use filter::{FilterContext, new_asker};
use labels::Labels;
use record::Seed;
use record::{Batch, Demand};
use registry::Cell;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use template::{Msg, Template};

pub static METRICS_PROBE: Component = Component {
    context: Context::Parser,
    name: "metrics-probe",
    aliases: &[],
    positional: &[],
    groups: &[],
    own: &[
        Opt::new(
            "key",
            Kind::Text,
            Preset::Text("classified_events_total"),
            "The name of the counter; `syslogng_` is put in front of it.",
        ),
        Opt::new(
            "labels",
            Kind::Any,
            Preset::Described("`app`, `host`, `program` and `source` of the message, where no key() is given either"),
            "Names and templates, `\"host\" => \"$HOST\"`, or the options of `map-value-pairs()`, such as `key(\".app.*\")`, or both: \
             each set of values is a counter of its own. Empty values are left out. Take care that there \
             are few: a counter stays until the program ends. There are at most as many as the global `stats(max-dynamics())` says.",
        )
        .collects(),
        Opt::new(
            "increment",
            Kind::Template,
            Preset::Text("1"),
            "By how much a message counts: a template that gives a whole number. A message that has none does not count.",
        ),
        Opt::new(
            "level",
            Kind::Int { min: 0, max: 4 },
            Preset::Int(0),
            "Counts only where the global `stats(level())` is at least this.",
        ),
        Opt::no_effect("internal", "every named parser is counted"),
    ],
    presets: &[],
    not_yet: &[],
    summary: "Counts messages by the values of labels. Never changes a message, and every message passes. See the counters with \
              `penstock ctl stats prometheus`.",
    example: "metrics-probe(key(\"logins_total\") labels(\"user\" => \"${.kv.user}\" \"host\" => \"$HOST\") increment(\"1\"))",
    cost: Some(Cost::example("The labels are made and looked up once a message; a counter is added to once a batch. A probe above the level of `stats()` costs nothing.")),
};

/// Sets of values a worker remembers; a table that is full starts anew.
const REMEMBERED_MAX: usize = 1 << 14;

struct Probe {
    key: Arc<str>,
    labels: Labels,
    /// `None` for 1.
    increment: Option<Arc<Template>>,
    level: u8,
    asker: u64,
}

/// What a worker keeps.
struct Memory {
    known: HashMap<Box<[u8]>, usize, Seed>,
    cells: Vec<Pending>,
    /// Cells with something to add at the end of the batch.
    touched: Vec<usize>,
    text: Vec<u8>,
}

/// A counter, if there is room for it, and what this batch adds to it.
struct Pending {
    cell: Option<Arc<Cell>>,
    add: u64,
}

pub fn build(settings: &Settings, b: &mut Build<'_>) -> Option<Arc<dyn Parse>> {
    let key = settings.text("key").unwrap_or_default();
    if key.is_empty() {
        b.wrong("key() is empty", settings.span("key"), "as key(\"logins_total\")");
    }
    let labels = Labels::read(settings, b);
    let increment = match settings.is_set("increment") {
        true => Some(b.template(&settings.template("increment").cloned()?)?),
        false => {
            let _ = settings.text("increment");
            None
        }
    };
    let labels = labels.filter(|_| !key.is_empty())?;
    let level = settings.int("level").and_then(|n| u8::try_from(n).ok()).unwrap_or(0);
    Some(Arc::new(Probe { key: key.into(), labels, increment, level, asker: new_asker() }))
}

impl Probe {
    fn amount(&self, batch: &Batch, index: usize, cx: &mut FilterContext) -> u64 {
        let (Some(template), Some(record)) = (&self.increment, batch.records.get(index)) else { return 1 };
        let mut text = cx.work.text();
        template.render(Msg { batch, record }, &mut cx.render, &mut text);
        let amount = str::from_utf8(text.trim_ascii()).ok().and_then(|t| t.parse().ok()).unwrap_or(0);
        cx.work.keep_text(text);
        amount
    }

    fn count(&self, batch: &Batch, index: usize, memory: &mut Memory, cx: &mut FilterContext) {
        let amount = self.amount(batch, index, cx);
        let Some(record) = batch.records.get(index).filter(|_| amount > 0) else { return };
        let Memory { known, cells, touched, text } = memory;
        text.clear();
        let msg = Msg { batch, record };
        self.labels.render(msg, &mut cx.render, text);
        let at = match known.get(text.as_slice()) {
            Some(at) => *at,
            None => {
                let labels = self.labels.values(msg, &mut cx.render, text);
                cells.push(Pending { cell: registry::cell(&self.key, labels, self.level), add: 0 });
                known.insert(text.as_slice().into(), cells.len() - 1);
                cells.len() - 1
            }
        };
        if let Some(pending) = cells.get_mut(at) {
            if pending.add == 0 {
                touched.push(at);
            }
            pending.add = pending.add.saturating_add(amount);
        }
    }
}

impl Memory {
    fn new() -> Memory {
        let known = HashMap::with_hasher(Seed::random());
        Memory { known, cells: Vec::new(), touched: Vec::new(), text: Vec::new() }
    }

    /// The end of a batch.
    fn settle(&mut self) {
        for at in self.touched.drain(..) {
            let Some(pending) = self.cells.get_mut(at) else { continue };
            let add = std::mem::take(&mut pending.add);
            match &pending.cell {
                Some(cell) => {
                    cell.fetch_add(add, Ordering::Relaxed);
                }
                None => registry::left_out(),
            }
        }
        if self.known.len() >= REMEMBERED_MAX {
            self.known.clear();
            self.cells.clear();
        }
    }
}

impl Parse for Probe {
    fn parse(&self, batch: &mut Batch, selection: &mut Vec<u32>, cx: &mut FilterContext) {
        if self.level > registry::level() {
            return;
        }
        let mut memory = cx.work.take_state(self.asker, Memory::new);
        for index in selection.iter() {
            self.count(batch, *index as usize, &mut memory, cx);
        }
        memory.settle();
        cx.work.keep_state(self.asker, memory);
    }

    fn reads(&self, demand: &mut Demand) {
        self.labels.reads(demand);
        self.increment.iter().for_each(|template| template.reads(demand));
    }

    fn writes(&self) -> Writes {
        Writes::default()
    }
}

#[cfg(test)]
mod tests;
