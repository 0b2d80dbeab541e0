//! A member and its coordinator, by hand.

use super::heard::{MEMBER_ID_REQUIRED, REBALANCE, UNKNOWN_MEMBER};
use super::*;
use crate::answers::consuming::{Joined, OfGroup, Offset, Other, Ruling};
use crate::code::NOT_COORDINATOR;

fn options(is_member: bool) -> Options {
    Options {
        group: "g".into(),
        instance: None,
        is_member,
        session: Duration::from_secs(45),
        rebalance: Duration::from_secs(60),
        heartbeat: Duration::from_secs(3),
        strategies: vec![Strategy::Range, Strategy::RoundRobin],
        rule: None,
    }
}

fn at(partition: i32) -> TopicPartition {
    TopicPartition { topic: b"t"[..].into(), partition }
}

fn hear(group: &mut Group, said: OfGroup, now: Instant) -> Vec<News> {
    group.heard(said, &|_| vec![0, 1], now);
    group.news()
}

fn offset(partition: i32, offset: i64) -> Offset {
    Offset { place: at(partition), error: 0, offset }
}

/// In a group of two, as its leader.
fn member(now: Instant) -> Group {
    let mut group = Group::new(options(true));
    group.subscribe(vec![b"t"[..].into()]);
    assert_eq!(group.next(now), Some(Ask::Coordinator("g".into())));
    assert_eq!(group.next(now), None, "it is not answered");
    let found = hear(&mut group, OfGroup::Coordinator(Ok((7, "h".into(), 9))), now);
    assert_eq!(found, [News::Coordinator(7, "h".into(), 9)]);
    join(&mut group, now);
    group
}

fn join(group: &mut Group, now: Instant) {
    let Some(Ask::Join { member, protocols, .. }) = group.next(now) else { panic!("no wish to join") };
    assert_eq!((member.id.as_str(), protocols.len()), ("", 2));
    let joined = |error, members| {
        OfGroup::Joined(Joined {
            error,
            generation: 5,
            protocol: "range".into(),
            leader: "me".into(),
            id: "me".into(),
            members,
        })
    };
    hear(group, joined(MEMBER_ID_REQUIRED, Vec::new()), now);
    let Some(Ask::Join { member, .. }) = group.next(now) else { panic!("no wish to join") };
    assert_eq!(member.id, "me");
    let other = |id: &str| Other { id: id.into(), topics: vec![b"t"[..].into()] };
    hear(group, joined(0, vec![other("me"), other("you")]), now);
    let Some(Ask::Sync { member, shares }) = group.next(now) else { panic!("nothing divided") };
    assert_eq!((member.generation, shares.len(), group.leads()), (5, 2, true));
    assert_eq!(shares[1], ("you".into(), consuming::share(&[at(1)])));
    assert!(hear(group, OfGroup::Synced(Ok(vec![at(0)])), now).is_empty());
    assert_eq!(group.next(now), Some(Ask::Committed("g".into(), vec![at(0)])));
    let assigned = hear(group, OfGroup::Committed(0, vec![offset(0, 12)]), now);
    assert_eq!(assigned, [News::Assigned(vec![(at(0), Some(12))])]);
}

#[test]
fn a_rebalance_waits_until_what_was_dealt_with_is_committed() {
    let mut now = Instant::now();
    let mut group = member(now);
    assert_eq!(group.next(now), None);
    now += Duration::from_secs(3);
    assert!(matches!(group.next(now), Some(Ask::Heartbeat(_))));
    assert_eq!(hear(&mut group, OfGroup::Heartbeat(REBALANCE), now), [News::Revoking]);
    assert_eq!(group.next(now), None, "something may be under way");
    group.commit([(at(0), 20)].into_iter());
    group.release();
    let Some(Ask::Commit(member, places)) = group.next(now) else { panic!("nothing committed") };
    assert_eq!((member.generation, places), (5, vec![(at(0), 20)]));
    assert!(hear(&mut group, OfGroup::Commits(vec![(at(0), 0)]), now).is_empty());
    let Some(Ask::Join { member, .. }) = group.next(now) else { panic!("no wish to join") };
    assert_eq!(member.id, "me");
}

#[test]
fn a_member_that_is_thrown_out_commits_nothing_and_joins_anew() {
    let mut now = Instant::now();
    let mut group = member(now);
    group.commit([(at(0), 20)].into_iter());
    assert!(matches!(group.next(now), Some(Ask::Commit(..))));
    let news = hear(&mut group, OfGroup::Commits(vec![(at(0), UNKNOWN_MEMBER)]), now);
    assert!(matches!(&news[..], [News::Lost, News::Trouble(_)]), "{news:?}");
    assert_eq!(group.next(now), None, "not at once");
    now += AGAIN;
    join(&mut group, now);
}

#[test]
fn a_lost_connection_takes_nothing_that_was_to_be_committed() {
    let now = Instant::now();
    let mut group = member(now);
    group.commit([(at(0), 20)].into_iter());
    assert!(matches!(group.next(now), Some(Ask::Commit(..))));
    group.cut(Some(7));
    assert!(matches!(group.next(now), Some(Ask::Coordinator(_))), "it may be another one now");
    hear(&mut group, OfGroup::Coordinator(Ok((7, "h".into(), 9))), now);
    assert!(matches!(group.next(now), Some(Ask::Commit(_, places)) if places == [(at(0), 20)]));
    // The coordinator is another broker now.
    let news = hear(&mut group, OfGroup::Commits(vec![(at(0), NOT_COORDINATOR)]), now);
    assert_eq!((news.len(), group.coordinator()), (1, None));
    let later = now + AGAIN;
    assert!(matches!(group.next(later), Some(Ask::Coordinator(_))));
    hear(&mut group, OfGroup::Coordinator(Ok((8, "h".into(), 9))), later);
    assert!(matches!(group.next(later), Some(Ask::Commit(_, places)) if places == [(at(0), 20)]));
    assert!(hear(&mut group, OfGroup::Commits(vec![(at(0), 0)]), later).is_empty());
    group.leave();
    assert!(!group.has_left());
    assert!(matches!(group.next(later), Some(Ask::Leave(_))));
    hear(&mut group, OfGroup::Left, later);
    assert!(group.has_left() && group.next(later).is_none());
}

#[test]
fn offsets_may_be_kept_without_being_a_member() {
    let now = Instant::now();
    let mut group = Group::new(options(false));
    group.want(vec![at(1), at(0)]);
    group.next(now);
    hear(&mut group, OfGroup::Coordinator(Ok((7, "h".into(), 9))), now);
    assert_eq!(group.next(now), Some(Ask::Committed("g".into(), vec![at(0), at(1)])));
    let news = hear(&mut group, OfGroup::Committed(0, vec![offset(0, -1), offset(1, 3)]), now);
    assert_eq!(news, [News::Assigned(vec![(at(0), None), (at(1), Some(3))])]);
    group.commit([(at(1), 9)].into_iter());
    let Some(Ask::Commit(member, _)) = group.next(now) else { panic!("nothing committed") };
    assert_eq!((member.generation, member.id.as_str()), (-1, ""));
    hear(&mut group, OfGroup::Commits(vec![(at(1), 0)]), now);
    group.leave();
    assert!(group.has_left());
    assert_eq!(group.next(now + Duration::from_secs(60)), None);
}

const NUMBER: [u8; 16] = [7; 16];

/// In a group whose coordinator divides, with the first of two partitions.
fn ruled(instance: Option<&str>, now: Instant) -> Group {
    let rule = Some(Rule { assignor: Some("uniform".into()) });
    let mut group = Group::new(Options { rule, instance: instance.map(str::to_owned), ..options(true) });
    group.subscribe(vec![b"t"[..].into()]);
    assert_eq!(group.next(now), Some(Ask::Coordinator("g".into())));
    hear(&mut group, OfGroup::Coordinator(Ok((7, "h".into(), 9))), now);
    let Some(Ask::Rule { member, topics, assignor, owned, rebalance_ms }) = group.next(now) else {
        panic!("no sign of life");
    };
    assert_eq!((member.generation, member.id.is_empty(), topics.len(), owned), (0, false, 1, vec![]));
    assert_eq!((assignor.as_deref(), rebalance_ms), (Some("uniform"), 60_000));
    assert_eq!(hear(&mut group, share(1, Some(&[0])), now), []);
    assert!(group.wants_names(), "the topic of that number is not known");
    assert_eq!(hear(&mut group, OfGroup::Numbers(vec![(NUMBER, b"t"[..].into())]), now), []);
    assert!(!group.wants_names());
    // What it has is said at once, and then where it begins is asked.
    assert_eq!(owned_of(group.next(now)), vec![(NUMBER, vec![0])]);
    hear(&mut group, share(1, None), now);
    assert_eq!(group.next(now), Some(Ask::Committed("g".into(), vec![at(0)])));
    let assigned = hear(&mut group, OfGroup::Committed(0, vec![offset(0, 5)]), now);
    assert_eq!(assigned, [News::Assigned(vec![(at(0), Some(5))])]);
    assert_eq!(group.next(now), None, "there is nothing to say");
    group
}

fn share(epoch: i32, partitions: Option<&[i32]>) -> OfGroup {
    let share = partitions.map(|partitions| vec![(NUMBER, partitions.to_vec())]);
    OfGroup::Ruled(Ruling { epoch, interval_ms: 3000, share, ..Ruling::default() })
}

fn owned_of(ask: Option<Ask>) -> Vec<([u8; 16], Vec<i32>)> {
    match ask {
        Some(Ask::Rule { owned, .. }) => owned,
        other => panic!("no sign of life: {other:?}"),
    }
}

#[test]
fn a_coordinator_that_divides_takes_one_and_gives_another() {
    let now = Instant::now();
    let mut group = ruled(None, now);
    let later = now + Duration::from_secs(3);
    assert_eq!(owned_of(group.next(later)), vec![(NUMBER, vec![0])]);
    let news = hear(&mut group, share(2, Some(&[1])), later);
    assert_eq!(news, [News::Returning(vec![at(0)])]);
    // It is still had as long as it is not given back, and what was dealt with is committed first.
    let later = later + Duration::from_secs(3);
    assert_eq!(owned_of(group.next(later)), vec![(NUMBER, vec![0])]);
    assert_eq!(hear(&mut group, share(2, Some(&[1])), later), [], "it is said once");
    group.commit(std::iter::once((at(0), 9)));
    group.release();
    let Some(Ask::CommitRuled(member, places)) = group.next(later) else { panic!("no commit") };
    assert_eq!((member.generation, places), (2, vec![(at(0), 9)]));
    hear(&mut group, OfGroup::Commits(vec![(at(0), 0)]), later);
    assert_eq!(owned_of(group.next(later)), vec![(NUMBER, vec![1])]);
    hear(&mut group, share(2, None), later);
    assert_eq!(group.next(later), Some(Ask::Committed("g".into(), vec![at(1)])));
    let assigned = hear(&mut group, OfGroup::Committed(0, vec![offset(1, -1)]), later);
    assert_eq!(assigned, [News::Assigned(vec![(at(1), None)])]);
}

/// Each answer takes longer than the interval between two signs of life.
#[test]
fn signs_of_life_leave_a_turn_to_what_else_there_is_to_say() {
    let now = Instant::now();
    let mut group = ruled(None, now);
    let at_turn = |turn: u64| now + Duration::from_secs(4 * turn);
    assert_eq!(owned_of(group.next(at_turn(1))), vec![(NUMBER, vec![0])]);
    hear(&mut group, share(2, Some(&[0, 1])), at_turn(2));
    assert_eq!(owned_of(group.next(at_turn(2))), vec![(NUMBER, vec![0, 1])], "what is new is said at once");
    hear(&mut group, share(2, None), at_turn(3));
    assert_eq!(group.next(at_turn(3)), Some(Ask::Committed("g".into(), vec![at(1)])));
    group.commit(std::iter::once((at(0), 9)));
    hear(&mut group, OfGroup::Committed(0, vec![offset(1, -1)]), at_turn(4));
    assert_eq!(owned_of(group.next(at_turn(4))), vec![(NUMBER, vec![0, 1])]);
    hear(&mut group, share(2, None), at_turn(5));
    assert!(matches!(group.next(at_turn(5)), Some(Ask::CommitRuled(..))));
    hear(&mut group, OfGroup::Commits(vec![(at(0), 0)]), at_turn(6));
    for turn in 6..8 {
        assert_eq!(owned_of(group.next(at_turn(turn))), vec![(NUMBER, vec![0, 1])]);
        hear(&mut group, share(2, None), at_turn(turn + 1));
    }
}

#[test]
fn a_member_that_is_fenced_has_nothing_and_joins_anew() {
    let now = Instant::now();
    let mut group = ruled(None, now);
    group.commit(std::iter::once((at(0), 7)));
    assert!(matches!(group.next(now), Some(Ask::CommitRuled(..))));
    // An epoch that is not the last is learnt, and the commit goes again.
    let stale = OfGroup::Commits(vec![(at(0), 113)]);
    assert!(matches!(hear(&mut group, stale, now)[..], [News::Trouble(_)]));
    let later = now + AGAIN;
    assert_eq!(owned_of(group.next(later)), vec![(NUMBER, vec![0])]);
    hear(&mut group, share(3, None), later);
    assert!(matches!(group.next(later), Some(Ask::CommitRuled(member, _)) if member.generation == 3));
    let fenced = OfGroup::Ruled(Ruling { error: 110, words: "no".into(), ..Ruling::default() });
    let news = hear(&mut group, fenced, later);
    assert!(
        matches!(&news[..], [News::Lost, News::Trouble(why)] if why.ends_with("FENCED_MEMBER_EPOCH no")),
        "{news:?}"
    );
    let later = later + AGAIN;
    let Some(Ask::Rule { member, owned, .. }) = group.next(later) else { panic!("it does not join") };
    assert_eq!((member.generation, owned), (0, vec![]), "nothing is committed any more");
}

#[test]
fn a_member_leaves_when_all_is_committed() {
    for (instance, epoch) in [(None, -1), (Some("me"), -2)] {
        let now = Instant::now();
        let mut group = ruled(instance, now);
        group.commit(std::iter::once((at(0), 7)));
        group.leave();
        assert!(matches!(group.next(now), Some(Ask::CommitRuled(..))));
        assert!(!group.has_left());
        hear(&mut group, OfGroup::Commits(vec![(at(0), 0)]), now);
        assert!(matches!(group.next(now), Some(Ask::Rule { member, .. }) if member.generation == epoch));
        assert!(!group.has_left());
        hear(&mut group, share(epoch, None), now);
        assert!(group.has_left());
        assert_eq!(group.next(now), None);
    }
}

#[test]
fn an_answer_that_does_not_come_is_asked_for_again() {
    let now = Instant::now();
    let later = now + ANSWER_MAX + Duration::from_secs(1);
    for (rule, asks) in [(Some(Rule::default()), true), (None, false)] {
        let mut group = Group::new(Options { rule, ..options(true) });
        group.subscribe(vec![b"t"[..].into()]);
        group.next(now);
        hear(&mut group, OfGroup::Coordinator(Ok((7, "h".into(), 9))), now);
        assert!(group.next(now).is_some());
        assert_eq!(group.next(now + Duration::from_secs(1)), None);
        assert_eq!(group.next(later).is_some(), asks, "a rebalance may take longer");
    }
}
