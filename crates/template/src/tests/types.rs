//! Types: hints, lone macros, results of functions.

use super::*;

fn typed(text: &str, opts: &TemplateOptions, hint: Option<TypeHint>) -> (String, ValueType) {
    let mut batch = with("text", "x");
    batch.set(0, intern("number").expect("room"), b"7", ValueType::Int);
    batch.set(0, intern(".SDATA.t.n").expect("room"), b"8", ValueType::Int);
    let mut template = Template::compile(text, opts, &scope()).expect("compiles");
    if let Some(hint) = hint {
        template = template.with_hint(hint);
    }
    let mut out = Vec::new();
    let kind =
        template.render_typed(Msg { batch: &batch, record: &batch.records[0] }, &mut context(), &mut out);
    (String::from_utf8_lossy(&out).into_owned(), kind)
}

#[test]
fn lone_names_and_functions_keep_their_type() {
    let cases = [
        ("$number", "7", ValueType::Int),
        ("${.SDATA.t.n}", "8", ValueType::Int),
        ("$text", "x", ValueType::String),
        ("$number$number", "77", ValueType::String),
        ("${number:-1}", "7", ValueType::Int),
        ("${no_such:-1}", "1", ValueType::String),
        ("$no_such", "", ValueType::String),
        ("$FACILITY_NUM", "4", ValueType::Int),
        ("$FACILITY", "auth", ValueType::String),
        ("$TAGS", "", ValueType::List),
        ("$MESSAGE", "hello world", ValueType::String),
        ("$(+ 1 2)", "3", ValueType::Int),
        ("$(+ $number 2)", "9", ValueType::Int),
        ("$(+ $number 2.5)", "9.50000000000000000000", ValueType::Double),
        ("$(if yes $number $text)", "7", ValueType::Int),
        ("$(or $no_such $number)", "7", ValueType::String),
        ("$(list-tail 'a,b')", "b", ValueType::String),
        ("$(list-tail $text)", "", ValueType::String),
        ("$(list-slice 1: 'a,b')", "b", ValueType::List),
        ("$(map $_ 'a,b')", "a,b", ValueType::List),
        ("$PRI", "38", ValueType::String),
        ("$SEQNUM", "", ValueType::String),
        ("$RCPTID", "", ValueType::String),
        ("$RUNID", "7", ValueType::String),
        ("$UNIXTIME", "1795251600", ValueType::DateTime),
        ("$(/ $number 0)", "NaN", ValueType::Double),
        ("$(round 1.6)", "2", ValueType::Double),
        ("$(floor 1.6)", "1", ValueType::Int),
        ("$(sum $text)", "", ValueType::Null),
        ("$(tags-head t_never)", "", ValueType::Null),
        ("$(tag t_never $text $number)", "7", ValueType::String),
        ("$(tag t_never)", "0", ValueType::Boolean),
        ("$(tag t_never x)", "0", ValueType::String),
        ("$(ipv4-to-int 1.2.3.4)", "16909060", ValueType::String),
        ("$(template t_program)", "program=app", ValueType::String),
        ("1", "1", ValueType::String),
    ];
    for (text, value, kind) in cases {
        assert_eq!(typed(text, &TemplateOptions::default(), None), (value.to_owned(), kind), "{text}");
    }
}

#[test]
fn before_version_4_everything_is_text() {
    let old = TemplateOptions { version: (3, 38), ..Default::default() };
    for text in ["$number", "$FACILITY_NUM", "$(+ 1 $number)", "$(+ 1 2)"] {
        assert_eq!(typed(text, &old, None).1, ValueType::String, "{text}");
    }
    assert_eq!(typed("$text", &old, TypeHint::named("int")).1, ValueType::Int);
}

#[test]
fn hints() {
    let opts = TemplateOptions::default();
    assert_eq!(typed("$text", &opts, TypeHint::named("json")), ("x".to_owned(), ValueType::Json));
    assert_eq!(typed("$number", &opts, TypeHint::named("auto")).1, ValueType::Int);
    assert_eq!(typed("$number", &opts, TypeHint::named("string")).1, ValueType::String);
    assert_eq!(TypeHint::named("what"), None);
    assert_eq!(TypeHint::split("int64($PID)"), (Some(TypeHint::Is(ValueType::Int)), "$PID"));
    assert_eq!(TypeHint::split("$(echo a)"), (None, "$(echo a)"));
    assert_eq!(TypeHint::split("int($PID"), (None, "int($PID"));
}
