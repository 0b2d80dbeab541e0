//! A destination that takes messages, and not as fast as they come.

use super::*;
use crate::outlet::spool::LAG_MAX;

impl Desk {
    /// Time goes on for the outlet; it does by itself no more.
    fn pass(&self, time: Duration) {
        let clock = self.outlet().queue.lock().spool.as_ref().expect("it is on disk").clock();
        clock.pass(time);
    }
}

fn slow(reliable: bool) -> (Desk, Arc<Window>) {
    let desk = Desk::new(reliable);
    desk.pass(Duration::ZERO);
    desk.blocks.store(true, Ordering::SeqCst);
    (desk, Window::new(1 << 20, None, Budget::new(1 << 20)))
}

#[test]
fn its_sources_go_on_though_it_moves_all_the_time() {
    let (mut desk, window) = slow(false);
    for _ in 0..100 {
        desk.push(50, true, Some(window.ticket(50, 50)));
    }
    desk.let_through(1);
    assert!(window.used() > 0, "they wait for it at first");
    wait_until(|| {
        desk.let_through(1);
        desk.pass(Duration::from_millis(1));
        window.used() == 0
    });
    assert!(!desk.delivered().is_empty() && desk.outlet().is_moving());
    let waiting = desk.outlet().waiting();
    assert!(waiting > 0, "they were let go because it is slow");
    assert!(desk.outlet().on_disk().expect("it is").messages >= waiting as u64, "all of it is there");
    desk.push(50, true, Some(window.ticket(50, 50)));
    wait_until(|| window.used() == 0);
    desk.check_all();
}

#[test]
fn a_source_that_cannot_wait_never_does_while_there_is_room() {
    let (mut desk, window) = slow(false);
    window.ignore_load();
    for _ in 0..100 {
        desk.push(50, false, Some(window.ticket(50, 50)));
        wait_until(|| window.used() == 0);
    }
    assert!(desk.outlet().queue.lock().messages <= 150, "the rest is on disk only");
    assert_eq!(desk.outlet().counters.dropped.total(), 0);
    desk.check_all();
}

#[test]
fn with_memory_full_sources_wait_a_moment_rather_than_that_all_goes_over_the_disk() {
    let (mut desk, window) = slow(true);
    desk.push(100, true, None);
    desk.push(50, true, Some(window.ticket(50, 50)));
    desk.pass(LAG_MAX);
    desk.running.as_ref().expect("running").shared.durable.settle();
    let (used, is_behind) = (window.used(), desk.outlet().queue.lock().messages < 150);
    assert!(used == 50 && !is_behind, "{used} {is_behind}");
    desk.let_through(100);
    wait_until(|| window.used() == 0);
    desk.check_all();
}

#[test]
fn with_memory_full_sources_do_not_wait_for_long() {
    let (mut desk, window) = slow(true);
    desk.push(100, true, None);
    desk.push(50, true, Some(window.ticket(50, 50)));
    // Their ticket is held from here on: time passes for whoever holds it only.
    desk.running.as_ref().expect("running").shared.durable.settle();
    let mut delivered = 0;
    wait_until(|| {
        desk.let_through(1);
        delivered += 1;
        desk.pass(LAG_MAX / 10);
        window.used() == 0
    });
    assert!(delivered < 50, "it took {delivered}, so it was waited for");
    desk.push(50, true, Some(window.ticket(50, 50)));
    wait_until(|| window.used() == 0);
    desk.check_all();
}
