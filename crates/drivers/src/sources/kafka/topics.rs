//! `topic()`: which topics and partitions are read.

use conf_schema::Settings;
use diag::{Diagnostic, Diagnostics, Span};
use kafka::TopicPartition;
use parking_lot::Mutex;
use pattern::{Cache, Pattern, PatternOptions};
use std::fmt;
use std::sync::Arc;

/// Partitions have numbers below that.
const PARTITIONS_MAX: i32 = 100_000;
const ALL: &str = "-1";

enum Name {
    Literal(Arc<[u8]>),
    Pattern(Box<Pattern>),
}

struct Entry {
    text: String,
    name: Name,
    /// Empty: all.
    partitions: Vec<i32>,
}

pub struct Topics {
    entries: Vec<Entry>,
    cache: Mutex<Cache>,
    subscription: bool,
}

impl Topics {
    /// `None` after an error was reported.
    pub fn read(s: &Settings, diags: &mut Diagnostics) -> Option<Topics> {
        let mut entries: Vec<Entry> = Vec::new();
        for pair in s.pairs("topic") {
            let name = name(&pair.key.text, pair.key.span, diags)?;
            let partitions = partitions(&pair.value.text, pair.value.span, diags)?;
            entries.push(Entry { text: pair.key.text.clone(), name, partitions });
        }
        if entries.is_empty() {
            let finding = Diagnostic::error("D0162", "kafka() does not say which topics", s.call_span()?);
            diags.push(finding.help("add `topic(\"name\" => \"-1\")`"));
            return None;
        }
        let is_open = |e: &Entry| e.partitions.is_empty() || matches!(e.name, Name::Pattern(_));
        let hinted = s.choice("strategy-hint") == Some("subscribe");
        let of_all = entries.iter().any(is_open);
        if hinted && !of_all {
            let twice = |e: &Entry| {
                e.partitions.len() > 1 || entries.iter().filter(|other| other.text == e.text).count() > 1
            };
            if let Some(entry) = entries.iter().find(|e| twice(e)) {
                let text = format!(
                    "a subscription has all partitions of a topic, and several are named of `{}`",
                    entry.text
                );
                let finding = Diagnostic::error("D0162", text, s.span("topic")?);
                diags.push(finding.help("write \"-1\", or strategy-hint(assign)"));
                return None;
            }
        }
        Some(Topics { entries, cache: Mutex::default(), subscription: hinted || of_all })
    }

    /// All partitions of the topics are read, also those that come later.
    pub fn is_subscription(&self) -> bool {
        self.subscription
    }

    /// The topics, where all are named.
    pub fn names(&self) -> Option<Vec<Arc<[u8]>>> {
        let literal = |entry: &Entry| match &entry.name {
            Name::Literal(name) => Some(Arc::clone(name)),
            Name::Pattern(_) => None,
        };
        let mut names = self.entries.iter().map(literal).collect::<Option<Vec<_>>>()?;
        names.sort_unstable();
        names.dedup();
        Some(names)
    }

    /// The partitions, where all are named.
    pub fn places(&self) -> Vec<TopicPartition> {
        if self.subscription {
            return Vec::new();
        }
        let each = self.entries.iter().filter_map(|entry| match &entry.name {
            Name::Literal(name) => Some((name, &entry.partitions)),
            Name::Pattern(_) => None,
        });
        let place = |(topic, partition)| TopicPartition { topic, partition };
        each.flat_map(|(name, all)| all.iter().map(move |partition| (Arc::clone(name), *partition)))
            .map(place)
            .collect()
    }

    /// Whether a topic is read.
    pub fn has(&self, topic: &[u8]) -> bool {
        let mut cache = self.cache.lock();
        self.entries.iter().any(|entry| match &entry.name {
            Name::Literal(name) => **name == *topic,
            // Those of the cluster's own are read where they are named.
            Name::Pattern(pattern) => !topic.starts_with(b"__") && pattern.is_match(topic, &mut cache),
        })
    }
}

impl fmt::Display for Topics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, entry) in self.entries.iter().enumerate() {
            let comma = if at > 0 { ";" } else { "" };
            let partitions: Vec<String> = entry.partitions.iter().map(i32::to_string).collect();
            let partitions = if partitions.is_empty() { ALL.to_owned() } else { partitions.join(",") };
            write!(f, "{comma}{}:{partitions}", entry.text)?;
        }
        Ok(())
    }
}

fn name(text: &str, at: Span, diags: &mut Diagnostics) -> Option<Name> {
    if kafka::is_topic_name(text.as_bytes()) {
        return Some(Name::Literal(text.as_bytes().into()));
    }
    match Pattern::compile(text, &PatternOptions::default()) {
        Ok(pattern) if !text.is_empty() => Some(Name::Pattern(Box::new(pattern))),
        outcome => {
            let why = outcome.err().map_or(String::new(), |error| format!(": {error}"));
            let text = format!("`{text}` is neither the name of a topic nor a regular expression{why}");
            diags.push(Diagnostic::error("D0162", text, at));
            None
        }
    }
}

fn partitions(text: &str, at: Span, diags: &mut Diagnostics) -> Option<Vec<i32>> {
    if text.trim() == ALL {
        return Some(Vec::new());
    }
    let number = |text: &str| text.trim().parse().ok().filter(|n| (0..PARTITIONS_MAX).contains(n));
    let found: Option<Vec<i32>> = text.split(',').map(number).collect();
    if found.is_none() {
        let text = format!("`{text}` is no list of partitions");
        diags.push(
            Diagnostic::error("D0162", text, at).help("write numbers with commas between, or \"-1\" for all"),
        );
    }
    found
}
