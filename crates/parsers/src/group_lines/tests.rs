//! Lines and the messages made of them.

use crate::correlation::testing::Fed;
use crate::testing::check_codes;

fn by(more: &str) -> Fed {
    Fed::new(&format!("group-lines(key(\"$PROGRAM\") timeout(5) line-separator('/') {more})"))
}

#[test]
fn indented_lines_belong_to_the_one_before() {
    let mut fed = by("multi-line-mode(indented)");
    assert_eq!(
        fed.feed(&["1 a one", "1 a \ttwo", "1 b other", "1 a  three", "1 a four"]),
        "one/\ttwo/ three"
    );
    assert_eq!(fed.feed(&["1 b  more", "1 b next"]), "other/ more");
    assert_eq!(fed.feed(&["7 c x"]), "four|next");
    assert_eq!(fed.tick(6), "x");
    assert_eq!(fed.tick(6), "");
}

#[test]
fn a_prefix_begins_and_garbage_ends() {
    let mut fed =
        by("multi-line-mode(prefix-garbage) multi-line-prefix('^[0-9]+') multi-line-garbage(' end')");
    assert_eq!(
        fed.feed(&["1 a early", "1 a 1 one", "1 a more", "1 a 2 two end of it"]),
        "early|1 one/more|2 two"
    );
    assert_eq!(fed.feed(&["1 a garbage", "1 a garbage", "1 a 3 three", "1 a  end"]), "3 three");
    assert_eq!(fed.feed(&["1 a garbage", "9 b 1"]), "");
    assert_eq!(fed.feed(&["20 a after the timeout", "20 a 4"]), "1|after the timeout");
    let mut fed = by("multi-line-mode(regexp) multi-line-garbage('#')");
    assert_eq!(fed.feed(&["1 a x", "1 a y#z", "1 a v#", "1 a w"]), "x/y|v");
}

#[test]
fn a_suffix_ends() {
    let mut fed = by("multi-line-mode(prefix-suffix) multi-line-prefix('^<') multi-line-suffix('>')");
    assert_eq!(
        fed.feed(&["1 a <one", "1 a two>rest", "1 a <three>", "1 a four", "1 a <five"]),
        "<one/two>|<three>|four"
    );
}

#[test]
fn empty_lines_separate() {
    let mut fed = by("multi-line-mode(empty-line-separated)");
    assert_eq!(fed.feed(&["1 a one", "1 a two", "1 a", "1 a", "1 a three"]), "one/two");
    assert_eq!(fed.tick(9), "three");
}

#[test]
fn backtraces_are_recognized() {
    let mut fed = by("multi-line-mode(smart)");
    assert_eq!(
        fed.feed(&["1 a one", "1 a x.Error: y", "1 b two", "1 a \tat p.q(r.java:1)", "1 b \tat home"]),
        "one|two|\tat home"
    );
    assert_eq!(
        fed.feed(&["1 a \t... 2 more", "1 a next"]),
        "x.Error: y/\tat p.q(r.java:1)/\t... 2 more|next"
    );
    assert_eq!(
        fed.feed(&["1 a PHP Notice:  x", "1 a Stack trace:", "1 a  thrown in y", "1 a #1 z"]),
        "PHP Notice:  x/Stack trace:/ thrown in y|#1 z"
    );
    assert_eq!(fed.feed(&["2 b panic: x"]), "");
    assert_eq!(fed.tick(9), "panic: x");
}

#[test]
fn without_a_mode_time_decides() {
    let mut fed = by("sort-key('$MSG')");
    assert_eq!(fed.feed(&["1 a b", "2 a a", "4 a c"]), "");
    assert_eq!(fed.tick(9), "a/b/c");
}

#[test]
fn what_is_wrong_is_said() {
    for text in [
        "group-lines(timeout(1))",
        "group-lines(key('a'))",
        "group-lines(key('a') timeout(1) multi-line-mode(prefix-garbage))",
        "group-lines(key('a') timeout(1) multi-line-mode(prefix-suffix) multi-line-prefix('a'))",
        "group-lines(key('a') timeout(1) multi-line-mode(indented) multi-line-prefix('a'))",
    ] {
        check_codes(text, &["A0102"]);
    }
    check_codes(
        "group-lines(key('a') timeout(1) multi-line-mode(regexp) multi-line-prefix('('))",
        &["A0104"],
    );
}
