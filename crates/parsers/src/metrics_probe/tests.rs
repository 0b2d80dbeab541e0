use super::{Metric, snapshot};
use crate::testing::{batch, check, check_codes, context, parser};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The counters and their limits are those of the process: one test at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn counted(key: &str) -> Vec<String> {
    let text = |m: &Metric| {
        let labels: Vec<String> = m.labels.iter().map(|(n, v)| format!("{n}={v}")).collect();
        format!("{} {}", labels.join(","), m.value)
    };
    snapshot().iter().filter(|m| m.key == key).map(text).collect()
}

#[test]
fn messages_are_counted_by_their_labels() {
    let _one = alone();
    let made = parser("metrics-probe(key('t1') labels('z' => '$MESSAGE' 'a' => 'x'))");
    let mut cx = context();
    for _ in 0..2 {
        let mut batch = batch(&[b"one", b"two", b"one", b"not selected", b"tab\0nul"]);
        let mut selection = vec![0, 1, 2, 4];
        made.parse(&mut batch, &mut selection, &mut cx);
        assert_eq!(selection, [0, 1, 2, 4]);
    }
    assert_eq!(counted("t1"), ["a=x,z=one 4", "a=x,z=tab 2", "a=x,z=two 2"]);
    // Another worker, another parser: the same counters.
    let again = parser("metrics-probe(key('t1') labels('a' => 'x' 'z' => '$MESSAGE'))");
    again.parse(&mut batch(&[b"one"]), &mut vec![0], &mut context());
    assert_eq!(counted("t1")[0], "a=x,z=one 5");
}

#[test]
fn labels_by_value_pairs() {
    let _one = alone();
    let text = "metrics-probe(key('t5') labels('a' => 'x' key('.t5.*' rekey(shift(4) add-prefix('n.'))) exclude('*.no')))";
    let made = parser(text);
    let mut batch = batch(&[b"one", b"two", b"three"]);
    for (index, name, value) in [(0, ".t5.b", "1"), (0, ".t5.c", "2"), (1, ".t5.b", "1"), (1, ".t5.no", "3")]
    {
        batch.set(index, record::intern(name).expect("room"), value.as_bytes(), record::ValueType::String);
    }
    made.parse(&mut batch, &mut vec![0, 1, 2], &mut context());
    made.parse(&mut batch, &mut vec![0], &mut context());
    assert_eq!(counted("t5"), ["a=x 1", "a=x,n.b=1 1", "a=x,n.b=1,n.c=2 2"]);
    check_codes("metrics-probe(labels('a'))", &["A0102"]);
    check_codes("metrics-probe(labels(kee('a*')))", &["O0101"]);
    check_codes("metrics-probe(labels(scope(nv-pears)))", &["A0102"]);
}

#[test]
fn increments() {
    let _one = alone();
    let made = parser("metrics-probe(key('t2') increment('$MESSAGE'))");
    let messages: [&[u8]; 6] = [b"5", b" 7 ", b"x", b"-3", b"", b"99999999999999999999999"];
    made.parse(&mut batch(&messages), &mut (0..6).collect(), &mut context());
    assert_eq!(counted("t2"), [" 12"]);
}

#[test]
fn presets() {
    let _one = alone();
    let text = "metrics-probe()";
    check(text, "x", "");
    assert!(
        counted("classified_events_total").iter().any(|m| m.contains("program=,") && m.contains("host="))
    );
    check_codes("metrics-probe(key(''))", &["A0102"]);
    check_codes("metrics-probe(labels('a' => '$('))", &["A0101"]);
}

#[test]
fn the_statistics_options_are_obeyed() {
    let _one = alone();
    let low = "metrics-probe(key('t4') labels('m' => '$MESSAGE'))";
    let high = "metrics-probe(key('t4') labels('h' => '$MESSAGE') level(2))";
    let count = |text: &str, messages: &[&[u8]]| {
        parser(text).parse(&mut batch(messages), &mut (0..messages.len() as u32).collect(), &mut context());
    };
    count(high, &[b"x"]);
    assert_eq!(counted("t4"), Vec::<String>::new(), "above the level nothing is counted");
    super::configure(2, None);
    count(high, &[b"x"]);
    assert_eq!(counted("t4"), ["h=x 1"]);
    super::configure(1, None);
    assert_eq!(counted("t4"), Vec::<String>::new(), "nor shown");
    super::configure(1, Some(0));
    let before = snapshot().len();
    count(low, &[b"a", b"b"]);
    super::configure(0, None);
    assert_eq!(counted("t4"), Vec::<String>::new(), "no room");
    assert!(snapshot().len() >= before);
    count(low, &[b"a", b"b"]);
    assert_eq!(counted("t4"), ["m=a 1", "m=b 1"]);
}
