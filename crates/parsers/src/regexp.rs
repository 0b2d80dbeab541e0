//! `regexp-parser()`: named groups of the first pattern that matches.

use crate::build::Build;
use crate::input::Input;
use crate::options::{PARSER, PREFIX};
use crate::parse::{Parse, Writes};
use conf_schema::{Component, Context, Cost, Kind, OptionSpec as Opt, Preset, Settings};
use diag::{Diagnostic, nearest};
use filter::{Filter, FilterContext, store_matches, wrong_pattern};
use pattern::{Pattern, PatternOptions};
use record::{Batch, Demand, NameId};
use std::sync::Arc;

pub static REGEXP_PARSER: Component = Component {
    context: Context::Parser,
    name: "regexp-parser",
    aliases: &[],
    positional: &[],
    groups: &[&PARSER],
    own: &[
        Opt::new(
            "patterns",
            Kind::TextList,
            Preset::None,
            "Patterns, tried in this order; the first that matches counts.",
        )
        .collects(),
        PREFIX,
        Opt::new(
            "flags",
            Kind::TextList,
            Preset::None,
            "Flags of the patterns, as of filters: `ignore-case`, `utf8` ...",
        )
        .collects(),
        Opt::new("type", Kind::Text, Preset::Text("pcre"), "The type of the patterns."),
    ],
    presets: &[],
    not_yet: &[],
    summary: "Matches a text with regular expressions; named groups become values, numbered ones `$1`, `$2` ... A text that no \
              pattern matches does not pass.",
    example: "regexp-parser(patterns(\"user=(?<user>\\\\w+)\", \"uid=(?<uid>[0-9]+)\") prefix(\".re.\"))",
    cost: Some(Cost::bench(
        "Time linear in the text wherever the pattern allows; groups that nothing reads are not found.",
        "regexp-captures",
    )),
};

#[derive(Clone)]
struct Regexp {
    input: Input,
    patterns: Arc<[Matcher]>,
    /// Any group is read.
    stores: bool,
}

struct Matcher {
    pattern: Arc<Pattern>,
    groups: Vec<Option<NameId>>,
}

pub fn build(settings: &Settings, b: &mut Build<'_>) -> Option<Arc<dyn Parse>> {
    let input = b.input(settings);
    let mut options = PatternOptions { captures: true, ..PatternOptions::default() };
    let mut good = true;
    for flag in settings.list("flags") {
        if let Err(error) = options.set_flag(&flag.text) {
            let near = nearest(&flag.text, pattern::FLAG_NAMES);
            b.diags.push(Diagnostic::error(error.code, error.message, flag.span).suggest(near));
            good = false;
        }
    }
    if let Err(error) = options.set_kind(settings.text("type").unwrap_or("pcre")) {
        b.diags.error(error.code, error.message, settings.span("type").unwrap_or(b.span));
        good = false;
    }
    let prefix = settings.text("prefix").unwrap_or_default();
    let texts = settings.list("patterns");
    if texts.is_empty() {
        b.wrong("regexp-parser() needs patterns()", None, "as patterns(\"user=(?<user>\\\\w+)\")");
    }
    let mut patterns = Vec::new();
    for text in texts {
        let pattern = match Pattern::compile(&text.text, &options) {
            Ok(pattern) => Arc::new(pattern),
            Err(e) => {
                b.diags.push(wrong_pattern("A0104", &e, &text.text, text.span));
                continue;
            }
        };
        let mut groups = Vec::with_capacity(pattern.names().len());
        for name in pattern.names() {
            let name = name.as_ref().map(|name| format!("{prefix}{name}"));
            groups.push(match name.filter(|name| !b.stays_macro(name, "group", text.span)) {
                Some(name) => Some(b.name(&name, text.span)?),
                None => None,
            });
        }
        patterns.push(Matcher { pattern, groups });
    }
    let complete = good && !patterns.is_empty() && patterns.len() == texts.len();
    let input = input?;
    complete.then(|| Arc::new(Regexp { input, patterns: patterns.into(), stores: true }) as Arc<dyn Parse>)
}

impl Regexp {
    fn one(&self, batch: &mut Batch, index: usize, cx: &mut FilterContext) -> bool {
        let Some(span) = self.input.span(batch, index, cx) else { return false };
        let text = batch.bytes(span);
        if !self.stores {
            return self.patterns.iter().any(|m| m.pattern.is_match(text, &mut cx.work.patterns));
        }
        let mut slots = std::mem::take(&mut cx.work.slots);
        let patterns = &mut cx.work.patterns;
        let found = self.patterns.iter().find(|m| m.pattern.captures(text, 0, patterns, &mut slots));
        if let Some(matcher) = found {
            store_matches(batch, index, span, &slots, &matcher.groups, &[&cx.work.wanted]);
        }
        cx.work.slots = slots;
        found.is_some()
    }
}

impl Parse for Regexp {
    fn parse(&self, batch: &mut Batch, selection: &mut Vec<u32>, cx: &mut FilterContext) {
        selection.retain(|index| self.one(batch, *index as usize, cx));
    }

    fn reads(&self, demand: &mut Demand) {
        self.input.reads(demand);
    }

    fn writes(&self) -> Writes {
        let names = self.patterns.iter().flat_map(|m| m.groups.iter().flatten().copied());
        Writes::names(names.chain((0..=NameId::MATCH_MAX).map(NameId)).collect())
    }

    fn guard(&self) -> Option<Arc<Filter>> {
        let patterns: Vec<Arc<Pattern>> = self.patterns.iter().map(|m| Arc::clone(&m.pattern)).collect();
        Some(Arc::new(Filter::of_patterns(self.input.name()?, &patterns)))
    }

    fn narrowed(&self, demand: &Demand) -> Option<Arc<dyn Parse>> {
        let read = |n: &NameId| demand.names.contains(n) || demand.sdata && n.is_sdata();
        let group = |m: &Matcher| {
            let numbers = (0..m.groups.len()).filter_map(|n| u8::try_from(n).ok()).map(NameId::of_match);
            numbers.chain(m.groups.iter().flatten().copied()).any(|n| read(&n))
        };
        let stores = demand.everything || self.patterns.iter().any(group);
        Some(Arc::new(Regexp { stores, ..self.clone() }))
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{build, check, check_codes};

    #[test]
    fn the_first_pattern_that_matches_counts() {
        let text = "regexp-parser(patterns('user=(?<user>\\w+) id=(?<id>\\d+)', '(?<w>xyz)') prefix('p.'))";
        check(text, "user=root id=5", "0=user=root id=5|1=root|2=5|p.id=5|p.user=root");
        check(text, "a xyz 77", "0=xyz|1=xyz|p.w=xyz");
        check(text, "none", "no match");
        check(
            "regexp-parser(patterns('(?<a>X)|(?<b>Y)') flags(ignore-case) template('$MSG!'))",
            "y",
            "0=y|2=y|b=y",
        );
        check("regexp-parser(patterns('(?<=k=)(?<v>.)'))", "k=1", "0=1|1=1|v=1");
    }

    #[test]
    fn what_is_wrong_is_said() {
        check_codes("regexp-parser(patterns('('))", &["A0104"]);
        check_codes("regexp-parser()", &["A0102"]);
        // Macros keep their meaning: a warning.
        let (made, codes, _) = build("regexp-parser(patterns('(?<DATE>a)'))");
        assert!(made.is_some());
        assert_eq!(codes, ["A0106"]);
        check_codes("regexp-parser(patterns('a') flags(nonsense))", &["X0105"]);
    }
}
