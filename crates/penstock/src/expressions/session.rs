//! A message, and what was tried on it so far.

use super::answer::{Answer, Failed};
use diag::{Diagnostics, SourceMap, Span};
use filter::{FilterContext, FilterEnv, NamedFilters};
use filterx::{Outcome, Setting};
use record::{Batch, Context, NameId, Record, Stamp, ValueType};
use std::sync::Arc;
use std::time::Instant;
use stdio::CommandError;
use template::{Condition, Identity, Scope, TemplateOptions, sample};
use value::{JSON, REPR};
use wire::{ParseFlags, SyslogOptions, SyslogParser};

/// What texts are called in findings and failures.
const NAME: &str = "expression";

/// As what configuration the texts are compiled: it has nothing but them.
#[derive(Default)]
struct Nothing {
    options: TemplateOptions,
    filters: NamedFilters,
}

impl Scope for Nothing {
    fn condition(&self, text: &str) -> Result<Arc<dyn Condition>, String> {
        filter::compile_condition(text, self)
    }
}

impl FilterEnv for Nothing {
    fn scope(&self) -> &dyn Scope {
        self
    }

    fn template_options(&self) -> &TemplateOptions {
        &self.options
    }

    fn named_filters(&self) -> &NamedFilters {
        &self.filters
    }
}

pub struct Session {
    batch: Batch,
    cx: FilterContext,
    env: Nothing,
    host: String,
    /// The message and the values that it began with.
    first: (Option<String>, Vec<(String, String)>),
}

impl Session {
    /// Without a message it is the one of the manual's examples.
    pub fn new(message: Option<&str>, values: &[(String, String)]) -> Result<Session, CommandError> {
        let host = crate::run::identity::host_name().map_err(|error| error.to_string())?;
        let mut cx = FilterContext::new(Identity::new(&host));
        cx.begin_batch(Stamp::now(0));
        let mut session = Session {
            batch: Batch::default(),
            cx,
            host,
            env: Nothing::default(),
            first: (message.map(str::to_owned), values.to_vec()),
        };
        session.reset()?;
        Ok(session)
    }

    pub fn reset(&mut self) -> Result<(), CommandError> {
        let (message, values) = self.first.clone();
        match message {
            Some(message) => {
                self.batch = Batch::new(Vec::new(), self.context(), Stamp::now(0));
                self.message(&message)?;
            }
            None => {
                self.batch = sample::with_values();
                self.cx.render = sample::context();
            }
        }
        values.iter().try_for_each(|(name, value)| self.put(name, value))
    }

    fn context(&self) -> Arc<Context> {
        Arc::new(Context::local(NAME, &self.host, "filterx"))
    }

    /// The message is the last of the batch: those before it have what variables are made of.
    fn index(&self) -> usize {
        self.batch.records.len().saturating_sub(1)
    }

    /// Another message: with a priority in front as it comes in, else MESSAGE alone. Variables stay.
    pub fn message(&mut self, text: &str) -> Result<(), CommandError> {
        let last = self.batch.records.last();
        let mut kept: Vec<_> = last.map_or_else(Vec::new, |record| self.batch.all_held(record).collect());
        kept.retain(|(name, _)| filterx::is_block_variable(*name));
        let place = self.batch.append(text.as_bytes());
        let mut record = Record::new(place);
        record.context = u16::try_from(self.batch.contexts.len()).map_err(|_| "too many messages")?;
        self.batch.contexts.push(self.context());
        self.batch.received = Stamp::now(0);
        self.batch.records.push(record);
        let index = self.index();
        // The newest counts: it comes first here, and has to come last there.
        kept.into_iter().rev().for_each(|(name, value)| self.batch.hold(index, name, value));
        let mut flags = ParseFlags::default();
        flags.apply(if text.starts_with('<') { "syslog-protocol" } else { "no-parse" });
        SyslogParser::new(SyslogOptions { flags, ..SyslogOptions::default() })
            .parse_batch(&mut self.batch, index);
        if self.batch.records.last().is_some_and(|record| record.host.is_empty()) {
            self.batch.set(index, NameId::HOST, self.host.as_bytes(), ValueType::String);
        }
        Ok(())
    }

    /// `NAME=VALUE`
    pub fn set(&mut self, text: &str) -> Result<(), CommandError> {
        let (name, value) = text.split_once('=').ok_or("write it as NAME=VALUE")?;
        self.put(name.trim(), value)
    }

    fn put(&mut self, name: &str, value: &str) -> Result<(), CommandError> {
        let id = template::value_name(name.strip_prefix('$').unwrap_or(name));
        let id = id.ok_or_else(|| format!("{name} is computed from the message: it cannot be set"))?;
        self.batch.set(self.index(), id, value.as_bytes(), ValueType::String);
        Ok(())
    }

    /// Compiles and runs a text.
    pub fn run(&mut self, text: &str) -> Answer {
        let mut sources = SourceMap::new();
        let whole = ended(text.trim_end());
        let file = sources.add_root(NAME, whole.as_str());
        let mut diags = Diagnostics::new();
        let setting = Setting { env: &self.env, sources: &sources, is_counted: false };
        let block = filterx::compile_text(&whole, Span::new(file, 0, whole.len()), setting, &mut diags);
        let Some(block) = block else {
            let json = diag::render_json(&diags, &sources);
            return Answer::Wrong { text: diag::render_all(&diags, &sources), json };
        };
        let begun = Instant::now();
        let index = self.index();
        let tried = block.evaluate(&mut self.batch, index, &mut self.cx);
        let time = begun.elapsed();
        match (tried.outcome, &tried.report) {
            (Outcome::Dropped, _) => Answer::Dropped { time },
            (Outcome::Failed, report) => {
                Answer::Failed(Box::new(Failed { report: report.clone().unwrap_or_default(), time }))
            }
            (Outcome::Passed, _) => Answer::Value {
                shown: tried.shown(&self.batch, REPR),
                json: tried.shown(&self.batch, JSON),
                type_name: tried.type_name(),
                time,
            },
        }
    }

    /// The values of the message, one in a line.
    pub fn values(&self) -> String {
        let Some(record) = self.batch.records.last() else { return String::new() };
        let fields = self.batch.fields(record);
        let own = fields.into_iter().filter_map(|(name, value)| Some((name, value?)));
        let line = |(name, value): (NameId, record::Value<'_>)| {
            format!("${{{}}} = {}\n", self.batch.name_of(name), String::from_utf8_lossy(value.bytes))
        };
        own.chain(self.batch.pairs(record)).map(line).collect()
    }
}

/// A text with the semicolon that its last statement may lack; one in a comment would not count.
fn ended(text: &str) -> String {
    match (filterx::grammar::is_open(text), text.contains('#')) {
        (true, _) => text.to_owned(),
        (false, true) => format!("{text}\n;"),
        (false, false) => format!("{text};"),
    }
}
