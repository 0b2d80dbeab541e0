//! Differences between two states of a message.

use super::*;
use record::{Context, Flags, Span, Stamp, intern};
use std::sync::Arc;

/// `name=before>after`, `-` for what is not set.
fn told(batch: &Batch, before: &Record) -> Vec<String> {
    let word = |text: &Option<Vec<u8>>| {
        text.as_ref().map_or("-".to_owned(), |text| String::from_utf8_lossy(text).into_owned())
    };
    let line = |change: &Change<'_>| match change.what {
        What::Value(name) => format!("{name}={}>{}", word(&change.before), word(&change.after)),
        What::Tag(name) => format!("tag {name}={}>{}", word(&change.before), word(&change.after)),
    };
    changes(batch, before, &batch.records[0]).iter().map(line).collect()
}

#[test]
fn each_thing_is_told_once_with_what_it_was() {
    let context = Arc::new(Context::local("s", "here", "local+file"));
    let mut batch = Batch::new(b"app: hello".to_vec(), context, Stamp::default());
    let mut record = Record::new(Span::new(0, 10));
    (record.program, record.message) = (Span::new(0, 3), Span::new(5, 5));
    record.flags.set(Flags::LOCAL);
    batch.records.push(record);
    let (a, b) = (intern("changes.a").expect("room"), intern("changes.b").expect("room"));
    batch.set(0, a, b"old", ValueType::String);
    batch.set(0, b, b"gone", ValueType::String);
    let before = batch.records[0];
    assert!(told(&batch, &before).is_empty());
    batch.set(0, a, b"passing", ValueType::String);
    batch.unset(0, b);
    batch.set(0, a, b"7", ValueType::Int);
    batch.set(0, NameId::MESSAGE, b"bye", ValueType::String);
    batch.unset(0, NameId::PROGRAM);
    batch.records[0].pri = 11;
    let made = batch.tag(b"changes.tag").expect("room");
    batch.set_tag(0, made);
    assert_eq!(
        told(&batch, &before),
        [
            "PRI=13>11",
            "PROGRAM=app>-",
            "MESSAGE=hello>bye",
            "changes.b=gone>-",
            "changes.a=old>7",
            "tag changes.tag=->1",
        ]
    );
    let later = batch.records[0];
    batch.clear_tag(0, made);
    assert_eq!(told(&batch, &later), ["tag changes.tag=1>-"]);
}
