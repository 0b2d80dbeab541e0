//! `application NAME[topic] { filter { }; parser { }; }` and the `app-parser()` that tries those of a topic,
//! as branches of one set: their leading filters are decided together.

use super::paths::Paths;
use crate::program::{Branch, Op, Step};
use crate::watch::Kind;
use conf_schema::{Context, Settings};
use conf_syntax::{
    Application, Arg, ArgKind, Call, FilterExpr, LogItem, Name, ObjectKind, Quote, RawBlock, Transformation,
};
use diag::{Diagnostic, Diagnostics, Span, nearest};
use filterx::AppVariable;

/// The topic of definitions that lend their parts to those of the same name in any topic.
const BASE: &str = "*";

/// The applications of a configuration, in the order in which they are tried.
#[derive(Default)]
pub(super) struct Applications<'c> {
    list: Vec<&'c Application>,
    pub(super) transformations: Vec<&'c Transformation>,
}

impl<'c> Applications<'c> {
    /// A definition replaces an earlier one of the same name and topic, and takes its place at the end.
    pub fn define(&mut self, app: &'c Application) {
        self.list.retain(|a| a.name.text != app.name.text || a.topic.text != app.topic.text);
        self.list.push(app);
    }

    /// The same of what is done with the messages of an application.
    pub fn transform(&mut self, of: &'c Transformation) {
        self.transformations.retain(|t| t.name.text != of.name.text || t.topic.text != of.topic.text);
        self.transformations.push(of);
    }

    pub(super) fn of<'s>(&'s self, topic: &'s str) -> impl Iterator<Item = &'c Application> + 's {
        self.list.iter().copied().filter(move |a| a.topic.text == topic)
    }

    /// As a list for people.
    fn topics(&self) -> String {
        let mut topics: Vec<&str> = self.list.iter().map(|a| a.topic.text.as_str()).collect();
        topics.sort_unstable();
        topics.dedup();
        let named = topics.into_iter().filter(|topic| *topic != BASE).map(|topic| format!("`{topic}`"));
        named.collect::<Vec<_>>().join(", ")
    }

    fn base(&self, app: &Application) -> Option<&'c Application> {
        self.of(BASE).find(|base| base.name.text == app.name.text)
    }

    /// What an application does; a part it does not have comes from its base.
    pub(super) fn parts(&self, app: &'c Application) -> Parts<'c> {
        let base = self.base(app);
        Parts {
            filter: app.filter.as_ref().or_else(|| base?.filter.as_ref()),
            parser: app.parser.as_deref().or_else(|| base?.parser.as_deref()),
            filterx: app.filterx.as_ref().or_else(|| base?.filterx.as_ref()),
            findings: [Some(app), base].into_iter().flatten().flat_map(|a| a.findings.iter()).collect(),
        }
    }
}

pub(super) struct Parts<'c> {
    pub(super) filter: Option<&'c FilterExpr>,
    pub(super) parser: Option<&'c [LogItem]>,
    filterx: Option<&'c RawBlock>,
    findings: Vec<&'c Diagnostic>,
}

impl<'c> Paths<'_, 'c> {
    /// The branches of the applications, then nothing: what none of them takes does not match, unless that is
    /// allowed.
    pub fn app_parser(&mut self, call: &Call, diags: &mut Diagnostics) -> Vec<Step> {
        let Some((_, settings)) = self.settings(Context::Parser, call, diags) else { return Vec::new() };
        let Some(topic) = settings.text("topic") else {
            let finding = Diagnostic::error("E0120", "app-parser() needs a topic", call.name.span);
            diags.push(finding.help("add `topic(...)`, such as `topic(syslog)`"));
            return Vec::new();
        };
        let overlaps = settings.bool("allow-overlaps").unwrap_or(false);
        let permissive = settings.bool("permissive").unwrap_or(false);
        // Not the name of any statement.
        let key = (ObjectKind::Parser, format!("\0app-parser {topic}"));
        if !self.open.insert(key.clone()) {
            let text = format!("the applications of topic `{topic}` refer to themselves");
            diags.push(Diagnostic::error("E0110", text, call.name.span).help("break the circle"));
            return Vec::new();
        }
        let apps = self.wanted(topic, &settings, call.span, diags);
        let action = match (overlaps, settings.text("filterx-app-variable")) {
            (true, _) => Action::Nothing,
            (false, Some(variable)) => Action::Variable(AppVariable::of(variable, call, self.texts)),
            (false, None) => Action::Tag,
        };
        let mut branches: Vec<Branch> =
            apps.into_iter().map(|app| self.application(app, &action, diags)).collect();
        self.open.remove(&key);
        let pass = self.exclusive(Vec::new(), &[], diags);
        if !overlaps {
            branches.extend(permissive.then_some(pass));
            return vec![self.join("app-parser()", branches, call.span)];
        }
        // Each on its own: what one does not take passes it.
        let joined = |branch| self.join("app-parser()", vec![branch, pass.clone()], call.span);
        branches.into_iter().map(joined).collect()
    }

    /// The applications an app-parser() tries.
    fn wanted(
        &self,
        topic: &str,
        settings: &Settings,
        span: Span,
        diags: &mut Diagnostics,
    ) -> Vec<&'c Application> {
        let applications = &self.objects.applications;
        if applications.of(topic).next().is_none() {
            if topic.is_empty() {
                let text = "this app-parser() has an empty topic, and so no application: no message matches";
                let finding = Diagnostic::warning("E0121", text, span);
                diags.push(finding.help("name a topic, as in `topic(syslog)`"));
                return Vec::new();
            }
            let text = format!("there is no application of topic `{topic}`: no message matches");
            let near = nearest(topic, applications.list.iter().map(|a| a.topic.text.as_str()));
            // Where other branches stand beside it, the topic is a place where applications may be added.
            let finding = match near.is_none() && self.beside > 0 {
                true => Diagnostic::remark("E0121", text, span),
                false => Diagnostic::warning("E0121", text, span),
            };
            diags.push(match near {
                Some(_) => finding.suggest(near),
                None if applications.list.is_empty() => {
                    finding.help("define one, or add `@include \"scl.conf\"`")
                }
                None => finding.help(format!("define one; there are the topics {}", applications.topics())),
            });
        }
        if !settings.bool("auto-parse").unwrap_or(true) {
            return Vec::new();
        }
        let named = |option: &str, app: &Application| is_named(settings, option, &app.name.text);
        let include = settings.is_set("auto-parse-include");
        applications
            .of(topic)
            .filter(|app| !include || named("auto-parse-include", app))
            .filter(|app| !named("auto-parse-exclude", app))
            .collect()
    }

    fn application(&mut self, app: &'c Application, action: &Action<'_>, diags: &mut Diagnostics) -> Branch {
        let parts = self.objects.applications.parts(app);
        for finding in parts.findings {
            diags.push(finding.clone());
        }
        let mut steps: Vec<Step> =
            parts.filter.and_then(|f| self.filter_step(f, app.name.span, diags)).into_iter().collect();
        steps.extend(self.body(
            ObjectKind::Parser,
            Some(&app.name.text),
            parts.parser.unwrap_or_default(),
            diags,
        ));
        steps.extend(parts.filterx.and_then(|block| self.filterx(block, diags)));
        match action {
            Action::Nothing => {}
            Action::Tag => self.tag(app, &mut steps, diags),
            Action::Variable(variable) => {
                steps.extend(self.made_block(app.name.span, diags, |setting, diags| {
                    filterx::name_application(variable, &app.name.text, setting, diags)
                }));
            }
        }
        self.exclusive(steps, &[], diags)
    }

    /// `.app.name` and the tag `.app.NAME`.
    fn tag(&self, app: &Application, steps: &mut Vec<Step>, diags: &mut Diagnostics) {
        let (name, at) = (&app.name.text, app.name.span);
        let value = Arg { kind: ArgKind::Call(call("value", vec![text(".app.name", at)], at)), span: at };
        for call in [
            call("set-tag", vec![text(&format!(".app.{name}"), at)], at),
            call("set", vec![text(name, at), value], at),
        ] {
            if let Some(rewrite) = self.names.compile_rewrite(&call, diags) {
                let from = self.statement(Kind::Rewrite, Some(name), at);
                steps.push(Step::new(Op::Rewrite(rewrite), from, at));
            }
        }
    }
}

/// What is done with the message that an application has taken.
enum Action<'t> {
    Nothing,
    /// It gets a name and a tag.
    Tag,
    /// A variable of FilterX gets the application's name.
    Variable(AppVariable<'t>),
}

/// As in syslog-ng, a name stands in a list when it stands anywhere in its text.
pub(super) fn is_named(settings: &Settings, option: &str, name: &str) -> bool {
    settings.is_set(option) && settings.list(option).iter().any(|word| word.text.contains(name))
}

fn call(name: &str, args: Vec<Arg>, span: Span) -> Call {
    Call { name: Name { text: name.to_owned(), span }, args, span }
}

fn text(text: &str, span: Span) -> Arg {
    Arg { kind: ArgKind::Str { text: text.to_owned(), quote: Quote::Single }, span }
}
