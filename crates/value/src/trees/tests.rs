//! Containers against a model that copies everything.

use super::*;
use crate::{Print, REPR};
use proptest::prelude::*;

/// A place that holds a container, in the model a whole copy.
#[derive(Clone, Debug, PartialEq)]
enum Model {
    Number(i64),
    Dict(Vec<(u8, Model)>),
}

#[derive(Clone, Debug)]
enum Change {
    /// In a place, below a path of keys that are dictionaries.
    Set(usize, Vec<u8>, i64),
    /// A container from one place into another, or into a key of it.
    Copy(usize, usize, Option<u8>),
    Remove(usize, Vec<u8>),
}

fn change() -> impl Strategy<Value = Change> {
    let path = || proptest::collection::vec(0u8..30, 1..3);
    prop_oneof![
        3 => (0usize..3, path(), 0i64..9).prop_map(|(place, path, n)| Change::Set(place, path, n)),
        2 => (0usize..3, 0usize..3, proptest::option::of(0u8..30)).prop_map(|(a, b, key)| Change::Copy(a, b, key)),
        1 => (0usize..3, path()).prop_map(|(place, path)| Change::Remove(place, path)),
    ]
}

impl Model {
    fn put(&mut self, key: u8, value: Model) {
        if let Model::Dict(pairs) = self {
            match pairs.iter_mut().find(|(known, _)| *known == key) {
                Some(pair) => pair.1 = value,
                None => pairs.push((key, value)),
            }
        }
    }

    fn below(&mut self, path: &[u8]) -> Option<&mut Model> {
        let Some((key, rest)) = path.split_first() else { return Some(self) };
        let Model::Dict(pairs) = self else { return None };
        pairs.iter_mut().find(|(known, _)| known == key)?.1.below(rest)
    }

    fn shown(&self, out: &mut String) {
        match self {
            Model::Number(n) => out.push_str(&n.to_string()),
            Model::Dict(pairs) => {
                out.push('{');
                for (at, (key, value)) in pairs.iter().enumerate() {
                    out.push_str(&format!("{}{key}:", if at > 0 { "," } else { "" }));
                    value.shown(out);
                }
                out.push('}');
            }
        }
    }
}

/// Owns the containers on the way, and gives the innermost.
fn owned(trees: &mut Trees, place: &mut Value, path: &[u8]) -> Option<Node> {
    let node = trees.own(place.node()?).expect("room");
    *place = place.with_node(node);
    let Some((key, rest)) = path.split_first() else { return Some(node) };
    let pair = trees.find(node, Key::Other(Value::Integer(i64::from(*key))), b"")?;
    let mut inner = trees.cell(node, 2 * pair + 1)?;
    let found = owned(trees, &mut inner, rest);
    trees.set_cell(node, 2 * pair + 1, inner);
    found
}

fn size(model: &Model) -> usize {
    match model {
        Model::Number(_) => 1,
        Model::Dict(pairs) => 1 + pairs.iter().map(|(_, inner)| size(inner)).sum::<usize>(),
    }
}

proptest! {
    #[test]
    fn copies_are_copies(changes in proptest::collection::vec(change(), 1..60)) {
        let mut trees = Trees::default();
        let mut models = vec![Model::Dict(Vec::new()); 3];
        let mut places: Vec<Value> = (0..3).map(|_| Value::Dict(trees.new_node(0).expect("room"))).collect();
        for change in changes {
            match change {
                Change::Set(place, path, n) => {
                    let (key, way) = path.split_last().expect("a key");
                    if let Some(inner @ Model::Dict(_)) = models[place].below(way) {
                        inner.put(*key, Model::Number(n));
                        let node = owned(&mut trees, &mut places[place], way).expect("a container");
                        let key = Value::Integer(i64::from(*key));
                        trees.set(node, key, Value::Integer(n), b"").expect("room");
                    }
                }
                Change::Copy(from, to, key) => {
                    if size(&models[from]) + size(&models[to]) > 500 {
                        continue;
                    }
                    let model = models[from].clone();
                    trees.share(places[from]);
                    let value = places[from];
                    match key {
                        None => (models[to], places[to]) = (model, value),
                        Some(key) => {
                            models[to].put(key, model);
                            let node = owned(&mut trees, &mut places[to], &[]).expect("a container");
                            trees.set(node, Value::Integer(i64::from(key)), value, b"").expect("room");
                        }
                    }
                }
                Change::Remove(place, path) => {
                    let (key, way) = path.split_last().expect("a key");
                    if let Some(Model::Dict(pairs)) = models[place].below(way) {
                        pairs.retain(|(known, _)| known != key);
                        let node = owned(&mut trees, &mut places[place], way).expect("a container");
                        let key = Key::Other(Value::Integer(i64::from(*key)));
                        if let Some(pair) = trees.find(node, key, b"") {
                            trees.remove(node, 2 * pair, 2);
                        }
                    }
                }
            }
            for (model, place) in models.iter().zip(&places) {
                let (mut expected, mut out) = (String::new(), Vec::new());
                model.shown(&mut expected);
                Print { text: b"", trees: &trees, style: REPR }.put(*place, &mut out);
                prop_assert_eq!(expected, String::from_utf8_lossy(&out));
            }
        }
    }
}

#[test]
fn thousands_of_keys_are_found_by_their_index() {
    let mut trees = Trees::default();
    let node = trees.new_node(0).expect("room");
    let keys: Vec<String> = (0..5000).map(|n| format!("key{n}")).collect();
    let text = keys.concat().into_bytes();
    let mut at = 0;
    for (n, key) in keys.iter().enumerate() {
        trees
            .set(node, Value::String(Span::new(at, key.len())), Value::Integer(n as i64), &text)
            .expect("room");
        at += key.len();
    }
    for (n, key) in keys.iter().enumerate() {
        assert_eq!(trees.get(node, Key::Text(key.as_bytes()), &text), Some(Value::Integer(n as i64)));
    }
    assert_eq!(trees.get(node, Key::Text(b"nosuch"), &text), None);
    assert_eq!(trees.cells(node).len(), 10_000);
}

#[test]
fn keys_of_four_types_are_four_keys() {
    let mut trees = Trees::default();
    let node = trees.new_node(0).expect("room");
    let keys = [Value::Integer(1), Value::String(Span::new(0, 1)), Value::Boolean(true), Value::Double(1.0)];
    for (n, key) in keys.into_iter().enumerate() {
        trees.set(node, key, Value::Integer(n as i64), b"1").expect("room");
    }
    assert_eq!(trees.cells(node).len(), 8);
    assert_eq!(trees.get(node, Key::Other(Value::Boolean(true)), b"1"), Some(Value::Integer(2)));
}

#[test]
fn there_is_a_bound() {
    let mut trees = Trees::default();
    assert_eq!(trees.new_node(CELLS_MAX + 1), Err(Full));
    let node = trees.new_node(0).expect("room");
    let pushed = (0..=CELLS_MAX).take_while(|_| trees.push(node, Value::Null).is_ok()).count();
    assert!(pushed > CELLS_MAX / 4 && pushed < CELLS_MAX, "{pushed}");
}
