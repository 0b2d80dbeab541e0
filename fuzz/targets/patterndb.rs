//! Fuzzes the loader of pattern databases and the matcher: any file is read or refused, and what was read can
//! be searched.
#![no_main]

use patterndb::rules::Scratch;
use patterndb::{Rules, load};

driver::fuzz_target!(|input: &[u8]| {
    let mut loaded = load("fuzz", input);
    let Some(database) = loaded.database.take() else {
        assert!(loaded.diags.has_errors());
        return;
    };
    let texts: Vec<String> = database
        .rulesets
        .iter()
        .flat_map(|r| r.rules.iter().flat_map(|rule| rule.examples.iter().map(|e| e.message.clone())))
        .collect();
    let rules = Rules::compile(database, "", &mut loaded.diags);
    let mut scratch = Scratch::default();
    for text in texts.iter().map(String::as_bytes).chain([input]) {
        if let Some(found) = rules.find(b"app", text, &mut scratch) {
            assert!(rules.rule(found.rule).is_some());
            for (captured, capture) in rules.captured(found, &scratch) {
                let of = if captured.program { b"app" } else { text };
                assert!(capture.value.end() <= of.len() && capture.end as usize <= of.len());
            }
        }
    }
});
