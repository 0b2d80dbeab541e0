//! `transformation NAME[topic] { transform[t] { step[s] { ... }; }; }` and the `app-transform()` that does
//! what those of a topic say, for the application whose name a variable has.

use super::applications::is_named;
use super::items::End;
use super::paths::Paths;
use crate::program::{Branch, Step};
use conf_schema::{Context, Settings};
use conf_syntax::{Call, LogItem, LogPath, RawBlock, Transformation};
use diag::{Diagnostic, Diagnostics, nearest};
use filterx::AppVariable;

/// What is done with the messages of one application.
struct Wanted<'c> {
    name: &'c str,
    steps: Vec<&'c LogPath>,
}

impl<'c> Wanted<'c> {
    /// Its steps, where they are blocks of FilterX alone.
    fn blocks(&self) -> Option<Vec<&'c RawBlock>> {
        let items = self.steps.iter().flat_map(|step| &step.items);
        items
            .map(|item| match item {
                LogItem::FilterX(raw) => Some(raw),
                _ => None,
            })
            .collect()
    }
}

impl<'c> Paths<'_, 'c> {
    /// A branch for each application whose steps have parsers, one for all others, whose steps become the
    /// cases of one block.
    pub fn app_transform(&mut self, call: &Call, diags: &mut Diagnostics) -> Vec<Step> {
        let Some((_, settings)) = self.settings(Context::Parser, call, diags) else { return Vec::new() };
        let Some(variable) = settings.text("filterx-app-variable") else {
            let text = "app-transform() needs a filterx-app-variable()";
            let help = "name the variable that has the application's name, as in `filterx-app-variable(app)`";
            diags.push(Diagnostic::error("E0120", text, call.name.span).help(help));
            return Vec::new();
        };
        let variable = AppVariable::of(variable, call, self.texts);
        let wanted = self.transformations(call, &settings, diags);
        let mut branches: Vec<Branch> = Vec::new();
        let mut pure: Vec<(&str, Vec<&RawBlock>)> = Vec::new();
        for application in &wanted {
            match application.blocks() {
                Some(blocks) => pure.push((application.name, blocks)),
                None => branches.push(self.transformed(application, &variable, call, diags)),
            }
        }
        let cases = self.made_block(call.span, diags, |setting, diags| {
            filterx::switch_applications(&variable, &pure, setting, diags)
        });
        branches.push(self.exclusive(cases.into_iter().collect(), &[], diags));
        if settings.bool("permissive").unwrap_or(true) {
            branches.push(self.exclusive(Vec::new(), &[], diags));
        }
        vec![self.join("app-transform()", branches, call.span)]
    }

    /// What is to be done, for each application.
    fn transformations(&self, call: &Call, settings: &Settings, diags: &mut Diagnostics) -> Vec<Wanted<'c>> {
        let topic = settings.text("topic").unwrap_or_default();
        let all = &self.objects.applications.transformations;
        let of_topic = || all.iter().copied().filter(|of: &&Transformation| of.topic.text == topic);
        if of_topic().next().is_none() {
            let text =
                format!("there is no transformation of topic `{topic}`: nothing is done with messages");
            let near = nearest(topic, all.iter().map(|of| of.topic.text.as_str()));
            diags.push(Diagnostic::warning("E0121", text, call.span).suggest(near));
        }
        let includes =
            |option: &str, name: &str| !settings.is_set(option) || is_named(settings, option, name);
        of_topic()
            .filter(|of| includes("auto-parse-include", &of.name.text))
            .filter(|of| !is_named(settings, "auto-parse-exclude", &of.name.text))
            .map(|of| {
                let transforms = of.transforms.iter().filter(|transform| {
                    includes("include-transforms", &transform.name.text)
                        && !is_named(settings, "exclude-transforms", &transform.name.text)
                });
                Wanted { name: &of.name.text, steps: transforms.flat_map(|t| &t.steps).collect() }
            })
            .filter(|wanted| !wanted.steps.is_empty())
            .collect()
    }

    /// The steps of an application, for its messages.
    fn transformed(
        &mut self,
        of: &Wanted<'c>,
        variable: &AppVariable<'_>,
        call: &Call,
        diags: &mut Diagnostics,
    ) -> Branch {
        let is_its = self.made_block(call.span, diags, |setting, diags| {
            filterx::is_application(variable, of.name, setting, diags)
        });
        let mut steps: Vec<Step> = is_its.into_iter().collect();
        for step in &of.steps {
            let items: Vec<&LogItem> = step.items.iter().collect();
            steps.extend(self.items(&items, End::Joined, diags));
        }
        self.exclusive(steps, &[], diags)
    }
}
