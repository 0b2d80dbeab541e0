//! `done` and `break` as operands, what is declared and unset, and what cannot be unset.

use super::{check, findings, run, shown, value};

fn fails(text: &str) -> bool {
    run(&[text]).is_err()
}

#[test]
fn done_as_an_operand_is_true_and_ends_a_statement_that_holds() {
    assert_eq!(run(&["not done;"]).err().as_deref(), Some("error: bailing out due to a falsy expr: false"));
    assert!(fails("not break; true;") && fails("done and 1 == 2;") && fails("x = true; x == not done;"));
    // It is not come to.
    assert!(fails("not (1 == 2 and done); 1 == 2;"));
    for text in [
        "[done]",
        "done == 1",
        "not not done",
        "{\"a\": done}.a",
        "x = [done]",
        "if (not done) {}",
        "$MSG == \"\" or done",
    ] {
        assert!(!fails(&format!("{text}; 1 == 2;")), "{text}");
    }
    assert!(!fails("[break]; 1 == 2;") && !fails("if (true) { [break]; 1 == 2; };"));
    // It ends the block where it stands, and nothing is assigned.
    let (batch, _) = run(&["x = 5; $X = done; 1 == 2;"]).expect("passes");
    assert_eq!(value(&batch, "X"), None);
    assert!(fails("x = -(done);"));
    for text in ["len(done);", "x = \"a\" + done;"] {
        assert_eq!(findings(text).len(), 1, "{text}");
    }
}

#[test]
fn what_is_declared_stays_so_when_it_is_unset() {
    for gone in ["unset(v);", "x = move(v);", "unset(v); v = 1; unset(v);"] {
        let later = |read: &str| {
            let (batch, _) =
                run(&["declare v = 1;", gone, "true;", read, "$R = v ?? \"gone\";"]).expect("passes");
            value(&batch, "R")
        };
        assert_eq!(later("v = 2;").as_deref(), Some("2"), "{gone}");
        assert_eq!(later("v ?? true;").as_deref(), Some("gone"), "{gone}");
    }
    // Other variables end with their block.
    let (batch, _) = run(&["v = 1; unset(v);", "v = 2;", "$R = v ?? \"gone\";"]).expect("passes");
    assert_eq!(value(&batch, "R").as_deref(), Some("gone"));
}

#[test]
fn what_has_no_elements_cannot_be_unset() {
    check("x = 5; unset(x.a)", "error: Object does not support unset()");
    check("x = \"s\"; unset(x[0])", "error: Object does not support unset()");
    check("x = {\"a\":1}; unset(x.a.b)", "error: Object does not support unset()");
    check("x = {}; unset(x.a.b)", "error: Failed to get-attribute from object: Failed to evaluate key");
    check("x = {\"a\":1}; unset(x.b); x", "{\"a\":1}");
    check("x = [1]; unset(x[5])", "error: Index out of range: 5");
    for call in ["flatten(x)", "flatten(d.a)", "set_fields(x)"] {
        check(&format!("x = 5; d = {{\"a\":\"s\"}}; {call}"), "error: Argument must be a dict");
    }
    check("x = \"s\"; unset_empties(x)", "error: Argument must be a dict or list");
    check("x = 5; dedup_metrics_labels(x)", "error: Argument must be metrics_labels");
    assert_eq!(
        findings("load_vars({});"),
        ["Y0111 the function load_vars() has been deprecated and removed"]
    );
}

#[test]
fn counters_do_not_go_down() {
    use parsers::scanners::metrics;
    let block = super::compiled("update_metric(\"fx_down\", increment=int($MSG));").expect("compiled");
    let mut cx = filter::FilterContext::new(template::Identity::new("loghost"));
    for increment in ["5", "-1", "-9223372036854775808", "2"] {
        let mut batch = template::sample::with_values();
        batch.set(0, record::NameId::MESSAGE, increment.as_bytes(), record::ValueType::String);
        let mut selection = vec![0];
        block.run(&mut batch, &mut selection, &mut cx, &mut Vec::new());
        assert_eq!(selection, [0], "{increment}");
    }
    cx.settle();
    let cell = metrics::cell(&"fx_down".into(), Vec::new(), 0).expect("room");
    assert_eq!(cell.load(std::sync::atomic::Ordering::Relaxed), 7);
}

#[test]
fn what_is_not_there_is_taken_out_of_a_text_that_stays() {
    let text = "$J = json('{ \"a\" : 1.50, \"d\": {} }');";
    check(&format!("{text} unset($J.a); $J"), "{\"d\":{}}");
    let mut batch = template::sample::with_values();
    let mut cx = filter::FilterContext::new(template::Identity::new("loghost"));
    cx.begin_batch(template::sample::now());
    let name = record::intern("J").expect("room");
    batch.set(0, name, b"{ \"a\" : 1.50, \"d\": {} }", record::ValueType::Json);
    for gone in ["$J.zz", "$J.d.zz", "$J[\"zz\"]"] {
        let block = super::compiled(&format!("unset({gone});")).expect("compiled");
        block.judge(&mut batch, 0, &mut cx);
        assert_eq!(value(&batch, "J").as_deref(), Some("{ \"a\" : 1.50, \"d\": {} }"), "{gone}");
    }
    assert_eq!(shown("x = {}; unset(x.zz)"), "true");
}
