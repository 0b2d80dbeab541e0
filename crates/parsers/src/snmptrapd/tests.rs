use crate::testing::{batch, check, context, parser};

const HEAD: &str = "2017-05-10 12:46:14 h [UDP: [127.0.0.1]:34257->[127.0.0.1]:162]:\n";

#[test]
fn variables() {
    let head = "t.hostname=h|t.transport_info=UDP: [127.0.0.1]:34257->[127.0.0.1]:162";
    let text = "snmptrapd-parser(prefix('t.') set-message-macro(no))";
    for (variables, expected) in [
        (
            "a.0 = Timeticks: (1) 101 days, 7:56:08.67\tb.1 = OID: iso.3.6",
            "t.a.0=(1) 101 days, 7:56:08.67|t.b.1=iso.3.6",
        ),
        ("A::b.0 = STRING: \"here \\\"x\\\" y\"\tC = \"quoted\"", "t.A_b.0=here \"x\" y|t.C=quoted"),
        ("D = Hex-STRING: 0A 0B \tX::o = OID: Y::z", "t.D=0A 0B|t.X_o=Y::z"),
        ("a = b = c\td\te = f", "t.a=|t.b=c|t.e=f"),
        ("a = STRING: \"unclosed", "t.a=\"unclosed"),
        ("a =  \tb = INTEGER: \tc = 1", "t.a=|t.b=|t.c=1"),
        ("  a = STRING: \"a\\nb\\\\c\"", "t.a=a\nb\\c"),
        ("a b = INTEGER: 1", "t.b=1"),
        ("a = Hex-STRING: 0A \n0B \tb = INTEGER: 1", "t.a=0A "),
        ("a = \"q\" \nb = INTEGER: 1", "t.a=q"),
        ("a = 1.(2): y\tb:::c = : x\td = e f: g", "t.a=y|t.b_c=x|t.d=e f: g"),
    ] {
        let mut all: Vec<&str> = expected.split('|').chain(head.split('|')).collect();
        all.sort_unstable();
        check(text, &format!("{HEAD}{variables}"), &all.join("|"));
    }
    check(text, &format!("{HEAD}abc"), head);
}

#[test]
fn other_texts() {
    for input in [
        "",
        "not a trap",
        HEAD,
        "2017-05-10 12:46:14 h [UDP: x]: a = 1",
        "2017-05-10 h [UDP: x]:\na = 1",
        "2017-13-10 12:46:14 h [UDP: x]:\na = 1",
        "2017-05-10 12:46:14 h(via UDP: x) TRAP, SNMP v1, community public\na = 1",
    ] {
        check("snmptrapd-parser()", input, "no match");
    }
}

#[test]
fn the_message_is_a_line_of_all() {
    let mut batch = batch(&[format!("{HEAD}A::b = STRING: \"it's\"\tc = INTEGER: 1").as_bytes()]);
    parser("snmptrapd-parser()").parse(&mut batch, &mut vec![0], &mut context());
    let message = String::from_utf8_lossy(batch.bytes(batch.records[0].message)).into_owned();
    assert_eq!(
        message,
        "hostname='h', transport_info='UDP: [127.0.0.1]:34257->[127.0.0.1]:162', A::b='it\\'s', c='1'"
    );
}

#[test]
fn program_and_time_are_those_of_the_trap() {
    let mut batch = batch(&[format!("{HEAD}c = STRING: \"\\\\\u{1}\"").as_bytes()]);
    parser("snmptrapd-parser()").parse(&mut batch, &mut vec![0], &mut context());
    let record = &batch.records[0];
    assert_eq!(batch.bytes(record.program), b"snmptrapd");
    assert!(String::from_utf8_lossy(batch.bytes(record.message)).ends_with("c='\\\\\\u0001'"));
    assert_eq!(record::Civil::from_seconds(record.stamp.secs + i64::from(record.stamp.offset)).year, 2017);
}

#[test]
fn without_its_macro_the_message_is_taken_away() {
    let mut batch = batch(&[format!("{HEAD}c = INTEGER: 1").as_bytes()]);
    parser("snmptrapd-parser(set-message-macro(no))").parse(&mut batch, &mut vec![0], &mut context());
    assert!(batch.bytes(batch.records[0].message).is_empty());
}
