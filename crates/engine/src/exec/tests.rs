//! Log path semantics, from configuration text, with destinations that note what they are given.

use super::*;
use crate::compile::{Existing, Plan, compile};
use crate::driver::{
    BuildContext, Destination, DestinationDriver, DestinationPart, Registry, SourceDriver, SourcePart, Start,
};
use crate::ledger::DestinationCounters;
use crate::outlet::Outlet;
use crate::plan_map::StepId;
use crate::program::Format;
use crate::source::{Carrier, Finish, Settings as SourceSettings, Source, SourceName};
use crate::watch::{Event, Message, Sight, Watch, Watching};
use crate::worker::Shared;
use conf_schema::{Catalogue, Component, Context, Settings};
use diag::Diagnostics;
use filter::FilterContext;
use record::{Span, Stamp};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;
use template::Identity;

thread_local! {
    static SEEN: RefCell<Vec<(String, String)>> = const { RefCell::new(Vec::new()) };
}

const fn component(context: Context, name: &'static str) -> Component {
    Component {
        context,
        name,
        aliases: &[],
        positional: &[],
        groups: &[],
        own: &[],
        presets: &[],
        not_yet: &[],
        summary: "",
        example: "",
        cost: None,
    }
}

static IN: Component = component(Context::Source, "in");
static OUT: Component = component(Context::Destination, "out");
static OPTIONS: Component = component(Context::Options, "options");
static CATALOGUE: Catalogue = Catalogue {
    components: &[
        &IN,
        &OUT,
        &OPTIONS,
        &parsers::csv::CSV_PARSER,
        &parsers::grouping_by::GROUPING_BY,
        &parsers::regexp::REGEXP_PARSER,
    ],
    unavailable: &[],
};
static REGISTRY: Registry = Registry {
    sources: &[&[SourcePart::new(&IN, source)]],
    destinations: &[&[DestinationPart::new(&OUT, destination)]],
    options: &OPTIONS,
    catalogue: &CATALOGUE,
};

struct Nothing;
impl Start for Nothing {
    fn start(&self, _shared: &Arc<Shared>, _source: &Arc<Source>) -> Result<(), diag::Fault> {
        Ok(())
    }
    fn needs(&self) -> Vec<crate::Need<'_>> {
        Vec::new()
    }
}

fn source(_: &Settings, cx: &BuildContext<'_>, _: &mut Diagnostics) -> Result<SourceDriver, diag::Reported> {
    Ok(SourceDriver {
        key: cx.id(),
        opened_with: String::new(),
        driver: "in",
        instance: String::new(),
        carrier: Carrier::Other,
        settings: Box::new(|program| {
            SourceSettings::new(wire::SyslogOptions::default(), Finish::default(), program)
        }),
        start: Box::new(Nothing),
    })
}

struct Note {
    group: String,
    counters: Arc<DestinationCounters>,
}

impl Format for Note {
    fn format(&self, batch: &mut Batch, selection: &[u32], _: &mut Scratch, _: &mut Outbox) {
        for index in selection {
            let text = |span: Span| String::from_utf8_lossy(batch.bytes(span)).into_owned();
            let record = &batch.records[*index as usize];
            SEEN.with_borrow_mut(|s| {
                s.push((self.group.clone(), format!("{}{}", text(record.host), text(record.message))))
            });
        }
    }

    fn preview(&self, _: &mut Batch, _: u32, _: &mut Scratch) -> Vec<(String, Vec<u8>)> {
        Vec::new()
    }

    fn reads(&self, demand: &mut record::Demand) {
        demand.everything = true;
    }
}

impl Destination for Note {
    fn counters(&self) -> &Arc<DestinationCounters> {
        &self.counters
    }
    fn start(&self, _: &Arc<Shared>) -> Result<(), diag::Fault> {
        Ok(())
    }
    fn outlets(&self) -> Vec<Arc<Outlet>> {
        Vec::new()
    }
    fn described(&self) -> (&'static str, String) {
        ("out", String::new())
    }
}

fn destination(
    _: &Settings,
    cx: &BuildContext<'_>,
    _: &mut Diagnostics,
) -> Result<DestinationDriver, diag::Reported> {
    let note = Note { group: cx.group.to_owned(), counters: Arc::default() };
    Ok(DestinationDriver { key: cx.id(), destination: Arc::new(note) })
}

/// Runs the log paths of source `s` on messages with one-letter texts; `expected` is `destination:texts` by
/// destination.
#[track_caller]
fn check(config: &str, messages: &str, expected: &str, unmatched: usize) {
    for watched in [false, true] {
        check_one(config, messages, (expected, unmatched), watched);
    }
}

/// Counts what it is told: each message arrives and ends once, each step that begins ends.
#[derive(Default)]
struct Told {
    arrived: usize,
    ended: usize,
    open: BTreeMap<StepId, isize>,
}

impl Watch for Told {
    fn see(&mut self, _: &Source, _: Message, event: &Event<'_>) {
        match event {
            Event::Received(_) => self.arrived += 1,
            Event::Begins(at) => *self.open.entry(at.id).or_default() += 1,
            Event::Ends(at, _) => *self.open.entry(at.id).or_default() -= 1,
            Event::Finished => self.ended += 1,
            _ => {}
        }
    }

    fn look(&mut self, _: Message, _: &mut Sight<'_>) {}

    fn wants_changes(&self, _: Message) -> bool {
        true
    }

    fn follows(&mut self, _: &Source, _: &Batch, _: &Record, _: &mut FilterContext) -> bool {
        true
    }
}

/// A configuration with source `s`, compiled.
#[track_caller]
pub(crate) fn plan_of(config: &str) -> Plan {
    let text = format!("@version: 4.2\nsource s {{ in(); }};\n{config}");
    let parsed = conf_syntax::parse_text("test.conf", &text, &conf_syntax::ParseOptions::default());
    let (mut diags, identity) = (parsed.diagnostics, Identity::new("here"));
    let made = compile(&parsed.config, &parsed.sources, &REGISTRY, &identity, &Existing::new(), &mut diags);
    made.plan.unwrap_or_else(|| panic!("{}", diag::render_all(&diags, &parsed.sources)))
}

/// What destinations of this thread were given since this was asked last, each with its statement.
pub(crate) fn seen() -> Vec<(String, String)> {
    SEEN.take()
}

#[track_caller]
fn check_one(config: &str, messages: &str, (expected, unmatched): (&str, usize), watched: bool) {
    SEEN.with_borrow_mut(Vec::clear);
    let outcome = run_on(&plan_of(config), messages, watched);
    let mut by_name = BTreeMap::<String, Vec<String>>::new();
    SEEN.with_borrow(|s| s.iter().for_each(|(g, m)| by_name.entry(g.clone()).or_default().push(m.clone())));
    let got: Vec<String> = by_name.into_iter().map(|(g, m)| format!("{g}:{}", m.join(","))).collect();
    assert_eq!(got.join(" "), expected, "{config}");
    assert_eq!(outcome, Outcome { routed: messages.len() - unmatched, unmatched }, "{config}");
}

/// Runs messages with one-letter texts.
fn run_on(plan: &Plan, messages: &str, watched: bool) -> Outcome {
    let identity = Identity::new("here");
    let mut batch = Batch::default();
    batch.contexts.push(Arc::new(record::Context::local("s", "", "local")));
    for (at, letter) in messages.bytes().enumerate() {
        let mut record = Record::new(Span::EMPTY);
        record.message = batch.append(&[letter]);
        record.origin = at as u32;
        batch.records.push(record);
    }
    let mut scratch = Scratch::new(identity);
    scratch.begin_batch(Stamp::default());
    scratch.prepare(&plan.sources[0].program);
    let mut out = Outbox::default();
    let program = &plan.sources[0].program;
    match watched {
        false => Machine::default().run(program, &mut batch, &mut scratch, &mut out),
        true => {
            let settings = SourceSettings::ready_made(Finish::default(), Arc::clone(program));
            let source = Source::new(
                SourceName {
                    group: "s".into(),
                    id: "s#0".into(),
                    driver: "in",
                    instance: String::new(),
                    carrier: Carrier::Other,
                },
                settings,
            );
            let mut told = Told::default();
            let watch = Watching::new(&source, None, &mut told);
            let outcome = Machine::default().run_watched(program, &mut batch, &mut scratch, &mut out, watch);
            // Those that contexts made come in too.
            let all = messages.len() + batch.joined();
            assert_eq!((told.arrived, told.ended), (all, all));
            assert!(told.open.values().all(|open| *open == 0));
            assert!(told.open.keys().all(|id| plan.map.entry(*id).is_some()));
            outcome
        }
    }
}

const DESTINATIONS: &str = "destination d1 { out(); }; destination d2 { out(); }; destination d3 { out(); };
    filter a { message('a' type(string)); }; filter b { message('b' type(string)); };
    rewrite big { set('X' value('HOST')); }; rewrite bigger { set('Y' value('HOST')); };\n";

#[track_caller]
fn check_paths(paths: &str, messages: &str, expected: &str, unmatched: usize) {
    check(&format!("{DESTINATIONS}{paths}"), messages, expected, unmatched);
}

#[test]
fn every_path_sees_every_message() {
    check_paths(
        "log { source(s); destination(d1); }; log { source(s); filter(a); destination(d2); };",
        "abc",
        "d1:a,b,c d2:a",
        0,
    );
    check_paths("log { source(s); filter(a); destination(d1); };", "abc", "d1:a", 2);
}

#[test]
fn a_final_path_keeps_what_it_matched() {
    check_paths(
        "log { source(s); filter(a); destination(d1); flags(final); };
         log { source(s); filter(b); destination(d2); flags(final); };
         log { source(s); destination(d3); };",
        "abcab",
        "d1:a,a d2:b,b d3:c",
        0,
    );
}

#[test]
fn a_fallback_path_gets_the_rest() {
    check_paths(
        "log { source(s); destination(d3); flags(fallback); }; log { source(s); filter(a); destination(d1); };",
        "abc",
        "d1:a d3:b,c",
        0,
    );
}

#[test]
fn what_a_path_writes_no_other_sees() {
    check_paths(
        "log { source(s); rewrite(big); destination(d1); }; log { source(s); destination(d2); };
         log { source(s); rewrite(bigger); destination(d3); };",
        "ab",
        "d1:Xa,Xb d2:a,b d3:Ya,Yb",
        0,
    );
}

#[test]
fn embedded_paths_fork() {
    check_paths(
        "log { source(s); rewrite(big); log { filter(a); rewrite(bigger); destination(d1); }; log { destination(d2); }; };
         log { source(s); destination(d3); };",
        "ab",
        "d1:Ya d2:Xa,Xb d3:a,b",
        0,
    );
}

#[test]
fn a_final_parent_is_final_only_for_what_a_child_took() {
    check_paths(
        "log { source(s); log { filter(a); destination(d1); }; flags(final); }; log { source(s); destination(d2); };",
        "ab",
        "d1:a d2:b",
        0,
    );
}

#[test]
fn a_junction_joins_what_its_channels_made() {
    check_paths(
        "log { source(s); junction { channel { filter(a); rewrite(big); flags(final); };
           channel { filter(b); rewrite(bigger); flags(final); }; }; destination(d1); };
         log { source(s); destination(d2); };",
        "abcba",
        "d1:Xa,Yb,Yb,Xa d2:a,b,c,b,a",
        0,
    );
}

/// Branches that begin with parsers are passed by without trying; the parsers count as if they were tried.
#[test]
fn parsers_that_are_passed_by_count_what_they_refuse() {
    let config = format!(
        "{DESTINATIONS} parser pa {{ regexp-parser(patterns('a')); }}; parser pb {{ regexp-parser(patterns('b|x')); }};
         parser pc {{ regexp-parser(patterns('c')); }};
         log {{ source(s); if {{ parser(pa); }} elif {{ channel {{ parser(pb); rewrite(big); }}; }} elif {{ filter(b); }}
           elif {{ parser {{ channel {{ parser(pc); filter(a); }}; }}; }} else {{ rewrite(bigger); }}; destination(d1); }};"
    );
    for watched in [false, true] {
        SEEN.with_borrow_mut(Vec::clear);
        let plan = plan_of(&config);
        run_on(&plan, "abcabxyc", watched);
        let seen: Vec<String> = seen().into_iter().map(|(_, message)| message).collect();
        assert_eq!(seen.join(","), "a,Xb,Yc,a,Xb,Xx,Yy,Yc");
        let counts = |name: &str| {
            let counters = &plan.parsers[name];
            (counters.matched.value(), counters.not_matched.value())
        };
        assert_eq!([counts("pa"), counts("pb"), counts("pc")], [(2, 6), (3, 3), (2, 1)], "{watched}");
    }
}

#[test]
fn channels_that_both_match_make_two_messages() {
    check_paths(
        "log { source(s); junction { channel { rewrite(big); }; channel { filter(a); }; }; destination(d1); };",
        "ab",
        "d1:Xa,a,Xb",
        0,
    );
}

/// One branch leaves the message as it is, a later one is final and writes: the first one's is left alone.
#[test]
fn a_final_channel_does_not_write_to_what_an_earlier_one_left() {
    check_paths(
        "log { source(s); junction { channel { filter(a); }; channel { rewrite(big); flags(final); }; }; destination(d1); };",
        "ab",
        "d1:a,Xa,Xb",
        0,
    );
    check_paths(
        "log { source(s); junction { channel { junction { channel { filter(a); flags(final); }; }; };
           channel { filter(a); rewrite(big); flags(final); }; channel { rewrite(bigger); flags(final); }; };
           destination(d1); };",
        "ab",
        "d1:a,Xa,Yb",
        0,
    );
}

/// Two branches leave the message as it is: two messages go on, and each is changed once.
#[test]
fn what_two_channels_left_is_changed_once_each() {
    check_paths(
        "rewrite twice { subst('^' 'Z' value('MESSAGE')); };
         log { source(s); junction { channel { filter(a); }; channel { }; }; rewrite(twice); destination(d1); };",
        "ab",
        "d1:Za,Za,Zb",
        0,
    );
}

#[test]
fn conditions_take_the_first_branch_that_matches() {
    check_paths(
        "log { source(s); if (message('a' type(string))) { rewrite(big); } elif (message('b' type(string))) { rewrite(bigger); };
           destination(d1); };",
        "abc",
        "d1:Xa,Yb,c",
        0,
    );
    check_paths(
        "log { source(s); if { filter(a); rewrite(big); } else { rewrite(bigger); }; destination(d1); };",
        "ab",
        "d1:Xa,Yb",
        0,
    );
}

#[test]
fn a_message_that_fails_after_its_condition_goes_nowhere() {
    check_paths(
        "log { source(s); if (message('a' type(string)) or message('b' type(string))) { rewrite(big); filter(a); }
           else { rewrite(bigger); }; destination(d1); };",
        "abc",
        "d1:Xa,Yc",
        1,
    );
}

#[test]
fn a_branch_that_fails_half_way_leaves_no_trace() {
    check_paths(
        "log { source(s); if { rewrite(big); filter(a); } else { destination(d2); }; destination(d1); };",
        "ab",
        "d1:Xa,b d2:b",
        0,
    );
}

#[test]
fn a_destination_of_two_paths_gets_its_messages_in_order() {
    check_paths(
        "log { source(s); filter(a); rewrite(big); destination(d1); }; log { source(s); filter(b); destination(d1); };
         log { source(s); destination(d1); };",
        "abc",
        "d1:Xa,a,b,b,c",
        0,
    );
}

#[test]
fn many_siblings_are_asked_together_with_the_same_answer() {
    let letters = "abcdefgh";
    let filters: String = letters
        .chars()
        .map(|c| format!("filter f{c} {{ message('{c}' type(string)); }}; destination o{c} {{ out(); }};\n"))
        .collect();
    let paths: String = letters
        .chars()
        .map(|c| {
            format!("log {{ source(s); filter(f{c}); rewrite(big); destination(o{c}); flags(final); }};\n")
        })
        .collect();
    let config = format!("{DESTINATIONS}{filters}{paths}log {{ source(s); destination(d1); }};");
    check(&config, "hgxaahz", "d1:x,z oa:Xa,Xa og:Xg oh:Xh,Xh", 0);
}

#[test]
fn a_final_sibling_takes_nothing_from_those_it_did_not_match() {
    check_paths(
        "log { source(s); filter(a); destination(d1); };
         log { source(s); filter(b); destination(d2); flags(final); };
         log { source(s); destination(d3); };",
        "abc",
        "d1:a d2:b d3:a,c",
        0,
    );
}

#[test]
fn filters_asked_together_overlap() {
    check_paths(
        "log { source(s); junction {
             channel { filter { message('[ab]'); }; rewrite(big); flags(final); };
             channel { filter { message('[bc]'); }; rewrite(bigger); flags(final); };
             channel { filter { message('[cd]'); }; flags(final); };
         }; destination(d1); };",
        "bacde",
        "d1:Xb,Xa,Yc,d",
        1,
    );
}

#[test]
fn catchall_reads_all_sources() {
    check_paths("log { filter(a); destination(d1); flags(catchall); };", "ab", "d1:a", 1);
}

#[test]
fn a_source_statement_may_read_another_one() {
    check_paths(
        "source t { channel { source(s); rewrite(big); filter(a); }; };
         log { source(t); destination(d1); }; log { source(s); destination(d2); };",
        "ab",
        "d1:Xa d2:a,b",
        0,
    );
}

#[test]
fn what_a_parser_sets_is_seen_in_its_branch_only() {
    let parse = "parser p { csv-parser(columns('HOST')); }; parser two { csv-parser(columns('X', 'HOST') drop-invalid(yes)); };\n";
    let check = |paths: &str, expected: &str, unmatched| {
        check_paths(&format!("{parse}{paths}"), "ab", expected, unmatched);
    };
    check("log { source(s); parser(p); destination(d1); };", "d1:aa,bb", 0);
    check("log { source(s); parser(two); destination(d1); };", "", 2);
    check(
        "log { source(s); parser(p); destination(d1); }; log { source(s); destination(d2); };",
        "d1:aa,bb d2:a,b",
        0,
    );
    check(
        "log { source(s); destination(d3); log { parser(p); destination(d1); }; log { parser(two); destination(d2); }; log { destination(d2); }; };",
        "d1:aa,bb d2:a,b d3:a,b",
        0,
    );
    check(
        "log { source(s); if { parser(two); rewrite(big); } elif { parser(p); filter(a); } else { rewrite(bigger); };
         destination(d1); };",
        "d1:aa,Yb",
        0,
    );
    check(
        "log { source(s); junction { channel { parser(p); filter(b); }; channel { filter(a); }; }; destination(d1); };",
        "d1:a,bb",
        0,
    );
}

mod correlation;
