use super::*;
use std::time::Duration;

fn found(key: &str) -> Listed {
    Listed {
        key: key.to_owned(),
        tag: "\"t\"".to_owned(),
        size: 100,
        modified: 5000,
        sequence: String::new(),
    }
}

const KEEP: Rule = Rule { goes: false, is_ascending: false };

fn open(store: &Arc<Store>, rule: Rule) -> (Arc<Board>, u64) {
    Board::open(store, "b", rule)
}

/// Looks at a bucket that has these.
fn look(board: &Board, turn: u64, keys: &[&str]) -> usize {
    board.begin_look(10_000, "", true);
    let count = board.put(turn, keys.iter().map(|key| found(key)).collect(), keys.last().copied());
    board.end_look();
    count
}

fn take(board: &Arc<Board>, turn: u64) -> Option<(String, u64, Arc<Hold>)> {
    let hold = board.take(turn, Instant::now())?;
    Some((hold.object.found.key.clone(), hold.begin, hold))
}

#[test]
fn the_place_moves_in_order_only_and_a_restart_goes_on_there() {
    let store = Arc::new(Store::in_memory());
    let (board, turn) = open(&store, KEEP);
    assert_eq!(look(&board, turn, &["a", "b"]), 2);
    assert_eq!(look(&board, turn, &["a", "b"]), 0, "they are open");
    let (key, begin, hold) = take(&board, turn).expect("an object");
    assert_eq!((key.as_str(), begin), ("a", 0));
    let [one, two, three] = [10, 20, 30].map(|end| hold.mark(end).expect("a mark"));
    two.done();
    one.done();
    drop((board, hold));
    // What is still under way keeps the board; a reader that comes meanwhile goes on behind it.
    let (board, turn) = open(&store, KEEP);
    let (key, begin, hold) = take(&board, turn).expect("an object");
    assert_eq!((key.as_str(), begin), ("a", 30));
    hold.ended(End::Whole);
    assert_eq!(look(&board, turn, &["a", "b"]), 0);
    three.done();
    assert_eq!(take(&board, turn).map(|(key, ..)| key).as_deref(), Some("b"));
    drop((board, hold));
    let (board, turn) = open(&store, KEEP);
    let (key, begin, hold) = take(&board, turn).expect("an object");
    assert_eq!((key.as_str(), begin, look(&board, turn, &["a", "b"])), ("b", 0, 0), "a is finished");
    hold.mark(50).expect("a mark").done();
    drop((board, hold));
    let (board, turn) = open(&store, KEEP);
    assert_eq!(take(&board, turn).map(|(key, begin, _)| (key, begin)), Some(("b".to_owned(), 50)));
}

#[test]
fn what_comes_back_is_read_again_and_the_earlier_reader_counts_no_more() {
    let store = Arc::new(Store::in_memory());
    let (board, turn) = open(&store, KEEP);
    look(&board, turn, &["a"]);
    let (_, _, first) = take(&board, turn).expect("an object");
    first.mark(10).expect("a mark").done();
    let (lost, late) = (first.mark(20).expect("a mark"), first.mark(30).expect("a mark"));
    first.ended(End::Whole);
    drop(lost);
    late.done();
    assert!(!first.is_current() && first.mark(40).is_none());
    first.ended(End::Whole);
    board.give_back(&first);
    let (_, begin, second) = take(&board, turn).expect("it again");
    assert!(begin == 10 && take(&board, turn).is_none());
    second.mark(30).expect("a mark").done();
    second.ended(End::Whole);
    assert_eq!(look(&board, turn, &["a"]), 0);
    assert!(take(&board, turn).is_none());
}

#[test]
fn another_turn_takes_over_what_was_being_read() {
    let store = Arc::new(Store::in_memory());
    let (board, turn) = open(&store, KEEP);
    look(&board, turn, &["a"]);
    let (_, _, old) = take(&board, turn).expect("an object");
    let mark = old.mark(10).expect("a mark");
    let (_, next) = open(&store, KEEP);
    assert!(take(&board, turn).is_none() && !board.is_turn(turn) && board.is_turn(next));
    let (_, begin, new) = take(&board, next).expect("it");
    assert_eq!((begin, old.mark(20).is_none()), (10, true));
    new.ended(End::Whole);
    assert!(board.inner.lock().open.len() == 1, "what is under way is waited for");
    mark.done();
    assert!(board.inner.lock().open.is_empty());
    board.leave(next);
    assert!(!board.is_turn(next) && !board.is_served());
}

#[test]
fn what_cannot_be_read_now_waits_and_what_is_finished_is_deleted_once() {
    let store = Arc::new(Store::in_memory());
    let rule = Rule { goes: true, is_ascending: false };
    let (board, turn) = open(&store, rule);
    look(&board, turn, &["a", "b", "c"]);
    let (_, _, a) = take(&board, turn).expect("an object");
    let later = Instant::now() + Duration::from_secs(60);
    board.put_aside(&a, later);
    let (_, _, b) = take(&board, turn).expect("an object");
    b.ended(End::Whole);
    let (_, _, c) = take(&board, turn).expect("an object");
    c.ended(End::Damaged);
    assert!(take(&board, turn).is_none());
    look(&board, turn, &["a", "b", "c"]);
    let (id, gone) = board.take_waste(turn).expect("something to delete");
    assert_eq!((gone.key.as_str(), board.take_waste(turn).is_none()), ("b", true));
    // It could not be deleted: the next look says so again.
    board.is_still_there(&id);
    look(&board, turn, &["a", "b", "c"]);
    assert_eq!(board.take_waste(turn).map(|(_, gone)| gone.key).as_deref(), Some("b"));
    board.is_gone(&id);
    look(&board, turn, &["a", "c"]);
    assert!(board.take_waste(turn).is_none() && take(&board, turn).is_none());
    let again = board.take(turn, later).expect("it again");
    assert_eq!(again.object.found.key, "a");
    again.ended(End::Gone);
    assert!(board.inner.lock().open.is_empty());
}

#[test]
fn a_message_is_answered_when_what_it_tells_of_is_finished() {
    let store = Arc::new(Store::in_memory());
    let (board, turn) = open(&store, KEEP);
    let until = Instant::now() + Duration::from_secs(60);
    board.age(10_000);
    board.put_message("one".to_owned(), vec![found("a"), found("b")], until);
    board.put_message("again".to_owned(), vec![found("a")], until);
    board.put_message("nothing".to_owned(), Vec::new(), until);
    let done = || board.messages(|messages| messages.take_done(10)).into_iter().map(|told| told.receipt);
    assert_eq!(done().collect::<Vec<_>>(), ["nothing"]);
    for end in [End::Whole, End::Gone] {
        let (_, _, hold) = take(&board, turn).expect("an object");
        hold.ended(end);
    }
    assert!(take(&board, turn).is_none());
    let mut said: Vec<String> = done().collect();
    said.sort();
    assert_eq!(said, ["again", "one"]);
    board.put_message("late".to_owned(), vec![found("a")], until);
    assert_eq!(done().collect::<Vec<_>>(), ["late"], "it was read already");
}
