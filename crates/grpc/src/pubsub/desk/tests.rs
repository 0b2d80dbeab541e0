use super::*;
use crate::frame::HEAD_BYTES;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use wire::protobuf::{Value, fields, put_bytes, put_message};

#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

const DEADLINE: Duration = Duration::from_secs(80);

fn desk(messages_max: usize) -> Arc<Desk> {
    let subscription = Subscription {
        name: "projects/p/subscriptions/s".to_owned(),
        messages_max,
        bytes_max: 10_000,
        ack_deadline: DEADLINE,
    };
    Desk::new(subscription, Arc::new(Woken::default()))
}

fn answer(ids: &[&str]) -> Vec<u8> {
    let mut out = Vec::new();
    for id in ids {
        put_message(&mut out, 1, |out| {
            put_bytes(out, 1, id.as_bytes());
            put_message(out, 2, |out| put_bytes(out, 1, b"text"));
        });
    }
    out
}

/// What the server is asked now, and the names it is asked about.
fn asked(desk: &Desk, now: Instant) -> Option<(Kind, Vec<String>, Ask)> {
    let Work::Ask(ask) = desk.work(now) else { return None };
    let number = if ask.kind == Kind::Acknowledge { 2 } else { 4 };
    let of_message = |field| match field {
        Ok((n, Value::Bytes(id))) if n == number => Some(String::from_utf8_lossy(id).into_owned()),
        _ => None,
    };
    let ids = fields(&ask.message[HEAD_BYTES..]).filter_map(of_message).collect();
    Some((ask.kind, ids, ask))
}

#[track_caller]
fn check(desk: &Desk, now: Instant, kind: Kind, expected: &[&str]) -> Ask {
    let (asked, ids, ask) = asked(desk, now).expect("something is asked");
    assert_eq!(
        (asked, ids.as_slice()),
        (kind, expected.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>().as_slice())
    );
    ask
}

#[test]
fn what_is_dealt_with_is_acknowledged_and_what_came_back_is_released() {
    let (desk, now) = (desk(100), Instant::now());
    for ids in [&["a", "b"][..], &["c"], &["d"]] {
        desk.brings(answer(ids), now).expect("good");
    }
    let answers: Vec<_> = std::iter::from_fn(|| desk.take()).take(2).collect();
    assert_eq!(answers, [answer(&["a", "b"]), answer(&["c"])]);
    let first = desk.mark();
    desk.take().expect("the last");
    let second = desk.mark();
    assert!(asked(&desk, now).is_none(), "nothing is known of them yet");
    first.done();
    let ask = check(&desk, now, Kind::Acknowledge, &["a", "b", "c"]);
    // Without an answer it is asked again.
    check(&desk, now, Kind::Acknowledge, &["a", "b", "c"]);
    desk.heard(&ask, now);
    assert!(asked(&desk, now).is_none());
    drop(second);
    let ask = check(&desk, now, Kind::Release, &["d"]);
    desk.heard(&ask, now);
    assert!(matches!(desk.work(now), Work::Rest(_)));
    assert_eq!(desk.inner.lock().deliveries.held(), (0, 0));
}

#[test]
fn deadlines_of_what_waits_are_moved_in_time() {
    let (desk, now) = (desk(100), Instant::now());
    desk.brings(answer(&["waits"]), now).expect("good");
    desk.brings(answer(&["under way"]), now).expect("good");
    desk.take().expect("one");
    desk.take().expect("another");
    let _mark = desk.mark();
    desk.brings(answer(&["unread"]), now + DEADLINE / 4).expect("good");
    assert!(asked(&desk, now + DEADLINE / 4).is_none());
    let half = now + DEADLINE / 2 + DEADLINE / 8;
    let ask = check(&desk, half, Kind::Extend, &["waits", "under way"]);
    desk.heard(&ask, half);
    assert!(asked(&desk, half).is_none());
    check(&desk, half + DEADLINE / 4, Kind::Extend, &["unread"]);
}

#[test]
fn whoever_looks_for_deadlines_is_woken_by_the_first_message() {
    let (desk, now) = (desk(100), Instant::now());
    let is_woken = || {
        let mut notified = std::pin::pin!(desk.work.notified());
        notified.as_mut().enable()
    };
    assert!(!is_woken());
    desk.brings(answer(&["a"]), now).expect("good");
    assert!(is_woken());
    desk.brings(answer(&["b"]), now).expect("good");
    assert!(!is_woken(), "it looks by itself");
}

#[test]
fn what_is_settled_is_not_waited_for_longer() {
    let (desk, now) = (desk(100), Instant::now());
    desk.brings(answer(&["a"]), now).expect("good");
    desk.take().expect("one");
    desk.mark().done();
    let late = now + DEADLINE;
    check(&desk, late, Kind::Acknowledge, &["a"]);
}

#[test]
fn whoever_leaves_gives_back_what_nobody_has_begun_and_waits_for_the_rest() {
    let (desk, now) = (desk(100), Instant::now());
    desk.reads(true);
    for id in ["a", "b", "c"] {
        desk.brings(answer(&[id]), now).expect("good");
    }
    desk.take().expect("a");
    let mark = desk.mark();
    // Taken, and then its worker has panicked.
    desk.take().expect("b");
    desk.leave(now, None);
    desk.brings(answer(&["late"]), now).expect("good");
    assert!(!desk.is_waiting());
    let ask = check(&desk, now, Kind::Release, &["c", "b", "late"]);
    desk.heard(&ask, now);
    desk.reads(false);
    assert!(!desk.is_over() && matches!(desk.work(now), Work::Rest(_)));
    mark.done();
    let ask = check(&desk, now, Kind::Acknowledge, &["a"]);
    desk.not_heard(&ask, now);
    assert!(!desk.is_over(), "it is tried again");
    desk.not_heard(&ask, now + DEADLINE);
    assert!(desk.is_over() && matches!(desk.work(now), Work::Over));
}

#[test]
fn there_is_room_for_so_many_and_no_more() {
    let (desk, now) = (desk(3), Instant::now());
    desk.brings(answer(&["a", "b"]), now).expect("good");
    assert!(desk.has_room());
    desk.brings(answer(&["c"]), now).expect("good");
    assert!(!desk.has_room());
    while desk.take().is_some() {}
    desk.mark().done();
    assert!(!desk.has_room(), "the server has not heard of it");
    let ask = check(&desk, now, Kind::Acknowledge, &["a", "b", "c"]);
    desk.heard(&ask, now);
    assert!(desk.has_room());
}

#[test]
fn calls_are_no_larger_than_the_server_takes() {
    let (desk, now) = (desk(100_000), Instant::now());
    let long = "x".repeat(200);
    let ids: Vec<String> = (0..6000).map(|n| format!("{long}{n:06}")).collect();
    desk.brings(answer(&ids.iter().map(String::as_str).collect::<Vec<_>>()), now).expect("good");
    desk.take().expect("an answer");
    desk.mark().done();
    let mut heard = Vec::new();
    while let Some((_, ids, ask)) = asked(&desk, now) {
        assert!(ask.message.len() < 500_000 && ids.len() <= 2500, "{} {}", ask.message.len(), ids.len());
        heard.extend(ids);
        desk.heard(&ask, now);
    }
    assert_eq!(heard, ids);
}

#[test]
fn an_answer_that_is_none_leaves_nothing_behind() {
    let (desk, now) = (desk(100), Instant::now());
    let mut wrong = answer(&["a"]);
    wrong.extend_from_slice(b"\x0a\x09x");
    assert_eq!(desk.brings(wrong, now), Err(Malformed));
    assert_eq!((desk.take_malformed(), desk.take_malformed()), (1, 0));
    assert!(!desk.is_waiting() && asked(&desk, now + DEADLINE).is_none());
    // One that only says that the server is there.
    desk.brings(Vec::new(), now).expect("good");
    assert!(!desk.is_waiting());
}

proptest! {
    /// Whatever happens in whatever order: each message is acknowledged or released, once, and as its batch
    /// was.
    #[test]
    fn each_message_is_answered_once(steps in prop::collection::vec((0u8..6, 0usize..5), 1..120)) {
        let (desk, mut now) = (desk(1 << 20), Instant::now());
        let (mut number, mut marks, mut open) = (0, Vec::new(), Vec::new());
        let (mut acknowledged, mut released) = (BTreeSet::new(), BTreeSet::new());
        let (mut expected_acks, mut given) = (BTreeSet::new(), BTreeSet::new());
        let mut turn = |desk: &Desk, now: Instant, fails: bool| {
            let Some((kind, ids, ask)) = asked(desk, now) else { return false };
            if fails {
                return true;
            }
            for id in ids {
                match kind {
                    Kind::Acknowledge => assert!(acknowledged.insert(id)),
                    Kind::Release => assert!(released.insert(id)),
                    Kind::Extend => {}
                }
            }
            desk.heard(&ask, now);
            true
        };
        for (step, count) in steps {
            match step {
                0 => {
                    let ids: Vec<String> = (0..count).map(|n| format!("{}", number + n)).collect();
                    number += count;
                    given.extend(ids.iter().cloned());
                    desk.brings(answer(&ids.iter().map(String::as_str).collect::<Vec<_>>()), now).expect("good");
                }
                1 => {
                    if let Some(answer) = desk.take() {
                        let ids = received::messages(&answer).flatten();
                        open.extend(ids.map(|m| String::from_utf8_lossy(m.ack_id).into_owned()));
                    }
                }
                2 => marks.push((desk.mark(), std::mem::take(&mut open))),
                3 if !marks.is_empty() => {
                    let (mark, ids) = marks.swap_remove(count % marks.len());
                    expected_acks.extend(ids);
                    mark.done();
                }
                4 if !marks.is_empty() => drop(marks.swap_remove(count % marks.len())),
                _ => {
                    now += DEADLINE / 3;
                    turn(&desk, now, count == 0);
                }
            }
        }
        drop(marks);
        desk.leave(now, None);
        while turn(&desk, now, false) {}
        prop_assert!(desk.is_over());
        prop_assert_eq!(&acknowledged, &expected_acks);
        prop_assert!(acknowledged.is_disjoint(&released));
        prop_assert_eq!(acknowledged.len() + released.len(), given.len());
    }
}
