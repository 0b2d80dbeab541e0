//! Messages that parsers with contexts make: they go on from where they were made, and the paths' accounts
//! add up.

use super::*;
use crate::compile::Plan;
use crate::ledger::PathCounters;

/// A parser that makes a message before every `b`, with M before its text.
const PARSERS: &str = "parser pass { grouping-by(key('k') timeout(60) trigger(message('b')) aggregate(value('HOST' 'M'))); };
    parser only { grouping-by(key('o') timeout(60) trigger(message('b')) inject-mode(aggregate-only) aggregate(value('HOST' 'M'))); };\n";

#[track_caller]
fn check_made(paths: &str, messages: &str, expected: &str, unmatched: usize) {
    check(&format!("{DESTINATIONS}{PARSERS}{paths}"), messages, expected, unmatched);
}

#[test]
fn made_messages_go_on_before_the_one_that_made_them() {
    check_made("log { source(s); parser(pass); destination(d1); };", "abcb", "d1:a,Mb,b,c,Mb,b", 0);
    check_made("log { source(s); parser(only); destination(d1); };", "abcb", "d1:Mb,Mb", 4);
}

#[test]
fn they_stand_in_their_order_behind_a_junction() {
    check_made(
        "log { source(s); junction { channel { parser(pass); rewrite(big); }; channel { filter(a); }; }; destination(d1); };",
        "abc",
        "d1:Xa,a,Xb,Xb,Xc",
        0,
    );
    check_made(
        "log { source(s); parser(pass); destination(d1); }; log { source(s); filter(a); destination(d1); };",
        "abc",
        "d1:a,a,Mb,b,c",
        0,
    );
}

#[test]
fn what_is_swallowed_goes_to_the_next_branch() {
    check_made(
        "log { source(s); if { parser(only); rewrite(big); } else { rewrite(bigger); }; destination(d1); };",
        "abc",
        "d1:Ya,Xb,Yb,Yc",
        0,
    );
    check_made(
        "log { source(s); parser(only); destination(d1); flags(final); }; log { source(s); destination(d2); };",
        "ab",
        "d1:Mb d2:a,b",
        0,
    );
}

#[test]
fn each_reference_has_contexts_of_its_own() {
    let twice = "parser three { grouping-by(key('k') timeout(60) trigger(\"$(context-length)\" eq \"3\") inject-mode(aggregate-only)
        aggregate(value('HOST' 'M'))); };\n";
    check(
        &format!(
            "{DESTINATIONS}{twice}log {{ source(s); parser(three); destination(d1); }}; log {{ source(s); parser(three); destination(d2); }};"
        ),
        "abcdef",
        "d1:Mc,Mf d2:Mc,Mf",
        6,
    );
}

fn plan(config: &str, existing: &Existing) -> Plan {
    let text = format!("@version: 4.2\nsource s {{ in(); }};\n{DESTINATIONS}{config}");
    let parsed = conf_syntax::parse_text("test.conf", &text, &conf_syntax::ParseOptions::default());
    let mut diags = parsed.diagnostics;
    let made =
        compile(&parsed.config, &parsed.sources, &REGISTRY, &Identity::new("here"), existing, &mut diags);
    made.plan.unwrap_or_else(|| panic!("{}", diag::render_all(&diags, &parsed.sources)))
}

/// Runs messages, or a tick without them, at a second; what the destinations got.
fn run(plan: &Plan, machine: &mut Machine, scratch: &mut Scratch, messages: &str, now: i64) -> String {
    let program = &plan.sources[0].program;
    let present = Stamp { secs: now, usec: 0, offset: 0 };
    let mut batch = Batch::default();
    for (at, letter) in messages.bytes().enumerate() {
        let mut record = Record::new(Span::EMPTY);
        record.message = batch.append(&[letter]);
        (record.origin, record.stamp) = (at as u32, present);
        batch.records.push(record);
    }
    SEEN.with_borrow_mut(Vec::clear);
    scratch.begin_batch(present);
    scratch.prepare(program);
    let mut out = Outbox::default();
    match messages {
        "" => machine.tick(program, &mut batch, scratch, &mut out, None),
        _ => drop(machine.run(program, &mut batch, scratch, &mut out)),
    }
    SEEN.with_borrow(|s| {
        s.iter().map(|(group, text)| format!("{group}:{text}")).collect::<Vec<_>>().join(" ")
    })
}

const TIMED: &str = "parser p { grouping-by(key('k') timeout(5) inject-mode(aggregate-only) aggregate(value('HOST' '$(context-length)'))); };\n";

#[test]
fn a_tick_reaches_parsers_wherever_they_stand() {
    for paths in [
        "log { source(s); filter(a); parser(p); destination(d1); };",
        "log { source(s); destination(d2); }; log { source(s); filter(a); if { parser(p); }; log { destination(d1); }; };",
        "log { source(s); filter(b); destination(d2); }; log { source(s); log { filter(a); parser(p); destination(d1); flags(final); }; };",
    ] {
        let plan = plan(&format!("{TIMED}{paths}"), &Existing::new());
        assert!(plan.sources[0].program.is_stateful());
        let (mut machine, mut scratch) = (Machine::default(), Scratch::new(Identity::new("here")));
        run(&plan, &mut machine, &mut scratch, "aa", 100);
        assert_eq!(run(&plan, &mut machine, &mut scratch, "", 105), "", "{paths}");
        assert_eq!(run(&plan, &mut machine, &mut scratch, "", 106), "d1:3a", "{paths}");
        assert_eq!(run(&plan, &mut machine, &mut scratch, "", 200), "", "{paths}");
    }
}

#[test]
fn the_accounts_of_paths_add_up() {
    let paths = "log { source(s); parser(p); filter(a); destination(d1); }; log { source(s); log { parser(p); destination(d2); }; };";
    let plan = plan(&format!("{TIMED}{paths}"), &Existing::new());
    let (mut machine, mut scratch) = (Machine::default(), Scratch::new(Identity::new("here")));
    run(&plan, &mut machine, &mut scratch, "ba", 100);
    assert_eq!(run(&plan, &mut machine, &mut scratch, "", 106), "d1:3a d2:3a");
    run(&plan, &mut machine, &mut scratch, "ab", 200);
    assert_eq!(run(&plan, &mut machine, &mut scratch, "", 206), "d2:3b", "a filter takes what was made too");
    let counts = plan.paths.iter().map(|p| {
        let PathCounters { ingress, matched, delivered, filtered } = &*p.counters;
        [ingress.value(), matched.value(), delivered.value(), filtered.value()]
    });
    // Four came and two were made, in the second path in an embedded one: nothing comes to the end of the
    // outer one.
    assert_eq!(counts.collect::<Vec<_>>(), [[6, 1, 1, 5], [6, 0, 2, 4]]);
    let made = plan.states.values().map(|state| {
        let c = state.counters();
        [&c.generated, &c.delivered, &c.filtered, &c.in_work]
            .map(|n| n.load(std::sync::atomic::Ordering::Relaxed))
    });
    assert_eq!(made.collect::<Vec<_>>(), [[2, 1, 1, 0], [2, 2, 0, 0]]);
}

#[test]
fn a_reload_finds_the_contexts_again() {
    let path = "log { source(s); parser(p); destination(d1); };";
    let first = plan(&format!("{TIMED}{path}"), &Existing::new());
    let (mut machine, mut scratch) = (Machine::default(), Scratch::new(Identity::new("here")));
    run(&first, &mut machine, &mut scratch, "ab", 100);
    let existing = Existing { states: first.states.clone(), ..Existing::new() };
    let changed = plan(&format!("{TIMED}log {{ source(s); destination(d2); }};{path}"), &existing);
    assert_eq!(run(&changed, &mut machine, &mut scratch, "c", 101), "d2:c");
    assert_eq!(run(&changed, &mut machine, &mut scratch, "", 107), "d1:4c");
    let other = plan(&format!("{}{path}", TIMED.replace("key('k')", "key('x')")), &existing);
    assert!(!other.states.keys().any(|key| first.states.contains_key(key)), "{:?}", other.states.keys());
}
