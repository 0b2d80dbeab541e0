//! A database with everything its rules do compiled: templates, tags, conditions.

use super::environment::Environment;
use super::work::{ActionWork, ContextWork, Keeping, What, Work};
use crate::correlation::{Inherit, Scope, Synthetic};
use diag::{Diagnostics, Severity, Span};
use filter::compile_condition;
use patterndb::model::{self, ActionKind, ContextDef, MessageDef, Rule, ValueDef};
use patterndb::{Rules, tree::Tree};
use record::{Demand, NameId, TagId, ValueType, intern, tag_id};
use std::sync::Arc;
use template::{Template, TemplateOptions, TypeHint};

/// Where what a parser in a pattern captures goes, and its type; `None`: nowhere.
pub type Target = Option<(NameId, ValueType)>;

/// What is wrong with a database, a line each.
pub type Findings = Vec<String>;

pub struct Compiled {
    pub rules: Rules,
    /// By rule.
    pub work: Vec<Work>,
    /// Names and types of the parsers in the program's patterns, and in each tree of messages.
    pub program_names: Vec<Target>,
    pub names: Vec<Box<[Target]>>,
    pub class: NameId,
    pub rule_id: NameId,
    pub context_id: NameId,
    pub unknown: TagId,
    pub reads: Demand,
    /// Rules have contexts or actions.
    pub is_stateful: bool,
    /// No context reaches into another, and none shares the rate of an action with another.
    pub is_sharded: bool,
    /// There is no database yet: messages stay as they are.
    pub is_absent: bool,
}

const NAMES: [&str; 3] = [".classifier.class", ".classifier.rule_id", ".classifier.context_id"];

impl Compiled {
    /// No database.
    pub fn empty() -> Compiled {
        let rules = Rules::compile(model::Database::default(), "", &mut Diagnostics::new());
        Compiled { is_absent: true, ..Compiled::of(rules) }
    }

    /// The database and warnings, or what is wrong with it, a line each.
    pub fn new(
        path: &str,
        bytes: &[u8],
        prefix: &str,
        options: &TemplateOptions,
    ) -> Result<(Compiled, Findings), Findings> {
        let mut loaded = patterndb::load(path, bytes);
        let Some(database) = loaded.database.take() else { return Err(loaded.lines()) };
        let mut compiled = Compiled::of(Rules::compile(database, prefix, &mut loaded.diags));
        let environment = Environment::new(options);
        let mut making = Making { environment: &environment, diags: &mut loaded.diags };
        compiled.work = compiled.rules.list.iter().map(|rule| making.rule(rule)).collect();
        if loaded.diags.has_errors() {
            return Err(loaded.lines());
        }
        compiled.note();
        Ok((compiled, loaded.lines()))
    }

    fn of(rules: Rules) -> Compiled {
        let name = |n: usize| NAMES.get(n).and_then(|n| intern(n)).unwrap_or(NameId(0));
        let names = |tree: &Tree| {
            let name = |p: &patterndb::pattern_text::Parser| {
                let name = Some(p.name.as_str()).filter(|n| !n.is_empty()).and_then(template::value_name)?;
                Some((name, p.kind()))
            };
            tree.parsers().iter().map(name).collect::<Vec<_>>()
        };
        Compiled {
            work: Vec::new(),
            program_names: names(rules.programs()),
            names: rules.trees().iter().map(|tree| names(tree).into()).collect(),
            class: name(0),
            rule_id: name(1),
            context_id: name(2),
            unknown: tag_id(".classifier.unknown").unwrap_or(TagId(0)),
            reads: Demand::default(),
            is_stateful: false,
            is_sharded: true,
            is_absent: false,
            rules,
        }
    }

    /// What the rules need of messages, and how they are to be run.
    fn note(&mut self) {
        for work in &self.work {
            work.reads(&mut self.reads);
            let Some(keeping) = &work.keeping else { continue };
            self.is_stateful = true;
            let shares = |a: &ActionWork| matches!(a.what, What::Create(_)) || a.rate.is_some();
            self.is_sharded &= !keeping.actions.iter().any(shares);
        }
        // Correlation time.
        self.reads.stamp |= self.is_stateful;
    }
}

struct Making<'a> {
    environment: &'a Environment,
    diags: &'a mut Diagnostics,
}

fn scope(scope: model::Scope) -> Scope {
    Scope::named(scope.name()).unwrap_or_default()
}

impl Making<'_> {
    fn rule(&mut self, rule: &Rule) -> Work {
        // In this order they have their numbers, and $TAGS lists them by number.
        let mut tags = self.tags(&[format!(".classifier.{}", rule.class)], rule.span);
        tags.extend(self.tags(&rule.tags, rule.span));
        let context = rule.context.as_ref().and_then(|c| self.context(c));
        let mut actions = Vec::new();
        for (number, action) in rule.actions.iter().enumerate() {
            actions.extend(self.action(action, number as u32));
        }
        let keeping = (context.is_some() || !actions.is_empty()).then(|| {
            Arc::new(Keeping { context, scope: scope(rule.scope), actions, rule: rule.id.as_str().into() })
        });
        Work { tags, values: self.values(&rule.values), keeping }
    }

    fn context(&mut self, def: &ContextDef) -> Option<ContextWork> {
        let id = self.template(&def.id, "", def.span)?;
        Some(ContextWork { id, scope: scope(def.scope), timeout_s: i64::from(def.timeout_s) })
    }

    fn action(&mut self, action: &model::Action, number: u32) -> Option<ActionWork> {
        let condition = match &action.condition {
            None => None,
            Some(text) => match compile_condition(&text.text, self.environment) {
                Ok(condition) => Some(condition),
                Err(error) => {
                    self.diags.error("A0208", format!("wrong condition: {error}"), text.span);
                    return None;
                }
            },
        };
        let (message, what) = match &action.what {
            ActionKind::Message(message) => (message, What::Message),
            ActionKind::CreateContext(context, message) => {
                (message, What::Create(Box::new(self.context(context)?)))
            }
        };
        Some(ActionWork {
            condition,
            rate: action.rate,
            number,
            trigger: action.trigger,
            message: self.message(message, action.span),
            what,
        })
    }

    fn message(&mut self, def: &MessageDef, at: Span) -> Synthetic {
        let inherit = match def.inherit {
            model::Inherit::None => Inherit::None,
            model::Inherit::LastMessage => Inherit::LastMessage,
            model::Inherit::Context => Inherit::Context,
        };
        Synthetic { inherit, values: self.values(&def.values), tags: self.tags(&def.tags, at) }
    }

    fn values(&mut self, defs: &[ValueDef]) -> Vec<(NameId, Arc<Template>)> {
        let mut values = Vec::new();
        for def in defs {
            let Some(template) = self.template(&def.template, &def.kind, def.span) else { continue };
            match template::value_name(&def.name) {
                Some(name) => values.push((name, Arc::new(template))),
                None => {
                    let text = format!("`{}` cannot be set", def.name);
                    self.diags.push(diag::Diagnostic::new(Severity::Warning, "A0208", text).at(def.span));
                }
            }
        }
        values
    }

    fn template(&mut self, text: &str, kind: &str, at: Span) -> Option<Template> {
        let hint = TypeHint::named(kind);
        if hint.is_none() && !kind.is_empty() {
            let near = diag::nearest(kind, TypeHint::NAMES.iter().map(|(name, _)| *name));
            let finding = diag::Diagnostic::error("A0208", format!("there is no type `{kind}`"), at);
            self.diags.push(finding.suggest(near));
            return None;
        }
        match Template::compile(text, &self.environment.options, self.environment) {
            Ok(template) => Some(match hint {
                Some(hint) => template.with_hint(hint),
                None => template,
            }),
            Err(error) => {
                self.diags.error("A0208", format!("wrong template: {error}"), at);
                None
            }
        }
    }

    fn tags(&mut self, names: &[String], at: Span) -> Vec<TagId> {
        let names = names.iter().filter(|n| !n.is_empty());
        let made: Vec<Option<TagId>> = names.map(|n| tag_id(n)).collect();
        if made.contains(&None) {
            self.diags.error("A0208", "too many tags", at);
        }
        made.into_iter().flatten().collect()
    }
}
