use crate::testing::{HEAD, Running, errors, wait_until};

fn config(source: &str) -> String {
    format!(
        "{HEAD}source s {{ example-msg-generator({source}); }};\n\
         destination d {{ file(\"%dir%/out\" template(\"${{PRI}} ${{HOST}} ${{PROGRAM}}[${{a.b}}]${{TAGS}} ${{MSG}}\\n\")); }};\n\
         log {{ source(s); destination(d); flags(flow-control); }};\n"
    )
}

#[test]
fn as_many_as_asked_for_with_their_values() {
    let mut running = Running::start(&config(
        "num(5) freq(0.001) template(\"hello ${a.b} ${SOURCE}\") values(\"a.b\" => \"1\" PROGRAM => \"gen\") tags(t)",
    ));
    let lines = running.wait_lines("out", 5);
    let host = transport::local_host_name(false, None);
    assert_eq!(lines, vec![format!("13 {host} gen[1].source.s,t hello 1 s"); 5]);
    running.stop();
    assert_eq!(running.text("out").lines().count(), 5);
}

#[test]
fn without_a_pause_as_many_as_are_taken() {
    let mut running = Running::start(&config("freq(0) num(100000)"));
    wait_until("all of them", || running.source("s#0").counters.routed.value() == 100_000);
    running.stop();
    let text = running.text("out");
    assert_eq!(text.lines().count(), 100_000);
    assert!(text.lines().all(|l| l.ends_with("-- Generated message. --")));
}

#[test]
fn a_reload_goes_on_counting() {
    let mut running = Running::start(&config("num(300) freq(0.001)"));
    running.wait_lines("out", 10);
    running.reload(&config("num(300) freq(0.001) program-override(new)")).expect("reload");
    wait_until("all of them", || running.source("s#0").counters.routed.value() == 300);
    running.stop();
    assert_eq!(running.text("out").lines().count(), 300);
}

#[test]
fn a_name_that_cannot_be_set_is_an_error() {
    let found = errors(&config("values(\"ISODATE\" => \"x\")"));
    assert!(found.contains("D0108"), "{found}");
    let found = errors(&config("template(\"${\")"));
    assert!(found.contains("D0106"), "{found}");
}
