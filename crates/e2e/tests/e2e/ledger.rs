//! The ledger against what files outside hold: wherever a message ends, the rows add up, agree with them, and
//! one of them names the statement that ended it.

use crate::messages::HEAD;
use std::collections::BTreeSet;
use testkit::{Lab, Ledger, Penstock, Row, Sender, run_command, wait_until};

/// Ten messages: those with even numbers are of the program `keep`, the others of `lose`, and their text is
/// no number.
const SENT: usize = 10;
const IN: &str = "network(ip(127.0.0.1) port(%tcp:in%));";
const STATEMENTS: &str = "options { stats(level(1)); };\n\
     filter f_keep { program(\"keep\"); }; filter f_other { program(\"other\"); };\n\
     parser p_csv { csv-parser(columns(\"number\", \"rest\") delimiters(\":\") template(\"$MSG\") flags(drop-invalid)); };\n\
     destination d { file(\"%dir%/out\" template(\"$MSG\\n\")); };\n";
/// Closes a group of five messages of one program.
const FIVES: &str = "key(\"$PROGRAM\") trigger(\"$(context-length)\" eq \"5\") timeout(1000)";

struct Case {
    name: &'static str,
    config: String,
    /// Messages that came in and are in the files in the end.
    arrived: usize,
    /// The same of messages that parsers made; their text begins with `made`.
    made: usize,
    /// What a row says whose name or detail holds a text: received, delivered, filtered, dropped.
    rows: Vec<(&'static str, [u64; 4])>,
}

/// A case whose source is plain.
fn in_path(name: &'static str, paths: &str, arrived: usize) -> Case {
    Case { name, config: format!("source s {{ {IN} }};\n{paths}"), arrived, made: 0, rows: Vec::new() }
}

/// A case whose source has steps of its own.
fn in_channel(name: &'static str, steps: &str, arrived: usize) -> Case {
    let config = format!(
        "source s {{ channel {{ source {{ {IN} }}; {steps} }}; }};\nlog q {{ source(s); destination(d); }};"
    );
    Case { name, config, arrived, made: 0, rows: Vec::new() }
}

impl Case {
    fn made(self, made: usize) -> Case {
        Case { made, ..self }
    }

    fn row(mut self, part: &'static str, numbers: [u64; 4]) -> Case {
        self.rows.push((part, numbers));
        self
    }

    fn check(&self) {
        let lab = Lab::new();
        let mut penstock = Penstock::start(&lab, &format!("{HEAD}{STATEMENTS}{}\n", self.config));
        let mut sender = Sender::tcp(lab.port("in"));
        for n in 0..SENT {
            let (program, text) = if n % 2 == 0 { ("keep", "") } else { ("lose", "x") };
            sender.line(&format!("<13>Nov 11 01:02:03 host {program}: {text}{n}"));
        }
        let ledger = penstock.wait_settled(SENT as u64);
        let stats = penstock.stats();
        penstock.stop();
        self.judge(&ledger, &lab.lines("out"));
        let source = ledger.source("s");
        assert!(stats.contains(&format!("source;s;;a;processed;{}\n", source.received)), "{stats}");
        for d in ledger.destinations {
            assert!(stats.contains(&format!(";written;{}\n", d.delivered)), "{}: {stats}", self.name);
            assert!(stats.contains(&format!(";dropped;{}\n", d.dropped)), "{}: {stats}", self.name);
        }
    }

    fn judge(&self, ledger: &Ledger, lines: &[String]) {
        let name = self.name;
        ledger.assert_balanced();
        let (made, came): (Vec<&String>, Vec<&String>) = lines.iter().partition(|l| l.starts_with("made"));
        let different: BTreeSet<&String> = came.iter().copied().collect();
        assert_eq!((different.len(), made.len()), (self.arrived, self.made), "{name}: {lines:?}\n{ledger}");
        let written: u64 = ledger.destinations.iter().map(|row| row.delivered).sum();
        assert_eq!(written, lines.len() as u64, "{name}: what is in the files\n{ledger}");
        let dropped: u64 = ledger.destinations.iter().map(|row| row.dropped).sum();
        let source = ledger.source("s");
        assert_eq!(source.delivered, self.arrived as u64 + dropped, "{name}: of what came\n{ledger}");
        let generated = ledger.sources.iter().filter(|row| row.detail == "generated");
        let generated: u64 = generated.map(|row| row.delivered).sum();
        assert_eq!(generated, self.made as u64, "{name}: of what was made\n{ledger}");
        for (part, numbers) in &self.rows {
            let rows = || ledger.sources.iter().chain(&ledger.paths).chain(&ledger.destinations);
            let mut found: Vec<_> = rows().filter(|row| row.name == *part).collect();
            if found.is_empty() {
                found.extend(rows().filter(|row| format!("{} {}", row.name, row.detail).contains(part)));
            }
            let [row] = found.as_slice() else { panic!("{name}: {} rows of {part}\n{ledger}", found.len()) };
            let said = [row.received, row.delivered, row.filtered, row.dropped];
            assert_eq!(said, *numbers, "{name}: {part}\n{ledger}");
        }
    }
}

#[test]
fn what_ends_in_log_paths() {
    let rest = "log { source(s); destination(d); };";
    let cases = [
        in_path("a filter", "log p { source(s); filter(f_keep); destination(d); };", 5).row("p", [10, 5, 5, 0]),
        in_path("a parser", "log p { source(s); parser(p_csv); destination(d); };", 0).row("p", [10, 0, 10, 0]),
        in_path("a filter behind the destination", "log p { source(s); destination(d); filter(f_keep); };", 10)
            .row("s#0", [10, 10, 0, 0])
            .row("p", [10, 10, 0, 0]),
        in_path("a path without a destination", "log p { source(s); };", 0)
            .row("s#0", [10, 0, 10, 0])
            .row("p", [10, 0, 10, 0]),
        in_path("final", &format!("log p {{ source(s); filter(f_keep); flags(final); }}; {rest}"), 5)
            .row("s#0", [10, 5, 5, 0])
            .row("p", [10, 0, 10, 0]),
        in_path(
            "fallback",
            "log { source(s); filter(f_keep); destination(d); }; log p { source(s); flags(fallback); };",
            5,
        )
        .row("p", [5, 0, 5, 0]),
        in_path(
            "a junction",
            "log p { source(s); junction { channel { filter(f_keep); }; channel { filter(f_other); }; }; destination(d); };",
            5,
        )
        .row("p", [10, 5, 5, 0]),
        in_path(
            "an if",
            "log p { source(s); if (program(\"lose\")) { filter(f_keep); } else { rewrite { set-tag(\"x\"); }; }; destination(d); };",
            5,
        )
        .row("p", [10, 5, 5, 0]),
        in_path(
            "embedded paths",
            "log p { source(s); log { filter(f_keep); destination(d); }; log { filter(f_other); destination(d); }; };",
            5,
        )
        .row("p", [10, 5, 5, 0]),
        in_path(
            "a destination in a branch",
            "log p { source(s); junction { channel { filter(f_keep); destination(d); }; channel { }; }; filter(f_other); };",
            5,
        )
        .row("p", [10, 5, 5, 0]),
        in_path(
            "a rate",
            "log p { source(s); filter { rate-limit(template(\"all\") rate(1)) and program(\"other\"); }; destination(d); };",
            0,
        )
        .row("p", [10, 0, 10, 0]),
    ];
    cases.iter().for_each(Case::check);
}

#[test]
fn what_ends_in_the_channel_of_a_source() {
    let cases = [
        in_channel("a filter", "filter(f_keep);", 5)
            .row("s#0", [10, 5, 5, 0])
            .row("filter f_keep", [10, 5, 5, 0])
            .row("in source s,", [10, 5, 5, 0]),
        in_channel("an inline filter", "filter { program(\"keep\"); };", 5).row("in source s,", [10, 5, 5, 0]),
        in_channel("a parser", "parser(p_csv);", 0).row("parser p_csv", [10, 0, 10, 0]),
        in_channel("an inline parser", "parser { json-parser(); };", 0)
            .row("parser json-parser()", [10, 0, 10, 0]),
        in_channel("a channel in it", "channel { rewrite { set-tag(\"x\"); }; filter(f_keep); };", 5)
            .row("filter f_keep", [10, 5, 5, 0]),
        in_channel(
            "a junction",
            "junction { channel { filter(f_keep); }; channel { filter(f_other); }; };",
            5,
        )
        .row("junction: filter f_keep, filter f_other", [10, 5, 5, 0]),
        in_channel(
            "a junction that makes two of one",
            "junction { channel { filter(f_keep); }; channel { filter(f_keep); }; };",
            5,
        )
        .row("junction: filter f_keep", [10, 5, 5, 0])
        .row("q", [5, 5, 0, 0]),
        in_channel("an if", "if (program(\"lose\")) { filter(f_other); };", 5)
            .row("if: filter, filter f_other", [10, 5, 5, 0]),
        in_channel("two of a kind in one line", "filter { program(\"keep\"); }; filter { program(\"other\"); };", 0)
            .row("number 2", [5, 0, 5, 0]),
        in_channel("two steps", "filter(f_keep); parser(p_csv);", 0)
            .row("s#0", [10, 0, 10, 0])
            .row("filter f_keep", [10, 5, 5, 0])
            .row("parser p_csv", [5, 0, 5, 0]),
        Case {
            config: format!(
                "block source chosen(which(\"\")) {{ channel {{ source {{ {IN} }}; filter {{ program(`which`); }}; }}; }};\n\
                 source s {{ chosen(which(\"keep\")); }};\nlog {{ source(s); destination(d); }};"
            ),
            ..in_channel("a block", "", 5)
        }
        .row("in chosen()", [10, 5, 5, 0]),
        Case {
            config: format!(
                "source inner {{ {IN} }};\nsource outer {{ channel {{ source(inner); filter(f_keep); }}; }};\n\
                 log {{ source(outer); destination(d); }};"
            )
            .replace("inner", "s"),
            ..in_channel("a source of another source", "", 5)
        }
        .row("in source outer", [10, 5, 5, 0]),
    ];
    cases.iter().for_each(Case::check);
}

#[test]
fn what_is_made_and_ends() {
    let made = "aggregate(value(\"MESSAGE\" \"made\") value(\"PROGRAM\" \"made\"))";
    let parser = |more: &str| format!("parser {{ grouping-by({FIVES} {made} {more}); }};");
    let path = |items: &str| format!("log p {{ source(s); {items} }};");
    let cases = [
        in_channel("a filter behind it in the channel", &format!("{} filter(f_keep);", parser("")), 5)
            .row("generated", [2, 0, 2, 0])
            .row("filter f_keep", [12, 5, 7, 0]),
        in_channel("nothing refuses it in the channel", &parser(""), 10).made(2).row("generated", [2, 2, 0, 0]),
        in_channel("alone in the channel", &parser("inject-mode(aggregate-only)"), 0)
            .made(2)
            .row("generated", [2, 2, 0, 0])
            .row("parser grouping-by()", [10, 0, 10, 0]),
        in_path("a filter behind it", &path(&format!("{} filter(f_keep); destination(d);", parser(""))), 5)
            .row("generated", [2, 0, 2, 0])
            .row("p", [12, 5, 7, 0]),
        in_path("no destination", &path(&parser("")), 0).row("generated", [2, 0, 2, 0]),
        in_path("an embedded path", &path(&format!("log {{ {} destination(d); }};", parser(""))), 10)
            .made(2)
            .row("generated", [2, 2, 0, 0])
            .row("p", [12, 12, 0, 0]),
        in_path(
            "a second one swallows it",
            &path(&format!(
                "{} parser {{ grouping-by(key(\"$HOST\") timeout(1000) trigger(program(\"never\")) inject-mode(aggregate-only) \
                 having(program(\"never\")) aggregate(value(\"a\" \"b\"))); }}; destination(d);",
                parser("")
            )),
            0,
        )
        .row("generated", [2, 0, 2, 0]),
        in_path("nobody hears internal()", &path(&format!("{} destination(d);", parser("inject-mode(internal)"))), 10)
            .row("generated", [2, 0, 2, 0]),
        in_path(
            "at the end",
            &path(
                "parser { grouping-by(key(\"$PROGRAM\") timeout(1000) inject-mode(aggregate-only) \
                 aggregate(value(\"MESSAGE\" \"late\"))); }; destination(d);",
            ),
            0,
        )
        .row("p", [10, 0, 10, 0]),
    ];
    let (at_end, others) = cases.split_last().unwrap();
    others.iter().for_each(Case::check);
    made_at_the_end(at_end);
}

/// What open groups make when the program stops is delivered, after the last look at the ledger.
fn made_at_the_end(case: &Case) {
    let lab = Lab::new();
    let mut penstock = Penstock::start(&lab, &format!("{HEAD}{STATEMENTS}{}\n", case.config));
    let mut sender = Sender::tcp(lab.port("in"));
    (0..SENT).for_each(|n| sender.line(&format!("<13>Nov 11 01:02:03 host p{}: {n}", n % 3)));
    case.judge(&penstock.wait_settled(SENT as u64), &lab.lines("out"));
    penstock.stop();
    assert_eq!(lab.lines("out"), ["late"; 3]);
}

#[test]
fn what_ends_at_destinations() {
    let cases = [
        in_path(
            "a name outside",
            "destination e { file(\"%dir%/out${PROGRAM}/../../x\" template(\"$MSG\\n\")); };\nlog p { source(s); destination(e); };",
            0,
        )
        .row("e#0", [10, 0, 0, 10]),
        in_path(
            "a filter of the destination",
            "destination e { channel { filter(f_keep); destination(d); }; };\nlog p { source(s); destination(e); };",
            5,
        )
        .row("p", [10, 5, 5, 0]),
    ];
    cases.iter().for_each(Case::check);
}

/// The file's name says nothing of a pod, so the message that was made of its line is refused.
#[test]
fn kubernetes_says_where_its_lines_ended() {
    let lab = Lab::new();
    std::fs::create_dir(lab.path("pods")).unwrap();
    std::fs::write(lab.path("pods/other.log"), "2026-01-02T03:04:05.678901234Z stdout F a line\n").unwrap();
    let config = format!(
        "@include \"scl.conf\"\n{STATEMENTS}source s {{ kubernetes(base-dir(\"%dir%/pods\")); }};\n\
         log {{ source(s); destination(d); }};\n"
    );
    let mut penstock = Penstock::start(&lab, &format!("{HEAD}{config}"));
    let ledger = penstock.wait_settled(1);
    let state = lab.path("state");
    let table = run_command(&["ledger", "--state-dir", state.to_str().unwrap()]).stdout;
    penstock.stop();
    ledger.assert_balanced();
    assert!(lab.lines("out").is_empty());
    assert_eq!((ledger.source("s").filtered, ledger.destination("d").received), (1, 0), "{ledger}");
    let made = ledger.sources.iter().find(|row| row.detail == "generated").expect("what was made");
    assert_eq!((made.received, made.delivered, made.filtered), (1, 0, 1), "{ledger}");
    let refused = ledger.paths.iter().find(|row| row.name == "parser regexp-parser()").expect("its row");
    assert_eq!((refused.received, refused.filtered), (1, 1), "{ledger}");
    assert!(refused.detail.contains("kubernetes()"), "{ledger}");
    assert!(table.contains("parser regexp-parser()") && table.contains("in kubernetes()"), "{table}");
}

#[test]
fn rules_that_make_messages_balance() {
    let lab = Lab::new();
    let rules = "<patterndb version='5' pub_date='2026-01-01'><ruleset name='a' id='a'><pattern>keep</pattern><rules>\
         <rule id='r' class='system' provider='p'><patterns><pattern>@NUMBER:v@</pattern></patterns><actions><action>\
         <message inherit-mode='last-message'><values><value name='MESSAGE'>made</value><value name='PROGRAM'>made</value></values>\
         </message></action></actions></rule></rules></ruleset></patterndb>";
    std::fs::write(lab.path("rules.xml"), rules).unwrap();
    let path = lab.path("rules.xml").display().to_string();
    let parser = format!("parser {{ db-parser(file(\"{path}\") inject-mode(pass-through)); }};");
    for (items, arrived, made, numbers) in
        [("destination(d);", 10, 5, [5, 5, 0, 0]), ("filter(f_keep); destination(d);", 5, 0, [5, 0, 5, 0])]
    {
        let case = in_path("rules", &format!("log p {{ source(s); {parser} {items} }};"), arrived).made(made);
        case.row("generated", numbers).check();
    }
}

/// Steps of a source keep their counts over a reload that changes something else.
#[test]
fn a_reload_keeps_the_rows() {
    let lab = Lab::new();
    let case = in_channel("reload", "filter(f_keep);", 5);
    let config = format!("{HEAD}{STATEMENTS}{}\n", case.config);
    let mut penstock = Penstock::start(&lab, &config);
    let mut sender = Sender::tcp(lab.port("in"));
    for round in 1..=2 {
        (0..4).for_each(|n| sender.line(&format!("<13>Nov 11 01:02:03 host lose: {n}")));
        let ledger = penstock.wait_settled(4 * round);
        let row = ledger.paths.iter().find(|row| row.name == "filter f_keep").expect("its row");
        assert_eq!((row.filtered, ledger.source("s").filtered), (4 * round, 4 * round), "{ledger}");
        penstock.reload_with(&lab, &format!("# a line more\n{config}").replace("# a line more\n@", "@"));
        wait_until("the row", || penstock.ledger().paths.iter().any(|row| row.name == "filter f_keep"));
    }
    penstock.stop();
}

/// What reloads take away or replace stays in the account: the sums agree with what was sent and with the
/// files, each time.
#[test]
fn what_reloads_have_removed_keeps_its_counts() {
    const MARK: &str = "(removed)";
    let first = format!(
        "{HEAD}options {{ stats(level(1)); }};\nsource s {{ network(ip(127.0.0.1) port(%tcp:one%)); }};\n\
         parser p {{ grouping-by({FIVES} aggregate(value(\"MESSAGE\" \"made\"))); }};\n\
         destination d {{ file(\"%dir%/one\" template(\"$MSG\\n\")); }};\n\
         log {{ source(s); parser(p); destination(d); }};\n"
    );
    let second = format!(
        "{HEAD}options {{ stats(level(1)); }};\nsource s {{ network(ip(127.0.0.1) port(%tcp:two%)); }};\n\
         destination d {{ file(\"%dir%/two\" template(\"$MSG\\n\")); }};\n\
         destination more {{ file(\"%dir%/more\" template(\"$MSG\\n\")); }};\n\
         log two {{ source(s); destination(d); destination(more); }};\n"
    );
    let lab = Lab::new();
    let mut penstock = Penstock::configure(&lab, &first).free().ready();
    let lines = |name: &str| if lab.path(name).exists() { lab.lines(name).len() as u64 } else { 0 };
    let mut sent = 0;
    for round in 0..5 {
        let (port, config) = if round % 2 == 0 { ("one", &second) } else { ("two", &first) };
        let mut sender = Sender::tcp(lab.port(port));
        for n in 0..SENT {
            sender.line(&format!("<13>Nov 11 01:02:03 host p: {n}"));
        }
        sender.finish();
        sent += SENT as u64;
        for reloaded in [false, true] {
            if reloaded {
                penstock.reload_with(&lab, config);
            }
            let ledger = penstock.wait_settled(sent);
            ledger.assert_nothing_lost();
            let written = lines("one") + lines("two") + lines("more");
            let delivered: u64 = ledger.destinations.iter().map(|row| row.delivered).sum();
            let made: u64 = ledger.sources.iter().map(|row| row.received).sum::<u64>() - sent;
            let entered: u64 = ledger.paths.iter().map(|row| row.received).sum();
            assert_eq!(
                (delivered, made, entered),
                (written, lines("one") - lines("one") * 10 / 12, sent + made)
            );
            assert_eq!(ledger.destination("d").received, sent + made, "{ledger}");
        }
        let ledger = penstock.ledger();
        let removed = |rows: &[Row]| rows.iter().filter(|row| row.detail.ends_with(MARK)).count();
        let twice = usize::from(round > 0);
        assert_eq!(removed(&ledger.sources), 2 + twice, "{ledger}");
        assert_eq!(removed(&ledger.paths), 1 + twice, "{ledger}");
        assert_eq!(removed(&ledger.destinations), 1 + 2 * twice, "{ledger}");
        let metrics = penstock.request("STATS PROMETHEUS");
        let series: Vec<&str> = metrics
            .lines()
            .filter_map(|line| Some(line.rsplit_once(' ')?.0))
            .filter(|s| s.contains('{'))
            .collect();
        assert_eq!(
            series.iter().collect::<BTreeSet<_>>().len(),
            series.len(),
            "a series comes twice:\n{metrics}"
        );
    }
    let folder = lab.path("state");
    let outcome = run_command(&["ledger", "--state-dir", &folder.to_string_lossy()]);
    assert!(outcome.code == Some(0) && outcome.stdout.contains(MARK), "{outcome:?}");
    penstock.stop();
}
