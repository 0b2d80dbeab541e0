//! `group-lines()`: lines that came as messages of their own become one message again.

mod lines;

use crate::build::Build;
use crate::correlation::options::{KEY, PERSIST_NAME, SCOPE, SORT_KEY, TIMEOUT};
use crate::correlation::{
    Context, ContextId, Contexts, Emitted, Entry, Grouped, Handler, Inherit, InjectMode, Moment, Pass, Shard,
    State, Synthetic, succeed,
};
use crate::found::assign;
use crate::options::PARSER_COUNTED;
use crate::parse::{Parse, Writes};
use conf_schema::{Component, Cost, Kind, OptionSpec as Opt, Preset, Settings, Word};
use filter::{FilterContext, new_asker};
use lines::{Line, Lines};
use record::{Batch, Demand, NameId, ValueType};
use std::sync::Arc;
use wire::backtrace::{Backtrace, Look};

const MODES: &[Word] = &[
    Word::new("none", "All lines that come before the timeout are one message."),
    Word::new("indented", "A line that begins with a blank or tab belongs to the one before."),
    Word::new("prefix-garbage", "A message begins where the prefix matches and ends before the garbage.")
        .alias(&["regexp"]),
    Word::new("prefix-suffix", "A message begins where the prefix matches and ends behind the suffix."),
    Word::new("empty-line-separated", "An empty line ends a message."),
    Word::new(
        "smart",
        "A backtrace is one message, every other line is one of its own: those of Java and its kin, .NET, JavaScript, Python, Go, Ruby, \
         PHP, Dart and Rust.",
    ),
];

pub static GROUP_LINES: Component = Component {
    context: conf_schema::Context::Parser,
    name: "group-lines",
    aliases: &[],
    positional: &[],
    groups: &[&PARSER_COUNTED],
    own: &[
        KEY,
        SORT_KEY,
        SCOPE,
        TIMEOUT,
        Opt::new("multi-line-mode", Kind::Choice(MODES), Preset::Text("none"), "What begins and ends a message."),
        Opt::new(
            "multi-line-prefix",
            Kind::Regexp,
            Preset::None,
            "Begins a message, in the modes `prefix-garbage` and `prefix-suffix`.",
        ),
        Opt::new(
            "multi-line-garbage",
            Kind::Regexp,
            Preset::None,
            "From here on a line, and those up to the next prefix, are left out; with `prefix-suffix`, the suffix.",
        )
        .alias(&["multi-line-suffix"]),
        Opt::new(
            "line-separator",
            Kind::Text,
            Preset::Described("a line end"),
            "Stands between the lines of the made message.",
        ),
        PERSIST_NAME,
    ],
    presets: &[],
    not_yet: &[],
    summary: "Joins messages with one key, which are lines of a longer text, to one message: that of the last line, with all lines as its \
              MESSAGE. The lines themselves do not go on. The patterns are matched without a lock; a line costs a copy of what is read \
              of it. At the end of the program, and when a reload removes the parser, what is there is made a message. The batches of \
              one connection are not given to other cores.",
    example: "group-lines(key(\"$FILE_NAME\") timeout(10) multi-line-mode(indented))",
    cost: Some(Cost::example("A line costs its key, the look at how it begins and ends, and a copy of what is read of it; the patterns are matched in front of the lock of its context. A message is made once for all its lines.")),
};

/// The options.
struct GroupLines {
    grouped: Grouped,
    lines: Lines,
    separator: Box<[u8]>,
    made: Synthetic,
}

/// The options, and the contexts of one place in a log path.
struct Placed {
    by: Arc<GroupLines>,
    contexts: Arc<Contexts<Progress>>,
    asker: u64,
}

/// What the next line of a context is.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum After {
    /// Part of a message.
    #[default]
    Text,
    /// Left out up to the next prefix.
    Garbage,
}

/// What a context knows of its lines.
#[derive(Clone, Copy, Default)]
struct Progress {
    after: After,
    trace: Backtrace,
}

pub fn build(settings: &Settings, b: &mut Build<'_>) -> Option<Arc<dyn Parse>> {
    let grouped = Grouped::build(settings, b, 10);
    let by = GroupLines {
        lines: Lines::build(settings, b)?,
        grouped: grouped?,
        separator: settings.text("line-separator").unwrap_or("\n").as_bytes().into(),
        made: Synthetic { inherit: Inherit::Context, ..Synthetic::default() },
    };
    let contexts = by.grouped.contexts(settings);
    Some(Arc::new(Placed { by: Arc::new(by), contexts, asker: new_asker() }))
}

#[derive(Default)]
struct Work {
    pass: Pass,
    emitted: Emitted,
}

impl Parse for Placed {
    fn parse(&self, batch: &mut Batch, selection: &mut Vec<u32>, cx: &mut FilterContext) {
        let mut work = cx.work.take_state(self.asker, Work::default);
        let Work { pass, emitted } = &mut *work;
        emitted.clear();
        self.contexts.begin(pass, batch, selection, cx.render.now());
        for (position, index) in selection.iter().enumerate() {
            let Some(record) = batch.records.get(*index as usize) else { continue };
            let (patterns, slots) = (&mut cx.work.patterns, &mut cx.work.slots);
            let note = self.by.lines.look(batch.bytes(record.message), patterns, slots);
            pass.push(position, *index, note, self.contexts.seed(), |key| {
                self.by.grouped.write(batch, record, &mut cx.render, key)
            });
        }
        let mut run = Run { by: &self.by, batch, cx, emitted, early: 0 };
        let early = self.contexts.run(pass, &mut run) + run.early;
        self.contexts.count(emitted.into(InjectMode::AggregateOnly, batch, selection, None), early);
        cx.work.keep_state(self.asker, work);
    }

    fn reads(&self, demand: &mut Demand) {
        self.by.grouped.reads(demand);
        demand.name(NameId::MESSAGE);
    }

    fn writes(&self) -> Writes {
        Writes::names(vec![NameId::MESSAGE])
    }

    fn state(&self) -> Option<Arc<dyn State>> {
        Some(Arc::clone(&self.contexts) as Arc<dyn State>)
    }

    fn with_state(&self, state: Option<Arc<dyn State>>) -> Option<Arc<dyn Parse>> {
        let contexts = succeed(&self.contexts, state);
        Some(Arc::new(Placed { by: Arc::clone(&self.by), contexts, asker: self.asker }))
    }
}

struct Run<'a> {
    by: &'a GroupLines,
    batch: &'a mut Batch,
    cx: &'a mut FilterContext,
    emitted: &'a mut Emitted,
    early: usize,
}

impl Handler<Progress> for Run<'_> {
    fn message(&mut self, shard: &mut Shard<Progress>, pass: &Pass, entry: &Entry) {
        let moment = pass.moment(entry);
        let mut id = shard.enter(pass, entry, Progress::default);
        let line = match &self.by.lines {
            Lines::Smart => smart(shard.get_mut(id), Look(entry.note)),
            _ => Line::of(entry.note),
        };
        if line.starts {
            id = self.renew(shard, id, pass, entry, After::Text);
        } else if shard.get(id).is_some_and(|context| context.payload.after == After::Garbage) {
            return;
        }
        if line.kept > 0 || !line.ends {
            let wanted = &self.cx.work.wanted;
            let added = shard.add(id, self.batch, entry.index, |name| wanted.has(name));
            cut(shard.get_mut(id), added, line.kept);
        }
        let full = shard.get(id).is_some_and(Context::is_full);
        self.early += usize::from(full && !line.ends);
        if line.ends || full {
            let after = if line.ends && self.by.lines.has_garbage() { After::Garbage } else { After::Text };
            id = self.renew(shard, id, pass, entry, after);
        }
        shard.set_deadline(id, self.by.grouped.deadline(pass, entry), moment);
    }

    fn closed(&mut self, _: &mut Shard<Progress>, context: &mut Context<Progress>, moment: Moment) {
        if context.messages.records.is_empty() {
            return;
        }
        self.by.grouped.sort(&mut context.messages, self.cx);
        let mut text = self.cx.work.text();
        for (n, record) in context.messages.records.iter().enumerate() {
            if n > 0 {
                text.extend_from_slice(&self.by.separator);
            }
            text.extend_from_slice(context.messages.bytes(record.message));
        }
        let (key, _, messages) = context.parts();
        if let Some(made) = self.by.made.make((key, b""), messages, self.batch, self.cx) {
            let span = self.batch.append(&text);
            assign(self.batch, made as usize, NameId::MESSAGE, span, ValueType::String);
            if let Some(told) = self.cx.work.made_of.as_mut().and_then(|told| told.last_mut()) {
                told.message = span;
            }
            self.emitted.push(moment, made);
        }
        self.cx.work.keep_text(text);
    }

    fn batch_bytes(&self) -> usize {
        self.batch.footprint()
    }
}

impl Run<'_> {
    /// Makes a message of the lines so far, and begins anew.
    fn renew(
        &mut self,
        shard: &mut Shard<Progress>,
        id: ContextId,
        pass: &Pass,
        entry: &Entry,
        after: After,
    ) -> ContextId {
        let trace = shard.get(id).map(|context| context.payload.trace).unwrap_or_default();
        let progress = Progress { after, trace };
        if shard.get(id).is_some_and(|context| context.messages.records.is_empty()) {
            if let Some(context) = shard.get_mut(id) {
                context.payload = progress;
            }
            return id;
        }
        if let Some(mut context) = shard.remove(id) {
            self.closed(shard, &mut context, pass.moment(entry));
            shard.recycle(context);
        }
        shard.enter(pass, entry, || progress)
    }
}

/// What a line is to the backtrace its context is in.
fn smart(context: Option<&mut Context<Progress>>, look: Look) -> Line {
    let step = match context {
        Some(context) => context.payload.trace.step(look),
        None => Backtrace::default().step(look),
    };
    Line { starts: step.begins, ends: step.ends, kept: u32::MAX }
}

/// Leaves of a line what stands before the garbage or up to the suffix.
fn cut(context: Option<&mut Context<Progress>>, line: Option<usize>, kept: u32) {
    let messages = context.and_then(|context| Arc::get_mut(&mut context.messages));
    if let Some(record) = messages.zip(line).and_then(|(batch, line)| batch.records.get_mut(line)) {
        record.message.len = record.message.len.min(kept);
    }
}

#[cfg(test)]
mod tests;
