//! Every step of every program is in the map, once, with what it stands in.

use super::*;
use crate::compile::Plan;
use crate::exec::tests::plan_of;
use crate::program::Program;
use std::collections::BTreeMap;

const CONFIG: &str = "
    filter f { message('a'); };
    parser p { csv-parser(columns('C')); };
    destination d { out(); out(); };
    log own { source(s); filter(f); if { filter { message('b'); }; parser(p); } else { filter(f); };
        junction { channel { filter(f); }; channel { parser(p); }; }; destination(d); };
    log { source(s); filter(f); log { filter { message('c'); }; destination(d); }; };
";

/// Calls `see` with each step and branch: its identity, and what it stands in.
fn walk(branches: &[Branch], parent: Option<StepId>, see: &mut dyn FnMut(StepId, Option<StepId>, String)) {
    for branch in branches {
        see(branch.id, parent, branch.at.as_ref().map_or_else(String::new, |at| at.rule.clone()));
        for step in &branch.steps {
            see(step.id, Some(branch.id), step.from.rule.clone());
            if let Op::Fork(inner) | Op::Join(inner) = &step.op {
                walk(&inner.list, Some(step.id), see);
            }
        }
    }
}

fn each_step(program: &Program, see: &mut dyn FnMut(StepId, Option<StepId>, String)) {
    walk(&program.branches.list, None, see);
}

#[test]
fn every_step_has_an_identity_of_its_own() {
    let Plan { sources, map, .. } = plan_of(CONFIG);
    let mut seen = BTreeMap::new();
    each_step(&sources[0].program, &mut |id, parent, rule| {
        let entry = map.entry(id).expect("an entry");
        assert_eq!((entry.id, entry.parent), (id, parent), "{rule}");
        assert_eq!(entry.statement.as_ref().map_or("", |at| at.rule.as_str()), rule);
        assert!(seen.insert(id, rule).is_none(), "{id:?} stands twice");
    });
    let entrance = sources[0].at.id;
    assert_eq!(map.entry(entrance).map(Entry::label).as_deref(), Some("source s#0"));
    seen.insert(entrance, String::new());
    assert_eq!(map.entries().count(), seen.len(), "nobody else is in the map");
}

#[test]
fn steps_of_one_statement_share_its_counters_and_nothing_else() {
    let map = plan_of(CONFIG).map;
    let of_f: Vec<&Entry> = map.entries().filter(|entry| entry.label() == "filter f").collect();
    assert_eq!(of_f.len(), 4);
    let counters = |entry: &Entry| match &entry.counters {
        Counters::Statement(counters) => Arc::as_ptr(counters),
        _ => panic!("a filter counts"),
    };
    assert!(of_f.iter().all(|entry| counters(entry) == counters(of_f[0])));
    let way: Vec<String> = map.way_up(of_f[2].id).map(Entry::label).collect();
    assert_eq!(way, ["filter f", "branch 1", "join", "log path own"]);
    let way: Vec<String> = map.way_up(of_f[1].id).map(Entry::label).collect();
    assert_eq!(way, ["filter f", "branch 2", "join", "log path own"]);
    let own = map.entries().find(|entry| entry.label() == "log path own").expect("the path");
    let children: Vec<String> = map.children(own.id).map(Entry::label).collect();
    assert_eq!(children, ["filter f", "join", "join", "destination d#0", "destination d#1"]);
}
