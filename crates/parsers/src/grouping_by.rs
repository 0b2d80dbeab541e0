//! `grouping-by()`: messages with one key are collected until a condition or a timeout closes the group; then
//! a message is made of it.

mod run;

use crate::build::Build;
use crate::correlation::options::{KEY, PERSIST_NAME, SCOPE, SORT_KEY, TIMEOUT};
use crate::correlation::{Contexts, Grouped, Inherit, InjectMode, State, Synthetic, succeed};
use crate::options::PARSER_COUNTED;
use crate::parse::{Parse, Writes};
use conf_schema::{Component, Context, Cost, Group, Kind, OptionSpec as Opt, Preset, Settings, Word};
use diag::Reported;
use filter::{Filter, FilterContext, new_asker};
use record::{Batch, Demand, tag_id};
use std::sync::Arc;

const INJECT_MODES: &[Word] = &[
    Word::new("pass-through", "On in this log path, in front of the message that closed the group."),
    Word::new("aggregate-only", "The same, and the messages that were grouped do not go on."),
    Word::new("internal", "Out of internal()."),
];

const INHERIT_MODES: &[Word] = &[
    Word::new("context", "Everything of the last message, and values it has not from the ones before."),
    Word::new("last-message", "Everything of the last message."),
    Word::new(
        "none",
        "The stamp of the last message, and what the scope says is the same in all: HOST, PROGRAM, PID.",
    ),
];

static AGGREGATE: Group = Group {
    name: "aggregate",
    options: &[
        Opt::new(
            "value",
            Kind::Pairs,
            Preset::None,
            "A value of the made message: its name and a template, in which `${X}@1`, `${X}@2` ... are the last message of the group, \
             the one before it and so on.",
        )
        .collects(),
        Opt::new("tags", Kind::TextList, Preset::None, "Tags of the made message.").collects(),
        Opt::new(
            "inherit-mode",
            Kind::Choice(INHERIT_MODES),
            Preset::Text("context"),
            "What the made message takes over from the messages of its group.",
        ),
    ],
};

pub static GROUPING_BY: Component = Component {
    context: Context::Parser,
    name: "grouping-by",
    aliases: &[],
    positional: &[],
    groups: &[&PARSER_COUNTED],
    own: &[
        KEY,
        SORT_KEY,
        SCOPE,
        TIMEOUT,
        Opt::new(
            "where",
            Kind::Filter,
            Preset::Described("every message"),
            "Only messages that this matches are grouped; the others pass.",
        ),
        Opt::new(
            "trigger",
            Kind::Filter,
            Preset::Described("the timeout alone"),
            "A message for which this holds closes its group. `${X}@0` is the message, `${X}@1` the one before it.",
        ),
        Opt::new(
            "having",
            Kind::Filter,
            Preset::Described("every group"),
            "A group that is closed makes a message only if this holds, as `\"$(context-length)\" >= \"5\"`.",
        ),
        Opt::new("aggregate", Kind::Block(&[&AGGREGATE]), Preset::None, "The message that a group makes."),
        Opt::new(
            "inject-mode",
            Kind::Choice(INJECT_MODES),
            Preset::Text("pass-through"),
            "Where the made message goes.",
        ),
        Opt::new("prefix", Kind::Text, Preset::Text(""), "Put in front of the names of value()."),
        PERSIST_NAME,
    ],
    presets: &[],
    not_yet: &[],
    summary: "Collects messages that have a key in common and makes one message of each group when a condition holds or no further \
              message comes for a time. Groups are spread over locks by their key, so that all cores work on them; a message costs a \
              copy of what is read of it. At the end of the program, and when a reload removes the parser, open groups are closed as \
              by their timeout. The batches of one connection are not given to other cores.",
    example: "grouping-by(key(\"$HOST\") scope(program) timeout(30) trigger(message(\"logout\")) aggregate(value(\"count\" \
              \"$(context-length)\") tags(\"session\")))",
    cost: Some(Cost::example(
        "A message costs its key, a copy of what is read of it, and `trigger()`; `having()` and the aggregate are worked out once a group. Contexts are spread over 16 locks, each taken once a batch.",
    )),
};

struct GroupingBy {
    grouped: Grouped,
    select: Option<Filter>,
    trigger: Option<Condition>,
    having: Option<Condition>,
    aggregate: Synthetic,
    mode: InjectMode,
}

struct Condition {
    filter: Filter,
    /// It looks at other messages than the last.
    of_context: bool,
}

/// The options, and the contexts of one place in a log path.
struct Placed {
    by: Arc<GroupingBy>,
    contexts: Arc<Contexts<()>>,
    asker: u64,
}

pub fn build(settings: &Settings, b: &mut Build<'_>) -> Option<Arc<dyn Parse>> {
    let grouped = Grouped::build(settings, b, 60);
    let aggregate = aggregate(settings, b);
    let select = filter(settings, "where", b);
    let trigger = filter(settings, "trigger", b);
    let having = filter(settings, "having", b);
    let mode = settings.choice("inject-mode").and_then(InjectMode::named).unwrap_or_default();
    let by = GroupingBy {
        grouped: grouped?,
        select: select.ok()?,
        trigger: trigger.ok()?.map(Condition::new),
        having: having.ok()?.map(Condition::new),
        aggregate: aggregate?,
        mode,
    };
    let contexts = by.grouped.contexts(settings);
    Some(Arc::new(Placed { by: Arc::new(by), contexts, asker: new_asker() }))
}

/// The filter of this option, where it is given.
fn filter(settings: &Settings, name: &str, b: &mut Build<'_>) -> Result<Option<Filter>, Reported> {
    match settings.filter(name) {
        Some(expr) => Filter::compile(expr, b.env, b.diags).map(Some).ok_or(Reported),
        None => Ok(None),
    }
}

fn aggregate(settings: &Settings, b: &mut Build<'_>) -> Option<Synthetic> {
    let Some(block) = settings.block("aggregate") else {
        b.wrong(
            "grouping-by() needs aggregate()",
            None,
            "as aggregate(value(\"MESSAGE\" \"$(context-length)\"))",
        );
        return None;
    };
    let mut made = Synthetic {
        inherit: block.choice("inherit-mode").and_then(Inherit::named).unwrap_or_default(),
        ..Synthetic::default()
    };
    let prefix = settings.text("prefix").unwrap_or_default();
    let mut good = true;
    for pair in block.pairs("value") {
        let name = format!("{prefix}{}", pair.key.text);
        if b.stays_macro(&name, "value", pair.key.span) {
            continue;
        }
        match b.name(&name, pair.key.span).zip(b.template(&pair.value)) {
            Some(value) => made.values.push(value),
            None => good = false,
        }
    }
    for tag in block.list("tags") {
        match tag_id(&tag.text) {
            Some(tag) => made.tags.push(tag),
            None => {
                b.diags.error("A0103", "too many tags", tag.span);
                good = false;
            }
        }
    }
    good.then_some(made)
}

impl Condition {
    fn new(filter: Filter) -> Condition {
        let mut demand = Demand::default();
        filter.reads(&mut demand);
        Condition { filter, of_context: demand.context }
    }
}

impl Parse for Placed {
    fn parse(&self, batch: &mut Batch, selection: &mut Vec<u32>, cx: &mut FilterContext) {
        run::batch(self, batch, selection, cx);
    }

    fn reads(&self, demand: &mut Demand) {
        let by = &self.by;
        by.grouped.reads(demand);
        by.select.iter().for_each(|filter| filter.reads(demand));
        by.trigger.iter().chain(&by.having).for_each(|condition| condition.filter.reads(demand));
        by.aggregate.reads(demand);
    }

    fn writes(&self) -> Writes {
        let names = self.by.aggregate.names();
        Writes { tags: !self.by.aggregate.tags.is_empty(), ..Writes::names(names) }
    }

    fn state(&self) -> Option<Arc<dyn State>> {
        Some(Arc::clone(&self.contexts) as Arc<dyn State>)
    }

    fn with_state(&self, state: Option<Arc<dyn State>>) -> Option<Arc<dyn Parse>> {
        let contexts = succeed(&self.contexts, state);
        Some(Arc::new(Placed { by: Arc::clone(&self.by), contexts, asker: self.asker }))
    }
}

#[cfg(test)]
mod tests;
