//! Value-pairs of messages, as the functions print them.

use super::*;
use crate::tests::{batch, check, check_error, check_in, context, render_with, sdata};
use crate::{NoScope, OnError};
use proptest::prelude::*;
use record::{Batch, NameId, intern};

fn set(batch: &mut Batch, name: &str, value: &str, kind: ValueType) {
    batch.set(0, intern(name).expect("room"), value.as_bytes(), kind);
}

fn typed() -> Batch {
    let mut batch = batch();
    for (name, value, kind) in [
        (".a.int", "5", ValueType::Int),
        (".a.double", "1.50", ValueType::Double),
        (".a.bool", "true", ValueType::Boolean),
        (".a.null", "", ValueType::Null),
        (".a.list", "x,\"y z\"", ValueType::List),
        (".a.json", "{\"k\":[1]}", ValueType::Json),
        (".a.time", "1795251600.5", ValueType::DateTime),
        (".a.bytes", "\u{1}\u{2}", ValueType::Bytes),
        (".a.text", "", ValueType::String),
    ] {
        set(&mut batch, name, value, kind);
    }
    batch
}

#[test]
fn a_value_that_cannot_be_rendered_costs_no_record() {
    // What is no number is a text, whatever its value says; so are macros that print nothing here.
    check("$(format-json n=$SEQNUM r=$RCPTID p=$PRI)", "{\"r\":\"\",\"p\":\"38\",\"n\":\"\"}");
    let mut batch = batch();
    for (name, value, kind) in [
        (".bad.int", "x", ValueType::Int),
        (".bad.bool", "", ValueType::Boolean),
        (".bad.double", "nan", ValueType::Double),
    ] {
        set(&mut batch, name, value, kind);
    }
    check_in(
        &batch,
        "$(format-json --subkeys .bad. pair=${.bad.int})",
        "{\"pair\":\"x\",\"int\":\"x\",\"double\":\"nan\",\"bool\":\"\"}",
    );
    // on-error() is about types that were asked for.
    check_in(&batch, "$(format-json pair=int(${.bad.int}))", "");
}

#[test]
fn nothing_and_not_set_are_two_things() {
    let mut batch = batch();
    for name in ["HOST", "PROGRAM", "PID", "user"] {
        set(&mut batch, name, "", ValueType::String);
    }
    batch.unset(0, NameId::MSGID);
    check_in(
        &batch,
        "$(format-json --key HOST --key P?D --key PROGRAM --key MSGID --key user)",
        "{\"user\":\"\",\"PROGRAM\":\"\",\"PID\":\"\",\"HOST\":\"\"}",
    );
    check_in(&batch, "$(format-json a=$HOST b=${user})", "{\"b\":\"\",\"a\":\"\"}");
    check_in(&batch, "$(format-json --exclude * --key HOST)", "{\"HOST\":\"\"}");
    // Scopes of macros leave out what prints nothing.
    check_in(&batch, "$(names --scope rfc3164)", "DATE,FACILITY,MESSAGE,PRIORITY");
    check_in(&batch, "<$HOST|$PROGRAM|$PID|${HOST:-x}|$MSGHDR>", "<|||x|>");
    let mut copy = Batch::default();
    let index = copy.adopt(&batch, &batch.records[0], |_| true).expect("room");
    assert_eq!(copy.value(&copy.records[index], NameId::HOST).map(|v| v.bytes), Some(&b""[..]));
    assert_eq!(copy.value(&copy.records[index], NameId::MSGID), None);
}

#[test]
fn what_is_not_set_is_null() {
    check(
        "$(format-json e=${nosuch} s=${.SDATA.no.such} t=x${nosuch})",
        "{\"t\":\"x\",\"s\":null,\"e\":null}",
    );
    check("$(format-json --cast e=${nosuch})", "{\"e\":\"\"}");
    check("$(format-json --omit-empty-values e=${nosuch})", "{}");
    check("$(format-welf e=${nosuch})", "e=");
    let old = TemplateOptions { version: (3, 38), ..TemplateOptions::default() };
    assert_eq!(render_with("$(format-json e=${nosuch})", &old, &batch()), "{\"e\":\"\"}");
}

#[test]
fn changes_belong_to_the_name_before_them() {
    let mut batch = batch();
    for name in ["a.one", "a.two", "b.one", "c.one"] {
        set(&mut batch, name, "1", ValueType::String);
    }
    check_in(&batch, "$(names a.* --add-prefix x)", "xa.one,xa.two");
    check_in(&batch, "$(names a.* --add-prefix x. --shift 2 --upper)", "A.ONE,A.TWO");
    check_in(&batch, "$(names a.* b.* --add-prefix x. c.*)", "a.one,a.two,c.one,x.b.one");
    check_in(&batch, "$(names a.* --add-prefix x. b.* --upper)", "B.ONE,x.a.one,x.a.two");
    check_in(&batch, "$(names --key b.* --shift 2 a.* --upper)", "A.ONE,A.TWO,one");
    check_in(&batch, "$(names --key b.*,c.* --shift 2)", "b.one,c.one");
    check_in(&batch, "$(names a.*,c.* --exclude a.one,c.one)", "a.two");
    check_error("$(names --upper a.*)", 8, "without a name before it");
}

#[test]
fn scopes() {
    let mut batch = batch();
    set(&mut batch, "user", "root", ValueType::String);
    set(&mut batch, ".app.id", "7", ValueType::String);
    check_in(
        &batch,
        "$(format-json --scope nv-pairs)",
        "{\"user\":\"root\",\"TRANSPORT\":\"rfc3164+tcp\",\"SOURCE\":\"s_net\",\"PROGRAM\":\"app\",\"PID\":\"123\",\
         \"MSGFORMAT\":\"rfc3164\",\"MESSAGE\":\"hello world\",\"LEGACY_MSGHDR\":\"app[123]: \",\"HOST_FROM\":\"sender\",\"HOST\":\"host\",\
         \"FILE_NAME\":\"/var/log/x\"}",
    );
    check_in(&batch, "$(format-json --scope dot-nv-pairs)", "{\"_app\":{\"id\":\"7\"}}");
    check_in(&batch, "$(format-json --leave-initial-dot --scope dot_nv_pairs)", "{\".app\":{\"id\":\"7\"}}");
    check(
        "$(names --scope rfc3164)|$(names --scope syslog-proto)|$(names --scope rfc3164,none)$(names --scope rfc3164 --scope none)",
        "DATE,FACILITY,HOST,MESSAGE,PID,PRIORITY,PROGRAM|DATE,FACILITY,HOST,MESSAGE,PID,PRIORITY,PROGRAM|",
    );
    let macros = render_with("$(names --scope all-macros)", &TemplateOptions::default(), &batch);
    for value in ["FILE_NAME", "HOST_FROM", "MSGFORMAT", "MSGID", "PID", "PROGRAM", "SOURCE", "TRANSPORT"] {
        assert!(!macros.split(',').any(|name| name == value), "{value} in {macros}");
    }
    check("$(names --scope selected-macros --exclude P*,H*)", "DATE,FACILITY,MESSAGE,SOURCEIP");
    check("$(names --key R_M*)", "R_MIN,R_MONTH,R_MONTH_ABBREV,R_MONTH_NAME,R_MONTH_WEEK,R_MSEC");
    let all = render_with("$(names --scope everything)", &TemplateOptions::default(), &batch);
    for name in [".app.id", "C_ISODATE", "HOST", "LEVEL", "PEERIP", "S_STAMP", "user"] {
        assert!(all.split(',').any(|n| n == name), "{name} in {all}");
    }
    check_error("$(names --scope nv-pair)", 16, "nv-pairs");
}

#[test]
fn the_host_of_a_chain() {
    let mut batch = batch();
    set(&mut batch, "HOST", "src@first/second", ValueType::String);
    check_in(&batch, "$(format-json HOST)", "{\"HOST\":\"src@first/second\"}");
    batch.records[0].flags.set(record::Flags::CHAINED);
    check_in(&batch, "$(format-json HOST FULLHOST)", "{\"HOST\":\"first\"}");
    // Among the values it is whole.
    let values = render_with("$(values --scope nv-pairs)", &TemplateOptions::default(), &batch);
    assert!(values.contains("src@first/second"), "{values}");
}

#[test]
fn structured_data() {
    let batch = sdata("[x@1.2 k=\"v\\]\\\"\" j.q=\"2\"][y e=\"\"]");
    check_in(
        &batch,
        "$(format-json --scope sdata)",
        "{\"_SDATA\":{\"y\":{\"e\":\"\"},\"x@1.2\":{\"k\":\"v]\\\"\",\"j\":{\"q\":\"2\"}}}}",
    );
    check_in(&batch, "$(names --key .SDATA.x* --omit-empty-values)", ".SDATA.x@1.2.j.q,.SDATA.x@1.2.k");
    check_in(
        &batch,
        "$(names --key .SDATA.y.e)|$(names --scope nv-pairs,sdata --key *.q --exclude *)",
        ".SDATA.y.e|",
    );
    check_in(
        &batch,
        "$(format-json --subkeys .SDATA.)",
        "{\"y\":{\"e\":\"\"},\"x@1.2\":{\"k\":\"v]\\\"\",\"j\":{\"q\":\"2\"}}}",
    );
    let mut changed = batch;
    set(&mut changed, ".SDATA.y.e", "new", ValueType::String);
    set(&mut changed, "user", "5", ValueType::Int);
    check_in(
        &changed,
        "$(format-json --scope sdata --exclude .SDATA.x* --key user,LEGACY_MSGHDR,TRANSPORT,no)",
        "{\"user\":5,\"_SDATA\":{\"y\":{\"e\":\"new\"}},\"TRANSPORT\":\"rfc3164+tcp\",\"LEGACY_MSGHDR\":\"app[123]: \"}",
    );
    let unset = intern(".SDATA.x@1.2.k").expect("room");
    changed.unset(0, unset);
    check_in(&changed, "$(values --scope sdata) $(names --scope sdata)", "2,new .SDATA.x@1.2.j.q,.SDATA.y.e");
}

#[test]
fn what_was_set_last_counts() {
    let mut batch = batch();
    set(&mut batch, "a", "1", ValueType::String);
    set(&mut batch, "b", "1", ValueType::String);
    set(&mut batch, "a", "2", ValueType::String);
    batch.unset(0, intern("b").expect("room"));
    batch.unset(0, record::NameId::SOURCE);
    check_in(&batch, "$(format-json --key ? --key SO*E)", "{\"a\":\"2\"}");
    check_in(&batch, "$(format-json --key a b)", "{\"a\":\"2\"}");
    check_in(&batch, "$(format-json --scope nv-pairs --exclude * a=3 --key a a=4)", "{\"a\":\"4\"}");
}

#[test]
fn names_are_changed() {
    check("$(names --rekey a.* --shift 2 a.b=1 a=2)", "a,b");
    check("$(names --rekey * --shift 9 --shift-levels 2 a.b=1 a.b.c=2)", "a.b,c");
    check("$(names --rekey a --add-prefix b. --rekey b.* --add-prefix c. a=1)", "c.b.a");
    check("$(names --rekey a* --replace-prefix a.=zz --replace-prefix z=y a.b=1)", "yzb");
    check("$(names --rekey a --upper --rekey B --lower a=1 B=2)", "A,b");
    check(
        "$(names --key PID --add-prefix x. --scope rfc3164 --exclude ?[A-OQ-Z]* --exclude HOST)",
        "DATE,FACILITY,MESSAGE,PRIORITY,PROGRAM,x.PID",
    );
    check_error("$(names --shift 1)", 8, "without a name");
    check_error("$(names --rekey a --shift x)", 26, "no count");
    check_error("$(names --pair a)", 15, "NAME=TEMPLATE");
    check_error("$(names --bad)", 8, "no option");
    check_error("$(names a=bool(1))", 10, "unknown type");
    check_error("$(names a=int(${x)", 0, "");
}

#[test]
fn types() {
    let batch = typed();
    check_in(
        &batch,
        "$(format-json --subkeys .a.)",
        "{\"time\":\"1795251600.5\",\"text\":\"\",\"null\":null,\"list\":[\"x\",\"y z\"],\"json\":{\"k\":[1]},\"int\":5,\
         \"double\":1.5,\"bool\":true}",
    );
    check_in(
        &batch,
        "$(format-json --include-bytes --key .a.bytes --key .a.int --cast)",
        "{\"_a\":{\"int\":\"5\",\"bytes\":\"\u{1}\u{2}\"}}"
            .replace('\u{1}', "\\u0001")
            .replace('\u{2}', "\\u0002")
            .as_str(),
    );
    check_in(
        &batch,
        "$(format-json --include-bytes --key .a.b*)",
        "{\"_a\":{\"bytes\":\"AQI=\",\"bool\":true}}",
    );
    check(
        "$(format-json a=int(007) b=double(.5) c=boolean(Fx) d=json() e=list())",
        "{\"e\":[],\"d\":null,\"c\":false,\"b\":0.5,\"a\":7}",
    );
    check("$(format-json a=int(x) b=1)|$(format-json a=double(x))|$(format-json a=boolean(x))", "||");
    check("$(format-json a=double(nan))", "{\"a\":\"nan\"}");
    check(
        "$(format-json --auto-cast a=1 b=1e3 c=true d=01 e=x)",
        "{\"e\":\"x\",\"d\":\"01\",\"c\":\"true\",\"b\":\"1e3\",\"a\":\"1\"}",
    );
    for (name, expected) in [
        ("drop-property", "{\"c\":true,\"a\":1}"),
        ("silently-fallback-to-string", "{\"c\":true,\"b\":\"x\",\"a\":1}"),
    ] {
        let on_error = OnError::named(name).expect(name);
        let opts = TemplateOptions { on_error, ..TemplateOptions::default() };
        assert_eq!(render_with("$(format-json a=int(1) b=int(x) c=boolean(T))", &opts, &batch), expected);
    }
    // What is written as a text is of its type.
    let opts = TemplateOptions { on_error: OnError::DropProperty, ..TemplateOptions::default() };
    let wrong = "$(format-json --cast --key .a.bad b=int(x))|$(format-json --key .a.bad b=int(x))";
    let mut bad = typed();
    set(&mut bad, ".a.bad", "x", ValueType::Int);
    assert_eq!(render_with(wrong, &opts, &bad), "{\"_a\":{\"bad\":\"x\"}}|{}");
    let old = TemplateOptions { version: (3, 38), ..TemplateOptions::default() };
    assert_eq!(
        render_with("$(format-json --key .a.int x=int(1) LEVEL_NUM)", &old, &batch),
        "{\"x\":1,\"_a\":{\"int\":\"5\"},\"LEVEL_NUM\":\"6\"}"
    );
    check("$(format-json LEVEL_NUM)", "{\"LEVEL_NUM\":6}");
}

#[test]
fn objects() {
    check("$(format-json)$(format-flat-json)$(format-welf)$(names)$(values)", "{}{}");
    check(
        "$(format-json a.b.d=1 a.b-x=2 a.b=3 a.bc=4 a=5)",
        "{\"a\":{\"bc\":\"4\",\"b-x\":\"2\",\"b\":{\"d\":\"1\",\"b\":\"3\"},\"a\":\"5\"}}",
    );
    check("$(format-json --key-delimiter ~ a~b=1 a.b=2)", "{\"a.b\":\"2\",\"a\":{\"b\":\"1\"}}");
    check_error("$(format-json --key-delimiter ab a=1)", 30, "one character");
    check("$(format-json 'k \"x=1')", "{\"k \\\"x\":\"1\"}");
}

#[test]
fn facilities_without_a_name_are_numbers() {
    let mut batch = batch();
    for (pri, expected) in [(165, "local4,notice"), (8 * 24 + 1, "18,alert"), (38, "auth,info")] {
        batch.records[0].pri = pri;
        check_in(&batch, "$(values FACILITY=$FACILITY SEVERITY=$SEVERITY)", expected);
        check_in(&batch, "$(values --key FACILITY --key PRIORITY)", expected);
        check_in(&batch, "$FACILITY,$LEVEL", expected);
    }
}

#[test]
fn what_all_messages_have_is_worked_out_once() {
    let constant = |text: &str| {
        let template = Template::compile(text, &TemplateOptions::default(), &NoScope).expect("good");
        template.literal().map(|text| String::from_utf8_lossy(text).into_owned())
    };
    assert_eq!(
        constant("$(format-json a='\"' b.c=int(5) d=$(or '' x))").as_deref(),
        Some(r#"{"d":"x","b":{"c":5},"a":"\""}"#)
    );
    assert_eq!(constant("$(format-json --omit-empty-values a='')").as_deref(), Some("{}"));
    for text in ["$(format-json a=$HOST)", "$(format-json --scope core)", "$(format-json --key x.*)"] {
        assert_eq!(constant(text), None, "{text}");
    }
    // A plan is made for the second message, and found for the third.
    let mut batch = batch();
    batch.records.extend([batch.records[0]; 2]);
    for (text, expected) in [
        ("a=$PID b='\n' c=3", r#"{"c":"3","b":"\n","a":"123"}"#),
        ("a=1 b=$PID c=''", r#"{"c":"","b":"123","a":"1"}"#),
        ("a=1 b=$PID c=int(7) d=8", r#"{"d":"8","c":7,"b":"123","a":"1"}"#),
        ("a.x=1 a.y=2 b.z=$PID b.w=3 c=$PID", r#"{"c":"123","b":{"z":"123","w":"3"},"a":{"y":"2","x":"1"}}"#),
        ("--omit-empty-values a='' b=1 x=${no}", r#"{"b":"1"}"#),
        ("a=${no} a=1 b=2 b=''", r#"{"b":"","a":"1"}"#),
        ("--omit-empty-values b=2 b='' c=$PID", r#"{"c":"123","b":"2"}"#),
    ] {
        let text = format!("$(format-json {text})\n");
        let template = Template::compile(&text, &TemplateOptions::default(), &NoScope).expect("good");
        let mut cx = context();
        let (mut out, mut ends) = (Vec::new(), Vec::new());
        template.render_selection(&batch, &[0, 1, 2], &mut cx, &mut out, &mut ends);
        assert_eq!(String::from_utf8_lossy(&out), format!("{expected}\n").repeat(3), "{text}");
    }
}

#[test]
fn escapes() {
    let mut batch = batch();
    batch.set(
        0,
        intern("e").expect("room"),
        b"q\" b\\ \x01\x08\x7f\t\n\xc3\xa9 \xff\xc3( end of it",
        ValueType::String,
    );
    check_in(
        &batch,
        "$(format-json e)",
        "{\"e\":\"q\\\" b\\\\ \\u0001\\b\u{7f}\\t\\n\u{e9} \\\\xff\\\\xc3( end of it\"}",
    );
    check_in(
        &batch,
        "$(format-welf e)",
        "e=\"q\\\" b\\\\ \\x01\\b\u{7f}\\t\\n\u{e9} \\xff\\xc3( end of it\"",
    );
    check_in(
        &batch,
        "$(format-cef-extension e)",
        "e=q\" b\\\\ \\u0001\\u0008\u{7f}\\u0009\\n\u{e9} \\xff\\xc3( end of it",
    );
    check("$(format-cef-extension a.b=1)|$(format-welf a=x=y b= c=it\\'s)", "|a=x=y b= c=it's");
}

#[test]
fn demand_is_exact() {
    let reads = |text: &str| {
        let template = Template::compile(text, &TemplateOptions::default(), &NoScope).expect(text);
        let mut demand = Demand::default();
        template.reads(&mut demand);
        demand
    };
    let exact = reads("$(format-json --key .x.y HOST u=${v} --rekey .x* --shift 1)");
    assert_eq!(exact.described(), [".x.y", "HOST", "v"]);
    assert!(reads("$(format-json --key .x.*)").everything);
    assert!(reads("$(format-json --scope nv-pairs)").everything);
    let sdata = reads("$(format-json --scope sdata)");
    assert!(sdata.sdata && !sdata.everything);
    let header = reads("$(format-json --scope rfc3164)");
    assert!(header.pri && header.stamp && !header.everything && !header.sdata);
}

#[test]
fn plans_are_found_again() {
    let template = Template::compile("$(format-json --key k*)", &TemplateOptions::default(), &NoScope)
        .expect("compiles");
    let mut cx = context();
    // More sets of names than there are places for plans.
    for round in 0..3 {
        for n in 0..300u32 {
            let mut batch = batch();
            set(&mut batch, &format!("k{n}"), &round.to_string(), ValueType::Int);
            let mut out = Vec::new();
            template.render(Msg { batch: &batch, record: &batch.records[0] }, &mut cx, &mut out);
            assert_eq!(String::from_utf8_lossy(&out), format!("{{\"k{n}\":{round}}}"));
        }
    }
}

/// Messages with names in any order, and some of them only, are printed as those that come in one order.
#[test]
fn the_order_of_names_decides_nothing() {
    let names = ["o.a", "o.b.c", "o.b.d", "o", "p", "q.r", "q", "z", "p-x", "p.x.y", "é", ""];
    for text in [
        "$(format-json --key *)",
        "$(format-flat-json --key *)",
        "$(format-welf --key *)",
        "$(names --key *)",
    ] {
        let template = Template::compile(text, &TemplateOptions::default(), &NoScope).expect("compiles");
        let mut cx = context();
        let mut seed = 7usize;
        for round in 0..2000usize {
            let mut left: Vec<&str> = names.to_vec();
            let (mut mixed, mut sorted) = (batch(), batch());
            let mut chosen = Vec::new();
            while let Some(last) = left.len().checked_sub(1) {
                seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
                let name = left.remove((seed >> 33) % (last + 1));
                // Further names come all the time, more than are remembered.
                let name = if name == "z" { format!("z{}", round % 700) } else { name.to_owned() };
                if !name.is_empty() && !(seed >> 50).is_multiple_of(3) {
                    chosen.push(name);
                }
            }
            chosen.iter().for_each(|name| set(&mut mixed, name, "v", ValueType::String));
            chosen.sort();
            chosen.iter().for_each(|name| set(&mut sorted, name, "v", ValueType::String));
            let print = |batch: &Batch, cx: &mut RenderContext| {
                let mut out = Vec::new();
                template.render(Msg { batch, record: &batch.records[0] }, cx, &mut out);
                String::from_utf8(out).expect("text")
            };
            let (one, other) = (print(&mixed, &mut cx), print(&sorted, &mut context()));
            assert_eq!(one, other, "{text}: {chosen:?}");
        }
    }
}

/// Numbers of names that messages bring mean others in the next batch: what is remembered of them is of one
/// batch only, whether messages bring the same names, others, or values of other types.
#[test]
fn what_is_remembered_of_names_is_of_their_batch() {
    for text in [
        "$(format-json --key l.*)",
        "$(format-json --scope nv-pairs --exclude l.b)",
        "$(format-flat-json --key * --omit-empty-values)",
    ] {
        let template = Template::compile(text, &TemplateOptions::default(), &NoScope).expect("compiles");
        let (mut cx, mut seed) = (context(), 7usize);
        let mut batch = batch();
        for round in 0..3000 {
            seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            if round % 5 == 0 {
                // Another life: the same numbers, and mostly other names.
                let (record, text) = (crate::tests::batch().records[0], crate::tests::batch().text);
                let context = std::sync::Arc::clone(&batch.contexts[0]);
                batch.reset();
                batch.text = text;
                batch.contexts.push(context);
                batch.records.push(record);
            }
            let first = batch.records[0];
            for place in 0..6 {
                let bits = seed >> (30 + 3 * place);
                let key = ["a", "b", "c", "d", "e"][if bits & 4 == 0 { place % 5 } else { bits % 5 }];
                let name = batch.names.id(b"l.", key.as_bytes()).expect("room");
                let value =
                    ["", "7", "short", "a quote\" and\nmore", "a text that is longer than one look at it"];
                let kind = if bits & 3 == 1 { ValueType::Int } else { ValueType::String };
                batch.set(0, name, value[bits % 5].as_bytes(), kind);
                if bits % 31 == 3 {
                    batch.unset(0, name);
                }
            }
            let print = |cx: &mut RenderContext| {
                let mut out = Vec::new();
                template.render(Msg { batch: &batch, record: &batch.records[0] }, cx, &mut out);
                String::from_utf8(out).expect("text")
            };
            assert_eq!(print(&mut cx), print(&mut context()), "{text} {round}");
            batch.records[0] = first;
        }
    }
}

/// Names in the objects of a JSON text, joined with dots.
fn flattened(prefix: &str, value: &serde_json::Value, all: &mut Vec<(String, String)>) {
    match value {
        serde_json::Value::Object(members) => {
            for (key, value) in members {
                flattened(
                    &if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") },
                    value,
                    all,
                );
            }
        }
        serde_json::Value::String(text) => all.push((prefix.to_owned(), text.clone())),
        other => all.push((prefix.to_owned(), other.to_string())),
    }
}

proptest! {
    #[test]
    fn json_holds_the_pairs(
        pairs in proptest::collection::btree_map("p[a-c]{1,2}(\\.[a-c\"-]{1,2}){0,3}", ".{0,30}", 0..12),
        number in any::<i64>(),
    ) {
        // A name that is also the front of another is put into the object of that name: told apart by the
        // next test.
        let front = |name: &str| pairs.keys().any(|other| other.starts_with(&format!("{name}.")));
        let pairs: Vec<(&String, &String)> = pairs.iter().filter(|(name, _)| !front(name)).collect();
        let mut batch = batch();
        for (name, value) in &pairs {
            set(&mut batch, name, value, ValueType::String);
        }
        set(&mut batch, "q", &number.to_string(), ValueType::Int);
        let mut expected: Vec<(String, String)> =
            pairs.iter().map(|(name, value)| ((*name).clone(), (*value).clone())).collect();
        expected.push(("q".to_owned(), number.to_string()));
        for function in ["format-json", "format-flat-json"] {
            let text = render_with(&format!("$({function} --key p* q)"), &TemplateOptions::default(), &batch);
            let parsed: serde_json::Value = serde_json::from_str(&text).expect(&text);
            let mut all = Vec::new();
            flattened("", &parsed, &mut all);
            all.sort();
            prop_assert_eq!(&all, &expected, "{}", text);
        }
    }

    #[test]
    fn json_of_any_bytes_is_json(bytes in proptest::collection::vec(any::<u8>(), 0..60), name in "[.@a-b0-2]{1,12}") {
        let mut batch = batch();
        batch.set(0, intern("any").expect("room"), &bytes, ValueType::String);
        set(&mut batch, &format!("n{name}"), "x", ValueType::String);
        for text in ["$(format-json --scope nv-pairs)", "$(format-flat-json --scope everything)", "$(format-gelf)"] {
            let out = render_with(text, &TemplateOptions::default(), &batch);
            let parsed = serde_json::from_str::<serde_json::Value>(out.trim_end_matches('\0'));
            prop_assert!(parsed.is_ok(), "{}", out);
        }
        if let Ok(text) = std::str::from_utf8(&bytes) {
            let out = render_with("$(format-json any)", &TemplateOptions::default(), &batch);
            let parsed: serde_json::Value = serde_json::from_str(&out).expect(&out);
            prop_assert_eq!(parsed["any"].as_str(), Some(text));
        }
    }
}

/// Values of all lengths, at the end of the batch's text and before it, plain and not, one after the other.
#[test]
fn members_of_all_lengths() {
    for (mark, written) in [("x", "x"), ("\"", "\\\""), ("\\", "\\\\"), ("\t", "\\t"), ("é", "é")] {
        let mut batch = batch();
        let mut expected: Vec<String> = Vec::new();
        for len in 0..100 {
            let (before, behind) = ("a".repeat(len / 2), "b".repeat(len - len / 2));
            let (name, key) = (format!("m.{len:02}"), format!("{len:02}"));
            set(&mut batch, &name, &format!("{before}{mark}{behind}"), ValueType::String);
            expected.insert(0, format!("\"{key}\":\"{before}{written}{behind}\""));
        }
        set(&mut batch, "m.long", &"l".repeat(1000), ValueType::String);
        set(&mut batch, "m.number", "12", ValueType::Int);
        let expected = format!("{{\"number\":12,\"long\":\"{}\",{}}}", "l".repeat(1000), expected.join(","));
        check_in(&batch, "$(format-json --subkeys m.)", &expected);
    }
}

#[test]
fn lists_whose_quotes_do_not_end() {
    for (list, expected) in [
        (r#""a\"b"#, r#"["\"a\\\"b"]"#),
        (r"'x\", r#"["'x\\"]"#),
        (r#"a,'\n" b\"c"#, r#"["a","'\\n\" b\\\"c"]"#),
    ] {
        let mut batch = batch();
        set(&mut batch, "l", list, ValueType::List);
        check_in(&batch, "$(format-json l=$l)", &format!("{{\"l\":{expected}}}"));
    }
}
