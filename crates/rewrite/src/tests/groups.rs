//! groupunset() again and again, by one worker: as if it looked at all values each time.

use super::{batch, context, rewrites};
use proptest::prelude::*;
use record::{NameId, Record, ValueType, intern};

const NAMES: [&str; 4] = [".groups.a", ".groups.b", "groups.ac", "other.c"];
/// Each with the names that it fits. Two have the same globs.
const OPERATIONS: [(&str, &[usize]); 4] = [
    ("groupunset(values('.groups.*'))", &[0, 1]),
    ("groupunset(values('.groups.*'))", &[0, 1]),
    ("groupunset(values('*c', '.groups.b'))", &[1, 2, 3]),
    ("groupset('new' values('.groups.*'))", &[0, 1]),
];

#[derive(Clone, Debug)]
enum Change {
    Set(usize, usize, u8),
    Unset(usize, usize),
    Group(usize, Vec<u32>),
    Keep(usize),
    /// The kept record stands here again, as where a branch is undone or a message goes on as a copy.
    PutBack(usize),
    NextBatch,
}

fn change() -> impl Strategy<Value = Change> {
    let selection = prop_oneof![Just(vec![0]), Just(vec![1]), Just(vec![0, 1])];
    prop_oneof![
        5 => (0..2usize, 0..NAMES.len(), 0..9u8).prop_map(|(index, name, text)| Change::Set(index, name, text)),
        1 => (0..2usize, 0..NAMES.len()).prop_map(|(index, name)| Change::Unset(index, name)),
        4 => (0..OPERATIONS.len(), selection).prop_map(|(which, selection)| Change::Group(which, selection)),
        1 => (0..2usize).prop_map(Change::Keep),
        1 => (0..2usize).prop_map(Change::PutBack),
        1 => Just(Change::NextBatch),
    ]
}

type Values = [Option<String>; NAMES.len()];

proptest! {
    #[test]
    fn as_if_nothing_was_remembered(changes in prop::collection::vec(change(), 1..40)) {
        let names: Vec<NameId> = NAMES.iter().map(|name| intern(name).expect("room")).collect();
        let operations: Vec<_> = OPERATIONS.iter().flat_map(|(text, _)| rewrites(text)).collect();
        let (mut cx, mut made) = (context(), batch());
        let mut expected: [Values; 2] = Default::default();
        let mut kept: Option<(Record, Values)> = None;
        for change in &changes {
            match change {
                Change::Set(index, name, text) => {
                    made.set(*index, names[*name], text.to_string().as_bytes(), ValueType::String);
                    expected[*index][*name] = Some(text.to_string());
                }
                Change::Unset(index, name) => {
                    made.unset(*index, names[*name]);
                    expected[*index][*name] = None;
                }
                Change::Group(which, selection) => {
                    operations[*which].apply(&mut made, selection, &mut cx);
                    let (text, fitting) = OPERATIONS[*which];
                    for (index, name) in selection.iter().flat_map(|i| fitting.iter().map(move |n| (*i as usize, *n))) {
                        let value = expected[index][name].take().filter(|_| text.starts_with("groupset"));
                        expected[index][name] = value.map(|_| "new".to_owned());
                    }
                }
                Change::Keep(index) => kept = Some((made.records[*index], expected[*index].clone())),
                Change::PutBack(index) => {
                    if let Some((record, values)) = &kept {
                        (made.records[*index], expected[*index]) = (*record, values.clone());
                    }
                }
                Change::NextBatch => {
                    let (contexts, records) = (made.contexts.clone(), batch().records);
                    made.reset();
                    made.contexts = contexts;
                    made.records = records.iter().map(|record| Record::new(record.frame)).collect();
                    (expected, kept) = Default::default();
                }
            }
            for (index, values) in expected.iter().enumerate() {
                for (name, value) in names.iter().zip(values) {
                    let there = made.value(&made.records[index], *name);
                    let there = there.map(|value| String::from_utf8_lossy(value.bytes).into_owned());
                    prop_assert_eq!(&there, value, "{:?}", change);
                }
            }
        }
    }
}
