//! Tags get their numbers in the order in which the configuration names them, as in syslog-ng: `$TAGS` lists
//! them by number. An `app-parser()` names those of its applications where it stands, each with `.app.NAME`
//! behind its own. What no statement names comes behind: `.source.NAME`, then what files of patterns name,
//! then tags made from a message.

use super::applications::Applications;
use conf_syntax::{Arg, ArgKind, Call, Config, Statement, Visit};
use std::collections::BTreeSet;

/// Gives numbers to all tags a configuration names.
pub(super) fn number(config: &Config) {
    let mut applications = Applications::default();
    let (definitions, rest): (Vec<_>, Vec<_>) =
        config.items.iter().partition(|statement| matches!(statement, Statement::Application(_)));
    for definition in &definitions {
        if let Statement::Application(app) = definition {
            applications.define(app);
        }
    }
    let mut tags = Tags { applications: &applications, walked: BTreeSet::new() };
    rest.iter().for_each(|statement| statement.visit(&mut tags));
    // Of those that no app-parser() names.
    definitions.iter().for_each(|statement| statement.visit(&mut tags));
    for statement in &rest {
        if let Statement::Source(source) = statement {
            let _ = record::tag_id(&format!(".source.{}", source.name.text));
        }
    }
}

struct Tags<'a, 'c> {
    applications: &'a Applications<'c>,
    /// Topics whose applications have their numbers, or are about to get them.
    walked: BTreeSet<String>,
}

impl Tags<'_, '_> {
    fn of_topic(&mut self, topic: &str) {
        if !self.walked.insert(topic.to_owned()) {
            return;
        }
        let applications = self.applications;
        for app in applications.of(topic) {
            let parts = applications.parts(app);
            conf_syntax::visit_parts(parts.filter, parts.parser.unwrap_or_default(), self);
            // A full table is reported where the tag is used.
            let _ = record::tag_id(&format!(".app.{}", app.name.text));
        }
    }
}

impl Visit for Tags<'_, '_> {
    fn call(&mut self, call: &Call) {
        if call.is("app-parser") {
            let topic = call.args.iter().find_map(|arg| match &arg.kind {
                ArgKind::Call(inner) if inner.is("topic") => inner.args.first()?.text(),
                _ => None,
            });
            if let Some(topic) = topic {
                self.of_topic(topic);
            }
            return;
        }
        let is_one = call.is("set-tag") || call.is("clear-tag");
        if !is_one && !call.is("tags") {
            return;
        }
        let texts = call.args.iter().filter_map(Arg::text).take(if is_one { 1 } else { usize::MAX });
        // Tags made from a message are not known yet.
        for tag in texts.filter(|tag| !tag.is_empty() && !tag.contains('$')) {
            let _ = record::tag_id(tag);
        }
    }
}
