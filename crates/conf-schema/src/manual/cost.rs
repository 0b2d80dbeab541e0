//! What a component costs on the message path, in words, and the benchmark that shows it: a part of its manual page.

/// A component, what its cost depends on, and the case of `penstock bench` that measures it.
pub struct Cost {
    pub component: &'static str,
    pub note: &'static str,
    pub case: &'static str,
}

const fn cost(component: &'static str, note: &'static str, case: &'static str) -> Cost {
    Cost { component, note, case }
}

/// By the components' names.
pub const COSTS: &[Cost] = &[
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
    cost(
        "json-parser",
        "One pass over the text; members that nothing reads are passed over, but the whole object is checked.",
        "json",
    ),
    cost("kv-parser", "One pass over the text; keys that nothing reads are passed over.", "kv"),
    cost(
        "regexp-parser",
        "Time linear in the text wherever the pattern allows; groups that nothing reads are not found.",
        "regexp-captures",
    ),
    cost("xml", "One pass over the text; elements that nothing reads are checked and passed over.", "xml"),
];

/// The part of a page; nothing for a component without a benchmark of its own.
pub fn section(component: &str) -> String {
    let known = COSTS.iter().find(|cost| cost.component == component);
    known.map_or_else(String::new, |cost| {
        format!("\n## Cost\n\n{} `penstock bench --cases {}` measures it.\n", cost.note, cost.case)
    })
}
