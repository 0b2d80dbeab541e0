//! A member and its coordinator, by hand.

use super::*;
use crate::answers::consuming::Other;

fn options(is_member: bool) -> Options {
    Options {
        group: "g".into(),
        instance: None,
        is_member,
        session: Duration::from_secs(45),
        rebalance: Duration::from_secs(60),
        heartbeat: Duration::from_secs(3),
        strategies: vec![Strategy::Range, Strategy::RoundRobin],
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
