//! The language against models: values against JSON, numbers against wider ones, containers against copies of
//! everything.

use super::{run, shown, value};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// Values that both sides have.
fn tree() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        // Of few digits: `serde_json` reads long ones to the last but one.
        any::<i32>().prop_map(|eighths| Value::from(f64::from(eighths) / 8.0)),
        "[ -~é\n]{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map("[a-e]{1,2}", inner, 0..4)
                .prop_map(|pairs| Value::Object(Map::from_iter(pairs))),
        ]
    })
}

/// As it is written in the language.
fn written(value: &Value) -> String {
    let text = |text: &str| {
        let mut out = String::from("\"");
        for c in text.chars() {
            match c {
                '"' | '\\' => out.extend(['\\', c]),
                '$' => out.push_str("$$"),
                '\n' => out.push_str("\\n"),
                c => out.push(c),
            }
        }
        out + "\""
    };
    match value {
        Value::String(s) => text(s),
        Value::Number(n) => match n.as_i64() {
            Some(n) => n.to_string(),
            // Written out: there are no exponents.
            None => format!("double(\"{n}\")"),
        },
        Value::Array(items) => format!("[{}]", items.iter().map(written).collect::<Vec<_>>().join(", ")),
        Value::Object(pairs) => {
            let pairs = pairs.iter().map(|(key, value)| format!("{}: {}", text(key), written(value)));
            format!("{{{}}}", pairs.collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

/// The JSON of an expression, behind these statements.
fn json_of(before: &str, expr: &str) -> Value {
    let text = format!("{before} $FILTERX_TEST = format_json({expr});");
    let (batch, _) = run(&[&text]).unwrap_or_else(|error| panic!("{error}: {text}"));
    let made = value(&batch, "FILTERX_TEST").expect("a value");
    serde_json::from_str(&made).unwrap_or_else(|error| panic!("{error}: {made}"))
}

const NAMES: [&str; 3] = ["a", "b", "c"];

/// What is done with the variables of the model.
#[derive(Clone, Debug)]
enum Change {
    Set(usize, Vec<String>, Value),
    Copy(usize, Vec<String>, usize, Vec<String>),
    Unset(usize, Vec<String>),
    Add(usize, Value),
}

fn path() -> impl Strategy<Value = Vec<String>> {
    proptest::collection::vec("[x-z]", 0..3)
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        (0..3usize, path(), tree()).prop_map(|(v, path, value)| Change::Set(v, path, value)),
        (0..3usize, path(), 0..3usize, path()).prop_map(|(v, to, from, way)| Change::Copy(v, to, from, way)),
        (0..3usize, path()).prop_map(|(v, path)| Change::Unset(v, path)),
        (0..3usize, tree()).prop_map(|(v, value)| Change::Add(v, value)),
    ]
}

fn place(variable: usize, path: &[String]) -> String {
    path.iter().fold(NAMES[variable].to_owned(), |at, key| format!("{at}[\"{key}\"]"))
}

fn found<'v>(root: &'v Value, path: &[String]) -> Option<&'v Value> {
    path.iter().try_fold(root, |at, key| at.as_object()?.get(key))
}

/// Sets an element whose container is there.
fn set(root: &mut Value, path: &[String], value: Value) -> Option<()> {
    let Some((last, way)) = path.split_last() else {
        *root = value;
        return Some(());
    };
    let holder = way.iter().try_fold(root, |at, key| at.as_object_mut()?.get_mut(key))?;
    holder.as_object_mut()?.insert(last.clone(), value);
    Some(())
}

/// Does a change with the model, which copies everything; the statement that does the same, and `None` where
/// it would fail.
fn done(model: &mut [Value; 3], change: &Change) -> Option<String> {
    match change {
        Change::Set(v, path, value) => {
            set(&mut model[*v], path, value.clone())?;
            Some(format!("{} = {};", place(*v, path), written(value)))
        }
        Change::Copy(v, to, from, way) => {
            let value = found(&model[*from], way)?.clone();
            set(&mut model[*v], to, value)?;
            Some(format!("{} = {};", place(*v, to), place(*from, way)))
        }
        Change::Unset(v, path) => {
            let (last, way) = path.split_last()?;
            let holder = way.iter().try_fold(&mut model[*v], |at, key| at.as_object_mut()?.get_mut(key))?;
            holder.as_object_mut()?.remove(last);
            Some(format!("unset({});", place(*v, path)))
        }
        Change::Add(v, value) => {
            match (&mut model[*v], value) {
                (Value::Array(to), Value::Array(more)) => to.extend(more.iter().cloned()),
                (Value::Object(to), Value::Object(more)) => {
                    to.extend(more.iter().map(|(key, value)| (key.clone(), value.clone())));
                }
                _ => return None,
            }
            Some(format!("{} += {};", NAMES[*v], written(value)))
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn what_is_printed_is_read_again(value in tree()) {
        prop_assert_eq!(json_of("", &written(&value)), value.clone());
        let (batch, _) = run(&[&format!("$J = format_json({});", written(&value)), "$J = format_json(parse_json($J + \" \"));"])
            .expect("runs");
        let again = super::value(&batch, "J").expect("a value");
        prop_assert_eq!(serde_json::from_str::<Value>(&again).expect("JSON"), value);
    }

    #[test]
    fn doubles_are_printed_so_that_they_read_back(number in proptest::num::f64::NORMAL | proptest::num::f64::SUBNORMAL) {
        let printed = format!("double(\"{number:e}\")");
        let (batch, _) = run(&[&format!("$A = format_json({printed}); $B = format_json(parse_json(\"[\" + $A + \"]\"));")])
            .expect("runs");
        let read = |name| value(&batch, name).expect("a value");
        prop_assert_eq!(read("A").parse::<f64>().expect("a number").to_bits(), number.to_bits());
        prop_assert_eq!(read("B"), format!("[{}]", read("A")));
    }

    #[test]
    fn whole_numbers_are_those_of_a_wider_type(a in any::<i64>(), b in any::<i64>(), small in -9i64..9, operator in 0..5usize) {
        for b in [b, small] {
            let (a, b) = (i128::from(a), i128::from(b));
            let (sign, result) = match operator {
                0 => ("+", Some(a + b)),
                1 => ("-", Some(a - b)),
                2 => ("*", Some(a * b)),
                3 => ("/", a.checked_div(b)),
                _ => ("%", a.checked_rem(b)),
            };
            let given = shown(&format!("x = {a}; y = {b}; x {sign} y"));
            match result.and_then(|result| i64::try_from(result).ok()) {
                // The smallest number by -1 is no number that fits, and what is left of it is 0.
                Some(_) if a == i128::from(i64::MIN) && b == -1 && sign == "%" => {}
                Some(result) => prop_assert_eq!(given, result.to_string()),
                None => prop_assert!(given.starts_with("error: "), "{} {} {}: {}", a, sign, b, given),
            }
        }
    }

    #[test]
    fn containers_are_as_if_each_were_copied(changes in proptest::collection::vec(change(), 1..14)) {
        let mut model = [json!({}), json!({"x": {"y": {}}}), json!([1])];
        let mut text = String::from("a = {}; b = {\"x\": {\"y\": {}}}; c = [1];");
        for change in &changes {
            // Of one that fails half is not done here.
            let mut tried = model.clone();
            if let Some(statement) = done(&mut tried, change) {
                model = tried;
                text.push_str(&statement);
            }
        }
        let expected = Value::from(model.to_vec());
        prop_assert_eq!(json_of(&text, "[a, b, c]"), expected, "{}", text);
        // The same in two blocks, with variables that live on.
        let declared = text.replacen("a = ", "declare a = ", 1).replacen(" b = ", " declare b = ", 1).replacen(" c = ", " declare c = ", 1);
        let (batch, _) = run(&[&declared, "$FILTERX_TEST = format_json([a, b, c]);"]).expect("runs");
        let made = value(&batch, "FILTERX_TEST").expect("a value");
        prop_assert_eq!(serde_json::from_str::<Value>(&made).expect("JSON"), Value::from(model.to_vec()));
    }
}
