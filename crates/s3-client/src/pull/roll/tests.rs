use super::*;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

const LATE: u64 = 100;

fn found(key: &str, modified: u64) -> Listed {
    Listed { key: key.to_owned(), tag: format!("\"{modified}\""), size: 1, modified, sequence: String::new() }
}

fn load(store: &Arc<Store>, max: usize) -> (Roll, Vec<Opened>, bool) {
    Roll::with(store, b"n", LATE, max)
}

/// A bucket that objects come into at any time under any names, and a reader that is killed at any time.
struct Bucket {
    store: Arc<Store>,
    roll: Roll,
    open: Vec<Listed>,
    now: u64,
    there: BTreeMap<String, Listed>,
    read: BTreeMap<(String, u64), usize>,
    max: usize,
}

impl Bucket {
    fn new(max: usize) -> Bucket {
        let store = Arc::new(Store::in_memory());
        let (roll, ..) = load(&store, max);
        let (open, there, read) = Default::default();
        Bucket { store, roll, open, now: 1000, there, read, max }
    }

    fn come(&mut self, key: String, age: u64) {
        let one = found(&key, self.now - age);
        self.there.insert(key, one);
    }

    fn kill(&mut self) {
        let (roll, opened, _) = load(&self.store, self.max);
        self.roll = roll;
        self.open = opened.into_iter().map(|one| one.found).collect();
    }

    fn finish(&mut self, at: usize) {
        if self.open.is_empty() {
            return;
        }
        let one = self.open.swap_remove(at % self.open.len());
        *self.read.entry((one.key.clone(), one.modified)).or_default() += 1;
        self.roll.finish(&one.id(), &one, false);
    }

    /// One page of a listing.
    fn look(&mut self, size: usize) {
        let after = self.roll.cursor().unwrap_or_else(|| {
            self.roll.begin_look(self.now, "");
            String::new()
        });
        let page: Vec<Listed> = self
            .there
            .range(after.clone()..)
            .filter(|(key, _)| **key > after)
            .map(|(_, f)| f.clone())
            .take(size)
            .collect();
        let opened: BTreeSet<Id> = self.open.iter().map(Listed::id).collect();
        let fresh: Vec<Listed> = page
            .iter()
            .filter(|f| !opened.contains(&f.id()) && !self.roll.is_done(&f.id(), f) && self.roll.has_room(f))
            .cloned()
            .collect();
        self.roll.open(fresh.iter(), page.last().map(|f| f.key.as_str()));
        self.open.extend(fresh);
        if page.len() < size {
            self.roll.end_look();
        }
    }
}

proptest! {
    /// Each object is read once, whatever the order of names, of ends and of kills.
    #[test]
    fn each_object_is_read_once(
        steps in proptest::collection::vec((0u8..8, 0usize..40, 0u64..LATE), 1..200), max in 1usize..12, size in 1usize..5
    ) {
        let mut bucket = Bucket::new(max);
        let mut count = 0;
        for (step, number, age) in steps {
            bucket.now += 7;
            match step {
                0 | 1 => {
                    count += 1;
                    // Those of a full roll are late by less.
                    let age = if max < 12 { 0 } else { age };
                    bucket.come(format!("{number:03}-{count:04}"), age.min(LATE - 1));
                }
                2..=4 => bucket.look(size),
                5 | 6 => bucket.finish(number),
                _ => bucket.kill(),
            }
        }
        for _ in 0..3 * count + 10 {
            bucket.now += 7;
            bucket.look(size);
            while !bucket.open.is_empty() {
                bucket.finish(0);
            }
        }
        let expected: BTreeMap<_, _> = bucket.there.values().map(|f| ((f.key.clone(), f.modified), 1)).collect();
        prop_assert_eq!(bucket.read, expected);
        prop_assert!(bucket.roll.done.len() <= max + count, "{}", bucket.roll.done.len());
    }
}

#[test]
fn what_is_remembered_is_bounded_by_what_was_written_lately() {
    let mut bucket = Bucket::new(1000);
    for n in 0..3000 {
        bucket.now += 1;
        bucket.come(format!("{:05}", 99_999 - n), 0);
        bucket.look(10);
        bucket.finish(0);
    }
    for _ in 0..600 {
        bucket.now += 1;
        bucket.look(10);
        bucket.finish(0);
    }
    assert_eq!(bucket.read.len(), 3000);
    assert!(bucket.read.values().all(|count| *count == 1));
    bucket.now += 10 * LATE;
    bucket.come("0".to_owned(), 0);
    for _ in 0..700 {
        bucket.look(10);
        bucket.finish(0);
    }
    assert!(bucket.roll.done.len() <= 1, "{}", bucket.roll.done.len());
    assert_eq!(bucket.store.with_prefix(b"n/s3/").len(), 1 + bucket.roll.done.len());
}

#[test]
fn what_is_to_go_is_remembered_until_it_has_gone() {
    let store = Arc::new(Store::in_memory());
    let (mut roll, _, is_known) = load(&store, 10);
    assert!(!is_known);
    roll.set_rule(Rule { goes: true, is_ascending: false });
    roll.begin(0);
    let (good, bad) = (found("a", 5), found("b", 6));
    roll.begin_look(1000, "");
    roll.open([&good, &bad].into_iter(), Some("b"));
    roll.finish(&good.id(), &good, false);
    roll.finish(&bad.id(), &bad, true);
    roll.end_look();
    let (mut roll, opened, is_known) = load(&store, 10);
    roll.set_rule(Rule { goes: true, is_ascending: false });
    assert!(opened.is_empty() && is_known && roll.goes(&good.id()) && !roll.goes(&bad.id()));
    assert!(roll.is_done(&bad.id(), &bad));
    roll.forget(&good.id());
    assert!(!roll.is_done(&good.id(), &good) && !load(&store, 10).0.done.contains_key(&good.id()));
}

#[test]
fn names_in_order_leave_nothing_behind() {
    let store = Arc::new(Store::in_memory());
    let (mut roll, ..) = load(&store, 10);
    roll.set_rule(Rule { goes: false, is_ascending: true });
    for n in 0..50u64 {
        let one = found(&format!("{n:04}"), 10_000);
        if roll.cursor().is_none() {
            roll.begin_look(1000, "");
        }
        roll.open(std::iter::once(&one), Some(&one.key));
        roll.finish(&one.id(), &one, false);
        roll.end_look();
    }
    assert_eq!(roll.cursor().as_deref(), Some("0049"));
    assert_eq!(load(&store, 10).0.cursor().as_deref(), Some("0049"));
    assert_eq!(store.with_prefix(b"").len(), 1);
}

#[test]
fn records() {
    let one = found("k\u{e9}y", 77);
    let opened = Opened::decode(one.id(), &encode_open(&one, 99));
    assert_eq!(opened, Some(Opened { id: one.id(), found: one, offset: 99 }));
    let looks = Looks { before: 1, began: 2, floor: 3, cursor: "x".to_owned() };
    assert_eq!(Looks::decode(&looks.encode()), Some(looks.clone()));
    let done = Done { modified: 9, goes: true };
    assert_eq!(Done::decode(&done.encode()), Some(done));
    for value in [&[][..], &[2; 60], &[1; 8], &[1, 255, 255, 255, 255, 255, 255, 255, 255, 255]] {
        assert!(Looks::decode(value).is_none() && Opened::decode(Id::default(), value).is_none());
    }
    assert!(Done::decode(&[2; 10]).is_none() && Done::decode(&[1; 9]).is_none());
}
