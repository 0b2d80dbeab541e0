//! grouping-by() with a clock by hand. What is the same in syslog-ng stands in the golden cases.

use crate::correlation::PORTION_BYTES;
use crate::correlation::testing::Fed;
use crate::testing::{build, check_codes};

const BY: &str = "key(\"$PROGRAM\") timeout(5)";

fn by(more: &str, value: &str) -> Fed {
    Fed::new(&format!("grouping-by({BY} {more} aggregate(value(\"x\" \"{value}\")))"))
}

#[test]
fn a_trigger_closes_a_group() {
    let mut fed = by("trigger(message('end'))", "$(context-values $MSG)");
    assert_eq!(
        fed.feed(&["1 a one", "1 b other", "2 a end", "3 a more"]),
        "one|other|end[one,end,end]|end|more"
    );
    assert_eq!(fed.feed(&["4 a end", "4 b end"]), "end[more,end,end]|end|end[other,end,end]|end");
}

#[test]
fn names_get_the_prefix() {
    let by = "grouping-by(key(\"$PROGRAM\") timeout(5) trigger(message('end')) prefix('x') aggregate(value('' \"$(context-length)\")))";
    assert_eq!(Fed::new(by).feed(&["1 a one", "1 a end"]), "one|end[3]|end");
}

#[test]
fn triggers_see_the_group() {
    let mut fed = by(
        "trigger(\"$(context-length)\" eq \"3\") inject-mode(aggregate-only)",
        "${MSG}@0 ${MSG}@1 ${MSG}@2 ${MSG}@4",
    );
    assert_eq!(fed.feed(&["1 a 1", "1 a 2", "1 b 1", "1 a 3", "1 a 4"]), "3[3 3 2 ]");
    assert_eq!(fed.feed(&["1 a 5"]), "");
    assert_eq!(fed.feed(&["1 a 6"]), "6[6 6 5 ]");
    let mut fed = by("trigger(\"${MSG}@1\" eq \"2\")", "$(context-length)");
    assert_eq!(fed.feed(&["1 a 1", "1 a 2", "1 a 3"]), "1|2|3[4]|3");
}

#[test]
fn stamps_of_messages_close_groups() {
    let mut fed = by("", "$(context-values $MSG)");
    assert_eq!(fed.feed(&["100 a x", "105 b y"]), "x|y", "at the deadline it is open");
    assert_eq!(fed.feed(&["106 c z"]), "x[x,x]|z");
    assert_eq!(fed.feed(&["109 c more", "111 d w"]), "more|y[y,y]|w");
    assert_eq!(fed.feed(&["200 e v"]), "more[z,more,more]|w[w,w]|v", "in the order of their deadlines");
    assert_eq!(fed.feed(&["9999999 f u"]), "v[v,v]|u");
    assert_eq!(
        fed.feed(&["1000004 f u2", "1000006 g t"]),
        "u2|t",
        "stamps beyond the present are the present"
    );
}

#[test]
fn of_one_deadline_the_first_to_get_it_is_closed_first() {
    let mut fed = by("", "$(context-values $MSG)");
    assert_eq!(fed.feed(&["1 a x", "1 b y", "1 a z"]), "x|y|z");
    assert_eq!(fed.feed(&["9 c w"]), "z[x,z,z]|y[y,y]|w");
    assert_eq!(fed.feed(&["10 d 1", "10 e 1", "11 e 2", "11 d 2"]), "1|1|2|2");
    assert_eq!(fed.feed(&["30 f w"]), "w[w,w]|2[1,2,2]|2[1,2,2]|w");
}

#[test]
fn values_see_the_tags() {
    let mut fed = Fed::new(&format!(
        "grouping-by({BY} trigger(message('end')) aggregate(value(\"x\" \"$TAGS\") tags(\"made\")))"
    ));
    assert_eq!(fed.feed(&["1 a one", "1 a end"]), "one|end[made]|end");
}

#[test]
fn the_clock_closes_groups() {
    let mut fed = by("", "$(context-length)");
    fed.feed(&["100 a x"]);
    assert_eq!(fed.tick(5), "");
    assert_eq!(fed.tick(1), "x[2]");
    assert_eq!(fed.tick(100), "");
}

#[test]
fn having_decides() {
    let mut fed = by("having(\"$(context-length)\" ge \"2\") trigger(message('end'))", "$(context-length)");
    assert_eq!(fed.feed(&["1 a end", "1 a x", "1 a end"]), "end|x|end[3]|end");
    fed.feed(&["1 b x", "1 c x", "2 c y"]);
    assert_eq!(fed.feed(&["100 d z"]), "y[3]|z");
}

#[test]
fn only_what_where_says() {
    let mut fed = by("where(message('^v')) trigger(message('end'))", "$(context-length)");
    assert_eq!(fed.feed(&["1 a v1", "1 a end", "1 a v2 end"]), "v1|end|v2 end[3]|v2 end");
}

#[test]
fn sorted_by_a_key() {
    let mut fed = by("sort-key('$MSG') trigger(message('5'))", "$(context-values $MSG)");
    assert_eq!(fed.feed(&["1 a 9", "1 a 10", "1 a 2", "1 a 5"]), "9|10|2|9[10,2,5,9,9]|5");
}

#[test]
fn groups_stay_over_a_reload() {
    let mut fed = by("", "$(context-values $MSG)");
    fed.feed(&["1 a x"]);
    let mut again = fed.reloaded(&format!("grouping-by({BY} aggregate(value('x' 'new $(context-length)')))"));
    again.feed(&["2 a y"]);
    assert_eq!(again.feed(&["50 b z"]), "y[new 3]|z");
    let mut other = fed.reloaded(&format!("grouping-by({BY} aggregate(value('x' '1')))"));
    assert_eq!(other.feed(&["60 c w"]), "z[1]|w", "shared while both live");
}

#[test]
fn closed_for_good() {
    let mut fed = by("", "$(context-values $MSG)");
    fed.feed(&["1 a x", "2 b y", "3 a z"]);
    let state = fed.parser.state().expect("contexts");
    state.close();
    let all: Vec<String> = fed.tick(0).split('|').map(str::to_owned).collect();
    assert_eq!((all.len(), all.contains(&"z[x,z,z]".to_owned())), (2, true), "{all:?}");
    assert_eq!(fed.tick(100), "");
    assert_eq!(state.counters().generated.load(std::sync::atomic::Ordering::Relaxed), 2);
    assert!(!std::sync::Arc::ptr_eq(
        &state,
        &fed.reloaded(&format!("grouping-by({BY} aggregate())")).parser.state().expect("some")
    ));
}

#[test]
fn a_group_that_is_too_large_is_closed() {
    let mut fed = by("inject-mode(aggregate-only)", "$(context-length)");
    let messages: Vec<String> = (0..10_001).map(|n| format!("1 a {n}")).collect();
    let messages: Vec<&str> = messages.iter().map(String::as_str).collect();
    assert_eq!(fed.feed(&messages), "9999[10001]");
    let state = fed.parser.state().expect("contexts");
    assert_eq!(state.counters().closed_early.load(std::sync::atomic::Ordering::Relaxed), 1);
}

#[test]
fn too_many_groups_close_the_oldest() {
    let mut fed = by("inject-mode(aggregate-only)", "$(context-length)");
    let mut closed = 0;
    for round in 0..12 {
        let messages: Vec<String> = (0..10_000).map(|n| format!("1 p{round}.{n} m")).collect();
        let messages: Vec<&str> = messages.iter().map(String::as_str).collect();
        closed += fed.feed(&messages).split('|').filter(|m| !m.is_empty()).count();
    }
    assert!(
        (20_000..30_000).contains(&closed),
        "{closed}: 100,000 are kept, less where a shard has its share"
    );
}

#[test]
fn what_is_wrong_is_said() {
    check_codes("grouping-by(timeout(1) aggregate())", &["A0102"]);
    check_codes("grouping-by(key('a') aggregate())", &["A0102"]);
    check_codes("grouping-by(key('a') timeout(1))", &["A0102"]);
    check_codes("grouping-by(key('$(no)') timeout(1) aggregate())", &["A0101"]);
    // Macros keep their meaning: a warning.
    let (made, codes, _) = build("grouping-by(key('a') timeout(1) aggregate(value('DATE' 'x')))");
    assert!(made.is_some());
    assert_eq!(codes, ["A0106"]);
}

/// Ten times a portion, in groups of one message each.
fn crowd() -> (Fed, String) {
    let mut fed = by("inject-mode(aggregate-only)", "$(context-length)");
    let text = "x".repeat(PORTION_BYTES / 10);
    let messages: Vec<String> = (0..100).map(|n| format!("100 p{n} {text}")).collect();
    assert_eq!(fed.feed(&messages.iter().map(String::as_str).collect::<Vec<_>>()), "");
    (fed, text)
}

/// Groups in what a batch made, none of two messages.
#[track_caller]
fn groups(made: &str) -> usize {
    assert!(made.len() <= PORTION_BYTES * 5 / 4, "{} bytes", made.len());
    assert!(!made.contains("[3]"), "a group of two");
    made.matches("[2]").count()
}

#[test]
fn groups_that_end_together_come_out_in_portions() {
    let (mut fed, _) = crowd();
    let state = fed.parser.state().expect("contexts");
    let (mut made, mut ticks) = (groups(&fed.tick(6)), 1);
    while state.is_behind() {
        (made, ticks) = (made + groups(&fed.tick(0)), ticks + 1);
    }
    assert_eq!((made, groups(&fed.tick(100))), (100, 0));
    assert!((10..=12).contains(&ticks), "{ticks} portions");
    let (mut fed, _) = crowd();
    let state = fed.parser.state().expect("contexts");
    state.close();
    let mut made = groups(&fed.tick(0));
    while state.is_behind() {
        made += groups(&fed.tick(0));
    }
    assert_eq!(made, 100, "closed for good");
}

#[test]
fn no_message_joins_a_group_whose_time_is_over_while_others_wait() {
    let (mut fed, text) = crowd();
    let state = fed.parser.state().expect("contexts");
    let mut made = 0;
    for program in (0..100).rev().step_by(10) {
        let later = format!("200 p{program} {text}");
        made += groups(&fed.feed(&[&later]));
        assert!(made >= 10 && (made == 100 || state.is_behind()), "{made} groups");
    }
    while state.is_behind() {
        made += groups(&fed.tick(0));
    }
    assert_eq!(made, 100);
    assert_eq!(groups(&fed.tick(100)), 10, "the later ones");
}
