//! A case played: its messages go through the configuration at the times that it says.

use super::read::{Case, CaseFile, FullLine, Line};
use crate::explain::rehearse::{self, makes_its_own};
use engine::compile::{Plan, PlannedSource};
use engine::watch::Verdict;
use engine::watch::inquiry::{Happened, Story};
use engine::watch::looks::{Looks, Places};
use engine::watch::rehearsal::{Input, Rehearsal};
use record::Stamp;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::Arc;
use template::{Identity, NoScope, Template, TemplateOptions};

/// Bytes that are kept of one text.
const TEXT_BYTES_MAX: usize = 1 << 20;
/// Messages of one case, those that parsers make included.
const STORIES_MAX: usize = 10_000;

/// What came of a case.
#[derive(Default)]
pub struct Played {
    pub stories: Vec<Story>,
    /// What the destinations would have written, in order.
    pub outputs: Vec<Output>,
    /// What messages were behind steps, where somebody asks.
    pub states: Vec<State>,
    /// The names of the values that were looked at.
    pub names: Vec<String>,
}

/// A message written by one destination.
#[derive(Serialize, Deserialize)]
pub struct Output {
    /// `d_app#0`
    pub destination: String,
    /// The file, connection or process.
    pub to: String,
    /// Without the line feed at its end.
    pub text: Vec<u8>,
    #[serde(skip)]
    pub state: State,
}

/// What a message was at a step.
#[derive(Clone, Default)]
pub struct State {
    /// As the plan calls it.
    pub step: String,
    /// In the order of [`Played::names`].
    pub values: Vec<Vec<u8>>,
    pub tags: Vec<String>,
}

/// Plays cases of one configuration one after the other.
pub struct Player<'p> {
    plan: &'p Plan,
    identity: Identity,
    /// By the id of the source.
    sources: HashMap<&'p str, Rehearsal>,
    templates: HashMap<String, Arc<Template>>,
}

impl<'p> Player<'p> {
    pub fn new(plan: &'p Plan, identity: Identity) -> Player<'p> {
        Player { plan, identity, sources: HashMap::new(), templates: HashMap::new() }
    }

    /// The case depends on contexts, which all players share.
    pub fn is_stateful(&mut self, file: &CaseFile, case: &Case) -> bool {
        let Ok(source) = self.source(file, case) else { return false };
        self.rehearsal(source).is_ok_and(|rehearsal| rehearsal.is_stateful())
    }

    pub fn play(&mut self, file: &CaseFile, case: &Case) -> Result<Played, String> {
        let source = self.source(file, case)?;
        let mut names: Vec<String> =
            case.expectations.iter().flat_map(|e| e.values.keys().cloned()).collect();
        names.sort_unstable();
        names.dedup();
        let templates = names.iter().map(|name| self.template(name)).collect::<Result<_, _>>()?;
        let at_steps = case.expectations.iter().any(|expectation| expectation.step.is_some());
        let places = if at_steps { Places::All } else { Places::Destinations };
        let looks = Looks { templates, places, filter: None, bytes_max: TEXT_BYTES_MAX };
        let identity = self.identity.clone();
        let rehearsal = self.rehearsal(source)?;
        rehearsal.begin_anew();
        let mut now = file.now(case);
        let mut stories = Vec::new();
        for line in case.messages() {
            pass(rehearsal, &mut now, line.after(), &looks, &mut stories);
            let text = line.bytes()?;
            let context = context(source, &identity, case, line);
            stories.extend(rehearsal.message(&Input { text: &text, context, received: now }, &looks));
        }
        pass(rehearsal, &mut now, case.wait, &looks, &mut stories);
        rehearsal.begin_anew();
        if stories.len() > STORIES_MAX {
            return Err(format!("it makes {} messages, more than {STORIES_MAX}", stories.len()));
        }
        Ok(self.told(stories, names))
    }

    fn source(&self, file: &CaseFile, case: &Case) -> Result<&'p PlannedSource, String> {
        let named = case.source.as_deref().or(file.source.as_deref());
        rehearse::source_of(self.plan, named).map_err(|refusal| refusal.to_string())
    }

    fn rehearsal(&mut self, source: &'p PlannedSource) -> Result<&mut Rehearsal, String> {
        if !self.sources.contains_key(source.id.as_str()) {
            let made = Rehearsal::of(source, &self.identity).ok_or_else(|| makes_its_own(source))?;
            self.sources.insert(&source.id, made);
        }
        self.sources.get_mut(source.id.as_str()).ok_or_else(|| makes_its_own(source))
    }

    /// What prints the value of a name, or of a template that stands in its place.
    fn template(&mut self, name: &str) -> Result<Arc<Template>, String> {
        if let Some(known) = self.templates.get(name) {
            return Ok(Arc::clone(known));
        }
        let text = if name.contains('$') { name.to_owned() } else { format!("${{{name}}}") };
        let template = Template::compile(&text, &TemplateOptions::default(), &NoScope);
        let template = template.map_err(|error| format!("the value `{name}`: {error}"))?;
        let template = Arc::new(template);
        self.templates.insert(name.to_owned(), Arc::clone(&template));
        Ok(template)
    }

    /// What was written, and what messages were behind steps.
    fn told(&self, stories: Vec<Story>, names: Vec<String>) -> Played {
        let mut played = Played { names, ..Played::default() };
        for story in &stories {
            let mut here = State::default();
            for told in &story.told {
                let Some((id, statement)) = &told.step else { continue };
                match &told.what {
                    Happened::Is { texts, tags } => {
                        let step = self.plan.map.entry(*id).map_or_else(String::new, |entry| entry.label());
                        here = State { step, values: texts.clone(), tags: tags.clone() };
                        played.states.push(here.clone());
                    }
                    Happened::Queued { name, output, .. } => {
                        let text = output.kept.strip_suffix(b"\n").unwrap_or(&output.kept).to_vec();
                        played.outputs.push(Output {
                            destination: statement.rule.clone(),
                            to: name.clone(),
                            text,
                            state: here.clone(),
                        });
                    }
                    _ => {}
                }
            }
        }
        played.stories = stories;
        played
    }
}

impl Played {
    /// Steps at which messages ended: as the plan calls them, and their places.
    pub fn ends(&self, plan: &Plan) -> Vec<(String, String)> {
        let told = self.stories.iter().flat_map(|story| &story.told);
        let stopped = told.filter(|told| matches!(told.what, Happened::Ends(Verdict::Stopped)));
        let step = |id| plan.map.entry(id).map_or_else(String::new, |entry| entry.label());
        stopped
            .filter_map(|told| told.step.as_ref())
            .map(|(id, statement)| (step(*id), statement.location.clone()))
            .collect()
    }
}

/// Lets time pass, second by second where something waits for it.
fn pass(rehearsal: &mut Rehearsal, now: &mut Stamp, seconds: u64, looks: &Looks, stories: &mut Vec<Story>) {
    if !rehearsal.is_stateful() {
        now.secs = now.secs.saturating_add_unsigned(seconds);
        return;
    }
    for _ in 0..seconds {
        now.secs = now.secs.saturating_add(1);
        stories.extend(rehearsal.time(*now, looks));
        if stories.len() > STORIES_MAX {
            return;
        }
    }
}

fn context(source: &PlannedSource, identity: &Identity, case: &Case, line: &Line) -> record::Context {
    let full = line.full();
    let from = full.and_then(|full: &FullLine| full.from).or(case.from);
    let transport = full.and_then(|full| full.transport.as_deref()).or(case.transport.as_deref());
    let transport = transport.map_or(rehearse::TRANSPORT, lasting);
    rehearse::context(source, identity, from.map(|from| from.0), transport)
}

/// Contexts keep names of transports for ever: so does this command, which ends.
fn lasting(name: &str) -> &'static str {
    name.to_owned().leak()
}
