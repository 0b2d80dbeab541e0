//! `example-msg-generator()`: makes messages of its own, for trying out a configuration.

use conf_schema::{Component, Cost, Kind, OptionSpec as Opt, Preset, Settings};
use diag::{Diagnostic, Diagnostics, Fault, Reported};
use driver_options::source_groups::SOURCE;
use driver_options::templates::{compile, type_hint};
use driver_options::{INT_MAX, SECONDS_MAX};
use engine::driver::{BuildContext, SourceDriver, SourcePart, Start};
use engine::source::{Carrier, Settings as SourceSettings, Source};
use engine::worker::{After, Port, PortContext};
use engine::{Feed, Need, Shared};
use intake::listener::register;
use intake::reading::{finish, local_name, made_here};
use intake::timer;
use mio::unix::SourceFd;
use record::{Context, Flags, NameId, Record, Span, ValueType};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};
use template::{Msg, Template, TemplateOptions};

pub const PARTS: &[SourcePart] = &[SourcePart::new(&EXAMPLE_MSG_GENERATOR, build)];

static EXAMPLE_MSG_GENERATOR: Component = Component {
    context: conf_schema::Context::Source,
    name: "example-msg-generator",
    aliases: &[],
    positional: &[],
    groups: &[&SOURCE],
    own: &[
        Opt::new(
            "freq",
            Kind::Seconds { min: 0, max: SECONDS_MAX },
            Preset::Int(1),
            "Seconds between messages, as `0.01`; 0 makes them as fast as they are taken.",
        ),
        Opt::new(
            "num",
            Kind::Int { min: 0, max: INT_MAX },
            Preset::Int(0),
            "How many messages to make; 0 never stops.",
        ),
        Opt::new(
            "template",
            Kind::Template,
            Preset::Described("`-- Generated message. --`"),
            "The text of the messages.",
        ),
        Opt::new(
            "values",
            Kind::Pairs,
            Preset::None,
            "Values each message gets, as `values(\"name\" => \"template\")`. Collects.",
        )
        .collects(),
    ],
    presets: &[],
    not_yet: &[],
    summary: "Makes messages, for trying out a configuration.",
    example: "example-msg-generator(num(10) freq(0.1) template(\"hello ${SEQ}\") values(\"SEQ\" => \"1\"))",
    cost: Some(Cost::elsewhere(
        "A message is a rendered template; with freq(0) whole batches of them are made.",
    )),
};

/// MESSAGE when template() is not given.
const MESSAGE: &str = "-- Generated message. --";
/// Messages in one batch.
const BATCH_MESSAGES: u64 = 512;
/// Ticks of the timer that may be caught up with after the source had to wait: more would be a flood nobody
/// asked for.
const LATE_MAX: u64 = 10_000;

fn build(s: &Settings, cx: &BuildContext<'_>, diags: &mut Diagnostics) -> Result<SourceDriver, Reported> {
    let finish = finish(s, cx, true, diags);
    made_here(s);
    let options = TemplateOptions { version: cx.version, ..TemplateOptions::default() };
    let mut what = Vec::new();
    for pair in s.pairs("values") {
        let text = &pair.value;
        let template = compile(&text.text, text.span, &options, cx, diags)?;
        let kind = match &text.type_hint {
            None => ValueType::String,
            Some(hint) => type_hint(hint, diags)?.value_type().unwrap_or_default(),
        };
        let Some(name) = template::value_name(&pair.key.text) else {
            let text = format!("`{}` cannot be set: it is computed from other values", pair.key.text);
            diags.push(
                Diagnostic::error("D0108", text, pair.key.span).help("choose another name for the value"),
            );
            return Err(Reported);
        };
        cx.scope.sets(&pair.key.text);
        what.push((name, template, kind));
    }
    let message = match s.template("template") {
        Some(text) => compile(&text.text, text.span, &options, cx, diags)?,
        None => compile(MESSAGE, s.call_span().ok_or(Reported)?, &options, cx, diags)?,
    };
    what.push((NameId::MESSAGE, message, ValueType::String));
    let start = GeneratorStart {
        what: what.into(),
        num: s.int("num").filter(|n| *n > 0).map(|n| n as u64),
        freq: s.seconds("freq").unwrap_or(Duration::from_secs(1)),
        window_messages: s.int("log-iw-size").map(|n| n.max(1) as usize),
        host: local_name(s, cx.globals).into(),
        group: cx.group.into(),
    };
    let texts: Vec<(NameId, &str)> = start.what.iter().map(|(name, t, _)| (*name, t.text())).collect();
    let opened_with =
        format!("{texts:?} {:?} {:?} {:?} {}", start.num, start.freq, start.window_messages, start.host);
    let key =
        s.text("persist-name").map_or_else(|| format!("example-msg-generator({})", cx.id()), str::to_owned);
    Ok(SourceDriver {
        key,
        opened_with: format!("{} {opened_with}", cx.group),
        driver: "example-msg-generator",
        instance: cx.id(),
        carrier: Carrier::Other,
        settings: Box::new(move |program| SourceSettings::ready_made(finish.clone(), program)),
        start: Box::new(start),
    })
}

/// What is set in each message, in this order.
type Values = [(NameId, Arc<Template>, ValueType)];

struct GeneratorStart {
    what: Arc<Values>,
    /// How many messages; `None` never stops.
    num: Option<u64>,
    /// Time between messages; zero is as fast as they are taken.
    freq: Duration,
    window_messages: Option<usize>,
    host: Arc<str>,
    group: Arc<str>,
}

impl Start for GeneratorStart {
    fn start(&self, shared: &Arc<Shared>, source: &Arc<Source>) -> Result<(), Fault> {
        let worker = shared.any_worker()?;
        let clock = match self.freq.is_zero() {
            true => None,
            false => {
                Some(timer::every(self.freq).map_err(|e| Fault::local(format!("cannot make a timer: {e}")))?)
            }
        };
        let context = Arc::new(Context::local(&self.group, &self.host, "local+generator"));
        let (what, source, window, left) =
            (Arc::clone(&self.what), Arc::clone(source), self.window_messages, self.num);
        worker.add(move |token, cx| {
            if let Some(clock) = &clock {
                register(&clock.as_raw_fd(), cx.handle.registry(), token)?;
            }
            let feed = Feed::new(source, window, cx, token);
            Ok(Box::new(GeneratorPort {
                clock,
                due: 0,
                left,
                what,
                context,
                feed,
                value: Vec::new(),
                queued: false,
            }))
        });
        Ok(())
    }

    fn needs(&self) -> Vec<Need<'_>> {
        Vec::new()
    }
}

struct GeneratorPort {
    clock: Option<OwnedFd>,
    /// Messages whose time has come.
    due: u64,
    left: Option<u64>,
    what: Arc<Values>,
    context: Arc<Context>,
    feed: Feed,
    value: Vec<u8>,
    queued: bool,
}

impl GeneratorPort {
    /// How many messages to make now.
    fn count(&mut self) -> u64 {
        match &self.clock {
            None => self.due = BATCH_MESSAGES,
            Some(clock) => {
                let mut ticks = [0; 8];
                // Nothing to read: no tick since the last time.
                if rustix::io::read(clock, &mut ticks).is_ok() {
                    self.due = self.due.saturating_add(u64::from_ne_bytes(ticks)).min(LATE_MAX);
                }
            }
        }
        self.due.min(BATCH_MESSAGES).min(self.left.unwrap_or(u64::MAX))
    }

    fn make(&mut self, count: u64, cx: &mut PortContext) {
        let began = Instant::now();
        let now = cx.now();
        let mut batch = cx.batch();
        batch.received = now;
        batch.contexts.push(Arc::clone(&self.context));
        cx.scratch.begin_batch(now);
        for index in 0..count as usize {
            let mut record = Record::new(Span::EMPTY);
            record.stamp = now;
            record.flags.set(Flags::LOCAL);
            batch.records.push(record);
            for (name, template, kind) in self.what.iter() {
                self.value.clear();
                template.render(Msg { batch: &batch, record: &record }, cx.scratch.render(), &mut self.value);
                batch.set(index, *name, &self.value, *kind);
                record = batch.records.get(index).copied().unwrap_or(record);
            }
        }
        let bytes = batch.text.len();
        self.feed.run(batch, bytes, self.due > count, began, cx);
    }
}

impl Port for GeneratorPort {
    fn turn(&mut self, cx: &mut PortContext) -> After {
        if !self.feed.may_read() {
            return After::Idle;
        }
        let count = self.count();
        if count > 0 {
            self.make(count, cx);
            self.due -= count;
            self.left = self.left.map(|left| left - count);
        }
        match (self.left, &self.clock) {
            (Some(0), _) => After::Close,
            (_, None) => After::Again,
            _ if self.due > 0 => After::Again,
            _ => After::Idle,
        }
    }

    fn queued(&mut self) -> &mut bool {
        &mut self.queued
    }

    fn closed(&mut self, cx: &mut PortContext) {
        if let Some(clock) = &self.clock {
            let _ = cx.handle.registry().deregister(&mut SourceFd(&clock.as_raw_fd()));
        }
    }

    fn source(&self) -> Option<&Arc<Source>> {
        Some(&self.feed.source)
    }
}

#[cfg(test)]
mod tests;
