//! Filters that stand behind parsers, rewrites or other filters of their log path and could stand before
//! them. Whether they may is another question: they must not read what those change.

use crate::configuration::Configuration;
use conf_syntax::{Config, LogItem, LogPath, ObjectKind, Statement};
use diag::SourceMap;
use std::ops::Range;

/// Characters of a filter without a name that are shown.
const SHOWN_CHARS: usize = 40;

/// A filter at an earlier place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Earlier {
    /// `filter f_ssh before parser p_kv (relay.conf:15)`
    pub words: String,
    /// From the step that it goes before to its own place, where they stand in the text.
    steps: Vec<Range<usize>>,
    /// The log path, there.
    pub path: Range<usize>,
}

impl Earlier {
    /// What is to stand where so that the filter is first, and the others follow in their order.
    pub fn edits(&self, text: &str) -> Vec<(Range<usize>, String)> {
        let of = |range: &Range<usize>| text.get(range.clone()).unwrap_or_default().to_owned();
        let in_turn = self.steps.last().into_iter().chain(&self.steps);
        self.steps.iter().cloned().zip(in_turn.map(of)).collect()
    }
}

/// All of a configuration. `first` is the one that people know, `whole` the same in one text.
pub fn of(first: &Configuration, whole: &Configuration) -> Vec<Earlier> {
    let shown = paths(first.config());
    let mut found = Vec::new();
    for (path, original) in paths(whole.config()).into_iter().zip(shown) {
        in_path(path, original, &first.parsed.sources, &mut found);
    }
    found
}

fn paths(config: &Config) -> Vec<&LogPath> {
    let logs = config.items.iter().filter_map(|statement| match statement {
        Statement::Log(path) => Some(path),
        _ => None,
    });
    logs.collect()
}

/// Each filter goes as far to the front as it can: behind sources, and behind what is no step.
fn in_path(path: &LogPath, original: &LogPath, sources: &SourceMap, found: &mut Vec<Earlier>) {
    let items = &path.items;
    for (place, item) in items.iter().enumerate().filter(|(_, item)| is_filter(item)) {
        let steps = items.iter().take(place).rev().take_while(|item| is_step(item)).count();
        let (begin, Some(before)) = (place - steps, original.items.get(place - steps)) else { continue };
        if steps == 0 || original.items.len() != items.len() {
            continue;
        }
        let at = sources.locate(before.span());
        let file = at.file.rsplit('/').next().unwrap_or_default();
        let words = format!("{} before {} ({file}:{})", words(item), words(before), at.line);
        let ranges = items.iter().skip(begin).take(steps + 1).map(|item| item.span());
        let steps = ranges.map(|span| span.start as usize..span.end as usize).collect();
        let path = path.span.start as usize..path.span.end as usize;
        found.push(Earlier { words, steps, path });
    }
}

fn is_filter(item: &LogItem) -> bool {
    match item {
        LogItem::Reference(reference) => reference.kind == ObjectKind::Filter,
        LogItem::InlineFilter(..) => true,
        _ => false,
    }
}

/// A message goes through it, and on.
fn is_step(item: &LogItem) -> bool {
    let changes = |kind: ObjectKind| matches!(kind, ObjectKind::Parser | ObjectKind::Rewrite);
    match item {
        LogItem::Reference(reference) => changes(reference.kind) || is_filter(item),
        LogItem::Inline(inline) => changes(inline.kind),
        LogItem::InlineFilter(..) | LogItem::FilterX(_) => true,
        _ => false,
    }
}

fn words(item: &LogItem) -> String {
    match item {
        LogItem::Reference(reference) => format!("{} {}", reference.kind.keyword(), reference.name.text),
        LogItem::Inline(inline) => format!("a {}", inline.kind.keyword()),
        LogItem::InlineFilter(Some(expr), _) => {
            let text: String = expr.canonical().chars().take(SHOWN_CHARS).collect();
            format!("filter {{ {text} }}")
        }
        LogItem::FilterX(_) => "a block of FilterX".to_owned(),
        _ => "a step".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_go_before_what_stands_in_front_of_them() {
        let text = "@version: 4.11\nlog { source(s); parser(p); rewrite(r); filter(f); destination(d); };\n\
                    log { source(s); filter(f); destination(d); filter(g); };\n";
        let read = || Configuration::read_text("x.conf", text);
        let found = of(&read(), &read());
        let words: Vec<&str> = found.iter().map(|earlier| earlier.words.as_str()).collect();
        assert_eq!(words, ["filter f before parser p (x.conf:2)"]);
        let mut edited = text.to_owned();
        for (range, with) in found[0].edits(text).into_iter().rev() {
            edited.replace_range(range, &with);
        }
        assert!(edited.contains("source(s); filter(f); parser(p); rewrite(r); destination(d);"), "{edited}");
    }
}
