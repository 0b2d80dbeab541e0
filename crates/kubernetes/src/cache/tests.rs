use super::*;
use parsers::kubernetes::pods::Container;
use proptest::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

fn pod(name: &str, uid: &str, container: &str) -> Pod {
    let container = Container { name: "app".into(), id: container.into(), ..Container::default() };
    Pod {
        namespace: "n".into(),
        name: name.into(),
        uid: uid.into(),
        containers: vec![container],
        ..Pod::default()
    }
}

fn wanted<'a>(name: &'a str, uid: Option<&'a str>, id: Option<&'a str>) -> Wanted<'a> {
    Wanted { namespace: "n", pod: name, container: "app", uid, id }
}

fn uid(cache: &Cache, wanted: &Wanted<'_>) -> Option<String> {
    cache.find(wanted, Instant::now(), |_| false).0.pod.map(|pod| pod.uid.to_string())
}

#[test]
fn pods_of_one_name_are_told_apart() {
    let (cache, now) = (Cache::default(), Instant::now());
    assert_eq!(uid(&cache, &wanted("a", None, None)), None);
    cache.put(pod("a", "1", "c1"), now);
    cache.delete(&pod("a", "1", "c1"), now);
    assert_eq!(uid(&cache, &wanted("a", None, Some("c1"))).as_deref(), Some("1"), "its last lines");
    cache.put(pod("a", "2", ""), now);
    assert_eq!(uid(&cache, &wanted("a", None, Some("c1"))).as_deref(), Some("1"));
    assert_eq!(uid(&cache, &wanted("a", None, Some("c2"))).as_deref(), Some("2"), "it has no id yet");
    assert_eq!(uid(&cache, &wanted("a", Some("1"), None)).as_deref(), Some("1"));
    assert_eq!(uid(&cache, &wanted("a", Some("3"), None)), None, "it will come");
    // What is late of the earlier one does not end the later one.
    cache.delete(&pod("a", "1", "c1"), now);
    cache.sweep(now + 2 * KEPT);
    assert_eq!(uid(&cache, &wanted("a", None, None)).as_deref(), Some("2"));
}

#[test]
fn what_is_gone_is_kept_for_a_while() {
    let (cache, now) = (Cache::default(), Instant::now());
    cache.replace(vec![pod("a", "1", ""), pod("b", "2", "")], now);
    cache.replace(vec![pod("b", "2", "")], now);
    assert_eq!(cache.size().pods, 2);
    cache.sweep(now + KEPT - Duration::from_secs(1));
    assert_eq!(cache.size().pods, 2);
    cache.sweep(now + KEPT + SWEEP);
    assert_eq!(cache.size().pods, 1);
    assert_eq!(cache.size().bytes, weight(&pod("b", "2", "")));
}

#[test]
fn who_waits_hears_of_it_once() {
    let (cache, heard) = (Cache::default(), Arc::new(AtomicUsize::new(0)));
    let wait = |name| {
        let heard = Arc::clone(&heard);
        let wake = move || {
            heard.fetch_add(1, Ordering::SeqCst);
        };
        cache.when_known(&wanted(name, None, None), Box::new(wake));
    };
    let count = || heard.load(Ordering::SeqCst);
    let now = Instant::now();
    for name in ["a", "b"] {
        cache.find(&wanted(name, None, None), now, |_| true);
        wait(name);
    }
    assert_eq!(count(), 0);
    cache.put(pod("a", "1", ""), now);
    cache.put(pod("a", "1", ""), now);
    assert_eq!(count(), 1);
    wait("a");
    assert_eq!(count(), 2, "it is known already");
    cache.is_absent("n", "b", now);
    assert_eq!(count(), 3, "there is none to wait for");
    let state = cache.find(&wanted("b", None, None), now, |_| false).0;
    assert!(state.is_absent && state.asked == Some(now));
}

#[test]
fn what_is_gone_makes_room_first_and_then_what_was_wanted_longest_ago() {
    let (cache, now) = (Cache::default(), Instant::now());
    for at in 1..NAMES_MAX {
        cache.put(pod(&at.to_string(), "u", ""), now + Duration::from_millis(at as u64));
    }
    assert_eq!((cache.size().pods, cache.size().left_out), (NAMES_MAX - 1, 0));
    let later = now + Duration::from_secs(60);
    cache.delete(&pod("9999", "u", ""), later);
    cache.put(pod("new", "u", ""), later);
    assert_eq!(cache.size().pods, NAMES_MAX / 16 * 15);
    let is_known = |name: &str| uid(&cache, &wanted(name, None, None)).is_some();
    assert!(!is_known("9999") && !is_known("1") && is_known("9998") && is_known("new"));
    // Of names that nobody knows there may be many, and they cost nobody else anything.
    let left_out = cache.size().left_out;
    for at in 0..2 * NAMES_MAX {
        let name = format!("unknown-{at}");
        cache.find(&wanted(&name, None, None), later, |_| false);
    }
    assert_eq!((cache.size().pods, cache.size().left_out), (NAMES_MAX / 16 * 15, left_out));
}

#[test]
fn bytes_are_bounded() {
    let (cache, now) = (Cache::default(), Instant::now());
    let large = "x".repeat(1 << 20);
    for at in 0..100_u64 {
        let mut one = pod(&at.to_string(), "u", "");
        one.annotations.push(("large".into(), large.as_str().into()));
        cache.put(one, now + Duration::from_millis(at));
        assert!(cache.size().bytes <= BYTES_MAX, "{:?}", cache.size());
    }
    assert!(cache.size().pods > 50 && cache.size().left_out > 30, "{:?}", cache.size());
}

proptest! {
    /// The bytes that are counted are those of what is kept, whatever happens.
    #[test]
    fn bytes_are_those_of_what_is_kept(steps in proptest::collection::vec((0..5_u8, 0..4_u8, 0..3_u8, 0..900_u64), 0..60)) {
        let (cache, begin) = (Cache::default(), Instant::now());
        let mut now = begin;
        for (what, name, uid, seconds) in steps {
            now += Duration::from_secs(seconds);
            let one = pod(&name.to_string(), &uid.to_string(), &"c".repeat(usize::from(uid)));
            match what {
                0 => cache.put(one, now),
                1 => cache.delete(&one, now),
                2 => cache.replace(vec![one], now),
                3 => cache.is_absent("n", &name.to_string(), now),
                _ => cache.sweep(now),
            }
            let inner = cache.inner.lock();
            let bytes: usize = inner.names.values().map(Entry::weight).sum();
            prop_assert_eq!(inner.bytes, bytes);
        }
    }
}
