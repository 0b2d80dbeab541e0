//! `penstock explain` on the running program: messages that parsers with contexts make, and of which others.

use crate::explain::ask_and_send;
use crate::messages::HEAD;
use serde_json::Value;
use std::time::{Duration, Instant};
use testkit::{Lab, Penstock, Sender, run_command};

fn start(lab: &Lab, parser: &str) -> Penstock {
    let config = format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\nparser p {{ {parser} }};\n\
         destination d {{ file(\"%dir%/d\"); }};\nlog {{ source(s); parser(p); destination(d); }};\n"
    );
    Penstock::start(lab, &config)
}

/// The first message of an answer in JSON: its text and those that it was made of.
#[track_caller]
fn made(answer: &str) -> (String, Vec<String>) {
    let told: Value = serde_json::from_str(answer).expect("JSON");
    let message = &told["messages"][0];
    assert_eq!(message["time"], Value::Null, "{message}");
    assert_eq!(message["destinations"][0], "d#0", "{message}");
    let events = message["values"].as_array().expect("values");
    let of = events.iter().find(|event| event["event"] == "made of").expect("what it was made of");
    let text = |value: &Value| value["text"].as_str().expect("a text").to_owned();
    (text(&message["received"]), of["messages"].as_array().expect("messages").iter().map(text).collect())
}

/// Asks for a message with a text while these lines come in.
#[track_caller]
fn asked(lab: &Lab, wanted: &str, lines: &[&str]) -> (String, Vec<String>) {
    let filter = format!("message(\"{wanted}\" type(string) flags(substring))");
    let outcome = ask_and_send(lab, &["--next", &filter, "--timeout", "60", "--json"], lines);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    made(&outcome.stdout)
}

const FIRST: &str = "<13>Nov 11 01:02:03 h a: first";
const END: &str = "<13>Nov 11 01:02:03 h a: end";
const OTHER: &str = "<13>Nov 11 01:02:03 h b: other";

#[test]
fn of_a_group_that_ends_with_a_message() {
    let lab = Lab::new();
    let penstock = start(
        &lab,
        "grouping-by(key(\"$PROGRAM\") timeout(100) trigger(message(\"end\")) \
         aggregate(value(\"MESSAGE\" \"all of $PROGRAM\")));",
    );
    let (text, of) = asked(&lab, "all of a", &[FIRST, OTHER, END]);
    assert_eq!((text.as_str(), of.len()), ("all of a", 2));
    assert_eq!(of, [FIRST, END]);
    // In words, and with its way behind the parser.
    let told =
        ask_and_send(&lab, &["--next", "message(\"all of\")", "--timeout", "60"], &[FIRST, END]).stdout;
    assert!(told.contains("made of 2 messages:\n") && told.contains(FIRST), "{told}");
    assert!(told.contains("destination d#0") && told.trim_end().ends_with("outcome: d#0"), "{told}");
    penstock.stop();
}

#[test]
fn of_lines() {
    let lab = Lab::new();
    let penstock = start(
        &lab,
        "group-lines(key(\"$PROGRAM\") timeout(100) multi-line-mode(\"indented\") line-separator(\"|\"));",
    );
    let more = "<13>Nov 11 01:02:03 h a:  more";
    let (text, of) = asked(&lab, "first|", &[FIRST, more]);
    assert_eq!(text, "first| more");
    assert_eq!(of, [FIRST, more]);
    penstock.stop();
}

#[test]
fn of_a_group_whose_time_is_over() {
    let lab = Lab::new();
    let penstock = start(
        &lab,
        "grouping-by(key(\"$PROGRAM\") timeout(1) aggregate(value(\"MESSAGE\" \"all of $PROGRAM\")) \
         inject-mode(aggregate-only));",
    );
    let mut sender = Sender::tcp(lab.port("in"));
    let state = lab.path("state").display().to_string();
    let line = |n: usize, text: &str| format!("<13>Nov 11 01:02:03 h p{n}: {text}");
    let answer = std::thread::scope(|scope| {
        let args =
            ["explain", "--state-dir", &state, "--next", "message(\"all of\")", "--timeout", "60", "--json"];
        let asking = scope.spawn(move || run_command(&args));
        // Time passes by the clock only while no message says what time it is.
        for n in (0..).take_while(|_| !asking.is_finished()) {
            sender.line(&line(n, "one"));
            sender.line(&line(n, "two"));
            let until = Instant::now() + Duration::from_secs(4);
            while !asking.is_finished() && Instant::now() < until {
                std::thread::park_timeout(Duration::from_millis(5));
            }
        }
        asking.join().expect("the question")
    });
    let (text, of) = made(&answer.stdout);
    let n: usize = text.strip_prefix("all of p").expect("a made one").parse().expect("its number");
    assert_eq!(of, [line(n, "one"), line(n, "two")]);
    penstock.stop();
}

#[test]
fn of_a_context_of_a_pattern_database() {
    let lab = Lab::new();
    let rules = "<patterndb version='5'><ruleset name='r' id='r'><pattern>a</pattern><rules>\
        <rule id='1' class='x' context-id='c' context-timeout='60' context-scope='global'><patterns><pattern>first</pattern></patterns></rule>\
        <rule id='2' class='x' context-id='c' context-timeout='60' context-scope='global'><patterns><pattern>end</pattern></patterns>\
        <actions><action trigger='match'><message inherit-properties='TRUE'><values><value name='MESSAGE'>all of it</value></values>\
        </message></action></actions></rule></rules></ruleset></patterndb>";
    std::fs::write(lab.path("rules.xml"), rules).expect("a file");
    let penstock = start(&lab, "db-parser(file(\"%dir%/rules.xml\") inject-mode(pass-through));");
    let (text, of) = asked(&lab, "all of it", &[FIRST, OTHER, END]);
    assert_eq!(text, "all of it");
    assert!(of.first().is_some_and(|one| one == FIRST) && of.last().is_some_and(|one| one == END), "{of:?}");
    assert!(!of.iter().any(|one| one == OTHER), "{of:?}");
    penstock.stop();
}

/// Where inject-mode(internal) sends them: they come in as messages of another source.
#[test]
fn of_what_comes_in_at_internal() {
    let lab = Lab::new();
    let config = format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\nsource own {{ internal(); }};\n\
         parser p {{ grouping-by(key(\"$PROGRAM\") timeout(100) trigger(message(\"end\")) inject-mode(internal) \
         aggregate(value(\"MESSAGE\" \"all of $PROGRAM\"))); }};\n\
         destination d {{ file(\"%dir%/d\"); }};\n\
         log {{ source(s); parser(p); }};\nlog {{ source(own); destination(d); }};\n"
    );
    let penstock = Penstock::start(&lab, &config);
    let filter = "message(\"all of\")";
    for more in [&[][..], &["--source", "own"]] {
        let args = [&["--next", filter, "--timeout", "60", "--json"], more].concat();
        let outcome = ask_and_send(&lab, &args, &[FIRST, OTHER, END]);
        assert_eq!(outcome.code, Some(0), "{outcome:?}");
        let told: Value = serde_json::from_str(&outcome.stdout).expect("JSON");
        let message = &told["messages"][0];
        assert_eq!((&message["source"], &message["destinations"][0]), (&"own#0".into(), &"d#0".into()));
        let events = message["values"].as_array().expect("values");
        let of = events.iter().find(|event| event["event"] == "made of").expect("what it was made of");
        let parts = of["messages"].as_array().expect("messages").iter().map(|part| part["text"].as_str());
        let parts: Vec<&str> = parts.flatten().collect();
        assert_eq!(parts, [FIRST, END], "{message}");
    }
    penstock.stop();
}

#[test]
fn a_made_message_that_no_destination_gets_is_found() {
    let lab = Lab::new();
    let config = format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         parser p {{ grouping-by(key(\"$PROGRAM\") timeout(100) trigger(message(\"end\")) \
         aggregate(value(\"MESSAGE\" \"all of $PROGRAM\"))); }};\n\
         destination d {{ file(\"%dir%/d\"); }};\n\
         log {{ source(s); parser(p); filter {{ not message(\"all of\"); }}; destination(d); }};\n"
    );
    let penstock = Penstock::start(&lab, &config);
    let told = ask_and_send(&lab, &["--dropped", "--timeout", "60"], &[FIRST, END]);
    assert_eq!(told.code, Some(0), "{told:?}");
    assert!(told.stdout.contains("made of 2 messages:\n"), "{told:?}");
    assert!(told.stdout.trim_end().ends_with("outcome: no destination gets it"), "{told:?}");
    penstock.stop();
}
