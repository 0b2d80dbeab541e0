//! What a component costs on the message path, in words, and the benchmark that shows it: a part of its manual page.

use crate::{Component, Context};

mod drivers;

/// A component, what its cost depends on, and what measures it.
pub struct Cost {
    pub context: Context,
    pub component: &'static str,
    pub note: &'static str,
    pub measured: Measured,
}

pub enum Measured {
    /// A case of `penstock bench`.
    Bench(&'static str),
    /// The inputs under the component's name in the example `parser_cost` of the parsers.
    Example,
    /// No case of its own: the component is there for small numbers of messages, or does what another one does.
    Elsewhere,
}

const fn cost(component: &'static str, note: &'static str, case: &'static str) -> Cost {
    Cost { context: Context::Parser, component, note, measured: Measured::Bench(case) }
}

const fn by_example(component: &'static str, note: &'static str) -> Cost {
    Cost { context: Context::Parser, component, note, measured: Measured::Example }
}

/// Of parsers and of drivers.
pub fn all() -> impl Iterator<Item = &'static Cost> {
    PARSERS.iter().chain(drivers::DRIVERS)
}

/// By the components' names.
const PARSERS: &[Cost] = &[
    cost(
        "add-contextual-data",
        "One look into a table in memory per message, besides what its selector costs; values that nothing reads are not made.",
        "contextual-data",
    ),
    cost(
        "app-parser",
        "The filters of up to 64 applications are decided together: hundreds of applications cost little more than a few.",
        "applications-300",
    ),
    by_example(
        "cef-parser",
        "One pass over the text; extensions that nothing reads are passed over, and only values with a backslash are copied.",
    ),
    cost("csv-parser", "One pass up to the last column that is read; the others are passed over.", "csv"),
    cost(
        "date-parser",
        "The format is compiled once; the zone's rules are asked only when the hour changes.",
        "date",
    ),
    cost(
        "db-parser",
        "The text is looked at once, whatever the number of rules: 10,000 cost about what 10 do. One connection is worked on by all cores; contexts see its messages in order.",
        "patterndb-10000",
    ),
    by_example(
        "geoip2",
        "One walk through the tree in memory, a step for each bit of the address at most. Only values that something reads are decoded; where everything is read, a worker keeps what it made of a record for the next message.",
    ),
    by_example(
        "group-lines",
        "A line costs its key, the look at how it begins and ends, and a copy of what is read of it; the patterns are matched in front of the lock of its context. A message is made once for all its lines.",
    ),
    by_example(
        "grouping-by",
        "A message costs its key, a copy of what is read of it, and `trigger()`; `having()` and the aggregate are worked out once a group. Contexts are spread over 16 locks, each taken once a batch.",
    ),
    cost(
        "json-parser",
        "One pass over the text; members that nothing reads are passed over, but the whole object is checked.",
        "json",
    ),
    cost("kv-parser", "One pass over the text; keys that nothing reads are passed over.", "kv"),
    by_example(
        "leef-parser",
        "One pass over the text; attributes that nothing reads are passed over, and no value is copied.",
    ),
    by_example(
        "linux-audit-parser",
        "One pass over the text; keys that nothing reads are passed over, and their values are not decoded.",
    ),
    by_example(
        "map-value-pairs",
        "Every value that is named is made and copied, whether something reads it or not: narrow patterns in `key()` cost least.",
    ),
    by_example(
        "metrics-probe",
        "The labels are made and looked up once a message; a counter is added to once a batch. A probe above the level of `stats()` costs nothing.",
    ),
    cost(
        "regexp-parser",
        "Time linear in the text wherever the pattern allows; groups that nothing reads are not found.",
        "regexp-captures",
    ),
    by_example(
        "sdata-parser",
        "The text is checked as a whole, then read once; parameters that nothing reads are passed over.",
    ),
    by_example(
        "snmptrapd-parser",
        "One pass over the text; variables that nothing reads are not kept. With `set-message-macro(no)` no MESSAGE is made of them.",
    ),
    by_example(
        "syslog-parser",
        "What a source pays for the same text, whole batches at a time, besides a copy of the record.",
    ),
    by_example("tags-parser", "One pass over the list; a worker knows the words it has seen as tags."),
    by_example(
        "windows-eventlog-xml-parser",
        "As xml(): one pass over the text; elements that nothing reads are checked and passed over.",
    ),
    cost("xml", "One pass over the text; elements that nothing reads are checked and passed over.", "xml"),
];

/// The part of a page; nothing for a component without a note. Every parser and driver has one, which a test of the program checks.
pub fn section(component: &Component) -> String {
    let known = all().find(|cost| cost.context == component.context && cost.component == component.name);
    known.map_or_else(String::new, |cost| {
        let (note, name) = (cost.note, cost.component);
        match cost.measured {
            Measured::Bench(case) => {
                format!("\n## Cost\n\n{note} `penstock bench --cases {case}` measures it.\n")
            }
            Measured::Example => {
                format!("\n## Cost\n\n{note} `cargo run --release -p parsers --example parser_cost {name}` measures it.\n")
            }
            Measured::Elsewhere => format!("\n## Cost\n\n{note}\n"),
        }
    })
}
