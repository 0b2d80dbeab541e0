//! `penstock test`: cases that pass, fail with their reason, cover, are updated, are made of live traffic.

use crate::messages::HEAD;
use std::path::PathBuf;
use testkit::{Lab, Outcome, Penstock, Sender, run_command, wait_until};

/// Writes a configuration and its cases; the file of cases.
pub(crate) fn write(lab: &Lab, config: &str, cases: &str) -> PathBuf {
    std::fs::write(lab.path("relay.conf"), lab.fill(config).0).unwrap();
    let path = lab.path("relay.test.toml");
    std::fs::write(&path, cases).unwrap();
    path
}

pub(crate) fn test(path: &std::path::Path, args: &[&str]) -> Outcome {
    run_command(&[&["test", &path.display().to_string()], args].concat())
}

fn config() -> String {
    format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         filter f_ssh {{ program(\"sshd\"); }};\n\
         parser p_kv {{ kv-parser(prefix(\".kv.\")); }};\n\
         rewrite r_mark {{ set-tag(\"seen\"); }};\n\
         destination d_ssh {{ file(\"/nowhere/ssh\" template(\"$HOST $MSG\\n\")); }};\n\
         destination d_rest {{ file(\"/nowhere/$HOST\" template(\"$PROGRAM ${{.kv.user}} $R_UNIXTIME $SOURCEIP\\n\")); }};\n\
         log {{ source(s); filter(f_ssh); destination(d_ssh); }};\n\
         log {{ source(s); filter {{ not filter(f_ssh) and not program(never); }}; parser(p_kv); rewrite(r_mark);\n\
         destination(d_rest); }};\n"
    )
}

const GOOD: &str = r#"
now = 2026-11-23T10:00:00Z
# a comment that stays
[[case]]
name = "ssh alone"
line = "<38>Nov 23 10:00:00 web sshd[7]: Failed password"
not = ["d_rest"]
[[case.expect]]
destination = "d_ssh"
line = "web Failed password"

[[case]]
name = "the rest, with values"
lines = ["<13>Nov 23 10:00:00 web app: user=bob", { hex = "3c31333e 4e6f762032332031303a30303a303020646220613a20757365723d78", after = 5, from = "10.0.0.8:99" }]
from = "10.0.0.7"
[[case.expect]]
destination = "d_rest"
lines = ["app bob 1795428000 10.0.0.7", "a x 1795428005 10.0.0.8"]
tags = ["seen"]
[[case.expect]]
destination = "d_rest#0"
to = "/nowhere/db"
count = 1
values = { ".kv.user" = "x", "${HOST}-$PROGRAM" = "db-a", LEVEL = "notice" }
[[case.expect]]
step = "parser p_kv"
count = 2
[[case.expect]]
destination = "d_rest"
matches = "^(app|a) "

[[case]]
name = "ends at a filter"
line = "<13>Nov 23 10:00:00 web never: x"
dropped = "relay.conf:10"
"#;

#[test]
fn cases_pass_when_the_configuration_does_what_they_say() {
    let lab = Lab::new();
    let path = write(&lab, &config(), GOOD);
    let outcome = test(&path, &["--verbose"]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert!(outcome.stdout.ends_with("3 cases: 3 passed, 0 failed\n"), "{outcome:?}");
    assert!(outcome.stdout.contains("ok     ") && outcome.stdout.contains(": ssh alone"), "{outcome:?}");
    // Cases by name, on one thread, and found by their folder.
    let folder = lab.dir().display().to_string();
    let outcome = run_command(&["test", &folder, "--only", "ssh", "--jobs", "1"]);
    assert!(outcome.stdout.ends_with("1 case: 1 passed, 0 failed\n"), "{outcome:?}");
}

#[test]
fn a_case_that_fails_shows_the_difference_and_the_way() {
    let lab = Lab::new();
    let wrong = [
        ("web Failed password", "web Accepted", "    - web Accepted\n    + web Failed password"),
        ("not = [\"d_rest\"]", "not = [\"d_ssh\"]", "d_ssh: expected nothing, got one message"),
        ("count = 1", "count = 3", "d_rest#0, /nowhere/db: expected 3 messages, got 1"),
        ("\".kv.user\" = \"x\"", "\".kv.user\" = \"y\"", "value .kv.user: expected \"y\", got \"x\""),
        ("tags = [\"seen\"]", "tags = [\"lost\"]", "expected the tag lost"),
        (
            "step = \"parser p_kv\"\ncount = 2",
            "step = \"p_kv\"\ncount = 1",
            "expected one message to come there, got 2",
        ),
        ("step = \"parser p_kv\"", "step = \"p_no\"", "there is no step `p_no`"),
        ("\"^(app|a) \"", "\"^app \"", "expected a match of ^app , got\n    + a x"),
        ("relay.conf:10", "f_ssh2", "expected that the message ends at f_ssh2, it ends at filter"),
        ("destination = \"d_ssh\"", "destination = \"d_none\"", "no log path has a destination `d_none`"),
    ];
    for (from, to, part) in wrong {
        assert!(GOOD.contains(from), "{from}");
        let path = write(&lab, &config(), &GOOD.replacen(from, to, 1));
        let outcome = test(&path, &[]);
        assert_eq!(outcome.code, Some(1), "{to}: {outcome:?}");
        assert!(outcome.stdout.contains(part), "{to}: {}", outcome.stdout);
        assert!(outcome.stdout.ends_with("3 cases: 2 passed, 1 failed\n"), "{to}: {outcome:?}");
        assert!(outcome.stdout.contains("message at source s#0") || part.contains("d_none"), "{outcome:?}");
    }
    // The way of the message that failed is there, step by step.
    let path = write(&lab, &config(), &GOOD.replacen("web Failed", "x", 1));
    let text = test(&path, &[]).stdout;
    assert!(
        text.contains("program(): ") && text.contains("value \"sshd\", pattern \"sshd\"  holds"),
        "{text}"
    );
}

#[test]
fn what_is_wrong_with_the_files_is_said() {
    let lab = Lab::new();
    let path = write(&lab, &config(), "[[case]]\nname = \"a\"\nlin = \"x\"\n");
    let outcome = test(&path, &[]);
    assert!(outcome.code == Some(1) && outcome.stderr.contains("unknown field `lin`"), "{outcome:?}");
    let path = write(&lab, &config(), "[[case]]\nname = \"a\"\nline = \"x\"\n");
    let outcome = test(&path, &[]);
    assert!(outcome.code == Some(1) && outcome.stdout.contains("it cannot fail"), "{outcome:?}");
    let path = write(&lab, "@version: 4.11\nlog { source(s_none); };\n", GOOD);
    let outcome = test(&path, &[]);
    assert!(outcome.code == Some(1) && outcome.stdout.contains("s_none"), "{outcome:?}");
    let empty = lab.path("empty");
    std::fs::create_dir(&empty).unwrap();
    assert_eq!(run_command(&["test", &empty.display().to_string()]).code, Some(2));
}

/// A slip of the pen in `--only` is no test that passed.
#[test]
fn no_case_that_is_meant_is_wrong_usage() {
    let lab = Lab::new();
    let path = write(&lab, &config(), GOOD);
    let outcome = test(&path, &["--only", "no such", "--only", "nor this"]);
    assert_eq!(outcome.code, Some(2), "{outcome:?}");
    assert!(outcome.stderr.contains("no case has no such or nor this in its name"), "{outcome:?}");
    assert_eq!(test(&path, &["--only", "ssh"]).code, Some(0));
}

#[test]
fn how_the_cases_went_as_json() {
    let lab = Lab::new();
    let path = write(&lab, &config(), &GOOD.replacen("web Failed", "x", 1));
    let outcome = test(&path, &["--json", "--coverage"]);
    let said: serde_json::Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert_eq!(
        (&said["version"], &said["passed"], &said["failed"]),
        (&1.into(), &2.into(), &1.into()),
        "{said:#}"
    );
    let suite = &said["configurations"][0];
    assert!(
        suite["error"].is_null() && suite["config"].as_str().unwrap().ends_with("relay.conf"),
        "{said:#}"
    );
    let case = &suite["cases"][0];
    assert_eq!((&case["name"], &case["passed"]), (&"ssh alone".into(), &false.into()));
    assert!(case["failures"][0].as_str().unwrap().contains("d_ssh"), "{case:#}");
    assert!(case["explained"].as_str().unwrap().contains("filter f_ssh"), "{case:#}");
    let step = |label: &str| {
        let steps = suite["coverage"]["steps"].as_array().expect("steps").clone();
        steps.into_iter().find(|step| step["label"] == label).unwrap_or_else(|| panic!("{label}: {suite:#}"))
    };
    assert!(step("filter f_ssh")["passed"].as_u64() > Some(0));
}

#[test]
fn time_passes_as_the_case_says() {
    let lab = Lab::new();
    let config = format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         parser p {{ grouping-by(key(\"$PROGRAM\") timeout(10) aggregate(value(\"MESSAGE\" \"$(context-length) of $PROGRAM\"))\n\
         inject-mode(aggregate-only)); }};\n\
         destination d {{ file(\"/nowhere/d\" template(\"$MSG\\n\")); }};\n\
         log {{ source(s); parser(p); destination(d); }};\n"
    );
    let case = |name: &str, more: &str| {
        format!(
            "[[case]]\nname = \"{name}\"\nnow = 2026-11-23T10:00:00Z\nlines = [\"<13>Nov 23 10:00:00 h a: 1\", \
             {{ text = \"<13>Nov 23 10:00:02 h a: 2\", after = 2 }}]\n{more}\n"
        )
    };
    // The message that is made belongs to the context, too.
    let one = "wait = 30\n[[case.expect]]\ndestination = \"d\"\nline = \"3 of a\"\n";
    let cases = [
        case("closed by time", one),
        case("still open", "wait = 5\ndropped = true\n"),
        case("once more", one),
    ];
    let outcome = test(&write(&lab, &config, &cases.concat()), &[]);
    assert!(outcome.stdout.ends_with("3 cases: 3 passed, 0 failed\n"), "{outcome:?}");
}

#[test]
fn coverage_names_what_no_case_has_taken() {
    let lab = Lab::new();
    let path = write(&lab, &config(), GOOD);
    let files = ["c.txt", "c.html", "c.info", "junit.xml"].map(|name| lab.path(name).display().to_string());
    let [text, html, lcov, junit] = &files;
    let more = [
        "--coverage",
        "--coverage-text",
        text,
        "--coverage-html",
        html,
        "--coverage-lcov",
        lcov,
        "--junit",
        junit,
    ];
    let outcome = test(&path, &[&["--only", "ssh"], &more[..]].concat());
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let gaps: Vec<&str> = outcome.stdout.lines().filter(|line| line.contains("relay.conf:")).collect();
    for part in ["filter f_ssh", "parser p_kv", "rewrite r_mark", "destination d_rest#0"] {
        assert!(gaps.iter().any(|gap| gap.contains(part)), "{part}: {gaps:#?}");
    }
    assert!(
        gaps.iter().any(|gap| gap.contains("filter f_ssh") && gap.ends_with("always holds")),
        "{gaps:#?}"
    );
    assert!(gaps.iter().any(|gap| gap.contains("destination d_rest#0") && gap.ends_with("never reached")));
    assert!(!gaps.iter().any(|gap| gap.contains("destination d_ssh#0")), "{gaps:#?}");
    // All cases together leave less.
    let outcome = test(&path, &more);
    assert!(!outcome.stdout.contains("destination d_rest#0  never reached"), "{outcome:?}");
    assert!(outcome.stdout.contains("parser p_kv") && outcome.stdout.contains("never fails"), "{outcome:?}");
    let lcov = std::fs::read_to_string(lcov).unwrap();
    assert!(
        lcov.contains("SF:") && lcov.contains("relay.conf\n") && lcov.ends_with("end_of_record\n"),
        "{lcov}"
    );
    assert!(lcov.lines().any(|line| line.starts_with("DA:9,") && line != "DA:9,0"), "{lcov}");
    let html = std::fs::read_to_string(html).unwrap();
    assert!(
        html.contains("class=\"part\"") && html.contains("filter f_ssh { program(&quot;sshd&quot;); };"),
        "{html}"
    );
    assert!(std::fs::read_to_string(text).unwrap().contains("| filter f_ssh"));
    let junit = std::fs::read_to_string(junit).unwrap();
    assert!(
        junit.contains("tests=\"3\" failures=\"0\" errors=\"0\"")
            && junit.contains("testcase name=\"ssh alone\"")
    );
}

#[test]
fn files_are_updated_and_nothing_else_in_them_changes() {
    let lab = Lab::new();
    let wrong = GOOD.replace("web Failed password\"", "old\"");
    let new = "[[case]]\nname = \"new\"\nline = \"<13>Nov 23 10:00:00 web app: user=y\"\n";
    let path = write(
        &lab,
        &config(),
        &format!("{wrong}\n{new}").replacen("web sshd[7]: Failed", "web sshd[7]: Accepted", 1),
    );
    let outcome = test(&path, &["--update"]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(
        text.contains("# a comment that stays") && text.contains("line = \"web Accepted password\""),
        "{text}"
    );
    assert!(text.contains("to = \"/nowhere/web\"") && text.contains("app y 1795428000 127.0.0.1"), "{text}");
    assert!(test(&path, &[]).stdout.ends_with("4 cases: 4 passed, 0 failed\n"));
    // What is no line stays wrong.
    std::fs::write(&path, text.replace("\"seen\"", "\"lost\"")).unwrap();
    assert_eq!(test(&path, &["--update"]).code, Some(1));
}

#[test]
fn cases_are_made_of_live_traffic_and_pass() {
    let lab = Lab::new();
    let config = config().replace("/nowhere", &lab.dir().display().to_string());
    let penstock = Penstock::start(&lab, &config);
    let mut sender = Sender::tcp(lab.port("in"));
    let state = lab.path("state").display().to_string();
    let outcome = std::thread::scope(|scope| {
        let asking = scope.spawn(|| {
            run_command(&["test", "--record", "3", "--source", "s", "--state-dir", &state, "--timeout", "60"])
        });
        while !asking.is_finished() {
            ["sshd: \"quoted\"", "app: user=bob", "never: x"].iter().for_each(|text| {
                sender.line(&format!("<13>Nov 23 10:00:00 web {text}"));
            });
            std::thread::park_timeout(std::time::Duration::from_millis(5));
        }
        asking.join().expect("the recording")
    });
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    wait_until("the file", || lab.path("web").exists());
    penstock.stop();
    let path = write(&lab, &config, &outcome.stdout);
    let outcome = test(&path, &[]);
    assert!(
        outcome.stdout.ends_with("3 cases: 3 passed, 0 failed\n"),
        "{outcome:?}\n{}",
        std::fs::read_to_string(&path).unwrap()
    );
}

#[test]
fn examples_of_pattern_databases_join_in() {
    let lab = Lab::new();
    let database = lab.path("p.xml");
    let rule = |id: &str, pattern: &str, example: &str| {
        format!(
            "<rule provider='x' id='{id}' class='system'><patterns><pattern>{pattern}</pattern></patterns>\
             <examples><example><test_message program='app'>{example}</test_message></example></examples></rule>"
        )
    };
    std::fs::write(
        &database,
        format!(
            "<?xml version='1.0'?><patterndb version='4' pub_date='2026-01-01'><ruleset name='r' id='rs'><patterns>\
             <pattern>app</pattern></patterns><rules>{}{}<rule provider='x' id='r3' class='system'><patterns>\
             <pattern>never</pattern></patterns></rule></rules></ruleset></patterndb>",
            rule("r1", "user @ESTRING:u: @in", "user bob in"),
            rule("r2", "user @ESTRING:u: @out", "user bob on"),
        ),
    )
    .unwrap();
    let config = format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         log {{ source(s); parser {{ db-parser(file(\"{}\")); }}; destination {{ file(\"/nowhere/x\"); }}; }};\n",
        database.display()
    );
    let case = "[[case]]\nname = \"in\"\nline = \"<13>Nov 23 10:00:00 h app: user bob in\"\n[[case.expect]]\n\
                step = \"parser\"\nvalues = { \".classifier.rule_id\" = \"r1\", u = \"bob\" }\n";
    let outcome = test(&write(&lab, &config, case), &["--coverage"]);
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert!(outcome.stdout.contains("rule r2 example 1"), "{outcome:?}");
    assert!(outcome.stdout.contains("3 cases: 2 passed, 1 failed\n"), "{outcome:?}");
    assert!(
        outcome.stdout.contains("rule r3  never hit") && !outcome.stdout.contains("rule r1  never"),
        "{outcome:?}"
    );
}

#[test]
fn coverage_sees_statements_and_conditions_of_filterx() {
    let lab = Lab::new();
    let config = format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\ndestination d {{ file(\"%dir%/out\"); }};\n\
         log {{ source(s); filterx {{\n  $HOST == \"web\";\n  if ($MSG == \"a\") {{\n    $X = 1;\n  }} elif (isset($NOSUCH)) {{\n    \
         $X = 2;\n  }} else {{\n    $X = 3;\n  }};\n  switch ($X) {{\n    case 1: $Y = 1; break;\n    case 2: $Y = 2; break;\n  }};\n}}; destination(d); }};\n"
    );
    let start = config.lines().position(|line| line.contains("filterx {")).unwrap() + 1;
    let case = "[[case]]\nname = \"both\"\nlines = ['<13>Nov 23 10:00:00 web app: a', '<13>Nov 23 10:00:00 web app: b']\n\
                [[case.expect]]\ndestination = \"d\"\ncount = 2\n";
    let text = lab.path("c.txt").display().to_string();
    let outcome = test(&write(&lab, &config, case), &["--coverage", "--coverage-text", &text]);
    let gaps: Vec<&str> = outcome.stdout.lines().filter(|line| line.contains("relay.conf:")).collect();
    for (line, part, gap) in [
        (1, "$HOST == \"web\"", "always holds"),
        (4, "isset($NOSUCH)", "never holds"),
        (5, "$X = 2", "never reached"),
        (11, "$Y = 2", "never reached"),
    ] {
        let place = format!("relay.conf:{} ", start + line);
        let is_it = |found: &&&str| found.contains(&place) && found.contains(part) && found.ends_with(gap);
        assert!(gaps.iter().find(is_it).is_some(), "{place}{part} {gap}: {outcome:?}");
    }
    assert!(
        !gaps.iter().any(|gap| gap.contains("$X = 1") || gap.contains("$X = 3") || gap.contains("$MSG")),
        "{gaps:#?}"
    );
    assert!(outcome.stdout.contains("conditions with both outcomes"), "{outcome:?}");
    let text = std::fs::read_to_string(&text).unwrap();
    assert!(
        text.lines().any(|line| line.trim_start().starts_with("2 ") && line.contains("switch ($X)")),
        "{text}"
    );
}

#[test]
fn cases_in_yaml_are_the_same() {
    let lab = Lab::new();
    std::fs::write(lab.path("relay.conf"), lab.fill(&config()).0).unwrap();
    let path = lab.path("relay.test.yaml");
    let cases = "now: 2026-11-23T10:00:00Z\ncase:\n  - name: ssh alone\n    line: '<38>Nov 23 10:00:00 web sshd[7]: Failed password'\n    \
                 not: [d_rest]\n    expect:\n      - destination: d_ssh\n        line: web Failed password\n";
    std::fs::write(&path, cases).unwrap();
    let outcome = test(&path, &[]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    // Found by its name in a folder too.
    assert_eq!(test(lab.dir(), &[]).code, Some(0));
    std::fs::write(&path, cases.replace("web Failed", "db Failed")).unwrap();
    let outcome = test(&path, &[]);
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert!(outcome.stdout.contains("db Failed password"), "{outcome:?}");
    std::fs::write(&path, cases.replace("not:", "nto:")).unwrap();
    let outcome = test(&path, &[]);
    assert!(outcome.stderr.contains("unknown field `nto`"), "{outcome:?}");
}
