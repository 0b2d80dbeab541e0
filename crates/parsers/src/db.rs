//! `db-parser()`: the rule of a pattern database that a message matches, with its class, tags and values.

mod actions;
mod compiled;
mod environment;
mod file;
mod plan;
mod rate;
mod run;
mod work;

use crate::build::Build;
use crate::correlation::{Contexts, InjectMode, State};
use crate::input::Input;
use crate::options::{PARSER, PREFIX};
use crate::parse::{Parse, Writes};
use actions::Kept;
use compiled::{Compiled, Findings};
use conf_schema::{Component, Context, Cost, Kind, OptionSpec as Opt, Preset, Settings, TemplateText, Word};
use diag::Diagnostic;
use file::DatabaseFile;
use filter::{FilterContext, new_asker};
use parking_lot::RwLock;
use plan::Plan;
use rate::Rates;
use record::{Batch, Demand};
use std::sync::Arc;
use template::{NoScope, Template, TemplateOptions};

/// Findings about a file that are named; the tool names all.
const NOTES_MAX: usize = 30;

const INJECT_MODES: &[Word] = &[
    Word::new("pass-through", "On in this log path, in front of the message that caused them."),
    Word::new("internal", "Out of internal()."),
    Word::new("aggregate-only", "The same, and the messages that were looked up do not go on."),
];

pub static DB_PARSER: Component = Component {
    context: Context::Parser,
    name: "db-parser",
    aliases: &[],
    positional: &[],
    groups: &[&PARSER],
    own: &[
        Opt::new(
            "file",
            Kind::Text,
            Preset::Text("/var/lib/syslog-ng/patterndb.xml"),
            "The database. It is read again when the configuration is, and within seconds of a change of the file; while a new version \
             is wrong, the old one stays.",
        ),
        PREFIX,
        Opt::new(
            "drop-unmatched",
            Kind::Bool,
            Preset::Bool(false),
            "A message that no rule knows does not match.",
        ),
        Opt::new(
            "program-template",
            Kind::Template,
            Preset::Described("`${PROGRAM}`"),
            "What decides the ruleset.",
        ),
        Opt::new(
            "message-template",
            Kind::Template,
            Preset::Described("template(), else `${MESSAGE}`"),
            "What is compared with the patterns.",
        ),
        Opt::new(
            "inject-mode",
            Kind::Choice(INJECT_MODES),
            Preset::Text("pass-through"),
            "Where messages go that actions of rules make.",
        ),
        Opt::new(
            "persist-name",
            Kind::Text,
            Preset::Described("made from file()"),
            "The name by which open contexts are found again after a reload.",
        ),
    ],
    presets: &[],
    not_yet: &[],
    summary: "Looks up the rule for a message in a pattern database: the program decides the ruleset, the patterns of the ruleset are one \
              tree, searched once. The rule gives the message a class and an id, `.classifier.class` and `.classifier.rule_id`, a tag \
              `.classifier.CLASS`, tags of its own, and values, of which those are stored that something reads. The cost hardly \
              depends on the number of rules, see `cargo run --release -p patterndb --example match_cost`; rules without contexts and \
              actions run on all cores at once.",
    example: "db-parser(file(\"/etc/syslog-ng/patterndb.xml\"))",
    cost: Some(Cost::bench(
        "The text is looked at once, whatever the number of rules: 10,000 cost about what 10 do. One connection is worked on by all cores; contexts see its messages in order.",
        "patterndb-10000",
    )),
};

/// The options, with the file.
struct Options {
    program: Input,
    message: Input,
    drop_unmatched: bool,
    mode: InjectMode,
    file: Arc<DatabaseFile>,
    /// How its contexts are known.
    key: Box<str>,
}

struct DbParser {
    options: Arc<Options>,
    /// What is read behind it; `None`: anything may be.
    demand: Option<Arc<Demand>>,
    /// For the database of the last batch.
    plan: RwLock<Option<Arc<Plan>>>,
    /// Present when rules have contexts or actions.
    contexts: Option<Arc<Contexts<Kept>>>,
    rates: Arc<Rates>,
    asker: u64,
}

pub fn build(settings: &Settings, b: &mut Build<'_>) -> Option<Arc<dyn Parse>> {
    let own_input = b.input(settings);
    let message = match settings.template("message-template").cloned() {
        Some(text) => b.template_or_name(&text).map(|t| Input::of(&t)),
        None => own_input,
    };
    let program = settings.template("program-template").cloned().unwrap_or_else(|| TemplateText {
        type_hint: None,
        text: "${PROGRAM}".to_owned(),
        span: b.span,
    });
    let program = b.template(&program).map(|t| Input::of(&t));
    let path = settings.text("file").unwrap_or_default();
    let file = read(path, settings.text("prefix").unwrap_or_default(), settings, b)?;
    let mode = settings.choice("inject-mode").and_then(InjectMode::named).unwrap_or_default();
    let key = match settings.text("persist-name") {
        Some(name) => name.to_owned(),
        None => format!("db-parser({path})"),
    };
    let options = Options {
        program: program?,
        message: message?,
        drop_unmatched: settings.bool("drop-unmatched").unwrap_or(false),
        mode,
        file: Arc::new(file),
        key: key.into(),
    };
    Some(Arc::new(DbParser::new(Arc::new(options), None)))
}

/// A parser with the options' defaults for a file, for tools; with it warnings, a line each. `Err` says what
/// is wrong.
pub fn open(path: &str, bytes: &[u8]) -> Result<(Arc<dyn Parse>, Findings), Findings> {
    let options = TemplateOptions::default();
    let (compiled, warnings) = Compiled::new(path, bytes, "", &options)?;
    let program = Template::compile("${PROGRAM}", &options, &NoScope).map_err(|e| vec![e.to_string()])?;
    let options = Options {
        program: Input::of(&Arc::new(program)),
        message: Input::message(),
        drop_unmatched: false,
        mode: InjectMode::PassThrough,
        file: Arc::new(DatabaseFile::fixed(path, options, compiled)),
        key: path.into(),
    };
    Ok((Arc::new(DbParser::new(Arc::new(options), None)), warnings))
}

/// A filter expression as conditions of actions are.
pub fn condition(text: &str) -> Result<Arc<dyn template::Condition>, String> {
    filter::compile_condition(text, &environment::Environment::new(&TemplateOptions::default()))
}

/// A file that is not there yet is no error: nothing is known until it comes.
fn read(path: &str, prefix: &str, settings: &Settings, b: &mut Build<'_>) -> Option<DatabaseFile> {
    let at = settings.span("file").unwrap_or(b.span);
    let options = b.env.template_options().clone();
    let compiled = match b.env.read_file(path) {
        Ok(bytes) => match Compiled::new(path, &bytes, prefix, &options) {
            Ok((compiled, warnings)) => {
                if !warnings.is_empty() {
                    let finding = Diagnostic::warning("A0206", format!("not all of `{path}` is used"), at);
                    b.diags.push(noted(finding, warnings));
                }
                compiled
            }
            Err(errors) => {
                let finding = Diagnostic::error("A0203", format!("`{path}` is no good pattern database"), at);
                b.diags.push(noted(finding, errors).help(format!("`penstock pdb test {path}` checks it")));
                return None;
            }
        },
        Err(error) => {
            let text = format!("cannot read `{path}`: {error}; messages are not looked up until it is there");
            b.diags.warning("A0202", text, at);
            Compiled::empty()
        }
    };
    // Looked after where it was found.
    let found = b.env.data_file(path);
    Some(DatabaseFile::new(found.to_str().unwrap_or(path), prefix, options, compiled))
}

/// Findings about the file as notes of the one about the option.
fn noted(finding: Diagnostic, findings: Findings) -> Diagnostic {
    let more = findings.len().saturating_sub(NOTES_MAX);
    let finding = findings.into_iter().take(NOTES_MAX).fold(finding, Diagnostic::note);
    if more == 0 { finding } else { finding.note(format!("and {more} more")) }
}

impl DbParser {
    fn new(options: Arc<Options>, demand: Option<Arc<Demand>>) -> DbParser {
        let compiled = options.file.current();
        let contexts = compiled.is_stateful.then(|| Contexts::new(&options.key, compiled.is_sharded));
        let rates = Arc::default();
        DbParser { options, demand, plan: RwLock::new(None), contexts, rates, asker: new_asker() }
    }

    /// What is to be stored, for the database as it is now; found out when that changes.
    fn plan(&self) -> Arc<Plan> {
        let compiled = self.options.file.current();
        if let Some(plan) = &*self.plan.read()
            && Arc::ptr_eq(&plan.compiled, &compiled)
        {
            return Arc::clone(plan);
        }
        let plan = Arc::new(Plan::new(compiled, self.demand.as_deref()));
        *self.plan.write() = Some(Arc::clone(&plan));
        plan
    }
}

impl Parse for DbParser {
    fn parse(&self, batch: &mut Batch, selection: &mut Vec<u32>, cx: &mut FilterContext) {
        self.options.file.watch();
        run::batch(self, batch, selection, cx);
    }

    fn reads(&self, demand: &mut Demand) {
        self.options.program.reads(demand);
        self.options.message.reads(demand);
        demand.merge(&self.options.file.current().reads);
    }

    fn writes(&self) -> Writes {
        // The rules may change with the file.
        Writes { tags: true, ..Writes::prefix("") }
    }

    fn narrowed(&self, demand: &Demand) -> Option<Arc<dyn Parse>> {
        if demand.everything {
            return None;
        }
        Some(Arc::new(DbParser {
            options: Arc::clone(&self.options),
            demand: Some(Arc::new(demand.clone())),
            plan: RwLock::new(None),
            contexts: self.contexts.clone(),
            rates: Arc::clone(&self.rates),
            asker: new_asker(),
        }))
    }

    fn state(&self) -> Option<Arc<dyn State>> {
        self.contexts.clone().map(|contexts| contexts as Arc<dyn State>)
    }

    fn with_state(&self, state: Option<Arc<dyn State>>) -> Option<Arc<dyn Parse>> {
        self.contexts.as_ref()?;
        let mut made = DbParser::new(Arc::clone(&self.options), self.demand.clone());
        let sharded = self.options.file.current().is_sharded;
        if let Some(earlier) = state.and_then(|state| Contexts::of(state, sharded)) {
            made.contexts = Some(earlier);
        }
        Some(Arc::new(made))
    }
}

/// Files of the tests.
#[cfg(test)]
pub const FILES: &[(&str, &str)] =
    &[("/etc/syslog-ng/patterndb.xml", tests::DATABASE), ("actions.xml", tests::ACTIONS)];

#[cfg(test)]
mod tests;
